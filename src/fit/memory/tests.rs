use super::*;

fn row(t: f64, l: f64, seen: Seen) -> Row {
    Row { t, e: l, pairs: t * l, seen }
}

/// The four boots of the field note; the guard fired at 4.9 GB free - 1.5 GB guard.
fn boots() -> Vec<Row> {
    vec![
        row(2048.0, 100_000.0, Seen::Peak(2.97e9)),
        row(2048.0, 133_000.0, Seen::AtLeast(3.4e9)),
        row(1024.0, 208_000.0, Seen::Peak(2.6e9)),
        row(1024.0, 256_000.0, Seen::AtLeast(3.4e9)),
    ]
}

fn grid(mut peak: impl FnMut(f64, f64) -> f64) -> Vec<Row> {
    let mut rows = Vec::new();
    for t in [256.0, 512.0, 1024.0, 2048.0] {
        for l in [0.0, 8192.0, 32_768.0, 65_536.0, 131_072.0] {
            let e = l + t;
            rows.push(Row { t, e, pairs: t * e, seen: Seen::Peak(peak(t, e)) });
        }
    }
    rows
}

/// Relative noise of the given size, the same on every run.
fn noise(state: &mut u64, sigma: f64) -> f64 {
    let mut uniform = || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((*state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    };
    let (u, v) = (uniform(), uniform());
    (sigma * (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()).exp()
}

#[test]
fn the_four_boots_give_13_7_bytes_and_a_95_percent_bound_of_15_9() {
    let fit = fit("deployed", true, 1, &boots(), FIELD_NOISE).unwrap();
    // Independent profile likelihood on a grid of (c, sigma): 13.67 and 15.89.
    assert!((fit.c.point - 13.67).abs() < 0.05, "{:?}", fit.c);
    assert!((fit.c.upper_95 - 15.89).abs() < 0.1, "{:?}", fit.c);
    assert!(fit.c.lo < 13.3 && 13.3 < fit.c.hi && fit.c.hi > fit.c.upper_95);
    assert_eq!(fit.coefficients.m0, 0.0);
    assert!(fit.statements.iter().any(|s| s.contains("cannot separate a fixed m0 from c")));
    assert!(fit.statements.iter().any(|s| s.starts_with("2 of 2 rows")), "{:?}", fit.statements);
}

#[test]
fn the_two_peaks_of_the_boots_alone_give_about_13_3_bytes() {
    let rows: Vec<Row> = boots().into_iter().filter(|r| matches!(r.seen, Seen::Peak(_))).collect();
    let fit = fit("deployed", true, 1, &rows, FIELD_NOISE).unwrap();
    // Geometric mean of 2.97e9/2.048e8 = 14.50 and 2.6e9/2.12992e8 = 12.21.
    assert!((fit.c.point - (14.502f64 * 12.207).sqrt()).abs() < 0.01);
    assert!(fit.c.lo > 0.0 && fit.c.lo < 12.3 && fit.c.hi > 14.4, "{:?}", fit.c);
}

#[test]
fn exact_dense_peaks_give_every_coefficient() {
    let rows = grid(|t, e| 3e6 + 4096.0 * t + 9.0 * t * e);
    let fit = fit("dense", false, 1, &rows, EXACT_NOISE).unwrap();
    assert_eq!(fit.growth, Growth::Dense);
    assert!((fit.c.point - 9.0).abs() < 0.001, "{:?}", fit.coefficients);
    assert!((fit.coefficients.m_t / 4096.0 - 1.0).abs() < 0.01);
    assert!((fit.coefficients.m0 / 3e6 - 1.0).abs() < 0.01);
    assert!(fit.c.upper_95 < 9.01);
}

#[test]
fn a_pool_is_found_with_its_size() {
    let rows = grid(|t, e| 1e6 + 8192.0 * t + (4.0 * t * e).min(67e6));
    let fit = fit("row_pooled", false, 1, &rows, EXACT_NOISE).unwrap();
    assert_eq!(fit.growth, Growth::Pooled);
    assert!((fit.pool_bytes.unwrap() / 67e6 - 1.0).abs() < 0.02, "{:?}", fit.pool_bytes);
    assert_eq!(fit.c.upper_95, 0.0);
    assert!(fit.statements.iter().any(|s| s.contains("saturates")));
}

#[test]
fn a_pool_rounded_to_whole_rows_does_not_grow() {
    // As the pipeline allocates it: as many rows of 4.5 B a key as 2.4 GB holds, never more than
    // the chunk has.
    let pool = |t: f64, e: f64| (2.4e9 / (4.5 * e)).floor().min(t) * 4.5 * e;
    let mut rows = Vec::new();
    for t in [512.0, 1024.0, 2048.0, 4096.0] {
        for l in [0.0, 65536.0, 131072.0, 262144.0, 524288.0] {
            let e = l + t;
            let peak = (10240.0 * t + pool(t, e)).round();
            rows.push(Row { t, e, pairs: t * e, seen: Seen::Peak(peak) });
        }
    }
    let fit = fit("row_pooled", false, 1, &rows, EXACT_NOISE).unwrap();
    assert_eq!(fit.growth, Growth::Pooled, "{}", fit.formula);
    assert!((fit.pool_bytes.unwrap() / 2.4e9 - 1.0).abs() < 0.02, "{:?}", fit.pool_bytes);
    assert!(fit.statements.iter().any(|s| s.contains("saturates")));
}

#[test]
fn a_pool_beside_unbounded_buffers_is_told_apart() {
    let rows = grid(|t, e| 1e6 + 5.0 * t * e + (4.0 * t * e).min(67e6));
    let fit = fit("dense", false, 1, &rows, EXACT_NOISE).unwrap();
    assert_eq!(fit.growth, Growth::DenseAndPooled);
    assert!((fit.c.point - 5.0).abs() < 0.05, "{:?}", fit.coefficients);
}

#[test]
fn key_blocking_is_flat() {
    let rows = grid(|t, _| 2e6 + 20_000.0 * t);
    let fit = fit("key_blocked", false, 1, &rows, EXACT_NOISE).unwrap();
    assert_eq!(fit.growth, Growth::Flat);
    assert!(!fit.grows());
    assert!((fit.peak(2048, 10_000_000) - (2e6 + 20_000.0 * 2048.0)).abs() < 1e4);
}

#[test]
fn noisy_dense_peaks_keep_their_form_and_cover_the_truth() {
    let mut covered = 0;
    let mut state = 7;
    for _ in 0..20 {
        let rows = grid(|t, e| 13.0 * t * e * noise(&mut state, 0.03));
        let fit = fit("x", true, 1, &rows, FIELD_NOISE).unwrap();
        assert!(fit.grows(), "{}", fit.formula);
        covered += usize::from(fit.c.lo <= 13.0 && 13.0 <= fit.c.hi);
    }
    // 95% of 20 is 19; model selection costs some of it.
    assert!(covered >= 16, "{covered} of 20");
}

#[test]
fn one_peak_gives_a_wide_interval_and_says_so() {
    let fit = fit("x", true, 1, &boots()[..1], FIELD_NOISE).unwrap();
    assert!((fit.c.point - 14.502).abs() < 0.01);
    assert!(fit.c.hi / fit.c.lo > 1.5);
    assert!(fit.statements[0].contains("One peak was measured"));
}

#[test]
fn bounds_alone_are_an_error_that_states_them() {
    let rows = [boots()[1], row(1024.0, 100_000.0, Seen::AtMost(3.4e9))];
    let message = fit("x", true, 1, &rows, FIELD_NOISE).unwrap_err().to_string();
    // 3.4e9 / 2.72384e8 = 12.5 and 3.4e9 / 1.024e8 = 33.2
    assert!(message.contains("between 12.5 and 33.2 B"), "{message}");
    assert!(matches!(fit("x", true, 1, &[], FIELD_NOISE), Err(MemoryError::NoRows { .. })));
}
