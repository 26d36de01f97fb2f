//! Executes decoded instructions on the architectural state of one wave64.
//!
//! Goes in: a [`Program`], a [`Wave`] and the memories its workgroup sees ([`Ctx`]). Comes out: the
//! changed state, and for memory instructions a record of the access that the timing model reads.

pub mod formats;
pub mod mfma;
mod operand;
mod program;
mod state;
mod step;

pub use program::Program;
pub use state::{Ctx, Flow, Lanes, MemAccess, MemKind, WAVE, Wave};
pub use step::{run, run_counted, step};
