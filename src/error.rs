//! The one error that reaches the user: a message (what happened, where), advice (what to do) and
//! the exit status. Library layers keep their own typed errors; this is where they end up.
//!
//! | status | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | internal or other failure |
//! | 2 | bad flag, value or request |
//! | 3 | no such device, or hardware asked for and not there |
//! | 4 | a file is missing, corrupt or of the wrong format |
//! | 5 | a kernel faulted on the device |
//! | 6 | a check failed |
//! | 7 | output cannot be written |
//! | 8 | a check has nothing worse than warnings |
//! | 130 | interrupted |

use std::fmt;
use std::path::Path;

use crate::files::{FileError, refuse_device};
use crate::grid::GridError;
use crate::hip::{HipError, HipErrorKind, code};
use crate::journal::JournalError;
use crate::kernel_run::RunError;
use crate::model::ModelError;
use crate::plan::PlanError;
use crate::text::clipped;
use crate::validate::ValidateError;

/// Exit status of `tune`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Ok = 0,
    /// Internal or other failure.
    Failed = 1,
    /// Bad flag, value or request.
    Usage = 2,
    /// No such device, or hardware asked for and not there.
    NoDevice = 3,
    /// A file is missing, corrupt or of the wrong format.
    Format = 4,
    /// A kernel faulted on the device.
    DeviceFault = 5,
    /// A check failed.
    Check = 6,
    /// Output cannot be written.
    Output = 7,
    /// A check has nothing worse than warnings.
    Warned = 8,
    /// Interrupted by Ctrl-C or a termination signal.
    Interrupted = 130,
}

/// What the user is told when something does not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Exit status.
    pub exit: Exit,
    /// What happened and where, in one sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub advice: Option<String>,
}

/// Most characters of a message: what quotes a file must not fill the screen.
const LONGEST: usize = 1500;

/// Result of the command layer.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with an exit status and a message.
    pub fn new(exit: Exit, message: impl fmt::Display) -> Self {
        Self { exit, message: clipped(&message.to_string(), LONGEST), advice: None }
    }

    /// Internal or other failure (status 1).
    pub fn failed(message: impl fmt::Display) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// Bad flag, value or request (status 2).
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// No such device (status 3).
    pub fn no_device(message: impl fmt::Display) -> Self {
        Self::new(Exit::NoDevice, message)
    }

    /// A file that cannot be read or understood (status 4).
    pub fn format(path: &Path, why: impl fmt::Display) -> Self {
        Self::new(Exit::Format, format_args!("{}: {why}", path.display()))
    }

    /// Output that cannot be written (status 7).
    pub fn output(path: &Path, why: impl fmt::Display) -> Self {
        Self::new(Exit::Output, format_args!("cannot write {}: {why}", path.display()))
    }

    /// Says what to do about it.
    pub fn advice(mut self, advice: impl fmt::Display) -> Self {
        self.advice = Some(advice.to_string());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.advice {
            Some(advice) => write!(f, "\n  {advice}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// Reads a text file, with the path in the message and without a byte order mark.
///
/// # Errors
/// Status 4 when the file is missing, not readable or not UTF-8.
pub fn read_text(path: &Path) -> Result<String> {
    match refuse_device(path).and_then(|()| std::fs::read_to_string(path)) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            Err(Error::format(path, "it is no UTF-8 text").advice("convert the file to UTF-8"))
        }
        Err(error) => Err(Error::format(path, error)),
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Self {
        let exit = match error {
            FileError::Encode { .. } => Exit::Failed,
            FileError::Io { action, .. } if action != "reading" => Exit::Output,
            _ => Exit::Format,
        };
        Self::new(exit, error)
    }
}

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        let exit = match error {
            ModelError::Config(_) => Exit::Format,
            _ => Exit::Usage,
        };
        Self::new(exit, error)
    }
}

impl From<GridError> for Error {
    fn from(error: GridError) -> Self {
        Self::usage(error)
    }
}

impl From<JournalError> for Error {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Io { .. } => Self::new(Exit::Output, error),
            JournalError::Busy { .. } => {
                Self::usage(error).advice("name another directory with --out")
            }
            JournalError::Missing { .. } => {
                Self::usage(error).advice("start the run without --resume")
            }
            JournalError::Corrupt { line: 1, .. } => Self::new(Exit::Format, error).advice(
                "without its first line the rest cannot be trusted: start over in a new directory",
            ),
            JournalError::Corrupt { .. } => Self::new(Exit::Format, error).advice(
                "delete the journal's corrupt line and resume, or start over in a new directory",
            ),
            JournalError::Key { .. } => Self::usage(error)
                .advice("resume with the options of that run, or start over in a new directory"),
        }
    }
}

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        Self::usage(error)
    }
}

impl From<HipError> for Error {
    fn from(error: HipError) -> Self {
        let exit = match error.kind {
            HipErrorKind::LaunchFault | HipErrorKind::Timeout => Exit::DeviceFault,
            HipErrorKind::NoDevice => Exit::NoDevice,
            HipErrorKind::InvalidValue
                if matches!(error.code, code::INVALID_IMAGE | code::NO_BINARY_FOR_GPU) =>
            {
                Exit::Format
            }
            HipErrorKind::InvalidValue => Exit::Usage,
            // The simulator answers this for code that it cannot execute.
            HipErrorKind::Other if error.code == code::NOT_SUPPORTED => Exit::Format,
            HipErrorKind::OutOfMemory | HipErrorKind::Other => Exit::Failed,
        };
        Self::new(exit, error)
    }
}

impl From<ValidateError> for Error {
    fn from(error: ValidateError) -> Self {
        match error {
            ValidateError::File(error) => error.into(),
            ValidateError::Timings { .. } | ValidateError::Parameters(_) => {
                Self::new(Exit::Format, error)
            }
            ValidateError::OtherTable { .. } => Self::new(Exit::Format, error)
                .advice("compile them again: --aiter PATH --keep DIR in place of --launches"),
            ValidateError::Compiler(_) => Self::failed(error)
                .advice("install the triton wheel (pip install triton) and check out ROCm/aiter"),
        }
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        match error {
            RunError::File(error) => error.into(),
            RunError::Device(error) => error.into(),
            RunError::Array { .. } | RunError::Spec { .. } | RunError::CodeObject { .. } => {
                Self::new(Exit::Format, error)
            }
            RunError::Metadata { .. } => Self::usage(error),
        }
    }
}
