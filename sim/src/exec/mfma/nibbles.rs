//! fp4 times fp4 in integers. Twice an fp4 value is a small integer, so the products of a block of 32
//! fit 16 bits, and bytes multiply several times faster than f32.
//!
//! Goes in: the packed operands and their block scales. Comes out: the same bits as from the f32
//! kernel, which is why it is used only where no sum can round: from zero, with scales that lie
//! close together ([`exact`]).

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

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
/// [`DOUBLED`] plus [`OFFSET`].
const SHIFTED: [i8; 16] = {
    let mut values = DOUBLED;
    let mut code = 0;
    while code < values.len() {
        values[code] += OFFSET;
        code += 1;
    }
    values
};

/// Whether every sum of products under these scales is exact in f32, in whatever order. The codes at
/// either end, whose scales [`factors`] does not know, do not count as such.
#[target_feature(enable = "avx2")]
pub(super) fn exact(codes: &[Option<[u8; WAVE]>; 2]) -> bool {
    let (mut least, mut most) = (0, 0);
    for codes in codes {
        let side = codes.as_ref().map_or(&[127][..], |codes| &codes[..]);
        let (mut min, mut max) = (u8::MAX, 0);
        for &code in side {
            (min, max) = (min.min(code), max.max(code));
        }
        if min == 0 || max == u8::MAX {
            return false;
        }
        least += i32::from(min) - 127;
        most += i32::from(max) - 127;
    }
    most - least <= SPREAD && least >= -REACH && most <= REACH
}

/// The scales that codes stand for, except for those at either end.
#[target_feature(enable = "avx2")]
#[inline]
fn factors(codes: Option<&[u8; WAVE]>) -> [f32; WAVE] {
    let mut factors = [1.0; WAVE];
    if let Some(codes) = codes {
        for (factor, code) in factors.iter_mut().zip(codes) {
            *factor = f32::from_bits(u32::from(*code) << 23);
        }
    }
    factors
}

/// The values of a register's even and odd nibbles.
#[target_feature(enable = "avx2")]
#[inline]
fn values(word: __m256i, table: __m256i) -> [__m256i; 2] {
    let nibble = _mm256_set1_epi8(15);
    let odd = _mm256_and_si256(_mm256_srli_epi16::<4>(word), nibble);
    let even = _mm256_and_si256(word, nibble);
    [_mm256_shuffle_epi8(table, even), _mm256_shuffle_epi8(table, odd)]
}

/// A value for each code, for [`values`].
#[target_feature(enable = "avx2")]
#[inline]
fn table(values: &[i8; 16]) -> __m256i {
    // SAFETY: the table has 16 bytes.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(values.as_ptr().cast())) }
}

/// A as bytes: the values of its registers' even and odd nibbles.
pub(super) type Bytes = [[u32; WAVE]; 2 * REGISTERS];

/// Unpacks A of an operation.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn unpack_a<'a>(
    regs: &[Lanes; REGISTERS],
    bytes: &'a mut MaybeUninit<Bytes>,
) -> &'a Bytes {
    let table = table(&SHIFTED);
    let mut to = bytes.as_mut_ptr().cast::<__m256i>();
    for reg in regs {
        for at in (0..WAVE).step_by(8) {
            // SAFETY: eight dwords at multiples of eight below 64 of the register; as many registers of
            // even and of odd nibbles as there are in the array, one after the other.
            unsafe {
                let [even, odd] = values(_mm256_loadu_si256(reg.0.as_ptr().add(at).cast()), table);
                _mm256_storeu_si256(to.add(at / 8), even);
                _mm256_storeu_si256(to.add((WAVE + at) / 8), odd);
            }
        }
        to = to.wrapping_add(2 * WAVE / 8);
    }
    // SAFETY: all of it has been written.
    unsafe { bytes.assume_init_ref() }
}

/// Sets the accumulators `acc` of an `M` x `M` operation to the product of A and B, whose block scales
/// have the given codes.
#[target_feature(enable = "avx2,fma")]
pub(super) fn multiply<const M: usize>(
    acc: &mut [Lanes],
    a: &Bytes,
    b: &[Lanes; REGISTERS],
    codes: &[Option<[u8; WAVE]>; 2],
) {
    let (rows, columns) = (factors(codes[0].as_ref()), factors(codes[1].as_ref()));
    let (ones, table) = (_mm256_set1_epi16(1), table(&DOUBLED));
    for group in (0..WAVE).step_by(M) {
        for column in (0..M).step_by(8) {
            let mut right = [_mm256_setzero_si256(); 2 * REGISTERS];
            // Takes back what the offset of A adds.
            let mut start = _mm256_setzero_si256();
            for (pair, b) in right.as_chunks_mut::<2>().0.iter_mut().zip(b) {
                // SAFETY: eight dwords from `group + column`, which is at most 56.
                let word = unsafe { _mm256_loadu_si256(b.0.as_ptr().add(group + column).cast()) };
                *pair = values(word, table);
                for &bytes in &*pair {
                    let extra = _mm256_maddubs_epi16(_mm256_set1_epi8(OFFSET), bytes);
                    start = _mm256_sub_epi16(start, extra);
                }
            }
            // SAFETY: as above. The values are doubled on both sides.
            let scales = unsafe { _mm256_loadu_ps(columns.as_ptr().add(group + column)) };
            let scales = _mm256_mul_ps(scales, _mm256_set1_ps(0.25));
            for (r, acc) in acc.iter_mut().take(M * M / WAVE).enumerate() {
                for part in 0..WAVE / M {
                    let lane = group + first_row(r) + 4 * part;
                    let mut sum = start;
                    for (left, &right) in a.iter().zip(&right) {
                        let row = _mm256_set1_epi32(left[lane] as i32);
                        sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(row, right));
                    }
                    let sum = _mm256_cvtepi32_ps(_mm256_madd_epi16(sum, ones));
                    let scale = _mm256_mul_ps(scales, _mm256_set1_ps(rows[lane]));
                    // SAFETY: eight of the 64 lanes of a register.
                    unsafe {
                        let at = acc.0.as_mut_ptr().add(part * M + column).cast::<f32>();
                        // From zero, as long as this is the first group of k.
                        let before =
                            if group == 0 { _mm256_setzero_ps() } else { _mm256_loadu_ps(at) };
                        _mm256_storeu_ps(at, _mm256_fmadd_ps(sum, scale, before));
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
                // SAFETY: the host has AVX2.
                assert_eq!(unsafe { exact(&codes) }, range <= 5);
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
