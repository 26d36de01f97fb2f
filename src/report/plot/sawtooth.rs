//! Time a row against M for the even and the ragged variants, one panel a shape and tile.
//!
//! M is drawn in order, not to scale: the tooth at each multiple of the tile would otherwise be
//! one pixel wide.

use std::collections::{BTreeMap, BTreeSet};

use plotters::prelude::{
    ChartBuilder, Circle, Color as _, EmptyElement, LineSeries, RGBColor, Text, TriangleMarker,
};
use plotters::style::FontTransform;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::style::{
    AXIS, Area, BLUE, Drawn, Entry, Frame, GREEN, GRID, INK, MUTED, Mark, VERMILION, draw, short,
    text, told,
};
use crate::fit::Fit;
use crate::fit::alignment::{AlignmentFit, EVEN, RAGGED_WRAP};
use crate::profile::{Op, Outcome, Point};

/// Most panels of one plot.
const PANELS: usize = 8;
/// Most labels under a panel.
const LABELS: usize = 26;

/// Time a row in nanoseconds by M, for each variant of a panel.
struct Panel<'a> {
    fit: &'a AlignmentFit,
    variants: BTreeMap<&'a str, BTreeMap<u64, f64>>,
    /// Every M, ascending.
    rows: Vec<u64>,
}

fn panel<'a>(points: &'a [Point], fit: &'a AlignmentFit) -> Panel<'a> {
    let mut variants: BTreeMap<&str, BTreeMap<u64, f64>> = BTreeMap::new();
    let mut rows = BTreeSet::new();
    let members = points.iter().filter(|p| {
        p.op == fit.op
            && p.outcome == Outcome::Ok
            && p.kernel.starts_with(&fit.kernel)
            && p.shape == fit.shape
            && p.dtype == fit.dtype
            && p.block_m == Some(fit.block_m)
            && p.block_n == fit.block_n
            && p.deployed == fit.deployed
    });
    for point in members {
        if let (Some(m), Some(time)) = (point.m.filter(|m| *m > 0), point.time_us) {
            variants.entry(&point.variant).or_default().insert(m, 1e3 * time / m as f64);
            rows.insert(m);
        }
    }
    Panel { fit, variants, rows: rows.into_iter().collect() }
}

/// The plot of one op; none where nothing of it was measured both even and ragged.
pub fn svg(points: &[Point], fit: &Fit, op: Op, foot: &str) -> Result<Option<String>, String> {
    let panels: Vec<Panel<'_>> = fit
        .alignment
        .iter()
        .filter(|f| f.op == op)
        .map(|f| panel(points, f))
        .filter(|p| p.rows.len() >= 2)
        .take(PANELS)
        .collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let present = |name: &str| panels.iter().any(|p| p.variants.contains_key(name));
    let legend = [
        (EVEN, "even: M a multiple of BLOCK_SIZE_M", BLUE, Mark::Dot),
        (RAGGED_WRAP, "ragged_wrap: the deployed algorithm", VERMILION, Mark::Triangle),
        ("ragged_buffer", "ragged_buffer: bounds in the buffer resource", GREEN, Mark::Ring),
    ];
    let columns = if panels.len() == 1 { 1 } else { 2 };
    let lines = panels.len().div_ceil(columns);
    let frame = Frame {
        title: format!("{}: what a ragged M costs", title(op)),
        subtitle:
            "Time a row against M; the line is what a server runs: even where it can, ragged \
                   otherwise. M in order, not to scale."
                .to_owned(),
        foot: foot.to_owned(),
        legend: legend
            .iter()
            .filter(|(name, ..)| present(name))
            .map(|(_, label, color, mark)| Entry::new(*label, *color, *mark))
            .collect(),
        size: (1000, 150 + 330 * lines as u32),
    };
    draw(&frame, |area| {
        for (area, panel) in area.split_evenly((lines, columns)).iter().zip(&panels) {
            draw_panel(area, panel)?;
        }
        Ok(())
    })
    .map(Some)
}

fn title(op: Op) -> &'static str {
    match op {
        Op::Gemm => "GEMM",
        Op::AbsorbBmm => "MLA absorb batched GEMM",
        Op::Indexer => "Indexer",
    }
}

fn draw_panel(area: &Area<'_>, panel: &Panel<'_>) -> Drawn {
    let fit = panel.fit;
    let highest = panel.variants.values().flat_map(|v| v.values()).copied().fold(0.0, f64::max);
    let places = places(&panel.rows, u64::from(fit.block_m));
    let position = |m: u64| places.get(&m).copied().unwrap_or(0.0);
    let last = places.values().copied().fold(0.0, f64::max);
    let gain =
        fit.ragged().map_or(String::new(), |v| format!(": {:.2}x at M = {}", v.at.gain, v.at.m));
    let caption = format!("{} {}, tile {}{gain}", fit.shape, fit.dtype, fit.tile());
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .caption(caption, text(15, INK))
        .x_label_area_size(58)
        .y_label_area_size(66)
        .build_cartesian_2d(-0.6..last + 0.6, 0.0..(highest * 1.12).max(1e-3))
        .map_err(told)?;
    let every = panel.rows.len().div_ceil(LABELS).max(1);
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(GRID)
        .light_line_style(plotters::style::TRANSPARENT)
        .axis_style(AXIS)
        .label_style(text(12, MUTED))
        .axis_desc_style(text(13, INK))
        .x_labels(0)
        .y_labels(6)
        .y_label_formatter(&|v| short(*v))
        .y_desc("ns a row")
        .x_desc("M (rows)")
        .draw()
        .map_err(told)?;
    let style =
        text(11, MUTED).transform(FontTransform::Rotate90).pos(Pos::new(HPos::Left, VPos::Center));
    for m in panel.rows.iter().step_by(every) {
        let label = Text::new(m.to_string(), (0, 6), style.clone());
        chart.draw_series([EmptyElement::at((position(*m), 0.0)) + label]).map_err(told)?;
    }
    for teeth in served(panel, u64::from(fit.block_m)) {
        let line = teeth.into_iter().map(|(m, time)| (position(m), time));
        chart.draw_series(LineSeries::new(line, AXIS.stroke_width(2))).map_err(told)?;
    }
    for (name, values) in &panel.variants {
        let places = values.iter().map(|(m, v)| (position(*m), *v));
        let color: RGBColor = match *name {
            EVEN => BLUE,
            RAGGED_WRAP => VERMILION,
            _ => GREEN,
        };
        match *name {
            EVEN => chart
                .draw_series(places.map(|p| Circle::new(p, 5, color.filled())))
                .map_err(told)?,
            RAGGED_WRAP => chart
                .draw_series(places.map(|p| TriangleMarker::new(p, 6, color.filled())))
                .map_err(told)?,
            _ => chart
                .draw_series(places.map(|p| Circle::new(p, 4, color.stroke_width(2))))
                .map_err(told)?,
        };
    }
    Ok(())
}

/// Whether two neighbouring M belong to different stretches, between which nothing was measured.
fn apart(before: u64, after: u64, block: u64) -> bool {
    after - before > block
}

/// Where each M is drawn: in order, with a gap between stretches.
fn places(rows: &[u64], block: u64) -> BTreeMap<u64, f64> {
    let mut at = 0.0;
    let mut out = BTreeMap::new();
    for (i, m) in rows.iter().enumerate() {
        if i > 0 {
            at += if apart(rows[i - 1], *m, block) { 2.0 } else { 1.0 };
        }
        out.insert(*m, at);
    }
    out
}

/// What a server runs at each M, one list a stretch: even where it can, ragged otherwise.
fn served(panel: &Panel<'_>, block: u64) -> Vec<Vec<(u64, f64)>> {
    let mut out: Vec<Vec<(u64, f64)>> = Vec::new();
    for m in &panel.rows {
        let at = |name: &str| panel.variants.get(name).and_then(|v| v.get(m));
        let fallback = || panel.variants.values().find_map(|v| v.get(m));
        let Some(time) = at(EVEN).or_else(|| at(RAGGED_WRAP)).or_else(fallback) else { continue };
        match out.last_mut() {
            Some(stretch) if stretch.last().is_some_and(|(last, _)| !apart(*last, *m, block)) => {
                stretch.push((*m, *time));
            }
            _ => out.push(vec![(*m, *time)]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_of_m_are_drawn_apart() {
        let places = places(&[448, 449, 512, 1984, 2048], 64);
        let drawn: Vec<f64> = places.values().copied().collect();
        assert_eq!(drawn, [0.0, 1.0, 2.0, 4.0, 5.0]);
    }
}
