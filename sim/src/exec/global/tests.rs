//! Memory contents here follow from the addresses by arithmetic in each test.

use super::*;
use crate::exec::{MemAccess, Program};
use crate::isa::{Mods, Op};

struct Machine {
    mem: AddressSpace,
    wave: Wave,
    lds: Vec<u8>,
    arch: Arch,
}

impl Machine {
    /// A wave with 16 registers, 64 bytes of scratch a lane, and 1 KiB of LDS.
    fn new() -> Self {
        let mut wave = Wave::new(16, 0, 64);
        wave.set_exec(u64::MAX);
        Machine { mem: AddressSpace::new(1 << 24), wave, lds: vec![0; 1024], arch: Arch::Gfx950 }
    }

    /// An allocation whose dword i holds `i * 3 + 1`.
    fn dwords(&mut self, count: u32) -> u64 {
        let base = self.mem.alloc(u64::from(count) * 4).unwrap();
        let bytes: Vec<u8> = (0..count).flat_map(|i| (i * 3 + 1).to_le_bytes()).collect();
        assert!(self.mem.write(base, &bytes));
        base
    }

    fn run(&mut self, inst: &Inst) -> Result<MemAccess, FaultKind> {
        let program = Program::new(self.arch, 0, 0, []);
        let access = MemAccess::default();
        let mut ctx =
            Ctx { program: &program, mem: &self.mem, lds: &mut self.lds, access, clock: 0 };
        execute(&mut self.wave, &mut ctx, inst)?;
        Ok(ctx.access)
    }

    /// Sets the address pair v[0:1].
    fn address(&mut self, f: impl Fn(usize) -> u64) {
        for lane in 0..WAVE {
            self.wave.vgpr[0].0[lane] = f(lane) as u32;
            self.wave.vgpr[1].0[lane] = (f(lane) >> 32) as u32;
        }
    }

    fn word(&self, addr: u64) -> u32 {
        let mut bytes = [0; 4];
        assert!(self.mem.read(addr, &mut bytes));
        u32::from_le_bytes(bytes)
    }

    /// Writes a raw buffer resource to s[4:7].
    fn resource(&mut self, base: u64, stride: u32, records: u32) {
        let high = (base >> 32) as u32 | stride << 16;
        self.wave.sgpr[4..8].copy_from_slice(&[base as u32, high, records, 0x0002_7000]);
    }
}

fn lanes(f: impl Fn(usize) -> u32) -> Lanes {
    Lanes(std::array::from_fn(f))
}

/// Address v[0:1] (v0), data v[2:5], destination v[8:11].
fn inst(op: Op, enc: Enc, imm: i32) -> Inst {
    Inst {
        op,
        enc,
        size: 8,
        dst: Operand::Vgpr(8),
        sdst: Operand::None,
        src: [Operand::Vgpr(0), Operand::Vgpr(2), Operand::None],
        imm,
        mods: Mods::default(),
        scale: None,
    }
}

/// Resource s[4:7], offset v0, data v[8:11].
fn buffer(op: Op, imm: i32) -> Inst {
    let mut inst = inst(op, Enc::Mubuf, imm);
    inst.src = [Operand::Vgpr(0), Operand::Sgpr(4), Operand::Int(0)];
    inst.mods.offen = true;
    inst
}

#[test]
fn global_loads_read_each_lanes_address_in_one_allocation_or_several() {
    let mut m = Machine::new();
    let (a, b) = (m.dwords(1024), m.dwords(1024));
    for second in [a, b] {
        // Lanes in descending order, the upper half perhaps in another allocation.
        let base = |l: usize| if l < 32 { a } else { second };
        m.address(|l| base(l) + 16 * (63 - l as u64) + 4096 - 1024);
        let access = m.run(&inst(Op::GlobalLoadDwordx4, Enc::Global, -64)).unwrap();
        assert_eq!((access.kind, access.bytes), (MemKind::Load, 16));
        for lane in 0..WAVE {
            let dword = (16 * (63 - lane as u32) + 4096 - 1024 - 64) / 4;
            assert_eq!(access.addr[lane], base(lane) + u64::from(dword) * 4);
            for r in 0..4 {
                assert_eq!(m.wave.vgpr[8 + r].0[lane], (dword + r as u32) * 3 + 1);
            }
        }
    }
}

#[test]
fn a_scalar_base_adds_an_unsigned_32_bit_offset() {
    let mut m = Machine::new();
    let base = m.dwords(256);
    m.wave.set_sgpr64(2, base.wrapping_sub(0xffff_ff00));
    m.wave.vgpr[0] = lanes(|l| 0xffff_ff00 + 4 * l as u32);
    let mut load = inst(Op::GlobalLoadDword, Enc::Global, 8);
    load.src[2] = Operand::Sgpr(2);
    m.run(&load).unwrap();
    assert_eq!(m.wave.vgpr[8], lanes(|l| (l as u32 + 2) * 3 + 1));
}

#[test]
fn offsets_that_wrap_inside_a_large_allocation_go_on_at_its_start() {
    let mut m = Machine::new();
    m.mem = AddressSpace::new(1 << 33);
    let base = m.mem.alloc(1 << 32).unwrap();
    m.wave.set_sgpr64(2, base);
    // Lanes 0 to 31 store at the end, 32 to 63 at the start.
    m.wave.vgpr[0] = lanes(|l| 0xffff_ff80_u32.wrapping_add(4 * l as u32));
    m.wave.vgpr[2] = lanes(|l| 100 + l as u32);
    let mut store = inst(Op::GlobalStoreDword, Enc::Global, 0);
    store.src[2] = Operand::Sgpr(2);
    m.run(&store).unwrap();
    assert_eq!([m.word(base), m.word(base + 124)], [132, 163]);
    assert_eq!(m.word(base + 0xffff_fffc), 131);
    let mut load = inst(Op::GlobalLoadDword, Enc::Global, 0);
    load.src[2] = Operand::Sgpr(2);
    m.run(&load).unwrap();
    assert_eq!(m.wave.vgpr[8], lanes(|l| 100 + l as u32));
}

#[test]
fn stores_write_active_lanes_and_sub_dword_parts() {
    let mut m = Machine::new();
    let base = m.dwords(256);
    m.address(|l| base + 4 * l as u64);
    m.wave.vgpr[2] = lanes(|l| 0xaabb_cc00 + l as u32);
    m.wave.set_exec(0xff);
    m.run(&inst(Op::GlobalStoreShortD16Hi, Enc::Global, 0)).unwrap();
    assert_eq!(m.word(base + 28), 0xaabb);
    m.run(&inst(Op::GlobalStoreByte, Enc::Global, 2)).unwrap();
    assert_eq!(m.word(base + 28), 0x0007_aabb);
    assert_eq!(m.word(base + 32), 8 * 3 + 1);
    // Unaligned: the second store overwrites three bytes of the first.
    m.wave.set_exec(3);
    m.address(|l| base + 101 + l as u64);
    m.run(&inst(Op::GlobalStoreDword, Enc::Global, 0)).unwrap();
    assert_eq!(m.word(base + 101), 0xbbcc_0100);
}

#[test]
fn a_lane_outside_every_allocation_is_named_and_nothing_is_stored() {
    let mut m = Machine::new();
    let base = m.dwords(64);
    // Lane 63's second dword is past the end.
    m.address(|l| base + 4 * l as u64);
    let fault = m.run(&inst(Op::GlobalStoreDwordx2, Enc::Global, 0)).unwrap_err();
    assert_eq!(fault, FaultKind::OutOfBounds { lane: 63, addr: base + 252, bytes: 8 });
    assert_eq!(m.word(base), 1);
    m.wave.set_exec(1);
    m.address(|_| 0x10);
    let fault = m.run(&inst(Op::FlatLoadDword, Enc::Flat, 0)).unwrap_err();
    assert_eq!(fault, FaultKind::OutOfBounds { lane: 0, addr: 0x10, bytes: 4 });
    m.wave.set_exec(0);
    m.run(&inst(Op::FlatLoadDword, Enc::Flat, 0)).unwrap();
}

#[test]
fn atomics_return_the_old_value_only_with_sc0() {
    let mut m = Machine::new();
    let base = m.dwords(64);
    m.address(|_| base);
    m.wave.vgpr[2] = lanes(|l| l as u32 + 1);
    let mut add = inst(Op::GlobalAtomicAdd, Enc::Global, 4);
    let access = m.run(&add).unwrap();
    assert_eq!((access.kind, access.bytes), (MemKind::Atomic, 4));
    // 4 + (1 + ... + 64)
    assert_eq!(m.word(base + 4), 2084);
    assert_eq!(m.wave.vgpr[8], Lanes::ZERO);
    add.mods.sc0 = true;
    m.run(&add).unwrap();
    assert_eq!(m.wave.vgpr[8].0[..3], [2084, 2085, 2087]);
    // The first data register is stored where memory equals the second.
    m.wave.set_exec(2);
    (m.wave.vgpr[2].0[1], m.wave.vgpr[3].0[1]) = (77, 1);
    let mut swap = inst(Op::FlatAtomicCmpswap, Enc::Flat, 0);
    swap.mods.sc0 = true;
    m.run(&swap).unwrap();
    assert_eq!((m.word(base), m.wave.vgpr[8].0[1]), (77, 1));
    m.run(&swap).unwrap();
    assert_eq!((m.word(base), m.wave.vgpr[8].0[1]), (77, 77));
    (m.wave.vgpr[2].0[1], m.wave.vgpr[3].0[1]) = (0, 0x3ff0_0000);
    let mut add = inst(Op::GlobalAtomicAddF64, Enc::Global, 8);
    add.mods.sc0 = true;
    m.run(&add).unwrap();
    // 1.0 added to the denormal that the dwords 7 and 10 make.
    assert_eq!((m.wave.vgpr[8].0[1], m.wave.vgpr[9].0[1]), (7, 10));
    assert_eq!((m.word(base + 8), m.word(base + 12)), (0, 0x3ff0_0000));
    m.address(|_| base + 2);
    let fault = m.run(&inst(Op::GlobalAtomicOr, Enc::Global, 0)).unwrap_err();
    assert_eq!(fault, FaultKind::Misaligned { lane: 1, addr: base + 2, align: 4 });
}

#[test]
fn flat_addresses_reach_lds_and_private_memory_through_their_apertures() {
    let mut m = Machine::new();
    let base = m.dwords(65);
    m.address(|l| match l % 3 {
        0 => base + 4 * l as u64,
        1 => SHARED_APERTURE + 8 * l as u64,
        _ => PRIVATE_APERTURE + 12,
    });
    m.wave.vgpr[2] = lanes(|l| 1000 + l as u32);
    m.run(&inst(Op::FlatStoreDword, Enc::Flat, 4)).unwrap();
    assert_eq!(m.word(base + 4 * 3 + 4), 1003);
    assert_eq!(m.lds[8 * 4 + 4..][..2], 1004u16.to_le_bytes());
    assert_eq!(m.wave.scratch[64 * 5 + 16..][..2], 1005u16.to_le_bytes());
    m.run(&inst(Op::FlatLoadDword, Enc::Flat, 4)).unwrap();
    assert_eq!(m.wave.vgpr[8], m.wave.vgpr[2]);
    m.wave.set_exec(2);
    m.address(|_| SHARED_APERTURE + 1020);
    let fault = m.run(&inst(Op::FlatLoadDwordx2, Enc::Flat, 0)).unwrap_err();
    assert_eq!(fault, FaultKind::LdsOutOfBounds { lane: 1, offset: 1020, size: 1024 });
}

#[test]
fn scratch_is_private_to_lanes_and_bounded_by_their_stride() {
    let mut m = Machine::new();
    m.wave.vgpr[0] = lanes(|l| 4 * (l as u32 % 8));
    m.wave.sgpr[9] = 16;
    for r in 0..2 {
        m.wave.vgpr[2 + r] = lanes(|l| (l + 100 * r) as u32);
    }
    let mut store = inst(Op::ScratchStoreDwordx2, Enc::Scratch, -8);
    store.src[2] = Operand::Sgpr(9);
    let access = m.run(&store).unwrap();
    for lane in 0..WAVE {
        let at = 64 * lane + 4 * (lane % 8) + 16 - 8;
        assert_eq!(m.wave.scratch[at], lane as u8);
        assert_eq!(m.wave.scratch[at + 4], (lane + 100) as u8);
    }
    // Dword d of lane l lies at (d * 64 + l) * 4 for the caches.
    assert_eq!(access.addr[9], PRIVATE_APERTURE + (3 * 64 + 9) * 4);
    let mut load = inst(Op::ScratchLoadDwordx2, Enc::Scratch, -8);
    load.src = store.src;
    m.run(&load).unwrap();
    assert_eq!(m.wave.vgpr[8..10], m.wave.vgpr[2..4]);
    // Immediate only.
    load.src = [Operand::None; 3];
    load.imm = 60;
    let fault = m.run(&load).unwrap_err();
    let addr = PRIVATE_APERTURE + 60;
    assert_eq!(fault, FaultKind::OutOfBounds { lane: 0, addr, bytes: 8 });
    load.imm = -4;
    assert!(matches!(m.run(&load), Err(FaultKind::OutOfBounds { lane: 0, .. })));
}

#[test]
fn raw_buffers_zero_and_drop_what_lies_past_num_records_dword_by_dword() {
    let mut m = Machine::new();
    let base = m.dwords(256);
    // 88 bytes: lanes 0 to 4 whole, two dwords of lane 5.
    m.resource(base, 0, 88);
    m.wave.vgpr[0] = lanes(|l| if l == 63 { 0x8000_0000 } else { 16 * l as u32 });
    m.wave.vgpr[8..12].fill(lanes(|_| 0xdead_beef));
    let access = m.run(&buffer(Op::BufferLoadDwordx4, 0)).unwrap();
    assert_eq!(access.mask, 0x1f);
    for (lane, words) in
        [(0, [1, 4, 7, 10]), (4, [49, 52, 55, 58]), (5, [61, 64, 0, 0]), (6, [0; 4]), (63, [0; 4])]
    {
        for (r, word) in words.into_iter().enumerate() {
            assert_eq!(m.wave.vgpr[8 + r].0[lane], word, "{lane} {r}");
        }
    }
    m.wave.vgpr[8..12].fill(lanes(|l| 500 + l as u32));
    m.run(&buffer(Op::BufferStoreDwordx4, 0)).unwrap();
    assert_eq!((m.word(base + 84), m.word(base + 88)), (505, 22 * 3 + 1));
    // The offsets of register, scalar and instruction add up before the check.
    let mut load = buffer(Op::BufferLoadDword, 4);
    m.wave.sgpr[3] = 76;
    load.src[2] = Operand::Sgpr(3);
    m.wave.vgpr[0] = lanes(|l| 4 * l as u32);
    m.run(&load).unwrap();
    assert_eq!(m.wave.vgpr[8].0[..4], [505, 505, 0, 0]);
}

#[test]
fn out_of_range_half_loads_keep_the_other_half_and_atomics_are_dropped() {
    let mut m = Machine::new();
    let base = m.dwords(16);
    m.resource(base, 0, 6);
    m.wave.vgpr[0] = lanes(|l| 2 * l as u32);
    m.wave.vgpr[8] = lanes(|_| 0x1111_2222);
    m.run(&buffer(Op::BufferLoadShortD16Hi, 0)).unwrap();
    // Halfwords 1, 0, 4, then out of range.
    assert_eq!(m.wave.vgpr[8].0[..4], [0x0001_2222, 0x0000_2222, 0x0004_2222, 0x2222]);
    m.resource(base, 0, 4);
    m.wave.vgpr[0] = lanes(|l| 4 * l as u32);
    m.wave.vgpr[8] = lanes(|_| 10);
    let mut add = buffer(Op::BufferAtomicAdd, 0);
    add.mods.sc0 = true;
    m.run(&add).unwrap();
    assert_eq!((m.word(base), m.word(base + 4)), (11, 4));
    assert_eq!(m.wave.vgpr[8].0[..2], [1, 0]);
}

#[test]
fn structured_buffers_check_the_index_against_num_records() {
    let mut m = Machine::new();
    let base = m.dwords(256);
    m.resource(base, 12, 5);
    m.wave.vgpr[0] = lanes(|l| l as u32);
    m.wave.vgpr[1] = lanes(|_| 4);
    let mut load = buffer(Op::BufferLoadDwordx2, 0);
    load.mods.idxen = true;
    m.run(&load).unwrap();
    // Element l, second and third dword: dwords 3 l + 1 and 3 l + 2.
    assert_eq!(m.wave.vgpr[8].0[..6], [4, 13, 22, 31, 40, 0]);
    assert_eq!(m.wave.vgpr[9].0[4], 14 * 3 + 1);
    m.wave.sgpr[5] |= 1 << 31;
    assert!(matches!(m.run(&load), Err(FaultKind::Unimplemented { .. })));
}

#[test]
fn a_resource_larger_than_its_allocation_faults_where_memory_ends() {
    let mut m = Machine::new();
    let base = m.dwords(32);
    m.resource(base, 0, u32::MAX);
    m.wave.vgpr[0] = lanes(|l| 4 * l as u32);
    let fault = m.run(&buffer(Op::BufferLoadDword, 0)).unwrap_err();
    assert_eq!(fault, FaultKind::OutOfBounds { lane: 32, addr: base + 128, bytes: 4 });
}

#[test]
fn loads_to_lds_place_lanes_after_each_other_from_m0() {
    let mut m = Machine::new();
    let base = m.dwords(1024);
    m.wave.sgpr[reg::M0 as usize] = 16;
    m.address(|l| base + 32 * l as u64);
    m.lds = vec![0; 2048];
    let mut load = inst(Op::GlobalLoadLdsDwordx4, Enc::Global, 8);
    load.mods.lds = true;
    m.wave.set_exec(!(1 << 9));
    let access = m.run(&load).unwrap();
    assert_eq!((access.kind, access.bytes), (MemKind::LoadToLds, 16));
    let word = |lds: &[u8], at: usize| u32::from_le_bytes(lds[at..at + 4].try_into().unwrap());
    for lane in 0..WAVE {
        for r in 0..4 {
            let want = if lane == 9 { 0 } else { (8 * lane + 2 + r) as u32 * 3 + 1 };
            assert_eq!(word(&m.lds, 16 + 8 + 16 * lane + 4 * r), want, "{lane} {r}");
        }
    }
    // Through a buffer, bytes are extended to dwords and lanes out of range write zero.
    m.wave.set_exec(u64::MAX);
    m.lds.fill(0xff);
    m.resource(base, 0, 41);
    m.wave.vgpr[0] = lanes(|l| 4 * l as u32);
    let mut load = buffer(Op::BufferLoadUbyte, 0);
    load.mods.lds = true;
    m.run(&load).unwrap();
    assert_eq!(word(&m.lds, 16 + 4 * 10), 31);
    assert_eq!(word(&m.lds, 16 + 4 * 11), 0);
    assert_eq!(word(&m.lds, 16 + 4 * 64), u32::MAX);
    m.wave.sgpr[reg::M0 as usize] = 2048 - 100;
    let fault = m.run(&load).unwrap_err();
    assert_eq!(fault, FaultKind::LdsOutOfBounds { lane: 25, offset: 2048, size: 2048 });
}

#[test]
fn cache_control_does_nothing_and_typed_loads_are_named_as_missing() {
    let mut m = Machine::new();
    let access = m.run(&inst(Op::BufferInv, Enc::Mubuf, 0)).unwrap();
    assert_eq!(access.kind, MemKind::None);
    let fault = m.run(&inst(Op::TbufferLoadFormatX, Enc::Mtbuf, 0)).unwrap_err();
    assert_eq!(fault, FaultKind::Unimplemented { text: "tbuffer_load_format_x".into() });
}
