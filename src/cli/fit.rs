//! `tune fit FILE..`: bytes per (row, key) of the deployed engine from field observations.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::limits::LimitArguments;
use super::output;
use crate::error::{Error, Exit, Result, read_text};
use crate::files::sha256_hex;
use crate::fit::memory::MemoryFit;
use crate::fit::observations::{LMeans, Observation, read_csv};
use crate::fit::{Fit, Source, fit_of_observations};
use crate::options::ServerLimits;
use crate::plan::{self, ObservedPlan};

/// Arguments of `tune fit`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// CSV files with the columns T, L and one of peak, outcome; optional: source, device, engine,
    /// ratio, cp_size, free, guard, limit, tok_s, time_us, note.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What the column L holds: the context at the end of the chunk, or the prefix before it.
    #[arg(long, value_enum, default_value_t = LengthIs::Context)]
    l_is: LengthIs,
    #[command(flatten)]
    limits: LimitArguments,
    /// Directory to write fit.json into.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the fit as JSON.
    #[arg(long)]
    json: bool,
}

/// Meaning of the column L.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LengthIs {
    /// Keys that the chunk was scored against.
    Context,
    /// Tokens before the chunk.
    Prefix,
}

/// A fit as printed: the budget of each system, and at the top level where there is only one.
#[derive(Debug, Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    fit: &'a Fit,
    #[serde(flatten)]
    only: Option<&'a ObservedPlan>,
    plans: &'a [ObservedPlan],
}

/// Fits and prints.
///
/// # Errors
/// Status 4 for a file that is not observations, or whose rows say nothing about memory.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let limits: ServerLimits = arguments.limits.into();
    limits.validate()?;
    let mut rows = Vec::new();
    let mut sources = Vec::new();
    for path in &arguments.files {
        let (source, observations) = read_observations(path)?;
        sources.push(source);
        rows.extend(observations);
    }
    let meaning = match arguments.l_is {
        LengthIs::Context => LMeans::Context,
        LengthIs::Prefix => LMeans::Prefix,
    };
    let fit = fit_of_observations(&rows, sources, meaning);
    if fit.memory.is_empty() {
        return Err(Error::new(Exit::Format, "no memory model can be fitted")
            .advice(fit.remarks.join("\n  ")));
    }
    if let Some(directory) = &arguments.out {
        output::refuse_run(directory)?;
        fit.write(directory)?;
    }
    let plans = plan::plans_of_observations(&fit, &limits);
    if arguments.json {
        let only = if plans.len() == 1 { plans.first() } else { None };
        output::json(&Report { fit: &fit, only, plans: &plans })?;
    } else {
        print(&fit, &plans)?;
    }
    Ok(Exit::Ok)
}

/// The observations of a file. Rows that cannot be understood are left out and named on stderr.
///
/// # Errors
/// Status 4 for a file that is not observations.
pub fn read_observations(path: &Path) -> Result<(Source, Vec<Observation>)> {
    let text = read_text(path)?;
    let observations = read_csv(&text).map_err(|error| Error::format(path, error))?;
    for cell in &observations.rejected {
        output::warn(format_args!("{}: {cell}; the row is left out", path.display()));
    }
    if observations.rows.is_empty() {
        return Err(Error::format(path, "no row could be understood"));
    }
    let source = Source { file: path.display().to_string(), sha256: sha256_hex(text.as_bytes()) };
    Ok((source, observations.rows))
}

fn print(fit: &Fit, plans: &[ObservedPlan]) -> Result<()> {
    output::line(&fit.headline)?;
    for memory in &fit.memory {
        output::line(format_args!("\n{}", memory_line(memory)))?;
        output::line(format_args!("  peak = {}", memory.formula))?;
        for statement in &memory.statements {
            output::line(format_args!("  {statement}"))?;
        }
        for plan in plans.iter().filter(|plan| plan.path == memory.path) {
            plan.lines().into_iter().try_for_each(output::line)?;
        }
    }
    for remark in &fit.remarks {
        output::line(format_args!("note: {remark}"))?;
    }
    Ok(())
}

/// One line about the memory of a path.
pub fn memory_line(memory: &MemoryFit) -> String {
    let MemoryFit { path, measured, censored, c, ratio, .. } = memory;
    let rows = match censored {
        0 => format!("{measured} measured"),
        _ => format!("{measured} measured, {censored} bounded"),
    };
    let ratio = if *ratio == 1 { String::new() } else { format!(", {ratio} tokens per key") };
    if memory.grows() {
        return format!(
            "{path}: c = {:.2} B per (row, key), 95% interval {:.2} to {:.2}, upper bound {:.2} \
             ({rows}{ratio})",
            c.point, c.lo, c.hi, c.upper_95
        );
    }
    format!("{path}: memory does not grow with T*L ({rows}{ratio})")
}
