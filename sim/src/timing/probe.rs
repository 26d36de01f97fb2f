//! How workgroups that run at the same time share what they read.
//!
//! Goes in: a launch. Comes out: [`Sharing`]. The first wave of each of a set of workgroups is
//! executed up to its first loads, without side effects: it stops before it would write to memory.
//! Two sets are looked at: workgroups that run at the same time on one die tell which lines of an
//! allocation one of them finds in L2 because another has fetched them; neighbours in dispatch order,
//! which go to different dies, tell what the memory-side cache serves. The fractions are those of the
//! first loads and are taken to hold throughout, which is so for kernels that walk along K in step.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::coalesce::Segments;
use super::grid::Grid;
use super::plan::Spread;
use super::prober::Prober;
use super::sharing::{Shared, Sharing};
use crate::arch::ArchParams;
use crate::memory::AddressSpace;

/// Workgroups looked at on one die.
const ON_DIE: u64 = 128;
/// Neighbours in dispatch order looked at.
const NEIGHBOURS: u64 = 64;
/// Vector loads after which a wave has shown enough.
const LOADS: u32 = 16;
/// Instructions after which a wave is left alone.
const INSTRUCTIONS: u32 = 600;

/// Sharing between the workgroups of `grid` that run at the same time: the first ones, or where those
/// of the grid are `mixed`, the ones in its middle, since the first may all end early.
pub fn probe<G: Grid>(p: &ArchParams, grid: &G, spread: &Spread, mixed: bool) -> Sharing {
    let xcds = u64::from(p.device.xcds);
    let concurrent = spread.total.min(u64::from(p.device.compute_units) * spread.resident);
    let before = if mixed { (spread.total - concurrent) / 2 } else { 0 };
    let first = before - before % xcds;
    let mut lines = Lines { prober: Prober::new(p, grid), p, segments: Segments::default() };
    let (mut on_die, mut neighbours) = (Vec::new(), Vec::new());
    let is_neighbour = |id: u64| id - first < NEIGHBOURS;
    let at_once = first..first + concurrent;
    for id in at_once.clone().step_by(xcds as usize).take(ON_DIE as usize) {
        lines.of(id, |line| {
            on_die.push(touch(line, id / xcds));
            if is_neighbour(id) {
                neighbours.push(touch(line, id % xcds));
            }
        });
    }
    for id in at_once.take_while(|&id| is_neighbour(id)) {
        if (id - first) % xcds != 0 || (id - first) / xcds >= ON_DIE {
            lines.of(id, |line| neighbours.push(touch(line, id % xcds)));
        }
    }
    let [on_die, neighbours] =
        [on_die, neighbours].map(|touches| by_region(p, grid.memory(), touches));
    let mut ranges: Vec<Shared> = Vec::new();
    for (&(base, len), found) in &on_die {
        let across = neighbours.get(&(base, len)).copied().unwrap_or_default();
        ranges.push(Shared { base, len, in_l2: found.shared(), in_mall: across.shared() });
    }
    Sharing::new(ranges, 1.0 - overall(&on_die).shared(), 1.0 - overall(&neighbours).shared())
}

/// Bits of a [`touch`] that tell its party.
const PARTY_BITS: u32 = ON_DIE.trailing_zeros();

/// A line, above the number of the party that reads it. Line numbers take 41 bits.
fn touch(line: u64, party: u64) -> u64 {
    (line << PARTY_BITS) | (party % ON_DIE)
}

/// Lines touched, and by how many.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    lines: u64,
    touches: u64,
}

impl Count {
    /// Fraction of the touches that are not a line's first.
    fn shared(self) -> f64 {
        match self.touches {
            0 => 0.0,
            n => 1.0 - self.lines as f64 / n as f64,
        }
    }
}

fn overall(counts: &BTreeMap<(u64, u64), Count>) -> Count {
    counts.values().fold(Count::default(), |a, c| Count {
        lines: a.lines + c.lines,
        touches: a.touches + c.touches,
    })
}

/// Counts touches by allocation (base and length); each party counts once for a line.
fn by_region(
    p: &ArchParams,
    memory: &AddressSpace,
    mut touches: Vec<u64>,
) -> BTreeMap<(u64, u64), Count> {
    touches.sort_unstable();
    touches.dedup();
    let shift = p.vmem.line.trailing_zeros();
    let mut counts: BTreeMap<(u64, u64), Count> = BTreeMap::new();
    for of_line in touches.chunk_by(|a, b| a >> PARTY_BITS == b >> PARTY_BITS) {
        let line = of_line[0] >> PARTY_BITS;
        let Some(region) = memory.region(line << shift) else { continue };
        let count = counts.entry((region.base, region.len)).or_default();
        count.lines += 1;
        count.touches += of_line.len() as u64;
    }
    counts
}

/// Looks at the lines that workgroups load.
struct Lines<'a, G> {
    prober: Prober<'a, G>,
    p: &'a ArchParams,
    segments: Segments,
}

impl<G: Grid> Lines<'_, G> {
    /// Calls `touch` with the number of each line that the first wave of workgroup `id` loads.
    fn of(&mut self, id: u64, mut touch: impl FnMut(u64)) {
        let (shift, lanes) = (self.p.vmem.line.trailing_zeros(), self.p.vmem.address_lanes);
        let (segments, mut loads) = (&mut self.segments, 0);
        self.prober.walk(id, INSTRUCTIONS, |_, load| {
            if let Some(access) = load {
                segments.collect(access, shift, lanes);
                segments.as_slice().iter().copied().for_each(&mut touch);
                loads += 1;
            }
            if loads == LOADS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }
}
