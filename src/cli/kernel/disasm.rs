//! `tune kernel disasm`: the code of an object in LLVM syntax.

use std::path::PathBuf;

use clap::Args;

use crate::cli::output;
use crate::error::{Exit, Result};
use crate::kernel_run;

/// Arguments of `tune kernel disasm`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Code object or offload bundle.
    #[arg(value_name = "FILE.hsaco")]
    file: PathBuf,
}

/// Disassembles and prints.
///
/// # Errors
/// Status 4 for a file that is no code object of a known target.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    output::line(kernel_run::disassemble(&arguments.file)?.trim_end())?;
    Ok(Exit::Ok)
}
