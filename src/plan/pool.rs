//! The logits pool of SGLang's ROCm fp4 path: how large it may be, and the memory of the path with a
//! pool of that size.
//!
//! In go a fit and the usable bytes; out comes the setting, which is the default or less where less
//! is usable, and the fit with the pool capped.

use super::decision::SCORES;
use crate::fit::memory::{Coefficients, Growth, MemoryFit};

/// Variable that sets it.
const SYMBOL: &str = "SGLANG_DSV4_FP4_LOGITS_BUDGET_MB";
/// SGLang's default, bytes.
const DEFAULT: u64 = 2 << 30;

/// A size of the pool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pool {
    /// Bytes of fp32 logits, whole MiB: what the variable sets.
    logits: u64,
}

impl Pool {
    /// The pool that fits beside a chunk of `rows` rows; none on a path without one, or where not a
    /// MiB fits. Buffers that grow with the logits take their part of the room.
    pub fn within(memory: &MemoryFit, usable: u64, rows: u64) -> Option<Self> {
        if memory.growth != Growth::Pooled {
            return None;
        }
        let Coefficients { m0, m_t, pool_per_pair, .. } = memory.coefficients;
        let room = (usable as f64 - m0 - m_t * rows as f64).max(0.0);
        let of_logits = room * (SCORES / pool_per_pair.max(SCORES));
        let logits = (of_logits as u64 >> 20 << 20).min(DEFAULT);
        (logits > 0).then_some(Self { logits })
    }

    /// The variable and its value, bytes.
    pub fn setting(&self) -> (String, u64) {
        (SYMBOL.to_owned(), self.logits)
    }

    /// The fit with the pool full at this size, where it was larger.
    pub fn of(self, memory: &MemoryFit) -> MemoryFit {
        let pairs = self.logits as f64 / SCORES;
        let capped = |c: &Coefficients| Coefficients { pool_pairs: c.pool_pairs.min(pairs), ..*c };
        let coefficients = capped(&memory.coefficients);
        MemoryFit {
            coefficients,
            corners: memory.corners.iter().map(capped).collect(),
            pool_bytes: Some(coefficients.pool_bytes()),
            ..memory.clone()
        }
    }

    /// What to say of a pool that is smaller than SGLang's.
    pub fn sentence(self) -> Option<String> {
        (self.logits < DEFAULT).then(|| {
            format!(
                "The plan counts with a logits pool of {} MiB ({SYMBOL} must be set), less than SGLang's \
                 {} MiB, so that it fits; what more tiles of rows cost in time was not measured.",
                self.logits >> 20,
                DEFAULT >> 20
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::memory::{EXACT_NOISE, Row, Seen, fit};

    /// Scores of 4 B with block maxima of 0.5 B beside them, in a pool of 2 GiB of scores.
    fn pooled() -> MemoryFit {
        let rows: Vec<Row> = [1e6, 5e6, 2e7, 1e8, 3e8, 6e8, 1e9, 2e9]
            .map(|pairs: f64| {
                let bytes = 1e6 + 4.5 * pairs.min((2u64 << 30) as f64 / 4.0);
                Row { line: 0, t: 2048.0, e: pairs / 2048.0, pairs, seen: Seen::Peak(bytes) }
            })
            .to_vec();
        fit("row_pooled", false, 1, &rows, EXACT_NOISE).unwrap()
    }

    #[test]
    fn the_pool_leaves_room_for_what_grows_beside_it_and_the_plan_counts_with_it() {
        let memory = pooled();
        assert_eq!(memory.growth, Growth::Pooled);
        let usable = 2_000_000_000;
        let pool = Pool::within(&memory, usable, 2048).unwrap();
        let capped = pool.of(&memory);
        let full = capped.peak(2048, 1 << 22);
        assert!(full <= usable as f64 && full > 0.99 * usable as f64, "{full}");
        // (2e9 - 1e6) * 4 / 4.5 = 1694.6 MiB.
        assert_eq!(pool.setting(), (SYMBOL.to_owned(), 1694 << 20));
        assert!(pool.sentence().is_some());
        let wide = Pool::within(&memory, 20_000_000_000, 2048).unwrap();
        assert_eq!((wide.setting().1, wide.sentence()), (DEFAULT, None));
        assert!(
            (wide.of(&memory).peak(2048, 1 << 22) / memory.peak(2048, 1 << 22) - 1.0).abs() < 1e-3
        );
    }
}
