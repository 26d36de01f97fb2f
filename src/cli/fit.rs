//! `tune fit FILE..`: bytes per (row, key) of the deployed engine from field observations.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::ledger::{ChangeArguments, LedgerArguments};
use super::limits::LimitArguments;
use super::{limits, output};
use crate::error::{Error, Exit, Result};
use crate::files::{read_bytes, sha256_hex};
use crate::fit::observations::{self, LMeans, Observation, Stated};
use crate::fit::rates::Rate;
use crate::fit::{Fit, Source, fit_of_observations, rates_of_observations};
use crate::model::Layout;
use crate::options::ServerLimits;
use crate::plan::ledger::Ledger;
use crate::plan::{self, ObservedPlan, Situation};
use crate::report;
use crate::units::Tokens;

/// Arguments of `tune fit`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// CSV, JSON lines or parquet with the columns T, L (or prefix, or context) and one of peak,
    /// outcome, tok_s, time_us; optional: source, device, engine, ratio, cp_size, free, guard,
    /// limit, note. Others are kept.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What a column named L holds: the context that the chunk was scored against, or the prefix
    /// before it.
    #[arg(long, value_enum, default_value_t = LengthIs::Context)]
    l_is: LengthIs,
    #[command(flatten)]
    limits: LimitArguments,
    /// Longest context of the server, tokens; default: 1,048,576, said to be assumed.
    #[arg(long, value_name = "TOKENS", value_parser = limits::context, allow_hyphen_values = true)]
    context: Option<Tokens>,
    /// Data-parallel attention groups: the plan is per rank, the flag for all of them.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65536))]
    dp_attention: u32,
    /// Context-parallel ranks that share the rows of a chunk.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65536))]
    cp: u32,
    /// Directory to write fit.json into.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the fit as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    changes: ChangeArguments,
    #[command(flatten)]
    ledger: LedgerArguments,
}

/// Meaning of the column L.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum LengthIs {
    /// Keys that the chunk was scored against.
    Context,
    /// Tokens before the chunk.
    Prefix,
}

impl From<LengthIs> for LMeans {
    fn from(is: LengthIs) -> Self {
        match is {
            LengthIs::Context => LMeans::Context,
            LengthIs::Prefix => LMeans::Prefix,
        }
    }
}

/// A fit as printed: the budget of each system, and at the top level where there is only one.
#[derive(Debug, Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    fit: &'a Fit,
    /// How the column L was read.
    l_is: LengthIs,
    #[serde(flatten)]
    only: Option<&'a ObservedPlan>,
    plans: &'a [ObservedPlan],
    /// Prefill rates, length over time.
    rates: &'a [Rate],
    rate_remarks: &'a [String],
}

/// Fits and prints.
///
/// # Errors
/// Status 4 for a file that is not observations, or whose rows say nothing about memory or rates.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let limits: ServerLimits = arguments.limits.into();
    limits.validate()?;
    let (sources, rows) = read_observations(&arguments.files, Some(limits))?;
    let fit = fit_of_observations(&rows, sources, arguments.l_is.into());
    let (rates, rate_remarks) = rates_of_observations(&rows, arguments.l_is.into());
    if fit.memory.is_empty() && fit.latency.is_empty() && rates.is_empty() {
        return Err(Error::new(Exit::Format, "no memory model can be fitted")
            .advice(fit.remarks.join("\n  ")));
    }
    if let Some(directory) = &arguments.out {
        output::refuse_run(directory)?;
        fit.write(directory)?;
    }
    let situation = Situation {
        limits,
        layout: Layout { tp: 1, dp: arguments.dp_attention, cp: arguments.cp },
        context: arguments.context.map(|context| context.0),
        changes: arguments.changes.changes(arguments.cp),
        ledger: Ledger { largest_block: limits.largest_block, ..arguments.ledger.into() },
    };
    let plans = plan::plans_of_observations(&fit, &situation);
    if arguments.json {
        let only = if plans.len() == 1 { plans.first() } else { None };
        output::json(&Report {
            fit: &fit,
            l_is: arguments.l_is,
            only,
            plans: &plans,
            rates: &rates,
            rate_remarks: &rate_remarks,
        })?;
    } else {
        output::line(report::observed(&fit, &plans, &rate_remarks).text())?;
    }
    Ok(Exit::Ok)
}

/// The observations of several files. Chunks that died without a record of the memory that there was
/// had what is stated free in `limits`.
///
/// # Errors
/// Status 4 as for one file, 2 for the same content twice: no new evidence.
pub fn read_observations(
    paths: &[PathBuf],
    limits: Option<ServerLimits>,
) -> Result<(Vec<Source>, Vec<Observation>)> {
    let (mut sources, mut rows): (Vec<Source>, Vec<_>) = Default::default();
    for path in paths {
        let (source, observations) = read_file(path)?;
        if let Some(same) = sources.iter().find(|other| other.sha256 == source.sha256) {
            let what = format!("{} and {} hold the same rows", same.file, source.file);
            return Err(Error::usage(what).advice("name each set of observations once"));
        }
        sources.push(source);
        rows.extend(observations);
    }
    if let Some(ServerLimits { free_bytes: Some(free), guard, .. }) = limits {
        observations::state(&mut rows, Stated { free, guard });
    }
    Ok((sources, rows))
}

/// The observations of a file. Rows that cannot be understood are left out and named on stderr.
///
/// # Errors
/// Status 4 for a file that is not observations.
fn read_file(path: &Path) -> Result<(Source, Vec<Observation>)> {
    let bytes = read_bytes(path)?;
    let observations = observations::read(&bytes).map_err(|error| Error::format(path, error))?;
    let (named, more) = observations.rejected.split_at(observations.rejected.len().min(MOST_NAMED));
    for cell in named {
        output::warn(format_args!("{}: {cell}; the row is left out", path.display()));
    }
    if !more.is_empty() {
        output::warn(format_args!("{}: {} more rows are left out", path.display(), more.len()));
    }
    if observations.rows.is_empty() {
        return Err(Error::format(path, "no row could be understood"));
    }
    let source = Source { file: path.display().to_string(), sha256: sha256_hex(&bytes) };
    Ok((source, observations.rows))
}

/// Most rows left out that are named one by one.
const MOST_NAMED: usize = 10;
