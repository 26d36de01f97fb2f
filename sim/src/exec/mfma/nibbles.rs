//! fp4 times fp4 in integers. Twice an fp4 value is a small integer, so the products of a block of 32
//! fit 16 bits, and bytes multiply several times faster than f32.
//!
//! Goes in: the packed operands and their block scales. Comes out: the same bits as from the f32
//! kernel, which is why it is used only where no sum can round: from zero, with scales that lie
//! close together ([`exact`]).

use std::arch::x86_64::*;

use super::kernel::first_row;
use crate::exec::{Lanes, WAVE};

/// Registers of an operand: 32 values of 4 bits in each lane.
const REGISTERS: usize = 4;
/// The largest difference of two products' exponents. 128 products of up to 36 are below 2^13, in
/// steps of a quarter; 24 bits of mantissa leave room for this much.
const SPREAD: i32 = 9;
/// Most that the exponent of a scale product may be, either way: far from the ends of f32.
const REACH: i32 = 90;

/// Twice the value of each code.
const DOUBLED: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];
/// Added to A's values so that they are not negative.
const OFFSET: i8 = 12;

/// Whether every sum of products under these scales is exact in f32, in whatever order.
pub(super) fn exact(codes: &[Option<[u8; WAVE]>; 2]) -> bool {
    let (mut least, mut most) = (0, 0);
    for codes in codes {
        let side = codes.as_ref().map_or(&[127][..], |codes| &codes[..]);
        least += side.iter().fold(i32::MAX, |e, &c| e.min(i32::from(c) - 127));
        most += side.iter().fold(i32::MIN, |e, &c| e.max(i32::from(c) - 127));
    }
    most - least <= SPREAD && least >= -REACH && most <= REACH
}

/// The operand as bytes: for each register the values of its even nibbles, then of its odd ones.
type Bytes = [[u32; WAVE]; 2 * REGISTERS];

#[target_feature(enable = "avx2")]
fn unpack(regs: &[Lanes], table: [i8; 16]) -> Bytes {
    let mut bytes = [[0; WAVE]; 2 * REGISTERS];
    // SAFETY: unaligned loads of 16 bytes from the table, and of eight dwords at multiples of
    // eight below 64 from arrays of 64; stores likewise.
    unsafe {
        let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()));
        let nibble = _mm256_set1_epi8(15);
        for (pair, reg) in bytes.chunks_exact_mut(2).zip(regs) {
            for at in (0..WAVE).step_by(8) {
                let word = _mm256_loadu_si256(reg.0.as_ptr().add(at).cast());
                let odd = _mm256_and_si256(_mm256_srli_epi16::<4>(word), nibble);
                let even = _mm256_shuffle_epi8(table, _mm256_and_si256(word, nibble));
                _mm256_storeu_si256(pair[0].as_mut_ptr().add(at).cast(), even);
                let odd = _mm256_shuffle_epi8(table, odd);
                _mm256_storeu_si256(pair[1].as_mut_ptr().add(at).cast(), odd);
            }
        }
    }
    bytes
}

/// A of an operation, unpacked.
#[target_feature(enable = "avx2")]
pub(super) fn unpack_a(regs: &[Lanes]) -> Bytes {
    unpack(regs, DOUBLED.map(|x| x + OFFSET))
}

/// B of an operation, unpacked.
#[target_feature(enable = "avx2")]
pub(super) fn unpack_b(regs: &[Lanes]) -> Bytes {
    unpack(regs, DOUBLED)
}

/// Adds the product of an `M` x `M` operation to `acc`. `factors` are the scales of the lanes.
#[target_feature(enable = "avx2,fma")]
pub(super) fn multiply<const M: usize>(
    acc: &mut [Lanes],
    a: &Bytes,
    b: &Bytes,
    factors: &[[f32; WAVE]; 2],
) {
    let ones = _mm256_set1_epi16(1);
    for group in (0..WAVE).step_by(M) {
        for column in (0..M).step_by(8) {
            let mut columns = [_mm256_setzero_si256(); 2 * REGISTERS];
            // Takes back what the offset of A adds.
            let mut start = _mm256_setzero_si256();
            for (column8, b) in columns.iter_mut().zip(b) {
                // SAFETY: eight dwords from `group + column`, which is at most 56.
                *column8 = unsafe { _mm256_loadu_si256(b.as_ptr().add(group + column).cast()) };
                let extra = _mm256_maddubs_epi16(_mm256_set1_epi8(OFFSET), *column8);
                start = _mm256_sub_epi16(start, extra);
            }
            // SAFETY: as above. The values are doubled on both sides.
            let right = unsafe { _mm256_loadu_ps(factors[1].as_ptr().add(group + column)) };
            let right = _mm256_mul_ps(right, _mm256_set1_ps(0.25));
            for (r, acc) in acc.iter_mut().take(M * M / WAVE).enumerate() {
                for part in 0..WAVE / M {
                    let lane = group + first_row(r) + 4 * part;
                    let mut sum = start;
                    for (a, column8) in a.iter().zip(&columns) {
                        let row = _mm256_set1_epi32(a[lane] as i32);
                        sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(row, *column8));
                    }
                    let sum = _mm256_cvtepi32_ps(_mm256_madd_epi16(sum, ones));
                    let scale = _mm256_mul_ps(right, _mm256_set1_ps(factors[0][lane]));
                    // SAFETY: eight of the 64 lanes of a register.
                    unsafe {
                        let at = acc.0.as_mut_ptr().add(part * M + column).cast::<f32>();
                        _mm256_storeu_ps(at, _mm256_fmadd_ps(sum, scale, _mm256_loadu_ps(at)));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::Wave;
    use crate::exec::host;
    use crate::exec::mfma::{Job, Plan, run, run_avx};
    use crate::exec::testing::random;
    use crate::isa::{Arch, Enc, Inst, Mods, Op, Operand, ScaleOperands};

    fn inst(op: Op) -> Inst {
        Inst {
            op,
            enc: Enc::MaiScale,
            size: 16,
            dst: Operand::Vgpr(32),
            sdst: Operand::None,
            src: [Operand::Vgpr(0), Operand::Vgpr(4), Operand::Int(0)],
            imm: 0,
            mods: Mods { cbsz: 4, blgp: 4, ..Mods::default() },
            scale: Some(ScaleOperands {
                src: [Operand::Vgpr(8), Operand::Vgpr(9)],
                op_sel: 0,
                op_sel_hi: 0,
            }),
        }
    }

    /// Scales up to 2^4 apart on each side take the integer path, others the f32 one.
    #[test]
    fn integers_give_the_bits_that_f32_gives() {
        if !host::wide() {
            return;
        }
        let mut random = random(7);
        for op in [Op::VMfmaScaleF3216x16x128F8f6f4, Op::VMfmaScaleF3232x32x64F8f6f4] {
            for range in [1, 5, 5, 5, 40] {
                let mut wave = Wave::new(64, 0, 0);
                for reg in &mut wave.vgpr[..8] {
                    reg.0.fill_with(|| random() as u32);
                }
                for reg in &mut wave.vgpr[8..10] {
                    reg.0.fill_with(|| 110 + random() as u32 % range);
                }
                let codes = [8, 9].map(|r: usize| Some(wave.vgpr[r].0.map(|c| c as u8)));
                assert_eq!(exact(&codes), range <= 5);
                let inst = inst(op);
                let plan = Plan::new(&inst, Arch::Gfx950).unwrap();
                let job = Job::new(&wave, &inst, &plan).unwrap();
                let mut other = wave.clone();
                run::<false>(&mut other, &inst, &job);
                // SAFETY: the host has AVX2 and FMA.
                unsafe { run_avx(&mut wave, &inst, &job) };
                assert_eq!(wave.vgpr, other.vgpr, "{op:?}");
            }
        }
    }
}
