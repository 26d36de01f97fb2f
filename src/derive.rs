//! Everything that follows from a profile: fit, plan, files and report, in one step.
//!
//! In go a [`Profile`] and [`Options`]; out comes a [`Derived`], which [`Derived::write`] puts
//! beside the profile. Nothing here measures, and the same profile and options always give the
//! same files.

use std::path::{Path, PathBuf};

use crate::emit::{self, Context, Deployment, Format, Sizer};
use crate::files::{self, FileError};
use crate::fit::observations::{LMeans, Observation};
use crate::fit::{self, Fit, Source};
use crate::model;
use crate::plan::{self, EndsBy, Plan, PlanError, Request};
use crate::profile::{Engine, Profile, Provenance};
use crate::report;
use crate::sglang::{Table, Version};

/// SGLang version whose settings are emitted unless another is named.
pub const SGLANG: &str = "0.5.23";

/// Said where observations were given from which no memory model could be fitted.
const NO_MODEL: &str = "The observations give no memory model, so the plan's memory rests on the \
                        profile alone";

/// How to derive.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Limits, layout, context and memory path.
    pub request: Request,
    /// Field observations of the deployed engine; they outrank our pipelines for memory.
    pub observations: Vec<Observation>,
    /// Files that the observations were read from.
    pub sources: Vec<Source>,
    /// How their `L` is read.
    pub l_means: LMeans,
    /// SGLang version.
    pub sglang: String,
}

impl Options {
    /// No observations, SGLang [`SGLANG`].
    pub fn new(request: Request) -> Self {
        Self {
            request,
            observations: Vec::new(),
            sources: Vec::new(),
            l_means: LMeans::default(),
            sglang: SGLANG.to_owned(),
        }
    }
}

/// What follows from a profile.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The fit.
    pub fit: Fit,
    /// The plan, or why there is none; the fit stands either way.
    pub plan: Result<Plan, PlanError>,
    /// The sizer of the plan.
    pub sizer: Option<Sizer>,
}

/// Fits and plans.
pub fn derive(profile: &Profile, options: &Options) -> Derived {
    let mut fit = fit::fit_profile(profile);
    let mut silent = None;
    if !options.observations.is_empty() {
        let observed = fit::fit_of_observations(
            &options.observations,
            options.sources.clone(),
            options.l_means,
        );
        silent = observed.memory.is_empty().then(|| observed.remarks.first().cloned());
        fit.memory.extend(observed.memory);
        fit.latency.extend(observed.latency);
        fit.remarks.extend(observed.remarks);
        fit.sources = observed.sources;
    }
    let mut plan = plan::plan(&fit, &options.request);
    if let (Some(why), Ok(plan)) = (silent, &mut plan) {
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        plan.statements.insert(0, format!("{NO_MODEL}{why}"));
    }
    let sizer = plan.as_ref().ok().map(|plan| {
        let mut sizer = Sizer::new(plan, profile.provenance(), &options.sglang);
        if let (Ok(table), Ok(version)) = (Table::load(), options.sglang.parse::<Version>()) {
            sizer.settle(&table.release(version));
        }
        sizer
    });
    Derived { fit, plan, sizer }
}

impl Derived {
    /// Writes `fit.json`, `sizer.json`, `tune.env`, `plots/` and `report.html` into `dir` and
    /// gives the paths written. Without a plan there is no sizer and no environment.
    ///
    /// # Errors
    /// Whatever the file system answers, with the path, or a plot that cannot be drawn.
    pub fn write(&self, dir: &Path, profile: &Profile) -> Result<Vec<PathBuf>, FileError> {
        let mut written = vec![dir.join(fit::FILE)];
        self.fit.write(dir)?;
        if let (Ok(plan), Some(sizer)) = (&self.plan, &self.sizer) {
            sizer.write(dir)?;
            let path = dir.join(Format::Env.file_name());
            let text = self.env(dir, profile, plan, sizer).map_err(|detail| FileError::Encode {
                path: path.clone(),
                format: "a shell file",
                detail,
            })?;
            files::write_atomic(&path, text.as_bytes())?;
            written.extend([dir.join(emit::SIZER_FILE), path]);
        }
        written.extend(report::write(dir, profile, self)?);
        Ok(written)
    }

    fn env(
        &self,
        dir: &Path,
        profile: &Profile,
        plan: &Plan,
        sizer: &Sizer,
    ) -> Result<String, String> {
        let table = Table::load()?;
        let version = sizer.sglang.parse::<Version>().map_err(|error| error.to_string())?;
        let deployment = deployment(dir, profile, plan, sizer, &table, version);
        Format::Env.text(&deployment).map_err(|error| error.to_string())
    }
}

/// The deployment of a plan whose sizer is written into `dir`, for a version of SGLang.
pub fn deployment(
    dir: &Path,
    profile: &Profile,
    plan: &Plan,
    sizer: &Sizer,
    table: &Table,
    version: Version,
) -> Deployment {
    // An absolute path works from any directory; one that cannot be resolved stays as given.
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let context = Context {
        release: table.release(version),
        headline: &profile.provenance().headline(),
        sizer_path: &dir.join(emit::SIZER_FILE).display().to_string(),
        exact_fill: &plan.alignment.reason,
        ends_by: ends_by(plan, &profile.provenance().model),
    };
    Deployment::new(sizer, &context)
}

/// What ends requests before the context of the model does; a model that is not known has no
/// context that could be relied on.
fn ends_by(plan: &Plan, model: &str) -> Option<EndsBy> {
    let own = model::resolve(model).map_or(u64::MAX, |model| model.max_positions);
    let ends_by = plan.schedule.ends_by;
    (ends_by == EndsBy::Memory || plan.schedule.longest_request(plan.page_size) < own)
        .then_some(ends_by)
}

/// The sizer of a BUDGET given as a number. It carries the hash of the figures in place of a
/// profile's.
///
/// # Errors
/// Limits that leave no chunk.
pub fn sizer_of_budget(
    budget: u64,
    request: &Request,
    arch: &str,
    model: &str,
) -> Result<Sizer, PlanError> {
    let plan =
        plan::plan_of_budget(budget, &request.limits, request.layout, request.context_length)?;
    let mut provenance = Provenance::new(Engine::Imported, arch, "");
    provenance.model = model.to_owned();
    let range = plan.schedule.range;
    let figures =
        format!("BUDGET={budget} min={} max={} align={}", range.min, range.max, range.align);
    provenance.profile_sha256 = files::sha256_hex(figures.as_bytes());
    Ok(Sizer::new(&plan, &provenance, SGLANG))
}

#[cfg(test)]
mod tests;
