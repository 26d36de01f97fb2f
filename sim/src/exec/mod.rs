//! Executes decoded instructions on the architectural state of one wave64.
//!
//! Goes in: a [`Program`], a [`Wave`] and the memories its workgroup sees ([`Ctx`]). Comes out: the
//! changed state, and for memory instructions a record of the access that the timing model reads.

mod access;
mod atomic;
mod buffer;
pub mod formats;
pub mod global;
pub mod hazard;
mod host;
pub mod lds;
mod mfma;
mod mode;
mod operand;
mod program;
mod quad;
mod scalar;
mod scratch;
pub mod smem;
mod span;
mod state;
mod step;
mod tally;
#[cfg(test)]
mod testing;
mod vector;

pub use program::Program;
pub use state::{
    Ctx, Flow, Lanes, MemAccess, MemKind, PRIVATE_APERTURE, SHARED_APERTURE, WAVE, Wave,
};
pub use step::{run, run_counted, step};
pub use tally::Tally;
