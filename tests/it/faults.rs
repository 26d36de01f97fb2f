//! The bench against a scripted runtime: each HIP call failing in turn, memory that ends, a launch
//! that hangs, times that are noisy or drift. Whatever happens, every case has a typed point in the
//! end and the journal reads back.

use std::cell::RefCell;
use std::sync::LazyLock;
use std::time::Duration;

use chunktune::grid::{Case, Pipeline, Work};
use chunktune::hip::{Hip, code};
use chunktune::journal::{Journal, RunKey};
use chunktune::measure::bench::{Bench, Settings};
use chunktune::measure::outcome::Trouble;
use chunktune::measure::statistics::StoppingRule;
use chunktune::model::{Indexer, MatrixShape};
use chunktune::ops::{self, KernelEntry};
use chunktune::profile::{Outcome, Point};

use crate::fake_hip::{Script, calls, play};

/// The kernels of [`group`] and few others: every call of opening a bench is made to fail.
static CATALOG: LazyLock<Vec<KernelEntry>> = LazyLock::new(|| {
    let catalog = ops::catalog("gfx950").unwrap().into_iter();
    let used = |entry: &KernelEntry| !entry.id.starts_with("gemm");
    catalog.filter(used).collect()
});

fn settings() -> Settings {
    let rule = StoppingRule { min_samples: 3, max_samples: 40, ..StoppingRule::default() };
    Settings { rule, hang: Duration::from_millis(30) }
}

fn absorb(variant: &str, m: u64) -> Case {
    let shape = MatrixShape { name: "w_kc".into(), b: 16, n: 512, k: 192 };
    let kernel = format!("absorb_bmm_64x256_{variant}");
    Case { name: format!("{kernel}/M={m}"), work: Work::Matrix { kernel, shape, m } }
}

fn group() -> Vec<Case> {
    let indexer = Indexer::FP4_LOW_RATIO;
    let work = Work::Indexer { pipeline: Pipeline::Dense, indexer, t: 256, l: 4096 };
    let dense = Case { name: "dense".into(), work };
    vec![absorb("even", 1024), absorb("ragged_wrap", 1008), dense]
}

/// Measures `cases`, on a new bench after each loss, as the supervisor of the worker does; the
/// point of each case, or why no bench could be opened.
fn measure(hip: &Hip, cases: &[Case]) -> Result<Vec<Point>, Trouble> {
    let finished: RefCell<Vec<Option<Point>>> = RefCell::new(vec![None; cases.len()]);
    for _ in 0..=cases.len() {
        let open: Vec<usize> =
            (0..cases.len()).filter(|i| finished.borrow()[*i].is_none()).collect();
        if open.is_empty() {
            break;
        }
        let bench = Bench::open(hip, 0, &CATALOG, settings())?;
        let rest: Vec<Case> = open.iter().map(|i| cases[*i].clone()).collect();
        let keep = |index: usize, point| finished.borrow_mut()[open[index]] = Some(point);
        bench.measure_sampled(&rest, |_| {}, keep);
    }
    let points = finished.into_inner();
    assert!(points.iter().all(Option::is_some), "a case was left without a point");
    Ok(points.into_iter().flatten().collect())
}

fn outcomes(points: &[Point]) -> Vec<Outcome> {
    points.iter().map(|point| point.outcome).collect()
}

#[test]
fn without_faults_every_case_is_sampled_until_it_converges() {
    let points = measure(&play(Script::default()), &group()).unwrap();
    assert_eq!(outcomes(&points), [Outcome::Ok; 3]);
    for point in &points {
        assert_eq!((point.time_us, point.samples), (Some(1000.0), 3));
        assert_eq!((point.time_lo_us, point.time_hi_us), (Some(1000.0), Some(1000.0)));
    }
    // 256 rows over ceil(4352 / 8) = 544 blocks: logits and copy 4 B a key, block maxima 4 B a
    // block, candidate ids 2048 x 4 B, the mask 1 B a key and top-k ids 512 x 4 B.
    let row = 4352 * (4 + 4 + 1) + 544 * 4 + 2048 * 4 + 512 * 4;
    assert_eq!(points[2].peak_bytes, Some(256 * row));
}

#[test]
fn each_call_failing_in_turn_gives_a_typed_point_or_a_clear_error_and_keeps_the_journal() {
    measure(&play(Script::default()), &group()).unwrap();
    let total = calls().len();
    let key = RunKey([("device".to_string(), "scripted".to_string())].into());
    let directory = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(directory.path(), &key).unwrap();
    let mut journaled = 0;
    for failing in 0..total {
        for code in [code::UNKNOWN, code::LAUNCH_FAILURE] {
            let hip = play(Script { fail: Some((failing, code)), ..Script::default() });
            let measured = measure(&hip, &group());
            let name = calls()[failing];
            let points = match measured {
                Ok(points) => points,
                Err(trouble) => {
                    assert!(trouble.message.contains(name), "{name}: {}", trouble.message);
                    continue;
                }
            };
            for (case, point) in group().iter().zip(&points) {
                let words = point.message.as_deref().unwrap_or_default();
                match point.outcome {
                    Outcome::Ok => assert_eq!(words, "", "{name}"),
                    Outcome::Fault | Outcome::Error => assert!(words.contains(name), "{words}"),
                    other => panic!("{name}: {other:?}: {words}"),
                }
                let case = format!("call {failing}, code {code}: {}", case.name);
                journal.append(&case, point).unwrap();
                journaled += 1;
            }
        }
    }
    drop(journal);
    let (_, kept) = Journal::resume(directory.path(), &key).unwrap();
    assert!(journaled > total, "most failures cost single points");
    assert_eq!(kept.len(), journaled);
}

#[test]
fn a_refused_allocation_is_the_outcome_of_its_case_only() {
    // Enough for both absorb cases and the flush, not for the dense buffers of a long prefix.
    let work = |l| Work::Indexer {
        pipeline: Pipeline::Dense,
        indexer: Indexer::FP4_LOW_RATIO,
        t: 2048,
        l,
    };
    let long = Case { name: "long".into(), work: work(1 << 19) };
    let short = Case { name: "short".into(), work: work(1024) };
    let hip = play(Script { memory: 2 << 30, ..Script::default() });
    let points = measure(&hip, &[absorb("even", 1024), long, short]).unwrap();
    assert_eq!(outcomes(&points), [Outcome::Ok, Outcome::Oom, Outcome::Ok]);
    assert!(points[1].message.as_ref().unwrap().contains("hipMalloc"));
}

#[test]
fn a_launch_that_hangs_is_the_outcome_of_its_case_and_ends_the_bench() {
    // Launches 0 and 1 fill the inputs of the first case, 2 is its warm-up, 3 to 5 are the second's.
    let hip = play(Script { hang: Some(4), ..Script::default() });
    let bench = Bench::open(&hip, 0, &CATALOG, settings()).unwrap();
    let kept = RefCell::new(Vec::new());
    let keep = |index, point: Point| kept.borrow_mut().push((index, point.outcome));
    assert!(!bench.measure_sampled(&group(), |_| {}, keep), "the device cannot be used any more");
    assert_eq!(kept.into_inner(), [(1, Outcome::Hang)]);
}

#[test]
fn noisy_times_end_at_the_limit_with_an_interval_that_says_so() {
    let noisy = |n: usize| 1.0 + 0.5 * (n as f32 * 0.618_034).fract();
    let hip = play(Script { time: Box::new(noisy), ..Script::default() });
    let points = measure(&hip, &[absorb("even", 1024)]).unwrap();
    let point = &points[0];
    assert_eq!(point.samples, 40);
    let (lo, hi) = (point.time_lo_us.unwrap(), point.time_hi_us.unwrap());
    // Uniform in [1000, 1500]: the median is 1250 and its 95% interval of 40 samples is wide.
    assert!(lo < 1250.0 && 1250.0 < hi && hi - lo > 50.0, "{lo} to {hi}");
}

#[test]
fn drifting_times_are_remarked_on_and_leave_the_ratio_of_a_pair_alone() {
    let drifting = |n: usize| {
        // Of each pair, the second in the order of the turn: 0 1, 1 0, 0 1, ...
        let ragged = matches!(n % 4, 1 | 2);
        (1.0 + 0.005 * n as f32) * if ragged { 2.0 } else { 1.0 }
    };
    let hip = play(Script { time: Box::new(drifting), ..Script::default() });
    let points = measure(&hip, &[absorb("even", 1024), absorb("ragged_wrap", 1008)]).unwrap();
    for point in &points {
        assert_eq!(point.outcome, Outcome::Ok);
        assert!(point.message.as_ref().unwrap().contains("drifted"), "{:?}", point.message);
    }
    let ratio = points[1].time_us.unwrap() / points[0].time_us.unwrap();
    assert!((ratio - 2.0).abs() < 0.02, "{ratio}");
}
