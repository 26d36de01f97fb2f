//! Chunks by prefix as the SGLang plugin in `python/` answers them on one server.
//!
//! In go the table of a sizer and the server's limits; out comes the chunk for any prefix. The
//! rules are those of `chunktune_sglang/sizer.py`.

use serde::Deserialize;

use super::Settings;
use crate::plan::table::lcm;

/// Chunks by prefix; all lengths are tokens per rank.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ChunkTable {
    /// Multiple of the plan's chunks.
    pub align: u64,
    /// Chunk past `max_context`.
    pub chunk_min: u64,
    /// Last prefix of the table.
    pub max_context: u64,
    /// `[prefix_from, chunk]`, ascending, first 0, half-open.
    pub table: Vec<(u64, u64)>,
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
        let row = |&(from, chunk): &(u64, u64)| Ok((from, cut(chunk)?));
        Ok(Some(Self {
            chunk_min: cut(self.chunk_min)?,
            table: self.table.iter().map(row).collect::<Result<_, _>>()?,
            ..*self
        }))
    }

    /// The largest chunk over `prefix` cached tokens.
    pub fn chunk(&self, prefix: u64) -> u64 {
        if prefix > self.max_context {
            return self.chunk_min;
        }
        let after = self.table.partition_point(|(from, _)| *from <= prefix);
        let row = after.checked_sub(1).and_then(|row| self.table.get(row));
        row.map_or(self.chunk_min, |(_, chunk)| *chunk)
    }
}
