//! Which workgroups of a launch take another path through the kernel than the others.
//!
//! Goes in: a launch. Comes out: workgroups from all over the grid, each with the number of its path, or
//! nothing where all of each stratum take one path. The first wave of a workgroup tells: it executes,
//! without side effects, up to its first loads, as far as kernels look at where they are before they
//! begin with their work. That is cheap enough to be done for thousands of workgroups, so that the
//! share of those that end early is known well.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::grid::Grid;
use super::prober::Prober;
use super::strata::{Stratum, fraction};
use crate::arch::ArchParams;

/// Instructions of a wave that are looked at.
const INSTRUCTIONS: u32 = 200;
/// Vector loads after which a wave is at work.
const LOADS: u32 = 4;
/// Workgroups inside the grid that are looked at to see whether there is more than one path.
const INSIDE: u64 = 128;
/// Workgroups of a face of the grid that are.
const FACE: u64 = 16;
/// Paths that are told apart; the others count as one.
const MOST: usize = 8;

/// A workgroup by its dispatch number, and its path.
pub type OnPath = (u64, usize);

/// Up to `most` workgroups, ascending and evenly from all over `grid`, with their paths; `None` where
/// those of each stratum have only one.
pub fn paths<G: Grid>(p: &ArchParams, grid: &G, most: u64) -> Option<Vec<OnPath>> {
    let mut walker = Walker(Prober::new(p, grid));
    let (mut seen, mut differ) = (BTreeSet::new(), false);
    for stratum in Stratum::of_grid(grid.groups()) {
        let few = if stratum.faces() == 0 { INSIDE } else { FACE };
        let ids = stratum.corners().into_iter().chain((0..few).map(|n| stratum.spread(n)));
        let ids: BTreeSet<u64> = ids.collect();
        let of_stratum: BTreeSet<Vec<u32>> =
            ids.into_iter().map(|id| walker.path(id, INSTRUCTIONS)).collect();
        differ |= of_stratum.len() > 1;
        seen.extend(of_stratum);
    }
    if !differ {
        return None;
    }
    // Sorted, the paths that agree longest are neighbours.
    let common =
        |(a, b): (&Vec<u32>, &Vec<u32>)| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let parted = seen.iter().zip(seen.iter().skip(1)).map(common).max()?;
    let mut numbers = BTreeMap::new();
    let number = |id| {
        let path = walker.path(id, parted as u32 + 1);
        let next = numbers.len().min(MOST - 1);
        (id, *numbers.entry(path).or_insert(next))
    };
    Some(even(grid.workgroups(), most).map(number).collect())
}

/// Up to `most` of `total` workgroups, ascending: all, or one from each of `most` parts of the
/// dispatch order, at places that do not beat with the dimensions of the grid.
pub fn even(total: u64, most: u64) -> impl Iterator<Item = u64> {
    let n = total.min(most);
    let at = move |i: u64| (u128::from(i) * u128::from(total) / u128::from(n.max(1))) as u64;
    (0..n).map(move |i| at(i) + fraction(i, at(i + 1) - at(i)))
}

struct Walker<'a, G>(Prober<'a, G>);

impl<G: Grid> Walker<'_, G> {
    /// The first instructions of the first wave of workgroup `id`.
    fn path(&mut self, id: u64, instructions: u32) -> Vec<u32> {
        let (mut path, mut loads) = (Vec::new(), 0);
        self.0.walk(id, instructions, |pc, load| {
            path.push(pc as u32);
            loads += u32::from(load.is_some());
            if loads == LOADS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 parts of 7 workgroups each, and all of 5.
    #[test]
    fn one_workgroup_of_each_part_of_the_grid_is_looked_at() {
        let ids: Vec<u64> = even(7000, 1000).collect();
        assert!((0..1000).all(|i| ids[i as usize] / 7 == i));
        let places: BTreeSet<u64> = ids.iter().map(|id| id % 7).collect();
        assert_eq!(places.len(), 7);
        assert_eq!(even(5, 1000).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    }
}
