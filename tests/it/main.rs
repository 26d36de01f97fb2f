//! Black-box tests: the built `tune` binary, and the library against scripted HIP runtimes.

mod admit;
mod against;
mod bad_input;
mod command;
mod emit;
mod fake_hip;
mod faults;
mod fit;
mod kernel_pack;
mod kernel_profile;
mod kernels;
mod main_job;
mod parsers;
mod plan;
mod python;
mod settings;
mod tools;
mod validate;
