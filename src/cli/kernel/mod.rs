//! `tune kernel`: the bundled kernels and any other code object. One file a subcommand.

pub(super) mod check;
mod disasm;
mod list;
mod profile;
mod run;
mod variants;

use clap::{Args, Subcommand};

use crate::error::{Exit, Result};
use crate::options;

/// Arguments of `tune kernel`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the bundled kernels with their registers, LDS, spills, occupancy and instructions.
    List(list::Arguments),
    /// Run every kernel and pipeline on the simulator and compare with f64 references.
    Check(check::Arguments),
    /// Print the code of an object in LLVM syntax.
    Disasm(disasm::Arguments),
    /// Run a kernel of any code object on arrays from files.
    Run(run::Arguments),
    /// Show where the time of a kernel goes, on the simulator.
    Profile(profile::Arguments),
    /// Compare the even and the ragged variants of kernels without running them.
    Variants(variants::Arguments),
}

/// Runs a subcommand.
///
/// # Errors
/// The subcommand's.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    match &arguments.command {
        Command::List(arguments) => list::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Disasm(arguments) => disasm::run(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Profile(arguments) => profile::run(arguments),
        Command::Variants(arguments) => variants::run(arguments),
    }
}

/// The targets to work on: the one named, or all that have bundled kernels.
fn targets(arch: Option<&str>) -> Result<Vec<String>> {
    let known: Vec<String> =
        cdna_sim::isa::Arch::ALL.iter().map(|arch| arch.name().to_owned()).collect();
    match arch {
        None => Ok(known),
        Some(name) => Ok(vec![options::arch(name)?]),
    }
}
