//! The `tune` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    chunktune::cli::main()
}
