//! The argument list: a JSON list with one object an argument, in the kernel's order.
//!
//! `{"buffer": "a.npy"}` is read; `{"buffer_inout": "x.npy", "out": "y.npy"}` is read and written
//! to another file; `{"buffer_out": "c.npy", "dtype": "f32", "shape": [2, 3]}` starts as zeros and
//! is written; all three take `"offset_bytes"`. Scalars are `{"i32": -1}` with one of `i8 i16 i32
//! i64 u8 u16 u32 u64 f16 bf16 f32 f64 bool`; `{"null": true}` is a null pointer. Paths are
//! relative to the list.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::arrays::Dtype;
use super::{RunError, beside};
use crate::files;
use crate::text::quoted;

/// The arguments of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// In order.
    pub arguments: Vec<Argument>,
}

/// One argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A device buffer.
    Buffer {
        /// File with its initial contents, or their shape if they are zeros.
        input: Input,
        /// File for its final contents.
        output: Option<PathBuf>,
        /// What is added to its address.
        offset: u64,
    },
    /// A scalar by its bytes.
    Scalar {
        /// Type as written.
        ty: String,
        /// Little-endian bytes.
        bytes: Vec<u8>,
    },
    /// A null pointer.
    Null,
}

/// Initial contents of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// An .npy file.
    File(PathBuf),
    /// Zeros.
    Zeros {
        /// Element type.
        dtype: Dtype,
        /// Dimensions.
        shape: Vec<u64>,
    },
}

impl Spec {
    /// Reads an argument list.
    ///
    /// # Errors
    /// An unreadable file, or what is wrong with which argument.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        Self::parse(&files::read_bytes(path)?, path)
    }

    /// The argument list in `bytes`; `path` is where its file names start from.
    ///
    /// # Errors
    /// What is wrong with which argument.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self, RunError> {
        let refuse = |what: String| RunError::Spec { path: path.to_owned(), what };
        let root: Value =
            serde_json::from_slice(bytes).map_err(|e| refuse(format!("not JSON: {e}")))?;
        let Value::Array(list) = root else {
            return Err(refuse("expected a JSON list with one object an argument".to_owned()));
        };
        let arguments = list
            .iter()
            .enumerate()
            .map(|(i, value)| {
                argument(value, path).map_err(|what| refuse(format!("argument {i}: {what}")))
            })
            .collect::<Result<_, _>>()?;
        // Only an object's own reader sees a key that comes twice.
        let entries: Vec<Entry> =
            serde_json::from_slice(bytes).map_err(|e| refuse(format!("not usable: {e}")))?;
        if let Some(i) = entries.iter().position(|entry| entry.twice.is_some()) {
            let key = entries[i].twice.as_deref().unwrap_or_default();
            let what = format!("argument {i}: field \"{}\" is given twice", quoted(key));
            return Err(refuse(what));
        }
        let spec = Spec { arguments };
        spec.check_outputs().map_err(refuse)?;
        Ok(spec)
    }

    /// Refuses an output that would replace an input or another output.
    fn check_outputs(&self) -> Result<(), String> {
        let same = |a: &Path, b: &Path| match (a.canonicalize(), b.canonicalize()) {
            (Ok(a), Ok(b)) => a == b,
            _ => a == b,
        };
        let buffers = || self.arguments.iter().enumerate();
        for (i, argument) in buffers() {
            let Argument::Buffer { output: Some(output), .. } = argument else { continue };
            for (j, other) in buffers() {
                let Argument::Buffer { input, output: others, .. } = other else { continue };
                if let Input::File(file) = input
                    && same(file, output)
                {
                    return Err(format!(
                        "argument {i}: {} would replace the input of argument {j}; write to \
                         another file",
                        output.display()
                    ));
                }
                if j > i && others.as_ref().is_some_and(|other| same(other, output)) {
                    return Err(format!(
                        "arguments {i} and {j} both write {}; write to two files",
                        output.display()
                    ));
                }
            }
        }
        Ok(())
    }
}

/// One entry of the list, read only for a key that comes twice.
#[derive(Default)]
struct Entry {
    twice: Option<String>,
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = Entry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with {KINDS}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entry, A::Error> {
        let mut seen = BTreeSet::new();
        let mut entry = Entry::default();
        while let Some((key, _)) = map.next_entry::<String, IgnoredAny>()? {
            if let Some(key) = seen.replace(key) {
                entry.twice = Some(key);
            }
        }
        Ok(entry)
    }
}

const KINDS: &str = "buffer, buffer_inout, buffer_out, null, i8, i16, i32, i64, u8, u16, u32, \
                     u64, f16, bf16, f32, f64 or bool";

fn argument(value: &Value, spec: &Path) -> Result<Argument, String> {
    let Value::Object(map) = value else {
        return Err(format!("expected an object with {KINDS}"));
    };
    let mut fields = Fields { map: map.clone() };
    let parsed = if let Some(value) = fields.take("buffer") {
        let input = Input::File(beside(spec, &path(&value, "buffer")?));
        Argument::Buffer { input, output: None, offset: fields.offset()? }
    } else if let Some(value) = fields.take("buffer_inout") {
        let input = Input::File(beside(spec, &path(&value, "buffer_inout")?));
        let out = fields.take("out").ok_or("buffer_inout needs \"out\", the file to write")?;
        let output = Some(beside(spec, &path(&out, "out")?));
        Argument::Buffer { input, output, offset: fields.offset()? }
    } else if let Some(value) = fields.take("buffer_out") {
        let output = Some(beside(spec, &path(&value, "buffer_out")?));
        let input = Input::Zeros { dtype: fields.dtype()?, shape: fields.shape()? };
        Argument::Buffer { input, output, offset: fields.offset()? }
    } else if let Some(value) = fields.take("null") {
        if value != Value::Bool(true) {
            return Err("\"null\" must be true".to_owned());
        }
        Argument::Null
    } else if map.len() == 1 {
        let (ty, value) = map.iter().next().ok_or("empty")?;
        fields.take(ty);
        Argument::Scalar { ty: ty.clone(), bytes: scalar(ty, value)? }
    } else {
        return Err(format!("expected one of {KINDS}"));
    };
    match fields.map.keys().next() {
        None => Ok(parsed),
        Some(key) => Err(format!("unknown or misplaced field \"{}\"", quoted(key))),
    }
}

struct Fields {
    map: Map<String, Value>,
}

impl Fields {
    fn take(&mut self, key: &str) -> Option<Value> {
        self.map.remove(key)
    }

    fn offset(&mut self) -> Result<u64, String> {
        let Some(value) = self.take("offset_bytes") else { return Ok(0) };
        value.as_u64().ok_or_else(|| {
            format!("\"offset_bytes\" must be a whole number, not {}", shown(&value))
        })
    }

    fn dtype(&mut self) -> Result<Dtype, String> {
        let value = self.take("dtype").ok_or("buffer_out needs \"dtype\"")?;
        value.as_str().and_then(Dtype::parse).ok_or_else(|| {
            format!("\"dtype\" must be one of {}, not {}", Dtype::NAMES.join(", "), shown(&value))
        })
    }

    fn shape(&mut self) -> Result<Vec<u64>, String> {
        let value = self.take("shape").ok_or("buffer_out needs \"shape\"")?;
        let sizes = value.as_array().map(|list| list.iter().map(Value::as_u64).collect());
        sizes.flatten().ok_or_else(|| {
            format!("\"shape\" must be a list of whole numbers, not {}", shown(&value))
        })
    }
}

/// A value for a message.
fn shown(value: &Value) -> String {
    quoted(&value.to_string())
}

fn path(value: &Value, field: &str) -> Result<PathBuf, String> {
    match value.as_str() {
        Some(text) if !text.is_empty() => Ok(PathBuf::from(text)),
        _ => Err(format!("\"{field}\" must be a file name, not {}", shown(value))),
    }
}

/// The bytes of a scalar, refused where the value does not fit its type.
fn scalar(ty: &str, value: &Value) -> Result<Vec<u8>, String> {
    let misfit = || format!("{} is no {ty}", shown(value));
    let signed = || value.as_i64().ok_or_else(misfit);
    let unsigned = || value.as_u64().ok_or_else(misfit);
    let float = || match value.as_str() {
        Some("nan") => Ok(f64::NAN),
        Some("inf") => Ok(f64::INFINITY),
        Some("-inf") => Ok(f64::NEG_INFINITY),
        _ => value.as_f64().ok_or_else(misfit),
    };
    // A finite number that only the narrower type cannot hold is a mistake, not an infinity.
    let narrowed = |wide: f64, narrow: f64| {
        if wide.is_finite() && narrow.is_infinite() { Err(misfit()) } else { Ok(()) }
    };
    macro_rules! integer {
        ($ty:ty, $wide:expr) => {
            <$ty>::try_from($wide?).map_err(|_| misfit())?.to_le_bytes().to_vec()
        };
    }
    Ok(match ty {
        "i8" => integer!(i8, signed()),
        "i16" => integer!(i16, signed()),
        "i32" => integer!(i32, signed()),
        "i64" => integer!(i64, signed()),
        "u8" => integer!(u8, unsigned()),
        "u16" => integer!(u16, unsigned()),
        "u32" => integer!(u32, unsigned()),
        "u64" => integer!(u64, unsigned()),
        "bool" => vec![u8::from(value.as_bool().ok_or_else(misfit)?)],
        "f16" => {
            let (wide, narrow) = (float()?, half::f16::from_f64(float()?));
            narrowed(wide, narrow.to_f64())?;
            narrow.to_le_bytes().to_vec()
        }
        "bf16" => {
            let (wide, narrow) = (float()?, half::bf16::from_f64(float()?));
            narrowed(wide, narrow.to_f64())?;
            narrow.to_le_bytes().to_vec()
        }
        "f32" => {
            let (wide, narrow) = (float()?, float()? as f32);
            narrowed(wide, f64::from(narrow))?;
            narrow.to_le_bytes().to_vec()
        }
        "f64" => float()?.to_le_bytes().to_vec(),
        other => {
            return Err(format!("unknown kind \"{}\"; expected one of {KINDS}", quoted(other)));
        }
    })
}
