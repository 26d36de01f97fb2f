//! What the plugin in `python/` makes of the chunk budget: no pass beyond the frontier at the longest
//! prefix in it, and no prompt that ends in a tiny chunk.
//!
//! In go the plugin's table and one request at a time; out comes the budget that SGLang's own rules
//! then charge. The rules are those of `chunktune_sglang/hooks.py` and `tail.py`.

use super::super::{ChunkTable, Next, Sizer, Verdict};
use super::Ledger;

/// The plugin's limit of one request in a pass.
#[derive(Clone, Copy)]
pub struct Clamp<'a> {
    /// Chunks by prefix.
    pub table: &'a ChunkTable,
    /// Chunk of a pass that goes on with a prompt; none asks the table.
    pub sizer: Option<Sizer<'a>>,
    /// Tokens before the first row of the request.
    pub prefix: i64,
    /// Tokens of it that have not run.
    pub left: i64,
    /// Whether nothing else waits, so that its last chunk would be a pass of its own.
    pub alone: bool,
    /// Whether [`Ledger::admit_to_known_end`] tries it.
    pub known_end: bool,
}

impl Ledger<'_> {
    /// Leaves at least a page of the chunk, as the plugin does at the start of a pass, so that a cut
    /// prompt gets on beside decode rows.
    pub fn keep_a_page(&mut self) {
        self.chunk = self.chunk.map(|chunk| chunk.max(self.settings.page));
    }

    /// Tries a request by `admit` with the chunk budget lowered to what the plugin allows: the rows
    /// that the pass may have at the request's prefix, less the rows that it has; its first request
    /// may have a page. Where nothing else waits, the end of the prompt is no tiny chunk as far as
    /// memory allows. An admitted request leaves the budget lowered, because all rows of the pass
    /// have to fit at its prefix; so none is cut after one that was cut for the frontier.
    ///
    /// # Errors
    /// The verdict that ends the pass without it.
    pub fn under<T>(
        &mut self,
        clamp: Option<Clamp<'_>>,
        admit: impl FnOnce(&mut Self) -> Result<T, Verdict>,
    ) -> Result<T, Verdict> {
        let (Some(clamp), Some(before)) = (clamp, self.chunk) else {
            return admit(self);
        };
        let rows = signed(clamp.table.chunk(clamp.prefix.unsigned_abs()));
        let left = rows - self.rows - self.other_rows;
        let allowed = if self.admitted == 0 { left.max(self.settings.page) } else { left };
        if allowed < before && allowed <= 0 {
            return Err(Verdict::Other);
        }
        let limit = allowed.min(before);
        self.chunk = Some(self.budget_of_ending(&clamp, limit, before).unwrap_or(limit));
        let tried = admit(self);
        if tried.is_err() {
            self.chunk = Some(before);
        }
        tried
    }

    /// Goes on with a prompt as [`Self::resume`] will, with a chunk budget such that it does not end
    /// in a tiny chunk, as far as memory allows and where nothing else waits.
    pub fn end_well(&mut self, clamp: &Clamp<'_>) {
        let Some(limit) = self.chunk.filter(|limit| *limit > 0 && clamp.alone) else { return };
        if let Some(rows) = self.ending(clamp, limit, i64::MAX, 0) {
            self.chunk = Some(rows);
        }
    }

    /// The chunk budget with which a new request does not end in a tiny chunk, where `limit` would
    /// cut it and `before` is what the pass has; none to leave it.
    fn budget_of_ending(&self, clamp: &Clamp<'_>, limit: i64, before: i64) -> Option<i64> {
        let replayed = if clamp.known_end { 0 } else { self.replayed(clamp.prefix) };
        let verbatim = clamp.known_end || self.settings.exact_fill;
        let whole = if verbatim { clamp.left } else { self.settings.ceil(clamp.left) };
        let budget = limit - replayed;
        if !clamp.alone || budget <= 0 || whole <= budget {
            return None;
        }
        let cut = if clamp.known_end { budget } else { self.cut(clamp.prefix, budget) };
        // A budget that is charged in pages holds whole ones.
        let page = if verbatim { 1 } else { self.settings.page };
        let most = (before - replayed).div_euclid(page) * page;
        let rows = self.ending(clamp, cut, most, replayed)?;
        Some(replayed + if rows == clamp.left { whole } else { rows })
    }

    /// Rows of a prompt to run in place of `limit`.
    fn ending(&self, clamp: &Clamp<'_>, limit: i64, budget: i64, replayed: i64) -> Option<i64> {
        let tokens = |tokens: i64| u64::try_from(tokens).ok();
        let next = Next {
            prefix: tokens(clamp.prefix)?,
            left: tokens(clamp.left)?,
            limit: tokens(limit).filter(|limit| *limit > 0)?,
            budget: tokens(budget)?,
            others: tokens(self.rows + self.other_rows + replayed)?,
            decoding: tokens(self.decoding)?,
        };
        let own = |prefix| clamp.sizer.and_then(|sizer| sizer(prefix));
        let answer = |prefix| own(prefix).unwrap_or_else(|| clamp.table.chunk(prefix));
        clamp.table.ending(next, answer).map(signed)
    }
}

/// `tokens` as a budget.
fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}
