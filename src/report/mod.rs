//! What a person reads: the summary, the plots, `report.html`, and the comparison of two profiles.
//!
//! In goes a profile with what was derived from it; out come text, SVG files in `plots/` and one
//! self-contained HTML page. Every output carries the provenance line.

mod compare;
mod content;
mod document;
mod html;
mod observed;
pub mod plot;

use std::path::{Path, PathBuf};

use crate::derive::Derived;
use crate::files::{self, FileError};
use crate::profile::Profile;

pub use compare::{Comparison, GainRow, PathMemory, Side, compare};
pub use content::{document, schedule_table};
pub use document::{Block, Document, Section, Table, grouped, pairs};
pub use observed::observed;

/// Name of the page in an output directory.
pub const HTML_FILE: &str = "report.html";
/// Folder of the plots in an output directory.
pub const PLOTS_DIR: &str = "plots";

/// The summary as text for a terminal.
pub fn summary(profile: &Profile, derived: &Derived) -> String {
    document(profile, derived).text()
}

/// Writes `plots/*.svg` and `report.html` into `dir`; gives the paths written.
///
/// # Errors
/// Whatever the file system answers, with the path, or a plot that cannot be drawn.
pub fn write(dir: &Path, profile: &Profile, derived: &Derived) -> Result<Vec<PathBuf>, FileError> {
    let folder = dir.join(PLOTS_DIR);
    let plots = plot::all(profile, derived).map_err(|detail| FileError::Encode {
        path: folder.clone(),
        format: "SVG",
        detail,
    })?;
    let mut written = Vec::new();
    for plot in &plots {
        let path = folder.join(&plot.file);
        files::write_atomic(&path, plot.svg.as_bytes())?;
        written.push(path);
    }
    let page = dir.join(HTML_FILE);
    let text = html::page(&document(profile, derived), profile.sha256(), &plots);
    files::write_atomic(&page, text.as_bytes())?;
    written.push(page);
    Ok(written)
}
