//! SGLang's scheduling loop around the ledger: prefill first, else decode, one step at a time.
//!
//! In go settings, a KV pool and waiting requests; out comes one [`Pass`] for every step that
//! builds a prefill, whether or not it admits anything. Loop order is that of `event_loop_normal`:
//! a batch is done when its step ends. First come, first served.

mod decode;

use std::collections::VecDeque;

use super::ledger::{Admission, Clamp, Ledger};
use super::pool::Pool;
use super::seat::Seat;
use super::{
    AdmissionError, CLIP_MAX_NEW, ChunkTable, Event, Kind, Pass, Request, Settings, Step, Verdict,
};

/// Share of `max_new` that SGLang reserves for a running request at first
/// (`SGLANG_INIT_NEW_TOKEN_RATIO`).
const FIRST_RATIO: f64 = 0.7;
/// Scheduling calls between two refreshes of waiting prefixes, and how many are refreshed
/// (`WAITING_PREFIX_REFRESH_INTERVAL`, `WAITING_QUEUE_PREFIX_MATCH_MAX`).
const REFRESH_INTERVAL: u64 = 32;
const REFRESHED: usize = 128;

/// Chunk after a prefix, tokens; none keeps the static size.
pub type Sizer<'a> = &'a (dyn Fn(u64) -> Option<u64> + Sync);

/// The loop.
pub struct Scheduler<'a> {
    settings: &'a Settings,
    sizer: Option<Sizer<'a>>,
    clamp: Option<&'a ChunkTable>,
    pool: Pool,
    waiting: VecDeque<Request>,
    running: Vec<Seat>,
    /// Requests of the last prefill that go on to decode.
    prefilled: Vec<Seat>,
    chunked: Option<Seat>,
    full: bool,
    /// Whether a request left the running batch, or the last prefill batch, since the last step.
    left: bool,
    ratio: f64,
    retracted: u64,
    refreshes: u64,
    step: u64,
    pass: Pass,
    built: bool,
}

impl<'a> Scheduler<'a> {
    /// A loop without requests. The sizer is asked for passes that start with a cut prompt.
    pub fn new(settings: &'a Settings, pool: Pool, sizer: Option<Sizer<'a>>) -> Self {
        Self {
            settings,
            sizer,
            clamp: None,
            pool,
            waiting: VecDeque::new(),
            running: Vec::new(),
            prefilled: Vec::new(),
            chunked: None,
            full: false,
            left: false,
            ratio: FIRST_RATIO,
            retracted: 0,
            refreshes: 0,
            step: 0,
            pass: Pass::default(),
            built: false,
        }
    }

    /// Queues a request.
    pub fn push(&mut self, request: Request) {
        self.waiting.push_back(request);
    }

    /// Limits the rows of a pass to `table` at the prefix of every new request in it and mends ends
    /// of prompts, as the plugin in `python/` does ([`Ledger::under`], [`Ledger::end_well`]); none
    /// lifts the limit.
    pub fn clamp(&mut self, table: Option<&'a ChunkTable>) {
        self.clamp = table;
    }

    /// Requests that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The request that waits longest.
    pub fn next_waiting(&self) -> Option<&Request> {
        self.waiting.front()
    }

    /// The prefill that the last step built, also where it admitted nothing.
    pub fn pass(&self) -> Option<&Pass> {
        self.built.then_some(&self.pass)
    }

    /// Retractions so far: requests that gave up their KV so that others could go on decoding.
    pub fn retracted(&self) -> u64 {
        self.retracted
    }

    /// Steps so far.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// One step of the loop.
    ///
    /// # Errors
    /// The pool is full in a way that SGLang answers by aborting, or that it does not survive.
    pub fn step(&mut self) -> Result<Step, AdmissionError> {
        self.built = false;
        self.stash_chunk();
        self.merge_prefilled();
        let done = match self.prefill()? {
            true => Step::Prefill,
            false => self.decode()?,
        };
        if self.pool.host_short() {
            return Err(AdmissionError::HostEviction { step: self.step });
        }
        if done != Step::Idle {
            self.step += 1;
        }
        Ok(done)
    }

    /// Hands the rows of the last chunk to the prefix cache.
    fn stash_chunk(&mut self) {
        if let Some(seat) = &mut self.chunked {
            let end = seat.end;
            self.pool.checkpoint(seat, end);
            seat.prefix = end;
        }
    }

    fn merge_prefilled(&mut self) {
        if self.left {
            self.full = false;
            self.left = false;
        }
        if !self.prefilled.is_empty() {
            if self.running.is_empty() {
                // The batch itself becomes the running batch, with a flag of its own.
                self.full = false;
                std::mem::swap(&mut self.running, &mut self.prefilled);
            } else {
                self.running.append(&mut self.prefilled);
            }
        }
    }

    /// Builds a prefill; says whether it admitted anything.
    fn prefill(&mut self) -> Result<bool, AdmissionError> {
        if self.running.is_empty() || self.pool.window().is_some() {
            self.full = false;
        }
        if self.chunked.is_none() {
            if self.full || self.waiting.is_empty() {
                return Ok(false);
            }
            if self.slots(0, false) == 0 {
                self.full = true;
                return Ok(false);
            }
        }
        self.refresh_waiting();
        let settings = self.settings;
        let decoding = if settings.mixed { self.running.len() } else { 0 };
        let offset = self.running_offset();
        let mut ledger =
            Ledger::new(settings, self.pool.window(), self.chunk_size(), decoding as i64, offset);
        if self.clamp.is_some() {
            ledger.keep_a_page();
        }
        self.open_pass(&ledger);
        let mut batch: Vec<Seat> = Vec::new();
        self.resume_chunk(&mut ledger, decoding, &mut batch)?;
        let parked = self.chunked.is_some() && ledger.admitted() == 0;
        self.admit_waiting(&mut ledger, &mut batch, parked);
        self.close_pass(&ledger);
        self.built = true;
        if ledger.admitted() == 0 {
            return Ok(false);
        }
        self.run_prefill(batch)?;
        self.pass.full = self.full;
        Ok(true)
    }

    /// Requests that may join `admitted` others. A cut prompt that has to wait keeps its slot.
    fn slots(&self, admitted: usize, parked: bool) -> usize {
        let taken = self.running.len() + admitted + usize::from(parked);
        self.settings.max_running.map_or(usize::MAX, |most| most.saturating_sub(taken))
    }

    fn refresh_waiting(&mut self) {
        if !self.pool.caches() || self.waiting.is_empty() {
            return;
        }
        if self.refreshes.is_multiple_of(REFRESH_INTERVAL) {
            let refreshed = self.waiting.len().min(REFRESHED);
            for request in self.waiting.range(..refreshed).rev() {
                self.pool.touch(request);
            }
        }
        self.refreshes += 1;
    }

    fn chunk_size(&self) -> Option<i64> {
        let fixed = self.settings.chunk;
        let (Some(seat), Some(sizer)) = (&self.chunked, self.sizer) else {
            return fixed;
        };
        let sized = u64::try_from(seat.prefix).ok().and_then(sizer);
        sized.and_then(|chunk| i64::try_from(chunk).ok()).or(fixed)
    }

    /// KV that running requests may still take. Summed in their order: it is a double.
    fn running_offset(&self) -> f64 {
        self.running.iter().fold(0.0, |sum, seat| {
            let left = (seat.request.max_new - seat.output).min(CLIP_MAX_NEW) as f64;
            sum + left * if seat.request.ignore_eos { 1.0 } else { self.ratio }
        })
    }

    fn open_pass(&mut self, ledger: &Ledger<'_>) {
        let pass = &mut self.pass;
        pass.step = self.step;
        pass.running = self.running.len();
        pass.waiting = self.waiting.len();
        pass.pool = self.pool.room().full;
        pass.run_offset = ledger.total_offset();
        pass.ratio = self.ratio;
        pass.chunk_before = ledger.chunk();
        pass.input_before = ledger.input();
        pass.events.clear();
        pass.decode_rows = 0;
        pass.running_lengths.clear();
        if !self.pool.caches() {
            let lengths = |s: &Seat| [s.request.prompt, s.output, s.request.max_new];
            pass.running_lengths.extend(self.running.iter().map(lengths));
        }
    }

    fn close_pass(&mut self, ledger: &Ledger<'_>) {
        let pass = &mut self.pass;
        pass.chunk_after = ledger.chunk();
        pass.input_after = ledger.input();
        pass.total_offset = ledger.total_offset();
        pass.current_offset = ledger.current_offset();
        pass.rows = ledger.rows();
        pass.full = self.full;
    }

    /// The plugin's limit of a request with `left` tokens to run behind `prefix`, with `others`
    /// waiting.
    fn limit(&self, prefix: i64, left: i64, others: usize, known_end: bool) -> Option<Clamp<'a>> {
        let (table, sizer) = (self.clamp?, self.sizer);
        Some(Clamp { table, sizer, prefix, left, alone: others == 0, known_end })
    }

    /// Goes on with the cut prompt.
    fn resume_chunk(
        &mut self,
        ledger: &mut Ledger<'_>,
        decoding: usize,
        batch: &mut Vec<Seat>,
    ) -> Result<(), AdmissionError> {
        let Some(mut seat) = self.chunked.take() else {
            return Ok(());
        };
        let room = self.pool.room();
        if let Some(limit) = self.limit(seat.prefix, seat.left(), self.waiting.len(), false) {
            ledger.end_well(&limit);
        }
        let resumed = ledger.resume(seat.left(), seat.request.max_new, room);
        if resumed.is_none() && self.pool.window().is_none() {
            return Err(AdmissionError::NoChunk { step: self.step, decoding });
        }
        let Admission { extend, chunked } =
            resumed.unwrap_or(Admission { extend: 0, chunked: true });
        seat.end = seat.prefix + extend;
        self.pass.events.push(Event {
            kind: Kind::Chunk,
            id: seat.request.id,
            prefix: seat.prefix,
            extend,
            chunked,
            rem_chunk: ledger.chunk(),
        });
        if chunked {
            self.chunked = Some(seat);
        } else {
            batch.push(seat);
        }
        Ok(())
    }

    /// Admits waiting requests until one is refused or a budget is spent.
    fn admit_waiting(&mut self, ledger: &mut Ledger<'_>, batch: &mut Vec<Seat>, parked: bool) {
        while let Some(request) = self.waiting.front() {
            if ledger.state(self.pool.room()) == Verdict::Other {
                break;
            }
            if self.slots(ledger.admitted(), parked) == 0 {
                self.full = true;
            }
            if self.full {
                break;
            }
            let id = request.id;
            let cached = self.pool.matched(request);
            let host = self.pool.host_hit(request, cached);
            let known_end = request.ignore_eos && !self.pool.caches();
            let (left, others) = (request.tokens() - cached - host, self.waiting.len() - 1);
            let clamp = self.limit(cached + host, left, others, known_end);
            let ratio = self.ratio;
            let tried = ledger.under(clamp, |ledger| {
                if known_end {
                    let others = self.running.iter().chain(&self.chunked).chain(batch.iter());
                    let others = others.map(|seat| seat.to_known_end(ratio));
                    Ok((ledger.admit_to_known_end(request, self.pool.room(), others)?, 0))
                } else {
                    let room = self.pool.room_beside(id, cached);
                    let load = |tokens| self.pool.load(id, cached, tokens);
                    ledger.admit(request, (cached, host), room, load)
                }
            });
            let mut event = Event {
                kind: Kind::New(Verdict::Continue),
                id,
                prefix: cached,
                extend: 0,
                chunked: false,
                rem_chunk: None,
            };
            let verdict = match tried {
                Ok((Admission { extend, chunked }, loaded)) => {
                    let prefix = cached + loaded;
                    self.pool.lock(id, prefix);
                    (event.prefix, event.extend, event.chunked) = (prefix, extend, chunked);
                    if let Some(request) = self.waiting.pop_front() {
                        batch.push(Seat::new(request, prefix, prefix + extend));
                    }
                    ledger.state(self.pool.room())
                }
                Err(verdict) => verdict,
            };
            event.kind = Kind::New(verdict);
            event.rem_chunk = ledger.chunk();
            self.pass.events.push(event);
            match verdict {
                Verdict::Continue => continue,
                Verdict::NoToken => {
                    self.full = ledger.admitted() > 0 || !self.running.is_empty();
                }
                Verdict::Other => {}
            }
            break;
        }
    }

    /// Runs a prefill: takes its KV, lets decode rows join where they may, and ends it.
    fn run_prefill(&mut self, mut batch: Vec<Seat>) -> Result<(), AdmissionError> {
        self.pool.grow(self.chunked.iter_mut().chain(&mut batch))?;
        let is_cut = |seat: &Seat| seat.end < seat.request.tokens();
        if let Some(at) = batch.iter().position(is_cut) {
            let cut = batch.remove(at);
            if self.chunked.is_some() || batch.iter().any(is_cut) {
                return Err(AdmissionError::TwoCuts { step: self.step });
            }
            self.chunked = Some(cut);
        }
        // A cut prompt leaves the batch when the next step begins.
        self.left = self.chunked.is_some();
        let mut decoding = Vec::new();
        if self.settings.mixed && !self.running.is_empty() && self.decode_fits() {
            decoding = std::mem::take(&mut self.running);
            self.pool.grow_by_one(&mut decoding)?;
            self.pass.decode_rows = decoding.len();
        }
        for mut seat in batch {
            let end = seat.end;
            if seat.emit() {
                self.pool.release(seat);
                self.left = true;
            } else {
                self.pool.checkpoint(&mut seat, end);
                seat.prefix = end;
                self.prefilled.push(seat);
            }
        }
        self.emit(&mut decoding);
        self.prefilled.append(&mut decoding);
        Ok(())
    }
}
