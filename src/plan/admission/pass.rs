//! What a step of the loop did: a prefill as it was built, or decodes.

use super::Event;

/// A prefill as it was built.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pass {
    /// Step of the loop.
    pub step: u64,
    /// Running requests.
    pub running: usize,
    /// Prompt, output so far and `max_new` of each running request, in a pool without cache.
    pub running_lengths: Vec<[i64; 3]>,
    /// Waiting requests.
    pub waiting: usize,
    /// Free and evictable tokens before admission.
    pub pool: i64,
    /// KV that running requests and mixed decode rows were promised at the start, tokens.
    pub run_offset: f64,
    /// Share of `max_new` reserved for a running request.
    pub ratio: f64,
    /// Chunk budget at the start, none where chunked prefill is off.
    pub chunk_before: Option<i64>,
    /// `max_prefill_tokens` at the start.
    pub input_before: i64,
    /// What was tried, in order.
    pub events: Vec<Event>,
    /// Chunk budget at the end.
    pub chunk_after: Option<i64>,
    /// `max_prefill_tokens` at the end.
    pub input_after: i64,
    /// KV promised in all, tokens.
    pub total_offset: f64,
    /// KV promised for the rows of this pass, tokens.
    pub current_offset: i64,
    /// Rows admitted.
    pub rows: i64,
    /// Decode rows that joined the batch.
    pub decode_rows: usize,
    /// Whether admission is shut until a request leaves.
    pub full: bool,
}

/// What a step of the loop did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A prefill ran; the pass that the scheduler keeps is it.
    Prefill,
    /// Running requests decoded this many rows.
    Decode {
        /// Rows.
        rows: usize,
    },
    /// Nothing could run.
    Idle,
}
