//! The Python package: its own tests, and its sizer against the Rust one.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use chunktune::emit::Sizer;

use crate::tools;

/// Python in the folder of the package; none, with the reason printed, where there is none.
///
/// `CHUNKTUNE_PYTHON` names the interpreter, such as that of a virtual environment.
pub fn python() -> Option<Command> {
    let mut command = match std::env::var_os("CHUNKTUNE_PYTHON") {
        Some(path) if Command::new(&path).arg("--version").output().is_err() => {
            tools::report_missing(&path.to_string_lossy());
            return None;
        }
        Some(path) => Command::new(path),
        None => tools::tool("python3")?,
    };
    command.current_dir(root().join("python")).env("PYTHONDONTWRITEBYTECODE", "1");
    Some(command)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

#[test]
fn the_python_tests_pass() {
    let Some(mut python) = python() else { return };
    let output =
        python.args(["-m", "unittest", "discover", "-v", "-s", "tests", "-t", "."]).output();
    let output = output.unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    for line in log.lines().filter(|line| line.contains("skipped")) {
        println!("{line}");
    }
}

/// 10,000 prefixes from a linear congruential generator, up to twice the largest that fits, so
/// that those past it are among them; and every row of the table with its neighbours.
fn prefixes(sizer: &Sizer) -> Vec<u64> {
    let mut state = 1_u64;
    let random = std::iter::repeat_with(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    });
    let bound = 2 * sizer.max_context;
    let rows = sizer.table.iter().flat_map(|(from, _)| [from.saturating_sub(1), *from, from + 1]);
    random.take(10_000).map(|value| value % bound).chain(rows).collect()
}

#[test]
fn the_plugin_predicts_what_the_rust_sizer_does() {
    let files =
        ["tests/golden/sizer.json", "profiles/gfx942/sizer.json", "profiles/gfx950/sizer.json"];
    for file in files {
        let Some(mut python) = python() else { return };
        let path = root().join(file);
        let sizer = Sizer::read(&path).unwrap();
        let prefixes = prefixes(&sizer);
        let mut child = python
            .args(["-m", "tests.predict"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines: Vec<String> = prefixes.iter().map(u64::to_string).collect();
        // The child reads all of its input before it answers, so this cannot block.
        child.stdin.take().unwrap().write_all(lines.join("\n").as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let speed = said.lines().last().unwrap_or_default();
        assert!(output.status.success(), "{said}");
        println!("{file}: {} prefixes equal, {speed}", prefixes.len());
        let text = String::from_utf8(output.stdout).unwrap();
        let answers: Vec<u64> = text.lines().map(|line| line.parse().unwrap()).collect();
        // Past max_context the Rust sizer has no answer and the plugin keeps to chunk_min.
        let expected: Vec<u64> =
            prefixes.iter().map(|p| sizer.predict(*p).unwrap_or(sizer.chunk_min)).collect();
        assert_eq!(answers, expected, "{file}");
    }
}
