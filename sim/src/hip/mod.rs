//! The HIP C ABI over the simulated devices: the functions of `libamdhip64.so` that a program
//! which loads code objects, moves data and times kernels needs, with HIP's signatures and error
//! codes.
//!
//! Goes in: C calls. Comes out: `hipError_t` and what HIP would write; the diagnosis behind an
//! error through [`cdnaSimLastFault`]. Device 0 is an MI300X (gfx942), device 1 an MI355X
//! (gfx950). Copies and fills take no simulated time. The ABI is process-wide by its nature, which
//! is why this module alone keeps global state; what HIP keeps per host thread (current device,
//! last error) and the simulator's own settings are per thread.
//!
//! The extra functions `cdnaSim*` are the simulator's own; callers look them up by name.

#![allow(non_snake_case)]

mod codes;
mod device;
mod event;
mod ext;
mod host;
mod launch;
mod memory;
mod module;
mod occupancy;
mod pitched;
mod properties;
mod record;
mod runtime;
mod state;
mod stream;
mod unsupported;

pub use device::*;
pub use event::*;
pub use ext::*;
pub use host::*;
pub use launch::*;
pub use memory::*;
pub use module::*;
pub use occupancy::*;
pub use pitched::*;
pub use record::*;
pub use runtime::*;
pub use stream::*;
pub use unsupported::*;

#[cfg(test)]
mod tests;
