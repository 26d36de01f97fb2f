//! `tune validate`: how far simulated kernel times are from published ones.

use std::path::{Path, PathBuf};

use clap::Args;

use super::output;
use crate::error::{Error, Exit, Result};
use crate::files;
use crate::validate::{self, Compiler, Parameters, Report, Request, Split, Summary, Table};

/// Arguments of `tune validate`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Published kernel times.
    #[arg(long, value_name = "FILE.csv")]
    timings: PathBuf,
    /// AITER checkout whose Triton kernels are compiled; with its git history each row gets the
    /// configuration of its own time.
    #[arg(long, value_name = "PATH", required_unless_present = "launches")]
    aiter: Option<PathBuf>,
    /// Rows to compare.
    #[arg(long, value_enum, default_value_t = Split::Report)]
    split: Split,
    /// Folder for the report: report.json, summary.json, table.txt and plot.svg.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Folder to keep the compiled kernels in.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Use the kernels that an earlier run has kept instead of compiling them.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["aiter", "keep", "python"])]
    launches: Option<PathBuf>,
    /// Folder with other hardware parameters: gfx942.toml and gfx950.toml.
    #[arg(long, value_name = "DIR")]
    parameters: Option<PathBuf>,
    /// Python interpreter that has the triton wheel (default python3). May be given several times, with
    /// several releases of triton: each row is compiled by the nearest to its own.
    #[arg(long, value_name = "PATH")]
    python: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Compiles, simulates, compares and prints.
///
/// # Errors
/// Status 4 for a table that cannot be used, 1 when the kernels cannot be compiled, 7 for a report
/// that cannot be written, 6 when no row can be run.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let parameters = Parameters::load(arguments.parameters.as_deref())?;
    let rows = validate::read(&arguments.timings, arguments.split)?;
    for (first, second) in validate::repeated(&rows) {
        let path = arguments.timings.display();
        output::warn(format_args!("{path}: line {second} is line {first} again; it counts twice"));
    }
    // Before the work, which takes minutes, and not after it.
    if let Some(folder) = &arguments.out {
        output::refuse_run(folder)?;
    }
    for folder in arguments.out.iter().chain(&arguments.keep) {
        output::writable(folder)?;
    }
    let scratch = tempfile::tempdir().map_err(|error| {
        Error::output(&std::env::temp_dir(), error).advice("name another folder in TMPDIR")
    })?;
    let folder = match (&arguments.launches, &arguments.keep) {
        (Some(folder), _) | (None, Some(folder)) => folder.as_path(),
        (None, None) => scratch.path(),
    };
    if let Some(aiter) = &arguments.aiter {
        output::to_stderr("compiling the kernels");
        let out = folder.to_owned();
        let compiler = Compiler { pythons: arguments.python.clone(), aiter: aiter.clone(), out };
        validate::compile(&compiler, &arguments.timings, arguments.split)?;
    }
    let request = Request {
        timings: arguments.timings.clone(),
        split: arguments.split,
        folder: folder.to_owned(),
        parameters,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let report = validate::run(&request, |done, all| {
        if done == all || done % 20 == 0 {
            output::to_stderr(format_args!("{done} of {all} rows"));
        }
    })?;
    let table = Table { report: &report, rows: true }.to_string();
    if arguments.json {
        output::json(&report)?;
    } else {
        output::line(table.trim_end())?;
    }
    if let Some(folder) = &arguments.out {
        let written = write(folder, &report, &table)?;
        if !arguments.json {
            output::written(&written)?;
        }
    }
    match report.rows.iter().all(|row| row.result.is_none()) {
        true => Err(Error::new(Exit::Check, "none of the rows could be run")
            .advice("each is listed above with its reason")),
        false => Ok(Exit::Ok),
    }
}

fn write(folder: &Path, report: &Report, table: &str) -> Result<Vec<PathBuf>> {
    let [json, summary, text, plot] =
        ["report.json", "summary.json", "table.txt", "plot.svg"].map(|f| folder.join(f));
    files::write_json(&json, report)?;
    files::write_json(&summary, &Summary::from(report))?;
    files::write_atomic(&text, table.as_bytes())?;
    let svg = validate::svg(report).map_err(Error::failed)?;
    files::write_atomic(&plot, svg.as_bytes())?;
    Ok(vec![json, summary, text, plot])
}
