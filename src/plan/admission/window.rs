//! Sliding-window KV beside the full one, as hybrid models such as DeepSeek-V4 keep it.
//!
//! In go the window and the size of its pool; out comes what a prefill must reserve in it. Two
//! layouts: pages that are freed behind the window, and a ring of fixed length for every request
//! slot. Rules are those of SGLang 0.5.23 (`mem_cache/prefill_budget.py`: `SWAPrefillBudget`).

/// Tokens that slide out of the window before a decoding request frees them
/// (`SGLANG_SWA_EVICTION_INTERVAL`).
pub(super) const FREE_INTERVAL: i64 = 128;

/// Sliding-window KV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Tokens that attention looks back.
    pub length: i64,
    /// Page, tokens.
    pub page: i64,
    /// Size of the pool, tokens.
    pub size: i64,
    /// Tokens of each request's ring in whole pages, where there are rings.
    pub ring: Option<i64>,
}

impl Window {
    /// Tokens that a prefill of `extend` tokens with `max_new` to decode takes at its peak, if no
    /// pass runs more than `limit` rows of it.
    pub(super) fn needs(&self, extend: i64, max_new: i64, limit: Option<i64>) -> i64 {
        if let Some(ring) = self.ring {
            return ring;
        }
        let allocated = limit.map_or(extend, |limit| extend.min(limit));
        let tail = (allocated - self.length).max(0);
        tail + (extend + max_new).min(self.length) + self.page
    }

    /// Whether `needed` tokens fit into `room`. SGLang keeps one token of a paged pool.
    pub(super) fn fits(&self, needed: i64, room: i64) -> bool {
        if self.ring.is_some() { needed <= room } else { needed < room }
    }

    /// The largest chunk, in whole pages, that `room` holds beside the window of `max_new` tokens.
    pub(super) fn largest_chunk(&self, max_new: i64, room: i64) -> i64 {
        (room - self.needs(0, max_new, None)).div_euclid(self.page).max(0) * self.page
    }
}
