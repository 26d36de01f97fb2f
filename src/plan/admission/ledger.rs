//! The budgets of one prefill pass and what each request is charged against them.
//!
//! In go the settings, the room of the KV pool and one request at a time; out comes how many rows
//! of it run, or why none. Rules and order of arithmetic are those of SGLang's `PrefillAdder` and
//! `PrefillBudget`; the KV budget is kept in doubles because SGLang weighs running requests by a
//! ratio.

mod clamp;

use super::finish_order::FinishOrder;
use super::{CLIP_MAX_NEW, Request, Room, Settings, Verdict, Window};

pub use clamp::Clamp;

/// Cached rows that run again in front of a request whose window starts anew
/// (`encoder_swa_replay.replay_len`).
const REPLAYED: i64 = 128;

/// Budgets of a pass.
#[derive(Clone, Debug)]
pub struct Ledger<'a> {
    settings: &'a Settings,
    window: Option<Window>,
    /// Sliding-window KV promised.
    window_offset: i64,
    chunk: Option<i64>,
    input: i64,
    /// KV promised, with what the admitted and the running requests will still decode.
    total_offset: f64,
    /// KV promised for the rows of this pass.
    current_offset: i64,
    admitted: usize,
    rows: i64,
    /// Decode rows of the batch.
    decoding: i64,
    /// Rows of the batch that no request extends by: decode rows and replayed ones.
    other_rows: i64,
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
    pub fn new(
        settings: &'a Settings,
        window: Option<Window>,
        chunk: Option<i64>,
        decoding: i64,
        running: f64,
    ) -> Self {
        Self {
            settings,
            window,
            window_offset: 0,
            chunk: chunk.map(|chunk| chunk - decoding),
            input: settings.max_prefill - decoding,
            total_offset: decoding as f64 + running,
            current_offset: decoding,
            admitted: 0,
            rows: 0,
            decoding,
            other_rows: decoding,
            order: FinishOrder::default(),
        }
    }

    /// Cached rows that run again in front of a new request.
    fn replayed(&self, prefix: i64) -> i64 {
        if self.settings.replay { prefix.min(REPLAYED) } else { 0 }
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

    /// What the budgets say about the next request, in a pool with `room`.
    pub fn state(&self, room: Room) -> Verdict {
        let no_window = self.window.is_some() && room.window <= self.window_offset;
        if self.left_of(room) <= 0.0 || room.full <= self.current_offset || no_window {
            Verdict::NoToken
        } else if self.input <= 0 || self.chunk.is_some_and(|chunk| chunk <= 0) {
            Verdict::Other
        } else {
            Verdict::Continue
        }
    }

    /// Goes on with a prompt of which `left` tokens have not run. None where it has to wait: a
    /// sliding-window pool is full, or not even the chunk budget is positive.
    pub fn resume(&mut self, left: i64, max_new: i64, room: Room) -> Option<Admission> {
        let budget = self.chunk?;
        let mut limit = budget.min(self.left_of(room) as i64);
        match &self.window {
            // A prompt that holds KV must go on, or it would hold it for ever.
            None if limit <= 0 => limit = budget,
            Some(window) if window.ring.is_none() => {
                limit = limit.min(room.window - self.window_offset - window.page);
            }
            _ => {}
        }
        let extend = left.min(limit);
        if extend <= 0 {
            return None;
        }
        let chunked = left > limit;
        let ring = self.window.is_some_and(|window| window.ring.is_some());
        let before = self.window_offset;
        self.charge(extend, if chunked { 0 } else { max_new.min(CLIP_MAX_NEW) }, 0);
        if ring {
            // It has its ring already.
            self.window_offset = before;
        }
        Some(Admission { extend, chunked })
    }

    /// Tries a waiting request with `cached` tokens on the device and `host` more on the host. `room`
    /// is what the pool has left once the cached ones are locked. `load` copies from the host and says
    /// how many tokens; where none come, the request is tried anew without them.
    ///
    /// # Errors
    /// The verdict that ends the pass without it.
    pub fn admit(
        &mut self,
        request: &Request,
        (cached, host): (i64, i64),
        room: Room,
        load: impl FnOnce(i64) -> i64,
    ) -> Result<(Admission, i64), Verdict> {
        self.check_count()?;
        let mut hit = host;
        let mut chosen = self.select(request, cached, hit, room)?;
        if host > 0 {
            hit = load(host);
            if hit < host {
                chosen = self.select(request, cached, hit, room)?;
            }
        }
        let (admission, replayed) = chosen;
        let clipped = request.max_new.min(CLIP_MAX_NEW);
        self.charge(admission.extend, if admission.chunked { 0 } else { clipped }, replayed);
        Ok((admission, hit))
    }

    /// Rows of a waiting request and the cached rows that run again in front of them.
    fn select(
        &self,
        request: &Request,
        cached: i64,
        host: i64,
        room: Room,
    ) -> Result<(Admission, i64), Verdict> {
        let (prefix, left) = (cached + host, request.tokens() - cached);
        let to_come = request.to_come();
        let replayed = self.replayed(prefix);
        let mut limit = self.chunk.map(|chunk| chunk - replayed);
        if replayed > 0 && limit.is_some_and(|limit| limit <= 0) {
            return Err(Verdict::Other);
        }
        if (left + to_come + self.settings.page) as f64 >= self.left_of(room) {
            return Err(Verdict::NoToken);
        }
        if let Some(window) = &self.window {
            limit = self.limit_by(window, self.settings.ceil(left - host), to_come, room, limit)?;
        }
        Ok((self.shape(prefix, left - host, limit)?, replayed))
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
        room: Room,
        others: impl Iterator<Item = (f64, i64)>,
    ) -> Result<Admission, Verdict> {
        self.check_count()?;
        let left = request.tokens();
        let clipped = request.max_new.min(CLIP_MAX_NEW);
        let wanted = self.settings.ceil(left) + self.settings.page;
        let current = room.full - self.current_offset;
        if wanted > current || wanted as f64 > self.left_of(room) {
            return Err(Verdict::NoToken);
        }
        if let Some(window) = &self.window {
            // The order of ends says nothing of a window.
            if window.needs(left, request.to_come(), self.chunk) > room.window - self.window_offset
            {
                return Err(Verdict::NoToken);
            }
        } else {
            let state = ((request.max_new - request.emitted) as f64, left);
            self.order.add(state, others);
            if !self.order.lasts((current - wanted) as f64) {
                return Err(Verdict::NoToken);
            }
        }
        let (extend, chunked) = match self.chunk {
            Some(chunk) if left > chunk => (chunk, true),
            _ => (left, false),
        };
        if extend <= 0 {
            return Err(Verdict::Other);
        }
        self.check_tiles(extend)?;
        self.charge(extend, if chunked { 0 } else { clipped }, 0);
        Ok(Admission { extend, chunked })
    }

    /// The chunk limit that a window allows. Only a prompt that never fits whole is cut for it:
    /// what is short for a while has to wait.
    fn limit_by(
        &self,
        window: &Window,
        paged: i64,
        max_new: i64,
        room: Room,
        limit: Option<i64>,
    ) -> Result<Option<i64>, Verdict> {
        let needed = window.needs(paged, max_new, limit);
        let room = room.window - self.window_offset;
        if window.fits(needed, room) {
            return Ok(limit);
        }
        let most =
            if window.fits(needed, window.size) { 0 } else { window.largest_chunk(max_new, room) };
        match limit {
            Some(limit) if most > 0 => Ok(Some(limit.min(most))),
            _ => Err(Verdict::NoToken),
        }
    }

    fn check_count(&self) -> Result<(), Verdict> {
        match self.settings.max_requests {
            Some(most) if self.admitted >= most => Err(Verdict::Other),
            _ => Ok(()),
        }
    }

    /// Rows of a new request of which `left` tokens have to run, at most `limit` of them now.
    fn shape(&self, prefix: i64, left: i64, limit: Option<i64>) -> Result<Admission, Verdict> {
        let paged = self.settings.ceil(left);
        // Without chunks the first request may exceed the cap.
        if self.chunk.is_none() && self.admitted > 0 && paged >= self.input {
            return Err(Verdict::Other);
        }
        let charged = if self.settings.exact_fill { left } else { paged };
        let Some(limit) = limit.filter(|limit| charged > *limit) else {
            self.check_tiles(paged)?;
            return Ok(Admission { extend: left, chunked: false });
        };
        let extend = self.cut(prefix, limit);
        if extend <= 0 {
            return Err(Verdict::Other);
        }
        self.check_tiles(extend)?;
        Ok(Admission { extend, chunked: true })
    }

    /// Rows of a new request that is cut for `limit`.
    fn cut(&self, prefix: i64, limit: i64) -> i64 {
        let floor = |tokens: i64, unit: i64| tokens.div_euclid(unit) * unit;
        let align = |tokens| self.settings.cut_align.map_or(tokens, |unit| floor(tokens, unit));
        let page = self.settings.page;
        if self.settings.exact_fill {
            align(limit)
        } else {
            floor(prefix + align(floor(limit, page)), page) - prefix
        }
    }

    /// Refuses a request whose tiles exceed the limit, unless it is the first. SGLang 0.5.23 reads
    /// the lengths of the requests before it from a field that they do not have, so those count as
    /// requests without tiles.
    fn check_tiles(&self, tokens: i64) -> Result<(), Verdict> {
        let Some(limit) = self.settings.tiles.filter(|_| self.admitted > 0) else {
            return Ok(());
        };
        let tiles = (tokens + limit.block_m - 1) / limit.block_m;
        let padded = if limit.compact { 1 } else { self.admitted as i64 + 1 };
        if tiles.saturating_mul(padded) > limit.budget { Err(Verdict::Other) } else { Ok(()) }
    }

    fn charge(&mut self, extend: i64, max_new: i64, replayed: i64) {
        let paged = self.settings.ceil(extend);
        let kv = paged + self.settings.page;
        self.total_offset += (kv + max_new) as f64;
        self.current_offset += kv;
        if let Some(window) = &self.window {
            self.window_offset += window.needs(paged, max_new, self.chunk);
        }
        let compute = replayed + if self.settings.exact_fill { extend } else { paged };
        self.input -= compute;
        if let Some(chunk) = &mut self.chunk {
            *chunk -= compute;
        }
        self.admitted += 1;
        self.rows += extend;
        self.other_rows += replayed;
    }

    fn left_of(&self, room: Room) -> f64 {
        room.full as f64 - self.total_offset
    }
}

impl Settings {
    /// `tokens` in whole pages.
    fn ceil(&self, tokens: i64) -> i64 {
        (tokens + self.page - 1) / self.page * self.page
    }
}
