//! The feasible region: which chunk fits at which prefix.

use plotters::prelude::{AreaSeries, ChartBuilder, Color as _, DashedLineSeries, LineSeries};

use super::schedule::steps;
use super::style::{BLUE, Entry, Frame, GREEN, Mark, VERMILION, draw, house, short, told};
use crate::fit::memory::MemoryFit;
use crate::plan::Plan;

const SAMPLES: u64 = 120;

/// The plot.
pub fn svg(memory: &MemoryFit, plan: &Plan, foot: &str) -> Result<String, String> {
    let budget = &plan.budget;
    let top = plan.schedule.range.max.saturating_mul(2);
    let end = (plan.schedule.max_context as f64 * 1.15).max(1.0);
    let cp = u64::from(plan.layout.cp.max(1));
    let curve = |c: f64| -> Vec<(f64, f64)> {
        (0..=SAMPLES)
            .map(|i| (end * i as f64 / SAMPLES as f64) as u64)
            .map(|l| {
                let fits =
                    |t: u64| memory.peak_at(t.div_ceil(cp), l + t, c) <= budget.usable_bytes as f64;
                (l as f64, largest_rows(top, fits) as f64)
            })
            .collect()
    };
    let bound = curve(budget.c_95);
    let mut legend = vec![
        Entry::new(format!("fits at c = {:.1} B (95% or floor)", budget.c_95), BLUE, Mark::Band),
        Entry::new("chunk of the sizer", GREEN, Mark::Line),
    ];
    let fitted = (budget.fitted_c_point > 0.0
        && (budget.fitted_c_point / budget.c_95 - 1.0).abs() > 0.005)
        .then(|| {
            let mut line = curve(budget.fitted_c_point);
            // Above the shown range there is no limit to draw.
            let clipped = line.iter().take_while(|(_, rows)| *rows >= top as f64).count();
            line.drain(..clipped.saturating_sub(1));
            line
        });
    if fitted.is_some() {
        let label = format!("limit at the fitted c = {:.1} B", budget.fitted_c_point);
        legend.push(Entry::new(label, VERMILION, Mark::Dashes));
    }
    let frame = Frame {
        title: "Chunks that fit".to_owned(),
        subtitle: format!(
            "Peak at the end of the chunk within {} (free {}{}, guard {}, margin {}); path {}.",
            crate::units::Bytes(budget.usable_bytes),
            plan.usable.free,
            if plan.usable.assumed { " assumed" } else { "" },
            plan.usable.guard,
            plan.usable.margin,
            plan.memory_path
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
            .build_cartesian_2d(0.0..end, 0.0..top as f64)
            .map_err(told)?;
        let shade = AreaSeries::new(bound.clone(), 0.0, BLUE.mix(0.18));
        chart.draw_series(shade).map_err(told)?;
        house(&mut chart.configure_mesh())
            .x_desc("prefix before the chunk, L (tokens)")
            .y_desc("rows of the chunk, T (tokens)")
            .x_label_formatter(&|v| short(*v))
            .y_label_formatter(&|v| format!("{v:.0}"))
            .draw()
            .map_err(told)?;
        chart.draw_series(LineSeries::new(bound, BLUE.stroke_width(2))).map_err(told)?;
        if let Some(line) = fitted {
            let dashes = DashedLineSeries::new(line, 7, 5, VERMILION.stroke_width(2));
            chart.draw_series(dashes).map_err(told)?;
        }
        let line = LineSeries::new(steps(&plan.schedule), GREEN.stroke_width(3));
        chart.draw_series(line).map_err(told)?;
        Ok(())
    })
}

/// The most rows up to `top` that fit; 0 where one row does not.
fn largest_rows(top: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let (mut inside, mut outside) = (0, top.saturating_add(1));
    while outside - inside > 1 {
        let middle = inside + (outside - inside) / 2;
        if fits(middle) { inside = middle } else { outside = middle }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_rows_that_fit_are_found_at_both_ends() {
        assert_eq!(largest_rows(4096, |t| t <= 1000), 1000);
        assert_eq!(largest_rows(4096, |_| true), 4096);
        assert_eq!(largest_rows(4096, |_| false), 0);
    }
}
