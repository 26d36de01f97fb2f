//! From a fit to a plan: which memory path decides, `BUDGET`, the chunk for every prefix, the unit
//! of alignment and exact fill.
//!
//! In go a [`Fit`] and a [`Request`]; out comes a [`Plan`], or an error that says which limit
//! leaves nothing. Nothing is clamped silently: a prefix that cannot be served is past
//! `max_context`, and every choice has its reason in words.

pub mod admission;
pub mod baselines;
mod budget;
pub mod contest;
pub mod decision;
mod exact_fill;
pub mod first_chunk;
mod frontier;
mod given;
pub mod ledger;
mod observed;
pub mod optimise;
pub mod policy;
mod pool;
pub mod reach;
mod schedule;
mod table;
pub mod tail;
mod time;

use serde::{Deserialize, Serialize};

use crate::fit::Fit;
use crate::fit::memory::MemoryFit;
use crate::model::Layout;
use crate::options::ServerLimits;
use crate::units::Bytes;

pub use budget::{ASSUMED_FREE, Budget, UNVALIDATED_C, Usable};
pub use exact_fill::{AlignmentDecision, ExactFill, WORTH, decide};
pub use frontier::Frontier;
pub use given::{GIVEN, plan_of_budget};
pub use observed::{Chance, ObservedPlan, Situation, plans_of_observations};
pub use schedule::{ChunkRange, EndsBy, Schedule, chunk_at};
pub(crate) use table::lcm;
pub use time::ChunkTime;

use first_chunk::FirstChunk;
use policy::{PromptTime, Rule};
use pool::Pool;

/// Context taken where neither the model nor a flag says how long it is, tokens.
pub const DEFAULT_CONTEXT: u64 = 1 << 20;

/// What a plan is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Memory and chunk limits of the server.
    pub limits: ServerLimits,
    /// Free bytes that the device reported.
    pub device_free: Option<Bytes>,
    /// Parallel layout: `cp` divides the rows of a chunk, `dp` multiplies the emitted flag.
    pub layout: Layout,
    /// Longest context, tokens; none means [`DEFAULT_CONTEXT`] where memory does not end it.
    pub context_length: Option<u64>,
    /// Memory path to plan for; none means the deployed engine's observations, else the model's
    /// own path, else what SGLang runs by default.
    pub memory_path: Option<String>,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// A figure that must not be zero.
    #[error("{0} must be at least 1")]
    Zero(&'static str),
    /// No chunk length in the range.
    #[error("no multiple of {align} lies between --chunk-min {min} and --chunk-max {max}")]
    EmptyRange {
        /// Smallest chunk asked for.
        min: u64,
        /// Largest chunk asked for.
        max: u64,
        /// Alignment.
        align: u64,
    },
    /// A range that is too fine.
    #[error(
        "--chunk-min {min} to --chunk-max {max} in steps of {align} are more than {limit} lengths; \
         raise --page-size or narrow the range"
    )]
    TooManyLengths {
        /// Smallest chunk asked for.
        min: u64,
        /// Largest chunk asked for.
        max: u64,
        /// Alignment.
        align: u64,
        /// Most lengths.
        limit: u64,
    },
    /// A given budget that admits no chunk.
    #[error(
        "a BUDGET of {budget} token^2 admits no chunk: even {chunk_min} tokens without a prefix, \
         which score themselves, take {}; lower --chunk-min",
        chunk_min.saturating_mul(*chunk_min)
    )]
    BudgetTooSmall {
        /// Budget, token^2.
        budget: u64,
        /// Smallest chunk.
        chunk_min: u64,
    },
    /// A given budget that stands for more bytes than can be counted.
    #[error("a BUDGET of {budget} token^2 is larger than any memory")]
    BudgetTooLarge {
        /// Budget, token^2.
        budget: u64,
    },
    /// Nothing fits.
    #[error(
        "even a chunk of {chunk_min} tokens without a prefix does not fit into the usable memory; \
         free more memory, lower --guard or --margin, or lower --chunk-min"
    )]
    NothingFits {
        /// Smallest chunk.
        chunk_min: u64,
    },
    /// No block holds the scores.
    #[error(
        "the fp32 scores of even a chunk of {chunk_min} tokens without a prefix do not fit the \
         largest free block, {block}; free a larger one (expandable segments, fixed sizes), or \
         lower --chunk-min"
    )]
    BlockTooSmall {
        /// Smallest chunk.
        chunk_min: u64,
        /// Largest free block.
        block: Bytes,
    },
    /// Guard and margin take everything.
    #[error(
        "{free} free less guard {guard} and margin {margin} leaves nothing; \
         free more memory on the server, or lower --guard or --margin"
    )]
    NoMemory {
        /// Free bytes.
        free: Bytes,
        /// Guard.
        guard: Bytes,
        /// Margin.
        margin: Bytes,
    },
    /// The fixed part takes everything.
    #[error("the fixed part of the peak, {m0}, does not fit into the usable {usable}")]
    FixedTooLarge {
        /// Fixed bytes.
        m0: Bytes,
        /// Usable bytes.
        usable: Bytes,
    },
    /// No memory fit of that path.
    #[error("no memory was fitted for the path `{path}`; fitted are: {known}")]
    UnknownPath {
        /// Path asked for.
        path: String,
        /// Paths that have a fit.
        known: String,
    },
    /// No memory fit at all.
    #[error(
        "nothing says how much memory a chunk takes: the profile has no indexer point with a peak"
    )]
    NoMemoryFit,
}

/// How far a plan may be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Memory of the deployed engine was observed.
    Validated,
    /// Memory comes from our own pipelines alone.
    Unvalidated,
}

impl Status {
    /// The name used in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Status::Validated => "validated",
            Status::Unvalidated => "unvalidated",
        }
    }
}

/// What a schedule takes, as far as time is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimePlan {
    /// Time of a chunk.
    pub chunk: ChunkTime,
    /// How the table's chunks were chosen.
    pub rule: Rule,
    /// Predicted times of some prompts.
    pub prompts: Vec<PromptTime>,
    /// The first chunk with and without the admission hook.
    pub first_chunk: FirstChunk,
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// How far to trust it.
    pub status: Status,
    /// Memory path that decided.
    pub memory_path: String,
    /// Tokens per indexer key of that path.
    pub ratio: u32,
    /// Memory that a chunk may use.
    pub usable: Usable,
    /// `c` and `BUDGET`.
    pub budget: Budget,
    /// KV page, tokens.
    pub page_size: u64,
    /// Chunk for every prefix, at the 95% bound and at the end of the chunk.
    pub schedule: Schedule,
    /// The note's formula at `budget_95`, for comparison; none where there is no budget.
    pub formula: Option<Schedule>,
    /// Predicted times; none where nothing was timed.
    #[serde(default)]
    pub time: Option<TimePlan>,
    /// First chunk of a request, tokens.
    pub static_chunk: u64,
    /// Alignment and exact fill.
    pub alignment: AlignmentDecision,
    /// Byte budgets to set, by symbol.
    pub score_budgets: std::collections::BTreeMap<String, u64>,
    /// Tensor, data-parallel attention and context-parallel ranks.
    pub layout: Layout,
    /// Every choice and its reason.
    pub statements: Vec<String>,
}

/// Makes the plan.
///
/// # Errors
/// No memory fit, or limits that leave no chunk; the message says what to change.
pub fn plan(fit: &Fit, request: &Request) -> Result<Plan, PlanError> {
    let mut statements = Vec::new();
    let memory = choose_path(fit, request.memory_path.as_deref())?;
    let observed_on = memory.observed_on.as_deref().unwrap_or_default();
    let observed_here = memory.deployed && names_device(observed_on, &fit.arch);
    let status = if observed_here { Status::Validated } else { Status::Unvalidated };
    if memory.deployed && !observed_here {
        statements.push(format!(
            "The observations are of the device `{observed_on}`, which does not name {} or a \
             product with it: the plan stays unvalidated. Name the device in the column `device`.",
            fit.arch
        ));
    }
    let reported = memory.free_observed.filter(|_| memory.deployed).map(Bytes);
    let usable = Usable::new(&request.limits, request.device_free, reported);
    let rows = request.limits.chunk_max.0.div_ceil(u64::from(request.layout.cp.max(1)));
    let pool = Pool::within(memory, usable.bytes()?, rows);
    // Whether another engine's pool follows that setting is not known: what was observed stays.
    let capped = pool.filter(|_| !memory.deployed).map(|pool| pool.of(memory));
    let memory = capped.as_ref().unwrap_or(memory);
    let budget = Budget::new(memory, usable.bytes()?, observed_here)?
        .within_block(request.limits.largest_block, memory);
    if let Some(observed) = fit.observed().filter(|_| !memory.deployed) {
        statements.push(format!(
            "The peaks observed on `{}` are not used: the memory path `{}` was asked for.",
            observed.observed_on.as_deref().unwrap_or("an unnamed device"),
            memory.path
        ));
    }
    say_memory(&mut statements, memory, &usable, &budget);
    statements.extend(pool.filter(|_| !memory.deployed).and_then(Pool::sentence));

    let alignment = decide(&fit.alignment, &fit.arch);
    let page_size = request.limits.page_size.0;
    let cp = u64::from(request.layout.cp.max(1));
    let frontier = Frontier::new(memory, &budget, request.layout.cp);
    let chunk_time = ChunkTime::of_fit(fit, &memory.path, request.layout.cp);
    let (schedule, time) =
        match table::make(request, &frontier, &alignment, chunk_time, &mut statements) {
            Err(PlanError::NothingFits { chunk_min }) if !frontier.allocates(chunk_min, 0) => {
                let block = request.limits.largest_block.unwrap_or_default();
                return Err(PlanError::BlockTooSmall { chunk_min, block });
            }
            made => made?,
        };
    let range = schedule.range;
    let of_block = ledger::budget_of_block(request.limits.largest_block, memory.ratio);
    let formula = budget
        .budget_95
        .filter(|b| *b > 0)
        .map(|b| Schedule::of_budget(range, Some(table::context(request)), b.saturating_mul(cp)))
        .transpose()?;
    say_block(&mut statements, of_block, &budget, &request.limits);
    let static_chunk = schedule.table.first().map_or(range.min, |(_, chunk)| *chunk);
    table::say(&mut statements, &schedule, request, static_chunk, time.as_ref());
    Ok(Plan {
        status,
        memory_path: memory.path.clone(),
        ratio: memory.ratio,
        usable,
        score_budgets: pool.iter().map(Pool::setting).collect(),
        budget,
        page_size,
        schedule,
        formula,
        time,
        static_chunk,
        alignment,
        layout: request.layout,
        statements,
    })
}

/// Observations of the deployed engine outrank our pipelines; then the model's own fp8 path; then
/// what SGLang 0.5.23 runs on ROCm by default (`row_pooled`).
fn choose_path<'a>(fit: &'a Fit, wanted: Option<&str>) -> Result<&'a MemoryFit, PlanError> {
    if let Some(path) = wanted {
        return fit.memory_of(path).ok_or_else(|| PlanError::UnknownPath {
            path: path.to_owned(),
            known: fit.memory.iter().map(|m| m.path.as_str()).collect::<Vec<_>>().join(", "),
        });
    }
    fit.observed()
        .or_else(|| ["fp8", "row_pooled", "dense"].iter().find_map(|path| fit.memory_of(path)))
        .or(fit.memory.first())
        .ok_or(PlanError::NoMemoryFit)
}

/// Whether a label of observations names the architecture or a product that has it.
fn names_device(label: &str, arch: &str) -> bool {
    let products: &[&str] = match arch {
        "gfx942" => &["mi300x", "mi325x"],
        "gfx950" => &["mi350x", "mi355x"],
        _ => &[],
    };
    let label = label.to_lowercase();
    label.contains(arch) || products.iter().any(|p| label.contains(p))
}

fn say_memory(statements: &mut Vec<String>, memory: &MemoryFit, usable: &Usable, budget: &Budget) {
    statements.push(format!("The memory path `{}` decides ({}).", memory.path, memory.formula));
    if usable.observed {
        statements.push(format!(
            "Free memory is the least that the observations report, {}; --free-bytes says another.",
            usable.free
        ));
    }
    if usable.assumed {
        statements.push(format!(
            "Free memory is not known: {} was assumed. Give --free-bytes.",
            usable.free
        ));
    }
    if let (Some(floor), true) = (budget.floor, memory.deployed) {
        statements.push(format!(
            "The observations give c = {:.2} B, bound {:.2} B; no less than {floor} B is used until \
             peaks of this device are given.",
            budget.fitted_c_point, budget.fitted_c_95
        ));
    } else if let Some(floor) = budget.floor {
        statements.push(format!(
            "The fit gives c = {:.2} B for our own buffers; a deployed engine costs more, so \
             c = {floor} B is used until the engine's own peaks are given (--observations).",
            budget.fitted_c_95
        ));
    } else if !memory.deployed && !memory.grows() {
        statements.push(
            "Only our own buffers were measured; a deployed engine costs more. Its memory on this \
             path is bounded in T*L, but the bytes beside our buffers are not known."
                .to_owned(),
        );
    }
}

/// Says which of the two limits, the sum or the largest block, ends the frontier.
fn say_block(
    statements: &mut Vec<String>,
    of_block: Option<u64>,
    budget: &Budget,
    limits: &ServerLimits,
) {
    let (Some(block), Some(pairs)) = (limits.largest_block, of_block) else { return };
    statements.push(if budget.budget_95 == Some(pairs) {
        format!(
            "The largest free block, {block}, holds the fp32 scores of {pairs} token^2, less than \
             the sum of all free memory allows: the block ends the frontier."
        )
    } else {
        format!(
            "The largest free block, {block}, holds the fp32 scores of {pairs} token^2: it does not \
             end the frontier before the sum of all free memory does."
        )
    });
}

#[cfg(test)]
mod field_study;
#[cfg(test)]
mod tests;
