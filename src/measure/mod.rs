//! Measures the points of a grid on a HIP device, real or simulated.
//!
//! A list of cases and a runtime go in; finished points come out one at a time, so that the caller
//! can put each on disk before the next. A point that fails has an outcome and a diagnosis and
//! costs nothing else.

pub mod bench;
pub mod outcome;
pub mod parallel;
pub mod prepared;
pub mod sampling;
pub mod statistics;
pub mod worker;
