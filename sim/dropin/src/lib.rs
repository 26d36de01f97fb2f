//! The simulator as a drop-in `libamdhip64.so`: exports the HIP functions of [`cdna_sim::hip`].

pub use cdna_sim::hip::*;
