//! Ctrl-C and termination signals: the first asks the run to end between two points, the second
//! ends the process at once. The journal is whole either way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Exit, Result};

/// Raised when the run should end.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens for signals from now on.
    ///
    /// # Errors
    /// Status 1 when the handler cannot be installed.
    pub fn listen() -> Result<Self> {
        let interrupt = Self::default();
        let flag = interrupt.0.clone();
        ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(Exit::Interrupted as u8));
            }
        })
        .map_err(|error| Error::failed(format_args!("cannot listen for Ctrl-C: {error}")))?;
        Ok(interrupt)
    }

    /// Ends the run where it has been asked to end; `state` says what is done and what is not.
    ///
    /// # Errors
    /// Status 130.
    pub fn check(&self, state: impl std::fmt::Display) -> Result<()> {
        if self.0.load(Ordering::Relaxed) {
            return Err(Error::new(Exit::Interrupted, format_args!("interrupted: {state}")));
        }
        Ok(())
    }

    /// The flag to watch.
    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_after_the_last_point_ends_the_run_at_the_next_stage() {
        let interrupt = Interrupt::default();
        assert_eq!(interrupt.check("nothing is written"), Ok(()));
        interrupt.flag().store(true, Ordering::Relaxed);
        let error = interrupt.check("nothing is written").unwrap_err();
        assert_eq!(error.exit, Exit::Interrupted);
        assert_eq!(error.message, "interrupted: nothing is written");
    }
}
