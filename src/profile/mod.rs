//! A profile: what was measured, one [`Point`] a row, and where it came from.

mod point;

pub use point::{Engine, Op, Outcome, Point};
