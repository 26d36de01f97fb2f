//! `tune admit`: recordings, scenarios and traces.

use std::path::Path;

use super::command::run;

const ADMISSION: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sglang-0.5.23-admission.json");
const SIZER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sglang-0.5.23-sizer.json");
const HEADER: &str = "arrival,prompt,cached_prefix,output\n";

fn write(directory: &Path, name: &str, text: &str) {
    std::fs::write(directory.join(name), text).unwrap();
}

/// The JSON of a replay with exact fill off, or on.
fn replay(directory: &Path, name: &str, flags: &[&str]) -> serde_json::Value {
    let mut arguments = vec!["admit", "--trace", name, "--json"];
    arguments.extend(flags);
    let finished = run(directory, &arguments);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    serde_json::from_str(&finished.stdout).unwrap()
}

#[test]
fn both_recordings_are_told_apart_and_reproduced_and_a_difference_is_status_1() {
    let directory = tempfile::tempdir().unwrap();
    let scheduler = run(directory.path(), &["admit", "--oracle", ADMISSION]);
    assert_eq!(scheduler.status, 0, "{}", scheduler.stdout);
    let counts = [
        "scenarios         727",
        "passes          10367",
        "events          25652",
        "mismatches          0",
    ];
    for count in counts {
        assert!(scheduler.stdout.contains(count), "{}", scheduler.stdout);
    }
    let sizer = run(directory.path(), &["admit", "--oracle", SIZER]);
    assert_eq!(sizer.status, 0, "{}", sizer.stdout);
    assert!(sizer.stdout.contains("predictions      5760"), "{}", sizer.stdout);
    // One prediction changed by a page.
    let text = std::fs::read_to_string(SIZER).unwrap().replacen("8128", "8064", 1);
    write(directory.path(), "changed.json", &text);
    let changed = run(directory.path(), &["admit", "--oracle", "changed.json"]);
    assert_eq!(changed.status, 1);
    assert!(changed.stdout.contains("recorded 8064, computed 8128"), "{}", changed.stdout);
}

#[test]
fn scenarios_without_passes_are_decided() {
    let directory = tempfile::tempdir().unwrap();
    let scenario = r#"{"scenarios": [{"id": 7, "exact": EXACT, "page": 64, "chunk": 16384,
        "max_prefill": 16384, "prompts": [8100, 8100, 8100], "hits": null, "max_new": 1,
        "pmr": null, "kv": 100000, "sizer": null}]}"#;
    // The documented example: 16328 rows for 16384 charged, and 16384 with exact fill.
    for (exact, rows) in [("0", "rows  16328"), ("1", "rows  16384")] {
        write(directory.path(), "scenario.json", &scenario.replace("EXACT", exact));
        let decided = run(directory.path(), &["admit", "--scenarios", "scenario.json"]);
        assert_eq!(decided.status, 0, "{}", decided.stderr);
        let first = decided.stdout.lines().nth(1).unwrap();
        assert!(first.contains(rows) && first.contains("chunk 16384 -> 0"), "{first}");
    }
    write(
        directory.path(),
        "scenario.json",
        &scenario.replace("\"kv\"", "\"priority\": 3, \"kv\"").replace("EXACT", "0"),
    );
    run(directory.path(), &["admit", "--scenarios", "scenario.json"])
        .fails_with(1, &["scenario 7", "`priority`: 3", "refused, not guessed"]);
    // A billion passes of one row would fill the memory.
    let long = [
        ("100000", "4000000000"),
        ("8100, 8100, 8100", "1000000000"),
        ("16384", "1"),
        ("\"page\": 64", "\"page\": 1"),
        ("EXACT", "0"),
    ]
    .iter()
    .fold(scenario.to_owned(), |text, (old, new)| text.replace(old, new));
    write(directory.path(), "scenario.json", &long);
    run(directory.path(), &["admit", "--scenarios", "scenario.json"])
        .fails_with(1, &["scenario 7", "more than 262144 passes", "as a trace"]);
}

#[test]
fn a_trace_leaks_what_page_rounding_charges_and_exact_fill_runs_full_tiles() {
    let directory = tempfile::tempdir().unwrap();
    let lines: String = (0..20).map(|i| format!("{i},8100,0,10\n")).collect();
    write(directory.path(), "trace.csv", &format!("{HEADER}{lines}"));
    let report = replay(directory.path(), "trace.csv", &[]);
    let (off, on) = (&report["runs"][0], &report["runs"][1]);
    // 162000 rows: ten passes of at most 16384 either way. With exact fill nine are full, each a
    // multiple of 256, and nothing leaks; without it, every pass ends on a page of a request that
    // began off a page.
    assert_eq!((on["rows"].as_i64(), on["passes"].as_i64()), (Some(162_000), Some(10)));
    assert_eq!((on["leaked"].as_i64(), on["even"][3].as_i64()), (Some(0), Some(9)));
    assert_eq!((off["rows"].as_i64(), off["exact_fill"].as_bool()), (Some(162_000), Some(false)));
    assert!(off["leaked"].as_i64().unwrap() > 0);
    let flags = ["--exact-fill", "off", "--passes", "passes.csv"];
    replay(directory.path(), "trace.csv", &flags);
    let passes = std::fs::read_to_string(directory.path().join("passes.csv")).unwrap();
    let mut passes = passes.lines();
    assert_eq!(
        passes.next(),
        Some("pass,start_ms,requests,m,leaked,even_32,even_64,even_128,even_256")
    );
    // 8100 + 8100 + 128 rows for 16384 charged.
    assert_eq!(passes.next(), Some("0,,3,16328,56,0,0,0,0"));
}

#[test]
fn azure_traces_have_no_prefix_and_mooncake_blocks_give_the_longest_common_run() {
    let directory = tempfile::tempdir().unwrap();
    let azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n\
                 2023-11-16 18:15:46.6805900,4808,10\n2023-11-16 18:15:50.9951690,3180,8\n";
    write(directory.path(), "azure.csv", azure);
    let report = replay(directory.path(), "azure.csv", &[]);
    assert_eq!(report["format"], "Azure LLM inference trace");
    assert_eq!(report["runs"][0]["prompt"], 7988);
    assert_eq!(report["runs"][0]["cached"], 0);
    let mooncake = r#"{"timestamp": 0, "input_length": 1500, "output_length": 5, "hash_ids": [1, 2, 3]}
{"timestamp": 9, "input_length": 1400, "output_length": 5, "hash_ids": [1, 2, 4]}
{"timestamp": 9, "input_length": 1024, "output_length": 5, "hash_ids": [1, 2]}
"#;
    write(directory.path(), "mooncake.jsonl", mooncake);
    // Two blocks of the second prompt, 1024 tokens; of the third all but the last token, in pages of
    // 64: 960.
    let report = replay(directory.path(), "mooncake.jsonl", &[]);
    assert_eq!(report["runs"][0]["cached"], 1024 + 960);
    // A pool of four blocks forgets the least recently used, and of a prompt its end first: blocks 3
    // and 2 go for 6 and 5.
    let mooncake = r#"{"timestamp": 0, "input_length": 1500, "output_length": 5, "hash_ids": [1, 2, 3]}
{"timestamp": 9, "input_length": 1500, "output_length": 5, "hash_ids": [5, 6, 7]}
{"timestamp": 9, "input_length": 1024, "output_length": 5, "hash_ids": [1, 2]}
"#;
    write(directory.path(), "mooncake.jsonl", mooncake);
    let report = replay(directory.path(), "mooncake.jsonl", &["--kv-tokens", "2048"]);
    assert_eq!(report["runs"][0]["cached"], 512);
}

#[test]
fn times_to_first_token_need_a_clock_and_follow_it() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "trace.csv", &format!("{HEADER}0,1000,0,3\n0,1000,0,3\n10,500,0,2\n"));
    let clock = [
        "--kv-tokens",
        "1M",
        "--max-running",
        "8",
        "--decode-ms",
        "20+1*bs",
        "--prefill-ms",
        "5+0.01*m",
    ];
    let report = replay(directory.path(), "trace.csv", &clock);
    let run = &report["runs"][0];
    // Two prompts in one pass, 5 + 20 ms for both; the third arrives ten seconds later on an idle
    // server: 5 + 5 ms. Distribution buckets are 0.5% wide.
    assert_eq!((run["passes"].as_i64(), run["decodes"].as_i64()), (Some(2), Some(3)));
    let times = run["ttft_ms"].as_array().unwrap();
    assert_eq!(times[3], 25.0);
    assert!((times[0].as_f64().unwrap() - 25.0).abs() < 0.2, "{times:?}");
    assert!(replay(directory.path(), "trace.csv", &[])["runs"][0]["ttft_ms"].is_null());
    let missing = ["admit", "--trace", "trace.csv", "--decode-ms", "20"];
    run_fails(directory.path(), &missing, 2, &["--kv-tokens"]);
}

#[track_caller]
fn run_fails(directory: &Path, arguments: &[&str], status: i32, words: &[&str]) {
    run(directory, arguments).fails_with(status, words);
}

#[test]
fn bad_traces_name_file_and_line() {
    let directory = tempfile::tempdir().unwrap();
    let cases = [
        ("", &["bad.csv", "empty"][..]),
        ("arrival,prompt,output\n0,1,1\n", &["line 1", "cached prefix"]),
        ("prompt,cached,output\n1,0,1\n", &["line 1", "arrival"]),
        ("arrival,prompt,cached,output\n0,5,0,1\n1,x,0,1\n", &["line 3", "prompt `x`"]),
        ("arrival,prompt,cached,output\n0,0,0,1\n", &["line 2", "prompt is 0"]),
        ("arrival,prompt,cached,output\n0,-5,0,1\n", &["line 2", "prompt is -5"]),
        ("arrival,prompt,cached,output\n0,5,0,0\n", &["line 2", "output is 0"]),
        ("arrival,prompt,cached,output\n0,5,9,1\n", &["line 2", "longer than the prompt"]),
        ("arrival,prompt,cached,output\n0,99999999999999999999,0,1\n", &["line 2", "no count"]),
        ("arrival,prompt,cached,output\n0,9999999999999999,0,1\n", &["line 2", "must be from 1"]),
        ("arrival,prompt,cached,output\n5,5,0,1\n4,5,0,1\n", &["line 3", "sort the trace"]),
        ("arrival,prompt,cached,output\n-1,5,0,1\n", &["line 2", "arrival `-1`"]),
        ("arrival,prompt,cached,output\nnan,5,0,1\n", &["line 2", "arrival `nan`"]),
        ("arrival,prompt,cached,output\n0,5\n", &["line 2", "2 fields and the header 4"]),
        ("name,arrival,prompt,cached,output\na,b,0,5,0,1\n", &["line 2", "6 fields"]),
        ("arrival,prompt,prompt_tokens,cached,output\n0,5,6,0,1\n", &["columns 2 and 3", "prompt"]),
        ("arrival,prompt,cached,output\n1e300,5,0,1\n", &["line 2", "the latest"]),
        ("[{\"timestamp\": 0}]", &["JSON list", "one object a line"]),
        // A prompt of 521 tokens has two blocks of 512; 33 are those of another public trace.
        (
            "{\"timestamp\": 0, \"input_length\": 521, \"output_length\": 1, \"hash_ids\": \
             [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33]}",
            &["line 1", "33 hash_ids", "another size"],
        ),
        (
            "{\"timestamp\": 0, \"input_length\": 2000, \"output_length\": 1, \"hash_ids\": [1, 2]}",
            &["line 1", "2 hash_ids", "has 4"],
        ),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,5,1\n", &["line 2", "timestamp"]),
        ("{\"timestamp\": 0}\n", &["line 1", "input_length"]),
        ("{\"timestamp\": 0, \"input_length\"\n", &["line 1", "hash_ids"]),
        (
            "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 1, \"hash_ids\": [-1]}\n",
            &["line 1"],
        ),
    ];
    for (text, words) in cases {
        write(directory.path(), "bad.csv", text);
        run_fails(directory.path(), &["admit", "--trace", "bad.csv"], 4, words);
    }
    run_fails(directory.path(), &["admit", "--trace", "none.csv"], 4, &["none.csv"]);
    run_fails(directory.path(), &["admit", "--trace", "/dev/zero"], 4, &["no regular file"]);
    write(directory.path(), "bad.json", "{\"scenarios\": [\n{\"id\": }");
    run_fails(directory.path(), &["admit", "--oracle", "bad.json"], 4, &["bad.json", "line 2"]);
    std::fs::write(directory.path().join("bad.csv"), b"arrival,prompt,caf\xe9\n").unwrap();
    run_fails(directory.path(), &["admit", "--trace", "bad.csv"], 4, &["line 1", "UTF-8"]);
    for (text, words) in [("{\"scenarios\": []}", "`scenarios` is empty"), ("caf\u{e9}", "JSON")] {
        write(directory.path(), "bad.json", text);
        run_fails(directory.path(), &["admit", "--oracle", "bad.json"], 4, &["bad.json", words]);
    }
    write(directory.path(), "bad.json", "{}");
    run_fails(directory.path(), &["admit", "--oracle", "bad.json"], 4, &["neither"]);
}

#[test]
fn servers_that_cannot_be_are_refused_by_their_flags() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "trace.csv", &format!("{HEADER}0,1000,0,3\n"));
    let cases = [
        (&["--page-size", "0"][..], &["--page-size 0"][..]),
        (&["--chunk", "0"], &["--chunk 0"]),
        (&["--chunk", "32", "--page-size", "64"], &["smaller than --page-size 64"]),
        (&["--max-prefill", "0"], &["--max-prefill 0"]),
        (&["--kv-tokens", "0"], &["--kv-tokens 0"]),
        (&["--max-running", "0"], &["--max-running"]),
        (&["--block-m", "0"], &["--block-m", "0 is not in 1.."]),
        (&["--block-m", "-1"], &["--block-m", "-1 is not in 1.."]),
        (&["--passes", "x.csv"], &["--exact-fill"]),
        (&["--exact-fill", "on", "--passes", "./trace.csv"], &["--passes", "what is read"]),
        (&["--kv-tokens", "640"], &["line 2", "never be admitted", "--kv-tokens"]),
    ];
    for (flags, words) in cases {
        let mut arguments = vec!["admit", "--trace", "trace.csv"];
        arguments.extend(flags);
        run_fails(directory.path(), &arguments, 2, words);
    }
}

/// Quoted commas, blank lines, line ends of Windows and a byte order mark mean nothing; 100 + 200
/// prompt tokens and a cached page of 64.
#[test]
fn however_a_trace_is_written_it_reads_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let csv = [
        "arrival,prompt,cached,output\n0,100,0,5\n1,200,64,3\n",
        "\u{feff}arrival,prompt,cached,output\r\n0,100,0,5\r\n\r\n1,200,64,3",
        "\n \nname,\"arrival\",prompt,cached,output\n\"a,b\",\"0\",100,0,5\n\"c\",1,200,64,3\n",
    ];
    for text in csv {
        write(directory.path(), "trace.csv", text);
        let run = &replay(directory.path(), "trace.csv", &[])["runs"][0];
        assert_eq!(
            (run["prompt"].as_i64(), run["cached"].as_i64()),
            (Some(300), Some(64)),
            "{text}"
        );
    }
    let line = r#"{"timestamp": 0, "input_length": 512, "output_length": 1, "hash_ids": [1]}"#;
    write(directory.path(), "trace.jsonl", &format!("\u{feff}{line}\r\n\n{line}"));
    assert_eq!(replay(directory.path(), "trace.jsonl", &[])["format"], "Mooncake");
}

#[test]
fn steps_of_absurd_length_are_refused_by_their_flag() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "trace.csv", &format!("{HEADER}0,1000,0,3\n"));
    let server = ["admit", "--trace", "trace.csv", "--kv-tokens", "1M", "--max-running", "8"];
    for (decode, prefill, flag) in [
        ("1e308+1e308*bs", "1", "--decode-ms `1e308"),
        ("1", "1e308", "--prefill-ms `1e308"),
        ("-1", "1", "--decode-ms `-1`"),
        ("1", "-1", "--prefill-ms `-1`"),
    ] {
        let steps = ["--decode-ms", decode, "--prefill-ms", prefill];
        run_fails(directory.path(), &[&server[..], &steps].concat(), 2, &[flag, "from 0 to 1e9"]);
    }
}

/// A replay that ends at a bad line leaves what was in the file before.
#[test]
fn passes_of_a_replay_that_fails_are_not_written() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "trace.csv", &format!("{HEADER}0,1000,0,3\n1,0,0,3\n"));
    write(directory.path(), "passes.csv", "of an earlier run");
    let flags = ["--exact-fill", "on", "--passes", "passes.csv"];
    run_fails(
        directory.path(),
        &[&["admit", "--trace", "trace.csv"][..], &flags].concat(),
        4,
        &["line 3"],
    );
    let left = std::fs::read_to_string(directory.path().join("passes.csv")).unwrap();
    assert_eq!(left, "of an earlier run");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
}

#[test]
fn flags_that_would_change_nothing_are_refused_with_the_one_that_they_need() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "trace.csv", &format!("{HEADER}0,1000,0,3\n"));
    for input in ["--oracle", "--scenarios"] {
        for flags in
            [&["--chunk", "2048"][..], &["--mamba"], &["--layers", "3"], &["--passes", "x"]]
        {
            let arguments = [&["admit", input, ADMISSION][..], flags].concat();
            run_fails(directory.path(), &arguments, 2, &["cannot be used with", input, flags[0]]);
        }
    }
    let cases = [
        (&["--mixed-chunk"][..], &["--kv-tokens"][..]),
        (&["--layers", "61"], &["--profile"]),
        (&["--indexer", "fp8"], &["--profile"]),
        (&["--layers", "0", "--profile", "x"], &["--layers", "0 is not in 1..=10000"]),
        (&["--no-chunk", "--sizer", "x"], &["--no-chunk", "--sizer"]),
        (&["--no-chunk", "--chunk", "64"], &["--no-chunk", "--chunk"]),
        (&["--mamba", "--exact-fill", "on"], &["--mamba", "--exact-fill"]),
        (&["--prefill-ms", "1+2*m"], &["--decode-ms"]),
    ];
    for (flags, words) in cases {
        let arguments = [&["admit", "--trace", "trace.csv"][..], flags].concat();
        run_fails(directory.path(), &arguments, 2, words);
    }
    // With mamba states in the cache there is one replay only, without exact fill.
    let report = replay(directory.path(), "trace.csv", &["--mamba"]);
    let runs = report["runs"].as_array().unwrap();
    assert_eq!((runs.len(), &runs[0]["exact_fill"]), (1, &false.into()));
}

/// The golden sizer is of pages of 256 and has chunks of 2048 up to prefix 97656, 1792 from there.
#[test]
fn a_sizer_is_cut_to_the_servers_cap_as_the_plugin_cuts_it() {
    const SIZER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/sizer.json");
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "trace.csv", &format!("{HEADER}0,5000,0,1\n0,101000,100096,1\n"));
    let passes = |flags: &[&str]| -> Vec<String> {
        let common = ["--sizer", SIZER, "--page-size", "256", "--exact-fill", "off"];
        replay(directory.path(), "trace.csv", &[&common, flags, &["--passes", "p.csv"]].concat());
        let text = std::fs::read_to_string(directory.path().join("p.csv")).unwrap();
        text.lines().skip(1).map(|line| line.split(',').nth(3).unwrap().to_owned()).collect()
    };
    // 5000 = 2048 + 2048 + 904; the second prompt's 904 rows at 100096 fit beside them, since
    // 904 <= 1792 - 904 = 888 does not hold: 768, whole pages, would leave 136, less than a chunk_min
    // of 256. So it is 512, the half of 904 in whole pages, and 392 in a pass of their own.
    assert_eq!(passes(&["--chunk", "2048"]), ["2048", "2048", "1416", "392"]);
    // A cap of 700 leaves chunks of 512, the multiple of 256 below it: 5000 = 9 * 512 + 392. Beside
    // 392 rows 120 are left, no page; then 512 and 392.
    let cut = passes(&["--chunk", "700"]);
    assert_eq!(cut, [vec!["512"; 9], vec!["392", "512", "392"]].concat());
    assert_eq!(passes(&["--chunk", "2048", "--max-prefill", "700"]), cut);
    let other = ["admit", "--trace", "trace.csv", "--sizer", SIZER, "--page-size", "64"];
    run_fails(directory.path(), &other, 2, &["pages of 256", "--page-size is 64"]);
    // It is of gfx950.
    let profile = concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/gfx942");
    let flags = [&other[..6], &["256", "--profile", profile]].concat();
    let finished = run(directory.path(), &flags);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert!(finished.stderr.contains("the sizer is of gfx950"), "{}", finished.stderr);
    let small = [&other[..6], &["256", "--chunk", "256", "--max-prefill", "100"]].concat();
    run_fails(directory.path(), &small, 2, &["--sizer", "cap of 100", "--max-prefill"]);
    write(directory.path(), "broken.json", "{\"schema\": \"chunktune/sizer/v1\"");
    let broken = ["admit", "--trace", "trace.csv", "--sizer", "broken.json"];
    run_fails(directory.path(), &broken, 4, &["broken.json"]);
}

#[test]
fn traces_without_a_request_or_of_absurd_length_end_at_once_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let refused = |rows: &str, words: &[&str]| {
        write(directory.path(), "trace.csv", &format!("{HEADER}{rows}"));
        run(directory.path(), &["admit", "--trace", "trace.csv"]).fails_with(4, words);
    };
    refused("", &["trace.csv", "no requests"]);
    refused("0,1000000000000,0,10\n", &["line 2", "prompt", "67108864"]);
    refused("0,1000,0,1000000000000\n", &["line 2", "output", "67108864"]);
}

#[test]
fn json_that_is_no_recording_is_named_as_such() {
    let directory = tempfile::tempdir().unwrap();
    for text in ["[]", "42", ""] {
        write(directory.path(), "other.json", text);
        let finished = run(directory.path(), &["admit", "--oracle", "other.json"]);
        finished.fails_with(4, &["other.json", "not a JSON object", "`scenarios`"]);
    }
}
