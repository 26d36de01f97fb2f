//! External tools that some tests compare against.

use std::process::Command;

/// A command for `name` if it is on the path. If not, the calling test should return: this prints
/// why, or fails where `CHUNKTUNE_REQUIRE_TOOLS=1` says that the tools must be there.
pub fn tool(name: &str) -> Option<Command> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|dir| dir.join(name).is_file()) {
        return Some(Command::new(name));
    }
    report_missing(name);
    None
}

/// Says that a test is skipped for want of `what`, or fails as [`tool`] does.
pub fn report_missing(what: &str) {
    let required = std::env::var_os("CHUNKTUNE_REQUIRE_TOOLS").is_some_and(|v| v == "1");
    assert!(!required, "CHUNKTUNE_REQUIRE_TOOLS=1, but there is no {what}");
    println!("skipped: there is no {what}");
}

/// A command for the Python of `CHUNKTUNE_PYTHON` (else `python3`) that can import `module`; if
/// there is none, as for [`tool`].
pub fn python_with(module: &str) -> Option<Command> {
    let python = std::env::var("CHUNKTUNE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let import = Command::new(&python).args(["-c", &format!("import {module}")]).output();
    if import.is_ok_and(|output| output.status.success()) {
        return Some(Command::new(python));
    }
    report_missing(&format!("module {module} for {python}"));
    None
}
