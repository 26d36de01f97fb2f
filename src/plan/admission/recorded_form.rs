//! The form in which decisions were recorded: a pass as a list of figures, an event as another.
//!
//! In goes a pass; out comes JSON.

use serde_json::{Value, json};

use super::{Event, Kind, Pass, Verdict};

/// Names of the fields of a pass, in order; the last is there only without prefix cache.
pub const PASS_FIELDS: [&str; 16] = [
    "step",
    "n_running",
    "n_waiting",
    "pool",
    "run_off",
    "ratio",
    "rem_chunk0",
    "rem_input0",
    "events",
    "rem_chunk",
    "rem_input",
    "total_offset",
    "current_offset",
    "sum_extend",
    "batch_is_full",
    "running",
];

/// A pass in the recorded form.
pub(super) fn row(pass: &Pass, with_running: bool) -> Vec<Value> {
    let mut row = vec![
        json!(pass.step),
        json!(pass.running),
        json!(pass.waiting),
        json!(pass.pool),
        json!(pass.run_offset),
        json!(pass.ratio),
        json!(pass.chunk_before),
        json!(pass.input_before),
        pass.events.iter().map(event_row).collect(),
        json!(pass.chunk_after),
        json!(pass.input_after),
        json!(pass.total_offset),
        json!(pass.current_offset),
        json!(pass.rows),
        json!(u8::from(pass.full)),
    ];
    if with_running && pass.running > 0 {
        row.push(json!(pass.running_lengths));
    }
    row
}

/// An event in the recorded form: kind, id, verdict, prefix, extend, chunked, chunk budget.
fn event_row(event: &Event) -> Value {
    let (kind, verdict) = match event.kind {
        Kind::New(Verdict::Continue) => ("N", 0),
        Kind::New(Verdict::NoToken) => ("N", 1),
        Kind::New(Verdict::Other) => ("N", 2),
        Kind::Chunk if event.chunked || event.extend == 0 => ("C", 4),
        Kind::Chunk => ("C", 3),
    };
    // A cut prompt that had to wait was not cut again.
    let chunked = u8::from(event.chunked && event.extend > 0);
    json!([kind, event.id, verdict, event.prefix, event.extend, chunked, event.rem_chunk])
}
