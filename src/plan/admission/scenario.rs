//! Scenarios: a server and requests that all wait at the start, in the format in which decisions of
//! SGLang's own scheduler were recorded ([`super::oracle`]).
//!
//! In goes a JSON file; out come replays, pass by pass, in the form of the recorded ones. What a
//! scenario asks for that was never recorded is refused, not guessed.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

pub use super::recorded_form::PASS_FIELDS;
use super::recorded_form::row;
pub use super::scenario_error::ScenarioError;
use super::scenario_error::{MAX_PASSES, MAX_STEPS};
use super::{ChunkTable, Pool, Request, Scheduler, Settings, Step, TileLimit, Window};
use crate::plan::baselines::sglang::{DynamicChunkSizer, Quadratic, SMOOTH};

/// Largest count of tokens in a file: keeps all sums far from overflow.
pub const MAX_TOKENS: i64 = 1 << 40;

/// A file of scenarios.
#[derive(Clone, Debug, Deserialize)]
pub struct Scenarios {
    /// Coefficients of the sizers and other facts about the recording.
    #[serde(default)]
    pub meta: Meta,
    /// Prompt lengths and cached prefixes by name.
    #[serde(default)]
    pub prompt_sets: BTreeMap<String, Vec<i64>>,
    /// The scenarios.
    pub scenarios: Vec<Scenario>,
}

/// Facts about a recording.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Meta {
    /// `a, b, c` of each sizer by name: milliseconds per token^2, per token, and constant.
    #[serde(default)]
    pub coef: BTreeMap<String, [f64; 3]>,
    /// Smoothing factor of the sizers.
    pub smooth_factor: Option<f64>,
}

/// Lengths by name or in line.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Lengths {
    Named(String),
    Listed(Vec<i64>),
}

/// One length for all requests, or one each.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum PerRequest {
    All(i64),
    Each(Vec<i64>),
}

/// One scenario.
#[derive(Clone, Debug, Deserialize)]
pub struct Scenario {
    /// Number.
    pub id: i64,
    /// Family.
    #[serde(default)]
    pub fam: String,
    #[serde(default, rename = "mix")]
    _mix: Value,
    exact: u8,
    page: i64,
    chunk: Option<i64>,
    max_prefill: i64,
    prompts: Lengths,
    hits: Option<Lengths>,
    hits_not_preloaded: Option<usize>,
    /// Tokens behind each cached prefix that only the host holds.
    host: Option<Lengths>,
    max_new: PerRequest,
    #[serde(default)]
    ignore_eos: u8,
    #[serde(default = "one")]
    radix: u8,
    #[serde(default)]
    mixed: u8,
    pmr: Option<usize>,
    kv: i64,
    sizer: Option<String>,
    context_len: Option<u64>,
    max_running: Option<usize>,
    align: Option<i64>,
    tile: Option<Tile>,
    #[serde(default)]
    replay: u8,
    swa: Option<SlidingWindow>,
    /// Table of the plugin, which sizes chunks and clamps admission.
    clamp: Option<ChunkTable>,
    /// Recorded steps of the loop.
    pub steps: Option<u64>,
    /// Whether a request could never be admitted.
    pub stuck: Option<u8>,
    /// Recorded passes.
    pub passes: Option<Vec<Vec<Value>>>,
    /// Whatever else it asks for.
    #[serde(flatten)]
    other: BTreeMap<String, Value>,
}

/// `SGLANG_PREFILL_TILE_BUDGET` and what goes with it.
#[derive(Clone, Debug, Deserialize)]
struct Tile {
    budget: i64,
    mode: TileMode,
    block_m: i64,
}

/// `SGLANG_PREFILL_TILE_BUDGET_MODE`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TileMode {
    Compact,
    Legacy,
}

/// Sliding-window KV: window, size of its pool and, where it is a ring for each request, its length.
#[derive(Clone, Debug, Deserialize)]
struct SlidingWindow {
    window: i64,
    size: i64,
    ring: Option<i64>,
}

fn one() -> u8 {
    1
}

/// How a scenario went.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// One entry a pass, fields as in [`PASS_FIELDS`].
    pub passes: Vec<Vec<Value>>,
    /// Steps of the loop.
    pub steps: u64,
    /// Whether requests wait that can never be admitted.
    pub stuck: bool,
}

impl Scenario {
    /// Runs it.
    ///
    /// # Errors
    /// A figure out of range, a path without recording, or an end that the model does not know.
    pub fn replay(&self, file: &Scenarios) -> Result<Replay, ScenarioError> {
        self.refuse_unknown()?;
        let settings = self.settings()?;
        let requests = self.requests(file)?;
        if self.least_passes(&requests) > MAX_PASSES as i64 {
            return Err(ScenarioError::Long);
        }
        let pool = self.pool(file, requests.len())?;
        let dynamic = self.sizer(file, &settings)?;
        let table = self.clamp.as_ref();
        let table = table.map(|table| table.on(&settings, dynamic.is_some()));
        let table = table.transpose()?.flatten();
        let clamp = |prefix: u64| table.as_ref().map(|table| table.chunk(prefix));
        let size = |prefix: u64| {
            let own = dynamic.as_ref().and_then(|sizer| sizer.predict(prefix));
            own.into_iter().chain(clamp(prefix)).min()
        };
        let mut scheduler = Scheduler::new(&settings, pool, Some(&size));
        scheduler.clamp(table.as_ref());
        requests.into_iter().for_each(|request| scheduler.push(request));
        let with_running = self.radix == 0 && self.ignore_eos == 1;
        let mut passes = Vec::new();
        loop {
            let step = scheduler.step()?;
            if let Some(pass) = scheduler.pass() {
                passes.push(row(pass, with_running));
            }
            if step == Step::Idle {
                break;
            }
            if passes.len() > MAX_PASSES {
                return Err(ScenarioError::Long);
            }
            if scheduler.steps() > MAX_STEPS {
                return Err(ScenarioError::Endless);
            }
        }
        Ok(Replay { passes, steps: scheduler.steps(), stuck: scheduler.waiting() > 0 })
    }

    fn refuse_unknown(&self) -> Result<(), ScenarioError> {
        let asked = |value: &Value| !matches!(value.as_f64(), Some(0.0)) && !value.is_null();
        match self.other.iter().find(|(_, value)| asked(value) && **value != Value::Bool(false)) {
            None => Ok(()),
            Some((field, value)) => {
                Err(ScenarioError::NotRecorded { field: field.clone(), value: value.to_string() })
            }
        }
    }

    fn settings(&self) -> Result<Settings, ScenarioError> {
        within("page", self.page, 1, MAX_TOKENS)?;
        within("max_prefill", self.max_prefill, 1, MAX_TOKENS)?;
        within("kv", self.kv, self.page, MAX_TOKENS)?;
        if let Some(chunk) = self.chunk {
            within("chunk", chunk, 1, MAX_TOKENS)?;
            if chunk < self.page {
                return Err(ScenarioError::ChunkBelowPage { chunk, page: self.page });
            }
        }
        let flags = [
            ("exact", self.exact),
            ("ignore_eos", self.ignore_eos),
            ("radix", self.radix),
            ("mixed", self.mixed),
            ("replay", self.replay),
        ];
        for (field, flag) in flags {
            within(field, i64::from(flag), 0, 1)?;
        }
        if let Some(align) = self.align {
            within("align", align, 1, MAX_TOKENS)?;
        }
        if let Some(tile) = &self.tile {
            within("tile.budget", tile.budget, 0, MAX_TOKENS)?;
            within("tile.block_m", tile.block_m, 1, MAX_TOKENS)?;
        }
        Ok(Settings {
            page: self.page,
            chunk: self.chunk,
            max_prefill: self.max_prefill,
            exact_fill: self.exact == 1,
            mixed: self.mixed == 1,
            max_requests: self.pmr,
            max_running: self.max_running,
            cut_align: self.align,
            tiles: self.tile.as_ref().filter(|tile| tile.budget > 0).map(|tile| TileLimit {
                budget: tile.budget,
                block_m: tile.block_m,
                compact: tile.mode == TileMode::Compact,
            }),
            replay: self.replay == 1,
        })
    }

    fn requests(&self, file: &Scenarios) -> Result<Vec<Request>, ScenarioError> {
        let prompts = file.lengths(&self.prompts)?;
        let max_new = |id: usize| match &self.max_new {
            PerRequest::All(all) => *all,
            PerRequest::Each(each) => each.get(id).copied().unwrap_or_default(),
        };
        if let PerRequest::Each(each) = &self.max_new {
            counted("max_new", each.len(), prompts.len())?;
        }
        let request = |(id, &prompt): (usize, &i64)| {
            within("prompts", prompt, 1, MAX_TOKENS)?;
            within("max_new", max_new(id), 1, MAX_TOKENS)?;
            let ignore_eos = self.ignore_eos == 1;
            let max_new = max_new(id);
            let host = self.held(file, id)?;
            Ok(Request { id, prompt, max_new, ignore_eos, cached: 0, host, emitted: 0 })
        };
        prompts.iter().enumerate().map(request).collect()
    }

    /// Passes that there are at least: all rows of the prompts that the pool can hold, in full ones.
    fn least_passes(&self, requests: &[Request]) -> i64 {
        if self.hits.is_some() || self.host.is_some() {
            return 0;
        }
        let held = requests.iter().map(Request::tokens).filter(|tokens| *tokens <= self.kv);
        let rows = held.fold(0i64, i64::saturating_add);
        rows / self.chunk.unwrap_or(1).max(self.max_prefill).max(1)
    }

    /// The pool with the prefixes that are there at the start.
    fn pool(&self, file: &Scenarios, requests: usize) -> Result<Pool, ScenarioError> {
        let window = self.swa.as_ref().map(|swa| self.window(swa)).transpose()?;
        if self.radix == 0 {
            return Ok(match window {
                Some(window) => Pool::with_window(self.kv, self.page, window),
                None => Pool::without_cache(self.kv, self.page),
            });
        }
        let mut pool = match window {
            Some(window) => Pool::with_tree_and_window(self.kv, self.page, requests, window),
            None => Pool::with_tree(self.kv, self.page, requests),
        };
        if self.host.is_some() {
            pool = pool.with_host();
        }
        let Some(hits) = &self.hits else {
            return Ok(pool);
        };
        let hits = file.lengths(hits)?;
        counted("hits", hits.len(), requests)?;
        for &hit in hits {
            within("hits", hit, 0, MAX_TOKENS)?;
        }
        // The recording skipped prefixes that did not fit, in some families into four fifths of the
        // pool; it says how many it skipped.
        let skipped = self.hits_not_preloaded.unwrap_or_default();
        let caps = [self.kv, self.kv / 5 * 4 + self.kv % 5 * 4 / 5];
        let fits = |cap: &&i64| left_out(hits, **cap) == skipped;
        let cap = caps.iter().find(fits).copied().unwrap_or(self.kv);
        let mut used = 0;
        for (id, &hit) in hits.iter().enumerate() {
            if hit > 0 && used + hit <= cap && pool.preload(id, hit) {
                used += hit;
            }
        }
        Ok(pool)
    }

    /// Tokens of request `id` that the host holds, those on the device among them. Decisions were
    /// recorded beside a prefix cache without windows.
    fn held(&self, file: &Scenarios, id: usize) -> Result<i64, ScenarioError> {
        let Some(host) = &self.host else { return Ok(0) };
        if self.radix == 0 || self.swa.is_some() {
            let field = "host without radix, or with swa".to_owned();
            return Err(ScenarioError::NotRecorded { field, value: "1".to_owned() });
        }
        let host = file.lengths(host)?;
        let at = |lengths: &[i64]| lengths.get(id).copied().unwrap_or_default();
        counted("host", host.len(), file.lengths(&self.prompts)?.len())?;
        let device = self.hits.as_ref().map_or(Ok(0), |hits| file.lengths(hits).map(at))?;
        within("hits", device, 0, MAX_TOKENS)?;
        within("host", at(host), 0, MAX_TOKENS)?;
        Ok(if at(host) > 0 { device + at(host) } else { 0 })
    }

    /// Sliding-window KV. Decisions were recorded for pages without cached prefixes at the start, and
    /// for rings.
    fn window(&self, swa: &SlidingWindow) -> Result<Window, ScenarioError> {
        let refused = |field: &str, value: String| {
            Err(ScenarioError::NotRecorded { field: field.to_owned(), value })
        };
        within("swa.window", swa.window, 1, MAX_TOKENS)?;
        within("swa.size", swa.size, self.page, MAX_TOKENS)?;
        let (length, page) = (swa.window, self.page);
        let Some(ring) = swa.ring else {
            if self.radix == 1 && self.hits.is_some() {
                return refused("swa.ring null with hits", "1".to_owned());
            }
            return Ok(Window { length, page, size: swa.size, ring: None });
        };
        within("swa.ring", ring, 1, MAX_TOKENS)?;
        let Some(slots) = self.max_running else {
            return refused("swa.ring without max_running", ring.to_string());
        };
        let ring = (ring + page - 1) / page * page;
        let slots = i64::try_from(slots).unwrap_or(MAX_TOKENS);
        let size = slots.saturating_mul(ring).min(MAX_TOKENS);
        Ok(Window { length, page, size, ring: Some(ring) })
    }

    fn sizer(
        &self,
        file: &Scenarios,
        settings: &Settings,
    ) -> Result<Option<DynamicChunkSizer>, ScenarioError> {
        let (Some(name), Some(chunk)) = (&self.sizer, settings.chunk) else {
            return Ok(None);
        };
        let missing = || ScenarioError::NoSizer(name.clone());
        let [a, b, c] = *file.meta.coef.get(name).ok_or_else(missing)?;
        let model = Quadratic { a, b, c };
        let base = chunk.unsigned_abs();
        Ok(Some(DynamicChunkSizer {
            model,
            target_ms: model.target(base).map_err(|_| missing())?,
            chunked_prefill_size: base,
            max_prefill_tokens: Some(settings.max_prefill.unsigned_abs()),
            page_size: settings.page.unsigned_abs(),
            context_len: self.context_len.ok_or_else(missing)?,
            smooth: file.meta.smooth_factor.unwrap_or(SMOOTH),
        }))
    }
}

impl Scenarios {
    fn lengths<'a>(&'a self, lengths: &'a Lengths) -> Result<&'a [i64], ScenarioError> {
        match lengths {
            Lengths::Listed(listed) => Ok(listed),
            Lengths::Named(name) => match self.prompt_sets.get(name) {
                Some(listed) => Ok(listed),
                None => Err(ScenarioError::NoSet(name.clone())),
            },
        }
    }
}

/// Prefixes that are left out where each is loaded if it fits into `cap` beside those before it.
fn left_out(hits: &[i64], cap: i64) -> usize {
    let mut used = 0;
    let fits = |hit: &&i64| {
        let fits = used + **hit <= cap;
        used += if fits { **hit } else { 0 };
        !fits
    };
    hits.iter().filter(fits).count()
}

fn within(field: &'static str, value: i64, least: i64, most: i64) -> Result<(), ScenarioError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ScenarioError::Range { field, value, least, most })
}

fn counted(field: &'static str, found: usize, wanted: usize) -> Result<(), ScenarioError> {
    if found == wanted { Ok(()) } else { Err(ScenarioError::Count { field, found, wanted }) }
}
