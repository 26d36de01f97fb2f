//! Recordings to compare with, and scenarios to decide.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::super::output;
use crate::error::{self, Error, Exit, Result};
use crate::plan::admission::oracle::Recording;
use crate::plan::admission::scenario::PASS_FIELDS;

/// Differences that are printed; the rest is counted.
const SHOWN: usize = 20;

fn read(path: &Path) -> Result<Recording> {
    let text = error::read_text(path)?;
    Recording::parse(&text).map_err(|why| Error::format(path, why))
}

/// Compares every recorded decision; status 1 where one differs or cannot be compared.
pub fn compare(path: &Path, json: bool) -> Result<Exit> {
    #[derive(Serialize)]
    struct Report<'a> {
        counts: std::collections::BTreeMap<&'a str, usize>,
        mismatches: &'a [String],
        refused: &'a [String],
    }
    let found = read(path)?.compare();
    let clean = found.mismatches.is_empty() && found.refused.is_empty();
    let exit = if clean { Exit::Ok } else { Exit::Failed };
    if json {
        output::json(&Report {
            counts: found.counts.iter().copied().collect(),
            mismatches: &found.mismatches,
            refused: &found.refused,
        })?;
        return Ok(exit);
    }
    let totals = [("mismatches", found.mismatches.len()), ("refused", found.refused.len())];
    for (name, count) in found.counts.iter().copied().chain(totals) {
        output::line(format_args!("{name:<12} {count:>8}"))?;
    }
    for (title, lines) in [("differ", &found.mismatches), ("refused", &found.refused)] {
        if !lines.is_empty() {
            output::line(format_args!("\n{title}:"))?;
        }
        for line in lines.iter().take(SHOWN) {
            output::line(format_args!("  {line}"))?;
        }
        if lines.len() > SHOWN {
            output::line(format_args!("  and {} more (--json lists all)", lines.len() - SHOWN))?;
        }
    }
    Ok(exit)
}

/// Prints the decisions of every scenario; status 1 where one is refused.
pub fn decide(path: &Path, json: bool) -> Result<Exit> {
    let Recording::Scheduler(file) = read(path)? else {
        return Err(Error::format(path, "it holds no scenarios, but predictions of the sizer")
            .advice("compare with it: tune admit --oracle"));
    };
    let (mut rows, mut exit) = (Vec::new(), Exit::Ok);
    for scenario in &file.scenarios {
        match scenario.replay(&file) {
            Ok(replay) => rows.push((scenario, replay)),
            Err(error) => {
                let scenario = scenario.id;
                output::warn(format_args!("{}: scenario {scenario}: {error}", path.display()));
                exit = Exit::Failed;
            }
        }
    }
    if json {
        let rows: Vec<Value> = rows
            .into_iter()
            .map(|(scenario, replay)| {
                serde_json::json!({
                    "id": scenario.id,
                    "pass_fields": PASS_FIELDS,
                    "passes": replay.passes,
                    "steps": replay.steps,
                    "stuck": u8::from(replay.stuck),
                })
            })
            .collect();
        output::json(&rows)?;
        return Ok(exit);
    }
    for (scenario, replay) in rows {
        let stuck = if replay.stuck { ", then a request that can never be admitted" } else { "" };
        output::line(format_args!(
            "scenario {} {}: {} passes in {} steps{stuck}",
            scenario.id,
            scenario.fam,
            replay.passes.len(),
            replay.steps
        ))?;
        for pass in &replay.passes {
            output::line(pass_line(pass))?;
        }
    }
    Ok(exit)
}

/// One pass in words: step, rows, budgets, and `request:prefix+rows` of each that was tried.
fn pass_line(pass: &[Value]) -> String {
    let field = |name: &str| {
        let at = PASS_FIELDS.iter().position(|field| *field == name);
        at.and_then(|at| pass.get(at))
    };
    let text = |name: &str| field(name).map(Value::to_string).unwrap_or_default();
    let events = field("events").and_then(Value::as_array);
    let tried = events.map(Vec::as_slice).unwrap_or_default().iter().map(|event| {
        let (id, prefix, rows) = (&event[1], &event[3], &event[4]);
        let verdict = match event[2].as_i64() {
            Some(1) => " NO_TOKEN",
            Some(2) => " OTHER",
            _ => "",
        };
        let cut = if event[5] == 1 { " cut" } else { "" };
        format!("{id}:{prefix}+{rows}{cut}{verdict}")
    });
    format!(
        "  step {:>5}  rows {:>6}  chunk {} -> {}  running {}  waiting {}  {}",
        text("step"),
        text("sum_extend"),
        text("rem_chunk0"),
        text("rem_chunk"),
        text("n_running"),
        text("n_waiting"),
        tried.collect::<Vec<_>>().join(", ")
    )
}
