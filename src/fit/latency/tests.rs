use super::*;
use crate::fit::alignment;
use crate::profile::testing::{absorb, indexer};

fn chunks(rows: &[(u64, u64, f64)]) -> Vec<Sample> {
    rows.iter()
        .map(|(t, l, time_us)| Sample { timed: Timed::Chunk { t: *t, l: *l }, time_us: *time_us })
        .collect()
}

#[test]
fn exact_times_give_their_coefficients_and_nothing_negative() {
    let mut points = Vec::new();
    for t in [256u64, 512, 1024, 2048] {
        for l in [0u64, 8192, 65_536, 131_072] {
            let (x, y) = (t as f64, l as f64);
            let time = 5.0 + 0.02 * x + 3e-7 * x * y + 1e-6 * x * x;
            points.push(indexer("dense", t, l, 1, 1, time));
        }
    }
    let fit = fit("dense", &points).unwrap();
    assert!(fit.worst_error < 1e-6, "{fit:?}");
    assert!((fit.model.a3_us_per_tl / 3e-7 - 1.0).abs() < 1e-4);
    let TimeModel { a0_us, a1_us_per_t, a2_us_per_l, a4_us_per_t2, .. } = fit.model;
    assert!([a0_us, a1_us_per_t, a2_us_per_l, a4_us_per_t2].iter().all(|a| *a >= 0.0));
    assert!(fit.model.stairs.is_empty());
    assert!((fit.time_us(2048, 131_072) / points[15].time_us.unwrap() - 1.0).abs() < 1e-6);
}

#[test]
fn one_row_is_not_enough_and_two_give_two_terms_and_say_so() {
    let one = fit_samples("x", &chunks(&[(1024, 0, 1.0)]));
    assert!(matches!(one, Err(LatencyError::TooFew { rows: 1, .. })), "{one:?}");
    assert!(fit_samples("x", &[]).is_err());
    let alike = fit_samples("x", &chunks(&[(1024, 0, 1.0), (1024, 0, 1.1)]));
    assert!(matches!(alike, Err(LatencyError::TooFew { rows: 1, .. })), "{alike:?}");
    let two = fit_samples("x", &chunks(&[(1024, 0, 30.0), (2048, 0, 50.0)])).unwrap();
    // 20 us for 1024 rows more, so 10 us before the first.
    assert!((two.model.a1_us_per_t - 20.0 / 1024.0).abs() < 1e-9);
    assert!((two.model.a0_us - 10.0).abs() < 1e-6);
    let said = two.statements.join(" ");
    assert!(said.contains("a2*L, a3*T*L, a4*T^2"), "{said}");
    assert!(said.contains("as many unknowns as rows"), "{said}");
}

/// SGLang profiles its chunk sizer with 7680 rows first and pays compilation there: recorded
/// milliseconds of a pipeline-parallel server (sgl-project/sglang#17198).
const FIRST_POINT_OFF: [(u64, f64); 8] = [
    (7680, 7234.073),
    (7620, 220.713),
    (7560, 216.894),
    (7500, 213.919),
    (7440, 213.977),
    (7380, 210.946),
    (7320, 210.025),
    (7260, 208.52),
];

#[test]
fn a_first_point_that_paid_for_compilation_does_not_move_the_fit() {
    let rows: Vec<(u64, u64, f64)> =
        FIRST_POINT_OFF.iter().map(|(t, ms)| (*t, 0, ms * 1e3)).collect();
    let fit = fit_samples("sglang", &chunks(&rows)).unwrap();
    // The line through its neighbours gives about 222 ms at 7680; 7234 ms is 32.8 times 220.71.
    let at = fit.time_us(7680, 0) / 1e3;
    assert!((at / 222.0 - 1.0).abs() < 0.05, "{at}");
    assert_eq!(fit.set_aside, 1);
    assert!(fit.statements[0].contains("T = 7680"), "{:?}", fit.statements);
}

#[test]
fn a_wrong_row_is_found_wherever_it_stands_and_in_either_direction() {
    for wrong in 0..8 {
        for factor in [0.1, 0.5, 2.0, 30.0] {
            let rows: Vec<(u64, u64, f64)> = (0..8u64)
                .map(|i| {
                    let t = 512 * (i + 1);
                    let time = 100.0 + 0.5 * t as f64;
                    (t, 0, if i == wrong { factor * time } else { time })
                })
                .collect();
            let fit = fit_samples("x", &chunks(&rows)).unwrap();
            let truth = 100.0 + 0.5 * 4096.0;
            let at = fit.time_us(4096, 0);
            assert!((at / truth - 1.0).abs() < 0.02, "row {wrong} x {factor}: {at}");
            assert_eq!(fit.set_aside, 1, "row {wrong} x {factor}");
        }
    }
}

#[test]
fn the_staircase_of_a_tile_is_found_from_times_alone() {
    // 64 rows a tile: 3 us a tile, twice that where the last tile is not whole.
    let time = |t: u64, l: u64| {
        let tiles = t.div_ceil(64) as f64;
        let ragged = if t.is_multiple_of(64) { 1.0 } else { 2.0 };
        20.0 + 3.0 * tiles * ragged + 1e-4 * l as f64
    };
    let mut rows = Vec::new();
    for base in [256u64, 512, 1024, 2048] {
        for offset in [0u64, 16, 32, 48] {
            for l in [0u64, 65_536] {
                rows.push((base + offset, l, time(base + offset, l)));
            }
        }
    }
    let fit = fit_samples("x", &chunks(&rows)).unwrap();
    assert_eq!(fit.model.stairs.len(), 1, "{fit:?}");
    assert_eq!(fit.model.stairs[0].block, 64);
    assert!(fit.worst_error < 1e-3, "{fit:?}");
    assert!((fit.time_us(4096, 0) / time(4096, 0) - 1.0).abs() < 0.01);
    assert!((fit.time_us(4095, 0) / time(4095, 0) - 1.0).abs() < 0.01);
}

#[test]
fn whole_prompts_are_fitted_as_the_sum_of_their_chunks() {
    let truth = TimeModel::of([3e4, 250.0, 0.0, 2e-3, 0.0]);
    let mut samples = Vec::new();
    for t in [512u64, 1024, 2048, 4096] {
        for length in [16_384u64, 50_000, 131_072] {
            let mut chunks = vec![t; (length / t) as usize];
            chunks.extend((length % t > 0).then_some(length % t));
            let time_us = truth.total_us(&chunks, 0);
            samples.push(Sample { timed: Timed::Prompt { t, length }, time_us });
        }
    }
    let fit = fit_samples("x", &samples).unwrap();
    assert!((fit.model.a0_us / 3e4 - 1.0).abs() < 1e-3, "{fit:?}");
    assert!((fit.model.a3_us_per_tl / 2e-3 - 1.0).abs() < 1e-2, "{fit:?}");
    assert!(fit.worst_error < 1e-6, "{fit:?}");
}

/// B01 of the field cases: 79,096 tokens take 203.2 s in chunks of 256 and 133.2 s in chunks of
/// 1024. c + b*T over 79096/256 = 309 and 79096/1024 = 77.2 chunks: 70 s / 231.7 = 0.302 s a chunk,
/// 1.389 ms a token; so 651 tok/s at 2048 and 684 at 4096, towards 720.
#[test]
fn two_timed_prompts_give_the_cost_of_a_chunk_and_of_a_token() {
    let length = 79_096;
    let samples = [(256, 203.2e6), (1024, 133.2e6)]
        .map(|(t, time_us)| Sample { timed: Timed::Prompt { t, length }, time_us });
    let fit = fit_samples("exl3", &samples).unwrap();
    assert!((fit.model.a0_us / 0.302e6 - 1.0).abs() < 0.02, "{fit:?}");
    assert!((fit.model.a1_us_per_t / 1389.0 - 1.0).abs() < 0.01, "{fit:?}");
    let rate = |t: u64| t as f64 / fit.time_us(t, 0) * 1e6;
    assert!((rate(2048) / 651.0 - 1.0).abs() < 0.01, "{}", rate(2048));
    assert!((rate(4096) / 684.0 - 1.0).abs() < 0.01, "{}", rate(4096));
}

#[test]
fn a_kernel_measured_both_ways_gives_its_stairs() {
    let mut points = Vec::new();
    for tiles in [8u64, 32, 256] {
        for residue in [0u64, 16, 48] {
            let m = tiles * 64 + residue;
            let whole = m.div_ceil(64) as f64;
            let (variant, time) = match residue {
                0 => ("even", 4.0 + 0.6 * whole),
                _ => ("ragged_wrap", 4.0 + 1.2 * whole),
            };
            points.push(absorb(variant, 64, m, time, 1));
        }
        let next = (tiles + 1) * 64;
        points.push(absorb("even", 64, next, 4.0 + 0.6 * (tiles + 1) as f64, 1));
    }
    let model = of_kernel(&alignment::fit(&points)[0]).unwrap();
    assert!((model.time_us(16_384, 0) / (4.0 + 0.6 * 256.0) - 1.0).abs() < 1e-3, "{model:?}");
    assert!((model.time_us(16_368, 0) / (4.0 + 1.2 * 256.0) - 1.0).abs() < 1e-3, "{model:?}");
}

#[test]
fn rows_without_a_time_or_with_nonsense_are_ignored() {
    let mut rows = vec![(1024, 0, 30.0), (2048, 0, 50.0), (4096, 0, 90.0)];
    let clean = fit_samples("x", &chunks(&rows)).unwrap();
    rows.extend([(512, 0, f64::NAN), (512, 0, 0.0), (0, 0, 5.0), (512, 0, f64::INFINITY)]);
    assert_eq!(fit_samples("x", &chunks(&rows)).unwrap(), clean);
    let huge = fit_samples("x", &chunks(&[(u64::MAX, u64::MAX, 1.0), (1, 1, 1.0)]));
    assert!(huge.is_err() || huge.unwrap().time_us(1024, 0).is_finite());
}
