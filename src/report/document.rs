//! A report as data: sections of paragraphs, lists and tables, rendered as text or as HTML.

use std::fmt::Write as _;

/// A table: first row of names, then cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Column names.
    pub header: Vec<String>,
    /// Cells, as many in each row as there are names; a shorter row is a remark.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new<const N: usize>(header: [&str; N]) -> Self {
        Self { header: header.map(str::to_owned).to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }

    /// Whether every cell of a column reads as a figure, which is then set to the right.
    fn numeric(&self, column: usize) -> bool {
        let figure = |cell: &str| {
            cell.is_empty()
                || cell == "-"
                || cell.starts_with("...")
                || cell.starts_with(|c: char| c.is_ascii_digit())
        };
        self.rows.iter().all(|row| row.get(column).is_none_or(|cell| figure(cell)))
    }
}

/// A part of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// Statements, one a line.
    List(Vec<String>),
    /// A table.
    Table(Table),
}

/// A titled part of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Title.
    pub title: String,
    /// Contents.
    pub blocks: Vec<Block>,
}

/// A report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// First line: what device, which engine.
    pub headline: String,
    /// Sections.
    pub sections: Vec<Section>,
}

/// Line width that paragraphs are wrapped at.
const WIDTH: usize = 96;

impl Document {
    /// Plain text for a terminal.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n", self.headline);
        for section in &self.sections {
            let _ = writeln!(out, "\n{}", section.title);
            for block in &section.blocks {
                match block {
                    Block::Text(text) => wrap(&mut out, "  ", "  ", text),
                    Block::List(items) => {
                        items.iter().for_each(|item| wrap(&mut out, "  - ", "    ", item));
                    }
                    Block::Table(table) => table_text(&mut out, table),
                }
            }
        }
        out
    }

    /// The sections as HTML, without head and body.
    pub fn html(&self) -> String {
        let mut out = String::new();
        for section in &self.sections {
            let _ = write!(out, "<section>\n<h2>{}</h2>\n", escape(&section.title));
            for block in &section.blocks {
                match block {
                    Block::Text(text) => {
                        let _ = writeln!(out, "<p>{}</p>", escape(text));
                    }
                    Block::List(items) => {
                        let items: String =
                            items.iter().map(|i| format!("<li>{}</li>\n", escape(i))).collect();
                        let _ = writeln!(out, "<ul>\n{items}</ul>");
                    }
                    Block::Table(table) => table_html(&mut out, table),
                }
            }
            out.push_str("</section>\n");
        }
        out
    }
}

fn wrap(out: &mut String, first: &str, rest: &str, text: &str) {
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(out, "{line}");
            line = rest.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    let _ = writeln!(out, "{line}");
}

fn table_text(out: &mut String, table: &Table) {
    let width = |column: usize| {
        // A remark in place of a row does not widen its column.
        let full = table.rows.iter().filter(|row| row.len() == table.header.len());
        let cells = full.filter_map(|row| row.get(column));
        cells.chain(table.header.get(column)).map(|c| c.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..table.header.len()).map(width).collect();
    let titled = table.header.iter().any(|name| !name.is_empty());
    for row in titled.then_some(&table.header).into_iter().chain(&table.rows) {
        let mut line = String::from("  ");
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if table.numeric(column) && row.len() == table.header.len() {
                let _ = write!(line, "{cell:>width$}  ");
            } else {
                let _ = write!(line, "{cell:<width$}  ");
            }
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn table_html(out: &mut String, table: &Table) {
    let class = |column| if table.numeric(column) { " class=\"n\"" } else { "" };
    out.push_str("<table>\n");
    if table.header.iter().any(|name| !name.is_empty()) {
        out.push_str("<tr>");
        for (column, name) in table.header.iter().enumerate() {
            let _ = write!(out, "<th{}>{}</th>", class(column), escape(name));
        }
        out.push_str("</tr>\n");
    }
    for row in &table.rows {
        out.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            let _ = write!(out, "<td{}>{}</td>", class(column), escape(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n");
}

/// Text made safe for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// An integer with commas between thousands.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, ch) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(ch);
    }
    out
}

/// token^2 as `2.00e8`.
pub fn pairs(value: Option<u64>) -> String {
    value.map_or("no limit".to_owned(), |v| format!("{:.2e}", v as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Document {
        let mut table = Table::new(["path", "c"]);
        table.row(["dense".into(), "9.00".into()]);
        table.row(["key_blocked".into(), "-".into()]);
        Document {
            headline: "gfx950 & friends".into(),
            sections: vec![Section {
                title: "Memory".into(),
                blocks: vec![Block::Table(table), Block::List(vec!["a < b".into()])],
            }],
        }
    }

    #[test]
    fn text_aligns_names_left_and_figures_right() {
        assert_eq!(
            sample().text(),
            "gfx950 & friends\n\nMemory\n  path            c\n  dense        9.00\n  \
             key_blocked     -\n  - a < b\n"
        );
    }

    #[test]
    fn html_escapes_what_it_shows() {
        let html = sample().html();
        assert!(html.contains("<li>a &lt; b</li>") && html.contains("<td class=\"n\">9.00</td>"));
    }

    #[test]
    fn long_paragraphs_are_wrapped_and_thousands_grouped() {
        let mut out = String::new();
        wrap(&mut out, "  - ", "    ", &"word ".repeat(40));
        assert!(out.lines().count() > 1 && out.lines().all(|l| l.chars().count() <= WIDTH));
        assert!(out.lines().nth(1).unwrap().starts_with("    word"));
        assert_eq!(
            (grouped(781_250), grouped(1_000_000), grouped(7)),
            ("781,250".to_owned(), "1,000,000".to_owned(), "7".to_owned())
        );
    }
}
