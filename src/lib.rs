//! `chunktune` measures HIP kernels on an AMD Instinct GPU (or on its own CDNA simulator), works
//! out how large a prefill chunk an LLM server can afford and how its length must be aligned, and
//! writes the configuration that makes SGLang run that way.
//!
//! Data flows one way: grid, measure, journal, profile, fit, plan, emit and report.

pub mod adaptive;
pub mod cli;
pub mod derive;
pub mod doctor;
pub mod emit;
pub mod error;
pub mod files;
pub mod fit;
pub mod grid;
pub mod hip;
pub mod journal;
pub mod kernel_profile;
pub mod kernel_run;
pub mod measure;
pub mod model;
pub mod ops;
pub mod options;
pub mod plan;
pub mod profile;
pub mod report;
pub mod sglang;
pub mod text;
pub mod units;
pub mod validate;
