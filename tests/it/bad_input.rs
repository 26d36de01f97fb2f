//! Every bad input gets one clear message and a documented status, and damages nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::command::run;

const USAGE: i32 = 2;
const NO_DEVICE: i32 = 3;
const FORMAT: i32 = 4;
const OUTPUT: i32 = 7;

/// Runs in an empty directory, and asserts that nothing was written into it.
#[track_caller]
fn refused(arguments: &[&str], status: i32, words: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), arguments).fails_with(status, words);
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn no_device_at_all_asks_for_one() {
    refused(&[], USAGE, &["--device"]);
}

#[test]
fn an_unknown_device_lists_the_known_ones() {
    refused(&["--device", "gfx1100"], NO_DEVICE, &["gfx1100", "gfx942 (MI300X)", "tune devices"]);
}

#[test]
fn an_unknown_model_lists_the_presets() {
    let arguments = ["--device", "gfx950", "--model", "gpt-2"];
    refused(&arguments, USAGE, &["gpt-2", "glm-5.2", "config.json"]);
}

#[test]
fn an_unknown_flag_and_an_unknown_value_are_named() {
    refused(&["--device", "gfx950", "--frobnicate"], USAGE, &["--frobnicate"]);
    refused(
        &["--device", "gfx950", "--grid", "huge"],
        USAGE,
        &["huge", "quick, adaptive, default, full"],
    );
    refused(&["--device", "gfx950", "--engine", "magic"], USAGE, &["magic", "hardware"]);
}

#[test]
fn flags_without_effect_in_their_mode_are_refused() {
    let quick = ["--device", "gfx950", "--grid", "quick"];
    refused(&[&quick[..], &["--precision", "1%"]].concat(), USAGE, &["--precision", "adaptive"]);
    refused(&[&quick[..], &["--time-limit", "5m"]].concat(), USAGE, &["--time-limit", "adaptive"]);
    let prefix = ["--l-is", "prefix"];
    refused(&[&quick[..], &prefix].concat(), USAGE, &["--observations"]);
    refused(&[&["emit", "x"][..], &prefix].concat(), USAGE, &["--observations"]);
    refused(&["kernel", "check", "--verbose", "--json"], USAGE, &["--verbose", "--json"]);
    let compiled = ["validate", "--timings", "x", "--launches", "y", "--python", "z"];
    refused(&compiled, USAGE, &["--launches", "--python"]);
}

#[test]
fn flags_of_the_doctor_that_cannot_be_are_named() {
    let with = |flags: &'static str, more: &[&'static str]| {
        [&["doctor", "--flags", flags][..], more].concat()
    };
    refused(&with("--tp 4", &["--block-m", "0"]), USAGE, &["--block-m", "0 is not in 1"]);
    refused(&with("--tp 4", &["--truncation-align", "0"]), USAGE, &["--truncation-align"]);
    refused(&with("--tp 4", &["--truncation-align", "-64"]), USAGE, &["--truncation-align"]);
    refused(&with("--tp 4", &["--decode-rows", "8"]), USAGE, &["--enable-mixed-chunk"]);
    refused(&with("--tp 4", &["--profile", "x"]), USAGE, &["--profile", "--sizer"]);
    let dir = tempfile::tempdir().unwrap();
    for flags in ["--tp 0", "--page-size -1", "--pp 0", "--context-length 0", "--dp x"] {
        let finished = run(dir.path(), &["doctor", "--flags", flags]);
        assert_eq!(finished.status, 6, "{flags}: {}", finished.stdout);
        assert!(finished.stdout.contains("not_a_number"), "{}", finished.stdout);
    }
}

#[test]
fn negative_overflowing_and_unreadable_sizes_are_named() {
    let with = |flag, value| ["--device", "gfx950", flag, value];
    refused(&with("--free-bytes", "-5GB"), USAGE, &["--free-bytes", "negative"]);
    refused(&with("--free-bytes", "1e30"), USAGE, &["--free-bytes", "too large"]);
    refused(&with("--guard", "lots"), USAGE, &["--guard", "5GB"]);
    refused(&with("--margin", "5 parsecs"), USAGE, &["--margin", "parsecs", "GiB"]);
    refused(&with("--chunk-max", "1.5"), USAGE, &["--chunk-max", "whole number"]);
    refused(&with("--tp", "-1"), USAGE, &["--tp"]);
    refused(&with("--tp", "99999999999"), USAGE, &["--tp"]);
}

#[test]
fn limits_that_contradict_each_other_name_the_flags() {
    let with = |flag, value| ["--device", "gfx950", flag, value];
    refused(&with("--free-bytes", "2GB"), USAGE, &["--free-bytes", "--guard", "--margin"]);
    refused(&with("--chunk-min", "4096"), USAGE, &["--chunk-min", "--chunk-max"]);
    refused(&with("--page-size", "0"), USAGE, &["--page-size"]);
    refused(&with("--page-size", "300"), USAGE, &["multiple", "--page-size"]);
    refused(&with("--tp", "3"), USAGE, &["num_attention_heads", "3"]);
    refused(&with("--dp-attention", "3"), USAGE, &["--dp-attention 3"]);
}

#[test]
fn a_chunk_of_no_rows_is_refused_and_says_that_a_prefix_of_none_is_fine() {
    refused(&["--device", "gfx950", "--t", "0"], USAGE, &["--t 0", "--l) of 0 is fine"]);
}

#[test]
fn lengths_and_grids_too_large_are_refused_with_the_limit() {
    let with = |flag, value| ["--device", "gfx950", flag, value];
    refused(&with("--l", "100000M"), USAGE, &["--l", "67108864"]);
    refused(
        &["--device", "gfx950", "--t", "60M", "--l", "60M", "--engine", "simulate"],
        USAGE,
        &["too large", "2^44"],
    );
    let many: Vec<String> = (1..=200).map(|n| n.to_string()).collect();
    let many = many.join(",");
    refused(
        &["--device", "gfx950", "--t", &many, "--l", &many, "--engine", "simulate"],
        USAGE,
        &["the limit is 20000", "--t or --l"],
    );
}

#[test]
fn a_directory_that_holds_something_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("precious"), "data").unwrap();
    let out = ["--device", "gfx950", "--engine", "simulate", "--out", "."];
    run(dir.path(), &out).fails_with(USAGE, &["not empty", "--out"]);
    assert_eq!(fs::read_to_string(dir.path().join("precious")).unwrap(), "data");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_directory_that_cannot_be_made_is_an_output_error() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let out = ["--device", "gfx950", "--engine", "simulate", "--out", "file/run"];
    run(dir.path(), &out).fails_with(OUTPUT, &["cannot write", "file/run"]);
}

#[test]
fn a_device_number_means_hardware() {
    let arguments = ["--device", "gfx950", "--engine", "simulate", "--gpu", "1"];
    refused(&arguments, USAGE, &["--gpu", "hardware"]);
}

#[test]
fn an_unknown_target_is_refused_alike_by_every_command() {
    for command in ["list", "check"] {
        refused(
            &["kernel", command, "--arch", "gfx999"],
            NO_DEVICE,
            &["gfx999", "gfx942 (MI300X)"],
        );
    }
}

#[test]
fn an_output_directory_that_a_plan_would_not_use_is_refused() {
    refused(&["plan", "run", "--out", "sizer"], USAGE, &["--out", "PROFILE"]);
}

#[test]
fn what_is_no_profile_is_named_with_what_to_give() {
    refused(&["plan", "/dev/null"], FORMAT, &["/dev/null", "help: name the directory of a run"]);
}

#[test]
fn a_message_does_not_repeat_a_long_value() {
    let dir = tempfile::tempdir().unwrap();
    let long = "9".repeat(100_000);
    for flag in ["--free-bytes", "--l", "--model"] {
        let finished = run(dir.path(), &["--device", "gfx950", flag, &long]);
        finished.fails_with(USAGE, &["9999"]);
        assert!(finished.stderr.len() < 3000, "{flag}: {} bytes", finished.stderr.len());
    }
}

#[test]
fn a_runtime_cut_short_is_refused_and_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let whole = fs::read(env!("CARGO_BIN_EXE_tune")).unwrap();
    for length in [3, 100, 5000, 200_000] {
        fs::write(dir.path().join("libamdhip64.so"), &whole[..length]).unwrap();
        let finished = run(dir.path(), &["devices", "--hip-lib", "./libamdhip64.so"]);
        assert_eq!(finished.status, 0, "{}", finished.stderr);
        let reason = if length < 4 { "no ELF header" } else { "cut short" };
        assert!(finished.stdout.contains(reason), "{}", finished.stdout);
    }
}

/// A journal cut where a machine that lost power may leave it.
#[test]
fn a_journal_without_its_first_line_is_started_over() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["--device", "gfx950", "--engine", "simulate", "--model", "deepseek-v4.1"];
    let lengths = ["--t", "256", "--l", "0", "--out", "run"];
    let arguments = [&arguments[..], &lengths].concat();
    assert_eq!(run(dir.path(), &arguments).status, 0);
    let journal = dir.path().join("run/journal.jsonl");
    let whole = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, &whole[..30]).unwrap();
    let finished = run(dir.path(), &[&arguments[..], &["--resume"]].concat());
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert!(finished.stderr.contains("starts over"), "{}", finished.stderr);
    // Points come in the order in which they were finished.
    let sorted = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(sorted(&fs::read_to_string(&journal).unwrap()), sorted(&whole));
}

#[test]
fn a_time_limit_is_only_for_the_adaptive_grid() {
    let arguments = ["--device", "gfx950", "--engine", "simulate", "--time-limit", "5s"];
    refused(&arguments, USAGE, &["--time-limit", "--grid adaptive"]);
    let arguments = ["--device", "gfx950", "--engine", "simulate", "--precision", "1%"];
    refused(&arguments, USAGE, &["--precision", "--grid adaptive"]);
}

/// The observations of a run are read before it, and again after it.
#[test]
fn what_can_be_read_only_once_is_refused_before_a_run() {
    let arguments = ["--device", "gfx950", "--engine", "simulate", "--observations", "/dev/null"];
    refused(&arguments, FORMAT, &["/dev/null", "read more than once"]);
}

#[test]
fn nothing_to_resume_is_said() {
    let arguments = ["--device", "gfx950", "--engine", "simulate", "--resume"];
    refused(&arguments, USAGE, &["chunktune-gfx950", "--out"]);
}

#[test]
fn a_config_that_is_not_one_is_a_format_error_with_the_field() {
    let dir = tempfile::tempdir().unwrap();
    let with = |path| ["--device", "gfx950", "--engine", "simulate", "--model", path];
    fs::write(dir.path().join("torn.json"), "{\"hidden_size\": 61").unwrap();
    run(dir.path(), &with("torn.json")).fails_with(FORMAT, &["torn.json", "not valid JSON"]);
    fs::write(dir.path().join("empty.json"), "{}").unwrap();
    run(dir.path(), &with("empty.json")).fails_with(FORMAT, &["empty.json", "hidden_size"]);
}

#[test]
fn a_runtime_that_is_not_there_is_named_and_the_simulator_offered() {
    let with = |engine| {
        ["--device", "gfx950", "--engine", engine, "--hip-lib", "/nonexistent/libamdhip64.so"]
    };
    for engine in ["hardware", "auto"] {
        let words = ["/nonexistent/libamdhip64.so", "--engine simulate"];
        refused(&with(engine), NO_DEVICE, &words);
    }
    refused(&with("simulate"), USAGE, &["--engine simulate", "--hip-lib"]);
}

const PROFILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/gfx950");
const BOOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/field/boots.csv");

#[test]
fn the_same_observations_twice_are_no_new_evidence() {
    refused(&["fit", BOOTS, BOOTS], USAGE, &["boots.csv", "hold the same rows"]);
    let planned = ["plan", PROFILE, "--observations", BOOTS, "--observations", BOOTS];
    refused(&planned, USAGE, &["hold the same rows"]);
}

#[test]
fn observations_that_a_memory_path_leaves_out_are_said_to_be() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["plan", PROFILE, "--observations", BOOTS, "--memory-path", "dense"];
    let finished = run(dir.path(), &arguments);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    let said = finished.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("are not used: the memory path `dense` was asked for"), "{said}");
}

#[test]
fn chunks_that_are_no_whole_pages_of_the_model_make_no_settings() {
    // SGLang 0.5.23 gives GLM-5.2 pages of 64.
    let page = ["--page-size", "32", "--chunk-min", "32", "--chunk-max", "96"];
    let emit = ["emit", PROFILE, "--format", "env", "--sglang-version", "0.5.23"];
    refused(&[&emit[..], &page].concat(), USAGE, &["pages of 64", "give --page-size 64"]);
    let run = ["--device", "gfx950"];
    refused(&[&run[..], &page].concat(), USAGE, &["pages of 64", "give --page-size 64"]);
}

#[test]
fn a_kernel_may_be_named_after_its_rows_and_a_third_number_of_them_is_refused() {
    refused(&["kernel", "profile", "--m", "256", "nope"], USAGE, &["nope", "tune kernel list"]);
    refused(&["kernel", "profile", "x", "--m", "1,2,3"], USAGE, &["3 is a third"]);
    let spaced = ["kernel", "profile", "x", "y", "--m", "1", "2"];
    refused(&spaced, USAGE, &["\"2\" is a third", "--m 16384,16368"]);
    refused(&["kernel", "profile", "x", "--m", "-1"], USAGE, &["--m", "negative"]);
    refused(&["kernel", "profile", "x", "--m", "1", "--prefix", "-5"], USAGE, &["--prefix"]);
    let twice = ["kernel", "profile", "x", "--m", "1", "--plot", "a", "--trace", "a"];
    refused(&twice, USAGE, &["--plot and --trace"]);
}

#[test]
fn a_profile_is_not_replaced_by_the_plot_of_its_comparison_and_is_known_as_itself() {
    let profiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles");
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("run")).unwrap();
    for file in ["profile.parquet", "provenance.json"] {
        fs::copy(profiles.join("gfx942").join(file), dir.path().join("run").join(file)).unwrap();
    }
    for plot in ["run/profile.parquet", "run/../run/provenance.json"] {
        let arguments = ["compare", "run", "run", "--plot", plot];
        run(dir.path(), &arguments).fails_with(USAGE, &["--plot", "what is read"]);
    }
    let finished = run(dir.path(), &["compare", "run", "run/profile.parquet", "--plot", "a.svg"]);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    let lines: Vec<&str> = finished.stdout.lines().collect();
    assert!(lines[1].contains("glm-5.2, tp 4, dp 1, cp 1"), "{}", finished.stdout);
    assert!(lines[4].contains("the same profile"), "{}", finished.stdout);
    assert_eq!(lines.last(), Some(&"wrote a.svg"));
}
