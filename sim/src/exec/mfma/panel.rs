//! Unpacks a matrix operand: registers with packed elements become one f32 row of 64 lanes
//! per element index, so that a row of the inner product is a contiguous piece of a panel row.

use std::mem::MaybeUninit;

use super::shape::Data;
use crate::exec::formats::{Format, bf16_to_f32, f16_to_f32};
use crate::exec::{Lanes, WAVE};

/// Most elements that one lane holds.
const MAX_ROWS: usize = 32;

/// The elements of one operand: row `j` holds element `j` of each lane. Rows beyond those pushed
/// are not initialised, which spares clearing 8 KiB per operand and instruction.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Panel<T> {
    rows: [MaybeUninit<[T; WAVE]>; MAX_ROWS],
    len: usize,
}

impl<T: Copy> Panel<T> {
    #[inline(always)]
    pub fn new() -> Self {
        Panel { rows: [const { MaybeUninit::uninit() }; MAX_ROWS], len: 0 }
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends a row; more than [`MAX_ROWS`] are ignored.
    #[inline(always)]
    pub fn push(&mut self, value: impl Fn(usize) -> T) {
        if let Some(row) = self.rows.get_mut(self.len) {
            let base = row.as_mut_ptr().cast::<T>();
            for lane in 0..WAVE {
                // SAFETY: `lane` is inside the row of `WAVE` elements.
                unsafe { base.add(lane).write(value(lane)) };
            }
            self.len += 1;
        }
    }

    /// All elements, row after row of 64.
    #[inline(always)]
    pub fn flat(&self) -> &[T] {
        // SAFETY: the first `len` rows were written by `push`, and arrays are contiguous.
        unsafe { std::slice::from_raw_parts(self.rows.as_ptr().cast::<T>(), self.len * WAVE) }
    }
}

#[cfg(target_arch = "x86_64")]
impl Panel<f32> {
    /// Appends a row of which `value` gives the eight elements from a lane on.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn push_eights(&mut self, value: impl Fn(usize) -> std::arch::x86_64::__m256) {
        if let Some(row) = self.rows.get_mut(self.len) {
            let base = row.as_mut_ptr().cast::<f32>();
            for at in (0..WAVE).step_by(8) {
                // SAFETY: eight elements from `at` on are inside the row.
                unsafe { std::arch::x86_64::_mm256_storeu_ps(base.add(at), value(at)) };
            }
            self.len += 1;
        }
    }
}

/// Lane permutation of B by BLGP: which lane each lane's elements come from.
#[inline]
pub(super) fn blgp_source(blgp: u8, lane: usize) -> usize {
    match blgp {
        1 => lane % 32,
        2 => lane % 32 + 32,
        3 => (lane + 16) % 64,
        4..=7 => lane % 16 + 16 * (blgp as usize - 4),
        _ => lane,
    }
}

/// Unpacks `count` elements of each lane from `regs`, times a factor per element row and lane.
#[inline(always)]
pub(super) fn floats<'a>(
    panel: &mut Panel<f32>,
    regs: &[Lanes],
    data: Data,
    count: usize,
    factor: impl Fn(usize) -> Option<&'a [f32; WAVE]>,
) {
    match data {
        Data::F32 => each(panel, regs, 32, count, factor, f32::from_bits),
        Data::Xf32 => each(panel, regs, 32, count, factor, xf32),
        Data::F16 => each(panel, regs, 16, count, factor, |x| f16_to_f32(x as u16)),
        Data::Bf16 => each(panel, regs, 16, count, factor, |x| bf16_to_f32(x as u16)),
        Data::I8 => each(panel, regs, 8, count, factor, |x| f32::from(x as i8)),
        Data::Float(format) => match format {
            Format::Fp8 => each(panel, regs, 8, count, factor, |x| Format::Fp8.decode_wide(x)),
            Format::Bf8 => each(panel, regs, 8, count, factor, |x| Format::Bf8.decode_wide(x)),
            Format::Fp8Fnuz => {
                each(panel, regs, 8, count, factor, |x| Format::Fp8Fnuz.decode_wide(x))
            }
            Format::Bf8Fnuz => {
                each(panel, regs, 8, count, factor, |x| Format::Bf8Fnuz.decode_wide(x))
            }
            Format::Fp6 => each(panel, regs, 6, count, factor, |x| Format::Fp6.decode_wide(x)),
            Format::Bf6 => each(panel, regs, 6, count, factor, |x| Format::Bf6.decode_wide(x)),
            Format::Fp4 => each(panel, regs, 4, count, factor, |x| Format::Fp4.decode_wide(x)),
        },
    }
}

#[inline(always)]
fn each<'a>(
    panel: &mut Panel<f32>,
    regs: &[Lanes],
    bits: usize,
    count: usize,
    factor: impl Fn(usize) -> Option<&'a [f32; WAVE]>,
    decode: impl Fn(u32) -> f32 + Copy,
) {
    let mask = u32::MAX >> (32 - bits);
    for j in 0..count {
        let (index, shift) = (j * bits / 32, (j * bits % 32) as u32);
        let Some(low) = regs.get(index) else { return };
        let value = |lane: usize| decode((low.0[lane] >> shift) & mask);
        if shift as usize + bits > 32 {
            let Some(high) = regs.get(index + 1) else { return };
            let wide = |lane: usize| {
                decode(((low.0[lane] >> shift) | (high.0[lane] << (32 - shift))) & mask)
            };
            match factor(j) {
                Some(f) => panel.push(|lane| wide(lane) * f[lane]),
                None => panel.push(wide),
            }
        } else {
            match factor(j) {
                Some(f) => panel.push(|lane| value(lane) * f[lane]),
                None => panel.push(value),
            }
        }
    }
}

/// Unpacks fp4 by a table of the eight magnitudes in one register.
///
/// # Safety
/// The CPU has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn fp4_avx(
    panel: &mut Panel<f32>,
    regs: &[Lanes],
    count: usize,
    factors: Option<&[[f32; WAVE]; 2]>,
) {
    use std::arch::x86_64::*;
    let sign = _mm256_set1_epi32(i32::MIN);
    // SAFETY: the table has more than eight values.
    let magnitudes = unsafe { _mm256_loadu_ps(Format::Fp4.table().as_ptr()) };
    for j in 0..count {
        let Some(reg) = regs.get(j / 8) else { return };
        let shift = (j % 8 * 4) as i32;
        let down = _mm_cvtsi32_si128(shift);
        let up = _mm_cvtsi32_si128(28 - shift);
        panel.push_eights(|at| {
            // SAFETY: `at` is a multiple of 8 below 64, the length of a register and of factors.
            unsafe {
                let word = _mm256_loadu_si256(reg.0.as_ptr().add(at).cast());
                // The permutation looks at three bits of each index only.
                let value = _mm256_permutevar8x32_ps(magnitudes, _mm256_srl_epi32(word, down));
                let signs = _mm256_and_si256(_mm256_sll_epi32(word, up), sign);
                let value = _mm256_xor_ps(value, _mm256_castsi256_ps(signs));
                match factors {
                    Some(f) => _mm256_mul_ps(value, _mm256_loadu_ps(f[j / 16].as_ptr().add(at))),
                    None => value,
                }
            }
        });
    }
}

/// Rounds an f32 to the 10 mantissa bits of xf32, nearest even.
#[inline(always)]
fn xf32(bits: u32) -> f32 {
    let rounded = bits.wrapping_add(0xfff + ((bits >> 13) & 1)) & !0x1fff;
    let special = bits & 0x7f80_0000 == 0x7f80_0000;
    f32::from_bits(if special { bits } else { rounded })
}
