//! What an error means for the point in which it happened.

use crate::hip::{HipError, HipErrorKind};
use crate::ops::OpError;
use crate::profile::{Outcome, Point};

/// An error of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What the profile calls it.
    pub outcome: Outcome,
    /// Diagnosis.
    pub message: String,
}

impl Trouble {
    /// An error of the tool or of a device that still works.
    pub fn error(message: impl ToString) -> Self {
        Self { outcome: Outcome::Error, message: message.to_string() }
    }

    /// Whether the device has to be opened again before anything else can run on it.
    pub fn is_fatal(&self) -> bool {
        matches!(self.outcome, Outcome::Fault | Outcome::Hang)
    }

    /// Writes it into the point.
    pub fn record(self, mut point: Point) -> Point {
        point.outcome = self.outcome;
        point.message = Some(self.message);
        point
    }
}

impl From<HipError> for Trouble {
    fn from(error: HipError) -> Self {
        let outcome = match error.kind {
            HipErrorKind::OutOfMemory => Outcome::Oom,
            HipErrorKind::LaunchFault => Outcome::Fault,
            HipErrorKind::Timeout => Outcome::Hang,
            HipErrorKind::NoDevice | HipErrorKind::InvalidValue | HipErrorKind::Other => {
                Outcome::Error
            }
        };
        Self { outcome, message: error.to_string() }
    }
}

impl From<OpError> for Trouble {
    fn from(error: OpError) -> Self {
        match error {
            OpError::Hip(error) => error.into(),
            other => Self::error(other),
        }
    }
}
