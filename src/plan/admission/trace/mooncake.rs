//! The Mooncake trace: one JSON object a line, prompts named by blocks of 512 tokens.
//!
//! In go lines; out come requests whose cached prefix is the longest run of their first blocks that
//! earlier requests left in the cache.

use serde::Deserialize;

use super::TraceRequest;
use super::blocks::BlockCache;

/// Tokens of a block.
const BLOCK: i64 = 512;

#[derive(Deserialize)]
struct Line {
    timestamp: f64,
    input_length: i64,
    output_length: i64,
    hash_ids: Vec<u64>,
}

/// Reader with the cache of earlier prompts.
#[derive(Debug)]
pub(super) struct Mooncake {
    cache: BlockCache,
}

impl Mooncake {
    /// A reader whose cache holds `tokens`; none keeps every block.
    pub(super) fn new(tokens: Option<i64>) -> Self {
        let blocks = tokens.map(|tokens| usize::try_from(tokens / BLOCK).unwrap_or(0));
        Self { cache: BlockCache::new(blocks) }
    }

    /// One line.
    pub(super) fn read(&mut self, line: &str) -> Result<TraceRequest, String> {
        let line: Line = serde_json::from_str(line).map_err(|error| {
            format!("{error}; it wants timestamp, input_length, output_length and hash_ids")
        })?;
        if !line.timestamp.is_finite() || line.timestamp < 0.0 {
            return Err(format!("the timestamp is {}; it must be at least 0 ms", line.timestamp));
        }
        let (blocks, length) = (line.hash_ids.len(), line.input_length.max(0));
        let whole = usize::try_from(length / BLOCK).unwrap_or(usize::MAX);
        let begun = whole.saturating_add(usize::from(length % BLOCK > 0));
        if !(whole..=begun).contains(&blocks) {
            return Err(format!(
                "{blocks} hash_ids are no blocks of {BLOCK} tokens of a prompt of {length}, which \
                 has {begun}; traces with blocks of another size are not read"
            ));
        }
        let run = self.cache.take(&line.hash_ids);
        let cached = i64::try_from(run).unwrap_or(i64::MAX).saturating_mul(BLOCK);
        Ok(TraceRequest {
            line: 0,
            arrival_ms: line.timestamp,
            prompt: line.input_length,
            cached: cached.min(length),
            output: line.output_length,
        })
    }
}
