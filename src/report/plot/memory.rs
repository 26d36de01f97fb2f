//! Peak memory over `T*keys`, with the fitted lines, the usable memory and BUDGET.

use plotters::prelude::{
    ChartBuilder, Circle, Color as _, Cross, DashedLineSeries, IntoLogRange as _, LineSeries,
    TriangleMarker,
};

use super::style::{Entry, Frame, INK, Mark, SERIES, VERMILION, draw, house, short_bytes, told};
use crate::fit::Fit;
use crate::fit::memory::MemoryFit;
use crate::plan::Plan;
use crate::profile::{Op, Outcome, Profile};

/// A measured peak.
struct Dot {
    t: u64,
    /// `T*keys` and bytes.
    at: (f64, f64),
}

/// Points of one path, and the largest T among them.
struct Path<'a> {
    fit: &'a MemoryFit,
    points: Vec<Dot>,
    largest_t: u64,
}

/// One mark a path, so that paths lying on each other can be told apart.
const MARKS: [Mark; 5] = [Mark::Dot, Mark::Triangle, Mark::Ring, Mark::Cross, Mark::Dot];

fn paths<'a>(profile: &Profile, fit: &'a Fit) -> Vec<Path<'a>> {
    fit.memory
        .iter()
        .map(|fit| {
            let rows = profile.points().iter().filter(|p| {
                p.op == Op::Indexer
                    && p.kernel == fit.path
                    && p.outcome == Outcome::Ok
                    && p.ratio.unwrap_or(1) == fit.ratio
            });
            let mut largest_t = 0;
            let points = rows
                .filter_map(|p| {
                    let (t, l, peak) = (p.t?, p.l?, p.peak_bytes?);
                    largest_t = largest_t.max(t);
                    let keys = l.checked_add(t)?.div_ceil(u64::from(fit.ratio.max(1)));
                    let at = (t as f64 * keys as f64, peak as f64);
                    (peak > 0).then_some(Dot { t, at })
                })
                .collect();
            Path { fit, points, largest_t }
        })
        .filter(|path: &Path<'_>| !path.points.is_empty())
        .collect()
}

/// The plot.
pub fn svg(
    profile: &Profile,
    fit: &Fit,
    plan: Option<&Plan>,
    foot: &str,
) -> Result<String, String> {
    let paths = paths(profile, fit);
    let all = || paths.iter().flat_map(|p| p.points.iter().map(|dot| dot.at));
    let usable = plan.map(|p| p.budget.usable_bytes as f64);
    let budget = plan.and_then(|p| p.budget.budget_95).map(|b| b as f64);
    let x_low = all().map(|p| p.0).fold(f64::INFINITY, f64::min).min(1e6) * 0.7;
    let x_high = all().map(|p| p.0).chain(budget).fold(1e6, f64::max) * 1.6;
    let y_low = all().map(|p| p.1).fold(f64::INFINITY, f64::min).min(1e9) * 0.6;
    let y_high = all().map(|p| p.1).chain(usable).fold(1e6, f64::max) * 2.0;
    let largest_t = paths.iter().map(|p| p.largest_t).max().unwrap_or(0);

    let mut legend: Vec<Entry> = paths
        .iter()
        .zip(SERIES.into_iter().zip(MARKS))
        .map(|(path, (color, mark))| {
            let c = if path.fit.grows() {
                format!("{}: c = {:.1} B", path.fit.path, path.fit.c.point)
            } else {
                format!("{}: bounded", path.fit.path)
            };
            Entry::new(c, color, mark)
        })
        .collect();
    if let Some(usable) = usable {
        let assumed = if plan.is_some_and(|p| p.usable.assumed) { " (assumed)" } else { "" };
        let label = format!("usable {}{assumed}", short_bytes(usable));
        legend.push(Entry::new(label, INK, Mark::Dashes));
    }
    if let (Some(budget), Some(plan)) = (budget, plan) {
        let label = format!("BUDGET {budget:.2e} token\u{b2} at c = {:.1} B", plan.budget.c_95);
        legend.push(Entry::new(label, VERMILION, Mark::Dashes));
    }
    let frame = Frame {
        title: "Peak memory of one chunk".to_owned(),
        subtitle: format!(
            "Marks: peak of live transient bytes of each point, pale where T is below {largest_t}. \
             Lines: the fit at T = {largest_t}."
        ),
        foot: foot.to_owned(),
        legend,
        size: (1000, 620),
    };
    draw(&frame, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .x_label_area_size(52)
            .y_label_area_size(86)
            .build_cartesian_2d((x_low..x_high).log_scale(), (y_low..y_high).log_scale())
            .map_err(told)?;
        house(&mut chart.configure_mesh())
            .x_desc("T \u{d7} keys of the chunk (token\u{b2} / ratio)")
            .y_desc("peak of transient bytes")
            .x_label_formatter(&|v| format!("{v:.0e}"))
            .y_label_formatter(&|v| short_bytes(*v))
            .draw()
            .map_err(told)?;
        for (path, (color, mark)) in paths.iter().zip(SERIES.into_iter().zip(MARKS)) {
            let line = curve(path, largest_t, x_low, x_high, y_low, y_high);
            chart.draw_series(LineSeries::new(line, color.stroke_width(2))).map_err(told)?;
            let mix = |t: u64| color.mix(if t == largest_t { 1.0 } else { 0.4 });
            let dots = path.points.iter().map(|dot| (dot.at, mix(dot.t)));
            match mark {
                Mark::Triangle => chart
                    .draw_series(dots.map(|(at, ink)| TriangleMarker::new(at, 6, ink.filled())))
                    .map_err(told)?,
                Mark::Ring => chart
                    .draw_series(dots.map(|(at, ink)| Circle::new(at, 5, ink.stroke_width(2))))
                    .map_err(told)?,
                Mark::Cross => chart
                    .draw_series(dots.map(|(at, ink)| Cross::new(at, 5, ink.stroke_width(2))))
                    .map_err(told)?,
                _ => chart
                    .draw_series(dots.map(|(at, ink)| Circle::new(at, 5, ink.filled())))
                    .map_err(told)?,
            };
        }
        if let Some(usable) = usable {
            let line = [(x_low, usable), (x_high, usable)];
            let dashes = DashedLineSeries::new(line, 8, 6, INK.stroke_width(2));
            chart.draw_series(dashes).map_err(told)?;
        }
        if let Some(budget) = budget.map(|b| b / f64::from(plan.map_or(1, |p| p.ratio.max(1)))) {
            let line = [(budget, y_low), (budget, y_high)];
            let dashes = DashedLineSeries::new(line, 8, 6, VERMILION.stroke_width(2));
            chart.draw_series(dashes).map_err(told)?;
        }
        Ok(())
    })
}

/// The fitted peak at `t` rows over the shown range of `T*keys`.
fn curve(
    path: &Path<'_>,
    t: u64,
    x_low: f64,
    x_high: f64,
    y_low: f64,
    y_high: f64,
) -> Vec<(f64, f64)> {
    // Pixels are whole: more steps would only show their staircase.
    const STEPS: i32 = 28;
    let rows = t.max(1) as f64;
    let theta = path.fit.coefficients;
    let mut places: Vec<f64> = (0..=STEPS)
        .map(|i| x_low * (x_high / x_low).powf(f64::from(i) / f64::from(STEPS)))
        // The knee of a pool is a corner.
        .chain((theta.pool_pairs > x_low && theta.pool_pairs < x_high).then_some(theta.pool_pairs))
        .collect();
    places.sort_by(f64::total_cmp);
    places
        .into_iter()
        // A chunk sees at least its own rows.
        .filter(|pairs| *pairs >= rows * rows / f64::from(path.fit.ratio.max(1)))
        .map(|pairs| {
            let context = pairs / rows * f64::from(path.fit.ratio.max(1));
            (pairs, theta.peak(rows, context, pairs))
        })
        .filter(|(_, peak)| (y_low..=y_high).contains(peak))
        .collect()
}
