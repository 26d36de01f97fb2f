//! Dispatches: from a code object and launch parameters to executed workgroups.
//!
//! Goes in: a [`Module`] in device memory, the size of the grid and the argument bytes. Comes out:
//! a [`Prepared`] launch whose workgroups can be instantiated one by one, for the functional run
//! here ([`run`]) and for the timing model, and what was executed, or a [`crate::fault::Fault`].

mod kernarg;
mod module;
mod prepared;
mod run;
mod wave;

pub use module::{Module, ModuleError};
pub use prepared::{Dispatch, LaunchError, PACKET_BYTES, Prepared, Workgroup};
pub use run::{Executed, Options, run};

#[cfg(test)]
mod tests;
