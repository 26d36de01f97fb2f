//! Loads and stores of a whole wave: blocks of four or eight lanes by one, two or four dwords turn
//! between lane order in memory and register order.
//!
//! Goes in: a host pointer per lane and the registers. Comes out: changed registers or memory, and
//! whether this host has an implementation at all; if not, nothing has happened.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_mm_set_epi32;

use super::Lanes;
#[cfg(target_arch = "x86_64")]
use super::host;

/// Loads `N` dwords of all 64 lanes; false if not done.
///
/// # Safety
/// `at(lane)` points to `4 * N` readable bytes for each lane.
#[inline(always)]
pub(super) unsafe fn load<const N: usize>(
    regs: &mut [&mut Lanes; N],
    at: &impl Fn(usize) -> *const u8,
) -> bool {
    #[cfg(target_arch = "x86_64")]
    match N {
        // SAFETY: as below, a dword for each lane.
        1 => unsafe {
            for lane in (0..64).step_by(4) {
                let word = |i: usize| at(lane + i).cast::<i32>().read_unaligned();
                let words = _mm_set_epi32(word(3), word(2), word(1), word(0));
                for reg in regs.iter_mut() {
                    sse::put(&mut reg.0, lane, words);
                }
            }
            return true;
        },
        // SAFETY: the host has AVX2; the contract is the same.
        2 | 4 if host::wide() => unsafe {
            avx::load(regs, at);
            return true;
        },
        // SAFETY: SSE2 is part of x86-64; rows are read where the contract allows it, and written to
        // four lanes of a register.
        2 | 4 => unsafe {
            for lane in (0..64).step_by(4) {
                let [a, b] = [sse::row::<N>(at(lane)), sse::row::<N>(at(lane + 1))];
                let [c, d] = [sse::row::<N>(at(lane + 2)), sse::row::<N>(at(lane + 3))];
                let columns = sse::transpose([a, b, c, d]);
                for (reg, column) in regs.iter_mut().zip(columns) {
                    sse::put(&mut reg.0, lane, column);
                }
            }
            return true;
        },
        _ => {}
    }
    let _ = (regs, at);
    false
}

/// Stores `N` dwords of all 64 lanes in the order of lanes; false if not done.
///
/// # Safety
/// `at(lane)` points to `4 * N` writable bytes for each lane.
#[inline(always)]
pub(super) unsafe fn store<const N: usize>(
    regs: &[&Lanes; N],
    at: &impl Fn(usize) -> *mut u8,
) -> bool {
    #[cfg(target_arch = "x86_64")]
    match N {
        // SAFETY: as for loads.
        2 | 4 if host::wide() => unsafe {
            avx::store(regs, at);
            return true;
        },
        // SAFETY: as for loads.
        2 | 4 => unsafe {
            for lane in (0..64).step_by(4) {
                let [a, b] = [sse::get(&regs[0].0, lane), sse::get(&regs[1].0, lane)];
                let [c, d] = [sse::get(&regs[2 % N].0, lane), sse::get(&regs[3 % N].0, lane)];
                let columns = [a, b, c, d];
                for (i, row) in sse::transpose(columns).into_iter().enumerate() {
                    sse::put_row::<N>(at(lane + i), row);
                }
            }
            return true;
        },
        _ => {}
    }
    let _ = (regs, at);
    false
}

#[cfg(target_arch = "x86_64")]
mod sse {
    use std::arch::x86_64::*;

    /// # Safety
    /// `4 * N` bytes can be read; `N` is 2 or 4.
    #[inline(always)]
    pub unsafe fn row<const N: usize>(at: *const u8) -> __m128i {
        // SAFETY: by contract.
        unsafe { if N == 2 { _mm_loadl_epi64(at.cast()) } else { _mm_loadu_si128(at.cast()) } }
    }

    /// # Safety
    /// `4 * N` bytes can be written; `N` is 2 or 4.
    #[inline(always)]
    pub unsafe fn put_row<const N: usize>(at: *mut u8, row: __m128i) {
        // SAFETY: by contract.
        unsafe {
            if N == 2 { _mm_storel_epi64(at.cast(), row) } else { _mm_storeu_si128(at.cast(), row) }
        }
    }

    /// Four lanes of a register.
    ///
    /// # Safety
    /// `lane` is at most 60.
    #[inline(always)]
    pub unsafe fn get(reg: &[u32; 64], lane: usize) -> __m128i {
        // SAFETY: by contract.
        unsafe { _mm_loadu_si128(reg.as_ptr().add(lane).cast()) }
    }

    /// # Safety
    /// `lane` is at most 60.
    #[inline(always)]
    pub unsafe fn put(reg: &mut [u32; 64], lane: usize, value: __m128i) {
        // SAFETY: by contract.
        unsafe { _mm_storeu_si128(reg.as_mut_ptr().add(lane).cast(), value) }
    }

    #[inline(always)]
    pub fn transpose([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
        // SAFETY: SSE2 is part of x86-64.
        unsafe {
            let (ab, cd) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
            let (ab_high, cd_high) = (_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
            [
                _mm_unpacklo_epi64(ab, cd),
                _mm_unpackhi_epi64(ab, cd),
                _mm_unpacklo_epi64(ab_high, cd_high),
                _mm_unpackhi_epi64(ab_high, cd_high),
            ]
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx {
    use std::arch::x86_64::*;

    use super::{Lanes, sse};

    /// Loads two or four dwords of all lanes, eight lanes at a time.
    ///
    /// # Safety
    /// As for [`super::load`]; the host has AVX2.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub unsafe fn load<const N: usize>(
        regs: &mut [&mut Lanes; N],
        at: &impl Fn(usize) -> *const u8,
    ) {
        for lane in (0..64).step_by(8) {
            // SAFETY: by contract; eight lanes of a register are written.
            unsafe {
                if N == 2 {
                    let pair = |a: usize| {
                        let first = _mm_castsi128_pd(_mm_loadl_epi64(at(lane + a).cast()));
                        _mm_castpd_ps(_mm_loadh_pd(first, at(lane + a + 1).cast()))
                    };
                    let low = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(pair(0)), pair(4));
                    let high = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(pair(2)), pair(6));
                    put(regs[0], lane, _mm256_shuffle_ps::<0x88>(low, high));
                    put(regs[1], lane, _mm256_shuffle_ps::<0xdd>(low, high));
                } else {
                    let both = |a: usize| {
                        let first = _mm256_castps128_ps256(_mm_loadu_ps(at(lane + a).cast()));
                        _mm256_insertf128_ps::<1>(first, _mm_loadu_ps(at(lane + a + 4).cast()))
                    };
                    let columns = transpose([both(0), both(1), both(2), both(3)]);
                    for (reg, column) in regs.iter_mut().zip(columns) {
                        put(reg, lane, column);
                    }
                }
            }
        }
    }

    /// Stores two or four dwords of all lanes in the order of lanes.
    ///
    /// # Safety
    /// As for [`super::store`]; the host has AVX2.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub unsafe fn store<const N: usize>(regs: &[&Lanes; N], at: &impl Fn(usize) -> *mut u8) {
        for lane in (0..64).step_by(8) {
            // SAFETY: by contract; eight lanes of a register are read.
            unsafe {
                let columns = [
                    get(regs[0], lane),
                    get(regs[1], lane),
                    get(regs[2 % N], lane),
                    get(regs[3 % N], lane),
                ];
                let rows = transpose(columns);
                for (i, row) in rows.iter().enumerate() {
                    let row = _mm_castps_si128(_mm256_castps256_ps128(*row));
                    sse::put_row::<N>(at(lane + i), row);
                }
                for (i, row) in rows.iter().enumerate() {
                    let row = _mm_castps_si128(_mm256_extractf128_ps::<1>(*row));
                    sse::put_row::<N>(at(lane + i + 4), row);
                }
            }
        }
    }

    /// # Safety
    /// `lane` is at most 56.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn get(reg: &Lanes, lane: usize) -> __m256 {
        // SAFETY: by contract.
        unsafe { _mm256_loadu_ps(reg.0.as_ptr().add(lane).cast()) }
    }

    /// # Safety
    /// `lane` is at most 56.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn put(reg: &mut Lanes, lane: usize, value: __m256) {
        // SAFETY: by contract.
        unsafe { _mm256_storeu_ps(reg.0.as_mut_ptr().add(lane).cast(), value) }
    }

    /// Transposes the 4x4 blocks of both halves.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn transpose([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
        let low = [_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d)];
        let high = [_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d)];
        [
            _mm256_shuffle_ps::<0x44>(low[0], low[1]),
            _mm256_shuffle_ps::<0xee>(low[0], low[1]),
            _mm256_shuffle_ps::<0x44>(high[0], high[1]),
            _mm256_shuffle_ps::<0xee>(high[0], high[1]),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const N: usize>() {
        let memory: Vec<u32> = (0..1000).collect();
        // Lanes overlap, in no order, at odd addresses.
        let offset = |lane: usize| 4 * (lane * 37 % 64 * 3) + 1;
        let mut regs = [Lanes::ZERO; N];
        let at = |lane: usize| memory.as_ptr().cast::<u8>().wrapping_add(offset(lane));
        // SAFETY: the offsets and 16 bytes behind them lie inside `memory`.
        let done = unsafe { load::<N>(&mut regs.each_mut(), &at) };
        let bytes: Vec<u8> = memory.iter().flat_map(|w| w.to_ne_bytes()).collect();
        let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(done, cfg!(target_arch = "x86_64") && N != 3);
        for lane in (0..64).filter(|_| done) {
            for (n, reg) in regs.iter().enumerate() {
                assert_eq!(reg.0[lane], word(offset(lane) + 4 * n), "dword {n} of lane {lane}");
            }
        }

        let mut out = vec![0_u8; 64 * 16];
        let base = out.as_mut_ptr();
        // SAFETY: 64 separate pieces of 16 bytes.
        let done = unsafe { store::<N>(&regs.each_ref(), &|lane| base.wrapping_add(16 * lane)) };
        for lane in (0..64).filter(|_| done) {
            let words = out[16 * lane..16 * lane + 16].as_chunks::<4>().0;
            let stored: Vec<u32> = words.iter().map(|w| u32::from_ne_bytes(*w)).collect();
            let mut expected: Vec<u32> = regs.iter().map(|reg| reg.0[lane]).collect();
            expected.resize(4, 0);
            assert_eq!(stored, expected);
        }
    }

    #[test]
    fn whole_waves_move_as_lane_by_lane() {
        check::<1>();
        check::<2>();
        check::<3>();
        check::<4>();
    }
}
