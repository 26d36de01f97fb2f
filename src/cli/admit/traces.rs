//! Request traces: what the batches look like with exact fill off and on.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::super::{output, source};
use super::server::ServerArguments;
use crate::emit::Sizer;
use crate::error::{Error, Exit, Result};
use crate::files::NewFile;
use crate::fit;
use crate::model;
use crate::plan::admission;
use crate::plan::admission::trace::cost::PassCost;
use crate::plan::admission::trace::replay::{self, Clock, Options, PassRow, ReplayError, Summary};
use crate::plan::admission::trace::{Format, Trace, TraceError};

/// Indexer pipelines, the first measured one counts.
const INDEXERS: [&str; 3] = ["fp8", "row_pooled", "dense"];

/// Most layers of a model.
const MAX_LAYERS: u64 = 10_000;

/// Longest step, and most that a row or request adds to one: 11 days.
const MAX_STEP_MS: f64 = 1e9;

/// Flags of a replay.
#[derive(Debug, Args)]
#[command(next_help_heading = "Replay of a trace")]
#[group(conflicts_with_all = ["oracle", "scenarios"])]
pub struct TraceArguments {
    /// Tile rows to count aligned batches for.
    #[arg(long, value_name = "ROWS", value_delimiter = ',', default_value = "32,64,128,256",
        allow_hyphen_values = true, value_parser = clap::value_parser!(u32).range(1..))]
    block_m: Vec<u32>,
    /// Directory of a run (repeat for more devices): what its measured kernels take.
    #[arg(long, value_name = "DIR")]
    profile: Vec<PathBuf>,
    /// Layers of the model; default: those of the profile's model, else 1.
    #[arg(long, value_name = "N", requires = "profile", allow_hyphen_values = true,
        value_parser = clap::value_parser!(u64).range(1..=MAX_LAYERS))]
    layers: Option<u64>,
    /// Indexer pipeline whose times count; default: the first measured of fp8, row_pooled, dense.
    #[arg(long, value_name = "PATH", requires = "profile")]
    indexer: Option<String>,
    /// Decode step, milliseconds, such as `12+0.05*bs`.
    #[arg(
        long,
        value_name = "A+B*bs",
        requires = "kv_tokens",
        requires = "max_running",
        allow_hyphen_values = true
    )]
    decode_ms: Option<String>,
    /// Prefill, milliseconds, such as `5+0.02*m`, in place of the measured kernels.
    #[arg(long, value_name = "A+B*m", requires = "decode_ms", allow_hyphen_values = true)]
    prefill_ms: Option<String>,
    /// CSV file for every pass; needs --exact-fill off or on.
    #[arg(long, value_name = "FILE")]
    passes: Option<PathBuf>,
}

/// One replay.
#[derive(Debug, Serialize)]
struct Run {
    exact_fill: bool,
    #[serde(flatten)]
    summary: Summary,
}

/// Everything printed.
#[derive(Debug, Serialize)]
struct Report<'a> {
    trace: String,
    format: &'static str,
    /// Whether requests arrive when the trace says; otherwise the queue is always full.
    clocked: bool,
    block_m: &'a [u32],
    /// Device of each entry of `kernels_ms`, and what is in it.
    devices: Vec<String>,
    runs: Vec<Run>,
}

/// Replays `path` and prints.
pub fn run(
    path: &Path,
    server: &ServerArguments,
    arguments: &TraceArguments,
    json: bool,
) -> Result<Exit> {
    let fills = server.fills();
    if arguments.passes.is_some() && fills.len() > 1 {
        return Err(Error::usage("--passes writes one replay; add --exact-fill off or on"));
    }
    let (kv, clock) = (server.kv()?, clock(arguments)?);
    let sizer = server.sizer()?;
    if let Some(passes) = &arguments.passes {
        let profiles = arguments.profile.iter().map(PathBuf::as_path);
        output::refuse_inputs(
            "--passes",
            passes,
            profiles.chain([path]).chain(server.sizer_path()),
        )?;
    }
    let costs = costs(arguments, sizer.as_ref())?;
    if clock.is_some_and(|clock| clock.prefill_ms.is_none()) && costs.is_empty() {
        return Err(Error::usage("--decode-ms needs the time of a prefill too")
            .advice("add --profile DIR, or --prefill-ms A+B*m"));
    }
    let format = Trace::open(path, kv).map_err(bad_trace)?.format();
    let job = Job { path, server, arguments, kv, clock, sizer: sizer.as_ref(), costs: &costs };
    let one = |exact_fill: bool| job.replay(exact_fill);
    let runs: Vec<Result<Run>> = std::thread::scope(|scope| {
        let started: Vec<_> = fills.iter().map(|fill| scope.spawn(|| one(*fill))).collect();
        let crashed = || Err(Error::failed("the replay stopped"));
        started.into_iter().map(|run| run.join().unwrap_or_else(|_| crashed())).collect()
    });
    let runs: Vec<Run> = runs.into_iter().collect::<Result<_>>()?;
    if runs.iter().all(|run| run.summary.requests == 0) {
        return Err(Error::format(path, "no requests after the header"));
    }
    let report = Report {
        trace: path.display().to_string(),
        format: match format {
            Format::Csv => "CSV",
            Format::Azure => "Azure LLM inference trace",
            Format::Mooncake => "Mooncake",
        },
        clocked: clock.is_some(),
        block_m: &arguments.block_m,
        devices: costs.iter().map(|cost| format!("{}: {}", cost.device(), cost.parts())).collect(),
        runs,
    };
    if json {
        output::json(&report)?;
    } else {
        print(&report, format)?;
    }
    Ok(Exit::Ok)
}

/// A replay but for exact fill.
struct Job<'a> {
    path: &'a Path,
    server: &'a ServerArguments,
    arguments: &'a TraceArguments,
    kv: Option<i64>,
    clock: Option<Clock>,
    sizer: Option<&'a Sizer>,
    costs: &'a [PassCost],
}

impl Job<'_> {
    fn replay(&self, exact_fill: bool) -> Result<Run> {
        let settings = self.server.settings(exact_fill)?;
        let blocks: Vec<i64> = self.arguments.block_m.iter().map(|b| i64::from(*b)).collect();
        let table = self.sizer.map(|sizer| self.server.table(sizer, &settings)).transpose()?;
        let table = table.flatten();
        let predict = |prefix: u64| table.as_ref().map(|table| table.chunk(prefix));
        let sized: Option<admission::Sizer<'_>> =
            if table.is_some() { Some(&predict) } else { None };
        let options = Options {
            settings: &settings,
            kv: self.kv,
            sizer: sized,
            clamp: table.as_ref(),
            clock: self.clock,
            blocks: &blocks,
            costs: self.costs,
        };
        let block_m = &self.arguments.block_m;
        let create = |path: &PathBuf| PassWriter::create(path, block_m, self.costs.len());
        let mut writer = self.arguments.passes.as_ref().map(create).transpose()?;
        let trace = Trace::open(self.path, self.kv).map_err(bad_trace)?;
        let summary = replay::replay(trace, &options, |pass| match &mut writer {
            Some(writer) => writer.write(pass, &blocks),
            None => Ok(()),
        })?;
        if let Some(writer) = writer {
            writer.finish()?;
        }
        Ok(Run { exact_fill, summary })
    }
}

/// The file of all passes.
struct PassWriter {
    out: NewFile,
}

impl PassWriter {
    fn create(path: &Path, blocks: &[u32], devices: usize) -> Result<Self> {
        let mut writer = Self { out: NewFile::create(path)? };
        let even = blocks.iter().map(|block| format!(",even_{block}"));
        let times = (0..devices).map(|device| format!(",kernels_us_{device}"));
        let columns: String = even.chain(times).collect();
        writer.put(format_args!("pass,start_ms,requests,m,leaked{columns}\n"))?;
        Ok(writer)
    }

    fn write(&mut self, pass: &PassRow<'_>, blocks: &[i64]) -> Result<()> {
        let start = pass.start_ms.map(|ms| format!("{ms:.3}")).unwrap_or_default();
        let PassRow { number, requests, m, leaked, .. } = pass;
        self.put(format_args!("{number},{start},{requests},{m},{leaked}"))?;
        for block in blocks {
            self.put(format_args!(",{}", u8::from(m % block == 0)))?;
        }
        for time in pass.kernels_us {
            self.put(format_args!(",{time:.2}"))?;
        }
        self.put(format_args!("\n"))
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) -> Result<()> {
        Ok(self.out.write(text.to_string().as_bytes())?)
    }

    fn finish(self) -> Result<()> {
        Ok(self.out.finish()?)
    }
}

/// The cost of passes on each profile's device. Warns of a sizer that is of another one.
fn costs(arguments: &TraceArguments, sizer: Option<&Sizer>) -> Result<Vec<PassCost>> {
    let cost = |path: &PathBuf| {
        let profile = source::read_profile(path)?;
        let arch = &profile.provenance().arch;
        if let Some(sizer) = sizer.filter(|sizer| sizer.arch != *arch) {
            output::warn(format_args!(
                "the sizer is of {} and {} of {arch}; the plugin would leave a server of {arch} as \
                 it is",
                sizer.arch,
                path.display()
            ));
        }
        let fit = fit::fit_profile(&profile);
        let known = model::resolve(&profile.provenance().model).ok();
        let layers = arguments.layers.or(known.and_then(|model| model.layers)).unwrap_or(1);
        let measured = |path: &str| fit.latency.iter().any(|latency| latency.path == path);
        let indexer = match &arguments.indexer {
            Some(path) if measured(path) => path.as_str(),
            Some(path) => {
                let known: Vec<&str> = fit.latency.iter().map(|l| l.path.as_str()).collect();
                return Err(Error::usage(format_args!("no times of the indexer path `{path}`"))
                    .advice(format_args!("measured are {}", known.join(", "))));
            }
            None => INDEXERS.into_iter().find(|path| measured(path)).unwrap_or(INDEXERS[0]),
        };
        Ok(PassCost::new(&fit, indexer, layers))
    };
    arguments.profile.iter().map(cost).collect()
}

fn clock(arguments: &TraceArguments) -> Result<Option<Clock>> {
    let Some(decode) = &arguments.decode_ms else {
        return Ok(None);
    };
    let decode_ms = line("--decode-ms", decode, "bs")?;
    let prefill = arguments.prefill_ms.as_deref();
    let prefill_ms = prefill.map(|text| line("--prefill-ms", text, "m")).transpose()?;
    Ok(Some(Clock { decode_ms, prefill_ms }))
}

/// Reads `A`, or `A+B*name`.
fn line(flag: &str, text: &str, name: &str) -> Result<(f64, f64)> {
    let number = |text: &str| {
        let value = text.trim().parse::<f64>().ok();
        value.filter(|value| (0.0..=MAX_STEP_MS).contains(value))
    };
    let parsed = match text.split_once('+') {
        None => number(text).map(|fixed| (fixed, 0.0)),
        Some((fixed, slope)) => slope
            .split_once('*')
            .filter(|(_, unit)| unit.trim() == name)
            .and_then(|(slope, _)| Some((number(fixed)?, number(slope)?))),
    };
    parsed.ok_or_else(|| {
        Error::usage(format_args!(
            "{flag} `{text}` is not of the form A+B*{name}, with A and B from 0 to {MAX_STEP_MS:e} \
             milliseconds"
        ))
    })
}

fn bad_trace(error: TraceError) -> Error {
    Error::new(Exit::Format, error)
}

impl From<ReplayError> for Error {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Trace(error) => bad_trace(error),
            ReplayError::Admission(error) => {
                Self::usage(error).advice("give the server more --kv-tokens or fewer --max-running")
            }
            ReplayError::Stuck { .. } => {
                Self::usage(error).advice("give the server more --kv-tokens or a larger --chunk")
            }
        }
    }
}

fn print(report: &Report<'_>, format: Format) -> Result<()> {
    let first = &report.runs[0].summary;
    let (requests, prompt, cached) = (first.requests, first.prompt, first.cached);
    output::line(format_args!(
        "{} ({}): {requests} requests, {prompt} prompt tokens, {cached} of them cached",
        report.trace, report.format
    ))?;
    output::line(match report.clocked {
        true => "Requests arrive when the trace says; all times are simulated.",
        false => {
            "The queue is kept full, so that every batch is as full as it can be; arrivals do not count."
        }
    })?;
    if format == Format::Azure {
        output::line("The trace says nothing of prefixes: none is cached.")?;
    }
    let share = |part: f64, whole: f64| if whole > 0.0 { 100.0 * part / whole } else { 0.0 };
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    let mut row = |name: String, value: &dyn Fn(&Summary) -> String| {
        rows.push((name, report.runs.iter().map(|run| value(&run.summary)).collect()));
    };
    row("passes".into(), &|s| s.passes.to_string());
    row("prompt rows".into(), &|s| s.rows.to_string());
    row("rows a pass".into(), &|s| format!("{:.1}", s.rows as f64 / s.passes.max(1) as f64));
    row("leaked tokens".into(), &|s| {
        format!("{} ({:.3}%)", s.leaked, share(s.leaked as f64, (s.rows + s.leaked) as f64))
    });
    for (index, block) in report.block_m.iter().enumerate() {
        row(format!("passes with M % {block} = 0"), &|s| {
            let even = s.even.get(index).copied().unwrap_or_default();
            format!("{even} ({:.1}%)", share(even as f64, s.passes as f64))
        });
    }
    for index in 0..report.devices.len() {
        row(format!("kernels of device {index}, s"), &|s| {
            format!("{:.3}", s.kernels_ms.get(index).copied().unwrap_or_default() / 1e3)
        });
    }
    if report.clocked {
        row("decode steps".into(), &|s| s.decodes.to_string());
        row("retractions".into(), &|s| s.retracted.to_string());
        for (index, name) in ["median", "90%", "99%", "largest"].iter().enumerate() {
            row(format!("simulated TTFT, {name}, ms"), &|s| {
                s.ttft_ms.map_or("-".into(), |times| format!("{:.1}", times[index]))
            });
        }
    }
    let fill = |run: &Run| if run.exact_fill { "exact fill on" } else { "exact fill off" };
    let titles: Vec<String> = report.runs.iter().map(|run| fill(run).to_owned()).collect();
    output::line("")?;
    for (name, values) in std::iter::once(&(String::new(), titles)).chain(&rows) {
        let cells: String = values.iter().map(|value| format!("{value:>22}")).collect();
        output::line(format_args!("{name:<30}{cells}"))?;
    }
    for (index, device) in report.devices.iter().enumerate() {
        output::line(format_args!("device {index}: {device}"))?;
    }
    if !report.devices.is_empty() {
        output::line(
            "Times are those of the measured kernels in all layers; attention and experts are not in them.",
        )?;
    }
    Ok(())
}
