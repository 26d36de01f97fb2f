//! The sequence of chunks that prefills a prompt in the least time.
//!
//! In go a time model, the reach of every chunk length and a prompt; out come the chunks with the
//! least predicted total, found by dynamic programming over steps of the alignment, backwards from
//! the end of the prompt. Every chunk but the last is a length of the range; the last takes what is
//! left.

use super::reach::Reach;
use crate::fit::latency::TimeModel;

/// Most transitions that are looked at; a finer search takes a coarser step.
const MOST_TRANSITIONS: u64 = 1 << 25;

/// A sequence of chunks with its predicted time.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// Chunks, tokens.
    pub chunks: Vec<u64>,
    /// Predicted time of all, microseconds.
    pub time_us: f64,
}

/// What is best at every step of a prompt.
struct Search {
    from: u64,
    step: u64,
    /// Chunk to run at each step; 0 where the end cannot be reached.
    choice: Vec<u64>,
    /// Least time from each step to the end, microseconds.
    value: Vec<f64>,
}

/// The chunks of `length` tokens after a prefix of `from` with the least predicted time; none
/// where the prompt cannot be served.
pub fn least_time(model: &TimeModel, reach: &Reach, from: u64, length: u64) -> Option<Sequence> {
    let search = search(model, reach, from, length)?;
    let time_us = search.value.first().copied().filter(|time| time.is_finite())?;
    let (mut chunks, mut done) = (Vec::new(), 0);
    while done < length {
        let chunk = search.at(done)?;
        chunks.push(chunk);
        done += chunk;
    }
    Some(Sequence { chunks, time_us })
}

/// The best first chunk at every step of the prompt, as `(prefix_from, chunk)`; the last chunks,
/// which take what is left, are not in it. None where the prompt cannot be served.
pub fn policy(model: &TimeModel, reach: &Reach, length: u64) -> Option<Vec<(u64, u64)>> {
    let search = search(model, reach, 0, length)?;
    search.value.first().filter(|time| time.is_finite())?;
    let steps = (0..search.choice.len() as u64).map(|k| k * search.step);
    let whole = steps.zip(search.choice.iter().copied());
    Some(whole.take_while(|(at, chunk)| *chunk > 0 && at + chunk < length).collect())
}

impl Search {
    fn at(&self, done: u64) -> Option<u64> {
        let index = usize::try_from(done / self.step).ok()?;
        self.choice.get(index).copied().filter(|chunk| *chunk > 0)
    }
}

fn search(model: &TimeModel, reach: &Reach, from: u64, length: u64) -> Option<Search> {
    let range = reach.range();
    from.checked_add(length)?;
    let step = step(range.min, range.max, range.align, length);
    let first = range.min.div_ceil(step);
    let options: Vec<(u64, f64, f64, u64)> = (first..=range.max / step)
        .map(|units| units * step)
        .map_while(|chunk| {
            let last = reach.prefix_of(chunk)?;
            Some((chunk, model.rows_us(chunk), model.prefix_us(chunk), last))
        })
        .collect();
    let steps = usize::try_from(length.div_ceil(step)).ok()?;
    let mut found =
        Search { from, step, choice: vec![0; steps], value: vec![f64::INFINITY; steps + 1] };
    *found.value.last_mut()? = 0.0;
    for k in (0..steps).rev() {
        let done = k as u64 * step;
        let (prefix, left) = (found.from + done, length - done);
        // Chunks that leave something and fit; both end the list, which ascends.
        let fitting =
            options.partition_point(|(chunk, _, _, last)| *chunk < left && prefix <= *last);
        let here = prefix as f64;
        let (mut best, mut chosen) = (f64::INFINITY, 0);
        for (i, (_, rows, per_prefix, _)) in options[..fitting].iter().enumerate() {
            let time = rows + per_prefix * here + found.value[k + first as usize + i];
            // Of equals the longer chunk.
            if time <= best {
                (best, chosen) = (time, i + 1);
            }
        }
        let mut chunk = match chosen {
            0 => 0,
            i => options[i - 1].0,
        };
        if reach.fits(left, prefix) {
            let time = model.time_us(left, prefix);
            if time <= best {
                (best, chunk) = (time, left);
            }
        }
        if best.is_finite() {
            found.value[k] = best;
            found.choice[k] = chunk;
        }
    }
    Some(found)
}

/// The alignment, or a multiple of it where the search would be too long.
fn step(min: u64, max: u64, align: u64, length: u64) -> u64 {
    let mut step = align;
    let transitions = |step: u64| (length / step).saturating_mul((max - min) / step + 1);
    // A doubled step still has a length in the range.
    while transitions(step) > MOST_TRANSITIONS
        && step * 2 <= max
        && min.div_ceil(step * 2) * step * 2 <= max
    {
        step *= 2;
    }
    step
}

#[cfg(test)]
pub(super) mod tests;
