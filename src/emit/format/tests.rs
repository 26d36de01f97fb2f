//! Values survive each syntax; that the syntaxes' own tools read them is tested on the program.

use super::*;
use crate::emit::deployment::{Kind, Setting};
use crate::plan::Status;

/// What a path or a value may hold that some syntax reads as more than text.
const AWKWARD: &str = r#"/data/my runs/it's "50%" $HOME \n #1: {a}"#;

fn deployment() -> Deployment {
    let setting = |kind, name: &str, value: &str| Setting {
        kind,
        name: name.to_owned(),
        value: value.to_owned(),
        reason: "because\nit was measured".to_owned(),
    };
    Deployment {
        header: vec!["chunktune".to_owned(), "profile_sha256 abc".to_owned()],
        settings: vec![
            setting(Kind::Env, "CHUNKTUNE_SIZER", AWKWARD),
            setting(Kind::Env, "AWKWARD", AWKWARD),
            setting(Kind::Flag, "--page-size", "256"),
        ],
        left_out: vec!["nothing".to_owned()],
        sglang: "0.5.23".to_owned(),
        status: Status::Unvalidated,
        profile_sha256: "abc".to_owned(),
        arch: "gfx950".to_owned(),
        sizer_path: AWKWARD.to_owned(),
        sizer: r#"{"schema":"chunktune/sizer/v1"}"#.to_owned(),
    }
}

#[test]
fn every_format_names_the_profile_and_the_reason() {
    use clap::ValueEnum as _;
    for format in Format::value_variants() {
        let text = format.text(&deployment()).unwrap();
        assert!(text.contains("abc"), "{format:?}: {text}");
        assert!(text.contains("it was measured"), "{format:?}: {text}");
        assert!(text.contains("--page-size"), "{format:?}: {text}");
    }
}

#[test]
fn a_value_of_two_lines_is_refused_where_a_line_is_a_value() {
    let mut deployment = deployment();
    deployment.settings[1].value = "a\nb".to_owned();
    for format in [Format::Env, Format::Docker, Format::Systemd] {
        let message = format.text(&deployment).unwrap_err().to_string();
        assert!(message.contains("AWKWARD"), "{message}");
    }
    assert!(Format::Json.text(&deployment).is_ok());
}

#[test]
fn words_of_the_shell_are_quoted_only_where_needed() {
    assert_eq!(shell_word("/a/b-c_1.json"), "/a/b-c_1.json");
    assert_eq!(shell_word("it's"), r"'it'\''s'");
    assert_eq!(shell_word("$(rm -rf /)"), "'$(rm -rf /)'");
    assert_eq!(shell_word(""), "''");
}

#[test]
fn docker_takes_values_literally_and_gets_the_mounted_sizer() {
    let text = Format::Docker.text(&deployment()).unwrap();
    assert!(text.contains(&format!("\nAWKWARD={AWKWARD}\n")), "{text}");
    assert!(text.contains("\nCHUNKTUNE_SIZER=/etc/chunktune/sizer.json\n"), "{text}");
}

#[test]
fn compose_does_not_substitute_and_systemd_does_not_expand() {
    assert!(Format::Compose.text(&deployment()).unwrap().contains("$$HOME"));
    let unit = Format::Systemd.text(&deployment()).unwrap();
    assert!(unit.contains(r#"it's \"50%%\" $HOME \\n #1"#), "{unit}");
}
