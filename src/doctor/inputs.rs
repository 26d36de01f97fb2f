//! What a server will be told: an environment file, a line of flags, or the answer of a running
//! server. Texts go in; one set of variables and flags with their origin comes out.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::emit::ARGS_VARIABLE;
use crate::text::quoted;

/// A value and where it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Text; empty for a flag without a value.
    pub value: String,
    /// File, command line or server.
    pub source: String,
}

/// Everything a server is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// Variables.
    pub env: BTreeMap<String, Given>,
    /// Flags by their full name with dashes.
    pub flags: BTreeMap<String, Given>,
    /// Whether the flags are those of a running server, after its own changes.
    pub resolved: bool,
    /// SGLang version that a running server reports.
    pub version: Option<String>,
}

/// Why an input cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{source_name}: {what}")]
pub struct InputError {
    source_name: String,
    what: String,
}

/// Short spellings that SGLang takes for a flag.
const ALIASES: [(&str, &str); 6] = [
    ("--tp", "--tp-size"),
    ("--tensor-parallel-size", "--tp-size"),
    ("--dp", "--dp-size"),
    ("--data-parallel-size", "--dp-size"),
    ("--pp", "--pp-size"),
    ("--pipeline-parallel-size", "--pp-size"),
];

fn error(source: &str, what: impl Into<String>) -> InputError {
    InputError { source_name: source.to_owned(), what: what.into() }
}

impl Server {
    /// Reads `NAME=value` lines as a shell and as docker write them. Flags in
    /// `CHUNKTUNE_SGLANG_ARGS` are taken too.
    ///
    /// # Errors
    /// A line that is no assignment, with its number.
    pub fn read_env(&mut self, text: &str, source: &str) -> Result<(), InputError> {
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let line = line.strip_prefix("export ").unwrap_or(line);
            let at = format!("{source} line {number}");
            let Some((name, value)) = line.split_once('=') else {
                return Err(error(&at, format!("`{}` is no NAME=value", quoted(line))));
            };
            let name = name.trim();
            let valid = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(valid) {
                return Err(error(&at, format!("`{}` is no name of a variable", quoted(name))));
            }
            let value = match value.chars().next() {
                Some('\'' | '"') => words(value).map_err(|what| error(&at, what))?.join(" "),
                _ => value.to_owned(),
            };
            if name == ARGS_VARIABLE {
                self.read_flags(&value, &at)?;
            }
            self.env.insert(name.to_owned(), Given { value, source: at });
        }
        Ok(())
    }

    /// Reads a command line; what comes before the first flag is passed over.
    ///
    /// # Errors
    /// A quote that does not end, or words without any flag.
    pub fn read_flags(&mut self, line: &str, source: &str) -> Result<(), InputError> {
        let words = words(line).map_err(|what| error(source, what))?;
        if !words.is_empty() && !words.iter().any(|word| word.starts_with("--")) {
            let what = format!("`{}` has no flag; flags begin with --", quoted(line));
            return Err(error(source, what));
        }
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            if !word.starts_with("--") {
                continue;
            }
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name.to_owned(), value.to_owned()),
                // A negative number is a value, anything else with dashes the next flag.
                None => {
                    let value = words.next_if(|next| {
                        !next.starts_with('-')
                            || next[1..].starts_with(|c: char| c.is_ascii_digit())
                    });
                    (word, value.unwrap_or_default())
                }
            };
            let name = name.replace('_', "-");
            let full = ALIASES.iter().find(|(short, _)| *short == name);
            let name = full.map_or(name.clone(), |(_, full)| (*full).to_owned());
            self.flags.insert(name, Given { value, source: source.to_owned() });
        }
        Ok(())
    }

    /// Reads the JSON of `/server_info` (older: `/get_server_info`).
    ///
    /// # Errors
    /// Text that is no such answer.
    pub fn read_server_info(&mut self, text: &str, source: &str) -> Result<(), InputError> {
        let root: Value =
            serde_json::from_str(text).map_err(|e| error(source, format!("is not JSON: {e}")))?;
        let arguments = root.get("server_args").unwrap_or(&root);
        let Some(fields) = arguments.as_object().filter(|f| f.contains_key("chunked_prefill_size"))
        else {
            return Err(error(source, "has no `chunked_prefill_size`: not a /server_info answer"));
        };
        for (field, value) in fields {
            let text = match value {
                Value::Bool(true) => String::new(),
                Value::Number(number) => number.to_string(),
                Value::String(text) => text.clone(),
                _ => continue,
            };
            let name = format!("--{}", field.replace('_', "-"));
            self.flags.insert(name, Given { value: text, source: source.to_owned() });
        }
        self.version = root.get("version").and_then(Value::as_str).map(str::to_owned);
        self.resolved = true;
        Ok(())
    }

    /// Whether a flag is there.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.contains_key(flag)
    }

    /// A flag's whole number; none where it is absent or no number.
    pub fn number(&self, flag: &str) -> Option<i64> {
        self.flags.get(flag)?.value.trim().parse().ok()
    }

    /// A variable's whole number.
    pub fn env_number(&self, name: &str) -> Option<i64> {
        self.env.get(name)?.value.trim().parse().ok()
    }

    /// Where a flag or variable was read.
    pub fn source(&self, name: &str) -> String {
        let given = self.flags.get(name).or_else(|| self.env.get(name));
        given.map_or_else(
            || format!("{name} (not given)"),
            |given| format!("{name} {} ({})", quoted(&given.value), given.source),
        )
    }
}

/// Words of a POSIX shell line: quotes and backslashes, no expansion.
fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        Some('\'') => break,
                        Some(c) => word.push(c),
                        None => return Err("a single quote does not end".to_owned()),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        Some('"') => break,
                        Some('\\') => match characters.next() {
                            Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                            Some(c) => word.extend(['\\', c]),
                            None => return Err("a double quote does not end".to_owned()),
                        },
                        Some(c) => word.push(c),
                        None => return Err("a double quote does not end".to_owned()),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(characters.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_shell_and_docker_read_alike() {
        let mut server = Server::default();
        let text = "# comment\n\nexport A=1\nB='it'\\''s a path'\nC=raw value\nD=\"x \\\"y\\\"\"\n\
                    CHUNKTUNE_SGLANG_ARGS='--page-size 64 --chunked-prefill-size -1'\n";
        server.read_env(text, "tune.env").unwrap();
        let value = |name: &str| server.env[name].value.as_str();
        assert_eq!((value("A"), value("B")), ("1", "it's a path"));
        assert_eq!((value("C"), value("D")), ("raw value", "x \"y\""));
        assert_eq!(server.number("--page-size"), Some(64));
        assert_eq!(server.number("--chunked-prefill-size"), Some(-1));
        assert_eq!(server.env["A"].source, "tune.env line 3");
        let error = Server::default().read_env("A=1\nrubbish\n", "x.env").unwrap_err().to_string();
        assert_eq!(error, "x.env line 2: `rubbish` is no NAME=value");
    }

    #[test]
    fn flags_take_both_spellings_aliases_and_switches() {
        let mut server = Server::default();
        let line = "python -m sglang.launch_server --model 'a b' --tp 8 --dp=4 --enable-mixed-chunk \
                    --chunked_prefill_size 2048";
        server.read_flags(line, "flags").unwrap();
        assert_eq!(server.flags["--model"].value, "a b");
        assert_eq!((server.number("--tp-size"), server.number("--dp-size")), (Some(8), Some(4)));
        assert!(server.has("--enable-mixed-chunk"));
        assert_eq!(server.number("--chunked-prefill-size"), Some(2048));
        assert!(Server::default().read_flags("--a 'b", "flags").is_err());
        let error = Server::default().read_flags("chunked 3", "--flags").unwrap_err().to_string();
        assert_eq!(error, "--flags: `chunked 3` has no flag; flags begin with --");
    }

    #[test]
    fn the_answer_of_a_running_server_is_read_as_resolved() {
        let mut server = Server::default();
        let text = r#"{"chunked_prefill_size": 1024, "page_size": 64, "enable_mixed_chunk": true,
            "enable_dp_attention": false, "attention_backend": "aiter", "version": "0.5.23",
            "internal_states": [{}]}"#;
        server.read_server_info(text, "info").unwrap();
        assert_eq!(server.number("--chunked-prefill-size"), Some(1024));
        assert!(server.has("--enable-mixed-chunk") && !server.has("--enable-dp-attention"));
        assert_eq!((server.version.as_deref(), server.resolved), (Some("0.5.23"), true));
        assert!(Server::default().read_server_info("{}", "info").is_err());
        assert!(Server::default().read_server_info("<html>", "info").is_err());
    }
}
