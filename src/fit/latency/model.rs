//! The model of time: a polynomial in T and L, and stairs where kernels work in whole tiles.
//!
//! In go T and L; out comes microseconds. For a given T the time is linear in L, which is what
//! schedules are searched with.

use serde::{Deserialize, Serialize};

/// What a kernel that works in tiles of `block` rows adds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stair {
    /// Rows of a tile.
    pub block: u64,
    /// Microseconds per tile, `ceil(T / block)` of them.
    pub tile_us: f64,
    /// Microseconds more where T is no multiple of `block`.
    pub ragged_us: f64,
    /// Microseconds more per tile where T is no multiple of `block`.
    pub ragged_tile_us: f64,
}

impl Stair {
    /// Microseconds of `t` rows.
    pub fn time_us(&self, t: u64) -> f64 {
        let block = self.block.max(1);
        let tiles = t.div_ceil(block) as f64;
        let even = self.tile_us * tiles;
        if t.is_multiple_of(block) {
            return even;
        }
        even + self.ragged_us + self.ragged_tile_us * tiles
    }
}

/// `t(T, L) = a0 + a1*T + a2*L + a3*T*L + a4*T^2` and stairs, microseconds; every coefficient is at
/// least zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeModel {
    /// Microseconds of every chunk.
    pub a0_us: f64,
    /// Microseconds per row.
    pub a1_us_per_t: f64,
    /// Microseconds per token of prefix.
    pub a2_us_per_l: f64,
    /// Microseconds per row and token of prefix.
    pub a3_us_per_tl: f64,
    /// Microseconds per row^2.
    pub a4_us_per_t2: f64,
    /// Kernels that work in whole tiles.
    pub stairs: Vec<Stair>,
}

impl TimeModel {
    /// A model of the five coefficients `a0` to `a4`, without stairs.
    pub fn of([a0, a1, a2, a3, a4]: [f64; 5]) -> Self {
        Self {
            a0_us: a0,
            a1_us_per_t: a1,
            a2_us_per_l: a2,
            a3_us_per_tl: a3,
            a4_us_per_t2: a4,
            stairs: Vec::new(),
        }
    }

    /// The part that does not depend on the prefix, microseconds.
    pub fn rows_us(&self, t: u64) -> f64 {
        let rows = t as f64;
        let stairs: f64 = self.stairs.iter().map(|stair| stair.time_us(t)).sum();
        self.a0_us + rows * (self.a1_us_per_t + self.a4_us_per_t2 * rows) + stairs
    }

    /// The part that a token of prefix adds, microseconds.
    pub fn prefix_us(&self, t: u64) -> f64 {
        self.a2_us_per_l + self.a3_us_per_tl * t as f64
    }

    /// Time of a chunk of `t` rows after `l` tokens, microseconds.
    pub fn time_us(&self, t: u64, l: u64) -> f64 {
        self.rows_us(t) + self.prefix_us(t) * l as f64
    }

    /// Time of chunks one after another, starting at prefix `from`, microseconds.
    pub fn total_us(&self, chunks: &[u64], from: u64) -> f64 {
        let mut prefix = from;
        let mut total = 0.0;
        for &chunk in chunks {
            total += self.time_us(chunk, prefix);
            prefix = prefix.saturating_add(chunk);
        }
        total
    }

    /// Both models one after the other.
    pub fn plus(mut self, other: &Self) -> Self {
        self.a0_us += other.a0_us;
        self.a1_us_per_t += other.a1_us_per_t;
        self.a2_us_per_l += other.a2_us_per_l;
        self.a3_us_per_tl += other.a3_us_per_tl;
        self.a4_us_per_t2 += other.a4_us_per_t2;
        self.stairs.extend(&other.stairs);
        self
    }

    /// The model of a rank that takes `1/ranks` of the rows of a chunk, in terms of the whole chunk.
    /// The rows of a rank are scored against the keys of the whole chunk, so the term in `T^2` is
    /// divided once.
    pub fn shared_by(mut self, ranks: u32) -> Self {
        let share = 1.0 / f64::from(ranks.max(1));
        self.a1_us_per_t *= share;
        self.a3_us_per_tl *= share;
        self.a4_us_per_t2 *= share;
        for stair in &mut self.stairs {
            stair.block = stair.block.saturating_mul(u64::from(ranks.max(1)));
        }
        self
    }

    /// The model `factor` times over.
    pub fn times(mut self, factor: f64) -> Self {
        for value in [
            &mut self.a0_us,
            &mut self.a1_us_per_t,
            &mut self.a2_us_per_l,
            &mut self.a3_us_per_tl,
            &mut self.a4_us_per_t2,
        ] {
            *value *= factor;
        }
        for stair in &mut self.stairs {
            stair.tile_us *= factor;
            stair.ragged_us *= factor;
            stair.ragged_tile_us *= factor;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stair_charges_whole_tiles_and_more_for_a_ragged_length() {
        let stair = Stair { block: 64, tile_us: 2.0, ragged_us: 5.0, ragged_tile_us: 1.0 };
        assert_eq!(stair.time_us(128), 4.0);
        // Three tiles: 3 * 2 + 5 + 3 * 1.
        assert_eq!(stair.time_us(129), 14.0);
    }

    #[test]
    fn time_is_linear_in_the_prefix_and_models_add_up() {
        let model = TimeModel::of([1.0, 0.5, 0.25, 0.125, 0.0625]);
        // 1 + 0.5*4 + 0.25*8 + 0.125*32 + 0.0625*16 = 10.
        assert_eq!(model.time_us(4, 8), 10.0);
        assert_eq!(model.total_us(&[4, 4], 0), model.time_us(4, 0) + model.time_us(4, 4));
        let twice = model.clone().plus(&model);
        assert_eq!(twice, model.clone().times(2.0));
        // 4 of 12 rows on each of three ranks, scored against the chunk's own 12 tokens:
        // 1 + 0.5*4 + 0.25*8 + 0.125*4*8 + 0.0625*4*12 = 12.
        assert!((model.shared_by(3).time_us(12, 8) - 12.0).abs() < 1e-12);
    }
}
