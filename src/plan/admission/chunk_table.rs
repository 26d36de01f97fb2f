//! Chunks by prefix as the SGLang plugin in `python/` answers them on one server.
//!
//! In go the table of a sizer and the server's limits; out comes the chunk for any prefix, and for
//! the end of a prompt one that leaves no tiny last chunk. The rules are those of
//! `chunktune_sglang/sizer.py`.

use serde::Deserialize;

use super::Settings;
use crate::plan::chunk_at;
use crate::plan::table::lcm;
use crate::plan::tail::Ending;

/// Chunks by prefix; all lengths are tokens per rank.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ChunkTable {
    /// Multiple of the plan's chunks.
    pub align: u64,
    /// Chunk past `max_context`.
    pub chunk_min: u64,
    /// Last prefix of the table.
    pub max_context: u64,
    /// `[prefix_from, chunk]`, ascending, first 0, half-open.
    pub table: Vec<(u64, u64)>,
    /// The largest chunk that fits, in the same form; empty where the table is that.
    #[serde(default)]
    pub frontier: Vec<(u64, u64)>,
    /// Share of the chunk before it under which a last chunk is tiny; 0 leaves all as it is.
    #[serde(default)]
    pub tail_fraction: f64,
    /// Whether SGLang's own sizer answers too; no prompt is then ended above its answer.
    #[serde(skip)]
    pub own: bool,
}

/// A chunk of a prompt that is about to run, all in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// Before its first row.
    pub prefix: u64,
    /// Of the prompt that have not run.
    pub left: u64,
    /// Of them that would run now.
    pub limit: u64,
    /// Most that the budget of the pass could hold.
    pub budget: u64,
    /// Rows of the pass that are not of this prompt.
    pub others: u64,
    /// Those of them that every later pass has too.
    pub decoding: u64,
}

/// A chunk of which the server's limits leave nothing: the plugin refuses such a sizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a chunk of {chunk} tokens comes to nothing under the server's cap of {cap}, its page of {page} \
     and its alignment of cut prompts of {truncation}"
)]
pub struct NothingLeft {
    chunk: u64,
    cap: u64,
    page: u64,
    truncation: u64,
}

impl ChunkTable {
    /// The table as the plugin keeps it on a server, with SGLang's `own` sizer beside it or not; none
    /// where chunked prefill is off, for there the plugin is not in force.
    ///
    /// # Errors
    /// A chunk comes to nothing.
    pub fn on(&self, server: &Settings, own: bool) -> Result<Option<Self>, NothingLeft> {
        let Some(chunk) = server.chunk else {
            return Ok(None);
        };
        // SGLang sizes its buffers by the limit where its own sizer is on.
        let cap = if own { server.max_prefill } else { chunk.min(server.max_prefill) };
        let cap = cap.unsigned_abs();
        let page = server.page.unsigned_abs();
        let truncation = server.cut_align.map_or(1, i64::unsigned_abs);
        let cut = |chunk: u64| {
            if chunk <= cap && chunk.is_multiple_of(truncation) {
                return Ok(chunk);
            }
            // On the alignment of the plan where that leaves anything.
            let whole = |unit: u64| {
                let unit = lcm(unit, truncation)?;
                Some(chunk.min(cap).checked_div(unit)? * unit).filter(|cut| *cut > 0)
            };
            let cut = [self.align, page].into_iter().find_map(whole);
            cut.ok_or(NothingLeft { chunk, cap, page, truncation })
        };
        let rows = |table: &[(u64, u64)]| -> Result<Vec<(u64, u64)>, NothingLeft> {
            table.iter().map(|&(from, chunk)| Ok((from, cut(chunk)?))).collect()
        };
        let align = lcm(self.align, truncation).unwrap_or(0);
        let (table, frontier) = (rows(&self.table)?, rows(&self.frontier)?);
        Ok(Some(Self { align, chunk_min: cut(self.chunk_min)?, table, frontier, own, ..*self }))
    }

    /// Rows to run in place of `next.limit`, so that the prompt does not end in a tiny chunk; none to
    /// leave it. `answer` is what a pass that goes on with a prompt at a prefix may run: the table's
    /// chunk or, where it is smaller, that of SGLang's own sizer.
    pub fn ending(&self, next: Next, answer: impl Fn(u64) -> u64) -> Option<u64> {
        let Next { prefix, left, limit, budget, others, decoding } = next;
        let most = if self.own { 0 } else { self.frontier(prefix).saturating_sub(others) };
        let ending = Ending { fraction: self.tail_fraction, min: self.chunk_min, unit: self.align };
        ending.rows(left, limit, most.min(budget), |first| {
            answer(prefix.saturating_add(first)).saturating_sub(decoding)
        })
    }

    /// The largest chunk over `prefix` cached tokens.
    pub fn chunk(&self, prefix: u64) -> u64 {
        self.row(&self.table, prefix)
    }

    /// The largest chunk that fits over `prefix` cached tokens.
    fn frontier(&self, prefix: u64) -> u64 {
        self.row(if self.frontier.is_empty() { &self.table } else { &self.frontier }, prefix)
    }

    fn row(&self, table: &[(u64, u64)], prefix: u64) -> u64 {
        if prefix > self.max_context {
            return self.chunk_min;
        }
        chunk_at(table, prefix).unwrap_or(self.chunk_min)
    }
}
