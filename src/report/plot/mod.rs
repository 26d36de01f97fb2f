//! The plots, one file each.
//!
//! In goes a profile with its fit and plan; out come SVG texts by file name. Axes carry units, the
//! legend stands above the data, and the foot says where the figures come from.

mod compare;
mod frontier;
mod memory;
mod sawtooth;
mod schedule;
pub(crate) mod style;

use std::collections::BTreeSet;

use crate::derive::Derived;
use crate::fit::Fit;
use crate::profile::{Engine, Op, Profile};
use crate::validate;

pub use compare::{Gain, gains};

/// A finished plot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plot {
    /// File name.
    pub file: String,
    /// What it shows.
    pub title: String,
    /// SVG text.
    pub svg: String,
}

/// All plots that the profile has data for.
///
/// # Errors
/// The drawing backend's words.
pub fn all(profile: &Profile, derived: &Derived) -> Result<Vec<Plot>, String> {
    let hash: String = profile.sha256().chars().take(12).collect();
    let foot = format!("{}  ·  profile {hash}", profile.provenance().headline());
    let mut plots = Vec::new();
    let plan = derived.plan.as_ref().ok();
    if !derived.fit.memory.is_empty() {
        plots.push(Plot {
            file: "memory.svg".to_owned(),
            title: "Peak memory of a chunk".to_owned(),
            svg: memory::svg(profile, &derived.fit, plan, &foot)?,
        });
    }
    for op in [Op::AbsorbBmm, Op::Gemm] {
        let foot = with_error(&foot, profile, &derived.fit, op);
        if let Some(svg) = sawtooth::svg(profile.points(), &derived.fit, op, &foot)? {
            plots.push(Plot {
                file: format!("sawtooth-{op}.svg"),
                title: format!("{op}: time a row against M"),
                svg,
            });
        }
    }
    if let Some(plan) = plan {
        plots.push(Plot {
            file: "schedule.svg".to_owned(),
            title: "Chunk for every prefix".to_owned(),
            svg: schedule::svg(plan, &foot)?,
        });
        if let Some(memory) = derived.fit.memory_of(&plan.memory_path) {
            plots.push(Plot {
                file: "frontier.svg".to_owned(),
                title: "Chunks that fit".to_owned(),
                svg: frontier::svg(memory, plan, &foot)?,
            });
        }
    }
    Ok(plots)
}

/// The foot of a plot of times: with how far off simulated ones are, by type where there are several.
fn with_error(foot: &str, profile: &Profile, fit: &Fit, op: Op) -> String {
    let provenance = profile.provenance();
    if provenance.engine != Engine::Simulated {
        return foot.to_owned();
    }
    let dtypes: BTreeSet<&str> =
        fit.alignment.iter().filter(|f| f.op == op).map(|f| f.dtype.as_str()).collect();
    let error = |dtype: &&str| {
        let median = validate::nearest(&provenance.arch, op.name(), dtype).median();
        match dtypes.len() {
            1 => validate::off_by(median),
            _ => format!("{dtype} {}", validate::off_by(median)),
        }
    };
    let errors: Vec<String> = dtypes.iter().map(error).collect();
    format!("{foot}  \u{b7}  times {}", errors.join(", "))
}

#[cfg(test)]
mod tests;
