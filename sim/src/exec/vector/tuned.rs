//! Kernels that are written out for AVX2, or for operands without NaN, because the general ones
//! compile to many times the work.
//!
//! Goes in: an operation. Comes out: its kernels, if it is one of these; they compute the same bits as
//! the general ones.

use std::arch::x86_64::*;

use super::kernel::{Pair, Sources};
use super::lane::Out;
use super::plain;
use super::{Code, Ctx, Step, Wave, float, int};
use crate::exec::{Lanes, WAVE};
use crate::isa::{Inst, Op};

/// Kernels of the operations that have such ones.
pub(super) fn lookup(op: Op) -> Option<Pair> {
    /// The pair of all-lane kernel `$whole` and the general one of a single lane.
    macro_rules! pair {
        ($general:expr, $whole:ident) => {{
            #[target_feature(enable = "avx2,fma")]
            fn handler(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst, code: &Code) -> Step {
                plain::run(wave, ctx, inst, code, |sources, out, mode| $whole(sources, out, mode))
            }
            $general.map(|general| Pair { whole: Some(($whole, handler)), ..general })
        }};
    }
    match op {
        Op::VPermB32 => pair!(int::lookup(op), permute),
        Op::VMed3F32 => pair!(float::lookup(op), median),
        _ => None,
    }
}

/// `v_perm_b32`: each byte of the third source picks one of the eight of the first two, the sign of
/// one of their four halves (8 to 11), zero (12) or all ones.
#[target_feature(enable = "avx2,fma")]
fn permute(sources: &Sources<'_>, out: &mut Out<'_>, _: u32) {
    let [[a, _], [b, _], [select, _], _] = *sources;
    let byte = |x: i8| _mm256_set1_epi8(x);
    let dwords = _mm256_setr_epi32(
        0,
        0x0404_0404,
        0x0808_0808,
        0x0c0c_0c0c,
        0,
        0x0404_0404,
        0x0808_0808,
        0x0c0c_0c0c,
    );
    for at in (0..WAVE).step_by(8) {
        // SAFETY: eight dwords at multiples of eight below 64, from and to arrays of 64.
        let load = |from: &Lanes| unsafe { _mm256_loadu_si256(from.0.as_ptr().add(at).cast()) };
        let (a, b, select) = (load(a), load(b), load(select));
        let at_least = |x: i8| _mm256_cmpeq_epi8(_mm256_max_epu8(select, byte(x)), select);
        // The bytes at these places of the dword, from `a` where the top bit of `choose` is set.
        let bytes = |place: __m256i, choose: __m256i| {
            let place = _mm256_or_si256(place, dwords);
            _mm256_blendv_epi8(_mm256_shuffle_epi8(b, place), _mm256_shuffle_epi8(a, place), choose)
        };
        let picked = bytes(_mm256_and_si256(select, byte(3)), _mm256_slli_epi16::<5>(select));
        let half = _mm256_and_si256(select, byte(1));
        let upper = _mm256_or_si256(_mm256_add_epi8(half, half), byte(1));
        let top = bytes(upper, _mm256_slli_epi16::<6>(select));
        let signs = _mm256_cmpgt_epi8(_mm256_setzero_si256(), top);
        let other = _mm256_or_si256(at_least(13), _mm256_andnot_si256(at_least(12), signs));
        let result = _mm256_blendv_epi8(picked, other, at_least(8));
        // SAFETY: as for the loads.
        unsafe { _mm256_storeu_si256(out.lo.0.as_mut_ptr().add(at).cast(), result) };
    }
}

/// `v_med3_f32`. Where an operand is NaN or two are zeros, whose signs count for the order of some steps
/// and not of others, the general kernel decides.
#[target_feature(enable = "avx2,fma")]
fn median(sources: &Sources<'_>, out: &mut Out<'_>, mode: u32) {
    let [[a, _], [b, _], [c, _], _] = *sources;
    let zero = _mm256_setzero_ps();
    let mut special = zero;
    for at in (0..WAVE).step_by(8) {
        // SAFETY: eight dwords at multiples of eight below 64, from and to arrays of 64.
        let load = |from: &Lanes| unsafe { _mm256_loadu_ps(from.0.as_ptr().add(at).cast()) };
        let (a, b, c) = (load(a), load(b), load(c));
        let is_zero = |x: __m256| _mm256_cmp_ps::<_CMP_EQ_UQ>(x, zero);
        // NaN counts as zero here: two of either, or one of each, are special.
        let (za, zb, zc) = (is_zero(a), is_zero(b), is_zero(c));
        let two = _mm256_or_ps(_mm256_and_ps(za, zb), _mm256_and_ps(zc, _mm256_or_ps(za, zb)));
        let nan =
            _mm256_or_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(a, b), _mm256_cmp_ps::<_CMP_UNORD_Q>(c, c));
        special = _mm256_or_ps(special, _mm256_or_ps(two, nan));
        let low = _mm256_min_ps(a, b);
        let middle = _mm256_max_ps(low, _mm256_min_ps(_mm256_max_ps(a, b), c));
        // SAFETY: as for the loads.
        unsafe { _mm256_storeu_ps(out.lo.0.as_mut_ptr().add(at).cast(), middle) };
    }
    if _mm256_movemask_ps(special) == 0 {
        return;
    }
    if let Some((whole, _)) = float::lookup(Op::VMed3F32).and_then(|pair| pair.whole) {
        // SAFETY: it needs what this function needs.
        unsafe { whole(sources, out, mode) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::host;
    use crate::exec::testing::random;

    /// Bytes of a selector around the values that mean something else, and floats around those that
    /// compare in a special way.
    fn words(random: &mut impl FnMut() -> u64, nan: bool) -> Lanes {
        const FLOATS: [u32; 8] =
            [0, 1 << 31, 0x3f80_0000, 0xbf80_0000, 0x7f80_0000, 0xff80_0000, 1, 0x8000_0001];
        const NANS: [u32; 2] = [0x7fc0_0001, 0x7f80_0001];
        Lanes(std::array::from_fn(|_| match random() % if nan { 3 } else { 2 } {
            0 => random() as u32 & 0xbfff_ffff,
            1 => FLOATS[random() as usize % 8],
            _ => NANS[random() as usize % 2],
        }))
    }

    fn check(op: Op, mut operand: impl FnMut(usize) -> Lanes) {
        let tuned = lookup(op).unwrap();
        let mut results = [[Lanes::ZERO; 3]; 2];
        let operands: [_; 3] = std::array::from_fn(&mut operand);
        let none = [&Lanes::ZERO; 2];
        let [a, b, c] = operands.each_ref().map(|lanes| [lanes, &Lanes::ZERO]);
        let sources = [a, b, c, none];
        let [expected, found] = &mut results;
        let [lo, hi, flag] = expected;
        for lane in 0..WAVE {
            (tuned.single)(&sources, &mut Out { lo, hi, flag }, 0, lane);
        }
        let [lo, hi, flag] = found;
        // SAFETY: the host has AVX2 and FMA.
        unsafe { tuned.whole.unwrap().0(&sources, &mut Out { lo, hi, flag }, 0) };
        assert_eq!(results[0][0], results[1][0], "{op:?} of {operands:x?}");
    }

    #[test]
    fn tuned_kernels_give_the_bits_of_the_general_ones() {
        if !host::wide() {
            return;
        }
        let mut random = random(3);
        for round in 0..200 {
            let mut selector = Lanes::ZERO;
            for lane in &mut selector.0 {
                let bytes = std::array::from_fn(|_| {
                    (random() % if round % 2 == 0 { 16 } else { 256 }) as u8
                });
                *lane = u32::from_le_bytes(bytes);
            }
            let wild =
                |random: &mut dyn FnMut() -> u64| Lanes(std::array::from_fn(|_| random() as u32));
            check(Op::VPermB32, |i| if i == 2 { selector } else { wild(&mut random) });
            check(Op::VMed3F32, |_| words(&mut random, round % 4 == 0));
            check(Op::VMed3F32, |_| wild(&mut random));
        }
    }
}
