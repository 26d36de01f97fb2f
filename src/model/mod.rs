//! The model to serve: which kernels its prefill runs and in which shapes. A preset name or a
//! Hugging Face `config.json` and the parallel layout go in; per-rank GEMM, absorb and indexer
//! shapes come out, or a message saying which field does not fit.

mod config;
mod presets;

use serde::{Deserialize, Serialize};

pub use config::from_config_json;
pub use presets::{PRESETS, preset};

/// How the ranks of the server share the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Tensor-parallel ranks (`--tp`).
    pub tp: u32,
    /// Data-parallel attention groups within them (`--dp-attention`).
    pub dp: u32,
    /// Context-parallel ranks that split the rows of a chunk (`--cp`).
    pub cp: u32,
}

impl Layout {
    /// Ranks that share one attention layer's heads: `tp / (dp * cp)`, as SGLang's `attn_tp_size`.
    ///
    /// # Errors
    /// When a figure is zero or `tp` is not divisible.
    pub fn attention_tp(&self) -> Result<u64, ModelError> {
        let Self { tp, dp, cp } = *self;
        let groups = u64::from(dp) * u64::from(cp);
        if tp == 0 || groups == 0 || !u64::from(tp).is_multiple_of(groups) {
            return Err(ModelError::Layout { tp, dp, cp });
        }
        Ok(u64::from(tp) / groups)
    }
}

/// Multi-head latent attention (DeepSeek V2/V3 and GLM-5), whose absorbed projections are batched
/// GEMMs over heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mla {
    /// Latent width of the KV cache.
    pub kv_lora_rank: u64,
    /// Query width a head without rotary part.
    pub qk_nope_head_dim: u64,
    /// Rotary width a head.
    pub qk_rope_head_dim: u64,
    /// Value width a head.
    pub v_head_dim: u64,
}

/// Grouped low-rank output projection (DeepSeek V4), in place of the absorbed projections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupedOutput {
    /// Width of one head.
    pub head_dim: u64,
    /// Width of a group's latent output.
    pub o_lora_rank: u64,
    /// Groups over all ranks.
    pub o_groups: u64,
}

/// Number format of the indexer's queries and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexerKind {
    /// fp8 with a scale per key; scores go straight to top-k.
    Fp8,
    /// fp4 with a scale per 32 values, candidate blocks before top-k.
    Fp4LowRatio,
}

/// The sparse-attention indexer. SGLang replicates it on every rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Indexer {
    /// Format and path.
    pub kind: IndexerKind,
    /// Query heads.
    pub heads: u32,
    /// Width of a head.
    pub head_dim: u32,
    /// Keys kept a row.
    pub topk: u32,
    /// Tokens per key.
    pub ratio: u32,
}

impl Indexer {
    /// The fp4 low-ratio indexer of DeepSeek V4.1 (ratio 1, the larger of its two paths), which the
    /// memory grid always runs for comparison.
    pub const FP4_LOW_RATIO: Self =
        Self { kind: IndexerKind::Fp4LowRatio, heads: 64, head_dim: 128, topk: 512, ratio: 1 };
}

/// A model's shapes over all ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// Preset name, or `model_type` of the config file.
    pub name: String,
    /// Width of the residual stream; unknown for a preset whose dense shapes are not published.
    pub hidden_size: Option<u64>,
    /// Attention heads.
    pub heads: u64,
    /// Layers.
    pub layers: Option<u64>,
    /// Width of the query latent.
    pub q_lora_rank: Option<u64>,
    /// Absorbed attention, where the model has it.
    pub mla: Option<Mla>,
    /// Grouped output projection, where the model has it.
    pub grouped_output: Option<GroupedOutput>,
    /// The indexer, where the model has one.
    pub indexer: Option<Indexer>,
    /// Longest context the model was built for, tokens.
    pub max_positions: u64,
}

/// `C[M,N] = A[M,K] * B[N,K]^T` for each of `b` heads; `b` is 1 for a dense GEMM.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MatrixShape {
    /// Name of the projection in the model's code.
    pub name: String,
    /// Batch: heads of one rank.
    pub b: u64,
    /// Columns.
    pub n: u64,
    /// Depth.
    pub k: u64,
}

/// What one rank runs in prefill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankShapes {
    /// Absorbed projections `w_kc` and `w_vc`; empty for a model without them.
    pub absorb: Vec<MatrixShape>,
    /// Dense projections whose M is the chunk length.
    pub gemm: Vec<MatrixShape>,
    /// The indexer, the same on every rank.
    pub indexer: Option<Indexer>,
}

/// Why a model cannot be used as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Not a preset and not a file.
    #[error("unknown model `{name}`: use one of {presets}, or the path of a config.json")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The presets.
        presets: String,
    },
    /// The parallel layout is not a division of the ranks.
    #[error(
        "--tp {tp} cannot be split into --dp-attention {dp} x --cp {cp} groups; tp must be a \
         positive multiple of their product"
    )]
    Layout {
        /// Tensor-parallel ranks.
        tp: u32,
        /// Data-parallel attention groups.
        dp: u32,
        /// Context-parallel ranks.
        cp: u32,
    },
    /// A dimension is not divisible over the ranks.
    #[error("{what} ({total}) of model {model} cannot be divided over {ranks} attention ranks")]
    Indivisible {
        /// Which dimension.
        what: &'static str,
        /// Its size over all ranks.
        total: u64,
        /// Ranks that share it.
        ranks: u64,
        /// Model name.
        model: String,
    },
    /// The config file is not what it should be.
    #[error("{0}")]
    Config(String),
}

impl Model {
    /// Shapes of one rank. Formulas as SGLang's `models/deepseek_v2.py` and `deepseek_v4.py` cut
    /// the projections: absorbed ones by heads, `q_b_proj`/`wq_b` by columns, `o_proj`/`wo_b` by
    /// depth.
    ///
    /// # Errors
    /// When the layout is not a division or heads do not divide over the ranks.
    pub fn rank_shapes(&self, layout: Layout) -> Result<RankShapes, ModelError> {
        let ranks = layout.attention_tp()?;
        let split = |what, total: u64| {
            if total.is_multiple_of(ranks) {
                return Ok(total / ranks);
            }
            Err(ModelError::Indivisible { what, total, ranks, model: self.name.clone() })
        };
        let heads = split("num_attention_heads", self.heads)?;
        let shape = |name: &str, b, n, k| MatrixShape { name: name.into(), b, n, k };
        let mut absorb = Vec::new();
        let mut gemm = Vec::new();
        if let Some(mla) = self.mla {
            let Mla { kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim } = mla;
            absorb.push(shape("w_kc", heads, kv_lora_rank, qk_nope_head_dim));
            absorb.push(shape("w_vc", heads, v_head_dim, kv_lora_rank));
            if let Some(hidden) = self.hidden_size {
                gemm.push(shape("o_proj", 1, hidden, heads * v_head_dim));
            }
            if let Some(rank) = self.q_lora_rank {
                let n = heads * (qk_nope_head_dim + qk_rope_head_dim);
                gemm.push(shape("q_b_proj", 1, n, rank));
            }
        }
        if let Some(out) = self.grouped_output {
            if let Some(hidden) = self.hidden_size {
                let k = split("o_groups x o_lora_rank", out.o_groups * out.o_lora_rank)?;
                gemm.push(shape("wo_b", 1, hidden, k));
            }
            if let Some(rank) = self.q_lora_rank {
                gemm.push(shape("wq_b", 1, heads * out.head_dim, rank));
            }
        }
        Ok(RankShapes { absorb, gemm, indexer: self.indexer })
    }

    /// What the model does not have, or is not known to have, and is therefore not measured.
    pub fn absences(&self) -> Vec<String> {
        let name = &self.name;
        let mut absences = Vec::new();
        if self.mla.is_none() {
            let instead = if self.grouped_output.is_some() {
                ": its output goes through a grouped low-rank projection (wo_b)"
            } else {
                ""
            };
            absences.push(format!(
                "{name} has no absorbed MLA projections{instead}; absorb_bmm is not measured, and \
                 EVEN_MN is not a question for it"
            ));
        }
        if self.hidden_size.is_none() && self.q_lora_rank.is_none() {
            absences.push(format!(
                "the widths of {name}'s dense projections are not published; gemm is not measured \
                 (give its config.json with --model to measure it)"
            ));
        }
        if self.indexer.is_none() {
            absences.push(format!("{name} has no sparse-attention indexer"));
        }
        absences
    }

    /// Name of the memory path whose peak bounds the chunk.
    pub fn memory_path(&self) -> Option<&'static str> {
        self.indexer.map(|indexer| match indexer.kind {
            IndexerKind::Fp8 => "fp8",
            IndexerKind::Fp4LowRatio => "row_pooled",
        })
    }
}

/// The model that `--model` names: a preset, or a `config.json` (or a folder holding one).
///
/// # Errors
/// When there is neither a preset nor a file of that name, or the file does not describe a model
/// whose shapes are known.
pub fn resolve(name: &str) -> Result<Model, ModelError> {
    if let Some(model) = preset(name) {
        return Ok(model);
    }
    let mut path = std::path::PathBuf::from(name);
    if path.is_dir() {
        path.push("config.json");
        if !path.is_file() {
            return Err(ModelError::Config(format!("{name}: the directory has no config.json")));
        }
    }
    if !path.is_file() {
        let presets = PRESETS.join(", ");
        return Err(ModelError::Unknown { name: name.into(), presets });
    }
    let text = std::fs::read_to_string(&path)
        .map_err(|error| ModelError::Config(format!("{}: {error}", path.display())))?;
    from_config_json(&text)
        .map_err(|error| ModelError::Config(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests;
