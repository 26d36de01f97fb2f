//! `tune.env`: environment and flags of the server, each with its reason.
//!
//! In goes a sizer with its provenance line; out comes a file that a shell can source and that
//! `docker run --env-file` can read (no quotes, no `export`, one variable a line). Only settings
//! that SGLang 0.5.23 has are written; one that was not decided is left at SGLang's default.

use std::fmt::Write as _;

use super::Sizer;
use crate::plan::Status;

/// Name of the file in an output directory.
pub const ENV_FILE: &str = "tune.env";

/// Launch flags, per server (SGLang divides the chunk by the attention groups itself).
pub fn flags(sizer: &Sizer) -> Vec<(String, u64)> {
    let chunk = sizer.static_chunk.saturating_mul(u64::from(sizer.dp.max(1)));
    vec![
        ("--chunked-prefill-size".to_owned(), chunk),
        ("--page-size".to_owned(), sizer.page_size),
        // A request may end with one more chunk after the largest prefix.
        ("--context-length".to_owned(), sizer.max_context.saturating_add(sizer.chunk_min)),
    ]
}

/// Text of `tune.env`. `sizer_path` is where the plugin finds the sizer; `memory_ends_context`
/// says whether the context must be limited at all.
pub fn env_text(
    sizer: &Sizer,
    headline: &str,
    sizer_path: &str,
    reason: &str,
    memory_ends_context: bool,
) -> String {
    let mut out = String::new();
    let mut line = |text: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{text}");
    };
    line(&format!(
        "# chunktune {}: settings for SGLang {}",
        env!("CARGO_PKG_VERSION"),
        sizer.sglang
    ));
    line(&format!("# {headline}"));
    line(&format!("# model {}, memory path {}", sizer.model, sizer.memory_path));
    line(&format!("# profile_sha256 {}", sizer.profile_sha256));
    line(&format!("# status: {}", sizer.status.name()));
    if sizer.status == Status::Unvalidated {
        line(
            "# Memory of the deployed engine was not observed. The plugin refuses this file unless",
        );
        line("# CHUNKTUNE_ALLOW_UNVALIDATED=1 is set; better, give peaks with --observations.");
    }
    line("");
    line(&format!(
        "# usable memory {} bytes, c {} B, BUDGET {} token^2 (95%), max_context {} tokens",
        sizer.usable_bytes,
        sizer.c_95,
        sizer.budget_95.map_or("unbounded".to_owned(), |b| b.to_string()),
        sizer.max_context
    ));
    line("# Chunk for every prefix, for the SGLang plugin (which is not in this version).");
    line(&format!("CHUNKTUNE_SIZER={sizer_path}"));
    for (symbol, bytes) in &sizer.score_budgets {
        line("");
        line(&format!(
            "# Pool that bounds the scores, {} MiB; rows are split to fit.",
            bytes >> 20
        ));
        if symbol.ends_with("_MB") {
            line(&format!("{symbol}={}", bytes >> 20));
        } else {
            line(&format!("{symbol}={bytes}"));
        }
    }
    line("");
    line(&exact_fill_lines(sizer, reason));
    line("");
    line("# Launch flags:");
    for (flag, value) in flags(sizer) {
        if flag == "--context-length" && !memory_ends_context {
            continue;
        }
        line(&format!("#   {flag} {value}"));
    }
    out
}

fn exact_fill_lines(sizer: &Sizer, reason: &str) -> String {
    let fill = &sizer.exact_fill;
    if fill.block_m == 0 {
        return format!("# Exact fill was not decided: {reason}. SGLang's default stays.");
    }
    let interval = if fill.lo == fill.hi {
        String::new()
    } else {
        format!(" (95% {:.3} to {:.3})", fill.lo, fill.hi)
    };
    let gain = format!(
        "ragged/aligned time per row {:.3}{interval} at BLOCK_SIZE_M {}",
        fill.gain, fill.block_m
    );
    if !fill.deployed {
        return format!(
            "# Exact fill was not decided: {gain};\n# {reason}.\n\
             # SGLang's default stays (SGLANG_EXACT_CHUNK_FILL on, effective on gfx95 only)."
        );
    }
    let value = u8::from(fill.enabled);
    let mut text = format!("# Exact fill: {gain}; {reason}.\nSGLANG_EXACT_CHUNK_FILL={value}");
    if fill.force {
        text.push_str("\n# SGLang ignores it on this architecture; the plugin forces it.");
    }
    text
}
