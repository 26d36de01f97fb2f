//! The device layer: allocations, kernels and events on a GPU behind the HIP C ABI.
//!
//! Goes in: a HIP runtime found by `dlopen`, or the built-in simulator behind the same function
//! table. Comes out: safe handles that free themselves, typed errors, and the peak of live bytes.
//! Nothing above this module needs to know which of the two runtimes it is talking to.

mod args;
mod buffer;
mod device;
mod elf;
mod error;
mod event;
mod load;
mod module;
mod properties;
mod runtime;
pub mod table;
mod tracker;

pub use args::Args;
pub use buffer::Buffer;
pub use device::{Device, DeviceInfo, Fidelity, Launch};
pub use error::{HipError, HipErrorKind, LoadError, code};
pub use event::Event;
pub use module::{Function, Module};
pub use runtime::{Hip, RuntimeInfo, RuntimeKind};
pub use table::Table;

pub use cdna_sim::stats::LaunchStats;

#[cfg(test)]
mod tests;
