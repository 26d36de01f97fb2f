//! The memory fit: a million rows, a handful, and the full coverage study.

use chunktune::fit::memory::study::{self, Campaign, Random};
use chunktune::fit::memory::{FIELD_NOISE, Growth, Row, fit};
use criterion::{Criterion, criterion_group, criterion_main};

/// Campaigns of the full study.
const CAMPAIGNS: usize = 5000;

fn rows(count: usize) -> Vec<Row> {
    Campaign::new(&mut Random::new(1), count, Growth::Dense).rows
}

fn fits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("memory_fit");
    group.sample_size(10);
    for count in [4, 40, 1_000_000] {
        let rows = rows(count);
        group.bench_function(format!("{count}_rows"), |bencher| {
            bencher.iter(|| fit("bench", true, 1, &rows, FIELD_NOISE));
        });
    }
    group.finish();
}

/// Not a time: prints the figures that the intervals are judged by.
fn coverage(_: &mut Criterion) {
    for (tally, (least, most)) in study::coverage(2026, CAMPAIGNS).iter().zip(study::CLASSES) {
        println!(
            "coverage, {least} to {most} rows: {} campaigns, {:.1}% covered, {:.1}% of the forms \
             chosen rightly, {:.2} times the width with the form known",
            tally.count,
            100.0 * tally.coverage(),
            100.0 * tally.chosen as f64 / tally.count as f64,
            tally.width_ratio()
        );
    }
}

criterion_group!(benches, fits, coverage);
criterion_main!(benches);
