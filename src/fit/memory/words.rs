//! What a reader must know about a memory fit, in words: what was set aside, what the rows cannot
//! tell, how the form was chosen and whether the rows that only bound the peak agree.

use super::model::{Coefficients, Form, Growth, Row, Seen};
use super::outlier::Outlier;
use super::scatter::{self, ORDINARY, Scatter};
use super::select;
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
            format!(
                "{} says {said} {} where all other rows together lead to expect {}: it was \
                 set aside. Check its units, or whether something else took the memory.",
                capital(&place(&outlier.row)),
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

/// Where a row stands.
fn place(row: &Row) -> String {
    match row.line {
        0 => format!("the row at T={}, E={}", row.t, row.e),
        line => format!("line {line}"),
    }
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// The measured rows furthest from a model, in words.
pub fn furthest(rows: &[Row], model: &Coefficients) -> String {
    let one = |(row, expected): &(Row, f64)| match row.seen {
        Seen::Peak(v) => {
            format!("{} says {}, expected {}", place(row), Bytes(v as u64), Bytes(*expected as u64))
        }
        _ => place(row),
    };
    let words: Vec<String> = scatter::furthest(rows, model).iter().map(one).collect();
    words.join("; ")
}

/// What to look at where no model explains the peaks; `flat` is their scatter around a model without
/// growth in T*keys, which a few rows are not enough for.
pub fn no_model(flat: Scatter) -> String {
    if flat.noise > ORDINARY {
        return "Check units, what L stands for, and whether all rows are of one system".to_owned();
    }
    format!(
        "Without growth in T*keys they scatter by {:.0}% only: memory may be bounded, by a pool or key \
         blocks, but to rely on that takes {} measured peaks over a {:.0}-fold T*keys",
        100.0 * flat.noise,
        select::MIN_ROWS_FOR_BOUNDED,
        select::MIN_SPREAD_FOR_BOUNDED
    )
}

/// Why the bounds were raised; `above` are rows above the bound with their peak over it.
pub fn raised(
    scatter: Scatter,
    rows: &[Row],
    model: &Coefficients,
    above: &[(Row, f64)],
) -> Vec<String> {
    let mut out = Vec::new();
    if scatter.noise > ORDINARY {
        out.push(format!(
            "The peaks scatter by {:.0}% around the model, more than a margin is there for: the \
             upper bound, and BUDGET with it, covers a single chunk of that scatter. Furthest off: \
             {}.",
            100.0 * scatter.noise,
            furthest(rows, model)
        ));
    }
    if let Some((_, factor)) = above.first() {
        let places: Vec<String> = above.iter().take(NAMED).map(|(row, _)| place(row)).collect();
        out.push(format!(
            "{} {} more than noise explains: the upper bound was raised by {:.0}% to cover it. \
             Measure that chunk again.",
            capital(&places.join(", ")),
            if above.len() == 1 {
                "shows a peak above the others by"
            } else {
                "show peaks above the others by"
            },
            100.0 * (factor - 1.0)
        ));
    }
    out
}

/// What the rows cannot tell because there are too few, or too similar ones.
fn too_few(fit: &MemoryFit, form: Form, noise: Noise) -> Vec<String> {
    let mut out = Vec::new();
    let (lo, hi) = fit.span_pairs;
    let spread = hi / lo.max(1.0);
    if fit.measured < FEW_ROWS {
        let peaks = if fit.measured == 1 {
            "One peak was measured: the spread between chunks is not known".to_owned()
        } else {
            format!(
                "Only {} peaks were measured: the spread between chunks is hardly known",
                fit.measured
            )
        };
        out.push(format!(
            "{peaks}, and {:.0}% was taken with the weight of {:.0} readings. Intervals and chances \
             have the heavy tails of Student's t with {:.0} degrees of freedom, and are as good as \
             that assumption.",
            100.0 * noise.sigma,
            noise.rows,
            fit.freedom
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
             alone were taken as 0, which puts everything on c. That is cautious for more T*keys \
             than were measured, and may be too low for much less, or for a much longer context.",
            fit.measured
        ));
    }
    if fit.c.lo <= 0.0 && fit.c.point > 0.0 {
        let elsewhere = if fit.measured < super::ROWS_FOR_CORNERS {
            "BUDGET takes all of it as growth with T*keys, which is cautious for more T*keys than were \
             measured. Chunks far from the measured T and E may then take more than is predicted here, \
             so no chance of theirs is certain."
        } else {
            "The bound of a peak allows for them."
        };
        out.push(format!(
            "Even c = 0 is not excluded: terms in T, in the context or a fixed one, or a pool that \
             fills beyond the largest measured peak, could make the same peaks. {elsewhere}"
        ));
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
