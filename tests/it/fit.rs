//! `tune fit` on the field note's boots, on the public cases, in every format, and on bad rows.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::{Finished, run};

const LIMITS: [&str; 6] = ["--free-bytes", "4.75GB", "--guard", "1.5GB", "--margin", "0.5GB"];

fn field(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles/field").join(name)
}

fn fit(directory: &Path, file: &Path, more: &[&str]) -> Finished {
    let file = file.to_str().unwrap();
    run(directory, &[&["fit", file], &LIMITS[..], more].concat())
}

fn fit_text(text: &str, more: &[&str]) -> Finished {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows.csv");
    fs::write(&file, text).unwrap();
    fit(dir.path(), &file, more)
}

#[test]
fn the_four_boots_give_c_and_both_budgets_under_their_names() {
    let dir = tempfile::tempdir().unwrap();
    let finished = fit(dir.path(), &field("boots.csv"), &["--json"]);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    let report: Value = serde_json::from_str(&finished.stdout).unwrap();
    let figure = |name: &str| report[name].as_f64().unwrap();
    // Least squares on the two peaks alone gives 13.3; 2.75e9 B over c is BUDGET.
    assert!((12.5..14.6).contains(&figure("c_point")), "{}", report["c_point"]);
    let interval = &report["c_interval"];
    assert!(interval[0].as_f64().unwrap() < 13.3 && 13.3 < interval[1].as_f64().unwrap());
    assert!((1.8e8..2.1e8).contains(&figure("budget_point")));
    assert!((1.6e8..1.8e8).contains(&figure("budget_95")));
    let coefficients = report["memory"][0]["coefficients"].as_object().unwrap();
    assert!(coefficients.values().all(|c| c.as_f64().unwrap() >= 0.0), "{coefficients:?}");
    let statements = report["memory"][0]["statements"].to_string();
    assert!(statements.contains("cannot separate a fixed m0 from c"), "{statements}");
    assert!(statements.contains("2 of 2 rows that only bound the peak"), "{statements}");
    assert_eq!(report["l_is"], "context");
}

#[test]
fn the_text_shows_budget_chances_decisions_and_the_next_chunk_to_measure() {
    let dir = tempfile::tempdir().unwrap();
    let more = ["--dp-attention", "4", "--largest-block", "512MiB", "--weights", "90GB"];
    let finished = fit(dir.path(), &field("boots.csv"), &more);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    for words in [
        "budget_95",
        "--chunked-prefill-size 8192",
        "fp32 scores fit it up to 1.34e8",
        "copy budget 256 MiB",
        "keys in blocks of 8192",
        "Chance of staying under the guard",
        "Measure next",
        "weights",
        "--l-is prefix",
    ] {
        assert!(finished.stdout.contains(words), "`{words}` is not in:\n{}", finished.stdout);
    }
}

#[test]
fn free_memory_follows_from_what_holds_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let file = field("boots.csv");
    let arguments = ["fit", file.to_str().unwrap(), "--json", "--unified-memory", "--total-bytes"];
    let holders = ["128GB", "--weights", "117GB", "--kv-touched", "2GB", "--kv-reserved", "20GB"];
    let finished = run(dir.path(), &[&arguments[..], &holders, &["--processes", "4GB"]].concat());
    let report: Value = serde_json::from_str(&finished.stdout).unwrap();
    // 128 - 117 - 2 - 4 = 5 GB, of which 2 GB are guard and margin.
    assert_eq!(report["usable_bytes"], 3_000_000_000u64, "{}", finished.stderr);
}

#[test]
fn a_measured_peak_beyond_paper_is_said_and_used() {
    let dir = tempfile::tempdir().unwrap();
    let finished = fit(dir.path(), &field("field_cases.csv"), &["--json"]);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    let report: Value = serde_json::from_str(&finished.stdout).unwrap();
    let systems = report["memory"].as_array().unwrap();
    let of = |issue: &str| systems.iter().find(|m| m["path"].as_str().unwrap().contains(issue));
    let a06 = of("sglang#39187").unwrap();
    // A06: 49.7e9 / (16384 * 300,000) = 10.1 B measured, 6 B on paper.
    assert!((a06["c"]["point"].as_f64().unwrap() - 10.1).abs() < 0.1);
    assert!(a06["statements"].to_string().contains("On paper the buffers cost 6 B"));
    let remarks = report["remarks"].as_array().unwrap();
    assert!(remarks.len() < 12, "{remarks:?}");
    assert!(report["rate_remarks"].to_string().contains("another definition"));
}

#[test]
fn rows_that_tell_nothing_are_refused_with_a_reason_and_never_fitted() {
    let refused = |text: &str, words: &[&str]| fit_text(text, &[]).fails_with(4, words);
    refused("T,L,peak\n", &["no rows"]);
    refused("T,L,outcome,limit\n2048,100k,oom,3 GB\n1024,9k,ok,3 GB\n", &["no peak was measured"]);
    refused("T,L,peak\n0,100k,3 GB\n-5,100k,3 GB\n", &["no row could be understood"]);
    refused("T,L,peak\n2048,NaN,3 GB\n2048,100k,NaN\n", &["no row could be understood"]);
    refused("T,L,peak\n2048,100k,2.97\n", &["is the unit missing?"]);
    refused("T,L,peak\n1000000000000,1000000000000,8 GB\n", &["line 2", "is too long"]);
    refused("T,L,peak\n2048,100k,3 XB\n", &["line 2, column `peak`", "unknown unit"]);
    fit_text("T,L,peak\n2048,100k,3 GB\n", &["--free-bytes", "1GB"]).fails_with(2, &[]);
}

#[test]
fn one_row_gives_a_wide_interval_and_a_frontier_without_a_chunk_no_plan() {
    let report = |text: &str| -> Value {
        let finished = fit_text(text, &["--json"]);
        assert_eq!(finished.status, 0, "{}", finished.stderr);
        serde_json::from_str(&finished.stdout).unwrap()
    };
    let one = report("T,L,peak\n2048,100k,2.97 GB\n");
    assert!(one["c_95"].as_f64().unwrap() > 1.1 * one["c_point"].as_f64().unwrap());
    assert_eq!(one["c_interval"][0], 0.0);
    let full = report("T,L,peak\n256,256,300 GB\n256,512,600 GB\n");
    assert!(full["error"].as_str().unwrap().contains("even a chunk of 256 tokens"), "{full}");
}

#[test]
fn contradictory_rows_are_named_by_line_and_give_no_model() {
    let text = "T,L,peak,outcome,limit\n1024,100k,,oom,3 GB\n2048,200k,2.5 GB,ok,3 GB\n\
                1024,50k,1 GB,ok,3 GB\n1024,50k,2 GB,ok,3 GB\n";
    let words = ["scatter by", "line 2: oom at T=1024 L=100000", "lines 4 and 5: the same chunk"];
    fit_text(text, &[]).fails_with(4, &words);
}

/// D04 of the field cases: the first profiled point pays for compilation.
#[test]
fn times_without_a_prefix_are_fitted_with_the_first_run_set_aside() {
    let rows = "7680,7234073\n7620,220713\n7560,216894\n7500,213919\n7440,213977\n\
                7380,210946\n7320,210025\n7260,208522\n";
    let empty: String = rows.lines().map(|row| row.replace(',', ",,") + "\n").collect();
    for text in [format!("T,time_us\n{rows}"), format!("T,L,time_us\n{empty}")] {
        let finished = fit_text(&text, &["--json"]);
        assert_eq!(finished.status, 0, "{}", finished.stderr);
        let report: Value = serde_json::from_str(&finished.stdout).unwrap();
        let latency = &report["latency"][0];
        assert_eq!(latency["set_aside"], 1);
        let of = |name: &str| latency["model"][name].as_f64().unwrap();
        let (a0, a1, a4) = (of("a0_us"), of("a1_us_per_t"), of("a4_us_per_t2"));
        let at = a0 + a1 * 7680.0 + a4 * 7680.0 * 7680.0;
        assert!((at / 222_000.0 - 1.0).abs() < 0.05, "{at}");
    }
}

#[test]
fn what_no_context_can_be_is_said_by_line() {
    let finished = fit_text("T,L,peak\n2048,100k,2.97 GB\n1024,0,15 MB\n", &["--json"]);
    let report: Value = serde_json::from_str(&finished.stdout).unwrap();
    let remarks = report["remarks"].to_string();
    assert!(remarks.contains("shorter than the chunk itself in line 3"), "{remarks}");
    let prefix = fit_text("T,prefix,peak\n2048,100k,2.97 GB\n1024,0,15 MB\n", &["--json"]);
    assert!(!prefix.stdout.contains("shorter than the chunk"), "{}", prefix.stdout);
}

#[test]
fn figures_that_would_be_ignored_or_allow_nothing_are_refused() {
    let boots = field("boots.csv");
    let dir = tempfile::tempdir().unwrap();
    let refused =
        |more: &[&str], words: &[&str]| fit(dir.path(), &boots, more).fails_with(2, words);
    refused(&["--context", "0"], &["--context", "no tokens"]);
    refused(&["--context", "1e12"], &["--context", "67108864"]);
    refused(&["--key-block", "0"], &["--key-block"]);
    refused(&["--score-budget", "0"], &["--score-budget"]);
    refused(&["--row-budget", "0"], &["--row-budget"]);
    refused(&["--largest-block", "0"], &["--largest-block"]);
    refused(&["--total-bytes", "128GB"], &["--weights"]);
    fit_text("T;L;peak\n2048;100k;2,97 GB\n", &[]).fails_with(4, &["semicolons"]);
}

#[test]
fn a_largest_block_ends_the_schedule_and_takes_chances_away() {
    let dir = tempfile::tempdir().unwrap();
    let of = |more: &[&str]| -> Value {
        let finished = fit(dir.path(), &field("boots.csv"), &[more, &["--json"]].concat());
        assert_eq!(finished.status, 0, "{}", finished.stderr);
        serde_json::from_str(&finished.stdout).unwrap()
    };
    let tight = of(&["--largest-block", "200MB"]);
    // 200 MB / 4 B = 5e7 (row, key), 256 * 195,312 at the end of the chunk.
    assert_eq!(tight["schedule"]["max_context"], 195_312 - 256);
    assert_eq!(tight["budget_of_largest_block"], 50_000_000);
    let gone = |c: &Value| c["t"] == 256 && c["l"] == 262_144 && c["under_guard"] == 0.0;
    assert!(tight["chances"].as_array().unwrap().iter().any(gone));
    let loose = of(&["--largest-block", "3GB"]);
    assert_eq!(loose["schedule"], of(&[])["schedule"]);
    let none = of(&["--largest-block", "1kB"]);
    assert!(none["error"].as_str().unwrap().contains("largest free block"), "{none}");
}

#[test]
fn the_profile_of_a_run_is_not_taken_for_observations() {
    let dir = tempfile::tempdir().unwrap();
    let profile = concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/gfx950/profile.parquet");
    let finished = fit(dir.path(), Path::new(profile), &[]);
    finished.fails_with(4, &["profile.parquet", "`tune plan`"]);
}

#[test]
fn a_c_that_no_engine_takes_is_questioned() {
    // 500 GB over 2048 * 1e5 (row, key) is 2441 B.
    let absurd = fit_text("T,L,peak\n2048,100k,500GB\n1024,100k,250GB\n", &[]);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&absurd.stdout).contains("check the units"), "{}", absurd.stdout);
    let usual = fit_text("T,L,peak\n2048,100k,2.97GB\n1024,100k,1.48GB\n", &[]);
    assert!(!words(&usual.stdout).contains("check the units"), "{}", usual.stdout);
}

/// The same peak; the chunk that the guard killed had 4.75 - 1.5 = 3.25 GB, which asks for at least
/// 3.25e9 / (2048 * 131072) = 12.1 B per (row, key) of a chunk of this form.
#[test]
fn a_guard_without_a_record_of_the_memory_counts_with_what_is_stated_free_and_is_said_to() {
    let rows = "T,L,peak,outcome\n1024,131072,,ok\n1024,65536,0.5 GB,ok\n2048,131072,,guard\n";
    let report: Value = serde_json::from_str(&fit_text(rows, &["--json"]).stdout).unwrap();
    let remarks = report["remarks"].to_string();
    assert!(remarks.contains("not recorded in line 4: the 4.75 GB"), "{remarks}");
    assert!(remarks.contains("learned from line 2:"), "{remarks}");
    let without = rows.replace("2048,131072,,guard\n", "");
    let alone: Value = serde_json::from_str(&fit_text(&without, &["--json"]).stdout).unwrap();
    let c = |report: &Value| report["c_95"].as_f64().unwrap();
    assert!(c(&report) > c(&alone), "{} against {}", report["c_95"], alone["c_95"]);
}
