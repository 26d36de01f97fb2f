//! Integration tests of the simulator.

mod bundled;
mod compiled;
mod determinism;
mod disasm_encodings;
mod disasm_objects;
mod occupancy;
mod random_programs;
mod reference;
mod timing;
mod timing_properties;
mod tools;
mod triton;
