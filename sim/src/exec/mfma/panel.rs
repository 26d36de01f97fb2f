//! Unpacks a matrix operand: registers with packed elements become a panel of f32, one row of `m`
//! elements for each k, in the order of k.

use super::shape::Data;
use crate::exec::formats::{Format, bf16_to_f32, f16_to_f32};
use crate::exec::{Lanes, WAVE};

/// Most elements of a panel: 32 of each lane.
pub(super) const MAX_LEN: usize = 32 * WAVE;

/// Which element of which lane is which of a panel. Groups of `m` lanes hold the rows side by side;
/// `chunk` consecutive k go to a group before the next group's turn. With several blocks each has a
/// group, and all of its k are the elements of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Rows of the operand: 4, 16 or 32.
    pub m: usize,
    /// Elements of a lane: at most 32.
    pub count: usize,
    /// Consecutive k of a lane.
    pub chunk: usize,
}

impl Layout {
    /// Elements of the panel.
    pub fn len(self) -> usize {
        self.count * WAVE
    }

    /// Place of the first lane's element `j`.
    #[inline(always)]
    fn first(self, j: usize) -> usize {
        // There are at most two chunks.
        let second = j.checked_sub(self.chunk);
        second.map_or(j * self.m, |j| self.chunk * WAVE + j * self.m)
    }

    /// How far apart the elements of two neighbouring groups are.
    #[inline(always)]
    fn stride(self) -> usize {
        self.chunk * self.m
    }

    /// Place of element `j` of a lane.
    #[inline(always)]
    pub fn place(self, j: usize, lane: usize) -> usize {
        self.first(j) + lane / self.m * self.stride() + lane % self.m
    }

    /// Puts element `j` of all lanes where it belongs.
    #[inline(always)]
    pub fn put<T: Copy>(self, panel: &mut [T], j: usize, lanes: &[T; WAVE]) {
        let places = panel.get_mut(self.first(j)..).unwrap_or_default();
        let places = places.chunks_mut(self.stride());
        for (place, lanes) in places.zip(lanes.chunks_exact(self.m)) {
            if let Some(place) = place.get_mut(..self.m) {
                place.copy_from_slice(lanes);
            }
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

/// Unpacks the elements of each lane from `regs`, times a factor per element row and lane, to a panel
/// that has room for them.
#[inline(always)]
pub(super) fn floats<'a>(
    panel: &mut [f32],
    regs: &[Lanes],
    data: Data,
    layout: Layout,
    factor: impl Fn(usize) -> Option<&'a [f32; WAVE]>,
) {
    match data {
        Data::F32 => each(panel, regs, 32, layout, factor, f32::from_bits),
        Data::Xf32 => each(panel, regs, 32, layout, factor, xf32),
        Data::F16 => each(panel, regs, 16, layout, factor, |x| f16_to_f32(x as u16)),
        Data::Bf16 => each(panel, regs, 16, layout, factor, |x| bf16_to_f32(x as u16)),
        Data::I8 => each(panel, regs, 8, layout, factor, |x| f32::from(x as i8)),
        Data::Float(format) => match format {
            Format::Fp8 => each(panel, regs, 8, layout, factor, |x| Format::Fp8.decode_wide(x)),
            Format::Bf8 => each(panel, regs, 8, layout, factor, |x| Format::Bf8.decode_wide(x)),
            Format::Fp8Fnuz => {
                each(panel, regs, 8, layout, factor, |x| Format::Fp8Fnuz.decode_wide(x))
            }
            Format::Bf8Fnuz => {
                each(panel, regs, 8, layout, factor, |x| Format::Bf8Fnuz.decode_wide(x))
            }
            Format::Fp6 => each(panel, regs, 6, layout, factor, |x| Format::Fp6.decode_wide(x)),
            Format::Bf6 => each(panel, regs, 6, layout, factor, |x| Format::Bf6.decode_wide(x)),
            Format::Fp4 => each(panel, regs, 4, layout, factor, |x| Format::Fp4.decode_wide(x)),
        },
    }
}

#[inline(always)]
fn each<'a>(
    panel: &mut [f32],
    regs: &[Lanes],
    bits: usize,
    layout: Layout,
    factor: impl Fn(usize) -> Option<&'a [f32; WAVE]>,
    decode: impl Fn(u32) -> f32 + Copy,
) {
    let mask = u32::MAX >> (32 - bits);
    let mut row = [0.0; WAVE];
    for j in 0..layout.count {
        let (index, shift) = (j * bits / 32, (j * bits % 32) as u32);
        let Some(low) = regs.get(index) else { return };
        if shift as usize + bits > 32 {
            let Some(high) = regs.get(index + 1) else { return };
            for (to, (low, high)) in row.iter_mut().zip(low.0.iter().zip(&high.0)) {
                *to = decode((low >> shift | high << (32 - shift)) & mask);
            }
        } else {
            for (to, low) in row.iter_mut().zip(&low.0) {
                *to = decode(low >> shift & mask);
            }
        }
        if let Some(factor) = factor(j) {
            row.iter_mut().zip(factor).for_each(|(to, factor)| *to *= factor);
        }
        layout.put(panel, j, &row);
    }
}

/// Rounds an f32 to the 10 mantissa bits of xf32, nearest even.
#[inline(always)]
fn xf32(bits: u32) -> f32 {
    let rounded = bits.wrapping_add(0xfff + ((bits >> 13) & 1)) & !0x1fff;
    let special = bits & 0x7f80_0000 == 0x7f80_0000;
    f32::from_bits(if special { bits } else { rounded })
}

#[cfg(target_arch = "x86_64")]
pub(super) mod avx {
    use std::arch::x86_64::*;

    use super::Layout;
    use crate::exec::formats::Format;
    use crate::exec::{Lanes, WAVE};

    /// Calls `store` with each eight lanes of `reg` and the place in the panel of the first of them,
    /// less that of element `j`.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn eights(reg: &Lanes, layout: Layout, mut store: impl FnMut(usize, __m256i)) {
        // Both loops have a number of rounds that the compiler knows.
        match layout.m {
            16 => eights_of::<16>(reg, layout.stride(), &mut store),
            _ => eights_of::<32>(reg, layout.stride(), &mut store),
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn eights_of<const M: usize>(
        reg: &Lanes,
        stride: usize,
        store: &mut impl FnMut(usize, __m256i),
    ) {
        for group in 0..WAVE / M {
            for column in (0..M).step_by(8) {
                // SAFETY: eight dwords at multiples of eight below 64.
                let word =
                    unsafe { _mm256_loadu_si256(reg.0.as_ptr().add(group * M + column).cast()) };
                store(group * stride + column, word);
            }
        }
    }

    /// Where an operand with this layout begins, if it can be unpacked by eights and fits the panel.
    fn room(panel: &mut [f32], layout: Layout) -> Option<*mut f32> {
        let fits = panel.len() >= layout.len() && matches!(layout.m, 16 | 32);
        fits.then_some(panel.as_mut_ptr())
    }

    /// Unpacks 8-bit floats; false where it cannot: infinities and NaN are for the general way, except
    /// the only NaN of the FNUZ formats.
    #[target_feature(enable = "avx2")]
    pub fn bytes(panel: &mut [f32], regs: &[Lanes], format: Format, layout: Layout) -> bool {
        let Some(to) = room(panel, layout) else { return false };
        let negative_zero = |x| _mm256_cmpeq_epi8(x, _mm256_set1_epi8(i8::MIN));
        // All ones in the exponent, and in the mantissa where that is part of it.
        let full = |x, bits: i8| {
            let bits = _mm256_set1_epi8(bits);
            _mm256_cmpeq_epi8(_mm256_and_si256(x, bits), bits)
        };
        match format {
            Format::Fp8 if !any(regs, |x| full(x, 0x7f)) => {
                bytes_of::<3, 7, false>(to, regs, layout)
            }
            Format::Bf8 if !any(regs, |x| full(x, 0x7c)) => {
                bytes_of::<2, 15, false>(to, regs, layout)
            }
            Format::Fp8Fnuz if any(regs, negative_zero) => bytes_of::<3, 8, true>(to, regs, layout),
            Format::Fp8Fnuz => bytes_of::<3, 8, false>(to, regs, layout),
            Format::Bf8Fnuz if any(regs, negative_zero) => {
                bytes_of::<2, 16, true>(to, regs, layout)
            }
            Format::Bf8Fnuz => bytes_of::<2, 16, false>(to, regs, layout),
            _ => return false,
        }
        true
    }

    /// Whether `test` gives a bit other than zero for some eight lanes.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn any(regs: &[Lanes], test: impl Fn(__m256i) -> __m256i) -> bool {
        let mut all = _mm256_setzero_si256();
        for reg in regs {
            for at in (0..WAVE).step_by(8) {
                // SAFETY: eight dwords at multiples of eight below 64.
                let word = unsafe { _mm256_loadu_si256(reg.0.as_ptr().add(at).cast()) };
                all = _mm256_or_si256(all, test(word));
            }
        }
        _mm256_testz_si256(all, all) == 0
    }

    /// [`bytes`] of a format with so many bits of mantissa and this bias. `NAN`: negative zeros are NaN.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn bytes_of<const MANTISSA: u32, const BIAS: u32, const NAN: bool>(
        to: *mut f32,
        regs: &[Lanes],
        layout: Layout,
    ) {
        // Sign, exponent and mantissa at their places in a bf16, the exponent too small.
        let field = _mm256_set1_epi16((1 << 15 | 0x7f << (7 - MANTISSA)) as i16);
        let high = _mm256_set1_epi32(0xffff_0000_u32 as i32);
        let rebias = _mm256_set1_ps(f32::from_bits((127 + 127 - BIAS) << 23));
        let sign = _mm256_set1_epi32(i32::MIN);
        let nan = _mm256_set1_ps(f32::from_bits(0x7fc0_0000));
        for (reg, j) in regs.iter().zip((0..layout.count).step_by(4)) {
            let to = [0, 1, 2, 3].map(|i| to.wrapping_add(layout.first(j + i)));
            eights(reg, layout, |at, word| {
                // Two bytes at a time, each in the upper half of its 16 bits, move to their places in a
                // bf16, whose other half of the f32 is zero.
                let even = narrow::<MANTISSA>(_mm256_slli_epi16::<8>(word), field);
                let odd = narrow::<MANTISSA>(word, field);
                let values = [
                    _mm256_slli_epi32::<16>(even),
                    _mm256_slli_epi32::<16>(odd),
                    _mm256_and_si256(even, high),
                    _mm256_and_si256(odd, high),
                ];
                for (to, small) in to.iter().zip(values) {
                    let mut value = _mm256_mul_ps(_mm256_castsi256_ps(small), rebias);
                    if NAN {
                        let is_nan = _mm256_castsi256_ps(_mm256_cmpeq_epi32(small, sign));
                        value = _mm256_blendv_ps(value, nan, is_nan);
                    }
                    // SAFETY: the panel has room for all elements of the layout.
                    unsafe { _mm256_storeu_ps(to.add(at), value) };
                }
            });
        }
    }

    /// Moves the exponent and mantissa of the 8-bit floats in the upper halves of 16 bits to their places
    /// in a bf16.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn narrow<const MANTISSA: u32>(x: __m256i, field: __m256i) -> __m256i {
        let shifted =
            if MANTISSA == 3 { _mm256_srai_epi16::<4>(x) } else { _mm256_srai_epi16::<3>(x) };
        _mm256_and_si256(shifted, field)
    }

    /// Unpacks bf16; false if it cannot.
    #[target_feature(enable = "avx2")]
    pub fn bf16(panel: &mut [f32], regs: &[Lanes], layout: Layout) -> bool {
        let Some(to) = room(panel, layout) else { return false };
        let high = _mm256_set1_epi32(0xffff_0000_u32 as i32);
        for (reg, j) in regs.iter().zip((0..layout.count).step_by(2)) {
            let to = [0, 1].map(|i| to.wrapping_add(layout.first(j + i)).cast::<__m256i>());
            eights(reg, layout, |at, word| {
                let halves = [_mm256_slli_epi32::<16>(word), _mm256_and_si256(word, high)];
                for (to, half) in to.iter().zip(halves) {
                    // SAFETY: the panel has room for all elements of the layout.
                    unsafe { _mm256_storeu_si256(to.byte_add(4 * at), half) };
                }
            });
        }
        true
    }

    /// Unpacks fp4 times factors by a table of the eight magnitudes in one register; false if it
    /// cannot.
    #[target_feature(enable = "avx2")]
    pub fn fp4(
        panel: &mut [f32],
        regs: &[Lanes],
        layout: Layout,
        factors: Option<&[[f32; WAVE]; 2]>,
    ) -> bool {
        let Some(to) = room(panel, layout) else { return false };
        let sign = _mm256_set1_epi32(i32::MIN);
        // SAFETY: the table has more than eight values.
        let magnitudes = unsafe { _mm256_loadu_ps(Format::Fp4.table().as_ptr()) };
        for j in 0..layout.count {
            let Some(reg) = regs.get(j / 8) else { return false };
            let to = to.wrapping_add(layout.first(j));
            let shift = (j % 8 * 4) as i32;
            let (down, up) = (_mm_cvtsi32_si128(shift), _mm_cvtsi32_si128(28 - shift));
            let mut lane = 0;
            eights(reg, layout, |at, word| {
                // The permutation looks at three bits of each index only.
                let value = _mm256_permutevar8x32_ps(magnitudes, _mm256_srl_epi32(word, down));
                let signs = _mm256_and_si256(_mm256_sll_epi32(word, up), sign);
                let mut value = _mm256_xor_ps(value, _mm256_castsi256_ps(signs));
                // SAFETY: lanes come in order; the panel has room for all elements of the layout.
                unsafe {
                    if let Some(factors) = factors {
                        let factors = factors[j / 16 % 2].as_ptr().add(lane % WAVE);
                        value = _mm256_mul_ps(value, _mm256_loadu_ps(factors));
                    }
                    _mm256_storeu_ps(to.add(at), value);
                }
                lane += 8;
            });
        }
        true
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::exec::host;

    /// All codes of every 8-bit format, with and without the ones that are no finite numbers.
    #[test]
    fn unpacking_by_vectors_gives_the_bits_of_the_general_way() {
        if !host::wide() {
            return;
        }
        for format in [Format::Fp8, Format::Bf8, Format::Fp8Fnuz, Format::Bf8Fnuz] {
            for (m, count, chunk) in [(16, 8, 8), (32, 8, 8), (16, 32, 16), (32, 32, 16)] {
                let layout = Layout { m, count, chunk };
                for finite in [true, false] {
                    let code = |n: usize| {
                        let code = n as u8;
                        if finite && !format.decode(code).is_finite() { 1 } else { code }
                    };
                    let regs: Vec<Lanes> = (0..count / 4)
                        .map(|r| {
                            Lanes(std::array::from_fn(|lane| {
                                let first = 4 * (r * WAVE + lane);
                                u32::from_le_bytes([0, 1, 2, 3].map(|byte| code(first + byte)))
                            }))
                        })
                        .collect();
                    let mut expected = vec![0.0; layout.len()];
                    floats(&mut expected, &regs, Data::Float(format), layout, |_| None);
                    let mut found = vec![0.0; layout.len()];
                    // SAFETY: the host has AVX2.
                    let done = unsafe { avx::bytes(&mut found, &regs, format, layout) };
                    let only_nan = matches!(format, Format::Fp8Fnuz | Format::Bf8Fnuz);
                    assert_eq!(done, finite || only_nan, "{format:?}");
                    if done {
                        let bits = |panel: Vec<f32>| panel.into_iter().map(f32::to_bits);
                        assert!(bits(found).eq(bits(expected)), "{format:?} {layout:?} {finite}");
                    }
                }
            }
        }
    }

    #[test]
    fn each_element_of_each_lane_has_a_place_of_its_own_in_the_order_of_k() {
        // 16 rows in two chunks of 16: k = 64 (j / 16) + 16 (lane / 16) + j % 16.
        let layout = Layout { m: 16, count: 32, chunk: 16 };
        let mut panel = vec![0; layout.len()];
        for j in 0..32 {
            layout.put(&mut panel, j, &std::array::from_fn(|lane| (j * WAVE + lane) as u32));
        }
        for (place, &element) in panel.iter().enumerate() {
            let (j, lane) = (element as usize / WAVE, element as usize % WAVE);
            assert_eq!(place, (64 * (j / 16) + 16 * (lane / 16) + j % 16) * 16 + lane % 16);
            assert_eq!(layout.place(j, lane), place);
        }
    }
}
