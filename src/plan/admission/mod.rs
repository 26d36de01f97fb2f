//! SGLang's admission of prefills, in numbers: which requests a pass admits, how many rows of each
//! it runs, and what that leaves of its budgets.
//!
//! In go settings of a server, a KV pool and requests; out come passes with one event for every
//! request that was tried. The rules are those of SGLang 0.5.23 (`managers/schedule_policy.py`:
//! `PrefillAdder`; `mem_cache/prefill_budget.py`; `managers/scheduler.py`: `get_next_batch_to_run`),
//! checked against recorded decisions of that code ([`oracle`]). KV is reserved in whole pages;
//! compute budgets are charged in whole pages too or, with exact fill, in rows.

mod finish_order;
mod ledger;
pub mod oracle;
mod pool;
pub mod scenario;
mod scheduler;
mod seat;
#[cfg(test)]
mod tests;
mod tree;

pub use ledger::Ledger;
pub use pool::Pool;
pub use scheduler::{Pass, Scheduler, Step};

/// Output tokens beyond which SGLang reserves no KV for a request
/// (`SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION`).
pub const CLIP_MAX_NEW: i64 = 4096;

/// What decides admission, apart from memory. Tokens unless said otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `--page-size`.
    pub page: i64,
    /// `--chunked-prefill-size`; none where chunked prefill is off.
    pub chunk: Option<i64>,
    /// `--max-prefill-tokens`.
    pub max_prefill: i64,
    /// Whether compute budgets are charged in rows (`SGLANG_EXACT_CHUNK_FILL` where it has effect).
    pub exact_fill: bool,
    /// `--enable-mixed-chunk`: decode rows join the prefill.
    pub mixed: bool,
    /// `--prefill-max-requests`.
    pub max_requests: Option<usize>,
    /// `--max-running-requests`.
    pub max_running: Option<usize>,
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Number by which events name it.
    pub id: usize,
    /// Prompt, tokens.
    pub prompt: i64,
    /// Output tokens at which it ends, at least 1.
    pub max_new: i64,
    /// Whether it is known to run to `max_new`.
    pub ignore_eos: bool,
    /// Cached prefix that it names, tokens ([`Pool::with_given_prefixes`]).
    pub cached: i64,
}

/// What the ledger says about the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The next request may be tried.
    Continue,
    /// No KV is left.
    NoToken,
    /// A compute budget or a limit is spent.
    Other,
}

/// One request that a pass tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Continued chunk or new request.
    pub kind: Kind,
    /// The request.
    pub id: usize,
    /// Prefix before the rows of this pass, tokens.
    pub prefix: i64,
    /// Rows that run; 0 where the request was not admitted.
    pub extend: i64,
    /// Whether the prompt is not through after this pass.
    pub chunked: bool,
    /// Chunk budget left, none where chunked prefill is off.
    pub rem_chunk: Option<i64>,
}

/// How a request came into a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It goes on with a prompt that an earlier pass cut.
    Chunk,
    /// It waited, and this is what was said of it and the next.
    New(Verdict),
}

/// Why admission cannot be followed further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdmissionError {
    /// Decodes outgrew the pool.
    #[error(
        "the KV pool is full in step {step} and SGLang would retract a running request; \
         retraction is not modelled"
    )]
    Retraction {
        /// Step of the loop.
        step: u64,
    },
    /// An admitted pass does not fit.
    #[error("an admitted pass needs {wanted} tokens of KV and {free} are free")]
    OutOfKv {
        /// Tokens wanted.
        wanted: i64,
        /// Tokens free.
        free: i64,
    },
    /// Decode rows leave nothing of the chunk for a prompt that must go on.
    #[error(
        "in step {step} the {decoding} decode rows of the mixed batch leave nothing of the chunk; \
         such a server makes no progress"
    )]
    NoChunk {
        /// Step of the loop.
        step: u64,
        /// Decode rows.
        decoding: usize,
    },
}
