//! When to stop sampling and what the samples say. Times of one kernel go in; the median with its
//! 95% interval, outliers, drift and the decision to go on or stop come out. Pure functions, no
//! device.

use statrs::distribution::{Binomial, DiscreteCDF};

/// Confidence of every interval.
pub const CONFIDENCE: f64 = 0.95;

/// Robust z-score beyond which a sample is an outlier (Iglewicz and Hoaglin, 1993).
const OUTLIER_SCORE: f64 = 3.5;

/// Standard deviations in one median absolute deviation of normal samples.
const MAD_TO_SIGMA: f64 = 1.4826;

/// Relative change between the first and the last third of the samples that counts as drift.
const DRIFT_THRESHOLD: f64 = 0.02;

/// Median and its distribution-free confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Median of the samples.
    pub median: f64,
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

impl Interval {
    /// Half the width over the median; infinite for a median of zero.
    pub fn relative_half_width(&self) -> f64 {
        if self.median > 0.0 { (self.hi - self.lo) / (2.0 * self.median) } else { f64::INFINITY }
    }
}

/// When sampling ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppingRule {
    /// Samples before anything is concluded.
    pub min_samples: usize,
    /// Samples after which it ends in any case.
    pub max_samples: usize,
    /// Relative half-width of the median's interval to reach.
    pub half_width: f64,
}

impl Default for StoppingRule {
    fn default() -> Self {
        Self { min_samples: 10, max_samples: 200, half_width: 0.005 }
    }
}

/// What the rule says about a set of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Take another.
    Continue,
    /// The interval is narrow enough.
    Converged,
    /// Sampling ends without having converged.
    GaveUp,
}

impl StoppingRule {
    /// Decides on the samples so far.
    pub fn decide(&self, samples: &[f64]) -> Decision {
        if samples.len() < self.min_samples {
            return Decision::Continue;
        }
        let kept = without_outliers(samples);
        match median_interval(&kept) {
            Some(interval) if interval.relative_half_width() <= self.half_width => {
                Decision::Converged
            }
            _ if samples.len() >= self.max_samples => Decision::GaveUp,
            _ => Decision::Continue,
        }
    }
}

/// Median of the samples; none when there are none.
pub fn median(samples: &[f64]) -> Option<f64> {
    let sorted = sorted(samples);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// Median with the order-statistic interval: the k-th smallest and k-th largest sample, k the
/// largest that keeps the binomial(n, 1/2) tail within the confidence. With fewer than six samples
/// no such k exists and the interval is the whole range.
pub fn median_interval(samples: &[f64]) -> Option<Interval> {
    let sorted = sorted(samples);
    let n = sorted.len();
    let median = median(samples)?;
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let mut k = 0;
    if let Ok(binomial) = Binomial::new(0.5, n as u64) {
        while k + 1 < n.div_ceil(2) && binomial.cdf(k as u64) <= tail {
            k += 1;
        }
    }
    let rank = k.max(1);
    Some(Interval { median, lo: sorted[rank - 1], hi: sorted[n - rank] })
}

/// The samples whose robust z-score is within bounds. When more than half agree exactly, the score
/// is undefined and all are kept: the median is safe from the rest.
pub fn without_outliers(samples: &[f64]) -> Vec<f64> {
    let Some(center) = median(samples) else { return Vec::new() };
    let deviations: Vec<f64> = samples.iter().map(|s| (s - center).abs()).collect();
    match median(&deviations) {
        Some(mad) if mad > 0.0 => {
            let limit = OUTLIER_SCORE * MAD_TO_SIGMA * mad;
            samples.iter().copied().filter(|s| (s - center).abs() <= limit).collect()
        }
        _ => samples.to_vec(),
    }
}

/// Relative change of the median from the first to the last third of the samples, where it is more
/// than the noise explains: three standard errors of a median of a third, and 2%.
pub fn drift(samples: &[f64]) -> Option<f64> {
    let third = samples.len() / 3;
    if third < 3 {
        return None;
    }
    let first = median(&samples[..third])?;
    let last = median(&samples[samples.len() - third..])?;
    let spread = |part: &[f64], center: f64| {
        let deviations: Vec<f64> = part.iter().map(|s| (s - center).abs()).collect();
        median(&deviations).unwrap_or(0.0)
    };
    let noise =
        spread(&samples[..third], first).max(spread(&samples[samples.len() - third..], last));
    // Standard error of a median: 1.2533 sigma / sqrt(n).
    let error = 1.2533 * MAD_TO_SIGMA * noise / (third as f64).sqrt();
    let change = last - first;
    (change.abs() > (3.0 * error).max(DRIFT_THRESHOLD * first)).then(|| change / first)
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deterministic noise in [-1, 1): a Weyl sequence of the golden ratio.
    fn noise(n: usize) -> impl Iterator<Item = f64> {
        (1..=n).map(|i| (i as f64 * 0.618_033_988_749_894_9).fract() * 2.0 - 1.0)
    }

    #[test]
    fn the_interval_of_ten_samples_is_the_second_to_the_ninth() {
        // Binomial(10, 1/2): P(X <= 1) = 11/1024 = 0.0107 <= 0.025 < P(X <= 2) = 0.0547.
        let samples: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        let interval = median_interval(&samples).unwrap();
        assert_eq!(interval, Interval { median: 5.5, lo: 2.0, hi: 9.0 });
    }

    #[test]
    fn few_samples_give_their_whole_range() {
        let interval = median_interval(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!(interval, Interval { median: 2.0, lo: 1.0, hi: 3.0 });
        assert_eq!(median_interval(&[]), None);
    }

    #[test]
    fn equal_samples_converge_at_the_minimum() {
        let rule = StoppingRule::default();
        assert_eq!(rule.decide(&[7.0; 9]), Decision::Continue);
        assert_eq!(rule.decide(&[7.0; 10]), Decision::Converged);
    }

    #[test]
    fn wild_samples_stop_at_the_maximum_without_converging() {
        let rule = StoppingRule { max_samples: 50, ..StoppingRule::default() };
        let samples: Vec<f64> = noise(50).map(|x| 100.0 + 60.0 * x).collect();
        assert_eq!(rule.decide(&samples[..49]), Decision::Continue);
        assert_eq!(rule.decide(&samples), Decision::GaveUp);
    }

    #[test]
    fn one_interrupted_sample_moves_neither_the_median_nor_the_interval() {
        let calm: Vec<f64> = noise(30).map(|x| 100.0 + 0.1 * x).collect();
        let mut disturbed = calm.clone();
        disturbed[11] = 5_000.0;
        assert_eq!(without_outliers(&disturbed).len(), 29);
        let interval = median_interval(&without_outliers(&disturbed)).unwrap();
        assert!((interval.median - 100.0).abs() < 0.1 && interval.hi < 100.2);
        assert_eq!(StoppingRule::default().decide(&disturbed), Decision::Converged);
    }

    #[test]
    fn a_clock_that_slows_by_five_percent_is_noticed_and_noise_is_not() {
        let steady: Vec<f64> = noise(30).map(|x| 100.0 + x).collect();
        assert_eq!(drift(&steady), None);
        let slowing: Vec<f64> =
            steady.iter().enumerate().map(|(i, t)| t * (1.0 + 0.075 * i as f64 / 29.0)).collect();
        // The middles of the first and last third lie 20 of 29 steps apart: 7.5% * 20 / 29 = 5.2%.
        let change = drift(&slowing).unwrap();
        assert!((0.03..0.07).contains(&change), "{change}");
    }
}
