//! `tune plan --against` on the recorded profiles.

use serde_json::Value;

use crate::command::run;

fn recorded(arch: &str) -> String {
    format!("{}/profiles/{arch}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn no_static_chunk_that_survives_is_faster_and_the_long_ones_crash() {
    let dir = tempfile::tempdir().unwrap();
    for arch in ["gfx942", "gfx950"] {
        let profile = recorded(arch);
        let sizers = "static:256,static:1024,static:2048,sglang,atom,trtllm";
        let finished = run(
            dir.path(),
            &["plan", &profile, "--free-bytes", "4.75GB", "--against", sizers, "--json"],
        );
        assert_eq!(finished.status, 0, "{}", finished.stderr);
        let report: Value = serde_json::from_str(&finished.stdout).unwrap();
        let against = report["against"].as_array().unwrap();
        assert_eq!(against.len(), 8, "two rows of ours and six peers");
        let of = |name: &str| against.iter().find(|e| e["name"] == name).unwrap();
        let best = of("chunktune")["prompts"].as_array().unwrap();
        assert_eq!(best.len(), 5);
        for (i, length) in [32_000, 128_000, 256_000, 500_000].iter().enumerate() {
            assert_eq!(best[i]["length"], *length);
            assert_eq!(best[i]["verdict"], "survives", "{arch}");
            assert!(best[i]["peak_95_bytes"].as_u64().unwrap() <= 2_750_000_000);
            for entry in against {
                if entry["prompts"][i]["verdict"] == "survives" {
                    let time = entry["prompts"][i]["time_us"].as_f64().unwrap();
                    let least = best[i]["time_us"].as_f64().unwrap();
                    assert!(time >= least * (1.0 - 1e-9), "{arch} {} at {length}", entry["name"]);
                }
            }
        }
        // 14 B * 2048 * L > 3.25e9 (free less guard) from L = 113,351 on.
        assert_eq!(of("static:2048")["prompts"][1]["verdict"], "crashes");
        assert_eq!(of("static:2048")["prompts"][0]["verdict"], "survives");
    }
}

#[test]
fn the_text_has_a_section_a_prompt_and_says_what_a_name_means() {
    let dir = tempfile::tempdir().unwrap();
    let profile = recorded("gfx950");
    let arguments = ["plan", &profile, "--against", "static:1024", "--prompts", "32k,128k"];
    let finished = run(dir.path(), &arguments);
    assert!(finished.stdout.contains("Prompt of 32,000 tokens"), "{}", finished.stdout);
    assert!(finished.stdout.contains("Prompt of 128,000 tokens"));
    assert!(finished.stdout.contains("without knowing its length"));
    // GLM-5.2 has 78 layers, and the times of the table are those of all of them.
    let words = finished.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("one layer, 78 times"), "{words}");
}

#[test]
fn unknown_sizers_absurd_prompts_and_times_that_nobody_took_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], words: &[&str]| {
        run(dir.path(), arguments).fails_with(2, words);
    };
    refused(&["plan", "--budget", "2e8", "--against", "vllm"], &["vllm", "static:TOKENS"]);
    refused(&["plan", "--budget", "2e8", "--against", "static:0"], &["static:0"]);
    refused(&["plan", "--budget", "2e8", "--against", "static:1e12"], &["static:1e12", "67108864"]);
    refused(&["plan", "--budget", "2e8", "--against", "sglang"], &["nothing was timed"]);
    let many = ["plan", "--budget", "2e8", "--against", "trtllm", "--prompts", "1000000000000"];
    refused(&many, &["--prompts"]);
    refused(&["plan", "--budget", "2e8", "--against", "trtllm", "--prompts", "0"], &["--prompts"]);
}

#[test]
fn no_sizer_serves_a_prompt_that_is_longer_than_the_context() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["plan", "--budget", "2e8", "--context", "100k", "--against", "static:256"];
    let prompts = ["--prompts", "100000,100001", "--json"];
    let finished = run(dir.path(), &[&arguments[..], &prompts].concat());
    let report: Value = serde_json::from_str(&finished.stdout).unwrap();
    for entry in report["against"].as_array().unwrap() {
        let verdicts = [0, 1].map(|i| entry["prompts"][i]["verdict"].clone());
        assert_eq!(verdicts, ["survives", "refused"], "{}", entry["name"]);
    }
}
