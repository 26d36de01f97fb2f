//! `tune plan` against the field note, and its refusals.

use serde_json::Value;

use crate::command::run;

const NOTE: [&str; 9] = [
    "plan",
    "--budget",
    "2.0e8",
    "--chunk-min",
    "256",
    "--chunk-max",
    "2048",
    "--page-size",
    "256",
];

#[test]
fn the_field_notes_schedule_is_reproduced() {
    let dir = tempfile::tempdir().unwrap();
    let prefixes = "50000,97656,100000,195312,195313,390625,781250,781251";
    let finished = run(dir.path(), &[&NOTE[..], &["--at", prefixes, "--json"]].concat());
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    let report: Value = serde_json::from_str(&finished.stdout).unwrap();
    let chunks: Vec<Option<u64>> =
        report["at"].as_array().unwrap().iter().map(|at| at["chunk"].as_u64()).collect();
    // floor(2e8 / L) rounded down to 256; 256 * 781250 = 2.0e8 exactly.
    let expected = [2048, 2048, 1792, 1024, 768, 512, 256].map(Some);
    assert_eq!(chunks[..7], expected);
    assert_eq!(chunks[7], None);
    assert_eq!(report["max_context"], 781_250);
}

#[test]
fn the_text_says_where_it_ends() {
    let dir = tempfile::tempdir().unwrap();
    let finished = run(dir.path(), &NOTE);
    assert!(finished.stdout.contains("781250"), "{}", finished.stdout);
    assert!(finished.stdout.contains("the largest prefix that can be served"));
}

#[test]
fn plans_without_a_source_or_a_possible_chunk_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], status, words: &[&str]| {
        run(dir.path(), arguments).fails_with(status, words);
    };
    refused(&["plan"], 2, &["--budget"]);
    refused(&["plan", "--budget", "0"], 2, &["budget"]);
    refused(&["plan", "--budget", "255"], 2, &["255", "admits no chunk", "65536"]);
    refused(&["plan", "--budget", "-1"], 2, &["negative"]);
    refused(&["plan", "nowhere"], 4, &["nowhere", "no such file"]);
}

/// A BUDGET says all about memory: flags that would be ignored are not taken.
#[test]
fn flags_that_a_budget_makes_void_and_prompts_with_nobody_to_compare_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for void in [
        ["--free-bytes", "5GB"],
        ["--guard", "1GB"],
        ["--margin", "1GB"],
        ["--largest-block", "1GB"],
        ["--memory-path", "fp8"],
        ["--observations", "rows.csv"],
        ["--l-is", "prefix"],
    ] {
        let finished = run(dir.path(), &[&["plan", "--budget", "2e8"], &void[..]].concat());
        finished.fails_with(2, &["--budget", void[0]]);
    }
    let alone = run(dir.path(), &["plan", "--budget", "2e8", "--prompts", "32k"]);
    alone.fails_with(2, &["--against"]);
}

#[test]
fn a_context_of_no_tokens_and_a_profile_cut_short_are_refused_for_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let none = run(dir.path(), &["plan", "--budget", "2e8", "--context", "0"]);
    none.fails_with(2, &["--context", "no tokens"]);
    let whole =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/gfx950/profile.parquet"));
    std::fs::write(dir.path().join("cut.parquet"), &whole.unwrap()[..5000]).unwrap();
    let cut = run(dir.path(), &["plan", "cut.parquet"]);
    cut.fails_with(4, &["cut.parquet", "cut short"]);
    assert!(!cut.stderr.contains("provenance"), "{}", cut.stderr);
}

#[test]
fn the_table_comes_before_its_reasons() {
    let dir = tempfile::tempdir().unwrap();
    let profile = concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/gfx950");
    let finished = run(dir.path(), &["plan", profile, "--largest-block", "100MB"]);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    let at = |words: &str| finished.stdout.find(words).unwrap_or_else(|| panic!("{words}"));
    assert!(at("prefix") < at("largest prefix that can be served: "));
    assert!(at("largest prefix that can be served: ") < at("The memory path"));
    let words = finished.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the block ends the frontier"), "{words}");
}

#[test]
fn observations_without_a_peak_are_said_to_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let profile = concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/gfx950");
    std::fs::write(
        dir.path().join("rows.csv"),
        "T,L,outcome,free,guard\n2048,133k,guard,4.9GB,1.5GB\n",
    )
    .unwrap();
    let plan = |more: &[&str]| run(dir.path(), &[&["plan", profile], more].concat());
    let bounded = plan(&["--observations", "rows.csv"]);
    assert_eq!(bounded.status, 0, "{}", bounded.stderr);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&bounded.stdout).contains("give no memory model"), "{}", bounded.stdout);
    assert!(words(&bounded.stdout).contains("no peak was measured"), "{}", bounded.stdout);
    assert!(!words(&plan(&[]).stdout).contains("no memory model"));
}
