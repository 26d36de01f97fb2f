//! From a time model to the table `prefix -> chunk` that a sizer serves.
//!
//! A table has to serve prompts whose length it does not know. In go the time model and the reach
//! of every chunk length; several tables are made (the largest chunk that fits; the chunk with the
//! least time a token; each static chunk as far as it fits; the best sequence of the longest
//! prompt) and set beside the least possible time of some prompts; out comes the one that is never
//! far from it. Where the simple formula is within one percent, it is kept.

use serde::{Deserialize, Serialize};

use super::optimise::{least_time, policy};
use super::reach::Reach;
use super::{PlanError, Schedule, chunk_at};
use crate::fit::latency::TimeModel;

/// Prompts that tables are compared on, tokens.
pub const PROMPTS: [u64; 5] = [32_000, 128_000, 256_000, 500_000, 1_000_000];
/// Time that the simple formula may take over the least possible.
pub const SIMPLE_WITHIN: f64 = 0.01;
/// Tables this close to the best are as good.
const TIE: f64 = 0.001;
/// Most static chunks that are tried.
const MOST_STATIC: u64 = 64;
/// Steps of the prefix at which the least time a token is looked for.
const RATE_STEPS: u64 = 256;

/// How the chunks of a table were chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The largest chunk that fits: `clamp(round_down(BUDGET / L))` at the end of the chunk.
    Formula,
    /// The chunk with the least time a token at its prefix.
    LeastTimeAToken,
    /// One chunk, as far as it fits.
    Static(u64),
    /// The best sequence of the longest prompt.
    Searched,
}

/// Predicted times of one prompt, microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromptTime {
    /// Tokens.
    pub length: u64,
    /// With the table.
    pub table_us: f64,
    /// With the simple formula.
    pub formula_us: f64,
    /// The least that any sequence of chunks takes.
    pub least_us: f64,
    /// The best static chunk that fits throughout and its time.
    pub best_static: Option<(u64, f64)>,
}

/// A table with its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The table.
    pub schedule: Schedule,
    /// How its chunks were chosen.
    pub rule: Rule,
    /// Predicted times.
    pub prompts: Vec<PromptTime>,
    /// Why, in words.
    pub reason: String,
}

/// Chooses the table.
///
/// # Errors
/// Not even the smallest chunk fits without a prefix.
pub fn choose(model: &TimeModel, reach: &Reach) -> Result<Chosen, PlanError> {
    let formula = reach.schedule()?;
    let lengths = lengths(formula.max_context);
    let range = reach.range();
    let statics: Vec<u64> = {
        let count = (range.max - range.min) / range.align + 1;
        let stride = count.div_ceil(MOST_STATIC) * range.align;
        range.descending().filter(|c| (range.max - c).is_multiple_of(stride)).collect()
    };
    let mut candidates = vec![(Rule::Formula, formula.clone())];
    let mut offer = |rule: Rule, wanted: &[(u64, u64)]| {
        candidates.push((rule, capped(wanted, &formula)));
    };
    offer(Rule::LeastTimeAToken, &least_time_a_token(model, reach, formula.max_context));
    statics.iter().for_each(|chunk| offer(Rule::Static(*chunk), &[(0, *chunk)]));
    let longest = lengths.last().copied().unwrap_or(0);
    if let Some(wanted) = policy(model, reach, longest).filter(|w| !w.is_empty()) {
        offer(Rule::Searched, &wanted);
    }
    let least: Vec<f64> = lengths
        .iter()
        .map(|length| least_time(model, reach, 0, *length).map_or(f64::INFINITY, |s| s.time_us))
        .collect();
    let times = |schedule: &Schedule| -> Vec<f64> {
        lengths.iter().map(|length| time_of(model, schedule, *length)).collect()
    };
    // Merging or balancing a tiny last chunk may take longer: such a table leaves it.
    let settled = |schedule: &mut Schedule| {
        let mended = times(schedule);
        let fraction = std::mem::take(&mut schedule.tail_fraction);
        let left = times(schedule);
        if mended.iter().zip(&left).any(|(mended, left)| *mended > left * (1.0 + 1e-9)) {
            return left;
        }
        schedule.tail_fraction = fraction;
        mended
    };
    let timed: Vec<Vec<f64>> = candidates.iter_mut().map(|(_, table)| settled(table)).collect();
    let best_static: Vec<Option<(u64, f64)>> = lengths
        .iter()
        .map(|length| {
            let fitting =
                statics.iter().filter_map(|c| Some((*c, fixed(model, reach, *c, *length)?)));
            fitting.min_by(|a, b| a.1.total_cmp(&b.1))
        })
        .collect();
    let worst =
        |times: &[f64]| times.iter().zip(&least).map(|(t, l)| t / l - 1.0).fold(0.0, f64::max);
    let beaten = |times: &[f64]| {
        let by = |(time, best): (&f64, &Option<(u64, f64)>)| {
            best.is_some_and(|(_, s)| *time > s * (1.0 + 1e-9))
        };
        times.iter().zip(&best_static).any(by)
    };
    // Never slower than a static chunk that fits comes first, then the distance to the least.
    let score = |times: &[f64]| (beaten(times), worst(times));
    let formula_off = worst(&timed[0]);
    let pick = if formula_off <= SIMPLE_WITHIN && !beaten(&timed[0]) {
        0
    } else {
        let scores: Vec<(bool, f64)> = timed.iter().map(|t| score(t)).collect();
        let least_beaten = scores.iter().map(|s| s.0).min().unwrap_or(false);
        let of_those = scores.iter().filter(|s| s.0 == least_beaten).map(|s| s.1);
        let limit = of_those.fold(f64::INFINITY, f64::min) + TIE;
        scores.iter().position(|s| s.0 == least_beaten && s.1 <= limit).unwrap_or(0)
    };
    let prompts = (0..lengths.len())
        .map(|i| PromptTime {
            length: lengths[i],
            table_us: timed[pick][i],
            formula_us: timed[0][i],
            least_us: least[i],
            best_static: best_static[i],
        })
        .collect();
    let (rule, schedule) = candidates.swap_remove(pick);
    let reason = reason(rule, formula_off, worst(&timed[pick]), &lengths);
    Ok(Chosen { schedule, rule, prompts, reason })
}

fn reason(rule: Rule, formula_off: f64, off: f64, lengths: &[u64]) -> String {
    let over: Vec<String> = lengths.iter().map(u64::to_string).collect();
    let over = over.join(", ");
    let percent = |share: f64| format!("{:.1}%", 100.0 * share);
    match rule {
        Rule::Formula => format!(
            "The simple formula, the largest chunk that fits, takes at most {} more than the best \
             sequence of chunks on prompts of {over} tokens: it is kept.",
            percent(formula_off)
        ),
        _ => {
            let how = match rule {
                Rule::LeastTimeAToken => "the chunk with the least time a token".to_owned(),
                Rule::Static(chunk) => format!("{chunk} tokens as far as they fit"),
                Rule::Searched | Rule::Formula => {
                    "the best sequence of the longest prompt".to_owned()
                }
            };
            format!(
                "The largest chunk that fits would take up to {} more than the best sequence of \
                 chunks on prompts of {over} tokens; the table takes {how}, at most {} more.",
                percent(formula_off),
                percent(off)
            )
        }
    }
}

/// The prompts that can be served, and the longest.
fn lengths(max_context: u64) -> Vec<u64> {
    let mut out: Vec<u64> = PROMPTS.iter().copied().filter(|p| *p <= max_context).collect();
    let longest = max_context.min(PROMPTS[PROMPTS.len() - 1]).max(1);
    if out.last() != Some(&longest) {
        out.push(longest);
    }
    out
}

/// Time of a prompt with a table, microseconds; infinite where it cannot be served.
pub fn time_of(model: &TimeModel, schedule: &Schedule, length: u64) -> f64 {
    schedule.chunks_of(length).map_or(f64::INFINITY, |chunks| model.total_us(&chunks, 0))
}

/// Time of a prompt in chunks of one length; none where one of them does not fit.
pub fn fixed(model: &TimeModel, reach: &Reach, chunk: u64, length: u64) -> Option<f64> {
    let last = length.saturating_sub(1) / chunk * chunk;
    // Earlier chunks are as long and have shorter prefixes.
    let whole = last.checked_sub(chunk).is_none_or(|prefix| reach.fits(chunk, prefix));
    if !whole || !reach.fits(length - last, last) {
        return None;
    }
    let mut total = model.time_us(length - last, last);
    let mut prefix = 0;
    while prefix < last {
        total += model.time_us(chunk, prefix);
        prefix += chunk;
    }
    Some(total)
}

/// The chunk with the least time a token over the prefix. The part of time that a chunk only
/// brings forward (the rows that later chunks would score against it) is not counted against it.
fn least_time_a_token(model: &TimeModel, reach: &Reach, max_context: u64) -> Vec<(u64, u64)> {
    let lengths: Vec<(f64, f64, u64)> = reach
        .range()
        .descending()
        .map(|chunk| {
            let rows = chunk as f64;
            let own = model.rows_us(chunk) - 0.5 * model.a3_us_per_tl * rows * rows;
            (own / rows, model.a2_us_per_l / rows, chunk)
        })
        .collect();
    let step = (max_context / RATE_STEPS).max(1);
    let mut table: Vec<(u64, u64)> = Vec::new();
    for prefix in (0..=RATE_STEPS).map(|k| k * step) {
        let rate = |(own, per_prefix, _): &&(f64, f64, u64)| own + per_prefix * prefix as f64;
        let fitting = lengths.iter().filter(|(_, _, chunk)| reach.fits(*chunk, prefix));
        let Some((_, _, chunk)) = fitting.min_by(|a, b| rate(a).total_cmp(&rate(b))) else { break };
        if table.last().map(|(_, last)| last) != Some(chunk) {
            table.push((prefix, *chunk));
        }
    }
    table
}

/// `wanted` under the frontier: at every prefix the smaller of the two chunks.
fn capped(wanted: &[(u64, u64)], frontier: &Schedule) -> Schedule {
    let at = |table: &[(u64, u64)], prefix: u64| chunk_at(table, prefix).unwrap_or(u64::MAX);
    let mut starts: Vec<u64> =
        wanted.iter().chain(&frontier.table).map(|(from, _)| *from).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut table: Vec<(u64, u64)> = Vec::new();
    for from in starts.into_iter().filter(|from| *from <= frontier.max_context) {
        let chunk = at(wanted, from).min(at(&frontier.table, from));
        if table.last().map(|(_, last)| *last) != Some(chunk) {
            table.push((from, chunk));
        }
    }
    Schedule { table, ..frontier.clone() }
}

#[cfg(test)]
mod tests;
