//! Fits of more rows than the form and the intervals are worked out from.
//!
//! In go sorted rows; out come a few of them, evenly spaced, and, with the form that those chose, the
//! coefficients of all rows.

use std::cmp::Ordering;

use super::likelihood::{Noise, Sample, Solution, Terms};
use super::model::{Coefficients, Form, Row, Seen};

/// Most rows that the form and the intervals are worked out from; the coefficients of the chosen
/// form use all.
pub const MOST_ROWS: usize = 512;
/// A row further off than this many times the noise, and by a quarter, is not used for the
/// coefficients of a fit of many rows.
const FAR_OFF: f64 = 8.0;

/// Ascending in `T*keys`; rows that say the same of the same chunk become neighbours.
pub fn by_chunk(a: &Row, b: &Row) -> Ordering {
    let bound = |row: &Row| match row.seen {
        Seen::Peak(_) => (0, 0.0),
        Seen::AtLeast(v) => (1, v),
        Seen::AtMost(v) => (2, v),
    };
    let (kind, other) = (bound(a), bound(b));
    a.pairs
        .total_cmp(&b.pairs)
        .then(a.t.total_cmp(&b.t))
        .then(a.e.total_cmp(&b.e))
        .then(kind.0.cmp(&other.0))
        .then(kind.1.total_cmp(&other.1))
}

/// At most [`MOST_ROWS`] of rows that ascend in `T*keys`, evenly spaced.
pub fn thinned(rows: &[Row]) -> Vec<Row> {
    if rows.len() <= MOST_ROWS {
        return rows.to_vec();
    }
    (0..MOST_ROWS).map(|i| rows[i * (rows.len() - 1) / (MOST_ROWS - 1)]).collect()
}

/// The coefficients of `form` from all rows but those that contradict `first`.
pub fn of_all(rows: &[Row], form: Form, first: &Solution, noise: Noise) -> Solution {
    let coefficients = Coefficients::new(first.theta, first.knee);
    let far = (FAR_OFF * first.sigma).max(0.25);
    let (most, least) = (far.exp(), (-far).exp());
    let near = rows.iter().filter(|row| {
        let mean = coefficients.peak(row.t, row.e, row.pairs).max(1.0);
        match row.seen {
            Seen::Peak(v) => (least * mean..=most * mean).contains(&v),
            Seen::AtLeast(v) => v <= most * mean,
            Seen::AtMost(v) => v >= least * mean,
        }
    });
    Sample::new(near, noise).fit(Terms::free(form.mask(), first.knee), Some(first))
}
