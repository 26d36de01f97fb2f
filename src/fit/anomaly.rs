//! Row counts that a kernel runs at far worse than its neighbours.
//!
//! In go the points of a profile; out come remarks: a larger M at a fraction of the rate of a
//! smaller one, to be measured again and avoided if it holds (it is not a GPU that is full), and a
//! tile longer than the rows it was picked for.

use std::collections::BTreeMap;

use crate::profile::{Op, Outcome, Point};

/// A larger M that runs at less than this share of the rate of the next smaller one is an anomaly.
/// A ragged length costs up to about three times as much.
const FAR_BELOW: f64 = 0.25;

/// Rows, work and time.
pub type Timing = (u64, f64, f64);

/// A row count far below its neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anomaly {
    /// Rows.
    pub m: u64,
    /// Next smaller rows that were measured.
    pub neighbour: u64,
    /// Rate of the neighbour over that of `m`, in work per time.
    pub factor: f64,
}

/// Anomalies among `(rows, work, time)`; work in any unit, such as rows or operations.
pub fn find(timings: &[Timing]) -> Vec<Anomaly> {
    let mut sorted: Vec<&Timing> =
        timings.iter().filter(|(_, work, time)| *work > 0.0 && *time > 0.0).collect();
    sorted.sort_by_key(|(m, _, _)| *m);
    let pairs = sorted.windows(2).filter(|pair| pair[0].0 < pair[1].0);
    pairs
        .map(|pair| {
            let rate = |(_, work, time): &Timing| work / time;
            Anomaly { m: pair[1].0, neighbour: pair[0].0, factor: rate(pair[0]) / rate(pair[1]) }
        })
        .filter(|anomaly| anomaly.factor > 1.0 / FAR_BELOW)
        .collect()
}

/// Share of a tile of `block_m` rows that is idle at `m` rows; 0 where the rows fill a tile.
pub fn idle(block_m: u64, m: u64) -> f64 {
    if block_m == 0 || m >= block_m { 0.0 } else { 1.0 - m as f64 / block_m as f64 }
}

/// Both in words, for every kernel and shape of a profile.
pub fn remarks(points: &[Point]) -> Vec<String> {
    let mut groups: BTreeMap<(&str, &str), Vec<Timing>> = BTreeMap::new();
    let mut out = Vec::new();
    let timed = points
        .iter()
        .filter(|p| matches!(p.op, Op::Gemm | Op::AbsorbBmm) && p.outcome == Outcome::Ok);
    for point in timed {
        let Some((m, time)) = point.m.zip(point.time_us) else { continue };
        groups.entry((&point.kernel, &point.shape)).or_default().push((m, m as f64, time));
        let block = u64::from(point.block_m.unwrap_or(0));
        if point.deployed && idle(block, m) >= 0.5 {
            out.push(format!(
                "{} {}: a tile of {block} rows was picked for M = {m}; {:.0}% of it is idle. A \
                 tile no longer than its bucket of M saves that.",
                point.kernel,
                point.shape,
                100.0 * idle(block, m)
            ));
        }
    }
    for ((kernel, shape), timings) in groups {
        out.extend(find(&timings).into_iter().map(|a| {
            format!(
                "{kernel} {shape}: M = {} runs at 1/{:.0} of the rate of M = {}. Measure it again; \
                 if it holds, avoid this M.",
                a.m, a.factor, a.neighbour
            )
        }));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::testing::absorb;

    /// C08 of the field cases: 16384^3 at 28 TFLOPS where 8192^3 runs at 907 (ROCm/hipBLASLt#1721).
    #[test]
    fn a_size_at_a_thirtieth_of_its_neighbours_rate_is_an_anomaly_and_not_a_full_gpu() {
        let cube = |n: u64, tflops: f64| {
            let work = 2.0 * (n as f64).powi(3);
            (n, work, work / (tflops * 1e12))
        };
        let found = find(&[cube(16_384, 28.0), cube(8192, 907.0), cube(4096, 700.0)]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].m, found[0].neighbour), (16_384, 8192));
        assert!((found[0].factor - 907.0 / 28.0).abs() < 1e-9); // 32.4
        assert!(find(&[cube(8192, 907.0), cube(16_384, 850.0)]).is_empty());
    }

    /// C11 of the field cases: a bucket for M <= 16 used a tile of 32 rows (ROCm/aiter#4781).
    #[test]
    fn a_tile_longer_than_its_bucket_is_half_idle_and_said() {
        assert_eq!(idle(32, 16), 0.5);
        assert_eq!([idle(32, 32), idle(32, 64), idle(0, 1)], [0.0; 3]);
        let mut small = absorb("even", 32, 16, 5.0, 1);
        assert!(remarks(std::slice::from_ref(&small)).is_empty(), "bundled kernels take any M");
        small.deployed = true;
        assert!(remarks(&[small])[0].contains("50% of it is idle"));
    }

    #[test]
    fn what_a_ragged_length_costs_is_no_anomaly() {
        let points = [absorb("w", 64, 16_320, 100.0, 1), absorb("w", 64, 16_368, 312.0, 1)];
        assert!(remarks(&points).is_empty());
        let points = [absorb("w", 64, 16_320, 100.0, 1), absorb("w", 64, 16_384, 3200.0, 1)];
        assert!(remarks(&points)[0].contains("avoid this M"));
    }
}
