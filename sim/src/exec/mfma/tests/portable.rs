//! What the host's kernels compute is, bit for bit, what the portable one does.

use super::*;

#[test]
fn avx_and_portable_kernels_agree_bit_for_bit() {
    let mut random = Random(6);
    for op in [Op::VMfmaF3216x16x32Fp8Fp8, Op::VMfmaF3232x32x16Bf16, Op::VMfmaF3232x32x42bF16] {
        let mut wave = Wave::new(128, 0, 0);
        for reg in &mut wave.vgpr[..60] {
            reg.0.fill_with(|| random.word() & 0xbf7f_bf7f);
        }
        let plan = Plan::new(&inst(op), Arch::Gfx950).unwrap();
        let job = Job::new(&wave, &inst(op), &plan).unwrap();
        let mut other = wave.clone();
        run_inst(&mut wave, Arch::Gfx950, &inst(op)).unwrap();
        run::<false>(&mut other, &inst(op), &job);
        for reg in D as usize..D as usize + job.dst_len {
            for lane in 0..WAVE {
                let (x, y) = (wave.vgpr[reg].0[lane], other.vgpr[reg].0[lane]);
                let nan = f32::from_bits(x).is_nan() && f32::from_bits(y).is_nan();
                assert!(x == y || nan, "{} {reg} {lane}", op.info().name);
            }
        }
    }
}

/// Operands that end in zeros, as at the edge of a matrix, and sums that adding zero would change:
/// a negative zero and a signalling NaN.
#[test]
fn padded_operands_give_the_bits_of_the_portable_kernel() {
    let mut random = Random(11);
    let ops = [
        Op::VMfmaF3216x16x32Fp8Fp8,
        Op::VMfmaF3232x32x16Fp8Fp8,
        Op::VMfmaF3216x16x128F8f6f4,
        Op::VMfmaF3232x32x64F8f6f4,
        Op::VMfmaF3232x32x16F16,
        Op::VMfmaF3216x16x32Bf16,
    ];
    for op in ops {
        for start in [None, Some(0x3f80_0000), Some(0x8000_0000), Some(0x7f80_0001)] {
            // Formats 0 and 4 of f8f6f4 differ in how their elements are ordered.
            for (zeros, formats) in [(0, 0), (1, 0), (2, 0), (4, 0), (8, 0), (2, 4)] {
                let mut inst = inst(op);
                if !op.info().name.ends_with("f8f6f4") && formats != 0 {
                    continue;
                }
                inst.mods.blgp = formats;
                let plan = Plan::new(&inst, Arch::Gfx950).unwrap();
                let mut wave = Wave::new(128, 0, 0);
                for reg in &mut wave.vgpr[..60] {
                    reg.0.fill_with(|| random.word() & 0xbf3f_bf3f);
                }
                for (first, count) in [(A, plan.registers[0]), (B, plan.registers[1])] {
                    let end = usize::from(first) + count;
                    wave.vgpr[end - count.min(zeros)..end].fill(Lanes::ZERO);
                }
                match start {
                    None => inst.src[2] = Operand::Int(0),
                    Some(value) => wave.vgpr[usize::from(C) + 1].0[7] = value,
                }
                let job = Job::new(&wave, &inst, &plan).unwrap();
                let mut other = wave.clone();
                run_inst(&mut wave, Arch::Gfx950, &inst).unwrap();
                run::<false>(&mut other, &inst, &job);
                let name = op.info().name;
                assert!(wave.vgpr == other.vgpr, "{name} {zeros} {formats} {start:x?}");
            }
        }
    }
}
