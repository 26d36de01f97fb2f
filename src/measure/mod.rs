//! Measures the points of a grid on a HIP device, real or simulated.

pub mod sampling;
pub mod statistics;
pub mod worker;
