//! Mechanism tests: hand-written kernels whose time follows from arithmetic.

mod ahead;
mod bandwidth;
mod bench;
mod issue;
mod latency;
mod launch;
