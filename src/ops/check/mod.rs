//! `tune kernel check`: runs every kernel and pipeline on a device and compares with the references.
//!
//! A device goes in (the simulator in functional mode, or hardware); one [`Finding`] per kernel and
//! shape comes out, and a table with the worst of each kernel.

mod absorb;
mod compare;
mod data;
mod fill;
mod gemm;
mod logits;
mod pipelines;
mod select;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

pub use compare::{Agreement, agreement};

use super::reference::target;
use super::{Library, OpError, Pack};
use crate::hip::{Device, Fidelity};

/// Largest error, relative to the largest reference value, that passes.
pub const TOLERANCE: f64 = 1e-2;

/// How a result compares.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Floating-point results.
    Close(Agreement),
    /// Results that have to be equal.
    Exact {
        /// Elements compared.
        elements: usize,
        /// Elements that differ.
        different: usize,
    },
}

impl Verdict {
    /// Compares element by element; results of different lengths differ throughout.
    fn exact<T: PartialEq>(got: &[T], want: &[T]) -> Self {
        let elements = got.len().max(want.len());
        let same = got.iter().zip(want).filter(|(a, b)| a == b).count();
        Verdict::Exact { elements, different: elements - same }
    }

    /// Whether it passes.
    pub fn passed(&self) -> bool {
        match self {
            Verdict::Close(agreement) => agreement.relative < TOLERANCE && agreement.outside == 0,
            Verdict::Exact { different, .. } => *different == 0,
        }
    }

    /// For ordering: how bad it is.
    fn badness(&self) -> (bool, f64) {
        match self {
            Verdict::Close(a) => (!self.passed(), a.relative),
            Verdict::Exact { different, .. } => (!self.passed(), *different as f64),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Close(a) if a.outside > 0 => {
                write!(f, "error {:.2e}, {} outside their rounding", a.relative, a.outside)
            }
            Verdict::Close(a) => write!(f, "error {:.2e}", a.relative),
            Verdict::Exact { different: 0, elements } => write!(f, "equal ({elements} elements)"),
            Verdict::Exact { different, elements } => write!(f, "{different} of {elements} differ"),
        }
    }
}

/// One kernel or pipeline at one shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Kernel id, or pipeline.
    pub subject: String,
    /// Shape, as text.
    pub case: String,
    /// Result.
    pub verdict: Verdict,
}

/// All findings on one device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckReport {
    /// Target.
    pub arch: String,
    /// In the order they were run.
    pub findings: Vec<Finding>,
}

impl CheckReport {
    /// Whether everything passed.
    pub fn passed(&self) -> bool {
        self.findings.iter().all(|f| f.verdict.passed())
    }
}

/// Runs every kernel and pipeline, on the simulator with the detector of unmet waits. `progress`
/// hears of each finding as it is made.
///
/// # Errors
/// [`OpError`] when a launch fails; a wrong result is a finding, not an error.
pub fn run(device: &Device, progress: impl FnMut(&Finding)) -> Result<CheckReport, OpError> {
    device.set_fidelity(Fidelity::Functional);
    device.set_check_waits(true);
    let report = run_all(device, progress);
    device.set_check_waits(false);
    report
}

/// Runs every kernel of a pack, like [`run`].
///
/// # Errors
/// As [`run`].
pub fn run_pack(
    device: &Device,
    pack: &Pack,
    progress: impl FnMut(&Finding),
) -> Result<CheckReport, OpError> {
    device.set_fidelity(Fidelity::Functional);
    device.set_check_waits(true);
    let library = Library::from_entries(device, &pack.entries)?;
    let report = in_session(device, &library, progress, |session| {
        gemm::check_pack(session, &pack.entries)?;
        absorb::check_pack(session, &pack.entries)
    });
    device.set_check_waits(false);
    report
}

fn run_all(device: &Device, progress: impl FnMut(&Finding)) -> Result<CheckReport, OpError> {
    let library = Library::load(device)?;
    in_session(device, &library, progress, |session| {
        fill::check(session)?;
        gemm::check(session)?;
        absorb::check(session)?;
        logits::check(session)?;
        select::check(session)?;
        pipelines::check(session)
    })
}

fn in_session(
    device: &Device,
    library: &Library,
    mut progress: impl FnMut(&Finding),
    checks: impl FnOnce(&mut Session<'_>) -> Result<(), OpError>,
) -> Result<CheckReport, OpError> {
    let name = device.info().arch.clone();
    let arch = target(&name)
        .ok_or_else(|| OpError::MissingKernel { id: "any".into(), arch: name.clone() })?;
    let mut findings = Vec::new();
    let mut session = Session {
        device,
        library,
        arch,
        record: &mut |finding| {
            progress(&finding);
            findings.push(finding);
        },
    };
    checks(&mut session)?;
    Ok(CheckReport { arch: name, findings })
}

/// What the checks share.
struct Session<'a> {
    device: &'a Device,
    library: &'a Library,
    arch: cdna_sim::isa::Arch,
    record: &'a mut dyn FnMut(Finding),
}

impl Session<'_> {
    fn record(&mut self, subject: &str, case: impl fmt::Display, verdict: Verdict) {
        let finding = Finding { subject: subject.to_owned(), case: case.to_string(), verdict };
        (self.record)(finding);
    }

    /// A buffer with these bytes.
    fn upload(&self, bytes: &[u8]) -> Result<crate::hip::Buffer, OpError> {
        let buffer = self.device.malloc(crate::units::Bytes(bytes.len() as u64))?;
        buffer.upload(bytes)?;
        Ok(buffer)
    }

    /// A buffer filled with 0xCD, so that bytes a kernel should have written show.
    fn scratch(&self, bytes: usize) -> Result<crate::hip::Buffer, OpError> {
        self.upload(&vec![data::UNWRITTEN; bytes])
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut worst: BTreeMap<&str, (usize, &Finding)> = BTreeMap::new();
        for finding in &self.findings {
            let entry = worst.entry(&finding.subject).or_insert((0, finding));
            entry.0 += 1;
            if finding.verdict.badness() > entry.1.verdict.badness() {
                entry.1 = finding;
            }
        }
        let header = ["kernel", "arch", "shapes", "worst", "at", ""].map(str::to_owned);
        let rows: Vec<[String; 6]> = std::iter::once(header)
            .chain(worst.iter().map(|(subject, (count, finding))| {
                [
                    (*subject).to_owned(),
                    self.arch.clone(),
                    count.to_string(),
                    finding.verdict.to_string(),
                    finding.case.clone(),
                    if finding.verdict.passed() { "ok" } else { "FAILED" }.into(),
                ]
            }))
            .collect();
        write_table(f, &rows)
    }
}

/// Writes rows with aligned columns, two spaces between them.
pub(super) fn write_table<const N: usize>(
    f: &mut fmt::Formatter<'_>,
    rows: &[[String; N]],
) -> fmt::Result {
    let width = |column: usize| rows.iter().map(|r| r[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:<width$}  "));
        }
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}
