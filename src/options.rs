//! What the main job was asked to do, typed and validated. Values that contradict each other are
//! refused here with the flags to change, so that nothing downstream has to check them again.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::Layout;
use crate::units::{Bytes, Tokens};

/// Longest prefix or chunk accepted, tokens: 64 times the longest context of any model here.
pub const MAX_TOKENS: u64 = 1 << 26;

/// Targets that kernels exist for, with the names under which the chips are sold.
pub const ARCHS: [(&str, &str); 2] = [("gfx942", "MI300X"), ("gfx950", "MI355X")];

/// Which engine may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum EngineChoice {
    /// Hardware where the device is present, else the simulator.
    Auto,
    /// Hardware only.
    Hardware,
    /// The simulator only.
    Simulate,
}

/// How many points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum GridSize {
    /// A sketch, seconds in simulation.
    Quick,
    /// As few of the default grid's points as settle c, gains and blocks to --precision.
    Adaptive,
    /// The recorded profiles' grid, a minute or two in simulation.
    Default,
    /// Every residue and length of interest; meant for hardware.
    Full,
}

/// What the server has to live within.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerLimits {
    /// Memory free after the server has booted; none means that it is asked of the device, or
    /// assumed and said so.
    pub free_bytes: Option<Bytes>,
    /// Free memory below which the server's guard stops it.
    pub guard: Bytes,
    /// Kept free on top of the guard.
    pub margin: Bytes,
    /// Smallest chunk worth running.
    pub chunk_min: Tokens,
    /// Largest chunk.
    pub chunk_max: Tokens,
    /// KV page.
    pub page_size: Tokens,
    /// Largest free block, which a single allocation has to fit; none where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_block: Option<Bytes>,
}

/// Everything the main job was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// LLVM target.
    pub arch: String,
    /// Preset or path.
    pub model: String,
    /// Parallel layout.
    pub layout: Layout,
    /// Named grid.
    pub grid: GridSize,
    /// Relative half-width at which the adaptive grid stops.
    pub precision: f64,
    /// Longest time that the adaptive grid measures for.
    pub time_limit: Option<Duration>,
    /// Chunk lengths in place of the grid's.
    pub t: Option<Vec<Tokens>>,
    /// Prefix lengths in place of the grid's.
    pub l: Option<Vec<Tokens>>,
    /// Server limits.
    pub limits: ServerLimits,
    /// Output directory; none means the default name.
    pub out: Option<PathBuf>,
    /// Engine choice.
    pub engine: EngineChoice,
    /// HIP runtime to load.
    pub hip_lib: Option<PathBuf>,
    /// Device number.
    pub gpu: Option<u32>,
    /// Folder of a kernel pack.
    pub kernels: Option<PathBuf>,
    /// Continue an interrupted run.
    pub resume: bool,
    /// Print the summary as JSON.
    pub json: bool,
}

/// The LLVM target of a device name: `gfx950`, or what the chip is sold as.
///
/// # Errors
/// Status 3 for a device that no kernels exist for.
pub fn arch(device: &str) -> Result<String> {
    let wanted = device.trim();
    let bare = wanted.split(':').next().unwrap_or(wanted);
    let known = |(arch, chip): &&(&str, &str)| {
        bare.eq_ignore_ascii_case(arch) || bare.eq_ignore_ascii_case(chip)
    };
    match ARCHS.iter().find(known) {
        Some((arch, _)) => Ok((*arch).to_string()),
        None => {
            let names: Vec<String> =
                ARCHS.iter().map(|(arch, chip)| format!("{arch} ({chip})")).collect();
            Err(Error::no_device(format_args!("unknown device `{wanted}`")).advice(format_args!(
                "use {}; `tune devices` lists what is here",
                names.join(" or ")
            )))
        }
    }
}

impl ServerLimits {
    /// Checks the limits against each other.
    ///
    /// # Errors
    /// Status 2 with the flags that contradict each other.
    pub fn validate(&self) -> Result<()> {
        let Self { free_bytes, guard, margin, chunk_min, chunk_max, page_size, .. } = *self;
        positive("--chunk-min", chunk_min)?;
        positive("--chunk-max", chunk_max)?;
        positive("--page-size", page_size)?;
        if chunk_min > chunk_max {
            return Err(Error::usage(format_args!(
                "--chunk-min {chunk_min} is larger than --chunk-max {chunk_max}"
            )));
        }
        for (flag, value) in [("--chunk-min", chunk_min), ("--chunk-max", chunk_max)] {
            if !value.0.is_multiple_of(page_size.0) {
                return Err(Error::usage(format_args!(
                    "{flag} {value} is not a multiple of --page-size {page_size}"
                ))
                .advice("chunks are cut at pages; choose multiples of the page"));
            }
        }
        let reserved = guard.0.checked_add(margin.0);
        match (free_bytes, reserved) {
            (_, None) => Err(Error::usage("--guard and --margin add up to more than 2^64 bytes")),
            (Some(free), Some(reserved)) if free.0 <= reserved => {
                let reserved = Bytes(reserved);
                Err(Error::usage(format_args!(
                    "--free-bytes {free} leaves nothing after --guard and --margin ({reserved})"
                ))
                .advice("free more memory on the server, or lower the guard or the margin"))
            }
            _ => Ok(()),
        }
    }
}

impl Options {
    /// Checks the values against each other.
    ///
    /// # Errors
    /// Status 2 with the flags to change.
    pub fn validate(&self) -> Result<()> {
        self.limits.validate()?;
        let Layout { tp, dp, cp } = self.layout;
        for (flag, value) in [("--tp", tp), ("--dp-attention", dp), ("--cp", cp)] {
            positive(flag, Tokens(value.into()))?;
        }
        if !(1e-4..=0.5).contains(&self.precision) {
            return Err(Error::usage(format_args!(
                "--precision {} is out of range",
                self.precision
            ))
            .advice("give a share between 0.01% and 50%, such as 2%"));
        }
        if self.time_limit == Some(Duration::ZERO) {
            return Err(Error::usage("--time-limit 0: nothing could be measured")
                .advice("give a time such as 90s, 5m or 1h"));
        }
        if self.time_limit.is_some() && self.grid != GridSize::Adaptive {
            return Err(Error::usage("--time-limit has no effect on this grid")
                .advice("add --grid adaptive, or leave it out"));
        }
        if self.t.iter().flatten().any(|chunk| chunk.0 == 0) {
            return Err(Error::usage("--t 0: a chunk has at least one row")
                .advice("give chunk lengths of 1 or more; a prefix (--l) of 0 is fine"));
        }
        for (flag, list) in [("--t", &self.t), ("--l", &self.l)] {
            if let Some(length) = list.iter().flatten().find(|length| length.0 > MAX_TOKENS) {
                return Err(Error::usage(format_args!(
                    "{flag} {length} is too long; the limit is {MAX_TOKENS} tokens"
                )));
            }
        }
        Ok(())
    }
}

fn positive(flag: &str, value: Tokens) -> Result<()> {
    if value.0 == 0 {
        return Err(Error::usage(format_args!("{flag} must be at least 1")));
    }
    if value.0 > MAX_TOKENS {
        return Err(Error::usage(format_args!(
            "{flag} {value} is too large; the limit is {MAX_TOKENS}"
        )));
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// Limits that tests start from: 4.75 GB free, chunks of 256 to 2048 in pages of 256.
    pub(crate) fn limits() -> ServerLimits {
        ServerLimits {
            free_bytes: Some(Bytes(4_750_000_000)),
            guard: Bytes(1_500_000_000),
            margin: Bytes(500_000_000),
            chunk_min: Tokens(256),
            chunk_max: Tokens(2048),
            page_size: Tokens(256),
            largest_block: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::limits;
    use super::*;
    use crate::error::Exit;

    #[test]
    fn limits_that_leave_no_memory_or_no_chunk_are_refused() {
        assert!(limits().validate().is_ok());
        let starved = ServerLimits { free_bytes: Some(Bytes(2_000_000_000)), ..limits() };
        assert!(starved.validate().unwrap_err().message.contains("leaves nothing"));
        let inverted = ServerLimits { chunk_min: Tokens(4096), ..limits() };
        assert!(inverted.validate().unwrap_err().message.contains("larger than --chunk-max"));
        let torn = ServerLimits { chunk_max: Tokens(2000), ..limits() };
        assert!(torn.validate().unwrap_err().message.contains("not a multiple"));
        let huge = ServerLimits { guard: Bytes(u64::MAX), ..limits() };
        assert!(huge.validate().unwrap_err().message.contains("2^64"));
        let zero = ServerLimits { page_size: Tokens(0), ..limits() };
        assert!(zero.validate().unwrap_err().message.contains("--page-size"));
    }

    #[test]
    fn devices_go_by_target_or_by_chip() {
        assert_eq!(arch("gfx950").unwrap(), "gfx950");
        assert_eq!(arch("MI300x").unwrap(), "gfx942");
        assert_eq!(arch("gfx950:sramecc+:xnack-").unwrap(), "gfx950");
        let error = arch("gfx1100").unwrap_err();
        assert_eq!(error.exit, Exit::NoDevice);
        assert!(error.advice.unwrap().contains("gfx942 (MI300X)"));
    }
}
