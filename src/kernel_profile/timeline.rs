//! The timeline of the simulated compute unit in the Chrome trace format, which Perfetto reads.

use serde_json::{Value, json};

use super::KernelProfile;

/// The trace of the first profile's compute unit: a process a SIMD, a thread a wave slot; each
/// instruction and each wait is a slice. Times are microseconds at the launch's clock.
pub fn chrome_trace(profile: &KernelProfile) -> Value {
    let us = |clk: u64| clk as f64 / profile.clock_mhz;
    let mut events: Vec<Value> = Vec::new();
    let mut simds: Vec<u32> = profile.trace.iter().map(|e| e.simd).collect();
    simds.sort_unstable();
    simds.dedup();
    for simd in simds {
        let name = format!("SIMD {simd}");
        events
            .push(json!({"ph": "M", "pid": simd, "name": "process_name", "args": {"name": name}}));
    }
    for event in &profile.trace {
        let slice = |name: &str, category: &str, from: u64, to: u64| {
            json!({
                "ph": "X", "pid": event.simd, "tid": event.slot, "name": name, "cat": category,
                "ts": us(from), "dur": us(to - from), "args": {"workgroup": event.workgroup},
            })
        };
        if event.since < event.issued {
            events.push(slice(event.reason.name(), "wait", event.since, event.issued));
        }
        let text = profile.listing.get(event.pc).map_or("?", String::as_str);
        events.push(slice(text, "issue", event.issued, event.ready.max(event.issued)));
    }
    json!({"traceEvents": events, "displayTimeUnit": "ns"})
}
