//! The question of one kernel, shape and tile: what a ragged length costs, and at which block size.
//!
//! In go its points; out comes whether the gain is known to the precision and, where there is one,
//! the block size, else the rows to measure next. Half a tile past a whole one tells a block from
//! its half, one tile past two tells it from its double.

use super::State;
use crate::fit::alignment::{self, AlignmentFit, EVEN, RAGGED_WRAP};
use crate::grid::{Case, Group, TileKernel, matrix_case};
use crate::model::MatrixShape;
use crate::plan::WORTH;
use crate::profile::Point;

/// Rows short of a whole tile at which the gain is taken, where the tile has as many: 16368 of
/// 16384 is the published comparison.
const RAGGED_BY: u64 = 16;

/// Alignment of one kernel, shape and tile.
#[derive(Clone, Debug)]
pub struct KernelGoal {
    shape: MatrixShape,
    block: u64,
    even: TileKernel,
    ragged: Vec<TileKernel>,
    /// Row counts to measure around, largest first.
    bases: Vec<u64>,
}

impl KernelGoal {
    /// The question; none for a kernel that has no even or no ragged variant.
    pub fn new(
        shape: &MatrixShape,
        block_m: u32,
        members: &[&TileKernel],
        bases: &[u64],
    ) -> Option<Self> {
        let block = u64::from(block_m);
        let runs = |kernel: &TileKernel, base: u64| match kernel.variant.as_str() {
            EVEN => kernel.accepts(base, shape),
            _ => base > block && kernel.accepts(base - ragged_by(block), shape),
        };
        // A kernel of a pack runs only at the rows at which its engine would pick it.
        let anywhere = |kernel: &&&TileKernel| bases.iter().any(|base| runs(kernel, *base));
        let even = members.iter().filter(anywhere).find(|k| k.variant == EVEN)?;
        let mut ragged: Vec<TileKernel> = members
            .iter()
            .filter(anywhere)
            .filter(|k| k.variant != EVEN)
            .map(|k| (*k).clone())
            .collect();
        // The deployed algorithm first: block sizes are read from it.
        ragged.sort_by_key(|k| k.variant != RAGGED_WRAP);
        let mut bases: Vec<u64> = bases
            .iter()
            .copied()
            .filter(|base| runs(even, *base) && ragged.iter().any(|kernel| runs(kernel, *base)))
            .collect();
        bases.sort_unstable_by(|a, b| b.cmp(a));
        let complete = !bases.is_empty() && block > 1;
        complete.then(|| Self { shape: shape.clone(), block, even: (*even).clone(), ragged, bases })
    }

    /// Name for messages.
    pub fn name(&self) -> String {
        format!(
            "{} {}",
            self.even.id.trim_end_matches(EVEN).trim_end_matches(['_', '.', '-']),
            self.shape.name
        )
    }

    /// Where it stands.
    pub fn state(&self, points: &[Point], precision: f64) -> State {
        let own: Vec<Point> = points.iter().filter(|p| self.is_own(p)).cloned().collect();
        let fit = alignment::fit(&own).into_iter().next();
        let (width, settled) = self.judge(fit.as_ref(), precision);
        let found = self.sentence(fit.as_ref());
        if settled {
            return State::Settled(found);
        }
        let measured = |case: &Case| own.iter().any(|p| case.is_of(&p.kernel, p.m));
        let stages = std::iter::once(self.pair(self.bases[0]))
            .chain(self.bases[1..].iter().map(|base| self.around(*base)));
        for stage in stages {
            let next: Group = stage.into_iter().filter(|case| !measured(case)).collect();
            if !next.is_empty() {
                return State::Open { width, next };
            }
        }
        State::Exhausted(found)
    }

    /// Half-width of the gain's interval and whether gain and block are settled.
    fn judge(&self, fit: Option<&AlignmentFit>, precision: f64) -> (f64, bool) {
        let Some((fit, at)) = fit.and_then(|fit| Some((fit, fit.ragged()?.at))) else {
            return (f64::INFINITY, false);
        };
        let width = 0.5 * (at.hi / at.lo).ln();
        // Not worth a setting even at the upper end: its block does not matter.
        let none = fit.variants.iter().all(|v| v.at.hi <= WORTH.max(1.0 + precision));
        let found = fit.block.as_ref().is_some_and(|block| block.candidates.len() == 1);
        // An open block is as wide open as anything can be.
        let open = if none || found { width } else { width.max(1.0) };
        (open, width <= precision && (none || found))
    }

    fn sentence(&self, fit: Option<&AlignmentFit>) -> String {
        let Some((fit, at)) = fit.and_then(|fit| Some((fit, fit.ragged()?.at))) else {
            return "no pair was measured".to_owned();
        };
        let block = match &fit.block {
            Some(block) => {
                let sizes: Vec<String> = block.candidates.iter().map(u64::to_string).collect();
                format!("block {}", sizes.join(" or "))
            }
            None => "no block shows".to_owned(),
        };
        format!("a ragged row takes {:.3} of an aligned one, {block}", at.gain)
    }

    fn is_own(&self, point: &Point) -> bool {
        point.shape == self.shape.name
            && (point.kernel == self.even.id || self.ragged.iter().any(|k| k.id == point.kernel))
    }

    /// One ragged length beside the next aligned one, in every variant.
    fn pair(&self, base: u64) -> Group {
        let ragged = self.ragged.iter().map(|kernel| (kernel, base - ragged_by(self.block)));
        self.group(std::iter::once((&self.even, base)).chain(ragged))
    }

    /// The whole tiles below and at `base` and ragged lengths between, in the deployed variant.
    fn around(&self, base: u64) -> Group {
        let below = base - self.block;
        let ragged = [1, self.block / 2, self.block - (self.block / 4).clamp(1, RAGGED_BY)];
        let whole = [below, base].map(|m| (&self.even, m));
        self.group(whole.into_iter().chain(ragged.map(|past| (&self.ragged[0], below + past))))
    }

    /// The cases of kernels that run at those rows.
    fn group<'a>(&'a self, wanted: impl Iterator<Item = (&'a TileKernel, u64)>) -> Group {
        wanted
            .filter(|(kernel, m)| *m > 0 && kernel.accepts(*m, &self.shape))
            .map(|(kernel, m)| matrix_case(kernel, &self.shape, m))
            .collect()
    }
}

/// Rows short of a whole tile at which the gain is taken.
fn ragged_by(block: u64) -> u64 {
    RAGGED_BY.min(block / 2)
}
