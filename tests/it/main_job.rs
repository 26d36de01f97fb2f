//! The main job from end to end on the simulator: files that agree with each other, and a run that
//! is killed and continued.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{run, tune};

/// A small grid: two chunks, two prefixes, and the model without absorbed projections.
const SMALL: [&str; 12] = [
    "--device",
    "gfx950",
    "--engine",
    "simulate",
    "--grid",
    "quick",
    "--model",
    "deepseek-v4.1",
    "--t",
    "256,512",
    "--l",
    "0,4096",
];

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn small(directory: &Path, more: &[&str]) -> crate::command::Finished {
    run(directory, &[&SMALL, more].concat())
}

#[test]
fn a_run_writes_files_that_carry_the_hash_of_its_profile() {
    let dir = tempfile::tempdir().unwrap();
    let finished = small(dir.path(), &["--out", "run"]);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    let first = finished.stdout.lines().next().unwrap();
    assert!(first.starts_with("gfx950: simulated (no GPU was used)"), "{first}");
    // What the model lacks is said: V4.1 has no absorbed projections and no published GEMM.
    let notes = ["no absorbed MLA projections", "gemm is not measured"];
    assert!(notes.iter().all(|note| finished.stdout.contains(note)), "{}", finished.stdout);
    let out = dir.path().join("run");
    let profile = fs::read(out.join("profile.parquet")).unwrap();
    let hash = chunktune::files::sha256_hex(&profile);
    for file in ["provenance.json", "fit.json", "sizer.json"] {
        assert_eq!(json(&out.join(file))["profile_sha256"], hash.as_str(), "{file}");
    }
    assert!(fs::read_to_string(out.join("tune.env")).unwrap().contains(&hash));
    let sizer = json(&out.join("sizer.json"));
    assert_eq!((&sizer["status"], &sizer["engine"]), (&"unvalidated".into(), &"simulated".into()));
    let plots: BTreeSet<String> = fs::read_dir(out.join("plots"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for plot in ["memory.svg", "schedule.svg", "frontier.svg"] {
        assert!(plots.contains(plot), "{plots:?}");
    }
}

#[test]
fn a_run_that_is_killed_continues_to_the_same_profile() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(small(dir.path(), &["--out", "whole"]).status, 0);
    let mut child = tune(dir.path(), &[&SMALL[..], &["--out", "killed"]].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let journal = dir.path().join("killed/journal.jsonl");
    let lines = || fs::read_to_string(&journal).unwrap_or_default().lines().count();
    let patience = Instant::now() + Duration::from_secs(300);
    // The header and three points of twelve.
    while lines() < 4 && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = lines();
    assert!((4..13).contains(&before), "{before} lines when it was killed");
    small(dir.path(), &["--out", "killed"]).fails_with(2, &["not empty", "--resume"]);
    let bytes = |run: &str| fs::read(dir.path().join(run).join("profile.parquet")).unwrap();
    let finished = small(dir.path(), &["--out", "killed", "--resume"]);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert_eq!(bytes("whole"), bytes("killed"));
}

#[test]
fn a_journal_of_another_run_is_not_continued() {
    let dir = tempfile::tempdir().unwrap();
    let short = ["--t", "256", "--l", "0"];
    let with = |more: &[&str]| run(dir.path(), &[&SMALL[..8], &short, more].concat());
    assert_eq!(with(&["--out", "run"]).status, 0);
    let out = ["--out", "run", "--resume"];
    let finished = small(dir.path(), &out);
    finished.fails_with(2, &["journal.jsonl", "this run has", "new directory"]);
}

/// A point whose rows were changed would pass for the case's and give a wrong gain.
#[test]
fn a_point_that_is_not_of_its_case_is_measured_again() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(small(dir.path(), &["--out", "run"]).status, 0);
    let file = |name: &str| dir.path().join("run").join(name);
    let before = fs::read(file("profile.parquet")).unwrap();
    let journal = fs::read_to_string(file("journal.jsonl")).unwrap();
    assert!(journal.contains("\"t\":256"), "{journal}");
    fs::write(file("journal.jsonl"), journal.replacen("\"t\":256", "\"t\":128", 1)).unwrap();
    let finished = small(dir.path(), &["--out", "run", "--resume"]);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert!(finished.stderr.contains("is of something else"), "{}", finished.stderr);
    assert_eq!(fs::read(file("profile.parquet")).unwrap(), before);
}

#[test]
fn json_on_stdout_is_all_json_and_names_the_engine() {
    let dir = tempfile::tempdir().unwrap();
    let short = ["--t", "256", "--l", "0,4096", "--json"];
    let finished = run(dir.path(), &[&SMALL[..8], &short].concat());
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    let summary: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(summary["provenance"]["engine"], "simulated");
    assert_eq!(summary["directory"], "chunktune-gfx950");
    assert!(finished.stderr.contains("no GPU was used"));
}

#[test]
fn an_adaptive_run_stops_at_its_time_limit_and_says_what_it_saved() {
    let dir = tempfile::tempdir().unwrap();
    // Shorter than any point: the first one measured is the last.
    let adaptive = ["--grid", "adaptive", "--time-limit", "0.001s", "--out", "run"];
    // `--grid quick` of the small run is replaced.
    let flags: Vec<&str> = SMALL
        .iter()
        .filter(|f| !["--grid", "quick"].contains(f))
        .chain(&adaptive)
        .copied()
        .collect();
    let finished = run(dir.path(), &flags);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert!(finished.stdout.contains("the time limit was reached"), "{}", finished.stdout);
    let notes = json(&dir.path().join("run/provenance.json"))["notes"].clone();
    assert!(notes.to_string().contains("of the default grid"), "{notes}");
    let wrong = run(dir.path(), &[&flags[..], &["--precision", "200%"]].concat());
    wrong.fails_with(2, &["--precision"]);
}
