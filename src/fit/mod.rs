//! From a profile, or from field observations, to the numbers a plan needs.
//!
//! In go points and observations; out comes a [`Fit`]: memory per path with `c` and its bounds,
//! what a ragged length costs per kernel, shape and tile, and time over T and L. The file is
//! `fit.json`.

pub mod alignment;
pub mod blocks;
pub mod latency;
pub mod memory;
pub mod nnls;
pub mod observations;
pub mod rates;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::files::{self, FileError};
use crate::profile::{Engine, Op, Point, Profile};

use alignment::AlignmentFit;
use latency::LatencyFit;
use memory::{MemoryError, MemoryFit};
use observations::{LMeans, Observation};

/// Schema of `fit.json`.
pub const SCHEMA: &str = "chunktune/fit/v1";
/// Name of the file in an output directory.
pub const FILE: &str = "fit.json";
/// Path label of field observations.
pub const OBSERVED: &str = "observed";

/// A file that a fit was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Name of the file.
    pub file: String,
    /// SHA-256 of its bytes, hex.
    pub sha256: String,
}

/// Everything that was fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// [`SCHEMA`].
    pub schema: String,
    /// Hash of the profile; none for a fit of observations alone.
    pub profile_sha256: Option<String>,
    /// Files of observations.
    pub sources: Vec<Source>,
    /// Where the figures come from, one line.
    pub headline: String,
    /// Engine of the profile.
    pub engine: Engine,
    /// Architecture; empty for observations alone.
    pub arch: String,
    /// Device.
    pub device: String,
    /// Memory of each path.
    pub memory: Vec<MemoryFit>,
    /// Alignment of each kernel, shape and tile.
    pub alignment: Vec<AlignmentFit>,
    /// Time of each indexer path.
    pub latency: Vec<LatencyFit>,
    /// What could not be fitted, and why.
    pub remarks: Vec<String>,
}

impl Fit {
    /// Memory of a path.
    pub fn memory_of(&self, path: &str) -> Option<&MemoryFit> {
        self.memory.iter().find(|m| m.path == path)
    }

    /// Memory of the deployed engine, where it was observed.
    pub fn observed(&self) -> Option<&MemoryFit> {
        self.memory.iter().find(|m| m.deployed)
    }

    /// Writes `fit.json` into `dir`.
    ///
    /// # Errors
    /// Whatever the file system answers, with the path.
    pub fn write(&self, dir: &Path) -> Result<(), FileError> {
        files::write_json(&dir.join(FILE), self)
    }

    /// Reads `fit.json` of the profile whose hash is given.
    ///
    /// # Errors
    /// A missing or malformed file, another schema, or a fit of another profile.
    pub fn read(dir: &Path, profile_sha256: &str) -> Result<Self, FileError> {
        let path = dir.join(FILE);
        let fit: Self = files::read_json(&path, SCHEMA)?;
        match fit.profile_sha256.as_deref() {
            Some(found) if found == profile_sha256 => Ok(fit),
            found => Err(FileError::OtherProfile {
                path,
                expected: profile_sha256.to_owned(),
                found: found.unwrap_or("none").to_owned(),
            }),
        }
    }
}

/// Fits everything that a profile holds.
pub fn fit_profile(profile: &Profile) -> Fit {
    let provenance = profile.provenance();
    let mut by_path: BTreeMap<(String, u32), Vec<&Point>> = BTreeMap::new();
    for point in profile.points().iter().filter(|p| p.op == Op::Indexer) {
        by_path
            .entry((point.kernel.clone(), point.ratio.unwrap_or(1).max(1)))
            .or_default()
            .push(point);
    }
    let floor = match provenance.engine {
        Engine::Simulated => memory::EXACT_NOISE,
        Engine::Hardware | Engine::Imported => memory::FIELD_NOISE,
    };
    let mut memory = Vec::new();
    let mut latency = Vec::new();
    let mut remarks = Vec::new();
    for ((path, ratio), points) in &by_path {
        let rows = memory::rows_of(points.iter().copied());
        match memory::fit(path, false, *ratio, &rows, floor) {
            Ok(fit) => memory.push(fit),
            Err(error) => remarks.push(error.to_string()),
        }
        latency.extend(latency::fit(path, points.iter().copied()));
    }
    let failed = profile.points().iter().filter(|p| p.outcome != crate::profile::Outcome::Ok);
    let failed = failed.count();
    if failed > 0 {
        remarks.push(format!(
            "{failed} of {} points did not end ok; see `outcome` and `message` in the profile.",
            profile.points().len()
        ));
    }
    Fit {
        schema: SCHEMA.to_owned(),
        profile_sha256: Some(profile.sha256().to_owned()),
        sources: Vec::new(),
        headline: provenance.headline(),
        engine: provenance.engine,
        arch: provenance.arch.clone(),
        device: provenance.device.clone(),
        memory,
        alignment: alignment::fit(profile.points()),
        latency,
        remarks,
    }
}

/// Fits the memory of the deployed engine from field observations, one fit per system (source,
/// engine and device together); systems without a measured peak come back as errors.
pub fn fit_observations(
    rows: &[Observation],
    l_means: LMeans,
) -> (Vec<MemoryFit>, Vec<MemoryError>) {
    let mut systems: BTreeMap<(String, String, String, u32), Vec<memory::Row>> = BTreeMap::new();
    for observation in rows {
        let key = (
            observation.source.clone(),
            observation.engine.clone(),
            observation.device.clone(),
            observation.ratio.unwrap_or(1),
        );
        systems.entry(key).or_default().extend(observation.memory_row(l_means));
    }
    let single = systems.values().filter(|rows| !rows.is_empty()).count() == 1;
    let (mut fits, mut errors) = (Vec::new(), Vec::new());
    for ((source, engine, device, ratio), rows) in systems {
        let label = if single {
            OBSERVED.to_owned()
        } else {
            let parts = [OBSERVED, &source, &engine, &device];
            parts.iter().filter(|p| !p.is_empty()).copied().collect::<Vec<_>>().join(" / ")
        };
        if rows.is_empty() && single {
            continue;
        }
        match memory::fit(&label, true, ratio, &rows, memory::FIELD_NOISE) {
            Ok(fit) => fits.push(MemoryFit { observed_on: Some(device), ..fit }),
            Err(error) => errors.push(error),
        }
    }
    (fits, errors)
}

/// The fit of observations alone, as `tune fit FILE..` writes it.
pub fn fit_of_observations(rows: &[Observation], sources: Vec<Source>, l_means: LMeans) -> Fit {
    let (memory, errors) = fit_observations(rows, l_means);
    let mut remarks: Vec<String> = errors.iter().map(ToString::to_string).collect();
    remarks.extend(observations::contradictions(rows, l_means));
    let files: Vec<&str> = sources.iter().map(|s| s.file.as_str()).collect();
    Fit {
        schema: SCHEMA.to_owned(),
        profile_sha256: None,
        headline: format!(
            "field observations from {}; nothing was measured here",
            files.join(", ")
        ),
        sources,
        engine: Engine::Imported,
        arch: String::new(),
        device: String::new(),
        memory,
        alignment: Vec::new(),
        latency: Vec::new(),
        remarks,
    }
}

#[cfg(test)]
mod tests;
