//! Which points to measure next: as few as settle `c`, the gain of an aligned length and the block
//! size to the precision asked for.
//!
//! In go the shapes, the kernels and the axes of a grid, and the points measured so far; out come
//! the groups of cases to measure next, those of the widest interval first, until every question is
//! settled or the grid has no more to say about it. Pure: the same points always give the same
//! next groups, so an interrupted run goes on where it was.

mod kernel;
mod memory;

use crate::grid::{self, Axes, GridError, Group, TileKernel};
use crate::model::RankShapes;
use crate::profile::{Op, Point};

use kernel::KernelGoal;
use memory::MemoryGoal;

/// Where a question stands.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Settled; what was found, in words.
    Settled(String),
    /// The grid has no more points for it; what was found, in words.
    Exhausted(String),
    /// Open: half-width of its interval over its value, and what to measure next.
    Open {
        /// Half-width relative to the value; infinite while nothing is known.
        width: f64,
        /// Cases to measure.
        next: Group,
    },
}

/// The questions of one campaign.
#[derive(Clone, Debug)]
pub struct Planner {
    memory: Vec<MemoryGoal>,
    kernels: Vec<KernelGoal>,
    /// Cases of the grid whose axes these are.
    whole: usize,
    precision: f64,
}

impl Planner {
    /// The questions that a model's shapes and the kernels at hand raise, to be settled to
    /// `precision` (relative half-width), with the values of `axes` to measure at.
    ///
    /// # Errors
    /// As [`grid::build`] of the same axes.
    pub fn new(
        shapes: &RankShapes,
        kernels: &[TileKernel],
        axes: &Axes,
        precision: f64,
    ) -> Result<Self, GridError> {
        let whole = grid::build(shapes, kernels, axes)?.iter().map(Vec::len).sum();
        let memory = grid::indexer_paths(shapes.indexer)
            .into_iter()
            .map(|(pipeline, indexer)| MemoryGoal::new(pipeline, indexer, axes))
            .collect();
        let mut questions = Vec::new();
        for (op, list) in [(Op::AbsorbBmm, &shapes.absorb), (Op::Gemm, &shapes.gemm)] {
            for shape in grid::measured_shapes(list, kernels, axes) {
                for (tile, members) in grid::tiles(kernels, op, axes) {
                    questions.extend(KernelGoal::new(shape, tile[0], &members, &axes.m_bases));
                }
            }
        }
        Ok(Self { memory, kernels: questions, whole, precision })
    }

    /// Cases of the whole grid.
    pub fn whole(&self) -> usize {
        self.whole
    }

    /// What to measure next, the widest interval first; empty when nothing is open.
    pub fn next(&self, points: &[Point]) -> Vec<Group> {
        let mut open: Vec<(f64, Group)> = self
            .states(points)
            .into_iter()
            .filter_map(|(_, state)| match state {
                State::Open { width, next } => Some((width, next)),
                State::Settled(_) | State::Exhausted(_) => None,
            })
            .collect();
        open.sort_by(|a, b| b.0.total_cmp(&a.0));
        open.into_iter().map(|(_, group)| group).collect()
    }

    /// Every question by name with where it stands.
    pub fn states(&self, points: &[Point]) -> Vec<(String, State)> {
        let memory =
            self.memory.iter().map(|goal| (goal.name(), goal.state(points, self.precision)));
        let kernels =
            self.kernels.iter().map(|goal| (goal.name(), goal.state(points, self.precision)));
        memory.chain(kernels).collect()
    }

    /// What was settled and what it saved, in words. `ended` is why measuring stopped early.
    pub fn account(&self, points: &[Point], ended: Option<&str>) -> Vec<String> {
        let percent = |part: usize| 100.0 * part as f64 / self.whole.max(1) as f64;
        let states = self.states(points);
        let settled = states.iter().filter(|(_, s)| matches!(s, State::Settled(_))).count();
        let mut out = vec![format!(
            "Adaptive: {} points in place of the {} of the default grid ({:.0}%); {settled} of {} \
             questions settled to {:.1}%{}.",
            points.len(),
            self.whole,
            percent(points.len()),
            states.len(),
            100.0 * self.precision,
            ended.map_or(String::new(), |why| format!("; {why}"))
        )];
        out.extend(states.into_iter().map(|(name, state)| match state {
            State::Settled(found) => format!("{name}: {found}."),
            State::Exhausted(found) => {
                format!("{name}: not settled, the grid has no more points; so far {found}.")
            }
            State::Open { width, .. } if width.is_finite() => {
                format!("{name}: not settled, to {:.1}% so far.", 100.0 * width)
            }
            State::Open { .. } => format!("{name}: not settled, too few points."),
        }));
        out
    }
}

#[cfg(test)]
mod tests;
