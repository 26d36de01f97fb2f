//! Traces with columns: CSV with names of its own, and the Azure LLM inference trace.
//!
//! In go a header and lines; out come requests. Fields may be quoted, and quoted commas are theirs.

use super::time::azure_ms;
use super::{Format, TraceRequest};

/// Names of each column, in lower case without anything but letters and digits.
const ARRIVAL: &[&str] = &["arrival", "arrivals", "arrivaltime", "timestamp", "time"];
const PROMPT: &[&str] = &[
    "prompt",
    "prompttokens",
    "promptlen",
    "promptlength",
    "input",
    "inputtokens",
    "inputlen",
    "inputlength",
];
const CACHED: &[&str] = &[
    "cached",
    "cachedprefix",
    "cachedtokens",
    "cachedprefixtokens",
    "prefix",
    "prefixtokens",
    "prefixlen",
    "prefixlength",
];
const OUTPUT: &[&str] =
    &["output", "outputtokens", "outputlen", "outputlength", "generated", "generatedtokens"];

/// Where the columns are.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    azure: bool,
    arrival: usize,
    prompt: usize,
    cached: Option<usize>,
    output: usize,
    /// Fields of the header, and so of each line.
    fields: usize,
}

impl Columns {
    /// Finds the columns by their names.
    pub(super) fn of_header(header: &str) -> Result<Self, String> {
        let plain = |name: &str| -> String {
            let letters = name.chars().filter(char::is_ascii_alphanumeric);
            letters.collect::<String>().to_ascii_lowercase()
        };
        let names: Vec<String> = fields(header).map(plain).collect();
        let find = |wanted: &[&str]| {
            let mut found = (0..names.len()).filter(|at| wanted.contains(&names[*at].as_str()));
            match (found.next(), found.next()) {
                (Some(first), Some(second)) => Err(format!(
                    "columns {} and {} both read as `{}`; keep one of them",
                    first + 1,
                    second + 1,
                    wanted[0]
                )),
                (first, _) => Ok(first),
            }
        };
        let azure = find(&["contexttokens"])?.is_some();
        let missing = |column: &str| {
            let azure = "TIMESTAMP,ContextTokens,GeneratedTokens";
            format!(
                "there is no column for the {column}; it wants arrival,prompt,cached_prefix,output \
                 or {azure}, and the header is `{}`",
                header.trim()
            )
        };
        let (arrival, output) = (find(ARRIVAL)?, find(OUTPUT)?);
        let prompt = find(if azure { &["contexttokens"] } else { PROMPT })?;
        let cached = find(CACHED)?;
        let arrival = arrival.ok_or_else(|| missing("arrival"))?;
        let prompt = prompt.ok_or_else(|| missing("prompt"))?;
        if cached.is_none() && !azure {
            return Err(missing("cached prefix"));
        }
        let output = output.ok_or_else(|| missing("output"))?;
        Ok(Self { azure, arrival, prompt, cached, output, fields: names.len() })
    }

    pub(super) fn format(&self) -> Format {
        if self.azure { Format::Azure } else { Format::Csv }
    }

    /// One line.
    pub(super) fn read(&self, line: &str) -> Result<TraceRequest, String> {
        let (mut arrival, mut prompt, mut cached, mut output) = ("", "", "0", "");
        let mut count_of_fields = 0;
        for (index, field) in fields(line).enumerate() {
            let field = field.trim().trim_matches('"');
            if index == self.arrival {
                arrival = field;
            } else if index == self.prompt {
                prompt = field;
            } else if index == self.output {
                output = field;
            } else if Some(index) == self.cached {
                cached = field;
            }
            count_of_fields += 1;
        }
        if count_of_fields != self.fields {
            return Err(format!("it has {count_of_fields} fields and the header {}", self.fields));
        }
        let arrival_ms = if self.azure { azure_ms(arrival)? } else { seconds(arrival)? * 1e3 };
        Ok(TraceRequest {
            line: 0,
            arrival_ms,
            prompt: count("prompt", prompt)?,
            cached: count("cached prefix", cached)?,
            output: count("output", output)?,
        })
    }
}

/// The fields of a line; a comma between quotes does not end one.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    line.split(move |character| {
        quoted ^= character == '"';
        character == ',' && !quoted
    })
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => Ok(seconds),
        _ => Err(format!("the arrival `{text}` is no count of seconds of at least 0")),
    }
}

/// A count of tokens; some writers put a point behind it.
pub(super) fn count(name: &str, text: &str) -> Result<i64, String> {
    let whole = text.strip_suffix(".0").unwrap_or(text);
    whole.parse().map_err(|_| format!("the {name} `{text}` is no count of tokens"))
}
