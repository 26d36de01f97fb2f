//! The common look of the plots: palette, type sizes, frame, legend strip and provenance line.

use plotters::chart::MeshStyle;
use plotters::coord::Shift;
use plotters::coord::ranged1d::Ranged;
use plotters::prelude::{
    Circle, Color as _, Cross, DrawingArea, FontStyle, IntoDrawingArea as _, IntoFont as _,
    IntoTextStyle as _, PathElement, RGBColor, Rectangle, SVGBackend, TRANSPARENT, Text, TextStyle,
    TriangleMarker, WHITE,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// An area of the SVG.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// What drawing may answer; the text is the backend's.
pub type Drawn = Result<(), String>;

/// Blue of Okabe and Ito's palette, which colour-blind readers can tell apart.
pub const BLUE: RGBColor = RGBColor(0, 114, 178);
/// Vermilion.
pub const VERMILION: RGBColor = RGBColor(213, 94, 0);
/// Bluish green.
pub const GREEN: RGBColor = RGBColor(0, 158, 115);
/// Reddish purple.
pub const PURPLE: RGBColor = RGBColor(204, 121, 167);
/// Orange.
pub const ORANGE: RGBColor = RGBColor(230, 159, 0);
/// Text.
pub const INK: RGBColor = RGBColor(27, 31, 36);
/// Secondary text.
pub const MUTED: RGBColor = RGBColor(87, 96, 106);
/// Grid lines.
pub const GRID: RGBColor = RGBColor(228, 232, 237);
/// Axis lines.
pub const AXIS: RGBColor = RGBColor(140, 149, 159);

/// Colours of series in order.
pub const SERIES: [RGBColor; 5] = [BLUE, VERMILION, GREEN, PURPLE, ORANGE];

/// Left and right margin, pixels.
const MARGIN: i32 = 28;
/// Estimated width of a character at 13 pixels, in tenths of a pixel.
const CHAR: i32 = 70;

/// How a legend entry is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A line.
    Line,
    /// A dashed line.
    Dashes,
    /// A filled dot.
    Dot,
    /// An open ring.
    Ring,
    /// A filled triangle.
    Triangle,
    /// A diagonal cross.
    Cross,
    /// A shaded area.
    Band,
    /// A bar.
    Bar,
    /// A bar of the second round of the palette.
    PaleBar,
}

impl Mark {
    /// How much of its colour what is filled takes.
    pub fn opacity(self) -> f64 {
        match self {
            Mark::Band => 0.25,
            Mark::PaleBar => 0.45,
            Mark::Bar => 0.95,
            _ => 1.0,
        }
    }
}

/// A legend entry.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Words.
    pub label: String,
    /// Colour.
    pub color: RGBColor,
    /// Drawing.
    pub mark: Mark,
}

impl Entry {
    /// An entry.
    pub fn new(label: impl Into<String>, color: RGBColor, mark: Mark) -> Self {
        Self { label: label.into(), color, mark }
    }
}

/// What surrounds a plot.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What the plot shows.
    pub title: String,
    /// How to read it.
    pub subtitle: String,
    /// Where the figures come from.
    pub foot: String,
    /// Legend, in a strip above the data.
    pub legend: Vec<Entry>,
    /// Pixels.
    pub size: (u32, u32),
}

/// A text style of the house: sans-serif, `size` pixels.
pub fn text(size: i32, color: RGBColor) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&color)
}

fn bold(size: i32) -> TextStyle<'static> {
    ("sans-serif", size, FontStyle::Bold).into_text_style(&(1000u32, 1000u32)).color(&INK)
}

/// Gives axes and grid the look of the house.
pub fn house<'m, 'a, 'b, 's, X, Y>(
    mesh: &'m mut MeshStyle<'a, 'b, X, Y, SVGBackend<'s>>,
) -> &'m mut MeshStyle<'a, 'b, X, Y, SVGBackend<'s>>
where
    X: Ranged,
    Y: Ranged,
{
    mesh.bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(AXIS)
        .label_style(text(13, MUTED))
        .axis_desc_style(text(14, INK))
}

/// The backend's error as text.
pub fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Draws the frame and, inside it, what `body` draws; gives the SVG.
pub fn draw(frame: &Frame, body: impl FnOnce(&Area<'_>) -> Drawn) -> Result<String, String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, frame.size).into_drawing_area();
        root.fill(&WHITE).map_err(told)?;
        let write = |words: &str, at: (i32, i32), style: TextStyle<'static>| {
            root.draw(&Text::new(words.to_owned(), at, style)).map_err(told)
        };
        write(&frame.title, (MARGIN, 16), bold(22))?;
        write(&frame.subtitle, (MARGIN, 47), text(14, MUTED))?;
        let below = legend(&root, frame, 78)?;
        let height = frame.size.1 as i32;
        write(&frame.foot, (MARGIN, height - 24), text(12, MUTED))?;
        let (_, lower) = root.split_vertically(below);
        let (body_area, _) = lower.split_vertically(height - below - 34);
        body(&body_area.margin(0, 0, MARGIN as u32 - 20, MARGIN as u32))?;
        root.present().map_err(told)?;
    }
    Ok(svg)
}

/// Draws the legend strip from `top` down and gives where the data may begin.
fn legend(root: &Area<'_>, frame: &Frame, top: i32) -> Result<i32, String> {
    let (mut x, mut y) = (MARGIN, top);
    let right = frame.size.0 as i32 - MARGIN;
    for entry in &frame.legend {
        let width = 34 + CHAR * entry.label.chars().count() as i32 / 10 + 24;
        if x > MARGIN && x + width > right {
            (x, y) = (MARGIN, y + 22);
        }
        mark(root, (x + 13, y), entry)?;
        let style = text(13, INK).pos(Pos::new(HPos::Left, VPos::Center));
        root.draw(&Text::new(entry.label.clone(), (x + 34, y), style)).map_err(told)?;
        x += width;
    }
    Ok(y + if frame.legend.is_empty() { 0 } else { 18 })
}

fn mark(root: &Area<'_>, (x, y): (i32, i32), entry: &Entry) -> Drawn {
    let color = entry.color;
    let line = |from: i32, to: i32| PathElement::new([(from, y), (to, y)], color.stroke_width(3));
    match entry.mark {
        Mark::Line => root.draw(&line(x - 12, x + 14)),
        Mark::Dashes => {
            root.draw(&line(x - 12, x - 3)).map_err(told)?;
            root.draw(&line(x + 4, x + 13))
        }
        Mark::Dot => root.draw(&Circle::new((x, y), 5, color.filled())),
        Mark::Ring => root.draw(&Circle::new((x, y), 5, color.stroke_width(2))),
        Mark::Triangle => root.draw(&TriangleMarker::new((x, y), 7, color.filled())),
        Mark::Cross => root.draw(&Cross::new((x, y), 5, color.stroke_width(2))),
        Mark::Band | Mark::Bar | Mark::PaleBar => {
            let fill = color.mix(entry.mark.opacity()).filled();
            root.draw(&Rectangle::new([(x - 12, y - 7), (x + 13, y + 7)], fill))
        }
    }
    .map_err(told)
}

/// A figure with a decimal prefix: `2k`, `131k`, `1.5M`.
pub fn short(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        v if v >= 1e12 => (value / 1e12, "T"),
        v if v >= 1e9 => (value / 1e9, "G"),
        v if v >= 1e6 => (value / 1e6, "M"),
        v if v >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let digits = if scaled.abs() >= 100.0 || scaled.fract().abs() < 1e-9 { 0 } else { 1 };
    format!("{scaled:.digits$}{unit}")
}

/// A size with its unit for an axis: `500 MB`, `2 GB`.
pub fn short_bytes(value: f64) -> String {
    let text = short(value);
    match text.trim_end_matches(|c: char| c.is_ascii_alphabetic()) {
        figure if figure.len() < text.len() => format!("{figure} {}B", &text[figure.len()..]),
        figure => format!("{figure} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_figures_are_short() {
        assert_eq!(short(131_072.0), "131k");
        assert_eq!(short(1_500_000.0), "1.5M");
        assert_eq!(short(0.0), "0");
        assert_eq!(short_bytes(2e9), "2 GB");
        assert_eq!(short_bytes(512.0), "512 B");
    }

    #[test]
    fn a_frame_carries_title_legend_and_provenance() {
        let frame = Frame {
            title: "Peak".into(),
            subtitle: "how".into(),
            foot: "gfx950 simulated".into(),
            legend: vec![Entry::new("dense", BLUE, Mark::Line)],
            size: (400, 300),
        };
        let svg = draw(&frame, |_| Ok(())).unwrap();
        for words in ["Peak", "how", "gfx950 simulated", "dense"] {
            assert!(svg.contains(words), "{words}");
        }
    }
}
