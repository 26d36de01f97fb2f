//! The inner loops of matrix operations, on panels: one row of `M` elements for each k.
//!
//! An output register holds `64 / M` rows of `M` columns, four rows apart. With AVX, four rows of 16
//! columns are accumulated at a time: as many sums as two units of four clocks' latency can have under
//! way. (Larger tiles load less, but take longer to start and to end, and k is mostly short.) Products
//! enter by fused multiply-add in the order of k, with and without AVX, so results do not depend on the
//! host, but for which of several NaN a NaN is.

use crate::exec::{Lanes, WAVE};

/// First of the rows in output register `r`; the others follow four rows apart.
#[inline(always)]
pub(super) const fn first_row(r: usize) -> usize {
    8 * (r / 4) + r % 4
}

/// Adds the product to the `M * M / 64` output registers `acc`, over the k that both panels have.
/// `FAST` needs AVX2 and FMA.
#[inline(always)]
pub(super) fn multiply_f32<const M: usize, const FAST: bool>(
    acc: &mut [Lanes],
    a: &[f32],
    b: &[f32],
) {
    let Some(acc) = acc.get_mut(..M * M / WAVE) else { return };
    #[cfg(target_arch = "x86_64")]
    if FAST {
        // SAFETY: `FAST` promises the CPU features, and there are all M * M accumulators.
        return unsafe { avx::multiply::<M>(acc, None, a, b) };
    }
    for (r, acc) in acc.iter_mut().enumerate() {
        let mut sum = acc.0.map(f32::from_bits);
        for (ra, rb) in a.chunks_exact(M).zip(b.chunks_exact(M)) {
            for (g, row) in sum.chunks_exact_mut(M).enumerate() {
                let x = ra[first_row(r) + 4 * g];
                row.iter_mut().zip(rb).for_each(|(s, y)| *s = x.mul_add(*y, *s));
            }
        }
        acc.0 = sum.map(f32::to_bits);
    }
}

/// [`multiply_f32`] with f64 products, for operands outside the range of f32.
pub(super) fn multiply_wide<const M: usize>(acc: &mut [Lanes], a: &[f64], b: &[f64]) {
    for (r, acc) in acc.iter_mut().take(M * M / WAVE).enumerate() {
        for (ra, rb) in a.chunks_exact(M).zip(b.chunks_exact(M)) {
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

    use crate::exec::Lanes;

    /// Adds the product to all `M * M` accumulators, or to `start`, by tiles of four rows and 16 columns,
    /// over the k that both panels have.
    ///
    /// # Safety
    /// The CPU has AVX2 and FMA; `acc` has `M * M / 64` registers; `M` is 16 or 32.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    pub unsafe fn multiply<const M: usize>(
        acc: &mut [Lanes],
        start: Option<f32>,
        a: &[f32],
        b: &[f32],
    ) {
        let k = a.len().min(b.len()) / M;
        for row in (0..M).step_by(16) {
            for column in (0..M).step_by(16) {
                let to = acc.as_mut_ptr().cast::<f32>().wrapping_add(row * M + column);
                let from = [a.as_ptr().wrapping_add(row), b.as_ptr().wrapping_add(column)];
                // SAFETY: the tiles divide the 16 rows, `column + 16` is at most M, and both panels
                // have k rows of M.
                unsafe {
                    tile::<M, 0>(to, start, from, k);
                    tile::<M, 4>(to, start, from, k);
                    tile::<M, 8>(to, start, from, k);
                    tile::<M, 12>(to, start, from, k);
                }
            }
        }
    }

    /// Place of a row's first accumulator among those of 16 rows, which fill whole registers.
    pub const fn accumulator<const M: usize>(row: usize) -> usize {
        let rows = 64 / M;
        let register = row / (4 * rows) * 4 + row % 4;
        register * 64 + row / 4 % rows * M
    }

    /// Rows of a tile.
    const ROWS: usize = 4;

    /// [`ROWS`] rows from `FIRST` on and 16 columns, over `k` rows of the panels.
    ///
    /// # Safety
    /// As for [`multiply`]; there are so many rows and columns from where the pointers point.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn tile<const M: usize, const FIRST: usize>(
        acc: *mut f32,
        start: Option<f32>,
        [mut a, mut b]: [*const f32; 2],
        k: usize,
    ) {
        /// k that one pass of the loop takes.
        const STEP: usize = 8;
        let at = |i: usize| acc.wrapping_add(accumulator::<M>(FIRST + i));
        let mut sum = [[_mm256_set1_ps(start.unwrap_or(0.0)); 2]; ROWS];
        if start.is_none() {
            for (i, sum) in sum.iter_mut().enumerate() {
                // SAFETY: 16 accumulators of one row.
                *sum = unsafe { [_mm256_loadu_ps(at(i)), _mm256_loadu_ps(at(i).add(8))] };
            }
        }
        for _ in 0..k / STEP {
            for k in 0..STEP {
                // SAFETY: one of the k rows.
                unsafe { add(&mut sum, a.wrapping_add(M * k + FIRST), b.wrapping_add(M * k)) };
            }
            (a, b) = (a.wrapping_add(STEP * M), b.wrapping_add(STEP * M));
        }
        for k in 0..k % STEP {
            // SAFETY: as above.
            unsafe { add(&mut sum, a.wrapping_add(M * k + FIRST), b.wrapping_add(M * k)) };
        }
        for (i, sum) in sum.iter().enumerate() {
            // SAFETY: as for the loads.
            unsafe {
                _mm256_storeu_ps(at(i), sum[0]);
                _mm256_storeu_ps(at(i).add(8), sum[1]);
            }
        }
    }

    /// Adds the products of [`ROWS`] elements at `a` and 16 at `b`.
    ///
    /// # Safety
    /// The CPU has AVX2 and FMA; so many elements can be read.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn add(sum: &mut [[__m256; 2]; ROWS], a: *const f32, b: *const f32) {
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

    /// [`multiply`] by tiles of 16 rows and 16 columns, for hosts with AVX-512.
    ///
    /// # Safety
    /// The CPU has AVX-512F; otherwise as for [`multiply`].
    #[target_feature(enable = "avx512f,avx2,fma")]
    #[inline]
    pub unsafe fn multiply_512<const M: usize>(
        acc: &mut [Lanes],
        start: Option<f32>,
        a: &[f32],
        b: &[f32],
    ) {
        for row in (0..M).step_by(16) {
            for column in (0..M).step_by(16) {
                let to = acc.as_mut_ptr().cast::<f32>().wrapping_add(row * M + column);
                let at = |i: usize| to.wrapping_add(accumulator::<M>(i));
                let mut sum = [_mm512_set1_ps(start.unwrap_or(0.0)); 16];
                if start.is_none() {
                    for (i, sum) in sum.iter_mut().enumerate() {
                        // SAFETY: 16 accumulators of one row.
                        *sum = unsafe { _mm512_loadu_ps(at(i)) };
                    }
                }
                for (a, b) in a.chunks_exact(M).zip(b.chunks_exact(M)) {
                    // SAFETY: 16 of M columns, and one of M rows.
                    unsafe {
                        let columns = _mm512_loadu_ps(b.as_ptr().add(column));
                        for (i, sum) in sum.iter_mut().enumerate() {
                            let x = _mm512_set1_ps(*a.get_unchecked(row + i));
                            *sum = _mm512_fmadd_ps(x, columns, *sum);
                        }
                    }
                }
                for (i, sum) in sum.iter().enumerate() {
                    // SAFETY: as for the loads.
                    unsafe { _mm512_storeu_ps(at(i), *sum) };
                }
            }
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::exec::host;
    use crate::exec::testing::random;

    fn check<const M: usize>(widest: bool) {
        let mut random = random(17);
        let mut float = || f32::from_bits(0x3f00_0000 | random() as u32 & 0x80ff_ffff);
        for k in [1, 2, 4, 8, 13, 16, 32, 64, 128] {
            let [a, b] = [0, 1].map(|_| Vec::from_iter((0..k * M).map(|_| float())));
            for start in [None, Some(0.0_f32), Some(-1.5)] {
                let acc: Vec<Lanes> = (0..M * M / WAVE)
                    .map(|_| Lanes(std::array::from_fn(|_| float().to_bits())))
                    .collect();
                let mut found = acc.clone();
                let mut expected = acc;
                if let Some(start) = start {
                    expected.fill(Lanes([start.to_bits(); WAVE]));
                }
                multiply_f32::<M, false>(&mut expected, &a, &b);
                // SAFETY: the host has what is needed, and there are all accumulators.
                unsafe {
                    if widest {
                        avx::multiply_512::<M>(&mut found, start, &a, &b);
                    } else {
                        avx::multiply::<M>(&mut found, start, &a, &b);
                    }
                }
                assert!(found == expected, "M {M}, k {k}, from {start:?}");
            }
        }
    }

    #[test]
    fn tiles_of_256_bits_give_the_bits_of_the_portable_kernel() {
        if !host::wide() {
            return println!("skipped: this host has no AVX2");
        }
        check::<16>(false);
        check::<32>(false);
    }

    #[test]
    fn tiles_of_512_bits_give_the_bits_of_the_portable_kernel() {
        if !host::widest() {
            return println!("skipped: this host has no AVX-512");
        }
        check::<16>(true);
        check::<32>(true);
    }
}
