//! What `tune emit --format` prints, read by the tools that will read it, and `tune doctor` on it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::command::run;
use crate::tools::{python_with, tool};

const PROFILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/gfx950");
const FREE: [&str; 2] = ["--free-bytes", "5GB"];

/// `tune emit` of the recorded profile into a directory with an awkward name, in `format`.
fn emitted(directory: &Path, format: &str, more: &[&str]) -> String {
    let out = directory.join("it's a \"run\" $HOME");
    let arguments = ["emit", PROFILE, "--format", format, "--out", out.to_str().unwrap()];
    let finished = run(directory, &[&arguments[..], &FREE, more].concat());
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    let written = finished.stdout.lines().last().unwrap().strip_prefix("wrote ").unwrap();
    std::fs::read_to_string(written).unwrap()
}

/// Variables and flags as the JSON format gives them: what every other must agree with.
fn expected(directory: &Path) -> (Vec<(String, String)>, String) {
    let json: Value = serde_json::from_str(&emitted(directory, "json", &[])).unwrap();
    let env = json["env"].as_object().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let args: Vec<String> = json["args"].as_array().unwrap().iter().map(text).collect();
    (env.iter().map(|(name, value)| (name.clone(), text(value))).collect(), args.join(" "))
}

fn stdout(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_shell_reads_the_values_that_were_meant() {
    let dir = tempfile::tempdir().unwrap();
    let (env, args) = expected(dir.path());
    assert!(env.iter().any(|(_, value)| value.contains("it's a \"run\" $HOME")));
    std::fs::write(dir.path().join("e"), emitted(dir.path(), "env", &[])).unwrap();
    for (name, value) in &env {
        let script = format!("set -a; . ./e; set +a; printenv {name}");
        let mut shell = Command::new("sh");
        let read = stdout(shell.args(["-euc", &script]).current_dir(dir.path()));
        assert_eq!(read, format!("{value}\n"));
    }
    std::fs::write(dir.path().join("a"), emitted(dir.path(), "args", &[])).unwrap();
    let mut shell = Command::new("sh");
    let script = "echo $(grep -v '^#' a)";
    assert_eq!(stdout(shell.args(["-c", script]).current_dir(dir.path())).trim_end(), args);
}

/// The rules of docker's env-file parser: blank lines and lines that begin with `#` are skipped,
/// everything behind the first `=` is the value, and a name has no white space.
#[test]
fn docker_reads_the_values_that_were_meant() {
    let dir = tempfile::tempdir().unwrap();
    let (env, _) = expected(dir.path());
    let text = emitted(dir.path(), "docker", &[]);
    let read: Vec<(&str, &str)> = text
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once('=').unwrap())
        .collect();
    assert_eq!(read.len(), env.len());
    for (name, value) in read {
        assert!(!name.contains(char::is_whitespace));
        let meant = &env.iter().find(|(n, _)| n == name).unwrap().1;
        let mounted = "/etc/chunktune/sizer.json";
        assert_eq!(value, if name == "CHUNKTUNE_SIZER" { mounted } else { meant });
    }
}

/// All documents of a YAML text, as PyYAML reads them.
fn yaml(directory: &Path, text: &str) -> Option<Value> {
    let mut python = python_with("yaml")?;
    let path = directory.join("f.yaml");
    std::fs::write(&path, text).unwrap();
    let script =
        "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))";
    Some(serde_json::from_str(&stdout(python.args(["-c", script]).arg(&path))).unwrap())
}

#[test]
fn compose_and_kubernetes_read_the_values_that_were_meant() {
    let dir = tempfile::tempdir().unwrap();
    let (env, args) = expected(dir.path());
    let Some(read) = yaml(dir.path(), &emitted(dir.path(), "compose", &[])) else { return };
    let service = &read[0]["services"]["sglang"];
    // Compose substitutes `$NAME` and makes `$` of `$$`.
    let substituted = |value: &Value| value.as_str().unwrap().replace("$$", "$");
    assert_eq!(substituted(&service["environment"]["CHUNKTUNE_SGLANG_ARGS"]), args);
    let sizer = &env.iter().find(|(name, _)| name == "CHUNKTUNE_SIZER").unwrap().1;
    assert_eq!(&substituted(&service["volumes"][0]["source"]), sizer);

    let read = yaml(dir.path(), &emitted(dir.path(), "k8s", &[])).unwrap();
    let (map, patch) = (&read[0], &read[1]);
    assert_eq!((&map["kind"], &map["apiVersion"]), (&"ConfigMap".into(), &"v1".into()));
    assert_eq!(map["data"]["CHUNKTUNE_SGLANG_ARGS"], args.as_str());
    let sizer: Value = serde_json::from_str(map["data"]["sizer.json"].as_str().unwrap()).unwrap();
    assert_eq!(sizer["schema"], "chunktune/sizer/v1");
    let container = &patch["spec"]["template"]["spec"]["containers"][0];
    let names =
        container["env"].as_array().unwrap().iter().map(|env| env["name"].as_str().unwrap());
    assert_eq!(names.count(), env.len());
    assert!(container["env"].as_array().unwrap().iter().all(|env| {
        let reference = &env["valueFrom"]["configMapKeyRef"];
        reference["name"] == map["metadata"]["name"]
            && map["data"].get(reference["key"].as_str().unwrap()).is_some()
    }));
}

#[test]
fn systemd_accepts_the_drop_in() {
    let Some(mut analyze) = tool("systemd-analyze") else { return };
    let dir = tempfile::tempdir().unwrap();
    let unit = dir.path().join("sglang.service");
    std::fs::write(&unit, "[Service]\nExecStart=/bin/true $CHUNKTUNE_SGLANG_ARGS\n").unwrap();
    let folder = dir.path().join("sglang.service.d");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("50.conf"), emitted(dir.path(), "systemd", &[])).unwrap();
    let output = analyze.arg("verify").arg(&unit).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(!complaint.contains("50.conf"), "{complaint}");
}

#[test]
fn an_older_sglang_is_told_only_what_it_reads() {
    let dir = tempfile::tempdir().unwrap();
    let json: Value =
        serde_json::from_str(&emitted(dir.path(), "json", &["--sglang-version", "0.5.3"])).unwrap();
    assert_eq!(json["sglang"], "0.5.3");
    assert!(json["env"].get("SGLANG_EXACT_CHUNK_FILL").is_none());
    let args = json["args"].as_array().unwrap();
    let value = |flag: &str| {
        let at = args.iter().position(|word| word == flag).unwrap();
        args[at + 1].as_str().unwrap().parse::<u64>().unwrap()
    };
    let (chunk, page) = (value("--chunked-prefill-size"), value("--page-size"));
    assert!(chunk.is_multiple_of(page) && value("--max-prefill-tokens") >= chunk);
}

/// What is emitted passes the doctor but for what the profile itself lacks: an observation.
#[test]
fn the_doctor_finds_in_an_emitted_deployment_only_that_it_is_unvalidated() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("e"), emitted(dir.path(), "env", &[])).unwrap();
    let arguments = ["doctor", "--env-file", "e", "--device", "gfx950", "--profile", PROFILE];
    let finished = run(dir.path(), &[&arguments[..], &["--json"]].concat());
    assert_eq!(finished.status, 6, "{}{}", finished.stdout, finished.stderr);
    let report: Value = serde_json::from_str(&finished.stdout).unwrap();
    let errors: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["severity"] != "info")
        .map(|finding| finding["check"].as_str().unwrap())
        .collect();
    assert_eq!(errors, ["unvalidated"], "{report:#}");
}

#[test]
fn the_doctors_status_follows_the_worst_finding() {
    let dir = tempfile::tempdir().unwrap();
    let status = |flags: &str| {
        let arguments = ["doctor", "--sglang-version", "0.5.23", "--flags", flags];
        run(dir.path(), &arguments).status
    };
    assert_eq!(status("--chunked-prefill-size 2048 --page-size 64"), 0);
    let divided = "--chunked-prefill-size 8193 --dp-size 2 --enable-dp-attention";
    assert_eq!(status(divided), 8);
    assert_eq!(status("--chunked-prefill-size 2000 --page-size 64"), 6);
    run(dir.path(), &["doctor"]).fails_with(2, &["--env-file"]);
    run(dir.path(), &["doctor", "--env-file", "absent"]).fails_with(4, &["absent"]);
}

#[test]
fn a_context_shorter_than_the_models_is_set_and_the_doctor_keeps_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let env = emitted(dir.path(), "env", &["--context", "200k"]);
    assert!(env.contains("--context-length 200000"), "{env}");
    assert!(env.contains("the longest context that was planned for"), "{env}");
    std::fs::write(dir.path().join("e"), &env).unwrap();
    let checked = |flags: &[&str]| {
        let finished = run(dir.path(), &[&["doctor", "--env-file", "e"][..], flags].concat());
        finished.stdout
    };
    assert!(!checked(&[]).contains("context_"), "{}", checked(&[]));
    let longer = checked(&["--flags", "--context-length 200256"]);
    assert!(longer.contains("give --context-length 200000 or less"), "{longer}");
}

#[test]
fn the_context_and_a_missing_budget_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    // 836,212 lies in page 13,065 of 64, which ends at 836,224.
    let env = emitted(dir.path(), "env", &[]);
    assert!(env.contains("--context-length 836224"), "{env}");
    assert!(env.contains("the last page that begins within max_context 836212"), "{env}");
    let bounded = emitted(dir.path(), "env", &["--memory-path", "row_pooled"]);
    assert!(bounded.contains("no BUDGET (null in the sizer)"), "{bounded}");
    assert!(!bounded.contains("c 0 B"), "{bounded}");
}
