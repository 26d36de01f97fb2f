//! The checks, by subject. Settings as given and as effective go in; findings come out.

mod chunk;
mod config;
mod environment;
mod memory;

use super::inputs::Server;
use super::{Effective, Facts, Finding, Severity};
use crate::sglang::Release;

/// Everything a check looks at.
struct Subject<'a> {
    server: &'a Server,
    release: &'a Release<'a>,
    facts: &'a Facts<'a>,
    effective: &'a Effective,
}

/// Runs all checks.
pub(super) fn all(
    server: &Server,
    release: &Release<'_>,
    facts: &Facts<'_>,
    effective: &Effective,
) -> Vec<Finding> {
    let subject = Subject { server, release, facts, effective };
    let mut findings = Vec::new();
    for check in [chunk::check, memory::check, environment::check, config::check] {
        check(&subject, &mut findings);
    }
    findings
}

/// A finding.
fn finding(
    severity: Severity,
    check: &'static str,
    reason: impl Into<String>,
    source: impl Into<String>,
    fix: impl Into<String>,
) -> Finding {
    Finding { severity, check, reason: reason.into(), source: source.into(), fix: fix.into() }
}
