//! The sparse-attention indexer: logits of a chunk's rows against all keys, candidate blocks, exact
//! top-k, and the pipelines that serve them with different memory.
//!
//! A shape and inputs go in; top-k key ids (and candidate block ids) come out on the device. The
//! transient buffers of a pipeline are what it is measured for: they are allocated through the
//! device and live as long as the deployed path keeps them.

mod pipeline;
mod steps;

pub use pipeline::{Pipeline, Selection};
pub use steps::{Matrix, Selected, Steps, Window};

use serde::{Deserialize, Serialize};

use super::fill::{Pattern, fill};
use super::{Library, OpError, dimension, product};
use crate::hip::{Buffer, Device};
use crate::units::Bytes;

/// Keys of a candidate block.
pub const BLOCK_KEYS: u64 = 8;
/// Candidate blocks kept for a row.
pub const CANDIDATE_BLOCKS: u64 = 2048;
/// Default budget of the pooled logits, SGLang's `SGLANG_DSV4_FP4_LOGITS_BUDGET_MB`.
pub const POOL_BUDGET: Bytes = Bytes(2 << 30);
/// Default keys of a block of the `key_blocked` pipeline.
pub const KEY_BLOCK: u64 = 8192;
/// Values that share one ue8m0 scale.
pub const SCALE_GROUP: u64 = 32;
/// Largest top-k.
pub const MAX_TOPK: u64 = 2048;

/// Element type of q and k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyType {
    /// e2m1 with one ue8m0 scale per 32 values.
    Fp4,
    /// e4m3 with one f32 scale per key.
    Fp8,
}

impl KeyType {
    /// Name in profiles and the manifest.
    pub fn name(self) -> &'static str {
        match self {
            KeyType::Fp4 => "fp4",
            KeyType::Fp8 => "fp8",
        }
    }

    /// Bytes of `dim` values.
    fn bytes(self, dim: u64) -> u64 {
        match self {
            KeyType::Fp4 => dim / 2,
            KeyType::Fp8 => dim,
        }
    }
}

/// One chunk of an indexer call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexerShape {
    /// Rows (tokens of the chunk).
    pub t: u64,
    /// Prefix tokens before the chunk.
    pub l: u64,
    /// Tokens per key.
    pub ratio: u32,
    /// Heads: 32 or 64.
    pub heads: u32,
    /// Dimensions of a head: 128.
    pub dim: u32,
    /// Keys to select.
    pub topk: u32,
}

impl IndexerShape {
    /// Keys: `ceil((L + T) / ratio)`.
    pub fn keys(&self) -> u64 {
        self.l.saturating_add(self.t).div_ceil(u64::from(self.ratio).max(1))
    }

    /// Keys that row `t` of the chunk sees: `floor((L + t + 1) / ratio)`.
    pub fn visible(&self, t: u64) -> u64 {
        self.l.saturating_add(t).saturating_add(1) / u64::from(self.ratio).max(1)
    }

    /// Checks what the kernels take.
    ///
    /// # Errors
    /// [`OpError::Shape`] says what does not fit.
    pub fn validate(&self) -> Result<(), OpError> {
        let refuse = |problem: String| Err(OpError::shape("indexer", self, problem));
        if self.t == 0 || self.ratio == 0 {
            return refuse("t and ratio must be at least 1".into());
        }
        if self.heads != 32 && self.heads != 64 {
            return refuse(format!("{} heads; expected 32 or 64", self.heads));
        }
        if self.dim != 128 {
            return refuse(format!("{} dimensions; expected 128", self.dim));
        }
        let k = u64::from(self.topk);
        if k == 0 || k > MAX_TOPK || k % 4 != 0 {
            return refuse(format!("top-k {k}; expected a multiple of 4 up to {MAX_TOPK}"));
        }
        let tokens = self.l.saturating_add(self.t);
        dimension("indexer", self, "t + l", tokens)?;
        product("indexer", self, &[self.t, self.keys(), 64])?;
        Ok(())
    }
}

/// The inputs of an indexer call on the device. The model owns them: they do not count as
/// transient.
#[derive(Debug)]
pub struct IndexerInputs {
    /// Element type of q and k.
    pub kind: KeyType,
    /// `[t, heads, dim]`.
    pub q: Buffer,
    /// fp4: `[t, heads, dim / 32]` ue8m0; fp8: empty.
    pub q_scale: Buffer,
    /// `[keys, dim]`.
    pub k: Buffer,
    /// fp4: `[keys, dim / 32]` ue8m0; fp8: `[keys]` f32.
    pub k_scale: Buffer,
    /// `[t, heads]` f32.
    pub weights: Buffer,
}

impl IndexerInputs {
    /// Bytes of q, q_scale, k, k_scale and weights.
    fn bytes(shape: &IndexerShape, kind: KeyType) -> Result<[u64; 5], OpError> {
        let (t, keys) = (shape.t, shape.keys());
        let (heads, dim) = (u64::from(shape.heads), u64::from(shape.dim));
        let size = |factors: &[u64]| product("indexer", shape, factors);
        let scales = dim / SCALE_GROUP;
        Ok([
            size(&[t, heads, kind.bytes(dim)])?,
            if kind == KeyType::Fp4 { size(&[t, heads, scales])? } else { 0 },
            size(&[keys, kind.bytes(dim)])?,
            if kind == KeyType::Fp4 { size(&[keys, scales])? } else { size(&[keys, 4])? },
            size(&[t, heads, 4])?,
        ])
    }

    /// Allocates inputs with whatever bytes the device gives.
    ///
    /// # Errors
    /// A shape that the kernels do not take, or the device's.
    pub fn allocate(device: &Device, shape: &IndexerShape, kind: KeyType) -> Result<Self, OpError> {
        shape.validate()?;
        let [q, q_scale, k, k_scale, weights] =
            Self::bytes(shape, kind)?.map(|n| device.malloc(Bytes(n)));
        Ok(IndexerInputs {
            kind,
            q: q?,
            q_scale: q_scale?,
            k: k?,
            k_scale: k_scale?,
            weights: weights?,
        })
    }

    /// Allocates inputs and fills them with random numbers.
    ///
    /// # Errors
    /// A shape that the kernels do not take, or the device's.
    pub fn random(
        device: &Device,
        library: &Library,
        shape: &IndexerShape,
        kind: KeyType,
    ) -> Result<Self, OpError> {
        let inputs = Self::allocate(device, shape, kind)?;
        let (values, key_scale) = match kind {
            KeyType::Fp4 => (Pattern::Fp4, Pattern::E8m0),
            KeyType::Fp8 => (Pattern::Fp8, Pattern::PositiveF32),
        };
        fill(device, library, &inputs.q, values, 1)?;
        fill(device, library, &inputs.q_scale, Pattern::E8m0, 2)?;
        fill(device, library, &inputs.k, values, 3)?;
        fill(device, library, &inputs.k_scale, key_scale, 4)?;
        fill(device, library, &inputs.weights, Pattern::F32, 5)?;
        Ok(inputs)
    }
}
