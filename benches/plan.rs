//! Time of planning and of serving a plan: `policy::choose` and `least_time` over a context of a
//! million tokens at page 64, and `predict` from a loaded sizer table.

use std::hint::black_box;

use chunktune::emit::Sizer;
use chunktune::fit::latency::{Stair, TimeModel};
use chunktune::plan::optimise::least_time;
use chunktune::plan::policy;
use chunktune::plan::reach::Reach;
use chunktune::plan::{ChunkRange, Schedule};
use criterion::{Criterion, criterion_group, criterion_main};

/// 14 B per (row, key) in 20 GB, so that the frontier cuts through the range.
fn largest_prefix(chunk: u64) -> Option<u64> {
    (20_000_000_000 / 14 / chunk).checked_sub(chunk)
}

fn model() -> TimeModel {
    let mut model = TimeModel::of([3e4, 150.0, 2e-3, 1e-3, 1e-3]);
    model.stairs.push(Stair { block: 128, tile_us: 40.0, ragged_us: 5.0, ragged_tile_us: 40.0 });
    model
}

fn plan(c: &mut Criterion) {
    let model = model();
    let context = 1_000_000;
    for (name, max) in [("2048", 2048), ("16384", 16_384)] {
        let range = ChunkRange::new(64, max, 64).expect("a range of whole pages");
        c.bench_function(&format!("plan 1M tokens, page 64, chunks to {name}"), |b| {
            b.iter(|| {
                let reach = Reach::new(range, context, largest_prefix);
                black_box(policy::choose(&model, &reach)).map(|chosen| chosen.schedule)
            });
        });
        let reach = Reach::new(range, context, largest_prefix);
        c.bench_function(&format!("best sequence of 1M tokens, chunks to {name}"), |b| {
            b.iter(|| least_time(black_box(&model), &reach, 0, context));
        });
    }
}

fn predict(c: &mut Criterion) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/sizer.json");
    let mut sizer = Sizer::read(path.as_ref()).expect("the golden sizer");
    let mut prefix = 0u64;
    let mut next = move |limit: u64| {
        prefix = (prefix + 65_537) % limit;
        prefix
    };
    c.bench_function("predict from the golden sizer", |b| {
        b.iter(|| black_box(&sizer).predict(next(1 << 20)));
    });
    // As many rows as a table can have at page 64 up to 16384.
    let range = ChunkRange::new(64, 16_384, 64).expect("a range of whole pages");
    let long = Schedule::of_frontier(range, Some(1_000_000), largest_prefix).expect("a schedule");
    (sizer.table, sizer.max_context) = (long.table, long.max_context);
    c.bench_function("predict from a table of 256 steps", |b| {
        b.iter(|| black_box(&sizer).predict(next(1 << 20)));
    });
}

criterion_group!(benches, plan, predict);
criterion_main!(benches);
