use super::*;
use crate::fit::fit_profile;
use crate::grid::{Case, Work};
use crate::model::{Layout, preset};
use crate::options::GridSize;
use crate::profile::testing::{blank, provenance};
use crate::profile::{Outcome, Profile};

/// A device with known memory and blocks: dense and fp8 grow with `c`, `row_pooled` saturates,
/// `key_blocked` is flat; absorb kernels lose by the factor `slow` at ragged lengths, GEMM nothing.
struct Device {
    c: f64,
    slow: f64,
    /// Relative half-width of every time's interval.
    spread: f64,
}

impl Device {
    fn measure(&self, case: &Case, kernels: &[TileKernel]) -> Point {
        match &case.work {
            Work::Indexer { pipeline, indexer, t, l } => {
                let pairs = (t * (l + t).div_ceil(u64::from(indexer.ratio))) as f64;
                let rows = 10_240.0 * *t as f64;
                let peak = match pipeline.name() {
                    "dense" => rows + self.c * pairs,
                    "fp8" => rows + 0.5 * self.c * pairs,
                    "row_pooled" => rows + (4.5 * pairs).min(2e9),
                    _ => 18.0 * rows,
                };
                let mut point = blank(Op::Indexer, pipeline.name(), pipeline.name());
                point.t = Some(*t);
                point.l = Some(*l);
                point.ratio = Some(indexer.ratio);
                point.peak_bytes = Some(peak as u64);
                point.time_us = Some(20.0 + 1e-5 * pairs);
                point
            }
            Work::Matrix { kernel, shape, m } => {
                let known = kernels.iter().find(|k| k.id == *kernel).unwrap();
                let [block_m, block_n, block_k] = known.tile;
                let tiles = m.div_ceil(u64::from(block_m)) as f64;
                let slow = if known.variant == "ragged_wrap" { self.slow } else { 1.0 };
                let time = 4.0 + 0.5 * tiles * slow;
                let mut point = blank(known.op, kernel, &known.variant);
                point.shape = shape.name.clone();
                point.dtype = known.dtype.clone();
                point.block_m = Some(block_m);
                point.block_n = Some(block_n);
                point.block_k = Some(block_k);
                (point.b, point.n, point.k) = (Some(shape.b), Some(shape.n), Some(shape.k));
                point.m = Some(*m);
                point.time_us = Some(time);
                point.time_lo_us = Some(time * (1.0 - self.spread));
                point.time_hi_us = Some(time * (1.0 + self.spread));
                point
            }
        }
    }
}

fn kernels() -> Vec<TileKernel> {
    let kernel = |op: Op, name: &str, variant: &str, dtype: &str, tile: [u32; 3]| TileKernel {
        id: format!("{name}_{variant}"),
        op,
        variant: variant.into(),
        dtype: dtype.into(),
        tile,
        launch: None,
    };
    let mut all = Vec::new();
    for (name, tile) in [("absorb_32x128", [32, 128, 128]), ("absorb_64x256", [64, 256, 128])] {
        for variant in ["even", "ragged_wrap", "ragged_buffer"] {
            all.push(kernel(Op::AbsorbBmm, name, variant, "fp8", tile));
        }
    }
    for (name, dtype) in [("gemm_bf16", "bf16"), ("gemm_fp8", "fp8")] {
        for variant in ["even", "ragged_buffer"] {
            all.push(kernel(Op::Gemm, name, variant, dtype, [128, 128, 64]));
        }
    }
    all
}

fn planner(precision: f64) -> Planner {
    let layout = Layout { tp: 4, dp: 1, cp: 1 };
    let shapes = preset("glm-5.2").unwrap().rank_shapes(layout).unwrap();
    Planner::new(&shapes, &kernels(), &Axes::named(GridSize::Adaptive, 1 << 20), precision).unwrap()
}

fn campaign(device: &Device, planner: &Planner) -> Vec<Point> {
    let kernels = kernels();
    let mut points: Vec<Point> = Vec::new();
    for _ in 0..1000 {
        let groups = planner.next(&points);
        if groups.is_empty() {
            return points;
        }
        points.extend(groups.iter().flatten().map(|case| device.measure(case, &kernels)));
    }
    panic!("the campaign does not end");
}

#[test]
fn c_and_the_block_are_found_with_a_quarter_of_the_points() {
    let planner = planner(0.02);
    let points = campaign(&Device { c: 9.5, slow: 2.0, spread: 0.0 }, &planner);
    assert!(4 * points.len() <= planner.whole(), "{} of {}", points.len(), planner.whole());
    let fit = fit_profile(&Profile::new(points.clone(), provenance("gfx950", "MI355X")).unwrap());
    let dense = fit.memory_of("dense").unwrap();
    assert!((dense.c.point / 9.5 - 1.0).abs() < 0.02 && dense.c.hi / dense.c.lo < 1.04);
    assert!((fit.memory_of("fp8").unwrap().c.point / 4.75 - 1.0).abs() < 0.02);
    assert!(!fit.memory_of("row_pooled").unwrap().grows());
    assert!(!fit.memory_of("key_blocked").unwrap().grows());
    for kernel in fit.alignment.iter().filter(|f| f.op == Op::AbsorbBmm) {
        let block = kernel.block.as_ref().unwrap();
        assert_eq!(block.candidates, [u64::from(kernel.block_m)], "{}", kernel.kernel);
    }
    let account = planner.account(&points, None);
    assert!(account[0].contains("of the default grid"), "{account:?}");
    assert!(account[1..].iter().all(|line| !line.contains("not settled")), "{account:?}");
}

#[test]
fn a_kernel_without_a_gain_costs_two_points_a_shape() {
    let planner = planner(0.02);
    let points = campaign(&Device { c: 9.5, slow: 2.0, spread: 0.0 }, &planner);
    let gemm = points.iter().filter(|p| p.op == Op::Gemm).count();
    assert_eq!(gemm, 2 * 2 * 2, "two types, two shapes, one pair each");
}

#[test]
fn wide_intervals_bring_more_points_and_the_campaign_still_ends() {
    let planner = planner(0.02);
    let steady = campaign(&Device { c: 9.5, slow: 2.0, spread: 0.0 }, &planner).len();
    let noisy = campaign(&Device { c: 9.5, slow: 2.0, spread: 0.1 }, &planner);
    assert!(noisy.len() > steady);
    let account = planner.account(&noisy, Some("the time limit was reached"));
    assert!(account.iter().any(|line| line.contains("no more points")), "{account:?}");
    assert!(account[0].contains("the time limit was reached"));
    let names: std::collections::BTreeSet<String> = noisy
        .iter()
        .map(|p| format!("{} {} {:?} {:?} {:?}", p.kernel, p.shape, p.m, p.t, p.l))
        .collect();
    assert_eq!(names.len(), noisy.len(), "no point twice");
}

#[test]
fn the_widest_interval_is_measured_first_and_points_decide_alone() {
    let planner = planner(0.02);
    let kernels = kernels();
    let device = Device { c: 9.5, slow: 2.0, spread: 0.0 };
    let first = planner.next(&[]);
    let points: Vec<Point> = first.iter().flatten().map(|c| device.measure(c, &kernels)).collect();
    let next = planner.next(&points);
    assert_eq!(next, planner.next(&points));
    // Nothing is known twice, and what failed is not asked for again.
    let failed: Vec<Point> =
        points.iter().map(|p| Point { outcome: Outcome::Oom, ..p.clone() }).collect();
    let again = planner.next(&failed);
    let asked: Vec<&str> = first.iter().flatten().map(|c| c.name.as_str()).collect();
    assert!(again.iter().flatten().all(|c| !asked.contains(&c.name.as_str())));
}
