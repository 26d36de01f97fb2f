//! The timeline of the simulated compute unit in the Chrome trace format, which Perfetto reads.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::KernelProfile;

/// The trace of the first profile's compute unit: a process a SIMD, a thread a wave slot; each
/// instruction and each wait is a slice. Times are microseconds at the launch's clock.
pub fn chrome_trace(profile: &KernelProfile) -> Value {
    let us = |clk: u64| clk as f64 / profile.clock_mhz;
    let mut events: Vec<Value> = Vec::new();
    let waves: BTreeSet<(u32, u32)> = profile.trace.iter().map(|e| (e.simd, e.slot)).collect();
    for (simd, slot) in waves {
        for (what, name) in
            [("process_name", format!("SIMD {simd}")), ("thread_name", format!("wave slot {slot}"))]
        {
            let args = json!({"name": name});
            events.push(json!({"ph": "M", "pid": simd, "tid": slot, "name": what, "args": args}));
        }
    }
    for event in &profile.trace {
        let text = profile.listing.get(event.pc).map_or("?", String::as_str);
        let (name, category) = match event.wait {
            Some(reason) => (format!("wait {}", reason.name()), "wait"),
            None => (text.to_owned(), "issue"),
        };
        events.push(json!({
            "ph": "X", "pid": event.simd, "tid": event.slot, "name": name, "cat": category,
            "ts": us(event.begin), "dur": us(event.end.saturating_sub(event.begin)),
            "args": {"workgroup": event.workgroup, "instruction": text},
        }));
    }
    json!({"traceEvents": events, "displayTimeUnit": "ns"})
}
