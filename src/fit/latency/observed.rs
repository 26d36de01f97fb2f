//! Time of the deployed engine, from observations.
//!
//! In go field records; out comes one fit a system (source, engine and device together). A record
//! with a length `L` larger than `T` says how long a whole prompt of `L` tokens took in chunks of
//! `T`, which is what public reports give, unless its rate shows that it means one chunk; one
//! without `L` is a chunk without a prefix, and where the length is known to be the prefix the time is
//! that of the chunk after it. What a chunk costs on the host differs between engines,
//! so systems are never mixed.

use std::collections::BTreeMap;

use super::{LatencyFit, Sample, Timed, fit_samples};
use crate::fit::OBSERVED;
use crate::fit::observations::{LMeans, Observation};

/// How far time * rate may be off the tokens that it is compared with.
const SAME: f64 = 0.2;

/// What to say of rows that were set aside.
const AGAIN: &str = "First runs pay for compilation: measure the rows that were set aside again.";

/// One fit a system, and why a system with times has none.
pub fn fit_observed(rows: &[Observation], l_means: LMeans) -> (Vec<LatencyFit>, Vec<String>) {
    let mut systems: BTreeMap<[&str; 3], Vec<Sample>> = BTreeMap::new();
    for row in rows {
        let system = [row.source.as_str(), row.engine.as_str(), row.device.as_str()];
        systems.entry(system).or_default().extend(sample(row, l_means));
    }
    systems.retain(|_, samples| !samples.is_empty());
    let single = systems.len() == 1;
    let (mut fits, mut remarks) = (Vec::new(), Vec::new());
    for (system, samples) in systems {
        let parts: Vec<&str> = std::iter::once(OBSERVED)
            .chain(system.into_iter().filter(|part| !single && !part.is_empty()))
            .collect();
        match fit_samples(&parts.join(" / "), &samples) {
            Ok(mut fit) => {
                if fit.set_aside > 0 {
                    fit.statements.push(AGAIN.to_owned());
                }
                fits.push(LatencyFit { deployed: true, ..fit });
            }
            Err(error) => remarks.push(error.to_string()),
        }
    }
    (fits, remarks)
}

/// What a record says about time; none without `T`, or without a time or a rate.
fn sample(row: &Observation, l_means: LMeans) -> Option<Sample> {
    let t = row.t.map(|t| t.0).filter(|t| *t > 0)?;
    if row.length_means(l_means) == LMeans::Prefix {
        let time_us = row.time_us.or_else(|| Some(t as f64 / row.tok_s? * 1e6))?;
        return Some(Sample { timed: Timed::Chunk { t, l: row.l.map_or(0, |l| l.0) }, time_us });
    }
    let Some(length) = row.l.map(|l| l.0).filter(|l| *l > t) else {
        let time_us = row.time_us.or_else(|| Some(t as f64 / row.tok_s? * 1e6))?;
        return Some(Sample { timed: Timed::Chunk { t, l: 0 }, time_us });
    };
    let about = |tokens: f64, all: u64| (tokens / all as f64 - 1.0).abs() < SAME;
    match (row.time_us, row.tok_s) {
        (Some(time_us), Some(rate)) if about(time_us * 1e-6 * rate, t) => {
            Some(Sample { timed: Timed::Chunk { t, l: length }, time_us })
        }
        (Some(time_us), _) => Some(Sample { timed: Timed::Prompt { t, length }, time_us }),
        (None, Some(rate)) => {
            Some(Sample { timed: Timed::Prompt { t, length }, time_us: length as f64 / rate * 1e6 })
        }
        (None, None) => None,
    }
}

impl LatencyFit {
    /// The fit in one line.
    pub fn line(&self) -> String {
        let model = &self.model;
        let terms = [
            (model.a0_us / 1e3, "ms a chunk"),
            (model.a1_us_per_t, "us a token"),
            (model.a2_us_per_l * 1e3, "ns a token of prefix"),
            (model.a3_us_per_tl * 1e3, "ns a row and token of prefix"),
            (model.a4_us_per_t2 * 1e3, "ns a row^2"),
        ];
        let mut parts: Vec<String> = terms
            .iter()
            .filter(|(value, _)| *value > 0.0)
            .map(|(value, unit)| format!("{value:.3} {unit}"))
            .collect();
        parts.extend(model.stairs.iter().map(|s| format!("whole tiles of {} rows", s.block)));
        format!(
            "{}: time = {} ({} rows, median error {:.1}%)",
            self.path,
            parts.join(" + "),
            self.points - self.set_aside,
            100.0 * self.median_error
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Tokens;

    fn row(device: &str, t: u64, l: u64, tok_s: Option<f64>, time_us: Option<f64>) -> Observation {
        Observation {
            device: device.into(),
            t: Some(Tokens(t)),
            l: (l > 0).then_some(Tokens(l)),
            tok_s,
            time_us,
            ..Observation::default()
        }
    }

    /// B29 of the field cases: a host read per chunk makes 58,000 tokens take 4.18 s where 3.65 s
    /// are enough. Over 58000/4096 = 15 chunks that is 0.53 s / 15 = 35 ms a chunk.
    #[test]
    fn what_a_chunk_costs_on_the_host_is_fitted_for_each_system_alone() {
        let per_token = 55.0;
        let prompt = |device, host: f64, t: u64, l: u64| {
            let chunks = l.div_ceil(t) as f64;
            row(device, t, l, None, Some(host * chunks + per_token * l as f64))
        };
        let mut rows = Vec::new();
        for (t, l) in [(2048, 58_000), (4096, 58_000), (8192, 58_000), (4096, 20_000)] {
            rows.push(prompt("before", 65_000.0, t, l));
            rows.push(prompt("after", 30_000.0, t, l));
        }
        let (fits, remarks) = fit_observed(&rows, LMeans::Context);
        assert!(remarks.is_empty() && fits.len() == 2 && fits.iter().all(|f| f.deployed));
        let host = |name: &str| fits.iter().find(|f| f.path.ends_with(name)).unwrap().model.a0_us;
        assert!((host("before") - host("after") - 35_000.0).abs() < 1000.0, "{fits:?}");
    }

    #[test]
    fn a_rate_tells_whether_a_time_is_that_of_a_prompt_or_of_a_chunk() {
        let of = |row: &Observation| sample(row, LMeans::Context);
        // 100,000 tokens at 2000 tok/s are 50 s; a chunk of 2048 at that rate is 1.024 s.
        let prompt = of(&row("x", 2048, 100_000, Some(2000.0), Some(50e6))).unwrap();
        assert_eq!(prompt.timed, Timed::Prompt { t: 2048, length: 100_000 });
        let chunk = of(&row("x", 2048, 100_000, Some(2000.0), Some(1.024e6))).unwrap();
        assert_eq!(chunk.timed, Timed::Chunk { t: 2048, l: 100_000 });
        let rate = of(&row("x", 2048, 100_000, Some(2000.0), None)).unwrap();
        assert_eq!((rate.timed, rate.time_us), (prompt.timed, 50e6));
        let alone = of(&row("x", 7680, 0, None, Some(222_000.0))).unwrap();
        assert_eq!(alone.timed, Timed::Chunk { t: 7680, l: 0 });
        assert!(of(&row("x", 2048, 100_000, None, None)).is_none());
        assert!(of(&Observation::default()).is_none());
    }

    #[test]
    fn after_a_prefix_that_is_named_the_time_is_that_of_the_chunk() {
        let named = row("x", 2048, 100_000, None, Some(1.5e6));
        let expected = Some((Timed::Chunk { t: 2048, l: 100_000 }, 1.5e6));
        let found = sample(&named, LMeans::Prefix).map(|s| (s.timed, s.time_us));
        assert_eq!(found, expected);
        let column = Observation { l_means: Some(LMeans::Prefix), ..named };
        assert_eq!(sample(&column, LMeans::Context).map(|s| (s.timed, s.time_us)), expected);
        // 2048 tokens at 1024 tok/s take 2 s.
        let rate = row("x", 2048, 100_000, Some(1024.0), None);
        assert_eq!(sample(&rate, LMeans::Prefix).unwrap().time_us, 2e6);
    }

    #[test]
    fn one_timed_row_is_a_remark_and_none_is_nothing() {
        let one = row("x", 2048, 100_000, Some(2000.0), None);
        let (fits, remarks) = fit_observed(&[one], LMeans::Context);
        assert!(fits.is_empty() && remarks[0].contains("at least two"), "{remarks:?}");
        assert_eq!(fit_observed(&[Observation::default()], LMeans::Context), (vec![], vec![]));
    }
}
