//! Usable memory, `c` with its floor, and `BUDGET`.
//!
//! In go the memory fit of a path and the server's limits; out comes how many token^2 a chunk may
//! have, at the most likely `c` and at its one-sided 95% bound.

use serde::{Deserialize, Serialize};

use super::PlanError;
use super::ledger::budget_of_block;
use crate::fit::memory::MemoryFit;
use crate::options::ServerLimits;
use crate::units::Bytes;

/// Free memory taken where nothing says how much there is: the head node of the field note.
pub const ASSUMED_FREE: Bytes = Bytes(5_000_000_000);

/// `c` that a plan uses at least, where only our own pipelines were measured and memory grows with
/// `T*keys`: 13-14 B were measured on a deployed engine whose buffers alone are 9 B.
pub const UNVALIDATED_C: f64 = 14.0;

/// Memory that a chunk may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usable {
    /// Free after boot, bytes.
    pub free: Bytes,
    /// Whether `free` was assumed.
    pub assumed: bool,
    /// Whether `free` is what the observations report.
    #[serde(default)]
    pub observed: bool,
    /// Kept for the guard, bytes.
    pub guard: Bytes,
    /// Kept on top of the guard, bytes.
    pub margin: Bytes,
}

impl Usable {
    /// From flags, else from what the device said, else from what observations report, else assumed.
    pub fn new(limits: &ServerLimits, device_free: Option<Bytes>, observed: Option<Bytes>) -> Self {
        let known = limits.free_bytes.or(device_free);
        Self {
            free: known.or(observed).unwrap_or(ASSUMED_FREE),
            assumed: known.or(observed).is_none(),
            observed: known.is_none() && observed.is_some(),
            guard: limits.guard,
            margin: limits.margin,
        }
    }

    /// `free - guard - margin`.
    ///
    /// # Errors
    /// Nothing is left.
    pub fn bytes(&self) -> Result<u64, PlanError> {
        self.free
            .0
            .checked_sub(self.guard.0)
            .and_then(|rest| rest.checked_sub(self.margin.0))
            .filter(|rest| *rest > 0)
            .ok_or(PlanError::NoMemory { free: self.free, guard: self.guard, margin: self.margin })
    }
}

/// How many token^2 a chunk may have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// `free - guard - margin`, bytes.
    pub usable_bytes: u64,
    /// Bytes that every chunk takes.
    pub m0_bytes: u64,
    /// Fitted `c`, bytes per (row, key).
    pub fitted_c_point: f64,
    /// One-sided 95% bound of the fitted `c`.
    pub fitted_c_95: f64,
    /// `c` used for the point value: the fitted one or the floor.
    pub c_point: f64,
    /// `c` used at 95%.
    pub c_95: f64,
    /// The floor, where it was applied.
    pub floor: Option<f64>,
    /// `ratio * (usable - m0 - pool) / c_point`, token^2, and no more than [`Self::largest_block`]
    /// holds; none where memory does not grow with `T*keys`. What a path takes for each row or for
    /// each token of context is in the frontier, which decides, and not in this figure.
    pub budget_point: Option<u64>,
    /// The same with `c_95`.
    pub budget_95: Option<u64>,
    /// Largest free block, bytes: the fp32 scores of a chunk are one allocation and have to fit it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_block: Option<u64>,
}

impl Budget {
    /// The budget of a path.
    ///
    /// # Errors
    /// `m0` alone takes all usable memory.
    pub fn new(fit: &MemoryFit, usable_bytes: u64, validated: bool) -> Result<Self, PlanError> {
        let m0_bytes = fit.coefficients.m0.ceil() as u64;
        let rest = usable_bytes
            .checked_sub(m0_bytes)
            .filter(|rest| *rest > 0)
            .ok_or(PlanError::FixedTooLarge { m0: Bytes(m0_bytes), usable: Bytes(usable_bytes) })?;
        let floor =
            (fit.grows() && !validated && fit.c.point < UNVALIDATED_C).then_some(UNVALIDATED_C);
        let at_least_floor = |c: f64| floor.map_or(c, |f| c.max(f));
        let (c_point, c_95) = (at_least_floor(fit.c.point), at_least_floor(fit.c.upper_95));
        // Beside growth without a bound a pool is full long before the memory is.
        let rest = (rest as f64 - fit.coefficients.pool_bytes()).max(0.0);
        let budget =
            |c: f64| (c > 0.0).then(|| (f64::from(fit.ratio.max(1)) * rest / c).floor() as u64);
        Ok(Self {
            usable_bytes,
            m0_bytes,
            fitted_c_point: fit.c.point,
            fitted_c_95: fit.c.upper_95,
            c_point,
            c_95,
            floor,
            budget_point: budget(c_point),
            budget_95: budget(c_95),
            largest_block: None,
        })
    }

    /// The same where no allocation may be larger than `block`: on a path whose scores grow without
    /// a bound they are one allocation, and neither budget is more than the block holds of them.
    pub fn within_block(self, block: Option<Bytes>, memory: &MemoryFit) -> Self {
        let holds = budget_of_block(block, memory.ratio).filter(|_| memory.grows());
        let capped = |budget: Option<u64>| Some(budget?.min(holds.unwrap_or(u64::MAX)));
        Self {
            budget_point: capped(self.budget_point),
            budget_95: capped(self.budget_95),
            largest_block: block.map(|bytes| bytes.0),
            ..self
        }
    }
}
