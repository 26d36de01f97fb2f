//! Where a profile comes from: tool, engine, device, runtime, simulator parameters, model, options.
//!
//! In go the facts known when measuring starts; out comes `provenance.json` and the one line that
//! heads every output and every plot, so that a simulated figure is never taken for a measured one.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::Engine;

/// Schema of `provenance.json`.
pub const PROVENANCE_SCHEMA: &str = "chunktune/provenance/v1";

/// Which provider answered the HIP calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuntimeKind {
    /// A HIP runtime loaded from the system.
    Hip,
    /// The simulator linked into the tool.
    BuiltInSimulator,
    /// The simulator's drop-in runtime, loaded as if it were the system's.
    DropInSimulator,
}

/// The HIP provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// Which provider.
    pub kind: RuntimeKind,
    /// Version that it reports.
    pub version: String,
    /// Shared object, when one was loaded.
    pub path: Option<String>,
    /// Its own words on what it is.
    pub identity: String,
}

/// The simulator behind simulated points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulator {
    /// Version of the simulator.
    pub version: String,
    /// Name of the architecture parameter file.
    pub parameters: String,
    /// SHA-256 of that file, hex.
    pub parameters_sha256: String,
}

/// Where a profile comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// [`PROVENANCE_SCHEMA`].
    pub schema: String,
    /// Version of `tune`.
    pub tool_version: String,
    /// Hardware, simulated or imported.
    pub engine: Engine,
    /// Architecture, such as `gfx950`.
    pub arch: String,
    /// Device name, such as `MI355X`.
    pub device: String,
    /// HIP provider; none for imported observations.
    pub runtime: Option<Runtime>,
    /// Simulator; only where the engine is simulated.
    pub simulator: Option<Simulator>,
    /// Model preset or the path of its configuration.
    pub model: String,
    /// Tensor parallel ranks.
    pub tp: u32,
    /// Data parallel attention ranks.
    pub dp: u32,
    /// Context parallel ranks.
    pub cp: u32,
    /// Grid name.
    pub grid: String,
    /// Host name.
    pub host: String,
    /// Start of measuring, RFC 3339, UTC.
    pub date: String,
    /// Options that differ from the defaults, by flag name.
    pub options: BTreeMap<String, String>,
    /// SHA-256 of each code object by kernel id.
    pub kernels: BTreeMap<String, String>,
    /// Remarks that a reader of the figures needs (device busy, clock drift, sources).
    pub notes: Vec<String>,
    /// Bytes free on the device before measuring, when the device said so.
    pub free_bytes: Option<u64>,
    /// SHA-256 of `profile.parquet`, hex; filled when the profile is sealed.
    pub profile_sha256: String,
    /// Rows of `profile.parquet`; filled when the profile is sealed.
    pub points: usize,
}

impl Provenance {
    /// Provenance of `engine` on `arch`/`device`, with everything else empty, one rank and this
    /// tool's version; set the other fields on the value.
    pub fn new(engine: Engine, arch: &str, device: &str) -> Self {
        Self {
            schema: PROVENANCE_SCHEMA.to_owned(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            engine,
            arch: arch.to_owned(),
            device: device.to_owned(),
            runtime: None,
            simulator: None,
            model: String::new(),
            tp: 1,
            dp: 1,
            cp: 1,
            grid: String::new(),
            host: host_name(),
            date: utc_now(),
            options: BTreeMap::new(),
            kernels: BTreeMap::new(),
            notes: Vec::new(),
            free_bytes: None,
            profile_sha256: String::new(),
            points: 0,
        }
    }

    /// One line for the head of outputs and the foot of plots, such as
    /// `gfx950 (MI355X) simulated by cdna-sim 0.1.0; no GPU was used`.
    pub fn headline(&self) -> String {
        let subject = if self.device.is_empty() || self.device == self.arch {
            self.arch.clone()
        } else {
            format!("{} ({})", self.arch, self.device)
        };
        match self.engine {
            Engine::Simulated => {
                let version = self.simulator.as_ref().map_or("", |s| s.version.as_str());
                let by = format!("cdna-sim {version}");
                format!("{subject} simulated by {}; no GPU was used", by.trim_end())
            }
            Engine::Hardware => match &self.runtime {
                Some(runtime) => format!("{subject} measured, HIP runtime {}", runtime.version),
                None => format!("{subject} measured"),
            },
            Engine::Imported => format!("{subject}: imported observations, not measured here"),
        }
    }

    /// What the table is about; stored inside it too, so that an edited `provenance.json` is
    /// noticed.
    pub(super) fn subject(&self) -> String {
        format!(
            "engine={} arch={} device={} model={} tp={} dp={} cp={}",
            self.engine, self.arch, self.device, self.model, self.tp, self.dp, self.cp
        )
    }
}

fn host_name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map(|name| name.trim().to_owned())
        .unwrap_or_default()
}

/// The present time as RFC 3339 in UTC, to the second.
pub fn utc_now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    rfc3339(seconds)
}

/// RFC 3339 of `seconds` since the epoch. Days become a date in the Gregorian calendar by counting
/// years from March, so that the leap day is the last of a year.
fn rfc3339(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_rfc_3339() {
        // `date -u -d @N +%FT%TZ` gives these.
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(rfc3339(1_709_164_799), "2024-02-28T23:59:59Z");
        assert_eq!(rfc3339(1_798_761_599), "2026-12-31T23:59:59Z");
    }

    #[test]
    fn the_headline_says_that_no_gpu_was_used() {
        let mut provenance = Provenance::new(Engine::Simulated, "gfx950", "MI355X");
        provenance.simulator = Some(Simulator {
            version: "0.1.0".into(),
            parameters: "gfx950.toml".into(),
            parameters_sha256: "00".into(),
        });
        assert_eq!(
            provenance.headline(),
            "gfx950 (MI355X) simulated by cdna-sim 0.1.0; no GPU was used"
        );
    }
}
