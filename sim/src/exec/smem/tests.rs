use super::*;
use crate::exec::{MemAccess, Program};
use crate::isa::{Arch, Enc, Mods, reg};
use crate::memory::AddressSpace;

fn inst(op: Op, dst: u16, soffset: Operand, imm: i32) -> Inst {
    Inst {
        op,
        enc: Enc::Smem,
        size: 8,
        dst: Operand::Sgpr(dst),
        sdst: Operand::None,
        src: [Operand::Sgpr(4), soffset, Operand::None],
        imm,
        mods: Mods::default(),
        scale: None,
    }
}

fn run(mem: &AddressSpace, wave: &mut Wave, inst: &Inst) -> Result<MemAccess, FaultKind> {
    let program = Program::new(Arch::Gfx942, 0, 0, []);
    let access = MemAccess::default();
    let clock = 0x1_2345_6789;
    let mut ctx = Ctx { program: &program, mem, lds: &mut [], access, clock };
    execute(wave, &mut ctx, inst)?;
    Ok(ctx.access)
}

/// 64 dwords, dword i being `i + 100`.
fn memory() -> (AddressSpace, u64) {
    let mut mem = AddressSpace::new(1 << 20);
    let base = mem.alloc(256).unwrap();
    let bytes: Vec<u8> = (0..64u32).flat_map(|i| (i + 100).to_le_bytes()).collect();
    assert!(mem.write(base, &bytes));
    (mem, base)
}

#[test]
fn loads_add_register_and_immediate_and_drop_the_low_address_bits() {
    let (mem, base) = memory();
    let mut wave = Wave::new(0, 0, 0);
    wave.set_sgpr64(4, base + 64);
    wave.sgpr[20] = 12;
    for (op, n) in [
        (Op::SLoadDword, 1),
        (Op::SLoadDwordx2, 2),
        (Op::SLoadDwordx4, 4),
        (Op::SLoadDwordx8, 8),
        (Op::SLoadDwordx16, 16),
    ] {
        wave.sgpr[32..64].fill(0);
        let access = run(&mem, &mut wave, &inst(op, 32, Operand::Sgpr(20), -5)).unwrap();
        // 64 + 12 - 5 = 71, down to 68: dword 17.
        assert_eq!(
            (access.kind, access.bytes, access.addr[0]),
            (MemKind::Scalar, 4 * n, base + 68)
        );
        for i in 0..32 {
            let want = if i < n as usize { 117 + i as u32 } else { 0 };
            assert_eq!(wave.sgpr[32 + i], want, "{op:?} {i}");
        }
    }
    run(&mem, &mut wave, &inst(Op::SLoadDwordx2, reg::VCC, Operand::None, 0)).unwrap();
    assert_eq!(wave.vcc(), 117 << 32 | 116);
}

#[test]
fn loads_outside_every_allocation_or_past_the_register_file_are_faults() {
    let (mem, base) = memory();
    let mut wave = Wave::new(0, 0, 0);
    wave.set_sgpr64(4, base);
    let fault = run(&mem, &mut wave, &inst(Op::SLoadDwordx4, 8, Operand::None, 244)).unwrap_err();
    assert_eq!(fault, FaultKind::OutOfBounds { lane: 0, addr: base + 244, bytes: 16 });
    let fault = run(&mem, &mut wave, &inst(Op::SLoadDwordx16, 120, Operand::None, 0)).unwrap_err();
    assert!(matches!(fault, FaultKind::NoRegister { .. }));
}

#[test]
fn buffer_loads_return_zero_past_num_records() {
    let (mem, base) = memory();
    let mut wave = Wave::new(0, 0, 0);
    wave.sgpr[4..8].copy_from_slice(&[base as u32, (base >> 32) as u32, 40, 0]);
    wave.sgpr[32..36].fill(7);
    run(&mem, &mut wave, &inst(Op::SBufferLoadDwordx4, 32, Operand::None, 32)).unwrap();
    assert_eq!(wave.sgpr[32..36], [108, 109, 0, 0]);
    // With a stride, num_records counts strides: 2 * 20 bytes.
    wave.sgpr[5] |= 20 << 16;
    wave.sgpr[6] = 2;
    run(&mem, &mut wave, &inst(Op::SBufferLoadDwordx2, 32, Operand::None, 36)).unwrap();
    assert_eq!(wave.sgpr[32..34], [109, 0]);
    run(&mem, &mut wave, &inst(Op::SBufferLoadDword, 32, Operand::None, 4000)).unwrap();
    assert_eq!(wave.sgpr[32], 0);
}

#[test]
fn the_clock_is_read_and_cache_control_does_nothing() {
    let (mem, _) = memory();
    let mut wave = Wave::new(0, 0, 0);
    run(&mem, &mut wave, &inst(Op::SMemtime, 10, Operand::None, 0)).unwrap();
    assert_eq!(wave.sgpr64(10), 0x1_2345_6789);
    let access = run(&mem, &mut wave, &inst(Op::SDcacheInv, 0, Operand::None, 0)).unwrap();
    assert_eq!(access.kind, MemKind::None);
    let fault = run(&mem, &mut wave, &inst(Op::SAtomicAdd, 0, Operand::None, 0)).unwrap_err();
    assert_eq!(fault, FaultKind::Unimplemented { text: "s_atomic_add".into() });
}
