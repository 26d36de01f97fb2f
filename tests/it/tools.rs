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
