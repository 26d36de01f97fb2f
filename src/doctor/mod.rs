//! Checks a deployment before it boots.
//!
//! In go what the server will be told (environment, flags, or what a running one reports), its
//! SGLang version and the sizer; out comes a [`Report`]: how the version changes what it is told,
//! and findings with severity, reason, source and fix. Pure but for [`inputs::Server`]'s readers.

mod checks;
mod effective;
pub mod fetch;
pub mod inputs;

use serde::Serialize;

pub use effective::{Change, Effective, Settled};
use inputs::Server;

use crate::emit::Sizer;
use crate::sglang::{ModelKind, Release};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Works, but not as meant, or not for certain.
    Warning,
    /// Does not start, hangs, dies, or answers wrongly.
    Error,
}

/// Something found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Short name of the check.
    pub check: &'static str,
    /// What is wrong and what follows from it.
    pub reason: String,
    /// The setting and where it was read, or the code that decides.
    pub source: String,
    /// What to do.
    pub fix: String,
}

/// What is known beside the server's own settings.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The configuration that was planned.
    pub sizer: Option<&'a Sizer>,
    /// Target of the machine, such as gfx942.
    pub arch: Option<&'a str>,
    /// Hash of the profile that the configuration should come from.
    pub profile_sha256: Option<&'a str>,
    /// What the model forces, where it is known.
    pub model: Option<&'a ModelKind>,
    /// Truncation alignment that model or cache force, tokens.
    pub truncation: Option<u64>,
    /// Rows of a GEMM tile; the sizer's where not given.
    pub block_m: Option<u64>,
    /// Decode rows that ride in a mixed chunk.
    pub decode_rows: Option<u64>,
}

/// The result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// SGLang version.
    pub sglang: String,
    /// Each change of chunk, page, alignment and prefill limit, in the order in which it happens.
    pub changes: Vec<Change>,
    /// What the scheduler works with, by setting.
    pub settings: Vec<Settled>,
    /// Changes that hang on what neither flag nor variable shows.
    pub not_followed: Vec<String>,
    /// Findings, the worst first.
    pub findings: Vec<Finding>,
}

impl Report {
    /// The worst severity; none without findings.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

/// Checks a deployment.
pub fn examine(server: &Server, release: &Release<'_>, facts: &Facts<'_>) -> Report {
    let effective = Effective::of(server, release, facts);
    let mut findings = checks::all(server, release, facts, &effective);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Report {
        sglang: release.version.to_string(),
        settings: effective.settled(server),
        changes: effective.changes,
        not_followed: effective.unseen,
        findings,
    }
}

#[cfg(test)]
mod tests;
