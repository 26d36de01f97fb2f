//! Checks against recorded decisions of SGLang's own code: of its scheduler (scenarios) and of its
//! dynamic chunk sizer (predictions and fits).
//!
//! In goes a JSON file of either format; out come counts and every difference.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::scenario::{PASS_FIELDS, Replay, Scenario, Scenarios};
use crate::plan::baselines::sglang::{DynamicChunkSizer, Quadratic};

/// Relative error of a fitted coefficient that counts as equal. SGLang fits by singular values, this
/// program by orthogonalisation: they agree to rounding, not to the last bit.
const FIT_TOLERANCE: f64 = 1e-9;

/// A file of recorded decisions.
#[derive(Clone, Debug)]
pub enum Recording {
    /// Of the scheduler.
    Scheduler(Scenarios),
    /// Of the dynamic chunk sizer.
    Sizer(SizerRecording),
}

/// Recorded outputs of `ChunkSizePredictor` and `DynamicChunkSizer`.
#[derive(Clone, Debug, Deserialize)]
pub struct SizerRecording {
    coef: BTreeMap<String, [f64; 3]>,
    history: Vec<u64>,
    rows: Vec<Predictions>,
    #[serde(default)]
    fits: Vec<Fitted>,
}

#[derive(Clone, Debug, Deserialize)]
struct Predictions {
    coef: String,
    page: u64,
    base: u64,
    max_chunk: u64,
    context_len: u64,
    smooth: f64,
    target: f64,
    out: Vec<Option<u64>>,
    out_nomax: Vec<Option<u64>>,
}

#[derive(Clone, Debug, Deserialize)]
struct Fitted {
    chunk: u64,
    seq_lens: Vec<u64>,
    lat_ms: Vec<f64>,
    fitted: [f64; 3],
    target: f64,
}

/// How a file compares with this program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// What was counted, in the order in which it is worth printing.
    pub counts: Vec<(&'static str, usize)>,
    /// Differences, each with its place.
    pub mismatches: Vec<String>,
    /// Scenarios that are not replayed, with the reason.
    pub refused: Vec<String>,
}

impl Recording {
    /// Reads either format.
    ///
    /// # Errors
    /// Not JSON, or neither of the two formats; the message has line and column where there are any.
    pub fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Keys {
            scenarios: Option<serde::de::IgnoredAny>,
            rows: Option<serde::de::IgnoredAny>,
        }
        if !text.trim_start().starts_with('{') {
            return Err("not a JSON object; a recording has `scenarios` (decisions of the \
                        scheduler) or `rows` (predictions of the sizer)"
                .to_owned());
        }
        let keys: Keys = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let parsed = match (keys.scenarios, keys.rows) {
            (Some(_), None) => serde_json::from_str(text).map(Self::Scheduler),
            (None, Some(_)) => serde_json::from_str(text).map(Self::Sizer),
            _ => {
                return Err("it has neither `scenarios` (decisions of the scheduler) nor `rows` \
                            (predictions of the sizer), or both"
                    .to_owned());
            }
        };
        match parsed {
            Ok(Self::Scheduler(file)) if file.scenarios.is_empty() => {
                Err("its list of `scenarios` is empty".to_owned())
            }
            Ok(Self::Sizer(file)) if file.rows.is_empty() => {
                Err("its list of `rows` is empty".to_owned())
            }
            Ok(recording) => Ok(recording),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Compares every recorded decision.
    pub fn compare(&self) -> Comparison {
        match self {
            Self::Scheduler(file) => compare_scenarios(file),
            Self::Sizer(file) => file.compare(),
        }
    }
}

fn compare_scenarios(file: &Scenarios) -> Comparison {
    let mut found = Comparison::default();
    let (mut passes, mut events, mut compared) = (0, 0, 0);
    for scenario in &file.scenarios {
        let at = format!("scenario {} ({})", scenario.id, scenario.fam);
        let Some(recorded) = &scenario.passes else {
            found.refused.push(format!("{at}: it holds no recorded passes"));
            continue;
        };
        let replay = match scenario.replay(file) {
            Ok(replay) => replay,
            Err(error) => {
                found.refused.push(format!("{at}: {error}"));
                continue;
            }
        };
        compared += 1;
        passes += recorded.len();
        events += recorded.iter().map(|pass| pass.get(8).map_or(0, length)).sum::<usize>();
        found
            .mismatches
            .extend(difference(scenario, recorded, &replay).map(|d| format!("{at}: {d}")));
    }
    found.counts = vec![("scenarios", compared), ("passes", passes), ("events", events)];
    found
}

fn length(events: &Value) -> usize {
    events.as_array().map_or(0, Vec::len)
}

/// The first difference of a replay: what follows is a consequence of it.
fn difference(scenario: &Scenario, recorded: &[Vec<Value>], replay: &Replay) -> Option<String> {
    for (number, (recorded, replayed)) in recorded.iter().zip(&replay.passes).enumerate() {
        for (field, name) in PASS_FIELDS.iter().enumerate() {
            let (old, new) = (recorded.get(field), replayed.get(field));
            // Ratios are recorded to twelve decimals; running requests not in every recording.
            let kept = match *name {
                "ratio" => rounded(new) == old.and_then(Value::as_f64) || same(old, new),
                "running" => old.is_none() || same(old, new),
                _ => same(old, new),
            };
            if !kept {
                let show = |value: Option<&Value>| value.map_or("nothing".into(), Value::to_string);
                return Some(format!(
                    "pass {number}, {name}: recorded {}, replayed {}",
                    show(old),
                    show(new)
                ));
            }
        }
    }
    let counts = [
        ("passes", Some(recorded.len() as u64), replay.passes.len() as u64),
        ("steps", scenario.steps, replay.steps),
        ("stuck", scenario.stuck.map(u64::from), u64::from(replay.stuck)),
    ];
    counts.iter().find_map(|(name, old, new)| {
        let old = old.filter(|old| old != new)?;
        Some(format!("{name}: recorded {old}, replayed {new}"))
    })
}

fn rounded(value: Option<&Value>) -> Option<f64> {
    format!("{:.12}", value?.as_f64()?).parse().ok()
}

/// Equal as JSON, with numbers compared by value.
fn same(old: Option<&Value>, new: Option<&Value>) -> bool {
    match (old, new) {
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            old.len() == new.len() && old.iter().zip(new).all(|(o, n)| same(Some(o), Some(n)))
        }
        (Some(Value::Number(old)), Some(Value::Number(new))) => old.as_f64() == new.as_f64(),
        (old, new) => old == new,
    }
}

impl SizerRecording {
    fn compare(&self) -> Comparison {
        let mut found = Comparison::default();
        let (mut predictions, mut fits) = (0, 0);
        for (index, row) in self.rows.iter().enumerate() {
            let at = format!("row {index} ({}, page {}, base {})", row.coef, row.page, row.base);
            let Some(&[a, b, c]) = self.coef.get(&row.coef) else {
                found.refused.push(format!("{at}: there are no coefficients `{}`", row.coef));
                continue;
            };
            let model = Quadratic { a, b, c };
            let target_ms = match model.target(row.base) {
                Ok(target) => target,
                Err(error) => {
                    found.refused.push(format!("{at}: {error}"));
                    continue;
                }
            };
            if target_ms != row.target {
                let target = row.target;
                found.mismatches.push(format!("{at}: target {target} ms, computed {target_ms}"));
            }
            let capped = DynamicChunkSizer {
                model,
                target_ms,
                chunked_prefill_size: row.base,
                max_prefill_tokens: Some(row.max_chunk),
                page_size: row.page,
                context_len: row.context_len,
                smooth: row.smooth,
            };
            let open = DynamicChunkSizer { max_prefill_tokens: None, ..capped };
            for (name, sizer, outputs) in
                [("out", capped, &row.out), ("out_nomax", open, &row.out_nomax)]
            {
                if outputs.len() != self.history.len() {
                    let (outputs, history) = (outputs.len(), self.history.len());
                    found.refused.push(format!("{at}: {outputs} `{name}` for {history} lengths"));
                    continue;
                }
                predictions += outputs.len();
                for (&history, &recorded) in self.history.iter().zip(outputs) {
                    let computed = sizer.predict(history);
                    if computed != recorded {
                        found.mismatches.push(format!(
                            "{at}, {name} after {history} tokens: recorded {}, computed {}",
                            or_static(recorded),
                            or_static(computed)
                        ));
                    }
                }
            }
        }
        for (index, fit) in self.fits.iter().enumerate() {
            fits += 1;
            found.mismatches.extend(fit.difference().map(|d| format!("fit {index}: {d}")));
        }
        found.counts =
            vec![("rows", self.rows.len()), ("predictions", predictions), ("fits", fits)];
        found
    }
}

fn or_static(chunk: Option<u64>) -> String {
    chunk.map_or("the static size".to_owned(), |chunk| chunk.to_string())
}

impl Fitted {
    fn difference(&self) -> Option<String> {
        let samples: Vec<(u64, f64)> =
            self.seq_lens.iter().copied().zip(self.lat_ms.iter().copied()).collect();
        let found = match Quadratic::fit(&samples) {
            Ok(found) => found,
            Err(error) => return Some(error.to_string()),
        };
        let [a, b, c] = self.fitted;
        let near = |x: f64, y: f64| x == y || (x / y - 1.0).abs() < FIT_TOLERANCE;
        if !(near(found.a, a) && near(found.b, b) && near(found.c, c)) {
            return Some(format!("recorded {:?}, fitted {found:?}", self.fitted));
        }
        match (Quadratic { a, b, c }).target(self.chunk) {
            Ok(target) if target == self.target => None,
            other => Some(format!("recorded target {}, computed {other:?}", self.target)),
        }
    }
}
