//! What is planned from: the profile of a run and, where given, observations of the deployed
//! engine. Flags go in; a profile with its fit and plan comes out.

use std::path::{Path, PathBuf};

use clap::Args;

use super::fit::{LengthIs, read_observations};
use super::{limits, output};
use crate::derive::{self, Derived};
use crate::error::{Error, Result};
use crate::files::{FileError, refuse_stream};
use crate::fit::Fit;
use crate::model::{self, Layout};
use crate::options::ServerLimits;
use crate::plan::Request;
use crate::profile::{PROFILE_FILE, Profile, Provenance};
use crate::units::{Bytes, Tokens};

/// Paths that a run measures, as `Pipeline::name` of the grid gives them.
const PIPELINES: [&str; 4] = ["fp8", "dense", "row_pooled", "key_blocked"];

/// Flags that choose what decides.
#[derive(Clone, Debug, Args)]
pub struct EvidenceArguments {
    /// CSV, JSON lines or parquet files of peaks and outcomes of the deployed engine; they outrank the profile's own.
    #[arg(long, value_name = "FILE")]
    observations: Vec<PathBuf>,
    /// What a column named L of the observations holds: the context that the chunk was scored
    /// against, or the prefix before it.
    #[arg(long, value_enum, default_value_t = LengthIs::Context, requires = "observations")]
    l_is: LengthIs,
    /// Memory path to plan for, such as fp8, dense or row_pooled.
    #[arg(long, value_name = "PATH")]
    memory_path: Option<String>,
    /// Longest context of the server, tokens; default: the model's.
    #[arg(long, value_name = "TOKENS", value_parser = limits::context, allow_hyphen_values = true)]
    context: Option<Tokens>,
}

impl EvidenceArguments {
    /// The context given.
    pub fn context(&self) -> Option<Tokens> {
        self.context
    }

    /// How to derive a plan for a server of these limits from a profile of that provenance.
    ///
    /// # Errors
    /// Status 4 for a file that is not observations.
    pub fn options(
        &self,
        limits: ServerLimits,
        provenance: &Provenance,
    ) -> Result<derive::Options> {
        let Provenance { tp, dp, cp, ref model, free_bytes, .. } = *provenance;
        // The configuration file of the run may be gone; the default context is taken then.
        let positions = model::resolve(model).ok().map(|model| model.max_positions);
        let mut options = derive::Options::new(Request {
            limits,
            device_free: free_bytes.map(Bytes),
            layout: Layout { tp, dp, cp },
            context_length: self.context.map(|context| context.0).or(positions),
            memory_path: self.memory_path.clone(),
        });
        options.l_means = self.l_is.into();
        (options.sources, options.observations) =
            read_observations(&self.observations, Some(limits))?;
        Ok(options)
    }

    /// Finds before a long run what would make its result useless after it.
    ///
    /// # Errors
    /// Status 4 for a file that is not observations, 2 for an unknown memory path.
    pub fn check(&self) -> Result<()> {
        for path in &self.observations {
            refuse_stream(path).map_err(|error| Error::format(path, error))?;
        }
        read_observations(&self.observations, None)?;
        // Observations bring paths of their own, named after what they were read on.
        if let (Some(path), true) = (&self.memory_path, self.observations.is_empty())
            && !PIPELINES.contains(&path.as_str())
        {
            return Err(Error::usage(format_args!("unknown memory path `{path}`"))
                .advice(format_args!("known are {}", PIPELINES.join(", "))));
        }
        Ok(())
    }
}

/// Reads a profile and derives everything from it.
///
/// # Errors
/// Status 4 for a file that cannot be read, 2 for limits that leave no chunk.
pub fn derive(
    path: &Path,
    limits: ServerLimits,
    evidence: &EvidenceArguments,
) -> Result<(Profile, Derived)> {
    let profile = read_profile(path)?;
    if let Err(error @ FileError::OtherProfile { .. }) =
        Fit::read(directory_of(path), profile.sha256())
    {
        output::warn(format_args!("{error}; it is not used"));
    }
    let options = evidence.options(limits, profile.provenance())?;
    let derived = derive::derive(&profile, &options);
    Ok((profile, derived))
}

/// Reads the profile of a run.
///
/// # Errors
/// Status 4 for a file that is missing, damaged or of another version.
pub fn read_profile(path: &Path) -> Result<Profile> {
    let advice = format!("name the directory of a run, or its {PROFILE_FILE}");
    if !path.exists() {
        return Err(Error::format(path, "there is no such file or directory").advice(advice));
    }
    Profile::read(path).map_err(|error| Error::from(error).advice(advice))
}

/// The directory that holds a profile.
pub fn directory_of(path: &Path) -> &Path {
    if path.is_dir() { path } else { path.parent().unwrap_or(Path::new(".")) }
}
