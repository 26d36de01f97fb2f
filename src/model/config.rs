//! Reads a Hugging Face `config.json`, flat or with a nested `text_config`.

use serde::Deserialize;
use serde_json::Value;

use super::{GroupedOutput, Indexer, IndexerKind, Mla, Model, ModelError};

/// Largest dimension accepted: far above any model, far below where products overflow.
const MAX_DIMENSION: u64 = 1 << 24;

#[derive(Deserialize)]
struct Config {
    model_type: Option<String>,
    hidden_size: u64,
    num_attention_heads: u64,
    num_hidden_layers: Option<u64>,
    q_lora_rank: Option<u64>,
    kv_lora_rank: Option<u64>,
    qk_nope_head_dim: Option<u64>,
    qk_rope_head_dim: Option<u64>,
    v_head_dim: Option<u64>,
    head_dim: Option<u64>,
    o_lora_rank: Option<u64>,
    o_groups: Option<u64>,
    index_n_heads: Option<u32>,
    index_head_dim: Option<u32>,
    index_topk: Option<u32>,
    compress_ratios: Option<Vec<u32>>,
    candidate_block_size: Option<u32>,
    max_position_embeddings: Option<u64>,
}

/// The model that a `config.json` describes. Fields of a nested `text_config` count where the outer
/// level does not have them.
///
/// # Errors
/// When the text is not JSON, a needed field is missing or absurd, or the attention is neither
/// MLA nor DeepSeek V4's.
pub fn from_config_json(text: &str) -> Result<Model, ModelError> {
    let config = |message: String| ModelError::Config(message);
    let value: Value =
        serde_json::from_str(text).map_err(|e| config(format!("is not valid JSON: {e}")))?;
    let Value::Object(mut fields) = value else {
        return Err(config("is not a JSON object; expected a Hugging Face config.json".into()));
    };
    if let Some(Value::Object(nested)) = fields.remove("text_config") {
        for (key, value) in nested {
            fields.entry(key).or_insert(value);
        }
    }
    let read: Config = serde_json::from_value(Value::Object(fields))
        .map_err(|e| config(format!("does not describe a known model: {e}")))?;
    build(read)
}

fn build(config: Config) -> Result<Model, ModelError> {
    let bounded = |field: &str, value: u64| {
        if (1..=MAX_DIMENSION).contains(&value) {
            return Ok(value);
        }
        Err(ModelError::Config(format!("field `{field}` is {value}; expected 1..={MAX_DIMENSION}")))
    };
    let optional = |field: &str, value: Option<u64>| value.map(|v| bounded(field, v)).transpose();
    let required = |field: &str, value: Option<u64>| match value {
        Some(value) => bounded(field, value),
        None => Err(ModelError::Config(format!("field `{field}` is missing"))),
    };
    let o_lora_rank = optional("o_lora_rank", config.o_lora_rank)?;
    let grouped_output = match o_lora_rank {
        Some(o_lora_rank) => Some(GroupedOutput {
            head_dim: required("head_dim", config.head_dim.or(config.v_head_dim))?,
            o_lora_rank,
            o_groups: required("o_groups", config.o_groups)?,
        }),
        None => None,
    };
    let mla = match (grouped_output, config.kv_lora_rank) {
        (None, Some(rank)) => Some(Mla {
            kv_lora_rank: bounded("kv_lora_rank", rank)?,
            qk_nope_head_dim: required("qk_nope_head_dim", config.qk_nope_head_dim)?,
            qk_rope_head_dim: required("qk_rope_head_dim", config.qk_rope_head_dim)?,
            v_head_dim: required("v_head_dim", config.v_head_dim)?,
        }),
        _ => None,
    };
    if mla.is_none() && grouped_output.is_none() {
        return Err(ModelError::Config(
            "has neither `kv_lora_rank` (MLA) nor `o_lora_rank` (DeepSeek V4): this attention is \
             not one whose prefill kernels are known"
                .into(),
        ));
    }
    let positions = config.max_position_embeddings;
    Ok(Model {
        name: config.model_type.clone().unwrap_or_else(|| "config.json".into()),
        hidden_size: Some(bounded("hidden_size", config.hidden_size)?),
        heads: bounded("num_attention_heads", config.num_attention_heads)?,
        layers: optional("num_hidden_layers", config.num_hidden_layers)?,
        q_lora_rank: optional("q_lora_rank", config.q_lora_rank)?,
        mla,
        grouped_output,
        indexer: indexer(&config)?,
        max_positions: required("max_position_embeddings", positions)?,
    })
}

/// The indexer with the most keys a row: the smallest compression ratio that is indexed.
fn indexer(config: &Config) -> Result<Option<Indexer>, ModelError> {
    let Some(topk) = config.index_topk else { return Ok(None) };
    let heads = config.index_n_heads.unwrap_or(64);
    let head_dim = config.index_head_dim.unwrap_or(128);
    let within = |field: &str, value: u32, limit: u32| {
        if (1..=limit).contains(&value) {
            return Ok(());
        }
        Err(ModelError::Config(format!("field `{field}` is {value}; expected 1..={limit}")))
    };
    within("index_topk", topk, 1 << 20)?;
    within("index_n_heads", heads, 1 << 12)?;
    within("index_head_dim", head_dim, 1 << 12)?;
    // Layers of ratio 128 attend to all their keys; 0 marks a layer without compression.
    let indexed = config.compress_ratios.iter().flatten().filter(|r| (1..=64).contains(*r));
    let ratio = indexed.min().copied().unwrap_or(1);
    let kind = match config.candidate_block_size {
        Some(size) if size > 0 => IndexerKind::Fp4LowRatio,
        _ => IndexerKind::Fp8,
    };
    Ok(Some(Indexer { kind, heads, head_dim, topk, ratio }))
}
