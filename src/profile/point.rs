//! One measured point.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Gives a field-less enum its names: what files hold and messages print.
macro_rules! names {
    ($type:ident { $($variant:ident => $name:literal),+ $(,)? }) => {
        impl $type {
            /// Every value, in order.
            pub const ALL: &'static [$type] = &[$($type::$variant),+];

            /// The name used in files and messages.
            pub fn name(self) -> &'static str {
                match self { $($type::$variant => $name),+ }
            }

            /// The value of a name; none for an unknown one.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some($type::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Timed on a GPU.
    Hardware,
    /// Executed and timed by the CDNA simulator.
    Simulated,
    /// Read from a file of field observations.
    Imported,
}

/// The operation a point measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// `C[M,N] = A[M,K] * B[N,K]^T`.
    Gemm,
    /// MLA absorb batched GEMM.
    AbsorbBmm,
    /// Sparse-attention indexer pipeline.
    Indexer,
}

/// How a point ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Measured.
    Ok,
    /// An allocation was refused.
    Oom,
    /// The server's memory guard fired (field observations only).
    Guard,
    /// The kernel faulted.
    Fault,
    /// The kernel did not finish in time.
    Hang,
    /// Another device or tool error; see `message`.
    Error,
}

names!(Engine { Hardware => "hardware", Simulated => "simulated", Imported => "imported" });
names!(Op { Gemm => "gemm", AbsorbBmm => "absorb_bmm", Indexer => "indexer" });
names!(Outcome {
    Ok => "ok",
    Oom => "oom",
    Guard => "guard",
    Fault => "fault",
    Hang => "hang",
    Error => "error",
});

/// Longest time a point may claim, microseconds (about eleven days).
pub const MAX_TIME_US: f64 = 1e12;

/// One row of `profile.parquet`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Operation.
    pub op: Op,
    /// Manifest kernel id, or for the indexer the pipeline (`fp8`, `dense`, `row_pooled`,
    /// `key_blocked`).
    pub kernel: String,
    /// `even`, `ragged_wrap`, `ragged_buffer`, or for the indexer the pipeline again.
    pub variant: String,
    /// Name of the shape in the model, such as `w_kc`, `w_vc`, `wo_b`, `indexer`.
    pub shape: String,
    /// Input element type, such as `bf16`, `fp8`, `fp4`.
    pub dtype: String,
    /// Tile.
    pub block_m: Option<u32>,
    /// Tile.
    pub block_n: Option<u32>,
    /// Tile.
    pub block_k: Option<u32>,
    /// Batch (heads per rank for absorb).
    pub b: Option<u64>,
    /// GEMM rows.
    pub m: Option<u64>,
    /// GEMM columns.
    pub n: Option<u64>,
    /// GEMM depth.
    pub k: Option<u64>,
    /// Chunk rows (tokens).
    pub t: Option<u64>,
    /// Prefix (tokens).
    pub l: Option<u64>,
    /// Tokens per indexer key.
    pub ratio: Option<u32>,
    /// Indexer heads.
    pub heads: Option<u32>,
    /// Indexer top-k.
    pub topk: Option<u32>,
    /// How it ended.
    pub outcome: Outcome,
    /// Diagnosis when `outcome` is not `ok`, else a remark on the measurement, where there is one.
    pub message: Option<String>,
    /// Median time, microseconds.
    pub time_us: Option<f64>,
    /// Lower end of the 95% interval of the median, microseconds (equal to `time_us` in simulation).
    pub time_lo_us: Option<f64>,
    /// Upper end of the 95% interval, microseconds.
    pub time_hi_us: Option<f64>,
    /// Timed samples.
    pub samples: u32,
    /// Peak of live bytes allocated for the point's transient buffers (not the model's inputs).
    pub peak_bytes: Option<u64>,
    /// Wave64 instructions of the whole grid (simulated only).
    pub instructions: Option<u64>,
    /// Core clock cycles (simulated only).
    pub cycles: Option<u64>,
    /// Whether the kernel is the one the serving engine deploys.
    pub deployed: bool,
    /// SHA-256 of the code object, hex.
    pub kernel_sha256: Option<String>,
}

impl Point {
    /// A point of which nothing has been measured yet: the identity is set, every quantity is
    /// missing and the outcome is [`Outcome::Error`] until it is known.
    pub fn new(op: Op, kernel: &str, variant: &str, shape: &str, dtype: &str) -> Self {
        Self {
            op,
            kernel: kernel.into(),
            variant: variant.into(),
            shape: shape.into(),
            dtype: dtype.into(),
            block_m: None,
            block_n: None,
            block_k: None,
            b: None,
            m: None,
            n: None,
            k: None,
            t: None,
            l: None,
            ratio: None,
            heads: None,
            topk: None,
            outcome: Outcome::Error,
            message: None,
            time_us: None,
            time_lo_us: None,
            time_hi_us: None,
            samples: 0,
            peak_bytes: None,
            instructions: None,
            cycles: None,
            deployed: false,
            kernel_sha256: None,
        }
    }

    /// Whether it is a measurement of what `blank` describes: all but the quantities is the same.
    pub fn is_of(&self, blank: &Point) -> bool {
        let described = Point {
            outcome: self.outcome,
            message: self.message.clone(),
            time_us: self.time_us,
            time_lo_us: self.time_lo_us,
            time_hi_us: self.time_hi_us,
            samples: self.samples,
            peak_bytes: self.peak_bytes,
            instructions: self.instructions,
            cycles: self.cycles,
            ..blank.clone()
        };
        described == *self
    }
}
