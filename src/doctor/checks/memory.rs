//! Chunk and context against the frontier of the plan.

use super::super::{Finding, Severity};
use super::{Subject, finding};
use crate::emit::Sizer;

pub(super) fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(sizer) = subject.facts.sizer else { return };
    findings.extend(
        [context(subject, sizer), chunk(subject, sizer), limit(subject, sizer)]
            .into_iter()
            .flatten(),
    );
    findings.extend([pages(subject, sizer), dynamic(subject, sizer)].into_iter().flatten());
    findings.extend(off(subject, sizer));
}

/// The longest request that the server takes, tokens.
fn longest(subject: &Subject<'_>, sizer: &Sizer) -> u64 {
    let given = subject.server.number("--context-length").and_then(|n| u64::try_from(n).ok());
    given.filter(|n| *n > 0).unwrap_or(sizer.longest_request())
}

fn context(subject: &Subject<'_>, sizer: &Sizer) -> Option<Finding> {
    let name = "--context-length";
    let end = sizer.longest_request();
    if !subject.server.has(name) {
        return Some(finding(
            Severity::Info,
            "context_not_given",
            format!(
                "the context is not given: the model's own applies; the plan serves requests of up \
                 to {end} tokens"
            ),
            subject.server.source(name),
            format!("give --context-length {end} if the model's is longer"),
        ));
    }
    let given = longest(subject, sizer);
    (given > end).then(|| {
        finding(
            Severity::Error,
            "context_past_frontier",
            format!(
                "a context of {given} is longer than the plan serves, {end}: past prefix {} no \
                 chunk is known to fit",
                sizer.max_context
            ),
            subject.server.source(name),
            format!("give --context-length {end} or less"),
        )
    })
}

fn chunk(subject: &Subject<'_>, sizer: &Sizer) -> Option<Finding> {
    let chunk = subject.effective.chunk?;
    let source = subject.server.source("--chunked-prefill-size");
    if chunk > sizer.chunk_max {
        return Some(finding(
            Severity::Error,
            "chunk_above_plan",
            format!(
                "a chunk of {chunk} a rank is larger than the plan's largest, {}",
                sizer.chunk_max
            ),
            source,
            format!("give {} a rank, or plan again with --chunk-max {chunk}", sizer.chunk_max),
        ));
    }
    // A prompt never begins a chunk after its context less one row.
    let end = longest(subject, sizer);
    let (from, fits) = *sizer.table.iter().find(|(from, fits)| *from < end && *fits < chunk)?;
    let planned = subject.server.env.contains_key("CHUNKTUNE_SIZER");
    if !planned {
        return Some(finding(
            Severity::Error,
            "chunk_above_frontier",
            format!(
                "no sizer is installed (CHUNKTUNE_SIZER), so every chunk has {chunk} rows; from \
                 prefix {from} on only {fits} fit"
            ),
            source,
            format!("install the sizer, or give {} a rank", smallest(sizer, end)),
        ));
    }
    if subject.server.has("--disable-radix-cache") {
        return None;
    }
    let (severity, clamp, fix) = if subject.release.has("plugins") {
        (
            Severity::Info,
            "the plugin lowers it there, if its start line says that the clamp is installed",
            "look for the plugin's line in the log".to_owned(),
        )
    } else {
        (
            Severity::Error,
            "this version has no plugins that could lower it",
            format!("give {} a rank, or --disable-radix-cache", smallest(sizer, end)),
        )
    };
    Some(finding(
        severity,
        "first_chunk_on_cached_prefix",
        format!(
            "the first chunk of a request has the static {chunk} rows also on a cached prefix; \
             from {from} on only {fits} fit; {clamp}"
        ),
        source,
        fix,
    ))
}

/// The smallest chunk up to the end of the context.
fn smallest(sizer: &Sizer, end: u64) -> u64 {
    let rows = sizer.table.iter().filter(|(from, _)| *from < end).map(|(_, chunk)| *chunk);
    rows.min().unwrap_or(sizer.chunk_min)
}

fn limit(subject: &Subject<'_>, sizer: &Sizer) -> Option<Finding> {
    let name = "--max-prefill-tokens";
    let given = u64::try_from(subject.server.number(name)?).ok()?;
    (given < sizer.chunk_max).then(|| {
        finding(
            Severity::Warning,
            "max_prefill_below_chunk",
            format!(
                "the plan's chunks go up to {}, but no answer of the sizer above {given} is used",
                sizer.chunk_max
            ),
            subject.server.source(name),
            format!("give {name} {}", sizer.chunk_max),
        )
    })
}

/// SGLang's own sizer beside the plan's.
fn dynamic(subject: &Subject<'_>, sizer: &Sizer) -> Option<Finding> {
    let largest = subject.effective.dynamic.filter(|largest| *largest > sizer.chunk_max)?;
    let source = subject.server.source("--enable-dynamic-chunking");
    if subject.server.env.contains_key("CHUNKTUNE_SIZER") {
        return Some(finding(
            Severity::Info,
            "dynamic_chunk",
            format!(
                "SGLang's own sizer may ask for chunks of up to {largest}; the smaller of its answer \
                 and the plan's counts"
            ),
            source,
            "nothing; it only costs the time that it takes to profile at start",
        ));
    }
    Some(finding(
        Severity::Error,
        "dynamic_chunk",
        format!(
            "SGLang's own sizer lets continued chunks grow to {largest} rows; the plan's largest is {}",
            sizer.chunk_max
        ),
        source,
        format!("install the sizer, or give --max-prefill-tokens {}", sizer.chunk_max),
    ))
}

fn pages(subject: &Subject<'_>, sizer: &Sizer) -> Option<Finding> {
    let page = subject.effective.page?;
    let forced = subject.server.number("--page-size") == i64::try_from(sizer.page_size).ok();
    let fix = if forced {
        format!("plan again with --page-size {page}: this server has no other")
    } else {
        format!("give --page-size {}, or plan again with {page}", sizer.page_size)
    };
    (page != sizer.page_size).then(|| {
        finding(
            Severity::Error,
            "page_mismatch",
            format!("the server's page is {page}, the plan was made for {}", sizer.page_size),
            subject.server.source("--page-size"),
            fix,
        )
    })
}

fn off(subject: &Subject<'_>, sizer: &Sizer) -> Option<Finding> {
    subject.effective.off.then(|| {
        let end = longest(subject, sizer);
        finding(
            Severity::Error,
            "chunk_above_frontier",
            format!(
                "a prompt of {end} tokens would be one chunk of as many rows; the plan allows {}",
                sizer.chunk_max
            ),
            subject.server.source("--chunked-prefill-size"),
            format!("give --chunked-prefill-size {}", sizer.static_chunk),
        )
    })
}
