//! The EVEN_MN gain of two profiles, kernel by kernel.

use plotters::prelude::{
    ChartBuilder, Circle, Color as _, DashedLineSeries, EmptyElement, PathElement, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::style::{AXIS, BLUE, Entry, Frame, INK, Mark, VERMILION, draw, house, text, told};

/// One line of the plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Gain {
    /// Kernel, shape and tile.
    pub label: String,
    /// Gain of `ragged_wrap` on each profile.
    pub wrap: [Option<f64>; 2],
    /// Gain of `ragged_buffer` on each profile.
    pub buffer: [Option<f64>; 2],
}

/// The plot: one row a kernel, shape and tile, both profiles in it.
///
/// # Errors
/// The drawing backend's words.
pub fn gains(rows: &[Gain], names: [&str; 2], foot: &str) -> Result<String, String> {
    let colors = [BLUE, VERMILION];
    let all = rows.iter().flat_map(|r| r.wrap.iter().chain(&r.buffer)).flatten();
    let high = all.clone().copied().fold(1.2, f64::max) * 1.06;
    let low = all.copied().fold(1.0, f64::min) - 0.05;
    let mut legend = Vec::new();
    for (name, color) in names.iter().zip(colors) {
        legend.push(Entry::new(format!("{name}: ragged_wrap"), color, Mark::Dot));
        legend.push(Entry::new(format!("{name}: ragged_buffer"), color, Mark::Ring));
    }
    let frame = Frame {
        title: "What a ragged M costs, by kernel".to_owned(),
        subtitle: "Time per row of a ragged length over that of the aligned one (1 = no penalty)."
            .to_owned(),
        foot: foot.to_owned(),
        legend,
        size: (1000, 190 + 34 * rows.len().max(2) as u32),
    };
    let count = rows.len().max(1) as f64;
    draw(&frame, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .x_label_area_size(52)
            .y_label_area_size(290)
            .build_cartesian_2d(low..high, -0.5..count - 0.5)
            .map_err(told)?;
        house(&mut chart.configure_mesh())
            .disable_y_mesh()
            .y_labels(0)
            .x_desc("ragged over aligned, time per row")
            .x_label_formatter(&|v| format!("{v:.1}x"))
            .draw()
            .map_err(told)?;
        let line = DashedLineSeries::new([(1.0, -0.5), (1.0, count - 0.5)], 5, 4, AXIS.into());
        chart.draw_series(line).map_err(told)?;
        let style = text(13, INK).pos(Pos::new(HPos::Right, VPos::Center));
        for (i, row) in rows.iter().enumerate() {
            let y = count - 1.0 - i as f64;
            let label = Text::new(row.label.clone(), (-12, 0), style.clone());
            chart.draw_series([EmptyElement::at((low, y)) + label]).map_err(told)?;
            for (side, color) in colors.into_iter().enumerate() {
                let y = y + if side == 0 { 0.16 } else { -0.16 };
                if let Some(gain) = row.wrap[side] {
                    let stem =
                        PathElement::new([(1.0, y), (gain, y)], color.mix(0.45).stroke_width(2));
                    chart.draw_series([stem]).map_err(told)?;
                    chart.draw_series([Circle::new((gain, y), 6, color.filled())]).map_err(told)?;
                }
                if let Some(gain) = row.buffer[side] {
                    let ring = Circle::new((gain, y), 5, color.stroke_width(2));
                    chart.draw_series([ring]).map_err(told)?;
                }
            }
        }
        Ok(())
    })
}
