//! How high the peak of any chunk may be: the one-sided 95% bound of a fit.
//!
//! In go the families that rows might come from; out come a few sets of coefficients, each of them
//! as likely as the bound allows and as high as possible for one chunk. The largest of their peaks
//! is the bound for every chunk between them, and it never falls as T or L grows.

use super::family::{Families, Family, ONE_SIDED, root};
use super::likelihood::{Sample, Solution, Terms, features};
use super::model::{Coefficients, UNKNOWNS};

/// Chunks that the bound is traced for, as exponents of 2: rows and context at the end.
const ROWS: [u32; 4] = [8, 10, 12, 14];
const CONTEXTS: [u32; 4] = [13, 16, 18, 20];
/// First push tried: two standard errors of 10%.
const FIRST_PUSH: f64 = 20.0;

/// Sets of coefficients whose largest peak is the bound.
pub fn corners(sample: &Sample, families: &Families<'_>, ratio: u32) -> Vec<Coefficients> {
    let open: Vec<&Family> = [Some(families.dense()), families.pooled()]
        .into_iter()
        .flatten()
        .filter(|family| families.admits(family, ONE_SIDED))
        .collect();
    let mut out: Vec<Coefficients> = Vec::new();
    for rows in ROWS {
        for context in CONTEXTS {
            let (t, e) = ((1u64 << rows) as f64, (1u64 << rows.max(context)) as f64);
            let pairs = t * (e / f64::from(ratio.max(1))).ceil();
            for family in &open {
                let x = features(t, e, pairs, family.best.knee);
                let limit = families.limit(family, ONE_SIDED);
                let corner = pushed(sample, family, x, limit);
                let corner = Coefficients::new(corner.theta, corner.knee);
                let reached = |other: &Coefficients| {
                    corner.peak(t, e, pairs) <= 1.001 * other.peak(t, e, pairs)
                };
                if !out.iter().any(reached) {
                    out.push(corner);
                }
            }
        }
    }
    out
}

/// The member of `family` with the highest peak at `x` among those within `limit`.
fn pushed(sample: &Sample, family: &Family, x: [f64; UNKNOWNS], limit: f64) -> Solution {
    let free = Terms::free(family.mask, family.best.knee);
    let target = (limit - family.best.deviance).max(0.0).sqrt();
    let mut last = family.best;
    let mut short = |weight: f64| {
        let start = Solution { sigma: family.best.sigma, ..last };
        last = sample.fit(Terms { push: Some((x, weight)), ..free }, Some(&start));
        (last.deviance - family.best.deviance).max(0.0).sqrt() - target
    };
    // The push that moves a peak by t standard errors is t over the standard error.
    let mut outside = FIRST_PUSH;
    while short(outside) < 0.0 && outside < 1e12 {
        outside *= 4.0;
    }
    let weight = root(0.0, outside, short);
    sample.fit(Terms { push: Some((x, weight)), ..free }, Some(&family.best))
}
