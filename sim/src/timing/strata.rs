//! Workgroups that stand for the part of the grid that is not timed.
//!
//! Goes in: the size of the grid. Comes out: strata with their number of workgroups. The last tile
//! of a dimension often differs from the others, and kernels with a triangular problem do less in one
//! corner, so each face of the grid is a stratum of its own and the inside is sampled evenly. These
//! workgroups execute functionally; only their instruction count is used.

/// Workgroups that agree in which dimensions they are the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stratum {
    dims: [u64; 3],
    /// First id and number of ids of the stratum in each dimension.
    range: [(u64, u64); 3],
}

impl Stratum {
    /// Strata of a grid; their sizes add up to its workgroups.
    pub fn of_grid(groups: [u32; 3]) -> Vec<Stratum> {
        let dims = groups.map(u64::from);
        let mut strata = Vec::new();
        for faces in 0..8u32 {
            let range = [0, 1, 2].map(|d| {
                let last = faces >> d & 1 == 1;
                match (dims[d], last) {
                    // A dimension of one workgroup has no face.
                    (1, last) => (0, u64::from(!last)),
                    (n, true) => (n - 1, 1),
                    (n, false) => (0, n - 1),
                }
            });
            if range.iter().all(|&(_, n)| n > 0) {
                strata.push(Stratum { dims, range });
            }
        }
        strata
    }

    /// Dimensions in which its workgroups are the last.
    pub fn faces(&self) -> u32 {
        (0..3).map(|d| u32::from(self.dims[d] > 1 && self.range[d].0 > 0)).sum()
    }

    /// Workgroups of the stratum.
    pub fn len(&self) -> u64 {
        self.range.iter().map(|&(_, n)| n).product()
    }

    /// Dispatch number of the stratum's workgroup `i` (x varies fastest).
    pub fn id(&self, i: u64) -> u64 {
        let [(x, nx), (y, ny), (z, _)] = self.range;
        let (i, j, k) = (x + i % nx, y + i / nx % ny, z + i / nx / ny);
        i + self.dims[0] * (j + self.dims[1] * k)
    }

    /// The `n`-th of a sequence of workgroups that fills the stratum ever more evenly.
    pub fn spread(&self, n: u64) -> u64 {
        self.id(fraction(n, self.len()))
    }

    /// The workgroups that are first or last of the stratum in each dimension.
    pub fn corners(&self) -> Vec<u64> {
        let [[x, right], [y, bottom], [z, back]] = self.range.map(|(at, n)| [at, at + n - 1]);
        let id = |x, y, z| x + self.dims[0] * (y + self.dims[1] * z);
        let of_layer = |z| [id(x, y, z), id(right, y, z), id(x, bottom, z), id(right, bottom, z)];
        [z, back].into_iter().flat_map(of_layer).collect()
    }
}

/// The `n`-th of a sequence of numbers below `below` that fills them ever more evenly.
pub fn fraction(n: u64, below: u64) -> u64 {
    // Additive recurrence with the golden ratio, in 64-bit fractions.
    let fraction = (1u64 << 63).wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    ((u128::from(fraction) * u128::from(below)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn strata_partition_the_grid() {
        for groups in [[7, 5, 3], [9, 1, 1], [1, 1, 1], [4, 1, 2]] {
            let total: u64 = groups.iter().map(|&n| u64::from(n)).product();
            let strata = Stratum::of_grid(groups);
            let ids: BTreeSet<u64> =
                strata.iter().flat_map(|s| (0..s.len()).map(|i| s.id(i))).collect();
            assert_eq!(strata.iter().map(Stratum::len).sum::<u64>(), total);
            assert_eq!(ids.len() as u64, total);
            assert_eq!(ids.last(), Some(&(total - 1)));
        }
    }

    /// Row tiles in y, 5 of them, 3 column tiles: the last row's inner columns are 12 and 13.
    #[test]
    fn the_last_row_of_tiles_is_a_stratum() {
        let strata = Stratum::of_grid([3, 5, 1]);
        let row = strata.iter().find(|s| s.len() == 2).unwrap();
        assert_eq!([row.id(0), row.id(1)], [12, 13]);
        assert_eq!(row.corners()[..4], [12, 13, 12, 13]);
        assert_eq!(strata.iter().map(Stratum::faces).collect::<Vec<_>>(), [0, 1, 1, 2]);
    }

    #[test]
    fn the_sequence_visits_all_parts_of_a_stratum() {
        let inside = &Stratum::of_grid([1001, 1, 1])[0];
        let mut quarters = [0; 4];
        for n in 0..16 {
            quarters[(inside.spread(n) / 250).min(3) as usize] += 1;
        }
        assert!(quarters.iter().all(|&n| (3..=5).contains(&n)), "{quarters:?}");
    }
}
