//! One launch in full, for a profiler: what the timing model saw, beyond statistics.
//!
//! Goes in: the wish of a thread, and its next launch. Comes out: a [`Recording`]. For callers in Rust
//! that reach the devices through the C ABI; the wish is the thread's, as its other settings are.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::arch::ArchParams;
use crate::exec::Program;
use crate::timing::Timing;

/// A launch as the timing model saw it.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Parameters of the device.
    pub params: &'static ArchParams,
    /// Code.
    pub program: Arc<Program>,
    /// Time, and where it went.
    pub timing: Timing,
}

thread_local! {
    static WANTED: Cell<Option<usize>> = const { Cell::new(None) };
    static RECORDED: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

/// Has this thread's next launch timed, whatever the mode of its launches is, and recorded with its
/// first `events` issues and waits. Only the workgroups that are timed or sampled execute.
pub fn record_next_launch(events: usize) {
    WANTED.set(Some(events));
}

/// The launch that was recorded, once; none where no launch succeeded since.
pub fn recorded_launch() -> Option<Recording> {
    WANTED.set(None);
    RECORDED.take()
}

/// How many events of the launch that begins are wanted, if it is to be recorded.
pub(super) fn wanted() -> Option<usize> {
    WANTED.take()
}

pub(super) fn keep(recording: Recording) {
    RECORDED.set(Some(recording));
}
