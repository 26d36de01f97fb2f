//! A request that holds KV: how far it has come.

use super::Request;

/// An admitted request.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) request: Request,
    /// Output tokens so far.
    pub(super) output: i64,
    /// Where the next chunk starts, tokens.
    pub(super) prefix: i64,
    /// Where the last chunk ended, tokens.
    pub(super) end: i64,
    /// Tokens that hold KV.
    pub(super) committed: i64,
    /// Tokens that belong to the prefix cache, whole pages.
    pub(super) protected: i64,
    /// Tokens of the prefix cache that this request locks.
    pub(super) locked: i64,
    /// Tokens whose sliding-window KV is free again, whole pages.
    pub(super) slid: i64,
    /// Decode steps so far.
    pub(super) decoded: i64,
    /// Tokens of a paged window's pool that it keeps from others beside a prefix cache.
    pub(super) held: i64,
}

impl Seat {
    /// A request that was admitted after `prefix` cached tokens to run up to `end`.
    pub(super) fn new(request: Request, prefix: i64, end: i64) -> Self {
        Self {
            output: request.emitted,
            request,
            prefix,
            end,
            committed: 0,
            protected: prefix,
            locked: prefix,
            slid: 0,
            decoded: 0,
            held: 0,
        }
    }

    /// Tokens of the prompt that have not run.
    pub(super) fn left(&self) -> i64 {
        self.request.tokens() - self.prefix
    }

    /// Tokens that it still emits at a `ratio` of reserved output, and those that it holds.
    pub(super) fn to_known_end(&self, ratio: f64) -> (f64, i64) {
        let ratio = if self.request.ignore_eos { 1.0 } else { ratio };
        let left = self.request.max_new as f64 * ratio - self.output as f64;
        (left, self.request.prompt + self.output)
    }

    /// Adds an output token; says whether it was the last.
    pub(super) fn emit(&mut self) -> bool {
        self.output += 1;
        self.output >= self.request.max_new
    }
}
