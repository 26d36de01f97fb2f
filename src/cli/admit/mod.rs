//! `tune admit`: which requests SGLang's scheduler admits, pass by pass, over recorded decisions,
//! scenarios or request traces.

mod recordings;
mod server;
mod traces;

use std::path::PathBuf;

use clap::Args;

use crate::error::{Exit, Result};

/// Arguments of `tune admit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 1 where a recording differs or holds a scenario that is refused.

Examples:
  tune admit --oracle tests/data/sglang-0.5.23-admission.json
  tune admit --trace AzureLLMInferenceTrace_conv.csv --chunk 16384 --page-size 64
  tune admit --trace mooncake.jsonl --kv-tokens 2M --max-running 256 --decode-ms '12+0.05*bs' \\
      --prefill-ms '5+0.02*m' --profile profiles/gfx950 --profile profiles/gfx942")]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    server: server::ServerArguments,
    #[command(flatten)]
    trace: traces::TraceArguments,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What to replay.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Input {
    /// Recorded decisions of SGLang's scheduler, or recorded outputs of its chunk sizer, to compare
    /// with.
    #[arg(long, value_name = "FILE.json")]
    oracle: Option<PathBuf>,
    /// Scenarios in the same format without passes: their decisions are printed.
    #[arg(long, value_name = "FILE.json")]
    scenarios: Option<PathBuf>,
    /// Request trace: CSV with arrival (s), prompt, cached_prefix, output; Azure LLM inference
    /// trace CSV; or Mooncake JSONL.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// Replays and prints.
///
/// # Errors
/// Status 2 for figures that make no server, 4 for a file that cannot be read.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let Input { oracle, scenarios, trace } = &arguments.input;
    if let Some(path) = oracle {
        return recordings::compare(path, arguments.json);
    }
    if let Some(path) = scenarios {
        return recordings::decide(path, arguments.json);
    }
    match trace {
        Some(path) => traces::run(path, &arguments.server, &arguments.trace, arguments.json),
        None => Ok(Exit::Usage),
    }
}
