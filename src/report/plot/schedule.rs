//! Chunk against prefix, as the sizer serves it, beside the note's formula.

use plotters::prelude::{ChartBuilder, Color as _, DashedLineSeries, LineSeries, Rectangle};

use super::style::{BLUE, Entry, Frame, Mark, ORANGE, VERMILION, draw, house, short, told};
use crate::plan::{EndsBy, Plan, Schedule};
use crate::report::grouped;

/// The plot.
pub fn svg(plan: &Plan, foot: &str) -> Result<String, String> {
    let schedule = &plan.schedule;
    let furthest = plan.formula.as_ref().map_or(0, |f| f.max_context).max(schedule.max_context);
    let x_high = furthest.max(1) as f64 * 1.08;
    let y_high = schedule.range.max as f64 * 1.15;
    let mut legend =
        vec![Entry::new("sizer: end of the chunk under the 95% frontier", BLUE, Mark::Line)];
    if plan.formula.is_some() {
        legend.push(Entry::new("clamp(round_down(BUDGET / L))", ORANGE, Mark::Dashes));
    }
    if schedule.ends_by == EndsBy::Memory {
        let label = format!("past max_context {}", grouped(schedule.max_context));
        legend.push(Entry::new(label, VERMILION, Mark::Band));
    }
    let frame = Frame {
        title: "Chunk for every prefix".to_owned(),
        subtitle: format!(
            "Path {}, {}; multiples of {}; status {}.",
            plan.memory_path,
            plan.budget.budget_95.map_or("no T\u{d7}L limit".to_owned(), |b| format!(
                "BUDGET {:.2e} token\u{b2}",
                b as f64
            )),
            schedule.range.align,
            plan.status.name()
        ),
        foot: foot.to_owned(),
        legend,
        size: (1000, 520),
    };
    draw(&frame, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .x_label_area_size(52)
            .y_label_area_size(74)
            .build_cartesian_2d(0.0..x_high, 0.0..y_high)
            .map_err(told)?;
        house(&mut chart.configure_mesh())
            .x_desc("prefix before the chunk, L (tokens)")
            .y_desc("chunk, T (tokens)")
            .x_label_formatter(&|v| short(*v))
            .y_label_formatter(&|v| format!("{v:.0}"))
            .draw()
            .map_err(told)?;
        if schedule.ends_by == EndsBy::Memory {
            let corner = [(schedule.max_context as f64, 0.0), (x_high, y_high)];
            let band = Rectangle::new(corner, VERMILION.mix(0.14).filled());
            chart.draw_series([band]).map_err(told)?;
        }
        if let Some(formula) = &plan.formula {
            let dashes = DashedLineSeries::new(steps(formula), 7, 5, ORANGE.stroke_width(2));
            chart.draw_series(dashes).map_err(told)?;
        }
        chart.draw_series(LineSeries::new(steps(schedule), BLUE.stroke_width(3))).map_err(told)?;
        Ok(())
    })
}

/// Corners of the step line.
pub(super) fn steps(schedule: &Schedule) -> Vec<(f64, f64)> {
    let mut line = Vec::new();
    for (i, (from, chunk)) in schedule.table.iter().enumerate() {
        let next = schedule.table.get(i + 1).map_or(schedule.max_context, |(next, _)| *next);
        line.push((*from as f64, *chunk as f64));
        line.push((next as f64, *chunk as f64));
    }
    line
}
