//! What `tune doctor` says becomes of chunk, page and truncation alignment, against the lines of
//! SGLang's wheels that do it.

use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use chunktune::doctor::inputs::Server;
use chunktune::doctor::{Facts, examine};
use chunktune::sglang::Table;
use serde_json::{Map, Value, json};

use crate::python::python;
use crate::tools;

const VERSIONS: [&str; 3] = ["0.5.10", "0.5.16", "0.5.23"];

/// The wheel of a version in the folder that the environment names.
fn wheel(version: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("CHUNKTUNE_SGLANG_WHEELS")?;
    let mut files = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let prefix = format!("sglang-{version}-");
    files.find(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&prefix)))
}

/// Answers of `tests.settings` to lines of JSON; none without Python or the wheel.
fn ask(version: &str, what: &str, questions: &[Value]) -> Option<Vec<Value>> {
    let Some(wheel) = wheel(version) else {
        tools::report_missing(&format!("wheel of sglang {version} in CHUNKTUNE_SGLANG_WHEELS"));
        return None;
    };
    let mut child = python()?
        .args(["-m", "tests.settings"])
        .arg(wheel)
        .arg(what)
        .env_remove("SGLANG_AITER_KV_CACHE_LAYOUT")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let lines: String = questions.iter().map(|question| format!("{question}\n")).collect();
    // From a thread, because the child answers while it reads.
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Servers: some flags each, as the arguments of SGLang.
fn servers() -> Vec<Map<String, Value>> {
    let mut servers = Vec::new();
    let backends = [
        "flashmla",
        "cutlass_mla",
        "trtllm_mla",
        "tokenspeed_mla",
        "cutedsl_mla",
        "trtllm_mha",
        "hpc_ops",
        "aiter",
        "triton",
    ];
    let fields = ["attention_backend", "decode_attention_backend", "prefill_attention_backend"];
    for backend in backends {
        for field in fields {
            for page in [Value::Null, 1.into(), 16.into(), 32.into(), 64.into(), 128.into()] {
                servers.push(json!({ field: backend, "page_size": page }));
            }
        }
    }
    for backend in ["flashinfer", "triton", "aiter"] {
        for field in &fields[..3] {
            servers.push(json!({*field: backend, "enable_deterministic_inference": true}));
        }
    }
    for (chunk, page) in [(8192, 64), (8200, 64), (2000, 256), (8193, 1), (-1, 64)] {
        let tp = 8;
        for groups in [1, 2, 4] {
            for attention in [true, false] {
                servers
                    .push(json!({"chunked_prefill_size": chunk, "page_size": page, "tp_size": tp,
                    "dp_size": groups, "enable_dp_attention": attention}));
            }
        }
        if chunk < 1 {
            continue;
        }
        servers.push(json!({"chunked_prefill_size": chunk, "page_size": page, "tp_size": tp,
            "enable_kv_cache_sharding": true}));
        for limit in [2048, 16_384] {
            servers.push(json!({"chunked_prefill_size": chunk, "page_size": page, "pp_size": 2,
                "enable_dynamic_chunking": true, "max_prefill_tokens": limit}));
        }
        for more in [
            json!({}),
            json!({"enable_prefill_cp": true, "attn_cp_size": 4}),
            json!({"dp_size": 4, "enable_dp_attention": true}),
        ] {
            let mut server = json!({"chunked_prefill_size": chunk, "page_size": page, "tp_size": tp,
                "moe_a2a_backend": "megamoe"});
            server.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            servers.push(server);
        }
    }
    servers.into_iter().map(|server| server.as_object().unwrap().clone()).collect()
}

/// The flags of a server.
fn flags(server: &Map<String, Value>) -> String {
    let flag = |(name, value): (&String, &Value)| {
        let name = name.replace('_', "-");
        match value {
            Value::Null | Value::Bool(false) => String::new(),
            Value::Bool(true) => format!("--{name} "),
            Value::String(text) => format!("--{name} {text} "),
            number => format!("--{name} {number} "),
        }
    };
    server.iter().map(flag).collect::<String>() + "--served-model-name x"
}

#[test]
fn the_doctor_follows_settings_as_the_wheels_own_lines_change_them() {
    let table = Table::load().unwrap();
    let facts = Facts {
        sizer: None,
        model: None,
        arch: None,
        profile_sha256: None,
        truncation: None,
        block_m: None,
        decode_rows: None,
    };
    let servers = servers();
    let questions: Vec<Value> = servers.iter().cloned().map(Value::Object).collect();
    for version in VERSIONS {
        let Some(answers) = ask(version, version, &questions) else { return };
        assert_eq!(answers.len(), servers.len());
        for (server, real) in servers.iter().zip(&answers) {
            let flags = flags(server);
            let mut server = Server::default();
            server.read_flags(&flags, "flags").unwrap();
            let report = examine(&server, &table.release(version.parse().unwrap()), &facts);
            let report = serde_json::to_value(report).unwrap();
            let settled = |name: &str| {
                let all = report["settings"].as_array().unwrap();
                all.iter().find(|setting| setting["what"] == name).unwrap()["effective"].clone()
            };
            let changed = |name: &str, other: &Value| {
                let all = report["changes"].as_array().unwrap();
                let found = all.iter().find(|change| change["what"] == name);
                found.map_or(other.clone(), |change| change["effective"].clone())
            };
            let chunk = settled("chunk");
            // SGLang divides -1 too; the scheduler takes whatever is not positive as off.
            let off = real["chunk"].as_i64().is_some_and(|chunk| chunk < 1);
            let real_chunk = if off { &Value::Null } else { &real["chunk"] };
            let at = format!("{version}: {flags}");
            assert_eq!(settled("page"), real["page"], "{at}");
            assert_eq!(&chunk, real_chunk, "{at}");
            assert_eq!(settled("truncation alignment"), real["truncation"], "{at}");
            if !real["buffers"].is_null() {
                assert_eq!(changed("rows of prefill buffers", &chunk), real["buffers"], "{at}");
            }
            if !real["mega_moe"].is_null() {
                let needed = changed("tokens of a rank in mega-MoE", &chunk);
                assert_eq!(needed, real["mega_moe"], "{at}");
            }
        }
        println!("{version}: {} servers alike", servers.len());
    }
}

#[test]
fn every_rule_names_a_line_of_its_wheel_that_speaks_of_its_setting() {
    const RULES: &str = include_str!("../../src/sglang/rules.toml");
    let rules: toml::Table = toml::from_str(RULES).unwrap();
    for version in VERSIONS {
        let (mut lines, mut words) = (Vec::new(), Vec::new());
        for rule in rules["rule"].as_array().unwrap() {
            let Some(line) = rule["lines"].get(version) else { continue };
            let (file, number) = line.as_str().unwrap().split_once(':').unwrap();
            lines.push(json!([file, number.parse::<u64>().unwrap()]));
            words.push(match rule["setting"].as_str().unwrap() {
                "page" => "page_size",
                "chunk" => "chunk",
                "truncation" => "truncation_align_size",
                _ => "max_prefill_tokens",
            });
        }
        assert!(lines.len() > 12, "{version}");
        let Some(found) = ask(version, "LINES", &lines) else { return };
        for ((line, word), text) in lines.iter().zip(words).zip(found) {
            let text = text.as_str().unwrap();
            let grown = word == "chunk" && text.contains("tokens");
            assert!(text.contains(word) || grown, "{version} {line}: {text}");
        }
    }
}
