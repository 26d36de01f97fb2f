//! The memory models: what a row says, which terms a model has, and what it predicts.
//!
//! In go T, E and T*keys of a chunk; out comes the peak that a model with given coefficients
//! expects. Maximum likelihood is in `likelihood`, the choice among forms in `select`.

use serde::{Deserialize, Serialize};

/// What a row says about the peak, bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    /// The peak itself.
    Peak(f64),
    /// The peak was at least this (out of memory, or a guard fired).
    AtLeast(f64),
    /// The peak was at most this (it fitted; the peak was not recorded).
    AtMost(f64),
}

/// One row of a memory fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Line of the file that it stands on; 0 where there is none.
    pub line: u64,
    /// Rows of the chunk, tokens.
    pub t: f64,
    /// Context at the end of the chunk, tokens.
    pub e: f64,
    /// `T * keys`.
    pub pairs: f64,
    /// What was seen.
    pub seen: Seen,
}

impl Row {
    /// Whether the peak itself was measured.
    pub fn measured(&self) -> bool {
        matches!(self.seen, Seen::Peak(_))
    }
}

/// How memory grows with `T * keys`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Growth {
    /// Not at all (key blocking).
    Flat,
    /// `c * T * keys`.
    Dense,
    /// `min(b * T * keys, S)`: one bounded pool.
    Pooled,
    /// `c * T * keys + min(b * T * keys, S)`: a bounded pool beside unbounded buffers.
    DenseAndPooled,
}

impl Growth {
    /// Whether there is a term `c * T * keys`.
    pub fn dense(self) -> bool {
        matches!(self, Self::Dense | Self::DenseAndPooled)
    }

    /// Whether there is a bounded pool.
    pub fn pooled(self) -> bool {
        matches!(self, Self::Pooled | Self::DenseAndPooled)
    }
}

/// Unknowns of a model, in the order of [`Theta`]: `m0`, `m_T`, `m_E`, `c` and the pool's bytes
/// per (row, key).
pub const UNKNOWNS: usize = 5;
/// Position of `c` among the unknowns.
pub const C: usize = 3;
/// Coefficients as a vector, bytes per unit.
pub type Theta = [f64; UNKNOWNS];

/// Which terms a model has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// A fixed `m0`.
    pub fixed: bool,
    /// `m_T * T`.
    pub rows: bool,
    /// `m_E * E`.
    pub context: bool,
    /// Growth with `T * keys`.
    pub growth: Growth,
}

impl Form {
    /// The form with the bits `0`, `1`, `2` of `bits` for `m0`, `m_T` and `m_E`.
    pub fn new(bits: u32, growth: Growth) -> Self {
        Self { fixed: bits & 1 != 0, rows: bits & 2 != 0, context: bits & 4 != 0, growth }
    }

    /// Unknowns of the form, bit `j` for unknown `j`.
    pub fn mask(self) -> u32 {
        let growth = self.growth;
        [self.fixed, self.rows, self.context, growth.dense(), growth.pooled()]
            .into_iter()
            .enumerate()
            .fold(0, |mask, (j, present)| mask | u32::from(present) << j)
    }

    /// Unknowns that a fit of this form estimates: coefficients, the pool's knee and the noise.
    pub fn unknowns(self) -> usize {
        self.mask().count_ones() as usize + usize::from(self.growth.pooled()) + 1
    }

    /// The terms, readable.
    pub fn formula(self) -> String {
        let mut terms = Vec::new();
        let named = [(self.fixed, "m0"), (self.rows, "m_T*T"), (self.context, "m_E*E")];
        terms.extend(named.iter().filter(|(present, _)| *present).map(|(_, name)| *name));
        if self.growth.dense() {
            terms.push("c*T*keys");
        }
        if self.growth.pooled() {
            terms.push("min(b*T*keys, S)");
        }
        if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") }
    }
}

/// Coefficients of a memory model, bytes per unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coefficients {
    /// Fixed bytes.
    pub m0: f64,
    /// Bytes per chunk row.
    pub m_t: f64,
    /// Bytes per token of context.
    pub m_e: f64,
    /// Bytes per (row, key), unbounded.
    pub c: f64,
    /// Bytes per (row, key) of the bounded pool.
    pub pool_per_pair: f64,
    /// (row, key) pairs at which the pool is full; 0 without a pool.
    pub pool_pairs: f64,
}

impl Coefficients {
    /// From a vector of unknowns and the pool's knee; a pool without bytes is none.
    pub fn new(theta: Theta, knee: f64) -> Self {
        let [m0, m_t, m_e, c, pool_per_pair] = theta;
        let pool_pairs = if pool_per_pair > 0.0 { knee } else { 0.0 };
        Self { m0, m_t, m_e, c, pool_per_pair, pool_pairs }
    }

    /// The same with every byte times `factor`.
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            m0: factor * self.m0,
            m_t: factor * self.m_t,
            m_e: factor * self.m_e,
            c: factor * self.c,
            pool_per_pair: factor * self.pool_per_pair,
            pool_pairs: self.pool_pairs,
        }
    }

    /// Expected peak, bytes.
    pub fn peak(&self, t: f64, e: f64, pairs: f64) -> f64 {
        self.m0
            + self.m_t * t
            + self.m_e * e
            + self.c * pairs
            + self.pool_per_pair * pairs.min(self.pool_pairs)
    }

    /// Bytes of the bounded pool when full.
    pub fn pool_bytes(&self) -> f64 {
        self.pool_per_pair * self.pool_pairs
    }
}
