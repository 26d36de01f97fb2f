//! LDS contents and lane patterns here follow from the addresses by arithmetic in each test.

use super::*;
use crate::exec::Program;
use crate::isa::{Arch, Enc, Mods, Operand};
use crate::memory::AddressSpace;

/// LDS of the test workgroup: byte i holds the low byte of 7 i.
fn pattern(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i * 7) as u8).collect()
}

fn inst(op: Op, offset: i32) -> Inst {
    Inst {
        op,
        enc: Enc::Ds,
        size: 8,
        dst: Operand::Vgpr(8),
        sdst: Operand::None,
        src: [Operand::Vgpr(0), Operand::Vgpr(1), Operand::Vgpr(5)],
        imm: offset,
        mods: Mods::default(),
        scale: None,
    }
}

fn wave() -> Wave {
    let mut wave = Wave::new(16, 0, 0);
    wave.set_exec(u64::MAX);
    wave
}

fn run(wave: &mut Wave, lds: &mut [u8], inst: &Inst) -> Result<MemAccess, FaultKind> {
    let program = Program::new(Arch::Gfx950, 0, 0, []);
    let mem = AddressSpace::new(0);
    let access = MemAccess::default();
    let mut ctx = Ctx { program: &program, mem: &mem, lds, access, clock: 0 };
    execute(wave, &mut ctx, inst)?;
    Ok(ctx.access)
}

fn lanes(f: impl Fn(usize) -> u32) -> Lanes {
    Lanes(std::array::from_fn(f))
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

#[test]
fn reads_of_every_width_return_the_bytes_at_their_address() {
    let mut lds = pattern(4096);
    // Odd addresses: unaligned access mode.
    let mut wave = wave();
    wave.vgpr[0] = lanes(|l| 17 * l as u32 + 1);
    for (op, n) in [(Op::DsReadB32, 1), (Op::DsReadB64, 2), (Op::DsReadB96, 3), (Op::DsReadB128, 4)]
    {
        let access = run(&mut wave, &mut lds, &inst(op, 100)).unwrap();
        assert_eq!((access.kind, access.bytes, access.mask), (MemKind::LdsRead, 4 * n, u64::MAX));
        for lane in 0..WAVE {
            assert_eq!(access.addr[lane], 17 * lane as u64 + 101);
            for r in 0..n as usize {
                let want = word(&lds, 17 * lane + 101 + 4 * r);
                assert_eq!(wave.vgpr[8 + r].0[lane], want, "{op:?} {lane} {r}");
            }
        }
    }
}

#[test]
fn sub_dword_reads_extend_or_keep_the_other_half() {
    let mut lds = vec![0; 64];
    lds[4..6].copy_from_slice(&[0x81, 0xf2]);
    for (op, want) in [
        (Op::DsReadU8, 0x81),
        (Op::DsReadI8, 0xffff_ff81),
        (Op::DsReadU16, 0xf281),
        (Op::DsReadI16, 0xffff_f281),
        (Op::DsReadU8D16, 0xaaaa_0081),
        (Op::DsReadU8D16Hi, 0x0081_aaaa),
        (Op::DsReadI8D16, 0xaaaa_ff81),
        (Op::DsReadI8D16Hi, 0xff81_aaaa),
        (Op::DsReadU16D16, 0xaaaa_f281),
        (Op::DsReadU16D16Hi, 0xf281_aaaa),
    ] {
        let mut wave = wave();
        wave.vgpr[8] = lanes(|_| 0xaaaa_aaaa);
        run(&mut wave, &mut lds, &inst(op, 4)).unwrap();
        assert_eq!(wave.vgpr[8].0[63], want, "{op:?}");
    }
}

#[test]
fn writes_store_only_active_lanes_and_their_width() {
    for (op, bytes, shift) in [
        (Op::DsWriteB8, 1, 0),
        (Op::DsWriteB16, 2, 0),
        (Op::DsWriteB8D16Hi, 1, 16),
        (Op::DsWriteB16D16Hi, 2, 16),
        (Op::DsWriteB32, 4, 0),
        (Op::DsWriteB64, 8, 0),
        (Op::DsWriteB96, 12, 0),
        (Op::DsWriteB128, 16, 0),
    ] {
        let mut lds = pattern(2048);
        let mut want = lds.clone();
        let mut wave = wave();
        wave.set_exec(0xf0f0_0000_ffff_0001);
        wave.vgpr[0] = lanes(|l| 20 * l as u32);
        for r in 0..4 {
            wave.vgpr[1 + r] = lanes(|l| 0x0101_0101 * (l + 50 * r) as u32 + 0x1000_0000);
        }
        for lane in 0..WAVE {
            if 0xf0f0_0000_ffff_0001u64 >> lane & 1 == 1 {
                for b in 0..bytes {
                    let word = wave.vgpr[1 + b / 4].0[lane] >> shift;
                    want[20 * lane + 32 + b] = word.to_le_bytes()[b % 4];
                }
            }
        }
        run(&mut wave, &mut lds, &inst(op, 32)).unwrap();
        assert!(lds == want, "{op:?}");
    }
}

#[test]
fn two_address_forms_scale_their_offsets_by_element_and_by_64() {
    for (read, write, bytes, stride) in [
        (Op::DsRead2B32, Op::DsWrite2B32, 4, 1),
        (Op::DsRead2B64, Op::DsWrite2B64, 8, 1),
        (Op::DsRead2st64B32, Op::DsWrite2st64B32, 4, 64),
        (Op::DsRead2st64B64, Op::DsWrite2st64B64, 8, 64),
    ] {
        let mut lds = pattern(16384);
        let mut wave = wave();
        wave.vgpr[0] = lanes(|l| 8 * l as u32);
        let offset = 3 | 9 << 8;
        let access = run(&mut wave, &mut lds, &inst(read, offset)).unwrap();
        assert!(access.two && access.bytes == bytes);
        let at = |lane: usize, which: usize| 8 * lane + [3, 9][which] * bytes as usize * stride;
        for lane in 0..WAVE {
            assert_eq!(access.addr[lane] as usize, at(lane, 0));
            assert_eq!(access.addr2[lane] as usize, at(lane, 1));
            for r in 0..bytes as usize / 2 {
                let n = bytes as usize / 4;
                let want = word(&lds, at(lane, r / n) + 4 * (r % n));
                assert_eq!(wave.vgpr[8 + r].0[lane], want, "{read:?} {lane} {r}");
            }
        }
        for r in 1..8 {
            wave.vgpr[r] = lanes(|l| (l + 1000 * r) as u32);
        }
        // Only one lane, so that the two places cannot overlap with another lane's.
        wave.set_exec(1 << 5);
        run(&mut wave, &mut lds, &inst(write, offset)).unwrap();
        assert_eq!(word(&lds, at(5, 0)), 1005, "{write:?}");
        assert_eq!(word(&lds, at(5, 1)), 5005, "{write:?}");
        if bytes == 8 {
            assert_eq!(word(&lds, at(5, 1) + 4), 6005, "{write:?}");
        }
    }
}

#[test]
fn atomics_act_in_lane_order_and_return_the_old_value_when_asked() {
    let mut lds = vec![0; 16];
    let mut wave = wave();
    wave.vgpr[1] = lanes(|l| l as u32 + 1);
    run(&mut wave, &mut lds, &inst(Op::DsAddU32, 4)).unwrap();
    // 1 + 2 + ... + 64
    assert_eq!(word(&lds, 4), 2080);
    let access = run(&mut wave, &mut lds, &inst(Op::DsAddRtnU32, 8)).unwrap();
    assert_eq!(access.kind, MemKind::LdsAtomic);
    assert_eq!(wave.vgpr[8].0[..4], [0, 1, 3, 6]);
    // Compare with data0, store data1: lane 0 finds 2080, no other lane finds its own value.
    wave.vgpr[1] = lanes(|l| if l == 0 { 2080 } else { 9 });
    wave.vgpr[5] = lanes(|l| 100 + l as u32);
    run(&mut wave, &mut lds, &inst(Op::DsCmpstRtnB32, 4)).unwrap();
    assert_eq!((word(&lds, 4), wave.vgpr[8].0[0], wave.vgpr[8].0[1]), (100, 2080, 100));
    // Clear the bits of data0, set those of data1.
    wave.set_exec(1);
    (wave.vgpr[1].0[0], wave.vgpr[5].0[0]) = (0x60, 0x8);
    run(&mut wave, &mut lds, &inst(Op::DsMskorB32, 4)).unwrap();
    assert_eq!(word(&lds, 4), 100 & !0x60 | 8);
    // f64: 0 + 2.5.
    let two_and_a_half = 2.5f64.to_bits();
    (wave.vgpr[1].0[0], wave.vgpr[2].0[0]) = (two_and_a_half as u32, (two_and_a_half >> 32) as u32);
    lds.fill(0);
    run(&mut wave, &mut lds, &inst(Op::DsAddF64, 8)).unwrap();
    assert_eq!(lds[8..16], two_and_a_half.to_le_bytes());
    run(&mut wave, &mut lds, &inst(Op::DsWrxchg2RtnB32, 2 | 3 << 8)).unwrap();
    assert_eq!(wave.vgpr[9].0[0], (two_and_a_half >> 32) as u32);
    assert_eq!(word(&lds, 12), 0x8);
}

#[test]
fn accesses_past_the_allocation_and_misaligned_atomics_are_faults() {
    let mut lds = vec![0; 128];
    let mut wave = wave();
    wave.vgpr[0] = lanes(|l| if l == 40 { 125 } else { 0 });
    let fault = run(&mut wave, &mut lds, &inst(Op::DsReadB32, 0)).unwrap_err();
    assert_eq!(fault, FaultKind::LdsOutOfBounds { lane: 40, offset: 125, size: 128 });
    // An inactive lane's address does not matter.
    wave.set_exec(!(1 << 40));
    run(&mut wave, &mut lds, &inst(Op::DsReadB32, 0)).unwrap();
    // A negative base with an offset that brings it back is what LLVM emits.
    wave.vgpr[0] = lanes(|_| u32::MAX - 7);
    run(&mut wave, &mut lds, &inst(Op::DsWriteB8, 8)).unwrap();
    let fault = run(&mut wave, &mut lds, &inst(Op::DsWriteB8, 7)).unwrap_err();
    assert_eq!(
        fault,
        FaultKind::LdsOutOfBounds { lane: 0, offset: u64::from(u32::MAX), size: 128 }
    );
    wave.vgpr[0] = lanes(|_| 2);
    let fault = run(&mut wave, &mut lds, &inst(Op::DsAddU32, 0)).unwrap_err();
    assert_eq!(fault, FaultKind::Misaligned { lane: 0, addr: 2, align: 4 });
    let fault = run(&mut wave, &mut [], &inst(Op::DsReadB32, 0)).unwrap_err();
    assert_eq!(fault, FaultKind::LdsOutOfBounds { lane: 0, offset: 2, size: 0 });
}

#[test]
fn permutations_ignore_inactive_sources_and_let_the_highest_lane_win() {
    let mut wave = wave();
    wave.vgpr[1] = lanes(|l| 100 + l as u32);
    // Rotate by one lane; address bits above the lane number do not count.
    wave.vgpr[0] = lanes(|l| 4 * (l as u32 + 1) + 0x100);
    wave.set_exec(!(1 << 7));
    let access = run(&mut wave, &mut [], &inst(Op::DsBpermuteB32, 0)).unwrap();
    assert_eq!(access.kind, MemKind::LdsLane);
    assert_eq!(wave.vgpr[8].0[..8], [101, 102, 103, 104, 105, 106, 0, 0]);
    assert_eq!(wave.vgpr[8].0[63], 100);
    wave.vgpr[0] = lanes(|l| if l < 2 { 8 } else { 4 * l as u32 + 4 });
    run(&mut wave, &mut [], &inst(Op::DsPermuteB32, 0)).unwrap();
    // Lanes 0 and 1 both write lane 2; lane 7 is off, so lane 8 gets nothing.
    assert_eq!(wave.vgpr[8].0[..5], [163, 0, 101, 102, 103]);
    assert_eq!(wave.vgpr[8].0[8], 0);
}

#[test]
fn swizzle_patterns_are_those_of_the_isa_document() {
    let source = |pattern, lane| lane::swizzle_source(pattern, lane);
    // The document's tables for FFT mode count lanes from 1.
    let reversed = [
        0x01, 0x11, 0x09, 0x19, 0x05, 0x15, 0x0d, 0x1d, 0x03, 0x13, 0x0b, 0x1b, 0x07, 0x17, 0x0f,
        0x1f, 0x02, 0x12, 0x0a, 0x1a, 0x06, 0x16, 0x0e, 0x1e, 0x04, 0x14, 0x0c, 0x1c, 0x08, 0x18,
        0x10, 0x20,
    ];
    let halves = [
        0x01, 0x09, 0x05, 0x0d, 0x03, 0x0b, 0x07, 0x0f, 0x02, 0x0a, 0x06, 0x0e, 0x04, 0x0c, 0x08,
        0x10, 0x11, 0x19, 0x15, 0x1d, 0x13, 0x1b, 0x17, 0x1f, 0x12, 0x1a, 0x16, 0x1e, 0x14, 0x1c,
        0x18, 0x20,
    ];
    for lane in 0..32 {
        assert_eq!(source(0xe000, lane), reversed[lane] - 1);
        assert_eq!(source(0xe010, lane), halves[lane] - 1);
        assert_eq!(source(0xe01f, lane), lane);
        // Upper 32 lanes work among themselves.
        assert_eq!(source(0xe000, lane + 32), reversed[lane] + 31);
        // Rotation by 3, in either direction, in groups of 32 and of 8 (mask 0b11000).
        assert_eq!(source(0xc000 | 3 << 5, lane), (lane + 3) % 32);
        assert_eq!(source(0xc000 | 1 << 10 | 3 << 5, lane), (lane + 29) % 32);
        assert_eq!(source(0xc000 | 3 << 5 | 0x18, lane), lane & 0x18 | (lane + 3) & 7);
        // Quad permutation [3, 2, 1, 0]; xor by 16; broadcast of lane 4.
        assert_eq!(source(0x8000 | 0b00_01_10_11, lane), lane ^ 3);
        assert_eq!(source(0x1f | 16 << 10, lane), lane ^ 16);
        assert_eq!(source(4 << 5, lane), 4);
    }
    let mut wave = wave();
    wave.vgpr[0] = lanes(|l| l as u32);
    run(&mut wave, &mut [], &inst(Op::DsSwizzleB32, 0x1f | 1 << 10)).unwrap();
    assert_eq!(wave.vgpr[8], lanes(|l| l as u32 ^ 1));
}

#[test]
fn transposing_reads_give_each_lane_one_column_of_its_tile() {
    // Each 16 lanes read a tile [rows][16] stored row after row, every lane its share in order.
    for (op, bits) in [
        (Op::DsReadB64TrB16, 16),
        (Op::DsReadB64TrB8, 8),
        (Op::DsReadB96TrB6, 6),
        (Op::DsReadB64TrB4, 4),
    ] {
        let bytes = if bits == 6 { 12 } else { 8 };
        let rows = bytes * 8 / bits;
        let value = |tile: usize, row: usize, column: usize| {
            (tile * 91 + row * 37 + column * 5) & ((1 << bits) - 1)
        };
        let mut lds = vec![0u8; 64 * bytes];
        for tile in 0..4 {
            for row in 0..rows {
                for column in 0..16 {
                    for b in 0..bits {
                        let at = tile * 16 * bytes * 8 + (row * 16 + column) * bits + b;
                        lds[at / 8] |= ((value(tile, row, column) >> b & 1) as u8) << (at % 8);
                    }
                }
            }
        }
        let mut wave = wave();
        wave.vgpr[0] = lanes(|l| (l * bytes) as u32);
        run(&mut wave, &mut lds, &inst(op, 0)).unwrap();
        for lane in 0..WAVE {
            for row in 0..rows {
                let got = (0..bits).fold(0, |v, b| {
                    let at = row * bits + b;
                    v | ((wave.vgpr[8 + at / 32].0[lane] >> (at % 32) & 1) as usize) << b
                });
                assert_eq!(got, value(lane / 16, row, lane % 16), "{op:?} {lane} {row}");
            }
        }
    }
}

#[test]
fn append_and_consume_count_lanes_and_addtid_adds_the_lane() {
    let mut lds = vec![0; 1024];
    lds[20] = 7;
    let mut wave = wave();
    wave.sgpr[reg::M0 as usize] = 16;
    wave.set_exec(0x707);
    run(&mut wave, &mut lds, &inst(Op::DsAppend, 4)).unwrap();
    assert_eq!((word(&lds, 20), wave.vgpr[8].0[10], wave.vgpr[8].0[3]), (13, 7, 0));
    run(&mut wave, &mut lds, &inst(Op::DsConsume, 4)).unwrap();
    assert_eq!((word(&lds, 20), wave.vgpr[8].0[0]), (7, 13));
    wave.set_exec(u64::MAX);
    wave.vgpr[1] = lanes(|l| l as u32 * 3);
    run(&mut wave, &mut lds, &inst(Op::DsWriteAddtidB32, 64)).unwrap();
    assert_eq!(word(&lds, 16 + 64 + 4 * 50), 150);
    run(&mut wave, &mut lds, &inst(Op::DsReadAddtidB32, 68)).unwrap();
    assert_eq!(wave.vgpr[8].0[49], 150);
}
