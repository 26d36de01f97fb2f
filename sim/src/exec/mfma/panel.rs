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
pub(super) struct Panel<T> {
    rows: [MaybeUninit<[T; WAVE]>; MAX_ROWS],
    len: usize,
}

impl<T: Copy> Panel<T> {
    #[inline(always)]
    pub fn new() -> Self {
        Panel { rows: [const { MaybeUninit::uninit() }; MAX_ROWS], len: 0 }
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

/// Rounds an f32 to the 10 mantissa bits of xf32, nearest even.
#[inline(always)]
fn xf32(bits: u32) -> f32 {
    let rounded = bits.wrapping_add(0xfff + ((bits >> 13) & 1)) & !0x1fff;
    let special = bits & 0x7f80_0000 == 0x7f80_0000;
    f32::from_bits(if special { bits } else { rounded })
}
