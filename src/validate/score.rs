//! Errors of predictions against published times, summed up.

use serde::{Deserialize, Serialize};

use super::Row;

/// Fewer rows than this do not validate a family or a target.
pub const MIN_ROWS: usize = 8;

/// How well one predictor does on a set of rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Rows.
    pub rows: usize,
    /// Median of the absolute relative error.
    pub median: f64,
    /// 90th percentile of the absolute relative error.
    pub p90: f64,
    /// Spearman's rank correlation; none for fewer than three rows.
    pub spearman: Option<f64>,
    /// Median of the relative error with its sign.
    pub bias: f64,
}

/// The scores of a set of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// `all`, a target, or a target and a family.
    pub name: String,
    /// Target; none for all.
    pub arch: Option<String>,
    /// Family; none for a whole target.
    pub family: Option<String>,
    /// Whether there are enough rows to call it validated.
    pub validated: bool,
    /// The simulator.
    pub simulator: Score,
    /// `llvm-mca`, where it ran.
    pub mca: Option<Score>,
    /// Roofline.
    pub roofline: Score,
}

/// Scores pairs of predicted and published times; none without pairs.
pub fn score(pairs: &[(f64, f64)]) -> Option<Score> {
    let errors: Vec<f64> =
        pairs.iter().map(|(predicted, published)| predicted / published - 1.0).collect();
    let absolute: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
    Some(Score {
        rows: pairs.len(),
        median: quantile(&absolute, 0.5)?,
        p90: quantile(&absolute, 0.9)?,
        spearman: spearman(pairs),
        bias: quantile(&errors, 0.5)?,
    })
}

/// Quantile with linear interpolation between order statistics.
fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = q * (sorted.len().checked_sub(1)?) as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    Some(low + (high - low) * at.fract())
}

/// Pearson's correlation of the ranks, ties at their mean rank.
fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let [a, b] = [ranks(pairs.iter().map(|p| p.0)), ranks(pairs.iter().map(|p| p.1))];
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let sum =
        |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(p, q)| (p - mean) * (q - mean)).sum::<f64>();
    let spread = (sum(&a, &a) * sum(&b, &b)).sqrt();
    (spread > 0.0).then(|| sum(&a, &b) / spread)
}

fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let rank = |v: f64| {
        let below = values.iter().filter(|&&w| w < v).count();
        let same = values.iter().filter(|&&w| w == v).count();
        below as f64 + (same as f64 + 1.0) / 2.0
    };
    values.iter().map(|&v| rank(v)).collect()
}

/// Groups of the rows that ran: all, each target, each family of each target.
pub fn summarize(rows: &[Row]) -> Vec<Group> {
    let mut keys: Vec<(Option<&str>, Option<&str>)> = vec![(None, None)];
    let ran = || rows.iter().filter(|row| row.result.is_some());
    for row in ran() {
        for key in [(Some(row.arch.as_str()), None), (Some(&*row.arch), Some(&*row.family))] {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    keys.sort();
    let group = |(arch, family): (Option<&str>, Option<&str>)| {
        let of_group: Vec<&Row> = ran()
            .filter(|row| {
                arch.is_none_or(|a| row.arch == a) && family.is_none_or(|f| row.family == f)
            })
            .collect();
        let pairs = |time: &dyn Fn(&super::Simulated) -> Option<f64>| -> Vec<(f64, f64)> {
            let one = |row: &&Row| Some((time(row.result.as_ref()?)?, row.published_us));
            of_group.iter().filter_map(one).collect()
        };
        Some(Group {
            name: [arch.unwrap_or("all"), family.unwrap_or_default()].join(" ").trim().to_owned(),
            arch: arch.map(str::to_owned),
            family: family.map(str::to_owned),
            validated: of_group.len() >= MIN_ROWS,
            simulator: score(&pairs(&|s| Some(s.time_us)))?,
            mca: score(&pairs(&|s| s.mca_us)),
            roofline: score(&pairs(&|s| Some(s.roofline_us)))?,
        })
    };
    keys.into_iter().filter_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors +10%, -20%, +50%: sorted 0.1, 0.2, 0.5; the 90th percentile lies 0.8 of the way from
    /// the second to the third.
    #[test]
    fn the_median_and_the_percentile_are_those_of_absolute_errors() {
        let s = score(&[(11.0, 10.0), (16.0, 20.0), (45.0, 30.0)]).unwrap();
        assert!((s.median - 0.2).abs() < 1e-12);
        assert!((s.p90 - (0.2 + 0.8 * 0.3)).abs() < 1e-12);
        assert!((s.bias - 0.1).abs() < 1e-12);
        assert_eq!(s.spearman, None::<f64>.or(Some(1.0)));
    }

    /// Ranks 1 2 3 4 against 2 1 4 3: sum of squared differences 4, rho = 1 - 6*4/(4*15) = 0.6.
    #[test]
    fn rank_correlation_follows_the_order_only() {
        let rho = spearman(&[(1.0, 20.0), (2.0, 10.0), (300.0, 40.0), (4000.0, 30.0)]).unwrap();
        assert!((rho - 0.6).abs() < 1e-12, "{rho}");
    }

    #[test]
    fn no_rows_have_no_score() {
        assert_eq!(score(&[]), None);
    }
}
