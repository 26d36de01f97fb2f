//! Variables and flags that do nothing, or something else than is hoped for.

use super::super::effective::truthy;
use super::super::{Finding, Severity};
use super::chunk::COUNTS;
use super::{Subject, finding};

/// Names under which PyTorch reads the settings of its allocator.
const ALLOCATOR: [&str; 3] =
    ["PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"];

/// Variables of the plugin.
const PLUGIN: [&str; 3] = ["CHUNKTUNE_SIZER", "CHUNKTUNE_STRICT", "CHUNKTUNE_ALLOW_UNVALIDATED"];
/// Shorter names differ from names of other things by as little.
const LONG_NAME: usize = 10;
/// Letters by which a misspelt name differs.
const MISSPELT: usize = 2;

pub(super) fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    ignored(subject, findings);
    misspelt(subject, findings);
    allocator(subject, findings);
    findings.extend(exact_fill(subject));
    findings.extend(score_budgets(subject));
}

fn ignored(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Subject { server, release, .. } = subject;
    let version = release.version;
    let range = |name: &str| release.range(name).unwrap_or_default();
    for name in server.env.keys().filter(|_| !release.is_older()) {
        if matches!(release.env(name), Some((_, false))) {
            findings.push(finding(
                Severity::Warning,
                "variable_ignored",
                format!("SGLang {version} does not read {name}; {} do", range(name)),
                server.source(name),
                "remove it, or use a version that reads it",
            ));
        }
    }
    for name in server.flags.keys().filter(|_| !server.resolved && !release.is_older()) {
        if release.flag(name) == Some(false) {
            findings.push(finding(
                Severity::Error,
                "flag_unknown",
                format!(
                    "SGLang {version} has no {name} and refuses to start; {} have",
                    range(name)
                ),
                server.source(name),
                "remove it, or use a version that has it",
            ));
        }
    }
    if !release.is_known() {
        findings.push(finding(
            Severity::Info,
            "version_not_read",
            format!("SGLang {version} is not among the versions whose settings were read"),
            "the table of this build",
            "check by its own --help that it has these settings",
        ));
    }
}

/// Names that are nearly those of settings that are looked at here.
fn misspelt(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Subject { server, release, .. } = subject;
    let rules = release.rules().flat_map(|(rule, _)| &rule.when.flags).map(String::as_str);
    let known: Vec<&str> = release.names().chain(COUNTS).chain(PLUGIN).chain(rules).collect();
    let given = server.flags.keys().chain(server.env.keys()).map(String::as_str);
    for name in given.filter(|name| name.len() >= LONG_NAME && !known.contains(name)) {
        let near = |other: &&&str| strsim::osa_distance(name, other) <= MISSPELT;
        let cut = |other: &&&str| name.starts_with('-') && other.starts_with(name);
        let Some(meant) = known.iter().find(near).or_else(|| known.iter().find(cut)) else {
            continue;
        };
        findings.push(finding(
            Severity::Warning,
            "name_resembles",
            format!("{name} is none of the settings that are checked here; {meant} is"),
            server.source(name),
            format!("write {meant} if that is meant"),
        ));
    }
}

fn allocator(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for name in ALLOCATOR {
        let Some(given) = subject.server.env.get(name) else { continue };
        let options = given.value.split(',').filter_map(|option| option.split_once(':'));
        for (option, value) in options.map(|(option, value)| (option.trim(), value.trim())) {
            match option {
                "expandable_segments" if truthy(value) => findings.push(finding(
                    Severity::Warning,
                    "expandable_segments",
                    "expandable segments returned NaN logits in the field on one stack",
                    subject.server.source(name),
                    "leave it out, or compare the logits of a long prompt with and without it",
                )),
                "garbage_collection_threshold" => findings.push(finding(
                    Severity::Info,
                    "garbage_collection_threshold",
                    "the threshold is a part of the memory fraction of the process, which SGLang \
                     never sets: it has no effect",
                    subject.server.source(name),
                    "remove it",
                )),
                _ => {}
            }
        }
    }
}

fn exact_fill(subject: &Subject<'_>) -> Option<Finding> {
    let Subject { server, release, facts, .. } = subject;
    let (env, read) = release.env("SGLANG_EXACT_CHUNK_FILL")?;
    let given = server.env.get(&env.name).filter(|_| read)?;
    let arch = facts.arch.or_else(|| facts.sizer.map(|sizer| sizer.arch.as_str()))?;
    let works = env.archs.iter().any(|works| works == arch);
    let forced = facts.sizer.is_some_and(|sizer| sizer.exact_fill.force);
    if !truthy(&given.value) || works || forced || arch.is_empty() {
        return None;
    }
    Some(finding(
        Severity::Warning,
        "exact_fill_without_effect",
        format!(
            "exact fill has no effect on {arch}: SGLang applies it on {} only",
            env.archs.join(", ")
        ),
        server.source(&env.name),
        "remove it; the plugin can force it where the measured gain pays (exact_fill.force)",
    ))
}

/// A score budget that is set but not to what the plan counted with.
fn score_budgets(subject: &Subject<'_>) -> Vec<Finding> {
    let Some(sizer) = subject.facts.sizer else { return Vec::new() };
    let found = sizer.score_budgets.iter().filter_map(|(name, bytes)| {
        let unit = if name.ends_with("_MB") { 1 << 20 } else { 1 };
        let given = subject.server.env_number(name)?;
        let planned = bytes / unit;
        (u64::try_from(given) != Ok(planned)).then(|| {
            finding(
                Severity::Error,
                "score_budget_differs",
                format!("the plan counted with {name}={planned}"),
                subject.server.source(name),
                format!("set {name}={planned}, or plan again"),
            )
        })
    });
    found.collect()
}
