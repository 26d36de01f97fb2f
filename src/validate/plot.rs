//! Simulated against published time, log-log, with the 1:1 line.

use plotters::prelude::{
    ChartBuilder, Circle, Color as _, Cross, DashedLineSeries, IntoLogRange as _, LineSeries,
    TriangleMarker,
};

use super::Report;
use crate::report::plot::style::{
    AXIS, Entry, Frame, GRID, INK, MUTED, Mark, SERIES, draw, short, text, told,
};
use crate::text::quoted;

/// Marks that tell families of one colour apart.
const MARKS: [Mark; 4] = [Mark::Dot, Mark::Triangle, Mark::Ring, Mark::Cross];
/// Error at which the dashed lines lie.
const BAND: f64 = 1.3;

/// The plot as SVG.
///
/// # Errors
/// The drawing backend's words.
pub fn svg(report: &Report) -> Result<String, String> {
    let mut families: Vec<(&str, &str)> = Vec::new();
    let mut points: Vec<(usize, f64, f64)> = Vec::new();
    for row in &report.rows {
        let Some(result) = &row.result else { continue };
        let key = (row.arch.as_str(), row.family.as_str());
        let at = families.iter().position(|known| *known == key).unwrap_or_else(|| {
            families.push(key);
            families.len() - 1
        });
        points.push((at, row.published_us, result.time_us));
    }
    let ends = points.iter().flat_map(|p| [p.1, p.2]);
    let low = ends.clone().fold(f64::INFINITY, f64::min).clamp(0.1, 1e9) / 1.4;
    let high = ends.fold(low * 2.0, f64::max) * 1.4;
    let look = |i: usize| (SERIES[i % SERIES.len()], MARKS[i / SERIES.len() % MARKS.len()]);
    let legend = families.iter().enumerate().map(|(i, (arch, family))| {
        let (color, mark) = look(i);
        Entry::new(format!("{arch} {}", quoted(family)), color, mark)
    });
    let all = report.groups.iter().find(|g| g.arch.is_none());
    let subtitle = all.map_or_else(
        || "No row ran.".to_owned(),
        |g| {
            format!(
                "{} rows of split {}: median |error| {:.1}%, 90th percentile {:.1}%. On the line they agree; dashed: 1.3 times too long or too short.",
                g.simulator.rows, report.split, 100.0 * g.simulator.median, 100.0 * g.simulator.p90
            )
        },
    );
    let frame = Frame {
        title: "Simulated against published kernel time".to_owned(),
        subtitle,
        foot: format!(
            "Simulated; kernels compiled by {}; published times from public sources",
            report.compiler
        ),
        legend: legend.collect(),
        size: (1000, 860),
    };
    draw(&frame, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .x_label_area_size(52)
            .y_label_area_size(70)
            .build_cartesian_2d((low..high).log_scale(), (low..high).log_scale())
            .map_err(told)?;
        chart
            .configure_mesh()
            .bold_line_style(GRID)
            .light_line_style(plotters::style::TRANSPARENT)
            .axis_style(AXIS)
            .label_style(text(13, MUTED))
            .axis_desc_style(text(14, INK))
            .x_desc("published, us")
            .y_desc("simulated, us")
            .x_label_formatter(&|v| short(*v))
            .y_label_formatter(&|v| short(*v))
            .draw()
            .map_err(told)?;
        let line = LineSeries::new([(low, low), (high, high)], INK);
        chart.draw_series(line).map_err(told)?;
        for band in
            [[(low, low * BAND), (high / BAND, high)], [(low * BAND, low), (high, high / BAND)]]
        {
            let dashes = DashedLineSeries::new(band, 5, 5, AXIS.into());
            chart.draw_series(dashes).map_err(told)?;
        }
        for &(family, published, simulated) in &points {
            let at = (published, simulated);
            let (color, mark) = look(family);
            match mark {
                Mark::Triangle => {
                    chart.draw_series([TriangleMarker::new(at, 6, color.mix(0.8).filled())])
                }
                Mark::Cross => chart.draw_series([Cross::new(at, 4, color.stroke_width(2))]),
                Mark::Ring => chart.draw_series([Circle::new(at, 4, color.stroke_width(2))]),
                _ => chart.draw_series([Circle::new(at, 4, color.mix(0.8).filled())]),
            }
            .map_err(told)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_legend_names_each_family_in_full() {
        const REPORT: &str = include_str!("../../profiles/validation/report.json");
        let report: Report = serde_json::from_str(REPORT).unwrap();
        let svg = svg(&report).unwrap();
        let ran = report.rows.iter().filter(|row| row.result.is_some());
        for row in ran {
            assert!(svg.contains(&format!("{} {}\n", row.arch, row.family)), "{}", row.family);
        }
    }
}
