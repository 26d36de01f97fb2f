//! What `tune fit` says: the fit of each observed system, its budgets and schedule, the chances of
//! its chunks, what a change would buy, what holds the memory, and which chunk to measure next.

use super::document::{Block, Document, Section, Table, grouped, pairs};
use crate::fit::Fit;
use crate::fit::latency::LatencyFit;
use crate::fit::memory::{MemoryFit, Proposal};
use crate::plan::decision::{PREFIXES, Variant};
use crate::plan::ledger::Entry;
use crate::plan::{Chance, ObservedPlan, Schedule};
use crate::units::Bytes;

/// Most rows of a schedule that are shown.
const STEPS: usize = 12;

/// The document of a fit of observations; `plans` are those of its memory models in order, `rates`
/// remarks about prefill rates.
pub fn observed(fit: &Fit, plans: &[ObservedPlan], rates: &[String]) -> Document {
    let mut sections: Vec<Section> = Vec::new();
    for (i, memory) in fit.memory.iter().enumerate() {
        sections.push(memory_section(memory));
        sections.extend(
            plans.get(i).map(|plan| plan_sections(plan, plans.len() == 1)).into_iter().flatten(),
        );
    }
    let mut list = |title: &str, items: &[String]| {
        if !items.is_empty() {
            let blocks = vec![Block::List(items.to_vec())];
            sections.push(Section { title: title.to_owned(), blocks });
        }
    };
    let times = |l: &LatencyFit| std::iter::once(l.line()).chain(l.statements.clone());
    list("Time of a chunk", &fit.latency.iter().flat_map(times).collect::<Vec<_>>());
    list("Prefill rates", rates);
    list("Notes", &fit.remarks);
    Document { headline: fit.headline.clone(), sections }
}

fn memory_section(memory: &MemoryFit) -> Section {
    let c = memory.c;
    let mut table = Table::new(["", ""]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("peak", format!("{}, noise {:.1}%", memory.formula, 100.0 * memory.noise));
    if memory.grows() {
        row("c", format!("{:.2} B per (row, key)", c.point));
        row("95% interval", format!("{:.2} to {:.2} B", c.lo, c.hi));
        row("upper bound", format!("{:.2} B (one-sided 95%; the sizer uses it)", c.upper_95));
    } else {
        row("c", "0: memory does not grow with T*L".to_owned());
    }
    row(
        "rows",
        match memory.censored {
            0 => format!("{} measured", memory.measured),
            censored => format!("{} measured, {censored} that bound the peak", memory.measured),
        },
    );
    if memory.ratio > 1 {
        row("tokens per key", memory.ratio.to_string());
    }
    Section {
        title: format!("Memory: {}", memory.path),
        blocks: vec![Block::Table(table), Block::List(memory.statements.clone())],
    }
}

fn plan_sections(plan: &ObservedPlan, alone: bool) -> Vec<Section> {
    let mut out = vec![budget_section(plan)];
    // One system gets the whole picture; of many, the budgets are what can be compared.
    if alone && plan.error.is_none() {
        out.push(table_section("Chance of staying under the guard", chances(&plan.chances)));
        if !plan.decisions.is_empty() {
            out.push(decision_section(&plan.decisions));
        }
        out.push(table_section("What holds the memory", ledger(&plan.ledger)));
        out.extend(plan.next.map(|next| next_section(&next)));
        if !plan.notes.is_empty() {
            let blocks = vec![Block::List(plan.notes.clone())];
            out.push(Section { title: "Walls that a budget does not see".to_owned(), blocks });
        }
    }
    out
}

fn table_section(title: &str, table: Table) -> Section {
    Section { title: title.to_owned(), blocks: vec![Block::Table(table)] }
}

fn budget_section(plan: &ObservedPlan) -> Section {
    let title = "Budget".to_owned();
    let (Some(usable), Some(budget), Some(schedule)) = (&plan.usable, &plan.budget, &plan.schedule)
    else {
        let text = format!("No plan: {}.", plan.error.as_deref().unwrap_or("unknown reason"));
        return Section { title, blocks: vec![Block::Text(text)] };
    };
    let mut table = Table::new(["", ""]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    let assumed = match (usable.assumed, usable.observed) {
        (true, _) => " (assumed; give --free-bytes)",
        (_, true) => " (the least that the rows report)",
        _ => "",
    };
    row(
        "usable",
        format!(
            "{} = {} free{assumed} - {} guard - {} margin",
            Bytes(budget.usable_bytes),
            usable.free,
            usable.guard,
            usable.margin
        ),
    );
    row("budget_point", format!("{} token^2 at the most likely c", pairs(budget.budget_point)));
    row("budget_95", format!("{} token^2 at the upper bound of c", pairs(budget.budget_95)));
    if let Some(block) = plan.budget_of_largest_block {
        row("largest block", format!("fp32 scores fit it up to {} token^2", pairs(Some(block))));
    }
    row("chunks", steps(schedule));
    let context = if plan.context_assumed && schedule.max_context >= crate::plan::DEFAULT_CONTEXT {
        " (the context assumed; give --context)"
    } else {
        ""
    };
    row("largest prefix", format!("{}{context}", grouped(schedule.max_context)));
    if let Some(flag) = plan.chunked_prefill_size {
        row("flag", format!("--chunked-prefill-size {flag}"));
    }
    Section { title, blocks: vec![Block::Table(table)] }
}

fn steps(schedule: &Schedule) -> String {
    let shown = schedule.table.iter().take(STEPS);
    let mut steps: Vec<String> =
        shown.map(|(from, chunk)| format!("{chunk} from {}", grouped(*from))).collect();
    if schedule.table.len() > STEPS {
        steps.push(format!("{} more", schedule.table.len() - STEPS));
    }
    steps.join(", ")
}

/// Chances with a column for each chunk length.
fn chances(chances: &[Chance]) -> Table {
    let mut lengths: Vec<u64> = chances.iter().map(|c| c.t).collect();
    lengths.dedup();
    let header = std::iter::once("prefix".to_owned())
        .chain(lengths.iter().map(|t| format!("T={}", grouped(*t))))
        .collect();
    let mut table = Table { header, rows: Vec::new() };
    for first in chances.iter().filter(|c| Some(&c.t) == lengths.first()) {
        let mut row = vec![grouped(first.l)];
        row.extend(lengths.iter().map(|t| {
            chances
                .iter()
                .find(|c| c.t == *t && c.l == first.l)
                .map_or("-".to_owned(), |c| percent(c.under_guard))
        }));
        table.rows.push(row);
    }
    table
}

/// A probability that never claims certainty.
fn percent(p: f64) -> String {
    match 100.0 * p {
        p if p >= 99.95 => "> 99.9%".to_owned(),
        p if p < 0.05 => "< 0.1%".to_owned(),
        p => format!("{p:.1}%"),
    }
}

fn decision_section(variants: &[Variant]) -> Section {
    let mut header = vec!["change".to_owned(), "c (B)".to_owned(), "budget_95".to_owned()];
    header.push("largest prefix".to_owned());
    header.extend(PREFIXES.iter().map(|prefix| format!("T at {}k", prefix / 1000)));
    let mut table = Table { header, rows: Vec::new() };
    for variant in variants {
        let mut row = vec![
            variant.name.clone(),
            variant.c.map_or("-".to_owned(), |c| format!("{c:.1}")),
            pairs(variant.budget_95),
            variant.max_context.map_or("-".to_owned(), grouped),
        ];
        row.extend(variant.chunks.iter().map(|c| c.map_or("-".to_owned(), grouped)));
        table.rows.push(row);
    }
    Section {
        title: "What a change would buy, at the 95% bound".to_owned(),
        blocks: vec![
            Block::Table(table),
            Block::Text(
                "Derived, not measured: a copy budget caps the padded copy of 4 B a (row, key); \
                 tiles and key blocks bound every buffer that grows with T*keys; time is not \
                 weighed here."
                    .to_owned(),
            ),
        ],
    }
}

fn ledger(entries: &[Entry]) -> Table {
    let mut table = Table::new(["held by", "bytes", "freed by"]);
    for entry in entries {
        table.row([entry.name.to_owned(), entry.bytes.to_string(), entry.freed_by.to_owned()]);
    }
    table
}

fn next_section(next: &Proposal) -> Section {
    Section {
        title: "Measure next".to_owned(),
        blocks: vec![Block::Text(format!(
            "The peak of T={} after a prefix of {} tokens: it would bring the standard error of c \
             from {:.0}% to {:.0}%, and that chunk stays under the guard with a chance of at least \
             99%.",
            grouped(next.t),
            grouped(next.l),
            100.0 * next.error_now,
            100.0 * next.error_then
        ))],
    }
}
