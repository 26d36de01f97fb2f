//! What the report says: device and provenance, memory and BUDGET, schedule, alignment, what was
//! measured or assumed, and what to do next.

use super::document::{Block, Document, Section, Table, grouped, pairs};
use crate::derive::Derived;
use crate::fit::Fit;
use crate::fit::alignment::AlignmentFit;
use crate::fit::memory::Growth;
use crate::plan::{Plan, Schedule, Status};
use crate::profile::{Engine, Profile};
use crate::units::Bytes;
use crate::validate;

/// Chunk and prefix at which the memory table shows a path's peak: the long end of the field note.
const SHOWN: (u64, u64) = (2048, 131_072);

/// The report of a derivation.
pub fn document(profile: &Profile, derived: &Derived) -> Document {
    let plan = derived.plan.as_ref().ok();
    let mut sections = vec![provenance(profile), memory(&derived.fit)];
    match &derived.plan {
        Ok(plan) => sections.extend([budget(plan), schedule(plan)]),
        Err(error) => sections.push(Section {
            title: "No plan".to_owned(),
            blocks: vec![Block::Text(format!("{error}."))],
        }),
    }
    sections.push(alignment(profile, &derived.fit, plan));
    sections.push(kinds(profile, plan));
    sections.push(next_steps(&derived.fit, plan));
    Document { headline: profile.provenance().headline(), sections }
}

fn section(title: &str, blocks: Vec<Block>) -> Section {
    Section { title: title.to_owned(), blocks }
}

fn provenance(profile: &Profile) -> Section {
    let p = profile.provenance();
    let mut table = Table::new(["", ""]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("model", format!("{}, tp {}, dp {}, cp {}", p.model, p.tp, p.dp, p.cp));
    row("grid", format!("{}, {} points", p.grid, profile.points().len()));
    if let Some(runtime) = &p.runtime {
        row("HIP runtime", format!("{}, reports HIP {}", runtime.identity, runtime.version));
    }
    if let Some(simulator) = &p.simulator {
        let hash = short(&simulator.parameters_sha256);
        row(
            "simulator",
            format!("cdna-sim {}, {} ({hash})", simulator.version, simulator.parameters),
        );
    }
    row("measured", format!("{} on {}", p.date, p.host));
    row("profile", short(profile.sha256()).to_owned());
    let mut blocks = vec![Block::Table(table)];
    if !p.notes.is_empty() {
        blocks.push(Block::List(p.notes.clone()));
    }
    section("Device and provenance", blocks)
}

fn short(hash: &str) -> &str {
    hash.get(..16).unwrap_or(hash)
}

fn memory(fit: &Fit) -> Section {
    let (t, l) = SHOWN;
    let shown = format!("peak at T={t}, L={}", grouped(l));
    let mut table = Table::new([
        "path",
        "ratio",
        "model",
        "c (B)",
        "95% interval",
        "bound",
        "pool",
        &shown,
        "worst error",
        "rows",
    ]);
    for m in &fit.memory {
        let c = |value: f64| {
            if m.grows() { format!("{value:.2}") } else { "-".to_owned() }
        };
        table.row([
            m.path.clone(),
            m.ratio.to_string(),
            m.formula.clone(),
            c(m.c.point),
            if m.grows() { format!("{:.2} to {:.2}", m.c.lo, m.c.hi) } else { "-".to_owned() },
            c(m.c.upper_95),
            m.pool_bytes.map_or("-".to_owned(), |b| Bytes(b as u64).to_string()),
            Bytes(m.peak(t, l + t) as u64).to_string(),
            format!("{:.2}%", 100.0 * m.worst_error),
            match m.censored {
                0 => m.measured.to_string(),
                censored => format!("{} + {censored} bounds", m.measured),
            },
        ]);
    }
    let mut blocks = Vec::new();
    if fit.memory.is_empty() {
        blocks.push(Block::Text("No indexer point has a peak.".to_owned()));
    } else {
        blocks.push(Block::Table(table));
        blocks.push(Block::Text(
            "c is bytes per (row, key); the bound is one-sided 95% and is what BUDGET uses."
                .to_owned(),
        ));
    }
    let statements: Vec<String> = fit
        .memory
        .iter()
        .filter(|m| m.deployed || !m.statements.is_empty())
        .flat_map(|m| m.statements.iter().map(move |s| format!("{}: {s}", m.path)))
        .collect();
    if !statements.is_empty() {
        blocks.push(Block::List(statements));
    }
    section("Memory of one chunk", blocks)
}

fn budget(plan: &Plan) -> Section {
    let (usable, budget) = (&plan.usable, &plan.budget);
    let mut table = Table::new(["", ""]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("status", plan.status.name().to_owned());
    row("memory path", plan.memory_path.clone());
    let assumed = if usable.assumed { " (assumed)" } else { "" };
    row("free", format!("{}{assumed}", usable.free));
    row("guard, margin", format!("{}, {}", usable.guard, usable.margin));
    row("usable", Bytes(budget.usable_bytes).to_string());
    if plan.budget.c_95 > 0.0 {
        row(
            "c fitted",
            format!("{:.2} B, bound {:.2} B", budget.fitted_c_point, budget.fitted_c_95),
        );
        row("c used", format!("{:.2} B, bound {:.2} B", budget.c_point, budget.c_95));
    }
    row("BUDGET point", format!("{} token^2", pairs(budget.budget_point)));
    row("BUDGET 95%", format!("{} token^2", pairs(budget.budget_95)));
    section("Budget", vec![Block::Table(table)])
}

/// Most rows of a schedule that the report shows; the files hold all.
const SHOWN_ROWS: usize = 16;

fn schedule(plan: &Plan) -> Section {
    let table = schedule_table(&plan.schedule, plan.formula.as_ref());
    section(
        "Schedule",
        vec![
            Block::Table(table),
            Block::Text(format!(
                "max_context {}: the largest prefix that is served. Chunks are multiples of {}.",
                grouped(plan.schedule.max_context),
                plan.schedule.range.align
            )),
        ],
    )
}

/// The rows of a schedule, with the note's formula beside it where one is given. A long schedule
/// is cut in the middle, which is said.
pub fn schedule_table(schedule: &Schedule, formula: Option<&Schedule>) -> Table {
    let mut header = vec!["prefix from".to_owned(), "to".to_owned(), "chunk".to_owned()];
    if formula.is_some() {
        header.push("formula".to_owned());
    }
    let rows = &schedule.table;
    let hidden = rows.len().saturating_sub(SHOWN_ROWS);
    let cut = if hidden > 1 { SHOWN_ROWS / 2..SHOWN_ROWS / 2 + hidden } else { 0..0 };
    let mut table = Table { header, rows: Vec::new() };
    for (i, (from, chunk)) in rows.iter().enumerate() {
        if cut.contains(&i) {
            if i == cut.start {
                let more = format!("... {hidden} more rows, see sizer.json");
                table.rows.push(vec![more]);
            }
            continue;
        }
        let last = rows.get(i + 1).map_or(schedule.max_context, |(next, _)| next - 1);
        let mut row = vec![grouped(*from), grouped(last), grouped(*chunk)];
        if let Some(formula) = formula {
            row.push(formula.at(*from).map_or("-".to_owned(), grouped));
        }
        table.rows.push(row);
    }
    table
}

fn alignment(profile: &Profile, fit: &Fit, plan: Option<&Plan>) -> Section {
    if fit.alignment.is_empty() {
        let text = "No kernel was measured both aligned and ragged.".to_owned();
        return section("Alignment", vec![Block::Text(text)]);
    }
    let mut table = Table::new([
        "kernel",
        "shape",
        "tile",
        "variant",
        "ragged M",
        "us",
        "aligned M",
        "us",
        "per row",
        "95% interval",
        "instructions",
        "block seen",
        "deployed",
        "time off by",
    ]);
    let simulated = profile.provenance().engine == Engine::Simulated;
    for f in &fit.alignment {
        let evidence = validate::nearest(&profile.provenance().arch, f.op.name(), &f.dtype);
        for v in &f.variants {
            table.row([
                f.kernel.clone(),
                f.shape.clone(),
                f.tile(),
                v.variant.clone(),
                grouped(v.at.m),
                format!("{:.1}", v.at.time_us),
                grouped(v.at.even_m),
                format!("{:.1}", v.at.even_time_us),
                format!("{:.3}x", v.at.gain),
                if v.at.lo == v.at.hi {
                    "no spread".to_owned()
                } else {
                    format!("{:.3} to {:.3}", v.at.lo, v.at.hi)
                },
                v.at.instructions.map_or("-".to_owned(), |i| format!("{i:.2}x")),
                block_seen(f),
                if f.deployed { "yes" } else { "no" }.to_owned(),
                if simulated { evidence.to_string() } else { "measured".to_owned() },
            ]);
        }
    }
    let mut blocks = vec![
        Block::Table(table),
        Block::Text(
            "per row: time per row of the ragged length over that of the aligned one; instructions: \
             executed per row, likewise. Every pair is in fit.json."
                .to_owned(),
        ),
    ];
    let units = alignment_units(fit);
    if !units.is_empty() {
        blocks.push(Block::Text("Alignment unit of each deployed tile in play:".to_owned()));
        blocks.push(Block::List(units));
    }
    if simulated {
        blocks.push(Block::Text(
            "A simulated time has no spread; off by: the median error of the simulator on the nearest \
             family of published hardware times (tune validate), so read differences of a few percent \
             as none. Where too few were published, the times are unvalidated."
                .to_owned(),
        ));
    }
    if let Some(plan) = plan {
        let fill = &plan.alignment.exact_fill;
        blocks.push(Block::Text(format!(
            "Exact fill: {} ({}).",
            match (fill.deployed, fill.enabled) {
                (true, true) => "on",
                (true, false) => "off",
                (false, _) => "not decided, SGLang's default stays",
            },
            plan.alignment.reason
        )));
    }
    section("Alignment", blocks)
}

/// The rows that a chunk must be a multiple of, for each deployed tile.
fn alignment_units(fit: &Fit) -> Vec<String> {
    let deployed = fit.alignment.iter().filter(|f| f.deployed);
    deployed
        .map(|f| format!("{} rows: {} {} at tile {}", f.block_m, f.shape, f.kernel, f.tile()))
        .collect()
}

/// Block sizes that the times show, marked where the manifest says otherwise.
pub fn block_seen(fit: &AlignmentFit) -> String {
    match &fit.block {
        None => "none".to_owned(),
        Some(found) => {
            let sizes: Vec<String> = found.candidates.iter().map(u64::to_string).collect();
            let sizes = sizes.join(" or ");
            if found.manifest_agrees {
                sizes
            } else {
                format!("{sizes}, manifest says {}", fit.block_m)
            }
        }
    }
}

fn kinds(profile: &Profile, plan: Option<&Plan>) -> Section {
    let measured = match profile.provenance().engine {
        Engine::Hardware => "Measured on the device: times and peaks of every point.",
        Engine::Simulated => {
            "Simulated: every time, cycle and instruction count. The code objects are real and ran \
             instruction by instruction; the device was modelled."
        }
        Engine::Imported => "Imported: every figure; nothing was measured here.",
    };
    let mut items = vec![measured.to_owned()];
    if profile.provenance().engine == Engine::Simulated {
        items.push("Exact: peaks, counted by the allocator.".to_owned());
    }
    items.push("Derived: c, BUDGET, schedule, gains.".to_owned());
    if let Some(plan) = plan {
        if plan.usable.assumed {
            items.push(format!("Assumed: {} of free memory.", plan.usable.free));
        }
        if let Some(floor) = plan.budget.floor {
            items.push(format!("Assumed: c of at least {floor} B (a deployed engine's reading)."));
        }
    }
    section("What these figures are", vec![Block::List(items)])
}

fn next_steps(fit: &Fit, plan: Option<&Plan>) -> Section {
    let mut items = fit.remarks.clone();
    items.extend(fit.alignment.iter().filter_map(|f| {
        let found = f.block.as_ref().filter(|b| !b.manifest_agrees)?;
        Some(format!(
            "{} {} at tile {}: times show a block of {:?}, the manifest says {}.",
            f.kernel,
            f.shape,
            f.tile(),
            found.candidates,
            f.block_m
        ))
    }));
    if let Some(plan) = plan {
        items.extend(plan.statements.iter().cloned());
        if plan.status == Status::Unvalidated {
            items.push(
                "To validate: record T, L and the peak of a few chunks on the server and give them \
                 with --observations."
                    .to_owned(),
            );
        }
        if !plan.alignment.exact_fill.deployed {
            items.push(
                "To decide exact fill: time the deployed kernels at M = 16368 and 16384 on the \
                 device; the bundled ones only show the mechanism."
                    .to_owned(),
            );
        }
    }
    let bounded = fit.memory.iter().any(|m| m.growth == Growth::Pooled);
    let dense = fit.memory_of("dense").is_some_and(|m| m.grows());
    if bounded && dense {
        items.push(
            "Which path a deployment is on decides everything: on `row_pooled` T*L stops costing \
             memory once the pool is full, on `dense` it never does."
                .to_owned(),
        );
    }
    section("Notes and next steps", vec![Block::List(items)])
}
