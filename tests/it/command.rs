//! Runs the built binary in a directory of its own.

use std::path::Path;
use std::process::{Command, Output};

/// What a finished `tune` left behind.
pub struct Finished {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

/// `tune` with `arguments`, to be run in `directory`.
pub fn tune(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tune"));
    command.current_dir(directory).args(arguments);
    command
}

/// Runs it to its end.
pub fn run(directory: &Path, arguments: &[&str]) -> Finished {
    let Output { status, stdout, stderr } = tune(directory, arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Finished { status: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
}

impl Finished {
    /// Asserts the status and that stderr holds each of `words` and no trace of a panic.
    #[track_caller]
    pub fn fails_with(&self, status: i32, words: &[&str]) {
        assert_eq!(self.status, status, "{}{}", self.stdout, self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is not in: {}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
    }
}
