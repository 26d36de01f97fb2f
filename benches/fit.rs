//! The memory fit: a million rows, a handful, and the full coverage study.

use chunktune::fit::memory::study::{self, Campaign, Random};
use chunktune::fit::memory::{FIELD_NOISE, Growth, Row, fit};
use criterion::{Criterion, criterion_group, criterion_main};

/// Campaigns of the full study.
const CAMPAIGNS: usize = 5000;

fn rows(count: usize, growth: Growth) -> Vec<Row> {
    Campaign::new(&mut Random::new(1), count, growth).rows
}

/// As many chunks as rows: no two are alike.
fn all_different(mut rows: Vec<Row>) -> Vec<Row> {
    for (i, row) in rows.iter_mut().enumerate() {
        row.e += i as f64 / 64.0;
        row.pairs = row.t * row.e;
    }
    rows
}

fn fits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("memory_fit");
    group.sample_size(10);
    let kinds = [
        ("dense", Growth::Dense),
        ("pool", Growth::Pooled),
        ("dense_and_pool", Growth::DenseAndPooled),
    ];
    for count in [4, 40, 1_000_000] {
        for (name, growth) in kinds {
            let rows = rows(count, growth);
            group.bench_function(format!("{count}_rows_{name}"), |bencher| {
                bencher.iter(|| fit("bench", true, 1, &rows, FIELD_NOISE));
            });
        }
    }
    let rows = all_different(rows(1_000_000, Growth::DenseAndPooled));
    group.bench_function("1000000_different_rows_dense_and_pool", |bencher| {
        bencher.iter(|| fit("bench", true, 1, &rows, FIELD_NOISE));
    });
    group.finish();
}

/// Not a time: prints the figures that the intervals are judged by.
fn coverage(_: &mut Criterion) {
    for (tally, (least, most)) in study::coverage(2026, CAMPAIGNS).iter().zip(study::CLASSES) {
        println!(
            "coverage, {least} to {most} rows: {} campaigns ({} refused), {:.1}% covered, {:.1}% of the forms \
             chosen rightly, {:.2} times the width with the form known",
            tally.count,
            tally.refused,
            100.0 * tally.coverage(),
            100.0 * tally.chosen as f64 / tally.count as f64,
            tally.width_ratio()
        );
    }
}

criterion_group!(benches, fits, coverage);
criterion_main!(benches);
