//! Request traces: what came when, how long it was, what of it was cached and how much it emitted.
//!
//! In goes a text file of one of three formats, told apart by its first line; out come requests, one
//! at a time, so that a trace of any length takes no memory. A line that does not make sense ends
//! the trace with its file and number.
//!
//! | format | first line |
//! |---|---|
//! | CSV | a header with arrival (seconds), prompt, cached prefix and output (tokens) |
//! | Azure LLM inference trace | a header with `TIMESTAMP,ContextTokens,GeneratedTokens` |
//! | Mooncake | JSON with `timestamp` (ms), `input_length`, `output_length`, `hash_ids` |

mod blocks;
mod columns;
pub mod cost;
mod mooncake;
pub mod replay;
mod time;

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use columns::Columns;
use mooncake::Mooncake;

use crate::files::{BYTE_ORDER_MARK, refuse_stream};
use crate::options::MAX_TOKENS;

/// Latest arrival, milliseconds: 30,000 years, a quarter of a millisecond apart in a double.
const LATEST_MS: f64 = 1e15;

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceRequest {
    /// Line of the file, from 1.
    pub line: u64,
    /// Milliseconds from the first arrival.
    pub arrival_ms: f64,
    /// Prompt, tokens.
    pub prompt: i64,
    /// Cached prefix, tokens, at most the prompt.
    pub cached: i64,
    /// Output, tokens.
    pub output: i64,
}

/// Format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// CSV with a header of its own.
    Csv,
    /// Azure LLM inference trace; says nothing of prefixes.
    Azure,
    /// Mooncake; blocks of 512 tokens name prefixes.
    Mooncake,
}

/// What is wrong with a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {why}", path.display(), line.map(|line| format!(", line {line}")).unwrap_or_default())]
pub struct TraceError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: Option<u64>,
    /// What is wrong.
    pub why: String,
}

enum Lines {
    Columns(Columns),
    Mooncake(Mooncake),
}

/// A trace that is read as it goes.
pub struct Trace {
    path: PathBuf,
    input: BufReader<File>,
    buffer: String,
    number: u64,
    format: Format,
    lines: Lines,
    first_ms: Option<f64>,
    last_ms: f64,
    failed: bool,
}

impl Trace {
    /// Opens a trace. `cache` is the KV that holds the prefixes of a Mooncake trace, tokens; none
    /// keeps them all.
    ///
    /// # Errors
    /// A file that cannot be read, or whose first line is of no known format.
    pub fn open(path: &Path, cache: Option<i64>) -> Result<Self, TraceError> {
        let fail = |line, why: String| TraceError { path: path.to_owned(), line, why };
        let file = refuse_stream(path).and_then(|()| File::open(path));
        let file = file.map_err(|error| fail(None, error.to_string()))?;
        let mut input = BufReader::with_capacity(1 << 18, file);
        let start = input.fill_buf().map_err(|error| fail(None, error.to_string()))?;
        if start.starts_with(BYTE_ORDER_MARK) {
            input.consume(BYTE_ORDER_MARK.len());
        }
        let first = input.buffer().iter().find(|byte| !byte.is_ascii_whitespace());
        let is_json = first == Some(&b'{');
        if first == Some(&b'[') {
            let why = "it is a JSON list; a Mooncake trace has one object a line, and no list";
            return Err(fail(None, why.into()));
        }
        let mut trace = Self {
            path: path.to_owned(),
            input,
            buffer: String::new(),
            number: 0,
            format: Format::Mooncake,
            lines: Lines::Mooncake(Mooncake::new(cache)),
            first_ms: None,
            last_ms: f64::NEG_INFINITY,
            failed: false,
        };
        if !is_json {
            if !trace.read_text()? {
                return Err(fail(None, "it is empty; a trace starts with a header or JSON".into()));
            }
            let columns = Columns::of_header(&trace.buffer).map_err(|why| trace.wrong(why))?;
            trace.format = columns.format();
            trace.lines = Lines::Columns(columns);
        }
        Ok(trace)
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Reads the next line that is not blank into the buffer; false at the end.
    fn read_text(&mut self) -> Result<bool, TraceError> {
        loop {
            self.buffer.clear();
            self.number += 1;
            match self.input.read_line(&mut self.buffer) {
                Ok(0) => return Ok(false),
                Ok(_) if self.buffer.trim().is_empty() => {}
                Ok(_) => return Ok(true),
                Err(error) if error.kind() == ErrorKind::InvalidData => {
                    return Err(self.wrong("it is no UTF-8 text; convert the file to UTF-8".into()));
                }
                Err(error) => return Err(self.wrong(error.to_string())),
            }
        }
    }

    fn wrong(&self, why: String) -> TraceError {
        TraceError { path: self.path.clone(), line: Some(self.number), why }
    }

    fn parse(&mut self) -> Result<Option<TraceRequest>, TraceError> {
        if !self.read_text()? {
            return Ok(None);
        }
        let read = match &mut self.lines {
            Lines::Columns(columns) => columns.read(&self.buffer),
            Lines::Mooncake(mooncake) => mooncake.read(&self.buffer),
        };
        let mut request = read.map_err(|why| self.wrong(why))?;
        request.line = self.number;
        for (name, value, least) in [
            ("prompt", request.prompt, 1),
            ("output", request.output, 1),
            ("cached prefix", request.cached, 0),
        ] {
            if !(least..=MAX_TOKENS as i64).contains(&value) {
                let range = format!("it must be from {least} to {MAX_TOKENS} tokens");
                return Err(self.wrong(format!("the {name} is {value}; {range}")));
            }
        }
        if request.cached > request.prompt {
            let (cached, prompt) = (request.cached, request.prompt);
            return Err(self.wrong(format!(
                "the cached prefix of {cached} tokens is longer than the prompt of {prompt}"
            )));
        }
        if request.arrival_ms > LATEST_MS {
            let seconds = request.arrival_ms / 1e3;
            let latest = LATEST_MS / 1e3;
            return Err(self.wrong(format!(
                "it arrives after {seconds:e} seconds; the latest that is replayed is {latest:e}"
            )));
        }
        if request.arrival_ms < self.last_ms {
            return Err(
                self.wrong("it arrives before the line above it; sort the trace by arrival".into())
            );
        }
        self.last_ms = request.arrival_ms;
        request.arrival_ms -= *self.first_ms.get_or_insert(request.arrival_ms);
        Ok(Some(request))
    }
}

impl Iterator for Trace {
    type Item = Result<TraceRequest, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let parsed = self.parse();
        self.failed = parsed.is_err();
        parsed.transpose()
    }
}
