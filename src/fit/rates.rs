//! Prefill rates that the field reports: which chunk is fastest, and whether that can be told.
//!
//! In go observations with a time or a rate; out come one rate a (T, L), recomputed from the time
//! where there is one, with its repeats, and a verdict for each prompt length. A larger chunk is
//! not taken to be better: a winner must stand out from the spread of the repeats, and a chunk that
//! is both slower and larger is dominated.

use std::collections::BTreeMap;

use serde::Serialize;

use super::observations::Observation;

/// A reported rate that differs from length over time by more than this is another quantity.
const SAME_RATE: f64 = 0.05;
/// Difference that counts where nothing was repeated.
const NOISE_FLOOR: f64 = 0.02;
/// A shorter prompt this much slower, in the same chunks, contradicts a longer one.
const SLOWER: f64 = 0.05;

/// Rate of one chunk length on prompts of one length.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Chunk, tokens; none where it was not reported.
    pub t: Option<u64>,
    /// Prompt, tokens.
    pub l: u64,
    /// Mean tokens per second.
    pub tok_s: f64,
    /// Readings.
    pub repeats: usize,
    /// Largest less smallest reading over the mean; none with one reading.
    pub spread: Option<f64>,
    /// Peak, bytes, where it was reported.
    pub peak: Option<f64>,
}

/// What the rates of one prompt length say.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// This chunk is fastest, by more than the spread.
    Fastest(u64),
    /// The fastest lies within the spread of the others: choose by memory, or repeat.
    NoWinner,
}

/// The rates of one prompt length, by chunk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prompt {
    /// Prompt, tokens.
    pub l: u64,
    /// Rates, smallest chunk first.
    pub rates: Vec<Rate>,
    /// Which chunk is fastest.
    pub verdict: Verdict,
    /// Chunks that another one beats in both time and memory.
    pub dominated: Vec<u64>,
}

/// Tokens per second: prompt length over the time of the whole prompt. This is the one definition
/// used here.
pub fn tokens_per_second(length: u64, time_us: f64) -> f64 {
    length as f64 / (time_us * 1e-6)
}

/// The rates of observations of one system; rows without a length, or without time and rate, are
/// left out.
pub fn rates(rows: &[&Observation]) -> Vec<Rate> {
    // Rate and peak of every reading, by prompt and chunk.
    type Readings = Vec<(f64, Option<f64>)>;
    let mut readings: BTreeMap<(u64, Option<u64>), Readings> = BTreeMap::new();
    for row in rows {
        let Some(l) = row.l.map(|l| l.0).filter(|l| *l > 0) else { continue };
        let rate = row.time_us.map(|time| tokens_per_second(l, time)).or(row.tok_s);
        if let Some(rate) = rate {
            let peak = row.peak.map(|p| p.0 as f64);
            readings.entry((l, row.t.map(|t| t.0))).or_default().push((rate, peak));
        }
    }
    readings
        .into_iter()
        .map(|((l, t), readings)| {
            let mean = readings.iter().map(|(r, _)| r).sum::<f64>() / readings.len() as f64;
            let (low, high) = readings
                .iter()
                .fold((f64::INFINITY, 0.0f64), |(a, b), (r, _)| (a.min(*r), b.max(*r)));
            Rate {
                t,
                l,
                tok_s: mean,
                repeats: readings.len(),
                spread: (readings.len() > 1).then(|| (high - low) / mean),
                peak: readings.iter().filter_map(|(_, p)| *p).reduce(f64::max),
            }
        })
        .collect()
}

/// Verdicts by prompt length, of chunks up to `cap`.
pub fn prompts(rates: &[Rate], cap: Option<u64>) -> Vec<Prompt> {
    let mut by_length: BTreeMap<u64, Vec<Rate>> = BTreeMap::new();
    let allowed = |rate: &&Rate| rate.t.is_some_and(|t| cap.is_none_or(|cap| t <= cap));
    for rate in rates.iter().filter(allowed) {
        by_length.entry(rate.l).or_default().push(rate.clone());
    }
    by_length
        .into_iter()
        .map(|(l, rates)| Prompt {
            l,
            verdict: verdict(&rates),
            dominated: dominated(&rates),
            rates,
        })
        .collect()
}

fn verdict(rates: &[Rate]) -> Verdict {
    let mut order: Vec<&Rate> = rates.iter().collect();
    order.sort_by(|a, b| b.tok_s.total_cmp(&a.tok_s));
    let spread = |r: &Rate| r.spread.unwrap_or(0.0).max(NOISE_FLOOR);
    match order[..] {
        [first, second, ..] => {
            let lead = first.tok_s / second.tok_s - 1.0;
            // Two means differ when their lead passes the half-widths of both.
            let noise = 0.5 * (spread(first) + spread(second));
            match first.t {
                Some(t) if lead > noise => Verdict::Fastest(t),
                _ => Verdict::NoWinner,
            }
        }
        _ => Verdict::NoWinner,
    }
}

fn dominated(rates: &[Rate]) -> Vec<u64> {
    let beats = |a: &Rate, b: &Rate| {
        matches!((a.peak, b.peak), (Some(x), Some(y)) if x <= y && a.tok_s >= b.tok_s
            && (x < y || a.tok_s > b.tok_s))
    };
    rates.iter().filter(|b| rates.iter().any(|a| beats(a, b))).filter_map(|b| b.t).collect()
}

/// Time of a step of `t` rows as `fixed + per_row * t` through two rates of one prompt length:
/// `(fixed, per_row)` in seconds; none where the smaller chunk is the faster one.
pub fn step_time(small: &Rate, large: &Rate) -> Option<(f64, f64)> {
    let (a, b) = (small.t? as f64, large.t? as f64);
    // One token takes fixed / t + per_row.
    let (x, y) = (small.tok_s.recip(), large.tok_s.recip());
    let fixed = (x - y) / (a.recip() - b.recip());
    let per_row = y - fixed / b;
    (fixed >= 0.0 && per_row > 0.0 && fixed.is_finite()).then_some((fixed, per_row))
}

/// What a reader must know about the rates: contradictions, missing repeats, other definitions.
pub fn remarks(rows: &[&Observation], rates: &[Rate]) -> Vec<String> {
    let mut out = Vec::new();
    for row in rows {
        let (Some(l), Some(time), Some(said)) = (row.l, row.time_us, row.tok_s) else { continue };
        let computed = tokens_per_second(l.0, time);
        if (said / computed - 1.0).abs() > SAME_RATE {
            out.push(format!(
                "Line {}: {said:.0} tok/s were reported, length over time is {computed:.0}: another \
                 definition. Length over time is used.",
                row.line
            ));
        }
    }
    for short in rates {
        let longer = rates.iter().find(|long| {
            long.t == short.t && long.l > short.l && short.tok_s < long.tok_s * (1.0 - SLOWER)
        });
        if let (Some(long), Some(t)) = (longer, short.t) {
            out.push(format!(
                "At T={t}, {} tokens ran at {:.0} tok/s and {} tokens at {:.0}: a shorter prompt \
                 should not be slower, so one of the two readings is off.",
                short.l, short.tok_s, long.l, long.tok_s
            ));
        }
    }
    for prompt in prompts(rates, None).iter().filter(|p| p.rates.len() > 1) {
        let chosen = match prompt.verdict {
            Verdict::Fastest(t) => format!("T={t} is fastest"),
            Verdict::NoWinner => "no chunk stands out from the spread; choose by memory".to_owned(),
        };
        let single = prompt.rates.iter().any(|r| r.repeats < 3);
        let repeat = if single { ", from too few repeats: take three or more" } else { "" };
        out.push(format!("On prompts of {} tokens {chosen}{repeat}.", prompt.l));
        if !prompt.dominated.is_empty() {
            let list: Vec<String> = prompt.dominated.iter().map(u64::to_string).collect();
            out.push(format!(
                "On prompts of {} tokens T={} is both slower and larger than another chunk.",
                prompt.l,
                list.join(", ")
            ));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::observations::read_csv;

    fn case(id: &str) -> (Vec<Observation>, Vec<Rate>) {
        let all = read_csv(include_str!("../../profiles/field/field_cases.csv")).unwrap().rows;
        let rows: Vec<Observation> = all
            .into_iter()
            .filter(|o| o.extra.get("id").is_some_and(|i| i.starts_with(id)))
            .collect();
        let rates = rates(&rows.iter().collect::<Vec<_>>());
        (rows, rates)
    }

    #[test]
    fn b01_two_chunks_give_a_step_model_and_the_short_prompt_is_flagged() {
        let (rows, rates) = case("B01");
        let at = |t, l| rates.iter().find(|r| r.t == Some(t) && r.l == l).unwrap();
        // 79,096 / 203.2 = 389.3 and / 133.2 = 593.8.
        let (small, large) = (at(256, 79_096), at(1024, 79_096));
        assert!((small.tok_s - 389.3).abs() < 0.1 && (large.tok_s - 593.8).abs() < 0.1);
        let (fixed, per_row) = step_time(small, large).unwrap();
        assert!((fixed - 0.302).abs() < 0.001 && (per_row - 1.389e-3).abs() < 2e-6);
        let rate = |t: f64| t / (fixed + per_row * t);
        assert!((rate(2048.0) - 651.0).abs() < 1.0 && (rate(4096.0) - 684.0).abs() < 1.0);
        let remarks = remarks(&rows.iter().collect::<Vec<_>>(), &rates);
        assert!(remarks.iter().any(|r| r.contains("39828 tokens ran at 523")), "{remarks:?}");
    }

    #[test]
    fn b02_the_best_chunk_lies_inside_the_range_and_under_the_cap() {
        let (_, rates) = case("B02");
        let found = prompts(&rates, Some(8191));
        // 8,004 / 10.4 s = 770, / 8.93 s = 896: +16%; at 100k +3%.
        assert_eq!(found[0].verdict, Verdict::Fastest(2048));
        let gain = |p: &Prompt| p.rates[1].tok_s / p.rates[0].tok_s - 1.0;
        assert!((gain(&found[0]) - 0.165).abs() < 0.01 && (gain(&found[1]) - 0.03).abs() < 0.005);
    }

    #[test]
    fn b10_a_chunk_that_is_slower_and_larger_is_dominated_and_the_best_depends_on_the_prompt() {
        let (_, rates) = case("B10");
        let found = prompts(&rates, None);
        assert_eq!((found[0].l, &found[0].dominated), (21_400, &vec![8192]));
        assert_eq!((found[1].l, &found[1].dominated), (38_500, &vec![1024]));
        assert_eq!(found[0].verdict, Verdict::Fastest(1024));
        assert_eq!(found[1].verdict, Verdict::Fastest(512));
    }

    #[test]
    fn b12_repeats_that_overlap_name_no_winner_and_the_mean_is_reported_not_the_best() {
        let (rows, rates) = case("B12");
        let means: Vec<f64> = rates.iter().map(|r| r.tok_s.round()).collect();
        assert_eq!(means, [1540.0, 1523.0, 1710.0]);
        let spreads: Vec<f64> =
            rates.iter().map(|r| (1000.0 * r.spread.unwrap()).round() / 10.0).collect();
        // (1561.3 - 1484.9) / 1523.1 = 5.0%, and 7.7%, 8.1% over the means.
        assert_eq!(spreads, [7.7, 5.0, 8.1]);
        let small: Vec<Rate> = rates[..2].to_vec();
        assert_eq!(prompts(&small, None)[0].verdict, Verdict::NoWinner);
        let remarks = remarks(&rows.iter().collect::<Vec<_>>(), &rates);
        assert!(remarks.iter().any(|r| r.contains("too few repeats")), "{remarks:?}");
    }

    #[test]
    fn b05_a_flat_sweep_has_no_winner() {
        let (_, rates) = case("B05");
        // 264,000 / 174 s = 1517 and / 177 s = 1492: 1.7%.
        assert_eq!(prompts(&rates, None)[0].verdict, Verdict::NoWinner);
    }

    #[test]
    fn b17_rates_are_recomputed_by_one_definition_and_the_other_is_named() {
        let (rows, rates) = case("B17");
        let computed: Vec<f64> = rates.iter().map(|r| r.tok_s.round()).collect();
        assert_eq!(computed, [3960.0, 3198.0, 2296.0]);
        let remarks = remarks(&rows.iter().collect::<Vec<_>>(), &rates);
        assert_eq!(remarks.iter().filter(|r| r.contains("another definition")).count(), 3);
    }
}
