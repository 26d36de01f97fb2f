//! Presets: shapes from the models' own `config.json`.

use super::{GroupedOutput, Indexer, IndexerKind, Mla, Model};

/// Names that `--model` accepts; the first is the default.
pub const PRESETS: [&str; 5] =
    ["glm-5.2", "deepseek-v3.2", "deepseek-v4-flash", "deepseek-v4-pro", "deepseek-v4.1"];

/// The preset of that name.
pub fn preset(name: &str) -> Option<Model> {
    let model = match name {
        "glm-5.2" => Model {
            name: name.into(),
            hidden_size: Some(6144),
            heads: 64,
            layers: Some(78),
            q_lora_rank: Some(2048),
            mla: Some(Mla {
                kv_lora_rank: 512,
                qk_nope_head_dim: 192,
                qk_rope_head_dim: 64,
                v_head_dim: 256,
            }),
            grouped_output: None,
            indexer: Some(fp8_indexer(32, 2048, 1)),
            max_positions: 1_048_576,
        },
        "deepseek-v3.2" => Model {
            name: name.into(),
            hidden_size: Some(7168),
            heads: 128,
            layers: Some(61),
            q_lora_rank: Some(1536),
            mla: Some(Mla {
                kv_lora_rank: 512,
                qk_nope_head_dim: 128,
                qk_rope_head_dim: 64,
                v_head_dim: 128,
            }),
            grouped_output: None,
            indexer: Some(fp8_indexer(64, 2048, 1)),
            max_positions: 163_840,
        },
        "deepseek-v4-flash" => deepseek_v4(name, (4096, 64, 43, 1024), 8, 512),
        "deepseek-v4-pro" => deepseek_v4(name, (7168, 128, 61, 1536), 16, 1024),
        // Published: the low-ratio indexer. The dense shapes are not, so no GEMM is derived.
        "deepseek-v4.1" => Model {
            name: name.into(),
            hidden_size: None,
            heads: 64,
            layers: None,
            q_lora_rank: None,
            mla: None,
            grouped_output: None,
            indexer: Some(Indexer::FP4_LOW_RATIO),
            max_positions: 1_048_576,
        },
        _ => return None,
    };
    Some(model)
}

fn fp8_indexer(heads: u32, topk: u32, ratio: u32) -> Indexer {
    Indexer { kind: IndexerKind::Fp8, heads, head_dim: 128, topk, ratio }
}

/// V4: no absorbed projections; the indexer scores keys compressed four tokens to one, in fp8
/// unless the server is started with its fp4 option.
fn deepseek_v4(
    name: &str,
    (hidden, heads, layers, q_lora_rank): (u64, u64, u64, u64),
    o_groups: u64,
    topk: u32,
) -> Model {
    Model {
        name: name.into(),
        hidden_size: Some(hidden),
        heads,
        layers: Some(layers),
        q_lora_rank: Some(q_lora_rank),
        mla: None,
        grouped_output: Some(GroupedOutput { head_dim: 512, o_lora_rank: 1024, o_groups }),
        indexer: Some(fp8_indexer(64, topk, 4)),
        max_positions: 1_048_576,
    }
}
