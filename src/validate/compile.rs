//! Runs the kernel compiler: the Python package `chunktune_validate`, carried inside the program, on
//! the `triton` of the machine's Python.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::launches::{LaunchFile, SCHEMA};
use super::{Split, ValidateError};
use crate::files;

/// The package's files.
const PACKAGE: [(&str, &str); 8] = [
    ("__init__.py", include_str!("../../python/chunktune_validate/__init__.py")),
    ("__main__.py", include_str!("../../python/chunktune_validate/__main__.py")),
    ("aiter_source.py", include_str!("../../python/chunktune_validate/aiter_source.py")),
    ("build.py", include_str!("../../python/chunktune_validate/build.py")),
    ("families.py", include_str!("../../python/chunktune_validate/families.py")),
    ("recorder.py", include_str!("../../python/chunktune_validate/recorder.py")),
    ("shapes.py", include_str!("../../python/chunktune_validate/shapes.py")),
    ("vintage.py", include_str!("../../python/chunktune_validate/vintage.py")),
];

/// File of the launches in the folder of compiled kernels.
const LAUNCHES: &str = "launches.json";

/// What to compile with, and where to.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// Python interpreters that have triton; the first runs the package, each compiles the rows that
    /// its release of triton is nearest to. None stands for `python3`.
    pub pythons: Vec<PathBuf>,
    /// AITER checkout, with its history if the configurations of each row's time are wanted.
    pub aiter: PathBuf,
    /// Folder for code objects and launches.
    pub out: PathBuf,
}

/// Compiles the kernels of the rows of a split.
///
/// # Errors
/// No Python, no triton, no AITER tree, or a compiler that ended early; with its last words.
pub fn compile(
    compiler: &Compiler,
    timings: &Path,
    split: Split,
) -> Result<LaunchFile, ValidateError> {
    if !compiler.aiter.is_dir() {
        let what = format!(
            "{}: no such folder; --aiter names an AITER checkout",
            compiler.aiter.display()
        );
        return Err(ValidateError::Compiler(what));
    }
    if !compiler.aiter.join("aiter/ops/triton").is_dir() {
        let what = format!(
            "{}: no AITER checkout: there is no aiter/ops/triton in it",
            compiler.aiter.display()
        );
        return Err(ValidateError::Compiler(what));
    }
    let package = tempfile::tempdir()
        .map_err(|error| ValidateError::Compiler(format!("no temporary folder: {error}")))?;
    for (name, text) in PACKAGE {
        files::write_atomic(
            &package.path().join("chunktune_validate").join(name),
            text.as_bytes(),
        )?;
    }
    let pythons = match compiler.pythons.as_slice() {
        [] => vec![PathBuf::from("python3")],
        given => given.to_vec(),
    };
    let mut command = Command::new(&pythons[0]);
    command.args(["-W", "ignore", "-m", "chunktune_validate"]);
    command.arg("--timings").arg(absolute(timings)).arg("--aiter").arg(absolute(&compiler.aiter));
    command.arg("--out").arg(absolute(&compiler.out)).args(["--split", split.name()]);
    command.arg("--compilers").args(&pythons);
    command.env("PYTHONPATH", package.path()).env("PYTHONDONTWRITEBYTECODE", "1");
    command.stderr(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
    let python = pythons[0].display();
    let done = command.output().map_err(|error| {
        ValidateError::Compiler(format!(
            "{python}: {error}; --python names an interpreter with triton"
        ))
    })?;
    if !done.status.success() {
        let words = String::from_utf8_lossy(&done.stderr);
        let last = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no message");
        return Err(ValidateError::Compiler(format!(
            "{python}: the kernel compiler failed: {last}"
        )));
    }
    if !compiler.out.join(LAUNCHES).exists() {
        return Err(ValidateError::Compiler(format!(
            "{python}: the kernel compiler left nothing behind; --python names an interpreter with \
             triton"
        )));
    }
    read(&compiler.out)
}

/// Reads what a compiler has left in a folder.
///
/// # Errors
/// A missing or foreign file.
pub(super) fn read(folder: &Path) -> Result<LaunchFile, ValidateError> {
    Ok(files::read_json(&folder.join(LAUNCHES), SCHEMA)?)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
