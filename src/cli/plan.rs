//! `tune plan`: the chunk for every prefix, from a profile or from a budget given as a number.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::limits::LimitArguments;
use super::output;
use super::source::{self, EvidenceArguments};
use crate::derive;
use crate::error::{Error, Exit, Result};
use crate::model::{self, Layout};
use crate::options::{MAX_TOKENS, ServerLimits};
use crate::plan::baselines::Peer;
use crate::plan::contest::{Arena, BEST, Entry, TABLE};
use crate::plan::{EndsBy, Plan, Request, Schedule, plan_of_budget};
use crate::profile::{Engine, Profile};
use crate::report::{Block, Document, Section, Table, grouped};
use crate::units::{Bytes, Microseconds, Tokens};
use crate::validate;

/// Arguments of `tune plan`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Directory of a run, or its profile.parquet.
    #[arg(value_name = "PROFILE")]
    profile: Option<PathBuf>,
    /// Tokens^2 that a chunk may have (T * L), such as 2.0e8, in place of a profile.
    #[arg(long, value_name = "TOKENS^2", allow_hyphen_values = true,
        conflicts_with_all = ["profile", "free_bytes", "guard", "margin", "largest_block", "observations",
            "l_is", "memory_path"])]
    budget: Option<Tokens>,
    #[command(flatten)]
    limits: LimitArguments,
    #[command(flatten)]
    evidence: EvidenceArguments,
    /// Prefixes to give the chunk for, such as 50000,100k; default: every step of the schedule.
    #[arg(long, value_name = "TOKENS", value_delimiter = ',', allow_hyphen_values = true)]
    at: Vec<Tokens>,
    /// Other sizers to set the plan beside, by name: static:1024, sglang, atom, trtllm.
    #[arg(long, value_name = "SIZER", value_delimiter = ',')]
    against: Vec<Peer>,
    /// Prompts to compare them on.
    #[arg(
        long,
        value_name = "TOKENS",
        value_delimiter = ',',
        default_value = "32k,128k,256k,500k,1M",
        requires = "against",
        allow_hyphen_values = true
    )]
    prompts: Vec<Tokens>,
    /// Directory to write the sizer of a --budget into (`tune emit` writes that of a profile).
    #[arg(long, value_name = "DIR", requires = "budget", conflicts_with = "profile")]
    out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A schedule as printed.
#[derive(Debug, Serialize)]
struct Report<'a> {
    /// Tokens^2; none where memory does not grow with T*L.
    budget: Option<u64>,
    chunk_min: u64,
    chunk_max: u64,
    page_size: u64,
    /// `[prefix_from, chunk]`, ascending, half-open.
    table: &'a [(u64, u64)],
    /// Largest prefix that can be served, tokens.
    max_context: u64,
    /// What ends the schedule.
    ends_by: EndsBy,
    /// Chunk at each prefix asked for.
    at: Vec<At>,
    /// The whole plan, where it was made from a profile.
    plan: Option<&'a Plan>,
    /// The plan beside other sizers, where asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    against: Vec<Entry>,
}

/// The chunk at one prefix.
#[derive(Debug, Serialize)]
struct At {
    prefix: u64,
    /// None past `max_context`.
    chunk: Option<u64>,
}

/// Plans and prints.
///
/// # Errors
/// Status 2 for figures that leave no chunk, 4 for a profile that cannot be read.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let limits: ServerLimits = arguments.limits.into();
    limits.validate()?;
    match (arguments.budget, &arguments.profile) {
        (Some(budget), _) => from_budget(arguments, &limits, budget),
        (None, Some(profile)) => {
            let (profile, derived) = source::derive(profile, limits, &arguments.evidence)?;
            let plan = derived.plan?;
            let layers = model::resolve(&profile.provenance().model).ok().and_then(|m| m.layers);
            let against = match Arena::of_plan(&plan, &derived.fit, layers.unwrap_or(1)) {
                Some(arena) => contest(arguments, &arena)?,
                None => Vec::new(),
            };
            let made =
                Made { plan: &plan, layers: layers.unwrap_or(1), error: time_error(&profile) };
            print(arguments, plan.budget.budget_95, &plan.schedule, Some(&made), against)
        }
        (None, None) => Err(Error::usage("there is nothing to plan from")
            .advice("give the directory of a run, or a number: tune plan --budget 2.0e8")),
    }
}

/// A plan, and what is to be said with its times.
struct Made<'a> {
    plan: &'a Plan,
    /// Layers that are timed.
    layers: u64,
    /// How far off the times are, where they are simulated.
    error: Option<String>,
}

/// How far off the times of a simulated profile are on the whole.
fn time_error(profile: &Profile) -> Option<String> {
    let provenance = profile.provenance();
    let median = validate::nearest(&provenance.arch, "", "").median();
    (provenance.engine == Engine::Simulated).then(|| match median {
        Some(median) => format!(
            "Times are simulated: those of published {} kernels have been off by {:.0}% in the median.",
            provenance.arch,
            100.0 * median
        ),
        None => format!(
            "Times are simulated and unvalidated: too few times of {} kernels are published.",
            provenance.arch
        ),
    })
}

fn from_budget(arguments: &Arguments, limits: &ServerLimits, budget: Tokens) -> Result<Exit> {
    let request = Request {
        limits: *limits,
        device_free: None,
        layout: Layout { tp: 1, dp: 1, cp: 1 },
        context_length: arguments.evidence.context().map(|context| context.0),
        memory_path: None,
    };
    let plan = plan_of_budget(budget.0, limits, request.layout, request.context_length)?;
    if let Some(directory) = &arguments.out {
        output::refuse_run(directory)?;
        derive::sizer_of_budget(budget.0, &request, "", "")?.write(directory)?;
    }
    let against = contest(arguments, &Arena::of_budget(&plan, budget.0))?;
    print(arguments, Some(budget.0), &plan.schedule, None, against)
}

/// The plan beside the sizers asked for; empty where none were.
fn contest(arguments: &Arguments, arena: &Arena<'_>) -> Result<Vec<Entry>> {
    if arguments.against.is_empty() {
        return Ok(Vec::new());
    }
    let prompts: Vec<u64> = arguments.prompts.iter().map(|p| p.0).collect();
    if let Some(prompt) = prompts.iter().find(|p| **p == 0 || **p > MAX_TOKENS) {
        return Err(Error::usage(format_args!(
            "--prompts {prompt}: give lengths from 1 to {MAX_TOKENS} tokens"
        )));
    }
    arena.contest(&arguments.against, &prompts).map_err(Error::usage)
}

fn print(
    arguments: &Arguments,
    budget: Option<u64>,
    schedule: &Schedule,
    made: Option<&Made<'_>>,
    against: Vec<Entry>,
) -> Result<Exit> {
    let plan = made.map(|made| made.plan);
    if let Some(prefix) = arguments.at.iter().find(|prefix| prefix.0 > MAX_TOKENS) {
        return Err(Error::usage(format_args!(
            "--at {prefix} is too long; the limit is {MAX_TOKENS} tokens"
        )));
    }
    let chunk = |prefix: &Tokens| At { prefix: prefix.0, chunk: schedule.at(prefix.0) };
    let at: Vec<At> = arguments.at.iter().map(chunk).collect();
    if arguments.json {
        let report = Report {
            budget,
            chunk_min: schedule.range.min,
            chunk_max: schedule.range.max,
            page_size: plan.map_or(schedule.range.align, |plan| plan.page_size),
            table: &schedule.table,
            max_context: schedule.max_context,
            ends_by: schedule.ends_by,
            at,
            plan,
            against,
        };
        output::json(&report)?;
        return Ok(Exit::Ok);
    }
    for line in lines(schedule, &at) {
        output::line(line)?;
    }
    if !against.is_empty() {
        output::line(comparison(&against, made))?;
    }
    if let Some(plan) = plan {
        let notes = vec![Block::List(plan.statements.clone())];
        let sections = vec![Section { title: "Why".to_owned(), blocks: notes }];
        output::line(Document { headline: String::new(), sections }.text())?;
    }
    Ok(Exit::Ok)
}

/// The comparison as text, a section a prompt; the plan comes with the layers that are timed.
fn comparison(entries: &[Entry], made: Option<&Made<'_>>) -> String {
    let prompts = entries.first().map_or(0, |entry| entry.prompts.len());
    let mut sections: Vec<Section> = (0..prompts)
        .map(|i| {
            let mut table = Table::new([
                "sizer",
                "time",
                "over best",
                "chunks",
                "of tokens",
                "peak",
                "95%",
                "outcome",
            ]);
            for entry in entries {
                let score = &entry.prompts[i];
                let dash = || "-".to_owned();
                let (least, most) = score.sizes;
                table.row([
                    entry.name.clone(),
                    score.time_us.map_or_else(dash, |t| Microseconds(t).to_string()),
                    score.ratio.map_or_else(dash, |r| format!("{r:.3}")),
                    score.chunks.to_string(),
                    if least == most { most.to_string() } else { format!("{least}-{most}") },
                    Bytes(score.peak_bytes).to_string(),
                    Bytes(score.peak_95_bytes).to_string(),
                    score.sentence(),
                ]);
            }
            let length = grouped(entries[0].prompts[i].length);
            let title = format!("Prompt of {length} tokens");
            Section { title, blocks: vec![Block::Table(table)] }
        })
        .collect();
    let mut remarks = vec![format!(
        "{BEST} is the best sequence for that very prompt, {TABLE} what sizer.json serves without \
         knowing its length."
    )];
    if let Some((made, time)) = made.and_then(|made| Some((made, made.plan.time.as_ref()?))) {
        remarks.push(time.chunk.sentence(made.layers));
        remarks.extend(made.error.clone());
    }
    if entries.iter().flat_map(|e| &e.prompts).any(|s| s.ratio.is_some_and(|r| r < 0.999)) {
        remarks.push(
            "A sizer that may take more than --chunk-max is faster where that fits: a larger \
             --chunk-max lets the plan do the same."
                .to_owned(),
        );
    }
    let note = |e: &Entry| e.note.as_ref().map(|note| format!("{}: {note}", e.name));
    remarks.extend(entries.iter().filter_map(note));
    sections.push(Section { title: "Remarks".to_owned(), blocks: vec![Block::List(remarks)] });
    Document { headline: String::new(), sections }.text()
}

/// The schedule, or the chunks asked for, as a table, and where it ends.
fn lines(schedule: &Schedule, at: &[At]) -> Vec<String> {
    let mut lines = vec![format!("{:>12}  {:>8}", "prefix", "chunk")];
    if at.is_empty() {
        lines.extend(schedule.table.iter().map(|(from, chunk)| format!("{from:>12}  {chunk:>8}")));
    }
    for At { prefix, chunk } in at {
        let chunk = chunk.map_or("too long".to_string(), |chunk| chunk.to_string());
        lines.push(format!("{prefix:>12}  {chunk:>8}"));
    }
    let why = match schedule.ends_by {
        EndsBy::Memory => "beyond it even the smallest chunk does not fit",
        EndsBy::Context => "the context ends there",
    };
    lines.push(format!(
        "{:>12}  is the largest prefix that can be served: {why}",
        schedule.max_context
    ));
    lines
}
