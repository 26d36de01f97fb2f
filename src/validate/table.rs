//! A validation as text: scores by target and family, rows with their errors, rows that did not run.

use std::fmt;

use super::{Group, MIN_ROWS, Report, Row, Score};

/// The report as text; `rows` also lists every row.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// What to print.
    pub report: &'a Report,
    /// Whether to list every row that ran.
    pub rows: bool,
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.report;
        let ran = report.rows.iter().filter(|row| row.result.is_some()).count();
        writeln!(
            f,
            "{ran} of {} rows of split {} ran; kernels compiled by {}",
            report.rows.len(),
            report.split,
            report.compiler
        )?;
        if self.rows && ran > 0 {
            writeln!(f)?;
            rows(f, report)?;
        }
        if ran > 0 {
            writeln!(f)?;
            groups(f, &report.groups)?;
        }
        skipped(f, report)
    }
}

fn percent(value: f64) -> String {
    format!("{:.1}%", 100.0 * value)
}

fn score(score: Option<&Score>) -> [String; 3] {
    match score {
        None => ["-".into(), "-".into(), "-".into()],
        Some(s) => [
            percent(s.median),
            percent(s.p90),
            s.spearman.map_or_else(|| "-".into(), |rho| format!("{rho:.3}")),
        ],
    }
}

fn groups(f: &mut fmt::Formatter<'_>, groups: &[Group]) -> fmt::Result {
    writeln!(f, "median and 90th percentile of |error|, Spearman's rank correlation")?;
    let header = [
        "",
        "rows",
        "simulator",
        "p90",
        "rank",
        "bias",
        "llvm-mca",
        "p90",
        "rank",
        "roofline",
        "p90",
        "rank",
        "",
    ];
    let mut table: Vec<Vec<String>> = vec![header.map(str::to_owned).to_vec()];
    for group in groups {
        let mut cells = vec![group.name.clone(), group.simulator.rows.to_string()];
        cells.extend(score(Some(&group.simulator)));
        cells.push(format!("{:+.1}%", 100.0 * group.simulator.bias));
        cells.extend(score(group.mca.as_ref()));
        cells.extend(score(Some(&group.roofline)));
        let few = format!("unvalidated (fewer than {MIN_ROWS} rows)");
        cells.push(if group.validated { String::new() } else { few });
        table.push(cells);
    }
    write_columns(f, &table)
}

fn rows(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let header = [
        "line",
        "target",
        "family",
        "shape",
        "published us",
        "simulated us",
        "error",
        "llvm-mca us",
        "roofline us",
    ];
    let mut table: Vec<Vec<String>> = vec![header.map(str::to_owned).to_vec()];
    for row in &report.rows {
        let (Some(result), Some(error)) = (&row.result, row.error()) else { continue };
        table.push(vec![
            row.line.to_string(),
            row.arch.clone(),
            short(&row.family),
            row.shape.clone(),
            format!("{:.2}", row.published_us),
            format!("{:.2}", result.time_us),
            format!("{:+.1}%", 100.0 * error),
            result.mca_us.map_or_else(|| "-".into(), |us| format!("{us:.2}")),
            format!("{:.2}", result.roofline_us),
        ]);
    }
    write_columns(f, &table)
}

/// A family name of at most 40 characters.
fn short(family: &str) -> String {
    match family.char_indices().nth(37) {
        Some((at, _)) if family.chars().count() > 40 => format!("{}...", &family[..at]),
        _ => family.to_owned(),
    }
}

fn skipped(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let mut reasons: Vec<(String, Vec<&Row>)> = Vec::new();
    for row in report.rows.iter().filter(|row| row.result.is_none()) {
        let reason = format!("{}: {}", row.family, row.reason.as_deref().unwrap_or("no reason"));
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, rows)) => rows.push(row),
            None => reasons.push((reason, vec![row])),
        }
    }
    if reasons.is_empty() {
        return Ok(());
    }
    writeln!(f, "\nrows that could not be run")?;
    for (reason, rows) in reasons {
        let lines: Vec<String> = rows.iter().map(|row| row.line.to_string()).collect();
        writeln!(f, "  {reason} (lines {})", lines.join(", "))?;
    }
    Ok(())
}

fn write_columns(f: &mut fmt::Formatter<'_>, table: &[Vec<String>]) -> fmt::Result {
    let columns = table.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| table.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
    for row in table {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:<width$}  "));
        }
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}
