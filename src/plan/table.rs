//! The table of a plan: lengths that a chunk may have, the chunk for every prefix, and both in
//! words.
//!
//! In go the request, the frontier, the alignment decision and the time of a chunk where it is
//! known; out comes the schedule with what it takes.

use super::first_chunk::FirstChunk;
use super::policy::{self, Chosen};
use super::reach::Reach;
use super::tail::Worst;
use super::{
    AlignmentDecision, ChunkRange, ChunkTime, DEFAULT_CONTEXT, EndsBy, Frontier, PlanError,
    Request, Schedule, TimePlan, WORTH,
};

/// Time that chunks in whole tiles may take over chunks in whole pages.
const TILES_WITHIN: f64 = 0.01;

/// Time that a prompt may take over one with a tiny last chunk left as it is. Times are those of
/// kernels, without what every pass costs beside them.
const TAIL_WITHIN: f64 = 0.01;

/// Extra time of a tiny last chunk that is worth a sentence.
const WORTH_SAYING: f64 = 0.001;

/// Longest context of the request, tokens.
pub(super) fn context(request: &Request) -> u64 {
    request.context_length.unwrap_or(DEFAULT_CONTEXT)
}

/// The schedule and, where time is known, what it takes.
///
/// # Errors
/// Limits that leave no chunk.
pub(super) fn make(
    request: &Request,
    frontier: &Frontier<'_>,
    alignment: &AlignmentDecision,
    time: Option<ChunkTime>,
    statements: &mut Vec<String>,
) -> Result<(Schedule, Option<TimePlan>), PlanError> {
    let limits = &request.limits;
    let page = limits.page_size.0;
    let paged = ChunkRange::new(limits.chunk_min.0, limits.chunk_max.0, page)?;
    let context = context(request);
    let reach = |range: ChunkRange| {
        Reach::new(range, context, |chunk| frontier.largest_prefix(chunk, context))
    };
    let tiled = tiled(paged, alignment, page, statements);
    let Some(time) = time else {
        return Ok((reach(tiled).schedule()?, None));
    };
    let mut chosen = policy::choose(&time.model, &reach(tiled))?;
    if tiled != paged {
        let by_page = policy::choose(&time.model, &reach(paged))?;
        let loss = loss(&chosen, &by_page);
        if loss > TILES_WITHIN {
            statements.push(format!(
                "Chunks of whole pages ({page}) take {:.1}% less time under this frontier than \
                 chunks of whole tiles ({}): the page is the unit.",
                100.0 * loss / (1.0 + loss),
                tiled.align
            ));
            chosen = by_page;
        } else {
            say_tiles(statements, alignment, page, tiled.align);
        }
    }
    statements.push(time.sentence(1));
    statements.push(chosen.reason);
    let reach = reach(chosen.schedule.range);
    let lengths: Vec<u64> = chosen.prompts.iter().map(|prompt| prompt.length).collect();
    let worst = Worst::of(&chosen.schedule, &time.model, &reach, &lengths);
    if let Some(worst) = worst.filter(|w| w.extra_with_hook > w.extra + TAIL_WITHIN) {
        statements.push(format!(
            "Merging or balancing a tiny last chunk would take {:.1}% longer on a prompt of {} \
             tokens: it is left as it is.",
            100.0 * (worst.extra_with_hook - worst.extra),
            worst.length
        ));
        chosen.schedule.tail_fraction = 0.0;
        for prompt in &mut chosen.prompts {
            prompt.table_us = policy::time_of(&time.model, &chosen.schedule, prompt.length);
        }
    } else {
        let worth = |w: &Worst| w.extra.max(w.extra_with_hook) >= WORTH_SAYING;
        statements.extend(worst.filter(worth).map(|w| w.sentence()));
    }
    let first_chunk = FirstChunk::new(&chosen.schedule, &time.model, &chosen.prompts);
    let time = TimePlan { chunk: time, rule: chosen.rule, prompts: chosen.prompts, first_chunk };
    Ok((chosen.schedule, Some(time)))
}

/// How much more the least time of whole tiles is, at worst; infinite where tiles serve less.
fn loss(tiled: &Chosen, paged: &Chosen) -> f64 {
    if tiled.schedule.max_context < paged.schedule.max_context / 2 {
        return f64::INFINITY;
    }
    let same = tiled.prompts.iter().zip(&paged.prompts).filter(|(t, p)| t.length == p.length);
    same.map(|(t, p)| t.least_us / p.least_us - 1.0).fold(0.0, f64::max)
}

/// Multiples of the page and of the tile where a ragged length costs time, else of the page.
fn tiled(
    paged: ChunkRange,
    alignment: &AlignmentDecision,
    page: u64,
    statements: &mut Vec<String>,
) -> ChunkRange {
    let tile = &alignment.exact_fill;
    if tile.block_m == 0 || tile.lo <= WORTH {
        return paged;
    }
    let aligned = lcm(page, tile.block_m).filter(|unit| *unit != page);
    let Some(unit) = aligned else { return paged };
    ChunkRange::new(paged.min, paged.max, unit).unwrap_or_else(|_| {
        statements.push(format!(
            "No multiple of page and tile ({unit}) lies between chunk-min and chunk-max: chunks \
             are multiples of the page only."
        ));
        paged
    })
}

fn say_tiles(statements: &mut Vec<String>, alignment: &AlignmentDecision, page: u64, unit: u64) {
    let tile = &alignment.exact_fill;
    statements.push(format!(
        "Chunks are multiples of {unit}: of the page ({page}) and of the tile ({}), since a ragged \
         length takes {:.2} times the time a row.",
        tile.block_m, tile.gain
    ));
}

/// Least common multiple; none for zeros or past 64 bits.
pub(crate) fn lcm(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a.checked_div(x)?.checked_mul(b)
}

/// The schedule in words.
pub(super) fn say(
    statements: &mut Vec<String>,
    schedule: &Schedule,
    request: &Request,
    static_chunk: u64,
    time: Option<&TimePlan>,
) {
    match schedule.ends_by {
        EndsBy::Memory => statements.push(format!(
            "{} is the largest prefix that can be served: beyond it even a chunk of {} tokens \
             does not fit.",
            schedule.max_context, schedule.range.min
        )),
        EndsBy::Context => statements
            .push(format!("Memory allows the whole context of {} tokens.", schedule.max_context)),
    }
    statements.push(format!(
        "The first chunk of a request is {static_chunk} tokens. A request that lands on a long cached \
         prefix needs it clamped where it is admitted, as the SGLang plugin in python/ does: without \
         it, start the server with --chunked-prefill-size {} to stay under the frontier at every \
         prefix.",
        schedule.smallest()
    ));
    statements.extend(time.and_then(|time| time.first_chunk.sentence()));
    let (dp, cp) = (request.layout.dp, request.layout.cp);
    if dp > 1 {
        statements.push(format!(
            "The plan is per rank; SGLang divides --chunked-prefill-size by {dp} attention groups, \
             so the flag is {dp} times the chunk."
        ));
    }
    if cp > 1 {
        statements.push(format!("Each of {cp} context-parallel ranks takes 1/{cp} of the rows."));
    }
}
