//! What a plan is made from: the profile of a run and, where given, observations of the deployed
//! engine.

use std::path::{Path, PathBuf};

use clap::Args;

use super::fit::read_observations;
use crate::error::Result;
use crate::fit::observations::LMeans;
use crate::fit::{Fit, fit_observations, fit_profile};
use crate::model::{self, Layout};
use crate::options::ServerLimits;
use crate::plan::{Plan, Request, plan};
use crate::profile::Profile;
use crate::units::{Bytes, Tokens};

/// Flags that choose the source.
#[derive(Debug, Args)]
pub struct SourceArguments {
    /// Directory of a run, or its profile.parquet.
    #[arg(value_name = "PROFILE")]
    pub profile: Option<PathBuf>,
    /// CSV files of peaks and outcomes of the deployed engine; they outrank the profile's own.
    #[arg(long, value_name = "FILE")]
    observations: Vec<PathBuf>,
    /// Memory path to plan for, such as fp8, dense or row_pooled.
    #[arg(long, value_name = "PATH")]
    memory_path: Option<String>,
    /// Longest context of the server, tokens; default: the model's.
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true)]
    pub context: Option<Tokens>,
}

/// A profile with what was derived from it.
pub struct Planned {
    /// The profile.
    pub profile: Profile,
    /// Its fit, with the observations'.
    pub fit: Fit,
    /// The plan.
    pub plan: Plan,
}

impl SourceArguments {
    /// Reads the profile, fits and plans.
    ///
    /// # Errors
    /// Status 4 for a file that cannot be read, 2 for limits that leave no chunk.
    pub fn plan(&self, limits: ServerLimits) -> Result<Planned> {
        let directory = self.profile.as_deref().unwrap_or(Path::new("."));
        let profile = Profile::read(directory)?;
        let fit = fit_with(&profile, &self.observations)?;
        let provenance = profile.provenance();
        let layout = Layout { tp: provenance.tp, dp: provenance.dp, cp: provenance.cp };
        // The configuration file of the run may be gone; memory ends the schedule then.
        let positions = model::resolve(&provenance.model).ok().map(|model| model.max_positions);
        let request = Request {
            limits,
            device_free: provenance.free_bytes.map(Bytes),
            layout,
            context_length: self.context.map(|context| context.0).or(positions),
            memory_path: self.memory_path.clone(),
        };
        let plan = plan(&fit, &request)?;
        Ok(Planned { profile, fit, plan })
    }
}

/// The fit of a profile, with the memory of the deployed engine from observations.
///
/// # Errors
/// Status 4 for a file that is not observations.
pub fn fit_with(profile: &Profile, observations: &[PathBuf]) -> Result<Fit> {
    let mut fit = fit_profile(profile);
    let mut rows = Vec::new();
    for path in observations {
        let (source, observed) = read_observations(path)?;
        fit.sources.push(source);
        rows.extend(observed);
    }
    let (memory, errors) = fit_observations(&rows, LMeans::default());
    fit.memory.extend(memory);
    if !observations.is_empty() {
        fit.remarks.extend(errors.iter().map(ToString::to_string));
    }
    Ok(fit)
}
