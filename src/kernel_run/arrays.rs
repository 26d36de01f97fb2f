//! Arrays in .npy files, as raw little-endian bytes.

use std::io::Cursor;
use std::path::Path;

use npyz::{DType, Endianness, NpyHeader, Order, TypeChar, WriterBuilder};

use super::RunError;
use crate::files;
use crate::text::{clipped, quoted};

/// Most bytes of an array made of zeros: it is held in host memory before and after the run.
const MAX_BYTES: u64 = 4 << 30;

/// Element type of an array file. NumPy has no bf16, fp8 or fp4: they are stored as u16, u8 and u8
/// (two fp4 to a byte, low nibble first).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Dtype {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

impl Dtype {
    /// Accepted names.
    pub const NAMES: [&str; 15] = [
        "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "bf16",
        "fp8", "fp4",
    ];

    /// The type of a name; `bf16` gives u16, `fp8` and `fp4` give u8.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Dtype::Bool,
            "i8" => Dtype::I8,
            "i16" => Dtype::I16,
            "i32" => Dtype::I32,
            "i64" => Dtype::I64,
            "u8" | "fp8" | "fp4" => Dtype::U8,
            "u16" | "bf16" => Dtype::U16,
            "u32" => Dtype::U32,
            "u64" => Dtype::U64,
            "f16" => Dtype::F16,
            "f32" => Dtype::F32,
            "f64" => Dtype::F64,
            _ => return None,
        })
    }

    /// Bytes of an element.
    pub fn bytes(self) -> u64 {
        match self {
            Dtype::Bool | Dtype::I8 | Dtype::U8 => 1,
            Dtype::I16 | Dtype::U16 | Dtype::F16 => 2,
            Dtype::I32 | Dtype::U32 | Dtype::F32 => 4,
            Dtype::I64 | Dtype::U64 | Dtype::F64 => 8,
        }
    }

    fn of(kind: TypeChar, bytes: Option<usize>) -> Option<Self> {
        Some(match (kind, bytes?) {
            (TypeChar::Bool, 1) => Dtype::Bool,
            (TypeChar::Int, 1) => Dtype::I8,
            (TypeChar::Int, 2) => Dtype::I16,
            (TypeChar::Int, 4) => Dtype::I32,
            (TypeChar::Int, 8) => Dtype::I64,
            (TypeChar::Uint, 1) => Dtype::U8,
            (TypeChar::Uint, 2) => Dtype::U16,
            (TypeChar::Uint, 4) => Dtype::U32,
            (TypeChar::Uint, 8) => Dtype::U64,
            (TypeChar::Float, 2) => Dtype::F16,
            (TypeChar::Float, 4) => Dtype::F32,
            (TypeChar::Float, 8) => Dtype::F64,
            _ => return None,
        })
    }
}

/// An array: C order, little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Element type.
    pub dtype: Dtype,
    /// Dimensions.
    pub shape: Vec<u64>,
    /// Elements.
    pub data: Vec<u8>,
}

impl Array {
    /// Reads an .npy file.
    ///
    /// # Errors
    /// A file that is missing, no .npy, of another element type, byte order or memory order, or
    /// whose length contradicts its shape.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        Self::parse(&files::read_bytes(path)?, path)
    }

    /// The array in `file`; `path` is for messages.
    ///
    /// # Errors
    /// As [`Array::read`].
    pub fn parse(file: &[u8], path: &Path) -> Result<Self, RunError> {
        let refuse = |what: String| RunError::Array { path: path.to_owned(), what };
        let mut cursor = Cursor::new(file);
        let header = NpyHeader::from_reader(&mut cursor)
            .map_err(|e| refuse(format!("not an .npy file: {}", clipped(&e.to_string(), 200))))?;
        let DType::Plain(ty) = header.dtype() else {
            return Err(refuse("its elements are records; expected numbers".to_owned()));
        };
        let dtype = Dtype::of(ty.type_char(), ty.num_bytes())
            .ok_or_else(|| refuse(format!("its element type {ty} is not supported")))?;
        if ty.endianness() == Endianness::Big && dtype.bytes() > 1 {
            return Err(refuse("it is big-endian; save it little-endian".to_owned()));
        }
        if header.order() == Order::Fortran && header.shape().len() > 1 {
            return Err(refuse("it is in Fortran order; save it in C order".to_owned()));
        }
        let shape = header.shape().to_vec();
        let at = usize::try_from(cursor.position()).unwrap_or(file.len());
        let data = file.get(at..).unwrap_or_default().to_vec();
        if size(dtype, &shape) != Some(data.len() as u64) {
            return Err(refuse(format!(
                "it holds {} bytes of data, but its shape {} of {ty} says otherwise",
                data.len(),
                quoted(&format!("{shape:?}"))
            )));
        }
        Ok(Array { dtype, shape, data })
    }

    /// Zeros.
    ///
    /// # Errors
    /// The number of bytes, if it is beyond any device.
    pub fn zeros(dtype: Dtype, shape: &[u64]) -> Result<Self, String> {
        let bytes = size(dtype, shape).filter(|&n| n <= MAX_BYTES).ok_or_else(|| {
            format!(
                "shape {} takes more than {} GiB",
                quoted(&format!("{shape:?}")),
                MAX_BYTES >> 30
            )
        })?;
        Ok(Array { dtype, shape: shape.to_vec(), data: vec![0; bytes as usize] })
    }

    /// Writes an .npy file, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), RunError> {
        let bytes = self.encode().map_err(|e| RunError::Array {
            path: path.to_owned(),
            what: format!("cannot encode it: {e}"),
        })?;
        Ok(files::write_atomic(path, &bytes)?)
    }

    fn encode(&self) -> std::io::Result<Vec<u8>> {
        macro_rules! write {
            ($ty:ty, $from:expr) => {{
                let mut out = Vec::new();
                let mut writer = npyz::WriteOptions::<$ty>::new()
                    .default_dtype()
                    .shape(&self.shape)
                    .writer(&mut out)
                    .begin_nd()?;
                let size = size_of::<$ty>();
                writer.extend(self.data.chunks_exact(size).map($from))?;
                writer.finish()?;
                Ok(out)
            }};
        }
        macro_rules! number {
            ($ty:ty) => {
                write!($ty, |raw: &[u8]| {
                    let mut bytes = [0; size_of::<$ty>()];
                    bytes.copy_from_slice(raw);
                    <$ty>::from_le_bytes(bytes)
                })
            };
        }
        match self.dtype {
            Dtype::Bool => write!(bool, |raw: &[u8]| raw != [0]),
            Dtype::I8 => number!(i8),
            Dtype::I16 => number!(i16),
            Dtype::I32 => number!(i32),
            Dtype::I64 => number!(i64),
            Dtype::U8 => number!(u8),
            Dtype::U16 => number!(u16),
            Dtype::U32 => number!(u32),
            Dtype::U64 => number!(u64),
            Dtype::F16 => number!(half::f16),
            Dtype::F32 => number!(f32),
            Dtype::F64 => number!(f64),
        }
    }
}

/// Bytes of an array.
fn size(dtype: Dtype, shape: &[u64]) -> Option<u64> {
    shape.iter().try_fold(dtype.bytes(), |n, &d| n.checked_mul(d))
}
