//! Schedules made from a few noisy rows, as `tune plan` makes them, run against the truth that made
//! the rows.

use super::reach::Reach;
use super::{Budget, ChunkRange, Frontier, Schedule, policy};
use crate::fit::latency::TimeModel;
use crate::fit::memory::study::{Campaign, KINDS, Random};
use crate::fit::memory::{FIELD_NOISE, fit};

const USABLE: u64 = 2_750_000_000;
const MARGIN: f64 = 5e8;
const CONTEXT: u64 = 1 << 20;
const PROMPTS: [u64; 3] = [32_768, 131_072, 262_144];
/// 0.3 s a chunk, 1.4 ms a row and 0.5 ns a (row, key).
const TIME: [f64; 5] = [3e5, 1400.0, 0.0, 5e-4, 5e-4];

/// Chunks with the prefix before them.
fn steps(schedule: &Schedule, length: u64) -> Option<Vec<(u64, u64)>> {
    let mut prefix = 0;
    let chunks = schedule.chunks_of(length)?;
    Some(
        chunks
            .into_iter()
            .map(|t| {
                prefix += t;
                (t, prefix - t)
            })
            .collect(),
    )
}

#[test]
fn schedules_of_campaigns_seldom_trip_the_guard_and_cost_little_time() {
    let mut random = Random::new(20);
    let model = TimeModel::of(TIME);
    let range = ChunkRange::new(256, 8192, 256).unwrap();
    let (mut prompts, mut tripped, mut unserved, mut refused) = (0, 0, 0, 0);
    let mut ratios = Vec::new();
    for i in 0..60 {
        let rows = 4 + random.below(37);
        let campaign = Campaign::new(&mut random, rows, KINDS[i % 4]);
        let truth = |t: u64, l: u64| campaign.peak(t as f64, (l + t) as f64);
        let fits = |t: u64, l: u64| truth(t, l) <= USABLE as f64;
        let chosen = |largest: &dyn Fn(u64) -> Option<u64>| {
            policy::choose(&model, &Reach::new(range, CONTEXT, largest)).map(|c| c.schedule)
        };
        let best = chosen(&|t| super::frontier::largest(CONTEXT, |l| fits(t, l)));
        let Ok(memory) = fit("study", true, 1, &campaign.rows, FIELD_NOISE) else {
            refused += 1;
            continue;
        };
        let made = Budget::new(&memory, USABLE, true).and_then(|budget| {
            let frontier = Frontier::new(&memory, &budget, 1);
            chosen(&|t| frontier.largest_prefix(t, CONTEXT))
        });
        let Ok(best) = best else { continue };
        for length in PROMPTS {
            let Some(ideal) = steps(&best, length) else { continue };
            prompts += 1;
            let Some(run) = made.as_ref().ok().and_then(|s| steps(s, length)) else {
                unserved += 1;
                continue;
            };
            // One run: every chunk has noise of its own, and the guard fires beyond the margin.
            let over = |&(t, l): &(u64, u64)| truth(t, l) * random.noise() > USABLE as f64 + MARGIN;
            tripped += usize::from(run.iter().any(over));
            let total = |steps: &[(u64, u64)]| {
                steps.iter().map(|(t, l)| model.time_us(*t, *l)).sum::<f64>()
            };
            ratios.push(total(&run) / total(&ideal));
        }
    }
    assert!(prompts > 100, "{prompts}");
    assert!(tripped * 20 <= prompts, "{tripped} of {prompts} prompts tripped the guard");
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!(mean <= 1.15, "{mean:.3} times the time of the true model");
    assert!(unserved * 20 <= prompts, "{unserved} of {prompts} prompts were not served");
    assert!(refused <= 3, "{refused} of 60 campaigns were refused");
}
