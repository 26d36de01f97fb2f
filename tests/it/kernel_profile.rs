//! `tune kernel profile` and `tune kernel variants` as commands: figures against LLVM's tools and
//! arithmetic, files, and what bad arguments are told.

use std::collections::BTreeMap;
use std::fs;

use chunktune::ops::embedded;
use serde_json::Value;

use crate::command::run;
use crate::tools::tool;

/// Instructions and 2-byte stores by symbol, as llvm-objdump prints them, without the padding after
/// the last `s_endpgm`.
fn disassembled(arch: &str) -> Option<BTreeMap<String, (u64, u64)>> {
    let mut objdump = tool("llvm-objdump-22")?;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("absorb_bmm.hsaco");
    fs::write(&path, embedded::object(arch, "absorb_bmm").unwrap()).unwrap();
    let output = objdump.args(["-d", "--no-show-raw-insn"]).arg(&path).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut counts = BTreeMap::new();
    for part in text.split("\n\n") {
        let mut lines = part.lines().filter(|line| !line.is_empty());
        let Some(head) = lines.next() else { continue };
        let Some((_, symbol)) = head.trim_end_matches(">:").split_once('<') else { continue };
        let code: Vec<&str> = lines.map(str::trim).collect();
        let Some(last) = code.iter().rposition(|line| line.starts_with("s_endpgm")) else {
            continue;
        };
        let narrow = code.iter().filter(|line| line.starts_with("global_store_short")).count();
        counts.insert(symbol.to_owned(), (last as u64 + 1, narrow as u64));
    }
    Some(counts)
}

#[test]
fn variants_count_the_instructions_and_stores_that_objdump_prints() {
    let dir = tempfile::tempdir().unwrap();
    for arch in ["gfx942", "gfx950"] {
        let Some(expected) = disassembled(arch) else { return };
        let finished = run(dir.path(), &["kernel", "variants", "--arch", arch, "--json"]);
        assert_eq!(finished.status, 0, "{}", finished.stderr);
        let pairs: Vec<Value> = serde_json::from_str(&finished.stdout).unwrap();
        let absorb: Vec<&Value> = pairs
            .iter()
            .flat_map(|pair| [&pair["even"], &pair["ragged"]])
            .filter(|side| side["kernel"]["op"] == "absorb_bmm")
            .collect();
        // Two tiles, each even against ragged_wrap and against ragged_buffer.
        assert_eq!(absorb.len(), 8);
        for side in absorb {
            let id = side["kernel"]["id"].as_str().unwrap();
            let (instructions, narrow) = expected[id];
            assert_eq!(side["kernel"]["instructions"].as_u64(), Some(instructions), "{id} {arch}");
            assert_eq!(side["stores"]["2"].as_u64().unwrap_or(0), narrow, "{id} {arch}");
        }
    }
}

/// Even against ragged at the rows of the published pair. 16 heads x 256 row tiles x 2 column tiles
/// are 8192 workgroups; 2 * 16 * 16384 * 512 * 192 operations over the time are the matrix rate.
#[test]
fn two_kernels_are_profiled_side_by_side_with_a_picture_and_a_trace() {
    let dir = tempfile::tempdir().unwrap();
    let kernels = ["absorb_bmm_64x256_even", "absorb_bmm_64x256_ragged_wrap"];
    let shape = ["--m", "16384,16368", "--b", "16", "--n", "512", "--k", "192"];
    let files = ["--plot", "p.svg", "--trace", "t.json"];
    for arch in ["gfx942", "gfx950"] {
        let profile = [&["kernel", "profile"], &kernels[..], &["--arch", arch], &shape].concat();
        let finished = run(dir.path(), &[&profile[..], &files, &["--json"]].concat());
        assert_eq!(finished.status, 0, "{}", finished.stderr);
        let profiles: Vec<Value> = serde_json::from_str(&finished.stdout).unwrap();
        let time = |i: usize| profiles[i]["time_us"].as_f64().unwrap();
        assert!(time(1) > 1.5 * time(0), "{} {}", time(0), time(1));
        for profile in &profiles {
            assert_eq!(profile["workgroups"].as_u64(), Some(8192));
        }
        let flops = 2.0 * 16.0 * 16384.0 * 512.0 * 192.0;
        let matrix = profiles[0]["rates"][0]["reached"].as_f64().unwrap();
        assert!((matrix - flops / time(0) / 1e6).abs() < 1e-6 * matrix, "{matrix}");

        let svg = fs::read_to_string(dir.path().join("p.svg")).unwrap();
        assert!(kernels.iter().all(|kernel| svg.contains(kernel)));
        let trace: Value =
            serde_json::from_str(&fs::read_to_string(dir.path().join("t.json")).unwrap()).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        assert!(events.iter().any(|e| e["cat"] == "wait" && e["name"] == "wait vmcnt"));

        let finished = run(dir.path(), &profile);
        let words = format!("{} (b=16 m=16368 n=512 k=192) against", kernels[1]);
        assert!(finished.stdout.contains(&words), "{}", finished.stdout);
    }
}

#[test]
fn bad_arguments_of_a_profile_get_one_diagnosis() {
    let dir = tempfile::tempdir().unwrap();
    let even = "absorb_bmm_64x256_even";
    let cases: [(&[&str], i32, &str); 10] = [
        (&["nosuch", "--m", "64"], 2, "no kernel \"nosuch\""),
        (&[even, "--m", "100"], 2, "does not take b=16 m=100 n=512 k=192: m and n must be"),
        (&[even, "--m", "64", "--arch", "gfx90a"], 3, "unknown device"),
        (&["fill", "--m", "64"], 2, "only prepares inputs"),
        (&["indexer_topk", "--m", "64", "--n", "512"], 2, "--n is given"),
        (&[even, "--m", "64", "--prefix", "512"], 2, "no kernel of the indexer"),
        (&["indexer_topk", "--m", "64", "--topk", "4096"], 2, "top-k 4096"),
        (&[even, "--m", "64", "--kernels", "nosuch"], 4, "nosuch"),
        (&["absorb_bmm_64x256_ragged_wrap", "--m", "2147483647"], 2, "is too large"),
        (&["gemm_fp8_128x128_even", "--m", "128", "--b", "4"], 2, "no batched kernel"),
    ];
    for (arguments, status, words) in cases {
        let finished = run(dir.path(), &[&["kernel", "profile"], arguments].concat());
        assert_eq!(finished.status, status, "{arguments:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(words), "{arguments:?}: {}", finished.stderr);
        assert_eq!(finished.stderr.matches("error:").count(), 1, "{}", finished.stderr);
    }
}
