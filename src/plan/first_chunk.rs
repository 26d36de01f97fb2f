//! The first chunk of a request, and what it costs where nothing clamps it.
//!
//! SGLang sizes the first chunk of a request statically. Where the plugin clamps it on admission,
//! the static size is the table's first chunk; without that hook it has to be a size that fits
//! after the longest cached prefix, and without any plugin that size serves every chunk. In go the
//! table and the time model; out comes what either takes more.

use serde::{Deserialize, Serialize};

use super::Schedule;
use super::policy::PromptTime;
use crate::fit::latency::TimeModel;

/// Extra time of one prompt without a cached prefix, microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extra {
    /// Tokens.
    pub length: u64,
    /// With the table and the admission hook.
    pub clamped_us: f64,
    /// Sizer without the admission hook: a smaller first chunk, then the table.
    pub without_hook_us: f64,
    /// No plugin: the smaller size for every chunk.
    pub flags_only_us: f64,
}

/// The static size with and without the hook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstChunk {
    /// Static size where admission clamps it, tokens.
    pub clamped: u64,
    /// Static size that fits at every prefix, tokens.
    pub fallback: u64,
    /// What the fallback takes.
    pub prompts: Vec<Extra>,
}

impl FirstChunk {
    /// The sizes of a table and their times on the prompts that it was chosen on.
    pub fn new(schedule: &Schedule, model: &TimeModel, prompts: &[PromptTime]) -> Self {
        let range = schedule.range;
        let clamped = schedule.table.first().map_or(range.min, |(_, chunk)| *chunk);
        let fallback = schedule.smallest();
        let prompts = prompts
            .iter()
            .filter_map(|prompt| {
                let length = prompt.length;
                let first = fallback.min(length);
                let mut later = vec![first];
                later.extend(schedule.chunks_from(first, length)?);
                let mut fixed = vec![fallback; usize::try_from(length / fallback).ok()?];
                fixed.extend((length % fallback > 0).then_some(length % fallback));
                Some(Extra {
                    length,
                    clamped_us: prompt.table_us,
                    without_hook_us: model.total_us(&later, 0),
                    flags_only_us: model.total_us(&fixed, 0),
                })
            })
            .collect();
        Self { clamped, fallback, prompts }
    }

    /// The cost in words; none where the sizes are the same.
    pub fn sentence(&self) -> Option<String> {
        let (short, long) = (self.prompts.first()?, self.prompts.last()?);
        if self.clamped == self.fallback {
            return None;
        }
        let more = |time: f64, than: f64| format!("{:+.1}%", 100.0 * (time / than - 1.0));
        if short.length == long.length {
            return Some(format!(
                "Without the admission hook the static size must be {}: {} on a prompt of {} tokens. \
                 Without any plugin that size serves every chunk: {}.",
                self.fallback,
                more(short.without_hook_us, short.clamped_us),
                short.length,
                more(short.flags_only_us, short.clamped_us),
            ));
        }
        Some(format!(
            "Without the admission hook the static size must be {}: {} on a prompt of {} tokens, \
             {} on {}. Without any plugin that size serves every chunk: {} and {}.",
            self.fallback,
            more(short.without_hook_us, short.clamped_us),
            short.length,
            more(long.without_hook_us, long.clamped_us),
            long.length,
            more(short.flags_only_us, short.clamped_us),
            more(long.flags_only_us, long.clamped_us),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{ChunkRange, policy, reach::Reach};

    #[test]
    fn a_smaller_first_chunk_costs_one_chunk_and_flags_alone_cost_every_chunk() {
        // 1 ms a chunk and nothing else, so that time counts chunks.
        let model = TimeModel::of([1000.0, 0.0, 0.0, 0.0, 0.0]);
        let range = ChunkRange::new(256, 2048, 256).unwrap();
        let reach = Reach::new(range, 100_000, |chunk| Some(60_000_000 / chunk));
        let chosen = policy::choose(&model, &reach).unwrap();
        let first = FirstChunk::new(&chosen.schedule, &model, &chosen.prompts);
        // 6e7 / 1e5 = 600: 512 is the chunk at the longest prefix.
        assert_eq!((first.clamped, first.fallback), (2048, 512));
        let at = first.prompts[0];
        // 32000 / 2048 = 15.6 chunks; 512 and then 31488 / 2048 = 15.4; 32000 / 512 = 62.5.
        assert_eq!(at.length, 32_000);
        assert!((at.clamped_us - 17_000.0).abs() <= 1000.0, "{at:?}");
        assert!(
            at.without_hook_us >= at.clamped_us && at.without_hook_us <= at.clamped_us + 2000.0
        );
        assert_eq!(at.flags_only_us, 63_000.0);
        assert!(first.sentence().unwrap().contains("must be 512"));
    }
}
