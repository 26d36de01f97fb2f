//! Integration tests of the simulator.

mod compiled;
mod disasm_encodings;
mod disasm_objects;
mod occupancy;
mod timing;
mod tools;
mod triton;
