//! Chunk, page, truncation and tile against each other.

use super::super::effective::{REPLAY_ROWS, backend, truthy};
use super::super::{Finding, Severity};
use super::{Subject, finding};
use crate::sglang::Effect;

const SHARDING: &str = "--enable-kv-cache-sharding";
const CHUNK: &str = "--chunked-prefill-size";
const PAGE: &str = "--page-size";
/// Flags that take a whole number; at least 1 but for the chunk, which 0 and less switch off.
pub(super) const COUNTS: [&str; 10] = [
    CHUNK,
    PAGE,
    "--context-length",
    "--max-prefill-tokens",
    "--tp-size",
    "--dp-size",
    "--pp-size",
    "--attn-dp-size",
    "--attn-cp-size",
    "--dcp-size",
];

pub(super) fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Subject { server, effective, .. } = subject;
    findings.extend(COUNTS.iter().filter_map(|name| count(subject, name)));
    if effective.off {
        // -1 is how SGLang spells off: nothing is divided and no page is asked for.
        findings.push(finding(
            Severity::Info,
            "chunking_off",
            "chunked prefill is off: a prompt is one chunk whatever its length, and the sizer is \
             never asked",
            server.source(CHUNK),
            "give a positive chunk to limit the memory of prefill",
        ));
        return;
    }
    let Some(chunk) = effective.chunk else {
        findings.push(finding(
            Severity::Info,
            "chunk_not_given",
            "the chunk is not given: SGLang chooses one by the memory of the GPU",
            server.source(CHUNK),
            "give the chunk of the plan",
        ));
        return;
    };
    let mut found = vec![groups(subject, chunk), page(subject, chunk), truncation(subject, chunk)];
    found.extend([replay(subject, chunk), tile(subject), not_exact(subject)]);
    found.extend([sharding(subject), mega_moe(subject), mixed(subject, chunk)]);
    findings.extend(found.into_iter().flatten());
}

/// Decode rows are charged to the chunk, and a prompt that does not fit needs a whole page of it
/// (`PrefillAdder` with `mixed_with_decode_tokens`).
fn mixed(subject: &Subject<'_>, chunk: u64) -> Option<Finding> {
    let Subject { server, facts, effective, .. } = subject;
    let rows = facts.decode_rows.filter(|_| server.has("--enable-mixed-chunk"))?;
    let page = effective.page.unwrap_or(1);
    let left = chunk.saturating_sub(rows);
    (left < page).then(|| {
        finding(
            Severity::Error,
            "chunk_full_of_decode",
            format!(
                "{rows} decode rows leave {left} of the {chunk} tokens of a chunk, less than a page of \
                 {page}: while so many requests decode, no prompt goes on"
            ),
            server.source(CHUNK),
            format!("give a chunk of at least {} a rank, or let fewer requests run at once", rows.saturating_add(page)),
        )
    })
}

fn count(subject: &Subject<'_>, name: &str) -> Option<Finding> {
    let server = subject.server;
    let what = match server.number(name) {
        None if server.has(name) => "is no whole number",
        Some(value) if value < 1 && name != CHUNK => "must be at least 1",
        _ => return None,
    };
    Some(finding(
        Severity::Error,
        "not_a_number",
        format!("{name} {what}"),
        server.source(name),
        "give a whole number of at least 1",
    ))
}

fn groups(subject: &Subject<'_>, chunk: u64) -> Option<Finding> {
    let Subject { server, effective, .. } = subject;
    if server.resolved || effective.groups < 2 {
        return None;
    }
    let asked = server.number(CHUNK)?;
    let groups = effective.groups;
    let rest = u64::try_from(asked).ok()? % groups;
    let severity = if rest == 0 { Severity::Info } else { Severity::Warning };
    Some(finding(
        severity,
        "chunk_divided",
        format!(
            "with DP attention SGLang divides the chunk by {groups}: {asked} becomes {chunk} a rank"
        ),
        server.source(CHUNK),
        format!("for N tokens a rank give {groups} x N"),
    ))
}

fn page(subject: &Subject<'_>, chunk: u64) -> Option<Finding> {
    let Subject { server, effective, .. } = subject;
    let page = effective.page?;
    if chunk.is_multiple_of(page) {
        return None;
    }
    Some(finding(
        Severity::Error,
        "chunk_not_whole_pages",
        format!(
            "a chunk of {chunk} tokens a rank is no multiple of the page of {page}: the server \
                 does not start (chunked_prefill_size must be divisible by page_size)"
        ),
        format!("{}, {}", server.source(CHUNK), server.source(PAGE)),
        format!("give a chunk of {} a rank", (chunk / page).max(1) * page),
    ))
}

fn truncation(subject: &Subject<'_>, chunk: u64) -> Option<Finding> {
    let Subject { server, release, effective, .. } = subject;
    let align = effective.truncation?;
    let source = format!(
        "{}, alignment {align} of {}",
        server.source(CHUNK),
        backend(server).unwrap_or("the model")
    );
    if chunk < align {
        let what = if release.has("truncation_check") {
            "the server refuses to start"
        } else {
            "it waits forever while the server reports health"
        };
        return Some(finding(
            Severity::Error,
            "chunk_below_truncation",
            format!(
                "chunks are cut at multiples of {align}, and {chunk} / {align} is 0: a prompt of \
                 more than {chunk} tokens is never admitted; {what}"
            ),
            source,
            format!("give a chunk of at least {align} a rank, or a smaller alignment"),
        ));
    }
    let cut = chunk / align * align;
    (cut != chunk).then(|| {
        finding(
            Severity::Warning,
            "chunk_truncated",
            format!(
                "a prompt that does not fit is cut to {cut} of {chunk} tokens ({:.0}%)",
                100.0 * cut as f64 / chunk as f64
            ),
            source,
            format!("give a multiple of {align}"),
        )
    })
}

fn replay(subject: &Subject<'_>, chunk: u64) -> Option<Finding> {
    let Subject { server, effective, .. } = subject;
    if !server.has("--enable-encoder-swa-bounded-replay") {
        return None;
    }
    let least = REPLAY_ROWS + effective.page.unwrap_or(1);
    (chunk < least).then(|| {
        finding(
            Severity::Error,
            "chunk_below_replay",
            format!(
                "a cache hit replays {REPLAY_ROWS} rows and needs a page beside them: with \
                     {chunk} tokens it is never admitted"
            ),
            server.source(CHUNK),
            format!("give at least {least} a rank"),
        )
    })
}

/// What KV sharding asks of the rest (`kv_shard_hook.handle_kv_cache_sharding`).
fn sharding(subject: &Subject<'_>) -> Option<Finding> {
    let Subject { server, release, effective, .. } = subject;
    let known = release.rules().any(|(rule, _)| matches!(rule.effect, Effect::RoundUp { .. }));
    if !known || !server.has(SHARDING) {
        return None;
    }
    let pipeline = server.number("--pp-size").is_some_and(|stages| stages > 1);
    let (reason, fix) = if effective.page.is_none_or(|page| page < 2) {
        (
            "with KV sharding a page is what ranks exchange, and this one is 1 token",
            "give --page-size 64",
        )
    } else if pipeline && server.has("--enable-dynamic-chunking") {
        (
            "KV sharding has scratch memory for one chunk, and SGLang's own sizer exceeds it",
            "drop --enable-dynamic-chunking",
        )
    } else {
        return None;
    };
    let reason = format!("{reason}: the server refuses to start");
    Some(finding(Severity::Error, "kv_sharding", reason, server.source(SHARDING), fix))
}

/// Whether mega-MoE has room for a chunk. On ROCm its capacity is a variable of AITER's kernel
/// (`mega_moe_flydsl._mtpr`), and larger passes go without it.
fn mega_moe(subject: &Subject<'_>) -> Option<Finding> {
    const CAPACITY: &str = "SGLANG_AMD_FLYDSL_MEGA_MOE_MTPR";
    const DEFAULT: u64 = 8192;
    let server = subject.server;
    let needed = subject.effective.mega_moe?;
    let given = server.env_number(CAPACITY).and_then(|n| u64::try_from(n).ok());
    let room = given.unwrap_or(DEFAULT);
    let (severity, reason) = if !room.is_power_of_two() {
        (
            Severity::Error,
            format!("{CAPACITY} is {room} and must be a power of two: the server refuses to start"),
        )
    } else if needed > room {
        (
            Severity::Warning,
            format!(
                "a rank dispatches {needed} tokens of a chunk, and mega-MoE has room for {room}: full \
                 passes go without it, and a model that has no other path fails"
            ),
        )
    } else {
        return None;
    };
    let fix = format!("set {CAPACITY} to a power of two from {needed} on, or give a smaller chunk");
    Some(finding(severity, "mega_moe_budget", reason, server.source(CAPACITY), fix))
}

/// Rows of the tile that decides.
fn block(subject: &Subject<'_>) -> Option<u64> {
    let planned = || subject.facts.sizer.map(|sizer| sizer.exact_fill.block_m);
    subject.facts.block_m.or_else(planned).filter(|block| *block > 1)
}

fn tile(subject: &Subject<'_>) -> Option<Finding> {
    let Subject { server, facts, effective, .. } = subject;
    let (block, rows) = (block(subject)?, effective.rows?);
    let misses = rows % block;
    if misses == 0 {
        return None;
    }
    let mut parts = vec![format!("chunk {}", effective.cut?)];
    if server.has("--enable-mixed-chunk") {
        let decode = facts.decode_rows.map_or("its".to_owned(), |rows| rows.to_string());
        parts.push(format!("{decode} decode rows within it"));
    }
    if server.has("--enable-encoder-swa-bounded-replay") {
        parts.push(format!("{REPLAY_ROWS} replay rows"));
    }
    let gain = facts.sizer.map_or(1.0, |sizer| sizer.exact_fill.gain);
    let cost = if gain > 1.0 { format!(", {gain:.2}x the time a row") } else { String::new() };
    Some(finding(
        Severity::Warning,
        "full_pass_misses_tile",
        format!(
            "a full pass has M = {rows} rows ({}), {misses} past a whole number of BLOCK_SIZE_M = \
             {block}: the ragged kernel runs{cost}",
            parts.join(", ")
        ),
        server.source(CHUNK),
        format!("choose a chunk whose full pass is a multiple of {block}"),
    ))
}

/// Page-rounded charging leaves a pass short of the chunk.
fn not_exact(subject: &Subject<'_>) -> Option<Finding> {
    let Subject { server, release, facts, effective } = subject;
    let (block, page) = (block(subject)?, effective.page.filter(|page| *page > 1)?);
    let arch = facts.arch.or_else(|| facts.sizer.map(|sizer| sizer.arch.as_str()))?;
    let (env, read) = release.env("SGLANG_EXACT_CHUNK_FILL")?;
    let switched = server.env.get(&env.name).is_none_or(|given| truthy(&given.value));
    let forced = facts.sizer.is_some_and(|sizer| sizer.exact_fill.force);
    let works = read && switched && (forced || env.archs.iter().any(|a| a == arch));
    (!works).then(|| {
        finding(
            Severity::Info,
            "chunk_not_filled",
            format!(
                "exact fill is not in effect: prompts are charged in pages of {page}, a batch of \
                 several ends short of the chunk and misses BLOCK_SIZE_M = {block}"
            ),
            format!("{}, target {arch}, SGLang {}", env.name, release.version),
            "nothing to set here; see the measured gain before forcing it with the plugin",
        )
    })
}
