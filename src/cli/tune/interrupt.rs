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

    /// The flag to watch.
    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }
}
