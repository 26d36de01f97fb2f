//! SGLang's admission of prefills, in numbers: which requests a pass admits, how many rows of each
//! it runs, and what that leaves of its budgets.
//!
//! In go settings of a server, a KV pool and requests; out come passes with one event for every
//! request that was tried. The rules are those of SGLang 0.5.23 (`managers/schedule_policy.py`:
//! `PrefillAdder`; `mem_cache/prefill_budget.py`; `managers/scheduler.py`: `get_next_batch_to_run`),
//! checked against recorded decisions of that code ([`oracle`]). KV is reserved in whole pages;
//! compute budgets are charged in whole pages too or, with exact fill, in rows.

mod chunk_table;
mod finish_order;
mod ledger;
pub mod oracle;
mod pass;
mod pool;
mod recorded_form;
pub mod scenario;
mod scenario_error;
mod scheduler;
mod seat;
#[cfg(test)]
mod tests;
pub mod trace;
mod tree;
mod window;

pub use chunk_table::{ChunkTable, Next, NothingLeft};
pub use ledger::{Clamp, Ledger};
pub use pass::{Pass, Step};
pub use pool::Pool;
pub use scheduler::{Scheduler, Sizer};
pub use window::Window;

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
    /// Multiple to which a cut prompt is rounded down (`Scheduler.truncation_align_size`).
    pub cut_align: Option<i64>,
    /// Limit of attention tiles (`SGLANG_PREFILL_TILE_BUDGET`).
    pub tiles: Option<TileLimit>,
    /// Whether the last rows of a cached prefix run again (encoder sliding-window replay).
    pub replay: bool,
}

impl Settings {
    /// A server with pages and chunks of these many tokens and `max_prefill_tokens` of one chunk,
    /// without any of the rest.
    pub fn new(page: i64, chunk: i64, exact_fill: bool) -> Self {
        Self {
            page,
            chunk: Some(chunk),
            max_prefill: chunk,
            exact_fill,
            mixed: false,
            max_requests: None,
            max_running: None,
            cut_align: None,
            tiles: None,
            replay: false,
        }
    }
}

/// Whether compute budgets are charged in rows: not for diffusion models, nor where the prefix cache
/// keeps mamba states, which land on the ends of whole pages only.
pub fn fills_exactly(switch: bool, diffusion: bool, mamba_in_cache: bool) -> bool {
    switch && !diffusion && !mamba_in_cache
}

/// A limit of query tiles per head in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileLimit {
    /// Tiles.
    pub budget: i64,
    /// Rows of a tile.
    pub block_m: i64,
    /// Whether tiles are added up over requests, and not padded to the longest.
    pub compact: bool,
}

/// Tokens that a pool has left, free and evictable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Of full attention.
    pub full: i64,
    /// Of the sliding window; 0 where there is none.
    pub window: i64,
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
    /// Tokens from its first one on that the host tier holds (HiCache), those on the device among
    /// them.
    pub host: i64,
    /// Output tokens that it had when it was retracted: they run again as if they were prompt.
    pub emitted: i64,
}

impl Request {
    /// Tokens that a prefill of it runs.
    pub(crate) fn tokens(&self) -> i64 {
        self.prompt + self.emitted
    }

    /// Output tokens that it may still emit, as far as SGLang reserves KV for them.
    pub(crate) fn to_come(&self) -> i64 {
        (self.max_new - self.emitted).clamp(0, CLIP_MAX_NEW)
    }
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
        "the KV pool is full in step {step} with one request left running; SGLang would abort it, \
         which is not modelled"
    )]
    Abort {
        /// Step of the loop.
        step: u64,
    },
    /// Eviction for window KV beside a prefix cache.
    #[error(
        "a pass needs more tokens than the free request slots have in their rings, and SGLang would \
         evict cached prefixes for it; which ones is not modelled"
    )]
    OutOfRings,
    /// Eviction beside a host tier.
    #[error(
        "in step {step} SGLang would evict cached prefixes beside prefixes that the host holds; which \
         of them stay on the host was not recorded and is not modelled"
    )]
    HostEviction {
        /// Step of the loop.
        step: u64,
    },
    /// A retracted request would look for window KV in the prefix cache.
    #[error(
        "the KV pool is full in step {step} and SGLang would retract a request whose sliding window \
         is in the prefix cache; that was not recorded and is not modelled"
    )]
    WindowRetraction {
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
    /// Two prompts cut in one pass, of which SGLang would lose one.
    #[error(
        "in step {step} two prompts are cut in one pass, of which SGLang keeps track of one only; \
         make the alignment of cuts a multiple of the page"
    )]
    TwoCuts {
        /// Step of the loop.
        step: u64,
    },
}
