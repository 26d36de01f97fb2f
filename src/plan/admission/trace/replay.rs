//! Replays a trace through the scheduling loop and counts what the batches look like.
//!
//! In go requests in the order of their arrival and the settings of a server; out come passes with
//! their rows M, and sums: how often M is a multiple of each `BLOCK_SIZE_M`, how many charged tokens
//! ran no row, what the measured kernels would take. Without a clock the queue never runs empty, so
//! that every pass is as full as it can be; with one, requests arrive when the trace says.

use std::collections::VecDeque;

use serde::Serialize;

use super::super::{
    AdmissionError, ChunkTable, Event, Pass, Pool, Request, Scheduler, Settings, Sizer, Step,
};
use super::cost::PassCost;
use super::{TraceError, TraceRequest};

/// A pool that never fills: 2^50 tokens, exact in a double.
const ENDLESS: i64 = 1 << 50;
/// Share by which two buckets of the distribution of times differ.
const BUCKET: f64 = 1.005;

/// The time that steps take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Milliseconds of a decode step, constant and per running request.
    pub decode_ms: (f64, f64),
    /// Milliseconds of a prefill, constant and per row; none takes the measured kernels of the
    /// first profile in every layer.
    pub prefill_ms: Option<(f64, f64)>,
}

/// How to replay.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The server.
    pub settings: &'a Settings,
    /// KV pool, tokens; none never fills, and then requests leave after their first token.
    pub kv: Option<i64>,
    /// Sizer for chunks that go on.
    pub sizer: Option<Sizer<'a>>,
    /// Chunks by prefix to which the plugin clamps admission.
    pub clamp: Option<&'a ChunkTable>,
    /// Clock; none keeps the queue full.
    pub clock: Option<Clock>,
    /// Tile rows to count.
    pub blocks: &'a [i64],
    /// What measured kernels take, by profile.
    pub costs: &'a [PassCost],
}

/// Why a replay ended.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// The trace.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The scheduler.
    #[error(transparent)]
    Admission(#[from] AdmissionError),
    /// A request that no pass can take.
    #[error(
        "the request of line {line} ({prompt} prompt and {output} output tokens) can never be \
         admitted with this page, chunk and KV pool"
    )]
    Stuck {
        /// Line of the trace.
        line: u64,
        /// Prompt, tokens.
        prompt: i64,
        /// Output, tokens.
        output: i64,
    },
}

/// One pass, for those who want each.
#[derive(Clone, Debug, PartialEq)]
pub struct PassRow<'a> {
    /// Number, from 0.
    pub number: u64,
    /// Milliseconds at which it starts; only with a clock.
    pub start_ms: Option<f64>,
    /// Requests in it.
    pub requests: usize,
    /// Rows of the batch: prompt rows and decode rows.
    pub m: i64,
    /// Charged tokens that ran no row.
    pub leaked: i64,
    /// Microseconds that measured kernels take, by profile.
    pub kernels_us: &'a [f64],
}

/// What a replay came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Requests.
    pub requests: u64,
    /// Prompt tokens.
    pub prompt: i64,
    /// Of them cached.
    pub cached: i64,
    /// Prompt rows that ran.
    pub rows: i64,
    /// Passes that ran.
    pub passes: u64,
    /// Passes whose M is a multiple of each block asked for.
    pub even: Vec<u64>,
    /// Charged tokens that ran no row.
    pub leaked: i64,
    /// Decode steps.
    pub decodes: u64,
    /// Requests that gave up their KV to others, and ran what they had again.
    pub retracted: u64,
    /// Milliseconds that measured kernels take over all passes, by profile.
    pub kernels_ms: Vec<f64>,
    /// Milliseconds from arrival to first token: median, 90th and 99th percentile, largest. Only
    /// with a clock.
    pub ttft_ms: Option<[f64; 4]>,
}

/// Arrivals of requests that have not had their first token.
#[derive(Default)]
struct Pending {
    first: usize,
    queue: VecDeque<Option<TraceRequest>>,
}

impl Pending {
    fn push(&mut self, request: TraceRequest) {
        self.queue.push_back(Some(request));
    }

    fn take(&mut self, id: usize) -> Option<TraceRequest> {
        let found = self.queue.get_mut(id.checked_sub(self.first)?)?.take();
        while matches!(self.queue.front(), Some(None)) {
            self.queue.pop_front();
            self.first += 1;
        }
        found
    }
}

/// Times by size, without keeping them.
#[derive(Default)]
struct Distribution {
    counts: Vec<u64>,
    total: u64,
    largest: f64,
}

impl Distribution {
    fn add(&mut self, ms: f64) {
        let bucket = (ms.max(0.0) + 1.0).log(BUCKET) as usize;
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
        self.largest = self.largest.max(ms);
    }

    fn quantile(&self, share: f64) -> f64 {
        let wanted = (self.total as f64 * share).ceil() as u64;
        let mut seen = 0;
        let reached = |count: &u64| {
            seen += count;
            seen >= wanted
        };
        let bucket = self.counts.iter().position(reached).unwrap_or(0);
        (BUCKET.powi(bucket as i32) - 1.0).min(self.largest)
    }
}

/// Replays a trace. `on_pass` sees each pass that ran.
///
/// # Errors
/// A line of the trace, a request that never fits, a pool that overflows, or what `on_pass` returns.
pub fn replay<E: From<ReplayError>>(
    trace: impl Iterator<Item = Result<TraceRequest, TraceError>>,
    options: &Options<'_>,
    mut on_pass: impl FnMut(&PassRow<'_>) -> Result<(), E>,
) -> Result<Summary, E> {
    let settings = options.settings;
    let pool = Pool::with_given_prefixes(options.kv.unwrap_or(ENDLESS), settings.page);
    let mut scheduler = Scheduler::new(settings, pool, options.sizer);
    scheduler.clamp(options.clamp);
    let window = window(settings);
    let mut trace = trace.peekable();
    let mut summary = Summary { even: vec![0; options.blocks.len()], ..Summary::default() };
    summary.kernels_ms = vec![0.0; options.costs.len()];
    let (mut pending, mut times) = (Pending::default(), Distribution::default());
    let (mut now, mut kernels_us) = (0.0, vec![0.0; options.costs.len()]);
    loop {
        while scheduler.waiting() < window || options.clock.is_some() {
            let due = |next: &Result<TraceRequest, _>| match next {
                Ok(next) => options.clock.is_none() || next.arrival_ms <= now,
                Err(_) => true,
            };
            let Some(next) = trace.next_if(due) else { break };
            let next = next.map_err(ReplayError::from)?;
            summary.requests += 1;
            summary.prompt += next.prompt;
            summary.cached += next.cached.min(next.prompt - 1) / settings.page * settings.page;
            scheduler.push(Request {
                id: pending.first + pending.queue.len(),
                prompt: next.prompt,
                max_new: if options.kv.is_some() { next.output } else { 1 },
                ignore_eos: true,
                cached: next.cached,
                host: 0,
                emitted: 0,
            });
            pending.push(next);
        }
        match scheduler.step().map_err(ReplayError::from)? {
            Step::Prefill => {
                let Some(pass) = scheduler.pass() else { continue };
                let m = pass.rows + pass.decode_rows as i64;
                let leaked = charged(pass) - pass.rows;
                for (time, cost) in kernels_us.iter_mut().zip(options.costs) {
                    *time = cost.time_us(m, runs(pass));
                }
                on_pass(&PassRow {
                    number: summary.passes,
                    start_ms: options.clock.map(|_| now),
                    requests: runs(pass).count(),
                    m,
                    leaked,
                    kernels_us: &kernels_us,
                })?;
                summary.passes += 1;
                summary.rows += pass.rows;
                summary.leaked += leaked;
                for (hits, block) in summary.even.iter_mut().zip(options.blocks) {
                    *hits += u64::from(m % block == 0);
                }
                for (sum, (time, cost)) in
                    summary.kernels_ms.iter_mut().zip(kernels_us.iter().zip(options.costs))
                {
                    *sum += time * cost.layers() / 1e3;
                }
                if let Some(clock) = options.clock {
                    now += match clock.prefill_ms {
                        Some((fixed, per_row)) => fixed + per_row * m as f64,
                        None => options
                            .costs
                            .first()
                            .map_or(0.0, |cost| kernels_us[0] * cost.layers() / 1e3),
                    };
                }
                for event in pass.events.iter().filter(|e| e.extend > 0 && !e.chunked) {
                    if let Some(request) = pending.take(event.id)
                        && options.clock.is_some()
                    {
                        times.add(now - request.arrival_ms);
                    }
                }
            }
            Step::Decode { rows } => {
                summary.decodes += 1;
                if let Some(Clock { decode_ms: (fixed, per_request), .. }) = options.clock {
                    now += fixed + per_request * rows as f64;
                }
            }
            Step::Idle => {
                if let Some(request) = scheduler.next_waiting() {
                    let line = pending.take(request.id).map_or(0, |request| request.line);
                    let (prompt, output) = (request.prompt, request.max_new);
                    return Err(ReplayError::Stuck { line, prompt, output }.into());
                }
                match trace.peek() {
                    None => break,
                    Some(Ok(next)) => now = f64::max(now, next.arrival_ms),
                    Some(Err(_)) => {}
                }
            }
        }
    }
    summary.retracted = scheduler.retracted();
    if options.clock.is_some() && times.total > 0 {
        let at = |share| times.quantile(share);
        summary.ttft_ms = Some([at(0.5), at(0.9), at(0.99), times.largest]);
    }
    Ok(summary)
}

/// Requests that must wait for a pass to find all that it can take.
fn window(settings: &Settings) -> usize {
    let budget = settings.chunk.unwrap_or(settings.max_prefill);
    let least = if settings.exact_fill { 1 } else { settings.page };
    usize::try_from(budget / least + 2).unwrap_or(usize::MAX)
}

/// Tokens that a pass took from its chunk budget, or without chunks from `max_prefill_tokens`.
fn charged(pass: &Pass) -> i64 {
    match (pass.chunk_before, pass.chunk_after) {
        (Some(before), Some(after)) => before - after,
        _ => pass.input_before - pass.input_after,
    }
}

/// Rows and prefix of each request in a pass.
fn runs(pass: &Pass) -> impl Iterator<Item = (i64, i64)> + Clone {
    let ran = |event: &&Event| event.extend > 0;
    pass.events.iter().filter(ran).map(|event| (event.extend, event.prefix))
}
