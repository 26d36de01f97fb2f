//! The command line: arguments in, one library call each, text or JSON on stdout, diagnoses on
//! stderr and an exit status (see [`crate::error`]) out. One file a command.

mod admit;
mod compare;
mod devices;
mod doctor;
mod emit;
mod engine;
mod fit;
mod kernel;
mod ledger;
mod limits;
mod output;
mod plan;
mod plot;
mod source;
mod tune;
mod validate;
mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use owo_colors::OwoColorize;

use crate::error::{Error, Exit, Result};
use crate::text::shortened;

/// Measures HIP kernels on an AMD Instinct GPU, or on a simulated one where there is none, works
/// out how large a prefill chunk an LLM server can afford and how its length must be aligned, and
/// writes the SGLang configuration for it.
#[derive(Debug, Parser)]
#[command(
    name = "tune",
    version,
    about,
    long_about = None,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Exit status: 0 done, 1 other failure, 2 bad flag or value, 3 no such device, \
                  4 bad file,\n5 device fault, 6 a check failed, 7 output cannot be written, \
                  8 a check warns,\n130 interrupted.\n\nExample: tune --device gfx950 --model glm-5.2 --tp 4 --out run1"
)]
struct Cli {
    #[command(flatten)]
    tune: tune::Arguments,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the devices that can be measured: hardware, or why none, and simulated.
    Devices(devices::Arguments),
    /// Work out the chunk for every prefix, from a run or from a budget.
    Plan(plan::Arguments),
    /// Write the configuration of a recorded run for a server's limits.
    Emit(emit::Arguments),
    /// Check a deployment before it boots.
    Doctor(doctor::Arguments),
    /// Draw the plots and the report of a recorded run.
    Plot(plot::Arguments),
    /// Fit the memory of a deployed engine from field observations.
    Fit(fit::Arguments),
    /// Set two recorded runs side by side.
    Compare(compare::Arguments),
    /// Replay SGLang's admission: recorded decisions, scenarios or request traces.
    Admit(admit::Arguments),
    /// List and check the bundled kernels.
    Kernel(kernel::Arguments),
    /// Compare simulated with published kernel times.
    Validate(validate::Arguments),
    /// Measure what a parent sends (internal).
    #[command(hide = true)]
    Worker(worker::Arguments),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    report_panics();
    // The panic hook has said all there is to say.
    let status = std::panic::catch_unwind(|| run(std::env::args_os())).unwrap_or(Exit::Failed);
    ExitCode::from(status as u8)
}

/// Parses and runs `arguments` (the first is the program's name) and prints what went wrong.
fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            if !error.use_stderr() {
                // Nobody is left to tell when the help itself cannot be printed.
                let _ = error.print();
                return Exit::Ok;
            }
            // The message repeats the value given.
            output::to_stderr(shortened(&error.render().ansi().to_string()).trim_end());
            return Exit::Usage;
        }
    };
    match dispatch(cli) {
        Ok(exit) => exit,
        Err(error) => {
            complain(&error);
            error.exit
        }
    }
}

fn dispatch(cli: Cli) -> Result<Exit> {
    match cli.command {
        None => tune::run(cli.tune),
        Some(Command::Devices(arguments)) => devices::run(&arguments),
        Some(Command::Plan(arguments)) => plan::run(&arguments),
        Some(Command::Emit(arguments)) => emit::run(&arguments),
        Some(Command::Doctor(arguments)) => doctor::run(&arguments),
        Some(Command::Plot(arguments)) => plot::run(&arguments),
        Some(Command::Fit(arguments)) => fit::run(&arguments),
        Some(Command::Compare(arguments)) => compare::run(&arguments),
        Some(Command::Admit(arguments)) => admit::run(&arguments),
        Some(Command::Kernel(arguments)) => kernel::run(&arguments),
        Some(Command::Validate(arguments)) => validate::run(&arguments),
        Some(Command::Worker(arguments)) => worker::run(&arguments),
    }
}

fn complain(error: &Error) {
    output::to_stderr(format_args!("{} {}", "error:".red().bold(), error.message));
    if let Some(advice) = &error.advice {
        output::to_stderr(format_args!("  {} {advice}", "help:".green().bold()));
    }
}

/// A panic is a defect of ours: say so, and what to send.
fn report_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        // The parquet decoder's own: caught and told where a profile is read.
        if std::thread::current().name().is_some_and(|name| name.starts_with("polars-")) {
            return;
        }
        default(info);
        output::to_stderr(format_args!(
            "{} this is a bug in tune {}; please report it with the lines above and the command",
            "bug:".red().bold(),
            env!("CARGO_PKG_VERSION"),
        ));
    }));
}
