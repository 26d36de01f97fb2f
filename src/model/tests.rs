use super::*;

fn layout(tp: u32) -> Layout {
    Layout { tp, dp: 1, cp: 1 }
}

fn named(shapes: &[MatrixShape], name: &str) -> (u64, u64, u64) {
    let shape = shapes.iter().find(|s| s.name == name).unwrap();
    (shape.b, shape.n, shape.k)
}

#[test]
fn glm_at_tp4_has_the_published_absorb_shapes() {
    let shapes = preset("glm-5.2").unwrap().rank_shapes(layout(4)).unwrap();
    assert_eq!(named(&shapes.absorb, "w_kc"), (16, 512, 192));
    assert_eq!(named(&shapes.absorb, "w_vc"), (16, 256, 512));
}

#[test]
fn deepseek_v4_pro_at_tp8_has_the_published_wq_b_and_no_absorb() {
    let shapes = preset("deepseek-v4-pro").unwrap().rank_shapes(layout(8)).unwrap();
    assert_eq!(named(&shapes.gemm, "wq_b"), (1, 8192, 1536)); // 128 heads * 512 / 8
    assert_eq!(named(&shapes.gemm, "wo_b"), (1, 7168, 2048)); // 16 groups * 1024 / 8
    assert!(shapes.absorb.is_empty());
}

#[test]
fn every_preset_resolves_and_an_unknown_name_lists_them() {
    for name in PRESETS {
        assert_eq!(resolve(name).unwrap().name, name);
    }
    let message = resolve("gpt-2").unwrap_err().to_string();
    assert!(message.contains("glm-5.2") && message.contains("config.json"), "{message}");
}

#[test]
fn heads_that_do_not_divide_over_the_ranks_are_refused() {
    let error = preset("glm-5.2").unwrap().rank_shapes(layout(3)).unwrap_err();
    assert!(matches!(error, ModelError::Indivisible { total: 64, ranks: 3, .. }));
    let error = preset("glm-5.2").unwrap().rank_shapes(layout(0)).unwrap_err();
    assert!(matches!(error, ModelError::Layout { tp: 0, .. }));
}

#[test]
fn data_parallel_attention_leaves_more_heads_a_rank() {
    let shapes = preset("glm-5.2").unwrap().rank_shapes(Layout { tp: 8, dp: 4, cp: 1 }).unwrap();
    assert_eq!(named(&shapes.absorb, "w_kc").0, 32); // 64 heads over 8 / 4 = 2 ranks
}

#[test]
fn a_nested_text_config_is_read_like_a_flat_one() {
    let flat = r#"{"model_type": "glm", "hidden_size": 6144, "num_attention_heads": 64,
        "q_lora_rank": 2048, "kv_lora_rank": 512, "qk_nope_head_dim": 192,
        "qk_rope_head_dim": 64, "v_head_dim": 256, "index_topk": 2048, "index_n_heads": 32,
        "max_position_embeddings": 1048576}"#;
    let nested = format!(r#"{{"text_config": {flat}}}"#);
    let model = from_config_json(flat).unwrap();
    assert_eq!(model, from_config_json(&nested).unwrap());
    let glm = preset("glm-5.2").unwrap();
    assert_eq!((model.mla, model.indexer), (glm.mla, glm.indexer));
}

#[test]
fn candidate_blocks_and_ratios_select_the_fp4_low_ratio_indexer() {
    let text = r#"{"hidden_size": 4096, "num_attention_heads": 64, "head_dim": 512,
        "q_lora_rank": 1024, "o_lora_rank": 1024, "o_groups": 8, "index_topk": 512,
        "candidate_block_size": 8, "compress_ratios": [0, 2, 1, 128],
        "max_position_embeddings": 1048576}"#;
    assert_eq!(from_config_json(text).unwrap().indexer, Some(Indexer::FP4_LOW_RATIO));
}

#[test]
fn what_a_model_does_not_have_is_said() {
    let absences = |name: &str| preset(name).unwrap().absences().join("\n");
    assert_eq!(absences("glm-5.2"), "");
    assert!(absences("deepseek-v4-flash").contains("no absorbed MLA projections: its output"));
    assert!(!absences("deepseek-v4-flash").contains("gemm is not measured"));
    assert!(absences("deepseek-v4.1").contains("no absorbed MLA projections"));
    assert!(absences("deepseek-v4.1").contains("not published; gemm is not measured"));
}

#[test]
fn a_folder_without_a_config_is_said_to_have_none() {
    let dir = tempfile::tempdir().unwrap();
    let message = resolve(&dir.path().display().to_string()).unwrap_err().to_string();
    assert!(message.ends_with("the directory has no config.json"), "{message}");
}

#[test]
fn broken_configs_name_the_field_and_what_was_expected() {
    let message = |text: &str| from_config_json(text).unwrap_err().to_string();
    assert!(message("{").contains("not valid JSON"));
    assert!(message("[]").contains("not a JSON object"));
    assert!(message("{}").contains("hidden_size"));
    let no_attention = r#"{"hidden_size": 8, "num_attention_heads": 8}"#;
    assert!(message(no_attention).contains("kv_lora_rank"));
    let absurd = r#"{"hidden_size": 18446744073709551615, "num_attention_heads": 8,
        "kv_lora_rank": 8, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8,
        "max_position_embeddings": 8}"#;
    assert!(message(absurd).contains("`hidden_size` is 18446744073709551615"));
}
