//! The sizer against the machine, the profile, the layout and the version it is used with.

use super::super::effective::truthy;
use super::super::{Finding, Severity};
use super::{Subject, finding};
use crate::plan::Status;

pub(super) fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Subject { server, release, facts, .. } = subject;
    let Some(sizer) = facts.sizer else {
        findings.push(finding(
            Severity::Info,
            "no_sizer",
            "without a sizer nothing can be said about memory",
            server.source("CHUNKTUNE_SIZER"),
            "give --sizer",
        ));
        return;
    };
    let mut add = |severity, check, reason: String, fix: &str| {
        findings.push(finding(severity, check, reason, "sizer.json", fix));
    };
    if let Some(arch) = facts.arch.filter(|arch| *arch != sizer.arch && !sizer.arch.is_empty()) {
        add(
            Severity::Error,
            "other_device",
            format!("the sizer was made for {}, this is {arch}", sizer.arch),
            "measure on this device",
        );
    }
    if let Some(hash) = facts.profile_sha256.filter(|hash| *hash != sizer.profile_sha256) {
        add(
            Severity::Error,
            "other_profile",
            format!("the sizer comes from profile {}, not from {hash}", sizer.profile_sha256),
            "emit it again from this profile",
        );
    }
    let allowed = server.env.get("CHUNKTUNE_ALLOW_UNVALIDATED").is_some_and(|g| truthy(&g.value));
    if sizer.status == Status::Unvalidated {
        let (severity, what) = if allowed {
            (Severity::Warning, "is used all the same (CHUNKTUNE_ALLOW_UNVALIDATED)")
        } else {
            (Severity::Error, "is refused by the plugin")
        };
        add(
            severity,
            "unvalidated",
            format!("the memory of the deployed engine was not observed: the sizer {what}"),
            "give peaks of the engine to `tune emit` with --observations",
        );
    }
    if sizer.sglang != release.version.to_string() {
        add(
            Severity::Info,
            "other_version",
            format!(
                "the sizer was written for SGLang {}, this is {}",
                sizer.sglang, release.version
            ),
            "emit it again with --sglang-version",
        );
    }
    if let Some(tp) = server.number("--tp-size").filter(|tp| *tp != i64::from(sizer.tp)) {
        add(
            Severity::Error,
            "other_layout",
            format!("the plan is for --tp-size {}, the server has {tp}", sizer.tp),
            "plan again for this layout",
        );
    }
    let groups = subject.effective.groups;
    if server.has("--chunked-prefill-size")
        && !server.resolved
        && groups != u64::from(sizer.dp.max(1))
    {
        add(
            Severity::Error,
            "other_layout",
            format!("the plan is for {} attention groups, the server has {groups}", sizer.dp),
            "plan again for this layout",
        );
    }
}
