//! A comparison as text: what a ragged M costs, memory, and the chunk by prefix, a table each.

use super::{Comparison, GainRow, Side, TimeError};
use crate::fit::alignment::RAGGED_WRAP;
use crate::plan::chunk_at;
use crate::report::document::{Block, Document, Section, Table, grouped, pairs};
use crate::validate;

/// Prefixes at which schedules are set side by side, tokens.
const PREFIXES: [u64; 10] =
    [0, 32_768, 65_536, 100_000, 131_072, 200_000, 262_144, 400_000, 524_288, 781_250];

impl Side {
    /// How far off the times are, in words; none where they were measured.
    fn errors(&self) -> Option<String> {
        let named = |e: &TimeError| format!("{} {} {}", e.op, e.dtype, validate::off_by(e.median));
        let errors: Vec<String> = self.times_off_by.iter().map(named).collect();
        (!errors.is_empty()).then(|| format!("{}: {}", self.name, errors.join(", ")))
    }
}

impl Comparison {
    /// The comparison as text.
    pub fn text(&self) -> String {
        let [a, b] = &self.sides;
        let side =
            |letter: char, side: &Side| format!("{letter}  {}\n   {}", side.headline, side.model);
        let mut headline = format!("{}\n{}", side('A', a), side('B', b));
        for remark in &self.remarks {
            headline.push('\n');
            headline.push_str(remark);
        }
        Document {
            headline,
            sections: vec![self.gain_section(), self.memory_section(), self.schedule_section()],
        }
        .text()
    }

    fn gain_section(&self) -> Section {
        let [a, b] = &self.sides;
        let mut table = Table {
            header: ["kernel", "shape", "tile", "variant", "deployed"].map(str::to_owned).to_vec(),
            rows: Vec::new(),
        };
        for name in [&a.name, &b.name] {
            table.header.extend([
                format!("{name} M"),
                "us".to_owned(),
                "per row".to_owned(),
                "instr".to_owned(),
            ]);
        }
        for gain in &self.gains {
            let mut row = vec![
                gain.kernel.clone(),
                gain.shape.clone(),
                gain.tile.clone(),
                gain.variant.clone(),
                if gain.deployed { "yes" } else { "no" }.to_owned(),
            ];
            for pair in &gain.sides {
                row.extend(match pair {
                    None => vec!["-".to_owned(); 4],
                    Some(p) => vec![
                        format!("{}/{}", p.m, p.even_m),
                        format!("{:.1}/{:.1}", p.time_us, p.even_time_us),
                        format!("{:.3}x", p.gain),
                        p.instructions.map_or("-".to_owned(), |i| format!("{i:.2}x")),
                    ],
                });
            }
            table.rows.push(row);
        }
        let mut blocks = vec![
            Block::Table(table),
            Block::Text(
                "M and us: ragged/aligned. per row: time per row of the ragged length over that of \
                 the aligned one (the EVEN_MN gain); instr: executed instructions per row, \
                 likewise. ragged_buffer shows what is left when bounds come from the buffer \
                 resource instead of masks."
                    .to_owned(),
            ),
        ];
        let errors: Vec<String> = self.sides.iter().filter_map(Side::errors).collect();
        if !errors.is_empty() {
            blocks.push(Block::Text(format!(
                "Simulated times, against published ones of the nearest kernels (median): {}.",
                errors.join("; ")
            )));
        }
        let counts: Vec<String> = self.gains.iter().filter_map(|g| self.counts(g)).collect();
        if !counts.is_empty() {
            blocks
                .push(Block::Text("Executed wave64 instructions, ragged against aligned:".into()));
            blocks.push(Block::List(counts));
        }
        Section { title: "What a ragged M costs (EVEN_MN)".to_owned(), blocks }
    }

    /// Instruction counts of a `ragged_wrap` row in words: they explain the gain.
    fn counts(&self, gain: &GainRow) -> Option<String> {
        if gain.variant != RAGGED_WRAP {
            return None;
        }
        let sides: Vec<String> = gain
            .sides
            .iter()
            .zip(&self.sides)
            .filter_map(|(pair, side)| {
                let (ragged, even) = pair.as_ref()?.instruction_counts?;
                Some(format!("{} {} against {}", side.name, grouped(ragged), grouped(even)))
            })
            .collect();
        (!sides.is_empty()).then(|| format!("{} {}: {}", gain.kernel, gain.shape, sides.join("; ")))
    }

    fn memory_section(&self) -> Section {
        let [a, b] = &self.sides;
        let mut paths: Vec<&str> = Vec::new();
        for memory in a.memory.iter().chain(&b.memory) {
            if !paths.contains(&memory.path.as_str()) {
                paths.push(&memory.path);
            }
        }
        let mut table =
            Table { header: vec!["".into(), a.name.clone(), b.name.clone()], rows: Vec::new() };
        let cell = |side: &Side, path: &str| match side.memory.iter().find(|m| m.path == path) {
            None => "-".to_owned(),
            Some(m) if m.c > 0.0 => format!("{:.2} B", m.c),
            Some(m) => match m.pool_bytes {
                Some(pool) => format!("pool of {}", crate::units::Bytes(pool as u64)),
                None => "bounded".to_owned(),
            },
        };
        for path in paths {
            table.rows.push(vec![format!("c of {path}"), cell(a, path), cell(b, path)]);
        }
        let mut add = |name: &str, value: &dyn Fn(&Side) -> String| {
            table.rows.push(vec![name.to_owned(), value(a), value(b)]);
        };
        let none = || "no plan".to_owned();
        add("path that decides", &|s| s.memory_path.clone().unwrap_or_else(none));
        add("c used", &|s| s.c_95.map_or_else(none, |c| format!("{c:.2} B")));
        add("BUDGET point", &|s| pairs(s.budget_point));
        add("BUDGET 95%", &|s| pairs(s.budget_95));
        add("max_context", &|s| s.max_context.map_or_else(none, grouped));
        Section { title: "Memory".to_owned(), blocks: vec![Block::Table(table)] }
    }

    fn schedule_section(&self) -> Section {
        let [a, b] = &self.sides;
        let mut table = Table {
            header: vec!["prefix".into(), a.name.clone(), b.name.clone()],
            rows: Vec::new(),
        };
        let chunk = |side: &Side, prefix: u64| {
            let served = side.max_context.is_some_and(|end| prefix <= end);
            match chunk_at(&side.table, prefix) {
                Some(chunk) if served => grouped(chunk),
                _ => "-".to_owned(),
            }
        };
        for prefix in PREFIXES {
            table.rows.push(vec![grouped(prefix), chunk(a, prefix), chunk(b, prefix)]);
        }
        Section { title: "Chunk by prefix".to_owned(), blocks: vec![Block::Table(table)] }
    }
}
