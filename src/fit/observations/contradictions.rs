//! Rows of a file that cannot all be right.
//!
//! In go observations; out come sentences that name the lines: a chunk that died where a larger one
//! passed, the same chunk with two peaks, a chunk that passed with more than there was.

use std::collections::HashMap;

use super::{LMeans, Observation};
use crate::fit::memory::Row;
use crate::profile::Outcome;
use crate::units::Bytes;

/// Two peaks of the same chunk that differ by more than this factor contradict each other.
const TWO_PEAKS: f64 = 1.25;
/// Most sentences, and most rows of a kind that are compared with each other.
const SAID: usize = 20;
const COMPARED: usize = 2000;

/// A row with what it says about memory.
type Known<'a> = (&'a Observation, Row);

/// What contradicts what, by line. Long lists are cut, which is said.
pub fn contradictions(rows: &[Observation], l_means: LMeans) -> Vec<String> {
    let known: Vec<Known<'_>> =
        rows.iter().filter_map(|o| Some((o, o.memory_row(l_means)?))).collect();
    let mut out = died_below(&known);
    out.extend(two_peaks(&known));
    out.extend(more_than_there_was(&known));
    let more = out.len().saturating_sub(SAID);
    out.truncate(SAID);
    if more > 0 {
        out.push(format!("{more} more contradictions of these kinds."));
    }
    out
}

/// A chunk that died although another one of the same system, at least as large in rows and keys,
/// passed with no more memory to use.
fn died_below(known: &[Known<'_>]) -> Vec<String> {
    let bounded = |passed: bool| {
        known
            .iter()
            .filter(move |(o, _)| (o.outcome == Some(Outcome::Ok)) == passed)
            .filter_map(|(o, row)| Some((*o, *row, o.limit_bytes()?)))
            .take(COMPARED)
            .collect::<Vec<_>>()
    };
    let large = bounded(true);
    let mut out = Vec::new();
    for (died, small, limit) in bounded(false) {
        let passed = large.iter().find(|(passed, row, passed_limit)| {
            (died.system(), died.ratio) == (passed.system(), passed.ratio)
                && row.t >= small.t
                && row.pairs >= small.pairs
                && row.e >= small.e
                && *passed_limit <= limit
        });
        if let Some((passed, ..)) = passed {
            out.push(format!(
                "line {}: {} at T={} L={}, but line {} passed with at least as many rows and keys \
                 and no more memory",
                died.line,
                died.outcome_text,
                died.t.map_or(0, |t| t.0),
                died.l.map_or(0, |l| l.0),
                passed.line
            ));
        }
    }
    out
}

fn two_peaks(known: &[Known<'_>]) -> Vec<String> {
    let mut first: HashMap<_, (u64, Bytes)> = HashMap::new();
    let mut out = Vec::new();
    for (o, row) in known.iter().filter(|(_, row)| row.measured()) {
        let Some(peak) = o.peak else { continue };
        let key = (o.system(), row.t.to_bits(), row.e.to_bits(), o.ratio);
        let (line, other) = *first.entry(key).or_insert((o.line, peak));
        let factor = peak.0.max(other.0) as f64 / peak.0.min(other.0).max(1) as f64;
        if factor > TWO_PEAKS {
            out.push(format!(
                "lines {line} and {}: the same chunk with peaks of {other} and {peak}",
                o.line
            ));
        }
    }
    out
}

fn more_than_there_was(known: &[Known<'_>]) -> Vec<String> {
    known
        .iter()
        .filter(|(o, _)| o.outcome == Some(Outcome::Ok))
        .filter_map(|(o, _)| {
            let (peak, free) = (o.peak?, o.free?);
            (peak > free).then(|| {
                format!("line {}: passed with a peak of {peak} although {free} were free", o.line)
            })
        })
        .collect()
}
