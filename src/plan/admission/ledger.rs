//! The budgets of one prefill pass and what each request is charged against them.
//!
//! In go the settings, the room of the KV pool and one request at a time; out comes how many rows
//! of it run, or why none. Rules and order of arithmetic are those of SGLang's `PrefillAdder` and
//! `PrefillBudget`; the KV budget is kept in doubles because SGLang weighs running requests by a
//! ratio.

use super::finish_order::FinishOrder;
use super::{CLIP_MAX_NEW, Request, Settings, Verdict};

/// Budgets of a pass.
#[derive(Clone, Debug)]
pub struct Ledger<'a> {
    settings: &'a Settings,
    chunk: Option<i64>,
    input: i64,
    /// KV promised, with what the admitted and the running requests will still decode.
    total_offset: f64,
    /// KV promised for the rows of this pass.
    current_offset: i64,
    admitted: usize,
    rows: i64,
    order: FinishOrder,
}

/// Rows that a request runs in this pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Rows.
    pub extend: i64,
    /// Whether the prompt goes on after this pass.
    pub chunked: bool,
}

impl<'a> Ledger<'a> {
    /// A pass with a chunk budget (none where chunked prefill is off), `decoding` decode rows in the
    /// same batch and KV of `running` tokens that running requests will still take.
    pub fn new(settings: &'a Settings, chunk: Option<i64>, decoding: i64, running: f64) -> Self {
        Self {
            settings,
            chunk: chunk.map(|chunk| chunk - decoding),
            input: settings.max_prefill - decoding,
            total_offset: decoding as f64 + running,
            current_offset: decoding,
            admitted: 0,
            rows: 0,
            order: FinishOrder::default(),
        }
    }

    /// Chunk budget left, tokens.
    pub fn chunk(&self) -> Option<i64> {
        self.chunk
    }

    /// `max_prefill_tokens` left.
    pub fn input(&self) -> i64 {
        self.input
    }

    /// KV promised in all, tokens.
    pub fn total_offset(&self) -> f64 {
        self.total_offset
    }

    /// KV promised for the rows of this pass, tokens.
    pub fn current_offset(&self) -> i64 {
        self.current_offset
    }

    /// Requests admitted.
    pub fn admitted(&self) -> usize {
        self.admitted
    }

    /// Rows admitted.
    pub fn rows(&self) -> i64 {
        self.rows
    }

    /// What the budgets say about the next request, in a pool with `room` tokens.
    pub fn state(&self, room: i64) -> Verdict {
        if self.left_of(room) <= 0.0 || room <= self.current_offset {
            Verdict::NoToken
        } else if self.input <= 0 || self.chunk.is_some_and(|chunk| chunk <= 0) {
            Verdict::Other
        } else {
            Verdict::Continue
        }
    }

    /// Goes on with a prompt of which `left` tokens have not run. None where not even the chunk
    /// budget is positive.
    pub fn resume(&mut self, left: i64, max_new: i64, room: i64) -> Option<Admission> {
        let budget = self.chunk?;
        let available = budget.min(self.left_of(room) as i64);
        // A prompt that holds KV must go on, or it would hold it for ever.
        let limit = if available > 0 { available } else { budget };
        let extend = left.min(limit);
        if extend <= 0 {
            return None;
        }
        let chunked = left > limit;
        self.charge(extend, if chunked { 0 } else { max_new.min(CLIP_MAX_NEW) });
        Some(Admission { extend, chunked })
    }

    /// Tries a waiting request with `prefix` cached tokens. `room` is what the pool has left once
    /// that prefix is locked.
    ///
    /// # Errors
    /// The verdict that ends the pass without it.
    pub fn admit(
        &mut self,
        request: &Request,
        prefix: i64,
        room: i64,
    ) -> Result<Admission, Verdict> {
        self.check_count()?;
        let left = request.prompt - prefix;
        let clipped = request.max_new.min(CLIP_MAX_NEW);
        if (left + clipped + self.settings.page) as f64 >= self.left_of(room) {
            return Err(Verdict::NoToken);
        }
        let admission = self.shape(left)?;
        self.charge(admission.extend, if admission.chunked { 0 } else { clipped });
        Ok(admission)
    }

    /// Tries a waiting request that runs to a known end in a pool without prefix cache. `others` are
    /// the running and the admitted requests, each with the tokens that it still emits and those
    /// that it holds.
    ///
    /// # Errors
    /// The verdict that ends the pass without it.
    pub fn admit_to_known_end(
        &mut self,
        request: &Request,
        room: i64,
        others: impl Iterator<Item = (f64, i64)>,
    ) -> Result<Admission, Verdict> {
        self.check_count()?;
        let left = request.prompt;
        let wanted = self.settings.ceil(left) + self.settings.page;
        let current = room - self.current_offset;
        if wanted > current || wanted as f64 > self.left_of(room) {
            return Err(Verdict::NoToken);
        }
        self.order.add((request.max_new as f64, request.prompt), others);
        if !self.order.lasts((current - wanted) as f64) {
            return Err(Verdict::NoToken);
        }
        let (extend, chunked) = match self.chunk {
            Some(chunk) if left > chunk => (chunk, true),
            _ => (left, false),
        };
        if extend <= 0 {
            return Err(Verdict::Other);
        }
        self.charge(extend, if chunked { 0 } else { request.max_new.min(CLIP_MAX_NEW) });
        Ok(Admission { extend, chunked })
    }

    fn check_count(&self) -> Result<(), Verdict> {
        match self.settings.max_requests {
            Some(most) if self.admitted >= most => Err(Verdict::Other),
            _ => Ok(()),
        }
    }

    /// Rows of a new request of which `left` tokens have to run.
    fn shape(&self, left: i64) -> Result<Admission, Verdict> {
        let paged = self.settings.ceil(left);
        let Some(limit) = self.chunk else {
            // Without chunks the first request may exceed the cap.
            if self.admitted > 0 && paged >= self.input {
                return Err(Verdict::Other);
            }
            return Ok(Admission { extend: left, chunked: false });
        };
        let charged = if self.settings.exact_fill { left } else { paged };
        if charged <= limit {
            return Ok(Admission { extend: left, chunked: false });
        }
        let page = self.settings.page;
        let extend = if self.settings.exact_fill { limit } else { limit / page * page };
        if extend <= 0 { Err(Verdict::Other) } else { Ok(Admission { extend, chunked: true }) }
    }

    fn charge(&mut self, extend: i64, max_new: i64) {
        let paged = self.settings.ceil(extend);
        let kv = paged + self.settings.page;
        self.total_offset += (kv + max_new) as f64;
        self.current_offset += kv;
        let compute = if self.settings.exact_fill { extend } else { paged };
        self.input -= compute;
        if let Some(chunk) = &mut self.chunk {
            *chunk -= compute;
        }
        self.admitted += 1;
        self.rows += extend;
    }

    fn left_of(&self, room: i64) -> f64 {
        room as f64 - self.total_offset
    }
}

impl Settings {
    /// `tokens` in whole pages.
    fn ceil(&self, tokens: i64) -> i64 {
        (tokens + self.page - 1) / self.page * self.page
    }
}
