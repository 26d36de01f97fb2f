//! From a profile, or from field observations, to the numbers a plan needs.
//!
//! In go points and observations; out comes a [`Fit`]: memory per path with `c` and its bounds,
//! what a ragged length costs per kernel, shape and tile, and time over T and L. The file is
//! `fit.json`.

pub mod alignment;
pub mod anomaly;
pub mod blocks;
pub mod latency;
pub mod memory;
pub mod nnls;
pub mod observations;
pub mod rates;
pub mod scores;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::files::{self, FileError};
use crate::profile::{Engine, Op, Point, Profile};

use alignment::AlignmentFit;
use latency::LatencyFit;
use memory::{MemoryError, MemoryFit};
use observations::{LMeans, Observation};
use rates::Rate;

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
    remarks.extend(anomaly::remarks(profile.points()));
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

/// What is told apart as one system: source, engine, device and tokens per key.
type System = (String, String, String, u32);

fn systems(rows: &[Observation]) -> BTreeMap<System, Vec<&Observation>> {
    let mut systems: BTreeMap<System, Vec<&Observation>> = BTreeMap::new();
    for row in rows {
        let ratio = row.ratio.unwrap_or(1);
        let key = (row.source.clone(), row.engine.clone(), row.device.clone(), ratio);
        systems.entry(key).or_default().push(row);
    }
    systems
}

/// Fits the memory of the deployed engine from field observations, one fit per system (source,
/// engine, device and ratio together); systems without a measured peak come back as errors.
pub fn fit_observations(
    rows: &[Observation],
    l_means: LMeans,
) -> (Vec<MemoryFit>, Vec<MemoryError>) {
    let systems = systems(rows);
    let memory_rows = |rows: &[&Observation]| -> Vec<memory::Row> {
        rows.iter().filter_map(|o| o.memory_row(l_means)).collect()
    };
    let single = systems.values().filter(|rows| !memory_rows(rows).is_empty()).count() == 1;
    let ratios: BTreeSet<u32> = systems.keys().map(|(.., ratio)| *ratio).collect();
    let (mut fits, mut errors) = (Vec::new(), Vec::new());
    for ((source, engine, device, ratio), observed) in systems {
        let rows = memory_rows(&observed);
        let label = if single {
            OBSERVED.to_owned()
        } else {
            let keys = if ratios.len() > 1 { format!("ratio {ratio}") } else { String::new() };
            let parts = [OBSERVED, &source, &engine, &device, &keys];
            parts.iter().filter(|p| !p.is_empty()).copied().collect::<Vec<_>>().join(" / ")
        };
        if rows.is_empty() && single {
            continue;
        }
        match memory::fit(&label, true, ratio, &rows, memory::FIELD_NOISE) {
            Ok(mut fit) => {
                fit.statements.extend(beyond_paper(&fit, &observed));
                let free = observed.iter().filter_map(|o| o.free).map(|free| free.0).min();
                fits.push(MemoryFit { observed_on: Some(device), free_observed: free, ..fit });
            }
            Err(error) => errors.push(error),
        }
    }
    (fits, errors)
}

/// Column of observations that holds bytes per (row, key) on paper.
const ON_PAPER: &str = "bytes_per_elem";
/// Larger figures in that column are bytes per token.
const MOST_ON_PAPER: f64 = 1024.0;

/// What to say where a measured `c` is well beyond the figure on paper.
fn beyond_paper(fit: &MemoryFit, rows: &[&Observation]) -> Option<String> {
    let figures = rows.iter().filter_map(|o| o.extra.get(ON_PAPER)?.parse::<f64>().ok());
    let paper = figures.filter(|b| *b > 0.0 && *b <= MOST_ON_PAPER).reduce(f64::max)?;
    let factor = scores::beyond_paper(fit.c.point, paper)?;
    Some(format!(
        "On paper the buffers cost {paper} B per (row, key); {:.1} B were measured, {factor:.2} \
         times as much. The measured figure is used.",
        fit.c.point
    ))
}

/// Prefill rates of each system, and what to know about them.
pub fn rates_of_observations(rows: &[Observation], l_means: LMeans) -> (Vec<Rate>, Vec<String>) {
    let (mut all, mut remarks) = (Vec::new(), Vec::new());
    for ((source, engine, device, _), mut rows) in systems(rows) {
        // The time of a chunk after a prefix is no rate of a prompt.
        rows.retain(|row| row.length_means(l_means) == LMeans::Context);
        let rates = rates::rates(&rows);
        let parts = [source, engine, device];
        let label: Vec<&str> = parts.iter().map(String::as_str).filter(|p| !p.is_empty()).collect();
        let label = label.join(" / ");
        let said = rates::remarks(&rows, &rates);
        remarks
            .extend(said.into_iter().map(|remark| {
                if label.is_empty() { remark } else { format!("{label}: {remark}") }
            }));
        all.extend(rates);
    }
    (all, remarks)
}

/// The fit of observations alone, as `tune fit FILE..` writes it.
pub fn fit_of_observations(rows: &[Observation], sources: Vec<Source>, l_means: LMeans) -> Fit {
    let (memory, errors) = fit_observations(rows, l_means);
    let mut remarks = Vec::new();
    let (silent, telling): (Vec<&MemoryError>, Vec<&MemoryError>) =
        errors.iter().partition(|e| matches!(e, MemoryError::NoRows { .. }));
    remarks.extend(telling.iter().map(ToString::to_string));
    match silent[..] {
        [] => {}
        [error] => remarks.push(error.to_string()),
        _ => remarks.push(format!(
            "{} systems have no row that says anything about memory (T, L and a peak or an \
             outcome).",
            silent.len()
        )),
    }
    remarks.extend(observations::remarks(rows, l_means));
    remarks.extend(observations::contradictions(rows, l_means));
    let (latency, untimed) = latency::fit_observed(rows, l_means);
    remarks.extend(untimed);
    remarks.extend(shorter_than_the_chunk(rows, l_means));
    if rows.iter().any(|o| o.l_means.is_none() && o.memory_row(l_means).is_some()) {
        remarks.push(how_l_is_read(l_means));
    }
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
        latency,
        remarks,
    }
}

/// Most lines named in one remark.
const NAMED: usize = 8;

/// What to say of rows whose `L`, read as a context, is shorter than the chunk itself.
fn shorter_than_the_chunk(rows: &[Observation], l_means: LMeans) -> Option<String> {
    let lines: Vec<String> = rows
        .iter()
        .filter(|o| o.length_means(l_means) == LMeans::Context)
        .filter(|o| o.l < o.t && o.memory_row(l_means).is_some())
        .map(|o| o.line.to_string())
        .collect();
    if lines.is_empty() {
        return None;
    }
    let (named, more) = lines.split_at(lines.len().min(NAMED));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    Some(format!(
        "L is shorter than the chunk itself in line {}{more}, which no context is: the chunk's own T \
         was taken. Where L is the prefix, give --l-is prefix or name the column `prefix`.",
        named.join(", ")
    ))
}

fn how_l_is_read(l_means: LMeans) -> String {
    match l_means {
        LMeans::Context => {
            "The column L is read as the context that a chunk was scored against (T*L), the more \
             cautious reading; --l-is prefix reads it as the prefix before the chunk."
        }
        LMeans::Prefix => {
            "The column L is read as the prefix before the chunk, which then sees L + T tokens."
        }
    }
    .to_owned()
}

#[cfg(test)]
mod tests;
