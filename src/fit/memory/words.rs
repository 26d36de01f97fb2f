//! What a reader must know about a memory fit, in words: what was set aside, what the rows cannot
//! tell, how the form was chosen and whether the rows that only bound the peak agree.

use super::model::{Form, Growth, Row, Seen};
use super::outlier::Outlier;
use super::{MemoryFit, Noise};
use crate::units::Bytes;

/// Below this ratio of largest to smallest `T*keys`, `m0` and `c` are called inseparable.
const SEPARABLE_SPREAD: f64 = 2.0;
/// Measured rows below which no more than one term can be told.
const FEW_ROWS: usize = 4;
/// A runner-up closer than this in AICc explains the rows about as well.
const AS_WELL: f64 = 2.0;
/// Bytes per (row, key) above which units are the likelier cause; the dearest engine of
/// `profiles/field/field_cases.csv` takes 82.
const ABSURD_C: f64 = 250.0;
/// Most rows named one by one.
const NAMED: usize = 5;

/// The statements of a fit.
pub fn statements(
    fit: &MemoryFit,
    form: Form,
    rows: &[Row],
    aside: &[Outlier],
    noise: Noise,
) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(set_aside(aside));
    out.extend(too_few(fit, form, noise));
    match fit.growth {
        Growth::Pooled => out.push(format!(
            "Memory saturates: the pool is full at T*keys = {:.3e} with {}, and beyond it T*L \
             costs no more.",
            fit.coefficients.pool_pairs,
            Bytes(fit.coefficients.pool_bytes() as u64)
        )),
        Growth::DenseAndPooled => out.push(format!(
            "A pool of {} is full at T*keys = {:.3e}; beyond it each (row, key) costs c alone.",
            Bytes(fit.coefficients.pool_bytes() as u64),
            fit.coefficients.pool_pairs
        )),
        Growth::Flat => out.push("Memory does not grow with T*keys.".to_owned()),
        Growth::Dense => {}
    }
    out.extend(bounds_agree(fit, rows));
    if fit.deployed && fit.c.point > ABSURD_C {
        out.push(format!(
            "{:.0} B per (row, key) is far more than the 4 to 83 B that published engines take: \
             check the units of the peaks and what L stands for before you rely on it.",
            fit.c.point
        ));
    }
    if let Some((name, delta)) = &fit.runner_up {
        out.push(if *delta < AS_WELL {
            format!("The form {name} explains the rows about as well (AICc {delta:+.1}).")
        } else {
            format!("Runner-up among the forms: {name} (AICc {delta:+.1}).")
        });
    } else {
        out.push("No other form can be told from so few rows: there is no runner-up.".to_owned());
    }
    out
}

fn set_aside(aside: &[Outlier]) -> Vec<String> {
    let mut out: Vec<String> = aside
        .iter()
        .take(NAMED)
        .map(|outlier| {
            let (said, bytes) = match outlier.row.seen {
                Seen::Peak(v) => ("a peak of", v),
                Seen::AtLeast(v) => ("at least", v),
                Seen::AtMost(v) => ("at most", v),
            };
            let place = match outlier.row.line {
                0 => format!("The row at T={}, E={}", outlier.row.t, outlier.row.e),
                line => format!("Line {line}"),
            };
            format!(
                "{place} says {said} {} where all other rows together lead to expect {}: it was \
                 set aside. Check its units, or whether something else took the memory.",
                Bytes(bytes as u64),
                Bytes(outlier.expected as u64)
            )
        })
        .collect();
    if aside.len() > NAMED {
        out.push(format!("{} more rows were set aside for the same reason.", aside.len() - NAMED));
    }
    out
}

/// What the rows cannot tell because there are too few, or too similar ones.
fn too_few(fit: &MemoryFit, form: Form, noise: Noise) -> Vec<String> {
    let mut out = Vec::new();
    let (lo, hi) = fit.span_pairs;
    let spread = hi / lo.max(1.0);
    if fit.measured == 1 {
        out.push(format!(
            "One peak was measured: the spread between chunks is not known and about {:.0}% was \
             taken; the interval of c is as good as that assumption.",
            100.0 * noise.sigma
        ));
    }
    if !fit.grows() {
        return out;
    }
    let alike = spread < SEPARABLE_SPREAD;
    if !form.fixed && fit.measured > 1 && alike {
        out.push(format!(
            "The {} measured peaks (all at similar T*keys, {lo:.3e} to {hi:.3e}) cannot separate a \
             fixed m0 from c: m0 = 0 was taken, which puts everything on c. Measure a chunk at a \
             T*keys at least {SEPARABLE_SPREAD:.0} times smaller to tell them apart.",
            fit.measured
        ));
    } else if fit.measured < FEW_ROWS && form == super::select::PLAIN {
        let peaks = if fit.measured == 1 { "peak is" } else { "peaks are" };
        out.push(format!(
            "{} measured {peaks} too few for more than one term: a fixed m0 and terms in T or E \
             alone were taken as 0, which puts everything on c.",
            fit.measured
        ));
    }
    if fit.c.lo <= 0.0 && fit.c.point > 0.0 {
        out.push(
            "Even c = 0 is not excluded: terms in T, in the context or a fixed one could make the \
             same peaks. The upper end, which BUDGET uses, does not suffer from that."
                .to_owned(),
        );
    }
    out
}

fn bounds_agree(fit: &MemoryFit, rows: &[Row]) -> Option<String> {
    let slack = (2.0 * fit.noise).exp();
    let (mut agree, mut clash) = (0, 0);
    for row in rows {
        let expected = fit.coefficients.peak(row.t, row.e, row.pairs);
        let fits = match row.seen {
            Seen::Peak(_) => continue,
            Seen::AtLeast(v) => expected * slack >= v,
            Seen::AtMost(v) => expected <= v * slack,
        };
        if fits { agree += 1 } else { clash += 1 }
    }
    (agree + clash > 0).then(|| {
        format!(
            "{agree} of {} rows that only bound the peak (a guard, out of memory, or fitted \
             unmeasured) are consistent with the fit, within twice its noise.",
            agree + clash
        )
    })
}

/// What rows without a measured peak say about `c` if nothing but `T*keys` costs memory.
pub fn bounds(rows: &[Row]) -> String {
    let (mut low, mut high) = (0.0f64, f64::INFINITY);
    for row in rows {
        match row.seen {
            Seen::AtLeast(v) => low = low.max(v / row.pairs),
            Seen::AtMost(v) => high = high.min(v / row.pairs),
            Seen::Peak(_) => {}
        }
    }
    match (low > 0.0, high.is_finite()) {
        (true, true) if low > high => format!(
            "contradictory: at least {low:.1} B by one row and at most {high:.1} B by another"
        ),
        (true, true) => format!("between {low:.1} and {high:.1} B if nothing else costs memory"),
        (true, false) => format!("at least {low:.1} B if nothing else costs memory"),
        (false, true) => format!("at most {high:.1} B"),
        (false, false) => "unknown".to_owned(),
    }
}
