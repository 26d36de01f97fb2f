//! Synthetic campaigns with a known truth: what the claims about intervals rest on.
//!
//! In goes a seed; out come campaigns (a model, rows with noise, and a limit beyond which only a
//! bound is seen) and, for many of them, how often the interval of `c` holds the truth, how wide
//! it is against that of the known form, and how often the right form is chosen. The test runs
//! three seeds of 500, `benches/fit.rs` all 5,000.

use super::family::{self, Families};
use super::likelihood::{Sample, Terms, features};
use super::model::{C, Form, Growth, Row, Seen, Theta};
use super::scatter::Scatter;
use super::{FIELD_NOISE, Noise, estimate, outlier, select, weighed};

/// Relative noise of a synthetic peak.
pub const SIGMA: f64 = 0.03;
/// Sizes of campaigns, in rows, that are reported apart.
pub const CLASSES: [(usize, usize); 3] = [(4, 6), (7, 15), (16, 40)];
/// Kinds of growth of the study.
pub const KINDS: [Growth; 4] =
    [Growth::Dense, Growth::Pooled, Growth::Flat, Growth::DenseAndPooled];
/// Chunk lengths of a campaign.
const ROWS: [f64; 6] = [256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0];

/// Reproducible random numbers (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((z >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Uniform between two figures.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Uniform between two figures on a logarithmic scale.
    pub fn scale(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    /// A whole number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        ((self.uniform() * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// A relative error of [`SIGMA`], as a factor.
    pub fn noise(&mut self) -> f64 {
        let (u, v) = (self.uniform(), self.uniform());
        let normal = (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos();
        (SIGMA * normal).exp()
    }
}

/// A synthetic campaign.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// What was seen.
    pub rows: Vec<Row>,
    /// Terms of the truth.
    pub form: Form,
    theta: Theta,
    knee: f64,
}

impl Campaign {
    /// A campaign of `count` rows that grows as `growth`: chunks of 256 to 8192 rows at prefixes
    /// of 2k to 500k, each of the terms in T, E and 1 present half of the time, up to three rows
    /// in ten above a limit, and one in ten of the others passed without a recorded peak. A pool
    /// is full at 1% to 33% of the pairs of the largest chunk; nothing makes sure that the measured
    /// rows show it.
    pub fn new(random: &mut Random, count: usize, growth: Growth) -> Self {
        // A flat or saturating path without any other term would have nothing to fit.
        let bits = if growth == Growth::Flat { 3 } else { random.below(8) as u32 };
        let form = Form::new(bits, growth);
        let scales = [(5e7, 2e9), (2e4, 5e5), (2e2, 5e3)];
        let mut theta: Theta = [0.0; 5];
        for (j, (low, high)) in scales.into_iter().enumerate() {
            if form.mask() & 1 << j != 0 {
                theta[j] = random.scale(low, high);
            }
        }
        if growth.dense() {
            theta[C] = random.between(6.0, 20.0);
        }
        let chunks: Vec<(f64, f64)> = (0..count)
            .map(|_| {
                let t = ROWS[random.below(ROWS.len())];
                (t, t + (random.scale(2e3, 5e5) / 256.0).round() * 256.0)
            })
            .collect();
        let mut knee = f64::INFINITY;
        if growth.pooled() {
            theta[4] = random.between(4.0, 10.0);
            let largest = chunks.iter().map(|(t, e)| t * e).fold(0.0, f64::max);
            knee = largest * random.scale(0.01, 0.33);
        }
        let mut campaign = Self { rows: Vec::new(), form, theta, knee };
        let peaks: Vec<f64> =
            chunks.iter().map(|(t, e)| campaign.peak(*t, *e) * random.noise()).collect();
        let mut sorted = peaks.clone();
        sorted.sort_by(f64::total_cmp);
        let above = (random.uniform() * 0.3 * count as f64) as usize;
        let limit = if above == 0 { f64::INFINITY } else { 0.999 * sorted[count - above] };
        for ((t, e), peak) in chunks.into_iter().zip(peaks) {
            let unrecorded = limit.is_finite() && random.uniform() < 0.1;
            let seen = match peak > limit {
                true => Seen::AtLeast(limit),
                false if unrecorded => Seen::AtMost(limit),
                false => Seen::Peak(peak),
            };
            campaign.rows.push(Row { line: 0, t, e, pairs: t * e, seen });
        }
        campaign
    }

    /// Whether the rows show how the truth grows: at least three measured peaks, and of a pool three
    /// at twice the pairs that fill it and three at half of them. Without that no rule can choose
    /// the right form.
    pub fn shows_its_form(&self) -> bool {
        let measured = self.rows.iter().filter(|r| r.measured());
        let full = measured.clone().filter(|r| r.pairs > 2.0 * self.knee).count();
        let filling = measured.clone().filter(|r| r.pairs < 0.5 * self.knee).count();
        measured.count() >= 3 && (!self.form.growth.pooled() || full.min(filling) >= 3)
    }

    /// True expected peak of a chunk, bytes.
    pub fn peak(&self, t: f64, e: f64) -> f64 {
        let x = features(t, e, t * e, self.knee);
        x.iter().zip(self.theta).map(|(x, v)| x * v).sum()
    }

    /// True bytes per (row, key) beyond every pool.
    pub fn c(&self) -> f64 {
        self.theta[C]
    }

    /// The interval of `c` of somebody who knows the form.
    pub fn informed_interval(&self, noise: Noise) -> (f64, f64) {
        if !self.form.growth.dense() {
            return (0.0, 0.0);
        }
        let sample = Sample::new(&self.rows, noise);
        let mask = self.form.mask();
        let mut fits = vec![sample.fit(Terms::free(mask, self.knee), None)];
        if self.form.growth.pooled() {
            fits.extend(family::over_knees(&sample, &family::knees(&self.rows), mask));
        }
        Families::known(&sample, mask, &fits).interval(family::TWO_SIDED)
    }
}

/// How the intervals of a class of campaigns did.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Campaigns that could be fitted.
    pub count: usize,
    /// Campaigns without a measured peak, or whose peaks follow no model: they are refused.
    pub refused: usize,
    /// Whose interval of `c` holds the truth.
    pub covered: usize,
    /// Whose growth was chosen rightly.
    pub chosen: usize,
    ratios: Vec<f64>,
}

impl Tally {
    /// Adds a campaign.
    pub fn add(&mut self, campaign: &Campaign) {
        let (rows, _) = outlier::split(&campaign.rows, FIELD_NOISE);
        let Some((_, largest)) = select::measured_span(&rows) else {
            self.refused += 1;
            return;
        };
        let sample = Sample::new(&rows, FIELD_NOISE);
        let (families, ranked) = weighed(&sample, &rows);
        if Scatter::of(&sample, &ranked[0].solution).hopeless() {
            self.refused += 1;
            return;
        }
        let c = estimate(&families, &ranked[0], largest);
        self.count += 1;
        self.covered += usize::from((c.lo..=c.hi).contains(&campaign.c()));
        self.chosen += usize::from(ranked[0].form.growth == campaign.form.growth);
        if campaign.form.growth.dense() {
            let (lo, hi) = campaign.informed_interval(FIELD_NOISE);
            self.ratios.push((c.hi - c.lo) / (hi - lo).max(f64::MIN_POSITIVE));
        }
    }

    /// Share of campaigns whose interval holds the truth.
    pub fn coverage(&self) -> f64 {
        self.covered as f64 / self.count.max(1) as f64
    }

    /// Median of the width of the interval over that of somebody who knows the form, among
    /// campaigns in which `c` is a term.
    pub fn width_ratio(&self) -> f64 {
        let mut sorted = self.ratios.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// The coverage study: `count` campaigns of a seed over the classes of [`CLASSES`] in turn and the
/// four kinds of growth in turn.
pub fn coverage(seed: u64, count: usize) -> [Tally; 3] {
    let mut random = Random::new(seed);
    let mut tallies: [Tally; 3] = Default::default();
    for i in 0..count {
        let (least, most) = CLASSES[i % 3];
        let rows = least + random.below(most - least + 1);
        let campaign = Campaign::new(&mut random, rows, KINDS[i / 3 % 4]);
        tallies[i % 3].add(&campaign);
    }
    tallies
}
