//! The wave clocks of one or two kernels as stacked bars.

use plotters::prelude::{ChartBuilder, Color as _, EmptyElement, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::KernelProfile;
use crate::report::plot::style::{
    AXIS, Entry, Frame, GRID, INK, MUTED, Mark, SERIES, draw, text, told,
};
use crate::validate::off_by;

/// Causes that get a colour; the rest is one part.
const SHOWN: usize = 10;

/// The picture as SVG.
///
/// # Errors
/// The drawing backend's words.
pub fn svg(profiles: &[KernelProfile]) -> Result<String, String> {
    let mut totals: Vec<(String, f64)> = Vec::new();
    for part in profiles.iter().flat_map(|p| &p.wave_clocks) {
        match totals.iter_mut().find(|(name, _)| *name == part.name) {
            Some((_, sum)) => *sum += part.fraction,
            None => totals.push((part.name.clone(), part.fraction)),
        }
    }
    totals.sort_by(|a, b| b.1.total_cmp(&a.1));
    totals.truncate(SHOWN);
    // The second time round the palette the colours are paler.
    let mark = |i: usize| if i < SERIES.len() { Mark::Bar } else { Mark::PaleBar };
    let color = |i: usize| SERIES[i % SERIES.len()].mix(mark(i).opacity());
    let legend = totals
        .iter()
        .enumerate()
        .map(|(i, (name, _))| Entry::new(name.clone(), SERIES[i % SERIES.len()], mark(i)));
    let arch = profiles.first().map_or("", |p| p.arch.as_str());
    let frame = Frame {
        title: "Where the wave clocks go".to_owned(),
        subtitle:
            "Microseconds of the launch, split as the clocks of the timed waves; small parts are grey."
                .to_owned(),
        foot: format!(
            "Simulated {arch}; off by: median error against published times of the nearest kernels"
        ),
        legend: legend.collect(),
        size: (1000, 220 + 90 * profiles.len().max(1) as u32),
    };
    let high = profiles.iter().map(|p| p.time_us).fold(1e-3, f64::max) * 1.05;
    let count = profiles.len().max(1) as f64;
    draw(&frame, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .x_label_area_size(52)
            .y_label_area_size(10)
            .build_cartesian_2d(0.0..high, 0.0..count)
            .map_err(told)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .bold_line_style(GRID)
            .light_line_style(plotters::style::TRANSPARENT)
            .axis_style(AXIS)
            .label_style(text(13, MUTED))
            .axis_desc_style(text(14, INK))
            .y_labels(0)
            .x_desc("us")
            .draw()
            .map_err(told)?;
        let label = text(13, INK).pos(Pos::new(HPos::Left, VPos::Bottom));
        for (i, profile) in profiles.iter().enumerate() {
            let y = count - 1.0 - i as f64;
            let mut x = 0.0;
            for part in &profile.wave_clocks {
                let width = part.fraction * profile.time_us;
                let fill = totals.iter().position(|(name, _)| *name == part.name);
                let style = fill.map_or(AXIS.mix(0.3), color).filled();
                let bar = Rectangle::new([(x, y + 0.1), (x + width, y + 0.62)], style);
                chart.draw_series([bar]).map_err(told)?;
                x += width;
            }
            let words = format!(
                "{}, {}: {:.1} us, {}",
                profile.kernel,
                profile.shape,
                profile.time_us,
                off_by(profile.time_off_by)
            );
            let words =
                EmptyElement::at((0.0, y + 0.64)) + Text::new(words, (0, -2), label.clone());
            chart.draw_series([words]).map_err(told)?;
        }
        Ok(())
    })
}
