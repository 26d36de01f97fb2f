//! `sizer.json`, schema `chunktune/sizer/v1`: what the SGLang plugin reads.
//!
//! In goes a plan; out comes a flat file of tokens and bytes. `schemas/sizer-v1.schema.json`
//! describes it for other readers and `tests/golden/sizer.json` is an example that both the Rust
//! and the Python tests use. Readers ignore unknown fields and refuse another schema.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::files::{self, FileError};
use crate::plan::{ExactFill, Plan, Status, chunk_at};
use crate::profile::{Engine, Provenance};
use crate::sglang::Release;

/// Schema of `sizer.json`.
pub const SIZER_SCHEMA: &str = "chunktune/sizer/v1";
/// Name of the file in an output directory.
pub const SIZER_FILE: &str = "sizer.json";

/// A plan as the plugin reads it. Integers are tokens or bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sizer {
    /// [`SIZER_SCHEMA`].
    pub schema: String,
    /// Whether the deployed engine's memory was observed.
    pub status: Status,
    /// Architecture, such as `gfx950`; empty for observations alone.
    pub arch: String,
    /// Where the figures come from.
    pub engine: Engine,
    /// Model.
    pub model: String,
    /// SGLang version that the settings are for.
    pub sglang: String,
    /// Memory path that decided.
    pub memory_path: String,
    /// Tensor parallel ranks.
    pub tp: u32,
    /// Data parallel attention groups.
    pub dp: u32,
    /// Context parallel ranks.
    pub cp: u32,
    /// Tokens per indexer key.
    pub ratio: u32,
    /// KV page, tokens.
    pub page_size: u64,
    /// Every chunk is a multiple of this, tokens.
    pub align: u64,
    /// Smallest chunk, tokens.
    pub chunk_min: u64,
    /// Largest chunk, tokens.
    pub chunk_max: u64,
    /// First chunk of a request, tokens per rank.
    pub static_chunk: u64,
    /// Largest prefix that can be served, tokens.
    pub max_context: u64,
    /// Longest request that is served, tokens; absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_length: Option<u64>,
    /// `[prefix_from, chunk]`, ascending, first 0, half-open.
    pub table: Vec<(u64, u64)>,
    /// The largest chunk that fits, in the same form; empty where the table is that. A chunk that
    /// ends a prompt may be as long.
    #[serde(default)]
    pub frontier: Vec<(u64, u64)>,
    /// A last chunk shorter than this share of the one before it is merged or balanced; 0 for never.
    #[serde(default)]
    pub tail_fraction: f64,
    /// `BUDGET` at the most likely `c`, token^2; null where memory does not grow with `T*keys`.
    pub budget_point: Option<u64>,
    /// `BUDGET` at the one-sided 95% bound, token^2.
    pub budget_95: Option<u64>,
    /// Bytes per (row, key).
    pub c_point: f64,
    /// The same at the 95% bound.
    pub c_95: f64,
    /// Bytes that every chunk takes.
    pub m0_bytes: u64,
    /// `free - guard - margin`, bytes.
    pub usable_bytes: u64,
    /// Byte budgets to set in the engine, by symbol.
    pub score_budgets: BTreeMap<String, u64>,
    /// Exact fill.
    pub exact_fill: ExactFill,
    /// Hash of the profile, or of the observations where nothing else was used.
    pub profile_sha256: String,
}

impl Sizer {
    /// The sizer of a plan.
    pub fn new(plan: &Plan, provenance: &Provenance, sglang: &str) -> Self {
        let range = plan.schedule.range;
        Self {
            schema: SIZER_SCHEMA.to_owned(),
            status: plan.status,
            arch: provenance.arch.clone(),
            engine: provenance.engine,
            model: provenance.model.clone(),
            sglang: sglang.to_owned(),
            memory_path: plan.memory_path.clone(),
            tp: plan.layout.tp,
            dp: plan.layout.dp,
            cp: plan.layout.cp,
            ratio: plan.ratio,
            page_size: plan.page_size,
            align: range.align,
            chunk_min: range.min,
            chunk_max: range.max,
            static_chunk: plan.static_chunk,
            max_context: plan.schedule.max_context,
            context_length: Some(plan.schedule.longest_request(plan.page_size)),
            table: plan.schedule.table.clone(),
            frontier: plan.schedule.frontier.clone(),
            tail_fraction: plan.schedule.tail_fraction,
            budget_point: plan.budget.budget_point,
            budget_95: plan.budget.budget_95,
            c_point: plan.budget.c_point,
            c_95: plan.budget.c_95,
            m0_bytes: plan.budget.m0_bytes,
            usable_bytes: plan.budget.usable_bytes,
            score_budgets: plan.score_budgets.clone(),
            exact_fill: plan.alignment.exact_fill.clone(),
            profile_sha256: provenance.profile_sha256.clone(),
        }
    }

    /// Writes the sizer for a release. Where that gives the model a page of its own, and the plan's
    /// chunks are whole pages of it too, the page is that one.
    pub fn settle(&mut self, release: &Release<'_>) {
        self.sglang = release.version.to_string();
        match release.page_of(&self.model) {
            Some(page) if page > 0 && self.align.is_multiple_of(page) => self.page_size = page,
            _ => {}
        }
        let by_memory = self.last_page();
        self.context_length = self.context_length.map(|end| end.min(by_memory));
    }

    /// The chunk for a prefix; none past `max_context`.
    pub fn predict(&self, prefix: u64) -> Option<u64> {
        if prefix > self.max_context {
            return None;
        }
        chunk_at(&self.table, prefix)
    }

    /// Longest request that is served, tokens.
    pub fn longest_request(&self) -> u64 {
        self.context_length.unwrap_or(self.last_page())
    }

    /// End of the page that holds the largest prefix.
    fn last_page(&self) -> u64 {
        let page = self.page_size.max(1);
        (self.max_context / page).saturating_add(1).saturating_mul(page)
    }

    /// Writes `sizer.json` into `dir`.
    ///
    /// # Errors
    /// Whatever the file system answers, with the path.
    pub fn write(&self, dir: &Path) -> Result<(), FileError> {
        files::write_json(&dir.join(SIZER_FILE), self)
    }

    /// Reads and checks a sizer.
    ///
    /// # Errors
    /// A missing or malformed file, another schema, or figures that contradict each other.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let sizer: Self = files::read_json(path, SIZER_SCHEMA)?;
        sizer.check(path)?;
        Ok(sizer)
    }

    /// Checks what a reader relies on.
    fn check(&self, path: &Path) -> Result<(), FileError> {
        let wrong = |field: &str, expected: &str, found: String| {
            Err(FileError::field(path, field, expected, found))
        };
        if self.page_size == 0 || self.align == 0 || !self.align.is_multiple_of(self.page_size) {
            return wrong("align", "a multiple of page_size", self.align.to_string());
        }
        if self.chunk_min == 0 || self.chunk_min > self.chunk_max {
            return wrong("chunk_min", "between 1 and chunk_max", self.chunk_min.to_string());
        }
        if let Some(end) = self.context_length.filter(|end| *end < self.max_context) {
            return wrong("context_length", "at least max_context", end.to_string());
        }
        let in_range =
            |c: u64| (self.chunk_min..=self.chunk_max).contains(&c) && c.is_multiple_of(self.align);
        let tables = [("table", &self.table), ("frontier", &self.frontier)];
        // A file of an older version has no frontier.
        for (name, table) in
            tables.into_iter().filter(|(name, t)| *name == "table" || !t.is_empty())
        {
            if table.first().map(|(from, _)| *from) != Some(0) {
                let found = format!("{:?}", table.first());
                return wrong(name, "a first entry at prefix 0", found);
            }
            if let Some(pair) = table.windows(2).find(|w| w[0].0 >= w[1].0) {
                return wrong(name, "ascending prefixes", format!("{pair:?}"));
            }
            if let Some(entry) = table.iter().find(|(_, chunk)| !in_range(*chunk)) {
                let expected = "chunks between chunk_min and chunk_max, multiples of align";
                return wrong(name, expected, format!("{entry:?}"));
            }
        }
        if !(0.0..=1.0).contains(&self.tail_fraction) {
            return wrong("tail_fraction", "from 0 to 1", self.tail_fraction.to_string());
        }
        for (field, value) in [("c_point", self.c_point), ("c_95", self.c_95)] {
            if !(value.is_finite() && value >= 0.0) {
                return wrong(field, "a finite number of at least 0", value.to_string());
            }
        }
        Ok(())
    }
}
