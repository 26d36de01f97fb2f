//! Time of one matrix instruction on one core, its operands unpacked already, for the shapes that the
//! bundled kernels use.

use std::hint::black_box;

use cdna_sim::exec::{Ctx, Lanes, MemAccess, Program, WAVE, Wave, run};
use cdna_sim::isa::{Arch, Enc, Inst, Mods, Op, Operand, ScaleOperands};
use cdna_sim::memory::AddressSpace;
use criterion::{Criterion, criterion_group, criterion_main};

fn inst(op: Op, format: u8) -> Inst {
    let scaled = matches!(op, Op::VMfmaScaleF3216x16x128F8f6f4 | Op::VMfmaScaleF3232x32x64F8f6f4);
    Inst {
        op,
        enc: if scaled { Enc::MaiScale } else { Enc::Mai },
        size: 8,
        dst: Operand::Vgpr(32),
        sdst: Operand::None,
        src: [
            Operand::Vgpr(0),
            Operand::Vgpr(8),
            if scaled { Operand::Int(0) } else { Operand::Vgpr(32) },
        ],
        imm: 0,
        mods: Mods { cbsz: format, blgp: format, ..Mods::default() },
        scale: scaled.then_some(ScaleOperands {
            src: [Operand::Vgpr(16), Operand::Vgpr(17)],
            op_sel: 0,
            op_sel_hi: 0,
        }),
    }
}

fn bench(c: &mut Criterion) {
    let mem = AddressSpace::new(0);
    let mut wave = Wave::new(64, 0, 0);
    for (i, reg) in wave.vgpr[..16].iter_mut().enumerate() {
        // Ones and halves in bf16, small values in the narrower formats.
        *reg = Lanes(std::array::from_fn(|l| 0x3f80_3f00 + ((i * WAVE + l) as u32 & 7)));
    }
    wave.vgpr[16..18].fill(Lanes([0x7f7f_7f7f; WAVE]));
    for (name, op, format) in [
        ("16x16x32_bf16", Op::VMfmaF3216x16x32Bf16, 0),
        ("32x32x16_bf16", Op::VMfmaF3232x32x16Bf16, 0),
        ("32x32x8_bf16", Op::VMfmaF3232x32x8Bf16, 0),
        ("16x16x32_fp8_fp8", Op::VMfmaF3216x16x32Fp8Fp8, 0),
        ("32x32x16_fp8_fp8", Op::VMfmaF3232x32x16Fp8Fp8, 0),
        ("16x16x64_i8", Op::VMfmaI3216x16x64I8, 0),
        ("16x16x128_f8f6f4 fp8", Op::VMfmaF3216x16x128F8f6f4, 0),
        ("scale_16x16x128_f8f6f4 fp4", Op::VMfmaScaleF3216x16x128F8f6f4, 4),
        ("scale_32x32x64_f8f6f4 fp4", Op::VMfmaScaleF3232x32x64F8f6f4, 4),
    ] {
        let program = Program::new(Arch::Gfx950, 0, 16, [(0, inst(op, format))]);
        let access = MemAccess::default();
        let mut ctx = Ctx { program: &program, mem: &mem, lds: &mut [], access, clock: 0 };
        c.bench_function(name, |b| {
            b.iter(|| {
                wave.pc = 0;
                run(black_box(&mut wave), &mut ctx, 1)
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(30);
    targets = bench
}
criterion_main!(benches);
