use super::*;
use crate::plan::ChunkRange;
use crate::plan::optimise::tests::{Numbers, machine};

fn note() -> Reach {
    let range = ChunkRange::new(256, 2048, 256).unwrap();
    Reach::new(range, 1 << 20, |chunk| Some(200_000_000 / chunk))
}

#[test]
fn where_longer_chunks_are_faster_the_simple_formula_is_kept() {
    // 20 ms a chunk, 0.4 ms a token, scores of every row against the whole context.
    let model = TimeModel::of([20_000.0, 400.0, 0.0, 1e-3, 5e-4]);
    let chosen = choose(&model, &note()).unwrap();
    assert_eq!(chosen.rule, Rule::Formula);
    assert_eq!(chosen.schedule, note().schedule().unwrap());
    assert!(chosen.reason.contains("it is kept"), "{}", chosen.reason);
    let worst = chosen.prompts.iter().map(|p| p.formula_us / p.least_us - 1.0).fold(0.0, f64::max);
    assert!(worst <= SIMPLE_WITHIN);
}

#[test]
fn where_the_best_chunk_lies_inside_the_range_the_table_takes_it() {
    // Per token 512000/T + 0.5*T microseconds: best at T = 1012, so 1024.
    let model = TimeModel::of([512_000.0, 400.0, 0.0, 0.0, 0.5]);
    let chosen = choose(&model, &note()).unwrap();
    assert_ne!(chosen.rule, Rule::Formula);
    assert_eq!(chosen.schedule.at(0), Some(1024));
    assert_eq!(chosen.schedule.at(50_000), Some(1024));
    // Under the frontier still: 2e8 / 390625 = 512.
    assert_eq!(chosen.schedule.at(390_625), Some(512));
    assert!(chosen.reason.contains("up to"), "{}", chosen.reason);
}

#[test]
fn tables_of_random_machines_keep_the_frontier_ascend_and_are_rarely_beaten_by_a_static_chunk() {
    let mut numbers = Numbers(7);
    let (mut compared, mut beaten, mut far) = (0, 0, 0);
    for _ in 0..16 {
        let machine = machine(&mut numbers);
        let Ok(chosen) = choose(&machine.model, &machine.reach) else { continue };
        let table = &chosen.schedule.table;
        assert_eq!(table[0].0, 0);
        assert!(table.windows(2).all(|w| w[0].0 < w[1].0));
        for (i, (from, chunk)) in table.iter().enumerate() {
            let next = table.get(i + 1).map_or(chosen.schedule.max_context, |(next, _)| next - 1);
            for prefix in [*from, next] {
                assert!((machine.peak)(*chunk, prefix) <= machine.usable, "{chunk} at {prefix}");
            }
            let range = machine.reach.range();
            assert!((range.min..=range.max).contains(chunk) && chunk.is_multiple_of(range.align));
        }
        for prompt in &chosen.prompts {
            compared += 1;
            assert!(prompt.least_us <= prompt.table_us * (1.0 + 1e-9));
            let best = prompt.best_static.map_or(f64::INFINITY, |(_, time)| time);
            assert!(prompt.least_us <= best * (1.0 + 1e-9));
            beaten += u32::from(prompt.table_us > best * (1.0 + 1e-9));
            far += u32::from(prompt.table_us > 1.01 * prompt.least_us);
        }
    }
    // One table cannot be best for every prompt; the search for one prompt can (see `least_time`).
    assert!(compared > 40, "{compared}");
    assert!(beaten * 50 <= compared, "{beaten} of {compared} beaten by a static chunk");
    assert!(far * 20 <= compared, "{far} of {compared} more than 1% from the least");
}

#[test]
fn a_frontier_that_admits_nothing_is_an_error() {
    let range = ChunkRange::new(256, 2048, 256).unwrap();
    let nowhere = Reach::new(range, 1 << 20, |_| None);
    let model = TimeModel::of([1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(choose(&model, &nowhere).unwrap_err(), PlanError::NothingFits { chunk_min: 256 });
}

#[test]
fn a_context_shorter_than_every_prompt_is_compared_at_its_end() {
    let range = ChunkRange::new(256, 2048, 256).unwrap();
    let reach = Reach::new(range, 4096, |_| Some(4096));
    let model = TimeModel::of([100.0, 1.0, 0.0, 0.0, 0.0]);
    let chosen = choose(&model, &reach).unwrap();
    assert_eq!(chosen.prompts.len(), 1);
    assert_eq!(chosen.prompts[0].length, 4096);
}
