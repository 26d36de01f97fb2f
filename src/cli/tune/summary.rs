//! The summary of a run as JSON.

use std::path::Path;

use serde::Serialize;

use crate::derive::Derived;
use crate::emit::Sizer;
use crate::fit::Fit;
use crate::plan::Plan;
use crate::profile::{Profile, Provenance};

/// Everything a script needs of a run.
#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    directory: &'a Path,
    provenance: &'a Provenance,
    fit: &'a Fit,
    /// None where no chunk fits; `problem` says why.
    plan: Option<&'a Plan>,
    sizer: Option<&'a Sizer>,
    problem: Option<String>,
}

impl<'a> Summary<'a> {
    /// The summary of a profile in `directory` and what was derived from it.
    pub fn new(directory: &'a Path, profile: &'a Profile, derived: &'a Derived) -> Self {
        Self {
            directory,
            provenance: profile.provenance(),
            fit: &derived.fit,
            plan: derived.plan.as_ref().ok(),
            sizer: derived.sizer.as_ref(),
            problem: derived.plan.as_ref().err().map(ToString::to_string),
        }
    }
}
