use super::*;
use crate::fit::latency::Stair;
use crate::plan::{ChunkRange, policy};

/// A stream of numbers that is the same on every run (splitmix64).
pub(in crate::plan) struct Numbers(pub u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Uniform on a logarithmic scale.
    fn between(&mut self, lo: f64, hi: f64) -> f64 {
        lo * (hi / lo).powf((self.next() >> 11) as f64 / (1u64 << 53) as f64)
    }
}

/// A random machine: memory `m0 + m_t*T + c*T*(L+T)` or bounded, time with or without a staircase,
/// page and range.
pub(in crate::plan) struct Machine {
    pub model: TimeModel,
    pub reach: Reach,
    pub peak: Box<dyn Fn(u64, u64) -> f64>,
    pub usable: f64,
}

pub(in crate::plan) fn machine(numbers: &mut Numbers) -> Machine {
    let page = [16, 64, 128, 256][numbers.below(4) as usize];
    let min = page * (1 + numbers.below(4));
    let max = min + page * numbers.below(24);
    let (m0, per_row) = (numbers.between(1.0, 5e8), numbers.between(1e3, 2e5));
    let (c, pool) = (numbers.between(1.0, 40.0), numbers.between(1e8, 1e10));
    let bounded = numbers.below(4) == 0;
    let peak = move |t: u64, l: u64| {
        let scores = c * t as f64 * (l + t) as f64;
        m0 + per_row * t as f64 + if bounded { scores.min(pool) } else { scores }
    };
    let usable = m0 + per_row * max as f64 * 1.01 + numbers.between(1e8, 2e10);
    let mut model = TimeModel::of([
        numbers.between(1.0, 1e5),
        numbers.between(1e-3, 300.0),
        if numbers.below(2) == 0 { 0.0 } else { numbers.between(1e-5, 1e-1) },
        numbers.between(1e-7, 1e-2),
        if numbers.below(3) == 0 { 0.0 } else { numbers.between(1e-7, 1e-1) },
    ]);
    if numbers.below(2) == 0 {
        model.stairs.push(Stair {
            block: [16, 32, 64, 128, 192][numbers.below(5) as usize],
            tile_us: numbers.between(1e-2, 1e3),
            ragged_us: numbers.between(1e-2, 1e3),
            ragged_tile_us: numbers.between(1e-2, 1e3),
        });
    }
    let range = ChunkRange::new(min, max, page).unwrap();
    let limit = 1 << 20;
    let reach = Reach::new(range, limit, |chunk| {
        let fits = |l: &u64| peak(chunk, *l) <= usable;
        // The frontier by bisection, on the machine's own formula.
        let (mut inside, mut outside) = (0, limit + 1);
        if !fits(&0) {
            return None;
        }
        while outside - inside > 1 {
            let middle = (inside + outside) / 2;
            if fits(&middle) { inside = middle } else { outside = middle }
        }
        Some(inside)
    });
    Machine { model, reach, peak: Box::new(peak), usable }
}

/// The least time of a prompt by trying everything: forwards, at page granularity, with the time
/// and the memory of every chunk worked out anew.
fn exhaustive(machine: &Machine, length: u64) -> f64 {
    let range = machine.reach.range();
    let page = range.align;
    let fits = |t: u64, l: u64| (machine.peak)(t, l) <= machine.usable;
    let pages = length.div_ceil(page) as usize;
    let mut least = vec![f64::INFINITY; pages + 1];
    let mut end = f64::INFINITY;
    least[0] = 0.0;
    for k in 0..pages {
        let here = k as u64 * page;
        if least[k].is_infinite() {
            continue;
        }
        let mut chunk = range.min;
        while chunk <= range.max && here + chunk < length {
            if fits(chunk, here) {
                let to = k + (chunk / page) as usize;
                least[to] = least[to].min(least[k] + machine.model.time_us(chunk, here));
            }
            chunk += page;
        }
        // What is left is a last chunk, of any length up to the largest.
        let left = length - here;
        if left <= range.max && fits(left.max(range.min).div_ceil(page) * page, here) {
            end = end.min(least[k] + machine.model.time_us(left, here));
        }
    }
    end
}

#[test]
fn sixty_random_machines_are_scheduled_in_the_least_time_and_never_over_the_frontier() {
    let mut numbers = Numbers(20_261_129);
    let mut served = 0;
    while served < 60 {
        let machine = machine(&mut numbers);
        let length = 1000 + numbers.below(60_000);
        let expected = exhaustive(&machine, length);
        let found = least_time(&machine.model, &machine.reach, 0, length);
        let Some(found) = found else {
            assert!(expected.is_infinite(), "a prompt of {length} could have been served");
            continue;
        };
        served += 1;
        assert!(found.time_us <= 1.01 * expected, "{} against {expected}", found.time_us);
        assert!(found.time_us >= expected * (1.0 - 1e-9));
        assert_eq!(found.chunks.iter().sum::<u64>(), length);
        let again = machine.model.total_us(&found.chunks, 0);
        assert!((again / found.time_us - 1.0).abs() < 1e-9);
        let mut prefix = 0;
        for (i, chunk) in found.chunks.iter().enumerate() {
            assert!((machine.peak)(*chunk, prefix) <= machine.usable, "{chunk} after {prefix}");
            let last = i + 1 == found.chunks.len();
            assert!(last || chunk.is_multiple_of(machine.reach.range().align));
            prefix += chunk;
        }
        // Never worse than a static chunk that fits.
        for chunk in machine.reach.range().descending() {
            if let Some(time) = policy::fixed(&machine.model, &machine.reach, chunk, length) {
                assert!(found.time_us <= time * (1.0 + 1e-9), "{chunk} takes {time}");
            }
        }
    }
}

#[test]
fn chunks_in_the_middle_are_best_where_both_ends_cost() {
    // Per token 1000/T + 0.001*T (of which the prefix term brings nothing): best at T = 1000.
    let model = TimeModel::of([1000.0, 0.0, 0.0, 0.0, 0.001]);
    let range = ChunkRange::new(100, 4000, 100).unwrap();
    let reach = Reach::new(range, 1 << 20, |_| Some(1 << 20));
    let found = least_time(&model, &reach, 0, 100_000).unwrap();
    assert!(found.chunks.iter().all(|c| *c == 1000), "{:?}", found.chunks);
}

#[test]
fn a_cached_prefix_starts_the_search_where_it_ends() {
    let model = TimeModel::of([1000.0, 1.0, 0.0, 0.001, 0.0]);
    let range = ChunkRange::new(256, 2048, 256).unwrap();
    let reach = Reach::new(range, 1 << 20, |chunk| Some(200_000_000 / chunk));
    let found = least_time(&model, &reach, 150_000, 10_000).unwrap();
    assert!(reach.fits_all(&found.chunks, 150_000) && !reach.fits_all(&found.chunks, 300_000));
    assert!(found.chunks.iter().all(|c| *c <= 1280), "{:?}", found.chunks);
}

#[test]
fn prompts_that_cannot_be_served_and_absurd_lengths_have_no_sequence() {
    let model = TimeModel::of([1.0, 1.0, 0.0, 0.0, 0.0]);
    let range = ChunkRange::new(256, 2048, 256).unwrap();
    let reach = Reach::new(range, 1 << 20, |chunk| Some(20_000_000 / chunk));
    assert!(least_time(&model, &reach, 0, 79_000).is_none()); // 2e7 / 256 = 78125
    assert!(least_time(&model, &reach, u64::MAX, 10).is_none());
    let nowhere = Reach::new(range, 1 << 20, |_| None);
    assert!(least_time(&model, &nowhere, 0, 10).is_none());
    // A million lengths of one token: the search takes a coarser step and ends.
    let fine = ChunkRange::new(1, 1 << 14, 1).unwrap();
    let reach = Reach::new(fine, 1 << 20, |_| Some(1 << 20));
    let found = least_time(&model, &reach, 0, 100_000).unwrap();
    assert_eq!(found.chunks.iter().sum::<u64>(), 100_000);
}
