//! Quantities whose mix-up would hurt, as types, and the spellings a person uses for them.
//! `"2.97 GB"`, `"512MiB"` and `"100k"` go in; exact integers or a message saying what is
//! accepted come out.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::quoted;

/// A number of bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A number of tokens (rows of a chunk, or a prefix length).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Tokens(pub u64);

/// A duration in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Microseconds(pub f64);

/// Largest quantity accepted from a user: what a signed 64-bit reader of our files can hold.
const LIMIT: u128 = i64::MAX as u128;

/// Why a quantity was not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseQuantityError {
    /// No number at the front.
    #[error("`{0}` is not {1}")]
    NotANumber(String, &'static str),
    /// A minus sign.
    #[error("`{0}` is negative; give zero or more")]
    Negative(String),
    /// A unit that is not in the list.
    #[error("`{0}` has the unknown unit `{1}`; use {2}")]
    Unit(String, String, &'static str),
    /// More than 2^63 - 1.
    #[error("`{0}` is too large; the limit is 9223372036854775807")]
    Overflow(String),
    /// A fraction of a byte or token.
    #[error("`{0}` is not a whole number of {1}")]
    Fraction(String, &'static str),
}

const BYTE_UNITS: &[(&str, u128)] = &[
    ("", 1),
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];
const COUNT_UNITS: &[(&str, u128)] = &[("", 1), ("k", 1_000), ("m", 1_000_000)];

impl FromStr for Bytes {
    type Err = ParseQuantityError;

    /// Reads `5000000000`, `5e9`, `5GB`, `1.5 GiB`; a fraction of a byte is rounded down, but not to
    /// nothing.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (value, exact) = quantity(
            text,
            BYTE_UNITS,
            "a size such as 5GB, 1.5GiB or 512MiB",
            "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB",
        )?;
        if value == 0 && !exact {
            let missing = "bytes; is a unit such as GB missing?";
            return Err(ParseQuantityError::Fraction(quoted(text), missing));
        }
        Ok(Self(value))
    }
}

impl FromStr for Tokens {
    type Err = ParseQuantityError;

    /// Reads `2048`, `16k` (16,000) and `1M` (1,000,000).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (value, exact) = quantity(
            text,
            COUNT_UNITS,
            "a count such as 2048, 100k or 1M",
            "k (1,000) or M (1,000,000)",
        )?;
        if exact {
            Ok(Self(value))
        } else {
            Err(ParseQuantityError::Fraction(quoted(text), "tokens"))
        }
    }
}

/// Number and unit of `text`, multiplied, rounded down; the flag says that nothing was lost.
fn quantity(
    text: &str,
    units: &[(&str, u128)],
    expected: &'static str,
    unit_names: &'static str,
) -> Result<(u64, bool), ParseQuantityError> {
    let shown = || quoted(text);
    let not_a_number = || ParseQuantityError::NotANumber(shown(), expected);
    let trimmed = text.trim();
    if trimmed.starts_with('-') {
        return Err(ParseQuantityError::Negative(shown()));
    }
    let (digits, rest) = split_number(trimmed);
    let (mantissa, scale) = decimal(digits).ok_or_else(not_a_number)?;
    let name = rest.trim().to_ascii_lowercase();
    let factor = units.iter().find(|(unit, _)| *unit == name).map(|(_, factor)| *factor);
    let Some(factor) = factor else {
        return Err(ParseQuantityError::Unit(shown(), quoted(rest.trim()), unit_names));
    };
    let overflow = || ParseQuantityError::Overflow(shown());
    let product = mantissa.checked_mul(factor).ok_or_else(overflow)?;
    let (value, exact) = if scale >= 0 {
        let power = u32::try_from(scale).ok().and_then(|s| 10u128.checked_pow(s));
        let scaled = match power {
            Some(power) => product.checked_mul(power),
            None if product == 0 => Some(0),
            None => None,
        };
        (scaled.ok_or_else(overflow)?, true)
    } else {
        match u32::try_from(-scale).ok().and_then(|s| 10u128.checked_pow(s)) {
            Some(power) => (product / power, product % power == 0),
            None => (0, product == 0),
        }
    };
    if value > LIMIT {
        return Err(overflow());
    }
    Ok((value as u64, exact))
}

/// Splits `1.5e9 GB` into `1.5e9` and ` GB`.
fn split_number(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() && (bytes[end].is_ascii_digit() || matches!(bytes[end], b'.' | b'_')) {
        end += 1;
    }
    // An exponent counts only when a digit follows, so that a unit may start with `e`.
    if end < bytes.len() && matches!(bytes[end], b'e' | b'E') {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let first = end + 1 + sign;
        if bytes.get(first).is_some_and(u8::is_ascii_digit) {
            end = first;
            while end < bytes.len() && bytes[end].is_ascii_digit() {
                end += 1;
            }
        }
    }
    text.split_at(end)
}

/// `(m, s)` with the value `m * 10^s`; none when it is not a decimal number.
fn decimal(digits: &str) -> Option<(u128, i32)> {
    let (number, exponent) = match digits.find(['e', 'E']) {
        Some(at) => (&digits[..at], digits[at + 1..].parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let figures: String = whole.chars().chain(fraction.chars()).filter(|c| *c != '_').collect();
    if figures.is_empty() || fraction.contains(['.', '_']) || whole.starts_with('_') {
        return None;
    }
    let places = i32::try_from(fraction.len()).ok()?;
    // Only digits are left: a whole number that does not parse is one that does not fit.
    let mantissa = match figures.parse() {
        Ok(mantissa) => mantissa,
        Err(_) if fraction.is_empty() => u128::MAX,
        Err(_) => return None,
    };
    Some((mantissa, exponent.checked_sub(places)?))
}

impl fmt::Display for Bytes {
    /// Decimal units with three significant figures: `2.87 GB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0 as f64;
        let (scaled, unit) = match self.0 {
            0..1_000 => return f.pad(&format!("{} B", self.0)),
            1_000..1_000_000 => (value / 1e3, "kB"),
            1_000_000..1_000_000_000 => (value / 1e6, "MB"),
            1_000_000_000..1_000_000_000_000 => (value / 1e9, "GB"),
            _ => (value / 1e12, "TB"),
        };
        let places = if scaled < 10.0 { 2 } else { usize::from(scaled < 100.0) };
        f.pad(&format!("{scaled:.places$} {unit}"))
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for Microseconds {
    /// Three significant figures in us, ms or s.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scaled, unit) = match self.0 {
            t if t < 1e3 => (t, "us"),
            t if t < 1e6 => (t / 1e3, "ms"),
            t => (t / 1e6, "s"),
        };
        let places = if scaled < 10.0 { 2 } else { usize::from(scaled < 100.0) };
        f.pad(&format!("{scaled:.places$} {unit}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Result<u64, ParseQuantityError> {
        text.parse::<Bytes>().map(|b| b.0)
    }

    fn tokens(text: &str) -> Result<u64, ParseQuantityError> {
        text.parse::<Tokens>().map(|t| t.0)
    }

    #[test]
    fn sizes_take_decimal_and_binary_units_with_or_without_a_space() {
        assert_eq!(bytes("5GB"), Ok(5_000_000_000));
        assert_eq!(bytes("2.97 GB"), Ok(2_970_000_000));
        assert_eq!(bytes("1.42 GiB"), Ok(1_524_713_390)); // 1.42 * 2^30 = 1524713390.08
        assert_eq!(bytes("512MiB"), Ok(536_870_912));
        assert_eq!(bytes("1.5e9"), Ok(1_500_000_000));
        assert_eq!(bytes("0"), Ok(0));
        assert!(matches!(bytes("0.1"), Err(ParseQuantityError::Fraction(..))));
        assert!(matches!(bytes("1e-40 GB"), Err(ParseQuantityError::Fraction(..))));
    }

    #[test]
    fn counts_take_decimal_k_and_m_and_refuse_fractions() {
        assert_eq!(tokens("100k"), Ok(100_000));
        assert_eq!(tokens("1.5k"), Ok(1_500));
        assert_eq!(tokens("1M"), Ok(1_000_000));
        assert_eq!(tokens("2.0e8"), Ok(200_000_000));
        assert!(matches!(tokens("1.5"), Err(ParseQuantityError::Fraction(..))));
    }

    #[test]
    fn negative_overflowing_and_unknown_spellings_are_told_apart() {
        assert!(matches!(bytes("-5GB"), Err(ParseQuantityError::Negative(_))));
        assert!(matches!(bytes("1e30"), Err(ParseQuantityError::Overflow(_))));
        let digits = "9".repeat(60);
        assert!(matches!(bytes(&digits), Err(ParseQuantityError::Overflow(_))));
        assert!(matches!(bytes("9223372036854775808"), Err(ParseQuantityError::Overflow(_))));
        assert_eq!(bytes("9223372036854775807"), Ok(i64::MAX as u64));
        assert!(matches!(bytes("5 potatoes"), Err(ParseQuantityError::Unit(..))));
        assert!(matches!(bytes("nan"), Err(ParseQuantityError::NotANumber(..))));
        assert!(matches!(bytes(""), Err(ParseQuantityError::NotANumber(..))));
        assert!(matches!(bytes("1.2.3"), Err(ParseQuantityError::NotANumber(..))));
    }

    #[test]
    fn sizes_print_with_three_significant_figures() {
        assert_eq!(Bytes(2_867_200_000).to_string(), "2.87 GB");
        assert_eq!(Bytes(16_384).to_string(), "16.4 kB");
        assert_eq!(Bytes(999).to_string(), "999 B");
    }
}
