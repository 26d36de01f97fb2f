//! `tune validate` on a small table and a wrapper of our own in AITER's place.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::tools::tool;

fn data(name: &str) -> String {
    format!("{}/tests/data/validate/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn tune(arguments: &[&str], cache: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tune"));
    command.arg("validate").args(arguments).env("TRITON_CACHE_DIR", cache).output().unwrap()
}

fn triton() -> bool {
    let Some(mut python) = tool("python3") else { return false };
    let there = python.args(["-c", "import triton"]).output().is_ok_and(|o| o.status.success());
    let required = std::env::var_os("CHUNKTUNE_REQUIRE_TOOLS").is_some_and(|v| v == "1");
    assert!(there || !required, "CHUNKTUNE_REQUIRE_TOOLS=1, but python3 has no triton");
    if !there {
        println!("skipped: python3 has no triton");
    }
    there
}

#[test]
fn every_row_of_the_split_is_simulated_or_listed_with_its_reason() {
    if !triton() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("out");
    let (timings, aiter) = (data("timings.csv"), data("aiter"));
    let out_text = out.display().to_string();
    let arguments = ["--timings", &timings, "--aiter", &aiter, "--out", &out_text, "--json"];
    let done = tune(&arguments, &scratch.path().join("cache"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let lines: Vec<u64> = rows.iter().map(|r| r["line"].as_u64().unwrap()).collect();
    // Line 4 belongs to the other split.
    assert_eq!(lines, [2, 3, 5, 6]);

    let launch = |row: usize| &rows[row]["result"]["launches"][0];
    for row in [0, 1] {
        // Tiles of 64 by 64 over 1024 by 1024.
        assert_eq!(launch(row)["workgroups"], 256);
        // 4.194 MB at 8 TB/s take longer than 1.074 Gflop at 2517 TF; at 5.3 TB/s they take 0.791 us,
        // less than the flop at 1307 TF.
        let roofline = rows[row]["result"]["roofline_us"].as_f64().unwrap();
        let expected = [4.194304 / 8.0, 1073.741824 / 1307.4][row];
        assert!((roofline - expected).abs() < 0.01, "{roofline} for {expected}");
    }
    // The gfx942 row was timed around a launch from Python.
    let time = rows[1]["result"]["time_us"].as_f64().unwrap();
    assert!(time > launch(1)["time_us"].as_f64().unwrap() + 10.0);
    let reason = |row: usize| rows[row]["reason"].as_str().unwrap();
    assert!(reason(2).contains("no gemm_a8w8_blockscale"), "{}", reason(2));
    assert!(reason(3).contains("hipcc"), "{}", reason(3));
    // Two rows validate nothing, and the report says so.
    assert!(report["groups"].as_array().unwrap().iter().all(|g| g["validated"] == false));
    for file in ["report.json", "table.txt", "plot.svg"] {
        assert!(out.join(file).exists(), "{file}");
    }
    let table = std::fs::read_to_string(out.join("table.txt")).unwrap();
    assert!(table.contains("unvalidated (fewer than 8 rows)"), "{table}");
}

#[test]
fn a_table_or_a_tree_that_is_not_there_is_named() {
    let cache = tempfile::tempdir().unwrap();
    let timings = data("timings.csv");
    let no_checkout = cache.path().to_str().unwrap();
    let done = tune(&["--timings", &timings, "--aiter", no_checkout], cache.path());
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stderr).contains("no AITER checkout"));
    let python = ["--aiter", &data("aiter"), "--python", "/bin/true"];
    let done = tune(&[&["--timings", &timings][..], &python].concat(), cache.path());
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stderr).contains("--python names"));
    let done = tune(&["--timings", "no/such.csv", "--aiter", "."], cache.path());
    assert_eq!(done.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&done.stderr).contains("no/such.csv"));
    let done = tune(&["--timings", &timings, "--aiter", "no/such/tree"], cache.path());
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stderr).contains("no/such/tree"));
    let wrong = cache.path().join("wrong.csv");
    std::fs::write(&wrong, "source,arch\nx,gfx950\n").unwrap();
    let done = tune(&["--timings", wrong.to_str().unwrap(), "--aiter", "."], cache.path());
    assert_eq!(done.status.code(), Some(4));
    for (text, words) in [
        ("", "the file is empty; expected a header"),
        ("source,arch,kernel,config,B,M,N,K,dtype,time_us,compiler,notes,split\n", "no row below"),
        (
            "source,arch,kernel,config,B,M,N,K,dtype,time_us,compiler,notes,split\n\
             s,gfx950,k,,,64,64,64,bf16,5,,,calibrate\n",
            "none of the 1 rows is of split report",
        ),
    ] {
        std::fs::write(&wrong, text).unwrap();
        let done = tune(&["--timings", wrong.to_str().unwrap(), "--aiter", "."], cache.path());
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(4));
        assert!(said.contains("wrong.csv") && said.contains(words), "{said}");
    }
}

/// A folder of compiled kernels, as the compiler leaves it, whose rows could not be compiled.
fn launches(timings: &str) -> Value {
    let hash = chunktune::files::sha256_hex(timings.as_bytes());
    serde_json::json!({
        "schema": "chunktune/validation-launches/v1",
        "compiler": "none",
        "aiter": null,
        "timings_sha256": hash,
        "rows": [{"line": 2, "reason": "too dark"}],
    })
}

#[test]
fn rows_that_are_none_are_named_with_line_and_column_before_any_work() {
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("table.csv");
    let kept = scratch.path().to_str().unwrap();
    let header = "source,arch,kernel,config,B,M,N,K,dtype,time_us,compiler,notes,split\n";
    let row = |b: &str, m: &str, us: &str| {
        format!("{header}s,gfx950,k,,{b},{m},64,64,bf16,{us},,,report\n")
    };
    let cases = [
        (row("1", "64", "0"), "line 2: time_us is 0"),
        (row("1", "64", "-5"), "line 2: time_us is -5"),
        (row("1", "64", "NaN"), "line 2: time_us is NaN"),
        (row("1", "64", "1e300"), "line 2: time_us is 1e300"),
        (row("1", "64", "1e-300"), "line 2: time_us is 1e-300"),
        (row("1", "64", "fast"), "line 2: time_us: invalid float"),
        (row("1", "0", "5"), "line 2: M is 0"),
        (row("99999999999", "64", "5"), "line 2: B is 99999999999"),
        (row("1", "-4", "5"), "line 2: M: invalid digit"),
        (format!("{header}a,b\n"), "line 2: it has 2 fields and the header 13"),
        (header.replace("time_us", "time_ms") + "x\n", "there is no column time_us"),
        (header.replace(',', ";"), "there is no column source"),
    ];
    for (text, words) in cases {
        std::fs::write(&table, text).unwrap();
        let arguments = ["--timings", table.to_str().unwrap(), "--launches", kept];
        let done = tune(&arguments, scratch.path());
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(4), "{said}");
        assert!(said.contains("table.csv") && said.contains(words), "{words}: {said}");
    }
}

/// Kernels are kept by line: of another table they would be compared with other rows' times.
#[test]
fn kernels_of_another_table_are_refused_and_a_validation_of_nothing_fails() {
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("table.csv");
    let kept = scratch.path().to_str().unwrap();
    let row = "s,gfx950,k,,1,64,64,64,bf16,5,,,report\n";
    let header = "source,arch,kernel,config,B,M,N,K,dtype,time_us,compiler,notes,split\n";
    let text = format!("{header}{row}{row}");
    std::fs::write(&table, &text).unwrap();
    let folder = scratch.path().join("launches.json");
    std::fs::write(&folder, launches(&text).to_string()).unwrap();
    let arguments = ["--timings", table.to_str().unwrap(), "--launches", kept];
    let done = tune(&arguments, scratch.path());
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(6), "{said}");
    assert!(said.contains("line 3 is line 2 again") && said.contains("none of the rows"), "{said}");
    let shown = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(shown.contains("k: too dark (lines 2)"), "{shown}");

    std::fs::write(&table, format!("{header}{row}")).unwrap();
    let done = tune(&arguments, scratch.path());
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(4), "{said}");
    assert!(said.contains("another table of timings") && said.contains("--keep"), "{said}");

    std::fs::write(scratch.path().join("file"), "").unwrap();
    let out = scratch.path().join("file/out");
    let done = tune(&[&arguments[..], &["--out", out.to_str().unwrap()]].concat(), scratch.path());
    assert_eq!(done.status.code(), Some(7));
    assert!(done.stdout.is_empty());
}
