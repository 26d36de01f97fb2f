//! The inner loops of matrix operations, on panels of one element per 64-lane row.
//!
//! An output register holds `64 / M` rows of `M` columns, four rows apart. With AVX, five or six rows
//! of 16 columns are accumulated at a time, which is what 16 vector registers hold. Products enter by
//! fused multiply-add in the order of k, with and without AVX, so results do not depend on the host.

use crate::exec::Lanes;

/// Where the rows of k lie in a panel: offset of each k, in elements. All offsets plus `M` lie
/// within as many 64-lane rows as there are elements in a lane.
pub(super) type Order = [u16];

const fn order<const K: usize>(m: usize, per_lane: usize, chunk: usize) -> [u16; K] {
    let groups = 64 / m;
    let mut order = [0; K];
    let mut k = 0;
    while k < K {
        // `chunk` consecutive k go to a lane group before the next group's turn.
        let (round, within) = (k / (chunk * groups), k % (chunk * groups));
        let (group, j) = (within / chunk, round * chunk + within % chunk);
        assert!(j < per_lane);
        order[k] = (j * 64 + group * m) as u16;
        k += 1;
    }
    order
}

static O16_1: [u16; 4] = order(16, 1, 1);
static O16_2: [u16; 8] = order(16, 2, 2);
static O16_4: [u16; 16] = order(16, 4, 4);
static O16_8: [u16; 32] = order(16, 8, 8);
static O16_16: [u16; 64] = order(16, 16, 16);
static O16_32: [u16; 128] = order(16, 32, 32);
static O16_CHUNKED: [u16; 128] = order(16, 32, 16);
static O32_1: [u16; 2] = order(32, 1, 1);
static O32_2: [u16; 4] = order(32, 2, 2);
static O32_4: [u16; 8] = order(32, 4, 4);
static O32_8: [u16; 16] = order(32, 8, 8);
static O32_16: [u16; 32] = order(32, 16, 16);
static O32_32: [u16; 64] = order(32, 32, 32);
static O32_CHUNKED: [u16; 64] = order(32, 32, 16);

/// Order of k for `per_lane` elements in each lane of an operand with `m` rows. `chunked`: the
/// 8-bit operands of f8f6f4, whose lanes hold two chunks of 16.
pub(super) fn order_of(m: usize, per_lane: usize, chunked: bool) -> &'static Order {
    match (m, per_lane, chunked) {
        (16, 32, true) => &O16_CHUNKED,
        (32, 32, true) => &O32_CHUNKED,
        (16, 1, _) => &O16_1,
        (16, 2, _) => &O16_2,
        (16, 4, _) => &O16_4,
        (16, 8, _) => &O16_8,
        (16, 16, _) => &O16_16,
        (16, 32, _) => &O16_32,
        (32, 1, _) => &O32_1,
        (32, 2, _) => &O32_2,
        (32, 4, _) => &O32_4,
        (32, 8, _) => &O32_8,
        (32, 16, _) => &O32_16,
        (32, 32, _) => &O32_32,
        _ => &[],
    }
}

/// A panel of an operand, from the first lane of its block on, and the order of k in it.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a, T> {
    data: &'a [T],
    order: &'a Order,
    /// So many consecutive k lie one row of the panel after the other.
    step: usize,
}

/// Most k that the inner loop takes at a time.
const STEP: usize = 8;

impl<'a, T> Operand<'a, T> {
    /// The operand of `block`, whose panel has `per_lane` rows; `None` when the panel is shorter.
    /// With several blocks each has its own lanes, and all of its k are the elements of one lane.
    #[inline(always)]
    pub fn new(
        panel: &'a [T],
        m: usize,
        per_lane: usize,
        chunked: bool,
        block: Option<usize>,
    ) -> Option<Self> {
        let order = order_of(m, per_lane, chunked);
        let (order, first) = match block {
            None => (order, 0),
            Some(block) => (order.get(..per_lane)?, block * m),
        };
        let fits = panel.len() >= 64 * per_lane && first + m <= 64 && !order.is_empty();
        fits.then(|| Operand { data: &panel[first..], order, step: per_lane.min(STEP) })
    }

    /// An operand with one block, whose panel has `per_lane` rows.
    #[inline(always)]
    pub fn whole(panel: &'a [T], order: &'a Order, per_lane: usize) -> Option<Self> {
        let fits = panel.len() >= 64 * per_lane && order.len() <= 64 * per_lane;
        fits.then_some(Operand { data: panel, order, step: per_lane.min(STEP) })
    }

    /// The same without the k at the end whose elements lie in rows of the panel from `rows` on.
    #[inline(always)]
    pub fn first_rows(self, rows: usize) -> Self {
        let beyond = |&&at: &&u16| usize::from(at) / 64 >= rows;
        let skipped = self.order.iter().rev().take_while(beyond).count();
        Operand { order: &self.order[..self.order.len() - skipped], ..self }
    }
}

/// First of the rows in output register `r`; the others follow four rows apart.
#[inline(always)]
pub(super) const fn first_row(r: usize) -> usize {
    8 * (r / 4) + r % 4
}

/// Adds the product to the `M * M / 64` output registers `acc`. `FAST` needs AVX2 and FMA.
#[inline(always)]
pub(super) fn multiply_f32<const M: usize, const FAST: bool>(
    acc: &mut [Lanes],
    a: Operand<'_, f32>,
    b: Operand<'_, f32>,
) {
    let Some(acc) = acc.get_mut(..M * M / 64) else { return };
    #[cfg(target_arch = "x86_64")]
    if FAST {
        // SAFETY: `FAST` promises the CPU features; `Operand::new` checked that the panels hold all
        // of their orders' rows, and there are all M * M accumulators.
        return unsafe { avx::multiply::<M>(acc, None, a, b) };
    }
    for (r, acc) in acc.iter_mut().enumerate() {
        let mut sum = acc.0.map(f32::from_bits);
        for (&oa, &ob) in a.order.iter().zip(b.order) {
            let (ra, rb) = (&a.data[usize::from(oa)..][..M], &b.data[usize::from(ob)..][..M]);
            for (g, row) in sum.chunks_exact_mut(M).enumerate() {
                let x = ra[first_row(r) + 4 * g];
                row.iter_mut().zip(rb).for_each(|(s, y)| *s = x.mul_add(*y, *s));
            }
        }
        acc.0 = sum.map(f32::to_bits);
    }
}

/// [`multiply_f32`] with f64 products, for operands outside the range of f32.
pub(super) fn multiply_wide<const M: usize>(
    acc: &mut [Lanes],
    a: Operand<'_, f64>,
    b: Operand<'_, f64>,
) {
    for (r, acc) in acc.iter_mut().take(M * M / 64).enumerate() {
        for (&oa, &ob) in a.order.iter().zip(b.order) {
            let (ra, rb) = (&a.data[usize::from(oa)..][..M], &b.data[usize::from(ob)..][..M]);
            for (g, row) in acc.0.chunks_exact_mut(M).enumerate() {
                let x = ra[first_row(r) + 4 * g];
                for (s, y) in row.iter_mut().zip(rb) {
                    *s = ((f64::from(f32::from_bits(*s)) + x * y) as f32).to_bits();
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod avx {
    use std::arch::x86_64::*;

    use super::{Operand, Order};
    use crate::exec::Lanes;

    /// Adds the product to all `M * M` accumulators, or to `start`, by tiles of five or six rows and
    /// 16 columns.
    ///
    /// # Safety
    /// The CPU has AVX2 and FMA; `acc` has `M * M / 64` registers; every offset of both orders plus
    /// `M` lies inside its panel.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    pub unsafe fn multiply<const M: usize>(
        acc: &mut [Lanes],
        start: Option<f32>,
        a: Operand<'_, f32>,
        b: Operand<'_, f32>,
    ) {
        // SAFETY: by contract; what lies one row after the other in both operands does so by less.
        unsafe {
            match a.step.min(b.step) {
                8 => by::<M, 8>(acc, start, a, b),
                4 => by::<M, 4>(acc, start, a, b),
                2 => by::<M, 2>(acc, start, a, b),
                _ => by::<M, 1>(acc, start, a, b),
            }
        }
    }

    /// [`multiply`], `STEP` k at a time.
    ///
    /// # Safety
    /// As for [`multiply`]; so many k lie one row of the panel after the other in both operands.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn by<const M: usize, const STEP: usize>(
        acc: &mut [Lanes],
        start: Option<f32>,
        a: Operand<'_, f32>,
        b: Operand<'_, f32>,
    ) {
        for row in (0..M).step_by(16) {
            for column in (0..M).step_by(16) {
                let to = acc.as_mut_ptr().cast::<f32>().wrapping_add(row * M + column);
                let from =
                    [a.data.as_ptr().wrapping_add(row), b.data.as_ptr().wrapping_add(column)];
                // One of them may have been cut.
                let k = a.order.len().min(b.order.len());
                let orders = [&a.order[..k], &b.order[..k]];
                // SAFETY: the tiles divide the 16 rows, and `column + 16` is at most M.
                unsafe {
                    tile::<M, 0, 6, STEP>(to, start, from, orders);
                    tile::<M, 6, 5, STEP>(to, start, from, orders);
                    tile::<M, 11, 5, STEP>(to, start, from, orders);
                }
            }
        }
    }

    /// Place of a row's first accumulator among those of 16 rows, which fill whole registers.
    const fn accumulator<const M: usize>(row: usize) -> usize {
        let rows = 64 / M;
        let register = row / (4 * rows) * 4 + row % 4;
        register * 64 + row / 4 % rows * M
    }

    /// `ROWS` rows from `FIRST` on and 16 columns, over all of k.
    ///
    /// # Safety
    /// As for [`by`]; there are so many rows and columns from where the pointers point.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn tile<const M: usize, const FIRST: usize, const ROWS: usize, const STEP: usize>(
        acc: *mut f32,
        start: Option<f32>,
        from: [*const f32; 2],
        [a, b]: [&Order; 2],
    ) {
        let at = |i: usize| acc.wrapping_add(accumulator::<M>(FIRST + i));
        let mut sum = [[_mm256_set1_ps(start.unwrap_or(0.0)); 2]; ROWS];
        if start.is_none() {
            for (i, sum) in sum.iter_mut().enumerate() {
                // SAFETY: 16 accumulators of one row.
                *sum = unsafe { [_mm256_loadu_ps(at(i)), _mm256_loadu_ps(at(i).add(8))] };
            }
        }
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<STEP>(), b.as_chunks::<STEP>());
        let place = |[a, b]: [u16; 2]| {
            [from[0].wrapping_add(usize::from(a) + FIRST), from[1].wrapping_add(usize::from(b))]
        };
        for (i, (a_now, b_now)) in a.iter().zip(b).enumerate() {
            let [pa, pb] = place([a_now[0], b_now[0]]);
            let ahead = match (a.get(i + 1), b.get(i + 1)) {
                (Some(a), Some(b)) => place([a[0], b[0]]),
                _ => [pa, pb],
            };
            for k in 0..STEP {
                if FIRST == 0 {
                    // The first to read the panels has them fetched: their rows lie too far apart
                    // for the host to see that they follow each other.
                    for ahead in ahead {
                        _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(64 * k).cast());
                    }
                }
                // SAFETY: `STEP` k are one row of 64 after the other.
                unsafe { add(&mut sum, pa.wrapping_add(64 * k), pb.wrapping_add(64 * k)) };
            }
        }
        for (&a, &b) in a_rest.iter().zip(b_rest) {
            let [pa, pb] = place([a, b]);
            // SAFETY: the columns and rows at the offsets can be read.
            unsafe { add(&mut sum, pa, pb) };
        }
        for (i, sum) in sum.iter().enumerate() {
            // SAFETY: as for the loads.
            unsafe {
                _mm256_storeu_ps(at(i), sum[0]);
                _mm256_storeu_ps(at(i).add(8), sum[1]);
            }
        }
    }

    /// Adds the products of `ROWS` elements at `a` and 16 at `b`.
    ///
    /// # Safety
    /// The CPU has AVX2 and FMA; so many elements can be read.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn add<const ROWS: usize>(sum: &mut [[__m256; 2]; ROWS], a: *const f32, b: *const f32) {
        // SAFETY: by contract.
        unsafe {
            let columns = [_mm256_loadu_ps(b), _mm256_loadu_ps(b.add(8))];
            for (i, sum) in sum.iter_mut().enumerate() {
                let x = _mm256_broadcast_ss(&*a.add(i));
                sum[0] = _mm256_fmadd_ps(x, columns[0], sum[0]);
                sum[1] = _mm256_fmadd_ps(x, columns[1], sum[1]);
            }
        }
    }
}
