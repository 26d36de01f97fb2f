//! What the kernel compiler hands over: for every row the launches of its kernels, with code objects,
//! grids, arguments and the buffers that they point at.

use serde::{Deserialize, Serialize};

/// Version of the file's layout.
pub const SCHEMA: &str = "chunktune/validation-launches/v1";

/// The launches of all rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchFile {
    /// Version of the layout, `chunktune/validation-launches/v1`.
    pub schema: String,
    /// Compiler of the kernels.
    pub compiler: String,
    /// Commit of the AITER tree.
    pub aiter: Option<String>,
    /// SHA-256 of the table of timings whose lines the rows name; old files do not say.
    #[serde(default)]
    pub timings_sha256: Option<String>,
    /// Rows in order of their lines.
    pub rows: Vec<RowLaunches>,
}

/// The launches of one row, or why there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowLaunches {
    /// Line in the table of timings.
    pub line: u64,
    /// Commit that kernel and configuration were taken from.
    #[serde(default)]
    pub aiter: Option<String>,
    /// Compiler of the kernels.
    #[serde(default)]
    pub compiler: Option<String>,
    /// Launches in order.
    #[serde(default)]
    pub launches: Vec<KernelLaunch>,
    /// Device memory that the arguments point at.
    #[serde(default)]
    pub buffers: Vec<BufferSpec>,
    /// Why the row has no launches.
    #[serde(default)]
    pub reason: Option<String>,
}

/// A launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelLaunch {
    /// File name of the code object.
    pub object: String,
    /// Kernel symbol.
    pub kernel: String,
    /// Workgroups.
    pub grid: [u32; 3],
    /// Threads of a workgroup.
    pub block: [u32; 3],
    /// Dynamic LDS bytes.
    pub shared: u32,
    /// Arguments in order.
    pub arguments: Vec<Argument>,
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Argument {
    /// A pointer into a buffer.
    Pointer {
        /// Number of the buffer.
        buffer: usize,
        /// Bytes from its start.
        offset: u64,
    },
    /// A null pointer.
    Null {
        /// Always true.
        null: bool,
    },
    /// An 8-bit integer.
    I8 {
        /// Value.
        i8: i64,
    },
    /// A 16-bit integer.
    I16 {
        /// Value.
        i16: i64,
    },
    /// A 32-bit integer.
    I32 {
        /// Value.
        i32: i64,
    },
    /// A 64-bit integer.
    I64 {
        /// Value.
        i64: i64,
    },
    /// A float.
    F32 {
        /// Value.
        f32: f64,
    },
}

/// Device memory of a row. Without values it reads as zeros.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BufferSpec {
    /// Size.
    pub bytes: u64,
    /// 32-bit integers to start with, where the kernel's path depends on them.
    #[serde(default)]
    pub i32: Option<Vec<i32>>,
}

impl Argument {
    /// Its bytes, given the addresses of the buffers; none for a buffer that is not there.
    pub fn bytes(&self, buffers: &[u64]) -> Option<Vec<u8>> {
        Some(match *self {
            Argument::Pointer { buffer, offset } => {
                buffers.get(buffer)?.checked_add(offset)?.to_le_bytes().to_vec()
            }
            Argument::Null { .. } => vec![0; 8],
            Argument::I8 { i8 } => vec![i8 as u8],
            Argument::I16 { i16 } => (i16 as u16).to_le_bytes().to_vec(),
            Argument::I32 { i32 } => (i32 as u32).to_le_bytes().to_vec(),
            Argument::I64 { i64 } => i64.to_le_bytes().to_vec(),
            Argument::F32 { f32 } => (f32 as f32).to_le_bytes().to_vec(),
        })
    }
}
