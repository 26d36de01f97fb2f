//! Reads the entries of a parameter file, each with its unit, source and confidence.
//!
//! Goes in: TOML. Comes out: typed values and their provenance, or an [`ArchError`] that names the
//! key.

use std::collections::BTreeMap;

use toml::{Table, Value};

/// Why a parameter file was rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ArchError {
    /// Not TOML.
    #[error("parameter file does not parse: {0}")]
    Syntax(String),
    /// A key the model needs is absent.
    #[error("parameter `{0}` is missing")]
    Missing(String),
    /// A key the model does not know.
    #[error("parameter `{0}` is not one the model knows; remove it or correct its name")]
    Unknown(String),
    /// A key with the wrong shape, unit or value.
    #[error("parameter `{key}`: {what}")]
    Invalid {
        /// Dotted path of the key.
        key: String,
        /// What is wrong and what was expected.
        what: String,
    },
}

pub(super) fn invalid(key: &str, what: impl Into<String>) -> ArchError {
    ArchError::Invalid { key: key.to_owned(), what: what.into() }
}

/// How sure a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Inferred, assumed or from a related part.
    Low,
    /// One measurement or one vendor model.
    Medium,
    /// Two independent sources or a direct measurement.
    High,
}

/// Where a figure comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// Unit of the value.
    pub unit: String,
    /// Source.
    pub source: String,
    /// Confidence.
    pub confidence: Confidence,
}

/// A value as it can be read from a parameter entry.
pub(super) trait Scalar: Sized {
    const EXPECTED: &'static str;
    fn from_value(value: &Value) -> Option<Self>;
}

impl Scalar for u64 {
    const EXPECTED: &'static str = "a positive integer";
    fn from_value(value: &Value) -> Option<u64> {
        value.as_integer().and_then(|v| u64::try_from(v).ok()).filter(|&v| v > 0)
    }
}

impl Scalar for u32 {
    const EXPECTED: &'static str = "a positive integer below 2^32";
    fn from_value(value: &Value) -> Option<u32> {
        u64::from_value(value).and_then(|v| u32::try_from(v).ok())
    }
}

impl Scalar for f64 {
    const EXPECTED: &'static str = "a positive number";
    fn from_value(value: &Value) -> Option<f64> {
        let v = value.as_float().or_else(|| value.as_integer().map(|v| v as f64))?;
        (v.is_finite() && v > 0.0).then_some(v)
    }
}

impl Scalar for String {
    const EXPECTED: &'static str = "a text";
    fn from_value(value: &Value) -> Option<String> {
        value.as_str().filter(|s| !s.is_empty()).map(str::to_owned)
    }
}

/// Lanes of an LDS access that are served together, and the banks they are spread over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phases {
    /// Dword banks told apart within a phase; a power of two.
    pub banks: u32,
    /// Lanes of each phase, in service order; every lane is in exactly one.
    pub lanes: Vec<Vec<u8>>,
}

impl Scalar for Phases {
    const EXPECTED: &'static str = "{ banks = power of two, phases = [\"0-3,20-23\", ..] } with each of the 64 lanes in one phase";
    fn from_value(value: &Value) -> Option<Phases> {
        let table = value.as_table().filter(|t| t.len() == 2)?;
        let banks = u32::from_value(table.get("banks")?).filter(|b| b.is_power_of_two())?;
        let mut seen = 0u64;
        let mut lanes = Vec::new();
        for phase in table.get("phases")?.as_array()? {
            let mut list = Vec::new();
            for range in phase.as_str()?.split(',') {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                for lane in first.parse::<u8>().ok()?..=last.parse::<u8>().ok()? {
                    let bit = 1u64.checked_shl(u32::from(lane))?;
                    if seen & bit != 0 {
                        return None;
                    }
                    seen |= bit;
                    list.push(lane);
                }
            }
            lanes.push(list);
        }
        (seen == u64::MAX).then_some(Phases { banks, lanes })
    }
}

/// Reads sections, keeps the provenance of every entry and notices what is left over.
pub(super) struct Reader {
    pub(super) root: Table,
    pub(super) provenance: BTreeMap<String, Provenance>,
}

impl Reader {
    pub(super) fn section(&mut self, path: &str) -> Result<Table, ArchError> {
        let mut table = &mut self.root;
        let mut parts = path.split('.').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return match table.remove(part) {
                    Some(Value::Table(section)) => Ok(section),
                    Some(_) => Err(invalid(path, "expected a section")),
                    None => Err(ArchError::Missing(path.to_owned())),
                };
            }
            table = match table.get_mut(part) {
                Some(Value::Table(inner)) => inner,
                _ => return Err(ArchError::Missing(path.to_owned())),
            };
        }
        Err(ArchError::Missing(path.to_owned()))
    }

    pub(super) fn entry<T: Scalar>(
        &mut self,
        key: &str,
        value: Value,
        unit: &str,
    ) -> Result<T, ArchError> {
        const SHAPE: &str = "expected { value, unit, source, confidence }";
        let Value::Table(mut entry) = value else { return Err(invalid(key, SHAPE)) };
        let raw = entry.remove("value").ok_or_else(|| invalid(key, SHAPE))?;
        let mut text = |name: &str| match entry.remove(name) {
            Some(Value::String(s)) if !s.is_empty() => Ok(s),
            _ => Err(invalid(key, SHAPE)),
        };
        let (found, source, confidence) = (text("unit")?, text("source")?, text("confidence")?);
        if !entry.is_empty() {
            return Err(invalid(key, SHAPE));
        }
        if found != unit {
            return Err(invalid(key, format!("unit is `{found}`, expected `{unit}`")));
        }
        let confidence = match confidence.as_str() {
            "H" => Confidence::High,
            "M" => Confidence::Medium,
            "L" => Confidence::Low,
            other => {
                return Err(invalid(key, format!("confidence is `{other}`, expected H, M or L")));
            }
        };
        let typed = T::from_value(&raw)
            .ok_or_else(|| invalid(key, format!("value is {raw}, expected {}", T::EXPECTED)))?;
        self.provenance.insert(key.to_owned(), Provenance { unit: found, source, confidence });
        Ok(typed)
    }

    pub(super) fn take<T: Scalar>(
        &mut self,
        section: &mut Table,
        path: &str,
        name: &str,
        unit: &str,
    ) -> Result<T, ArchError> {
        let key = format!("{path}.{name}");
        let value = section.remove(name).ok_or_else(|| ArchError::Missing(key.clone()))?;
        self.entry(&key, value, unit)
    }
}

pub(super) fn reject_rest(section: &Table, path: &str) -> Result<(), ArchError> {
    match section.keys().next() {
        Some(key) => Err(ArchError::Unknown(format!("{path}.{key}"))),
        None => Ok(()),
    }
}
