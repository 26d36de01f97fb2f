//! `cdna-sim` runs unmodified AMDGPU code objects for CDNA3 (gfx942) and CDNA4 (gfx950) on a CPU:
//! functionally, with real results, and in a timing mode that estimates how long the hardware
//! would take. It is reached through Rust or through the HIP C ABI.

pub mod arch;
pub mod code_object;
pub mod device;
pub mod exec;
pub mod fault;
pub mod hip;
pub mod isa;
pub mod launch;
pub mod memory;
pub mod stats;
pub mod timing;
