//! Field cases and the mistakes that a deployment can hold, one a test. The sizer is the golden
//! file's with a frontier of its own; expectations are by hand from SGLang's rules.

use super::*;
use crate::sglang::{ModelKind, Table};

/// Chunks 2048 up to prefix 65536, then 512, then 256 to the end at 200000; page 256, tile 64.
fn sizer() -> Sizer {
    let mut sizer: Sizer =
        serde_json::from_str(include_str!("../../tests/golden/sizer.json")).unwrap();
    sizer.arch = "gfx950".into();
    sizer.status = crate::plan::Status::Validated;
    sizer.sglang = "0.5.23".into();
    (sizer.tp, sizer.dp, sizer.page_size, sizer.align) = (4, 1, 256, 256);
    (sizer.chunk_min, sizer.chunk_max, sizer.static_chunk) = (256, 2048, 2048);
    sizer.table = vec![(0, 2048), (65_536, 512), (131_072, 256)];
    (sizer.max_context, sizer.context_length) = (200_000, Some(200_192));
    (sizer.exact_fill.block_m, sizer.exact_fill.gain, sizer.exact_fill.force) = (64, 2.0, false);
    sizer
}

fn facts(sizer: Option<&Sizer>) -> Facts<'_> {
    Facts {
        sizer,
        arch: None,
        profile_sha256: None,
        model: None,
        truncation: None,
        block_m: None,
        decode_rows: None,
    }
}

fn examined(version: &str, env: &str, flags: &str, facts: &Facts<'_>) -> Report {
    let mut server = Server::default();
    server.read_env(env, "env").unwrap();
    server.read_flags(flags, "flags").unwrap();
    let table = Table::load().unwrap();
    examine(&server, &table.release(version.parse().unwrap()), facts)
}

/// The changes of a setting, as (before, after).
fn changes(report: &Report, what: &str) -> Vec<(Option<u64>, Option<u64>)> {
    let of = report.changes.iter().filter(|change| change.what == what);
    of.map(|change| (change.requested, change.effective)).collect()
}

/// Severity of a finding; none where it was not found.
fn severity(report: &Report, check: &str) -> Option<Severity> {
    report.findings.iter().find(|finding| finding.check == check).map(|f| f.severity)
}

const GOOD: &str = "--tp 4 --chunked-prefill-size 2048 --max-prefill-tokens 2048 --page-size 256 \
                    --context-length 200192";
const INSTALLED: &str = "CHUNKTUNE_SIZER=/etc/chunktune/sizer.json";

#[test]
fn a_deployment_of_the_plan_has_nothing_worse_than_remarks() {
    let sizer = sizer();
    let facts = Facts { arch: Some("gfx950"), ..facts(Some(&sizer)) };
    let report = examined("0.5.23", INSTALLED, GOOD, &facts);
    assert_eq!(report.worst(), Some(Severity::Info), "{report:#?}");
    assert!(report.changes.is_empty());
}

/// sgl-project/sglang#36344: 128 // 4096 = 0 tokens forever; 4096 is legal.
#[test]
fn a_chunk_below_the_truncation_alignment_never_admits() {
    let flags = |chunk: u32, backend: &str| {
        format!(
            "--enable-deterministic-inference --attention-backend {backend} \
             --chunked-prefill-size {chunk}"
        )
    };
    let found = |version: &str, chunk, backend: &str, env: &str| {
        let report = examined(version, env, &flags(chunk, backend), &facts(None));
        severity(&report, "chunk_below_truncation")
    };
    assert_eq!(found("0.5.9", 128, "triton", ""), Some(Severity::Error));
    assert_eq!(found("0.5.9", 4096, "triton", ""), None);
    let env = "SGLANG_TRITON_PREFILL_TRUNCATION_ALIGN_SIZE=64";
    assert_eq!(found("0.5.9", 128, "triton", env), None);
    // 0.5.22 dropped triton's alignment.
    assert_eq!(found("0.5.23", 128, "triton", ""), None);
    assert_eq!(found("0.5.23", 128, "flashinfer", ""), Some(Severity::Error));
    let report = examined("0.5.9", "", &flags(6000, "triton"), &facts(None));
    assert_eq!(changes(&report, "chunk of a long prompt"), [(Some(6000), Some(4096))]);
    assert_eq!(severity(&report, "chunk_truncated"), Some(Severity::Warning));
}

/// sgl-project/sglang#8973: -1 is off and must not be held against the page.
#[test]
fn a_chunk_of_minus_one_is_off_and_not_divided_by_pages() {
    let report = examined("0.5.23", "", "--chunked-prefill-size -1 --page-size 64", &facts(None));
    assert_eq!(severity(&report, "chunking_off"), Some(Severity::Info));
    assert_eq!(severity(&report, "chunk_not_whole_pages"), None);
    let sizer = sizer();
    let report = examined("0.5.23", "", "--chunked-prefill-size -1", &facts(Some(&sizer)));
    assert_eq!(severity(&report, "chunk_above_frontier"), Some(Severity::Error));
}

/// vllm-project/vllm#34445: a block of 4352 within 8192 tokens runs 4352 (53%); one of 16384 none.
#[test]
fn an_alignment_of_the_model_cuts_the_chunk_or_stops_it() {
    let with = |align| Facts { truncation: Some(align), ..facts(None) };
    let report = examined("0.5.23", "", "--chunked-prefill-size 8192", &with(4352));
    assert_eq!(changes(&report, "chunk of a long prompt"), [(Some(8192), Some(4352))]);
    let finding = &report.findings[0];
    assert_eq!(finding.check, "chunk_truncated");
    assert!(finding.reason.contains("(53%)"), "{}", finding.reason);
    let report = examined("0.5.23", "", "--chunked-prefill-size 8192", &with(16_384));
    assert_eq!(severity(&report, "chunk_below_truncation"), Some(Severity::Error));
}

#[test]
fn dp_attention_divides_the_chunk_by_the_flag_of_its_version() {
    let chunk = |version: &str, flags: &str| {
        let flags = format!("--chunked-prefill-size 8192 {flags}");
        let report = examined(version, "", &flags, &facts(None));
        changes(&report, "chunk").first().and_then(|(_, after)| *after)
    };
    assert_eq!(chunk("0.5.9", "--dp-size 4 --enable-dp-attention"), Some(2048));
    assert_eq!(chunk("0.5.9", "--dp-size 4"), None);
    assert_eq!(chunk("0.5.23", "--attn-dp-size 8"), Some(1024));
    // 8192 / 3 = 2730 tokens are no whole pages of 64.
    let flags = "--chunked-prefill-size 8192 --dp-size 3 --enable-dp-attention --page-size 64";
    let report = examined("0.5.23", "", flags, &facts(None));
    assert_eq!(severity(&report, "chunk_divided"), Some(Severity::Warning));
    assert_eq!(severity(&report, "chunk_not_whole_pages"), Some(Severity::Error));
}

#[test]
fn a_running_servers_chunk_is_not_divided_again() {
    let mut server = Server::default();
    let info = r#"{"chunked_prefill_size": 2048, "dp_size": 4, "enable_dp_attention": true,
        "page_size": 256, "version": "0.5.23"}"#;
    server.read_server_info(info, "info").unwrap();
    let table = Table::load().unwrap();
    let report = examine(&server, &table.release("0.5.23".parse().unwrap()), &facts(None));
    assert!(report.changes.is_empty() && severity(&report, "chunk_divided").is_none());
}

#[test]
fn a_backend_with_pages_of_its_own_is_followed() {
    let flags = "--chunked-prefill-size 2048 --page-size 256 --attention-backend flashmla";
    let sizer = sizer();
    let report = examined("0.5.23", INSTALLED, flags, &facts(Some(&sizer)));
    assert_eq!(changes(&report, "page"), [(Some(256), Some(64))]);
    let mismatch = report.findings.iter().find(|f| f.check == "page_mismatch").unwrap();
    assert_eq!(mismatch.severity, Severity::Error);
    // The flag says 256 already.
    assert_eq!(mismatch.fix, "plan again with --page-size 64: this server has no other");
}

#[test]
fn full_passes_that_miss_the_tile_are_found_with_their_rows() {
    let with = |block| Facts { block_m: Some(block), decode_rows: Some(100), ..facts(None) };
    let reason = |flags: &str, block| {
        let report = examined("0.5.23", "", flags, &with(block));
        let finding = report.findings.iter().find(|f| f.check == "full_pass_misses_tile");
        finding.map(|finding| finding.reason.clone())
    };
    assert_eq!(reason("--chunked-prefill-size 2048 --page-size 16", 64), None);
    let missed = reason("--chunked-prefill-size 2000 --page-size 16", 64).unwrap();
    assert!(missed.contains("M = 2000 rows (chunk 2000), 16 past"), "{missed}");
    // Decode rows are charged to the chunk: the sum stays.
    assert_eq!(reason("--chunked-prefill-size 2048 --enable-mixed-chunk", 64), None);
    // floor((2048 - 128) / 256) * 256 + 128 = 1920 = 7 * 256 + 128.
    let flags = "--chunked-prefill-size 2048 --page-size 256 --enable-encoder-swa-bounded-replay";
    let missed = reason(flags, 256).unwrap();
    assert!(missed.contains("M = 1920 rows"), "{missed}");
    assert!(missed.contains("128 replay rows"), "{missed}");
    let report = examined("0.5.23", "", &flags.replace("2048", "256"), &with(256));
    assert_eq!(severity(&report, "chunk_below_replay"), Some(Severity::Error));
}

#[test]
fn without_a_sizer_installed_the_static_chunk_must_fit_everywhere() {
    let sizer = sizer();
    let report = examined("0.5.23", "", GOOD, &facts(Some(&sizer)));
    let finding = report.findings.iter().find(|f| f.check == "chunk_above_frontier").unwrap();
    assert!(finding.reason.contains("from prefix 65536 on only 512 fit"), "{}", finding.reason);
    assert_eq!(finding.fix, "install the sizer, or give 256 a rank");
    let short = GOOD.replace("200192", "60000");
    let report = examined("0.5.23", "", &short, &facts(Some(&sizer)));
    assert_eq!(severity(&report, "chunk_above_frontier"), None);
    let long = GOOD.replace("200192", "300000");
    let report = examined("0.5.23", INSTALLED, &long, &facts(Some(&sizer)));
    assert_eq!(severity(&report, "context_past_frontier"), Some(Severity::Error));
}

#[test]
fn the_first_chunk_on_a_cached_prefix_is_safe_only_with_the_clamp() {
    let sizer = sizer();
    let found = |version: &str, flags: &str| {
        let report = examined(version, INSTALLED, flags, &facts(Some(&sizer)));
        severity(&report, "first_chunk_on_cached_prefix")
    };
    assert_eq!(found("0.5.23", GOOD), Some(Severity::Info));
    assert_eq!(found("0.5.9", GOOD), Some(Severity::Error));
    assert_eq!(found("0.5.9", &format!("{GOOD} --disable-radix-cache")), None);
}

#[test]
fn limits_below_the_plan_are_said() {
    let sizer = sizer();
    let flags = GOOD.replace("--max-prefill-tokens 2048", "--max-prefill-tokens 1024");
    let report = examined("0.5.23", INSTALLED, &flags, &facts(Some(&sizer)));
    assert_eq!(severity(&report, "max_prefill_below_chunk"), Some(Severity::Warning));
    let flags = GOOD.replace("size 2048", "size 4096");
    let report = examined("0.5.23", INSTALLED, &flags, &facts(Some(&sizer)));
    assert_eq!(severity(&report, "chunk_above_plan"), Some(Severity::Error));
}

#[test]
fn allocator_settings_that_hurt_or_do_nothing_are_found() {
    for name in ["PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"] {
        let env = format!(
            "{name}=max_split_size_mb:64,expandable_segments:True,garbage_collection_threshold:0.8"
        );
        let report = examined("0.5.23", &env, "", &facts(None));
        assert_eq!(severity(&report, "expandable_segments"), Some(Severity::Warning));
        assert_eq!(severity(&report, "garbage_collection_threshold"), Some(Severity::Info));
        let off = env.replace("True", "False");
        let report = examined("0.5.23", &off, "", &facts(None));
        assert_eq!(severity(&report, "expandable_segments"), None);
    }
}

#[test]
fn knobs_are_held_against_version_and_device() {
    let env = "SGLANG_EXACT_CHUNK_FILL=1";
    let on = |arch| Facts { arch: Some(arch), ..facts(None) };
    let report = examined("0.5.9", env, "", &on("gfx950"));
    assert_eq!(severity(&report, "variable_ignored"), Some(Severity::Warning));
    let report = examined("0.5.23", env, "", &on("gfx942"));
    assert_eq!(severity(&report, "exact_fill_without_effect"), Some(Severity::Warning));
    let report = examined("0.5.23", env, "", &on("gfx950"));
    assert_eq!(severity(&report, "exact_fill_without_effect"), None);
    let report = examined("0.5.9", "", "--attn-dp-size 2", &facts(None));
    assert_eq!(severity(&report, "flag_unknown"), Some(Severity::Error));
}

#[test]
fn a_configuration_of_something_else_is_refused() {
    let mut sizer = sizer();
    let facts = Facts { arch: Some("gfx942"), profile_sha256: Some("ab"), ..facts(Some(&sizer)) };
    let flags = GOOD.replace("--tp 4", "--tp 8");
    let report = examined("0.5.23", INSTALLED, &flags, &facts);
    for check in ["other_device", "other_profile", "other_layout"] {
        assert_eq!(severity(&report, check), Some(Severity::Error), "{check}");
    }
    sizer.status = crate::plan::Status::Unvalidated;
    let facts = super::tests::facts(Some(&sizer));
    let report = examined("0.5.23", INSTALLED, GOOD, &facts);
    assert_eq!(severity(&report, "unvalidated"), Some(Severity::Error));
    let env = format!("{INSTALLED}\nCHUNKTUNE_ALLOW_UNVALIDATED=1");
    let report = examined("0.5.23", &env, GOOD, &facts);
    assert_eq!(severity(&report, "unvalidated"), Some(Severity::Warning));
}

#[test]
fn a_score_budget_other_than_the_plans_is_refused() {
    let mut sizer = sizer();
    sizer.score_budgets.insert("SGLANG_DSV4_FP4_LOGITS_BUDGET_MB".into(), 512 << 20);
    let found = |value| {
        let env = format!("{INSTALLED}\nSGLANG_DSV4_FP4_LOGITS_BUDGET_MB={value}");
        severity(&examined("0.5.23", &env, GOOD, &facts(Some(&sizer))), "score_budget_differs")
    };
    assert_eq!((found(512), found(2048)), (None, Some(Severity::Error)));
}

#[test]
fn decode_rows_that_leave_no_page_of_a_chunk_are_found() {
    let found = |rows| {
        let facts = Facts { decode_rows: Some(rows), ..facts(None) };
        let flags = "--chunked-prefill-size 2048 --page-size 256 --enable-mixed-chunk";
        severity(&examined("0.5.23", "", flags, &facts), "chunk_full_of_decode")
    };
    // 2048 - 1792 is one page.
    assert_eq!(
        (found(1792), found(1793), found(5000)),
        (None, Some(Severity::Error), Some(Severity::Error))
    );
}

#[test]
fn names_that_are_nearly_those_of_settings_are_said() {
    let near = |env: &str, flags: &str| {
        let report = examined("0.5.23", env, flags, &facts(None));
        let found = report.findings.iter().find(|finding| finding.check == "name_resembles");
        found.map(|finding| finding.fix.clone())
    };
    let meant = |name: &str| Some(format!("write {name} if that is meant"));
    assert_eq!(near("", "--chunked-prefil-size 2048"), meant("--chunked-prefill-size"));
    assert_eq!(near("", "--chunked-prefill 2048"), meant("--chunked-prefill-size"));
    assert_eq!(near("CHUNKTUNE_SIZR=/x", ""), meant("CHUNKTUNE_SIZER"));
    // A flag of SGLang's own that differs from --tp-size by one letter.
    assert_eq!(near("PATH=/bin", "--ep-size 4 --mem-fraction-static 0.9"), None);
    assert_eq!(near(INSTALLED, GOOD), None);
}

#[test]
fn ranks_that_are_no_number_are_named() {
    let flags = GOOD.replace("--tp 4", "--tp NaN");
    let report = examined("0.5.23", INSTALLED, &flags, &facts(Some(&sizer())));
    assert_eq!(severity(&report, "not_a_number"), Some(Severity::Error));
}

#[test]
fn sharded_kv_rounds_the_chunk_up_to_pages_and_needs_them() {
    let flags = "--chunked-prefill-size 2000 --page-size 64 --enable-kv-cache-sharding";
    let report = examined("0.5.23", "", flags, &facts(None));
    // 2000 = 31.25 pages of 64.
    assert_eq!(changes(&report, "chunk"), [(Some(2000), Some(2048))]);
    assert_eq!(severity(&report, "chunk_not_whole_pages"), None);
    assert_eq!(severity(&report, "kv_sharding"), None);
    let report = examined("0.5.23", "", &flags.replace("64", "1"), &facts(None));
    assert_eq!(severity(&report, "kv_sharding"), Some(Severity::Error));
    let own = format!("{flags} --pp 2 --enable-dynamic-chunking");
    assert_eq!(
        severity(&examined("0.5.23", "", &own, &facts(None)), "kv_sharding"),
        Some(Severity::Error)
    );
    // Older versions do not know it, so nothing is rounded.
    let report = examined("0.5.16", "", flags, &facts(None));
    assert_eq!(changes(&report, "chunk"), []);
}

#[test]
fn sglangs_own_sizer_grows_chunks_to_the_prefill_limit() {
    let flags = "--chunked-prefill-size 2048 --page-size 256 --enable-dynamic-chunking --pp 2";
    let sizer = sizer();
    let report = examined("0.5.23", "", flags, &facts(Some(&sizer)));
    // A quarter of 2048, and the limit of 16384, both whole pages; buffers for 16384 rows.
    assert_eq!(changes(&report, "a continued chunk, at least"), [(Some(2048), Some(512))]);
    assert_eq!(changes(&report, "a continued chunk, at most"), [(Some(2048), Some(16_384))]);
    assert_eq!(changes(&report, "rows of prefill buffers"), [(Some(2048), Some(16_384))]);
    assert_eq!(severity(&report, "dynamic_chunk"), Some(Severity::Error));
    let report = examined("0.5.23", INSTALLED, flags, &facts(Some(&sizer)));
    assert_eq!(severity(&report, "dynamic_chunk"), Some(Severity::Info));
    // ceil(1.25 * 2048) = 2560 rows are probed where the limit is lower; 2100 is 8 pages.
    let low = format!("{flags} --max-prefill-tokens 2100");
    let report = examined("0.5.23", "", &low, &facts(None));
    assert_eq!(changes(&report, "a continued chunk, at most"), []);
    assert_eq!(changes(&report, "rows of prefill buffers"), [(Some(2048), Some(2560))]);
    // Without stages the flag does nothing.
    let report = examined("0.5.23", "", &flags.replace("--pp 2", ""), &facts(None));
    assert_eq!(changes(&report, "a continued chunk, at most"), []);
}

#[test]
fn the_tokens_of_mega_moe_are_held_against_its_room() {
    let flags = "--chunked-prefill-size 8200 --page-size 8 --tp 8 --moe-a2a-backend megamoe";
    let report = examined("0.5.23", "", flags, &facts(None));
    // In multiples of the 8 ranks of a group: 8200 is one.
    assert_eq!(report.changes.iter().find(|c| c.what.contains("mega-MoE")), None);
    assert_eq!(severity(&report, "mega_moe_budget"), Some(Severity::Warning));
    let odd = flags.replace("8200 --page-size 8", "8201 --page-size 1");
    let report = examined("0.5.23", "", &odd, &facts(None));
    assert_eq!(changes(&report, "tokens of a rank in mega-MoE"), [(Some(8201), Some(8208))]);
    let found = |room: &str| {
        let env = format!("SGLANG_AMD_FLYDSL_MEGA_MOE_MTPR={room}");
        severity(&examined("0.5.23", &env, flags, &facts(None)), "mega_moe_budget")
    };
    assert_eq!((found("16384"), found("9000")), (None, Some(Severity::Error)));
    let split = format!("{flags} --enable-prefill-cp --attn-cp-size 3");
    let report = examined("0.5.23", "", &split, &facts(None));
    assert_eq!(changes(&report, "tokens of a rank in mega-MoE"), [(Some(8200), Some(2734))]);
}

#[test]
fn a_model_with_pages_of_its_own_gets_them() {
    let kind = |family: &str, index_kpool| ModelKind { family: family.into(), index_kpool };
    let page = |version: &str, env: &str, model: &ModelKind| {
        let facts = Facts { model: Some(model), ..facts(None) };
        let report = examined(version, env, "--chunked-prefill-size 2048 --page-size 16", &facts);
        (changes(&report, "page"), changes(&report, "truncation alignment"))
    };
    let sparse = kind("dsa", 1);
    assert_eq!(page("0.5.23", "", &sparse), (vec![(Some(16), Some(64))], vec![]));
    assert_eq!(page("0.5.10", "", &sparse).0, [(Some(16), Some(1))]);
    let off = "SGLANG_DSA_HIP_DISABLE_PRESHUFFLE=1";
    assert_eq!(page("0.5.23", off, &sparse).0, [(Some(16), Some(1))]);
    let pooled = page("0.5.23", "", &kind("dsa", 4));
    assert_eq!(pooled, (vec![(Some(16), Some(256))], vec![(None, Some(4))]));
    assert_eq!(page("0.5.16", "", &kind("deepseek_v4", 1)).0, [(Some(16), Some(256))]);
    let sizer = sizer();
    let facts = Facts { model: Some(&sparse), ..facts(Some(&sizer)) };
    let report = examined("0.5.23", INSTALLED, GOOD, &facts);
    assert_eq!(severity(&report, "page_mismatch"), Some(Severity::Error));
}

#[test]
fn what_is_not_given_is_what_the_version_chooses() {
    let on = Facts { arch: Some("gfx950"), ..facts(None) };
    let report = examined("0.5.16", "", "--tp 8", &on);
    assert_eq!(changes(&report, "chunk"), [(None, Some(16_384))]);
    assert_eq!(changes(&report, "page"), [(None, Some(1))]);
    assert_eq!(changes(&report, "max prefill tokens"), [(None, Some(16_384))]);
    let layout = "SGLANG_AITER_KV_CACHE_LAYOUT=vectorized_5d";
    assert_eq!(changes(&examined("0.5.16", layout, "--tp 8", &on), "page"), [(None, Some(64))]);
    assert_eq!(changes(&examined("0.5.10", layout, "--tp 8", &on), "page"), [(None, Some(1))]);
    assert!(report.changes.iter().all(|change| change.line.contains(".py:")));
    // Every setting is listed, changed or not.
    let settled: Vec<_> = report.settings.iter().map(|s| (s.what, s.effective)).collect();
    let expected = [
        ("chunk", Some(16_384)),
        ("page", Some(1)),
        ("truncation alignment", None),
        ("max prefill tokens", Some(16_384)),
    ];
    assert_eq!(settled, expected);
}

#[test]
fn multi_item_scoring_switches_chunks_off() {
    let flags = "--chunked-prefill-size 2048 --enable-mis";
    let report = examined("0.5.23", "", flags, &facts(None));
    assert_eq!(changes(&report, "chunk"), [(Some(2048), None)]);
    assert_eq!(severity(&report, "chunking_off"), Some(Severity::Info));
    assert_eq!(changes(&examined("0.5.10", "", flags, &facts(None)), "chunk"), []);
}

#[test]
fn a_version_before_all_that_were_read_is_not_said_to_lack_anything() {
    let report = examined("0.4.0", "", "--chunked-prefill-size 2048", &facts(None));
    assert_eq!(severity(&report, "flag_unknown"), None);
    assert_eq!(severity(&report, "version_not_read"), Some(Severity::Info));
}
