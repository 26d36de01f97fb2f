//! Replays a trace of a million requests through SGLang's admission, with exact fill off and on, and
//! the recorded scenarios of SGLang's own scheduler.

use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use chunktune::plan::admission::Settings;
use chunktune::plan::admission::oracle::Recording;
use chunktune::plan::admission::trace::Trace;
use chunktune::plan::admission::trace::replay::{Options, PassRow, ReplayError, Summary, replay};
use criterion::{Criterion, criterion_group, criterion_main};

const REQUESTS: u64 = 1_000_000;
const RECORDED: &str = include_str!("../tests/data/sglang-0.5.23-admission.json");

/// Writes a trace whose lengths a fixed generator draws.
fn write_trace(path: &Path) {
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).expect("a file"));
    let mut state = 1u64;
    let mut draw = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    writeln!(out, "arrival,prompt,cached_prefix,output").expect("a line");
    for request in 0..REQUESTS {
        let prompt = 1 + draw(3000);
        let cached = if draw(3) == 0 { prompt / 2 } else { 0 };
        let output = 1 + draw(300);
        let (seconds, milliseconds) = (request / 50, request % 50 * 20);
        writeln!(out, "{seconds}.{milliseconds:03},{prompt},{cached},{output}").expect("a line");
    }
}

fn replayed(path: &Path, exact_fill: bool, kv: Option<i64>) -> Summary {
    let settings = Settings { max_running: Some(256), ..Settings::new(64, 16_384, exact_fill) };
    let options = Options {
        settings: &settings,
        kv,
        sizer: None,
        clamp: None,
        clock: None,
        blocks: &[32, 64, 128, 256],
        costs: &[],
    };
    let trace = Trace::open(path, None).expect("a trace");
    replay::<ReplayError>(trace, &options, |pass: &PassRow<'_>| {
        black_box(pass.m);
        Ok(())
    })
    .expect("a replay")
}

fn bench(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("trace.csv");
    write_trace(&path);
    let mut group = criterion.benchmark_group("admit");
    group.sample_size(10).measurement_time(Duration::from_secs(20));
    group.bench_function("a million requests, exact fill off", |b| {
        b.iter(|| replayed(&path, false, None));
    });
    group.bench_function("a million requests, exact fill on", |b| {
        b.iter(|| replayed(&path, true, None));
    });
    group.bench_function("a million requests that decode in 2M tokens of KV", |b| {
        b.iter(|| replayed(&path, false, Some(2_000_000)));
    });
    let recording = Recording::parse(RECORDED).expect("a recording");
    group.bench_function("the recorded scenarios", |b| b.iter(|| black_box(recording.compare())));
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
