//! How far floating-point results are from their reference.

use serde::Serialize;

/// Distance of a result from its reference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Largest error over the largest reference magnitude. Infinite when a value that has to be
    /// -inf is not, or the other way round.
    pub relative: f64,
    /// Elements whose own error exceeds the rounding of the result type plus `slack` times the
    /// largest reference magnitude.
    pub outside: usize,
}

/// Compares. `rounding` is the unit roundoff of the result type (2^-8 for bf16: half a unit in the
/// last of 8 significant bits at 1.0); `slack` allows for the accumulation order.
pub fn agreement(got: &[f64], want: &[f64], rounding: f64, slack: f64) -> Agreement {
    let finite = want.iter().filter(|v| v.is_finite());
    let largest = finite.fold(0.0f64, |m, v| m.max(v.abs())).max(f64::MIN_POSITIVE);
    let mut result = Agreement { relative: 0.0, outside: 0 };
    if got.len() != want.len() {
        return Agreement { relative: f64::INFINITY, outside: want.len() };
    }
    for (g, w) in got.iter().zip(want) {
        if g == w {
            continue;
        }
        let error = (g - w).abs();
        // A NaN in either is not a finite error.
        let relative = if error.is_finite() { error / largest } else { f64::INFINITY };
        result.relative = result.relative.max(relative);
        if relative > rounding * w.abs() / largest * (1.0 + 1e-6) + slack {
            result.outside += 1;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_relative_to_the_largest_reference_value() {
        let a = agreement(&[100.0, 1.5], &[100.0, 1.0], 0.0, 1e-3);
        assert_eq!(a, Agreement { relative: 0.005, outside: 1 });
    }

    #[test]
    fn rounding_of_the_result_type_is_allowed_to_each_element() {
        // 1 + 2^-8 is half a bf16 step above 1.
        let a = agreement(&[1.0], &[1.0 + 1.0 / 256.0], 1.0 / 256.0, 0.0);
        assert_eq!(a.outside, 0);
        assert!(agreement(&[1.0], &[1.01], 1.0 / 256.0, 0.0).outside == 1);
    }

    #[test]
    fn minus_infinity_and_nan_count_only_where_they_belong() {
        let inf = f64::NEG_INFINITY;
        assert_eq!(agreement(&[inf, 1.0], &[inf, 1.0], 0.0, 0.0).relative, 0.0);
        assert_eq!(agreement(&[0.0, 1.0], &[inf, 1.0], 0.0, 0.0).relative, f64::INFINITY);
        assert_eq!(agreement(&[f64::NAN], &[1.0], 0.0, 0.0).relative, f64::INFINITY);
    }
}
