//! Flags of the main job.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::limits::LimitArguments;
use crate::cli::source::EvidenceArguments;
use crate::error::{Error, Result};
use crate::model::{Layout, PRESETS};
use crate::options::{self, EngineChoice, GridSize, Options};
use crate::units::Tokens;

/// Precision of the adaptive grid unless another is asked for.
const PRECISION: f64 = 0.02;

/// Flags of the main job.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Device to tune for: gfx942 (MI300X) or gfx950 (MI355X). Hardware when it is present, else
    /// simulated.
    #[arg(long, value_name = "ARCH", required = true)]
    device: Option<String>,
    /// Model preset (glm-5.2, deepseek-v3.2, deepseek-v4-flash, deepseek-v4-pro, deepseek-v4.1) or
    /// the path of a Hugging Face config.json.
    #[arg(long, value_name = "MODEL", default_value = PRESETS[0])]
    model: String,
    /// Tensor-parallel ranks of the server.
    #[arg(long, value_name = "N", default_value_t = 4, allow_negative_numbers = true)]
    tp: u32,
    /// Data-parallel attention groups among them.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    dp_attention: u32,
    /// Context-parallel ranks among them.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    cp: u32,
    /// How many points to measure.
    #[arg(long, value_enum, default_value_t = GridSize::Default)]
    grid: GridSize,
    /// With --grid adaptive: half-width of an interval, over its value, at which a question is
    /// settled; default: 2%.
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    precision: Option<f64>,
    /// With --grid adaptive: longest time to measure for, such as 90s, 5m or 1h.
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    time_limit: Option<Duration>,
    /// Chunk lengths to measure the indexer at, such as 256,1k,2048, in place of the grid's.
    #[arg(long, value_name = "TOKENS", value_delimiter = ',', allow_hyphen_values = true)]
    t: Option<Vec<Tokens>>,
    /// Prefix lengths to measure the indexer at, such as 0,100k, in place of the grid's.
    #[arg(long, value_name = "TOKENS", value_delimiter = ',', allow_hyphen_values = true)]
    l: Option<Vec<Tokens>>,
    /// Output directory; it must not hold anything yet. Default: chunktune-<ARCH>, with a number
    /// appended when that exists.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// What may answer: the hardware where it is present and the simulator otherwise (auto), or
    /// only one of them.
    #[arg(long, value_enum, default_value_t = EngineChoice::Auto)]
    engine: EngineChoice,
    /// HIP runtime to load instead of the first libamdhip64 found.
    #[arg(long, value_name = "PATH")]
    hip_lib: Option<PathBuf>,
    /// Number of the device, where there are several of the kind.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    gpu: Option<u32>,
    /// Kernel pack to measure in place of the bundled kernels of the same operation, as
    /// `python -m chunktune_sglang.export_kernels` writes it.
    #[arg(long, value_name = "DIR")]
    kernels: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArguments,
    #[command(flatten)]
    evidence: EvidenceArguments,
    /// Continue the run in --out (default: the newest chunktune-<ARCH>*).
    #[arg(long)]
    resume: bool,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// The options, validated, and what decides beside the measurements.
    ///
    /// # Errors
    /// Status 2 or 3 with the flag to change.
    pub fn into_options(self) -> Result<(Options, EvidenceArguments)> {
        if self.precision.is_some() && self.grid != GridSize::Adaptive {
            return Err(Error::usage("--precision has no effect on this grid")
                .advice("add --grid adaptive, or leave it out"));
        }
        let options = Options {
            arch: options::arch(&self.device.unwrap_or_default())?,
            model: self.model,
            layout: Layout { tp: self.tp, dp: self.dp_attention, cp: self.cp },
            grid: self.grid,
            precision: self.precision.unwrap_or(PRECISION),
            time_limit: self.time_limit,
            t: self.t,
            l: self.l,
            limits: self.limits.into(),
            out: self.out,
            engine: self.engine,
            hip_lib: self.hip_lib,
            gpu: self.gpu,
            kernels: self.kernels,
            resume: self.resume,
            json: self.json,
        };
        options.validate()?;
        Ok((options, self.evidence))
    }
}

/// A share as `2%` or `0.02`.
fn share(text: &str) -> std::result::Result<f64, String> {
    let trimmed = text.trim();
    let (number, scale) = match trimmed.strip_suffix('%') {
        Some(number) => (number.trim(), 100.0),
        None => (trimmed, 1.0),
    };
    let value: f64 = number.parse().map_err(|_| "give a share such as 2% or 0.02".to_owned())?;
    Ok(value / scale)
}

/// A time as `90s`, `5m`, `1.5h`; a bare number is seconds.
fn time(text: &str) -> std::result::Result<Duration, String> {
    let trimmed = text.trim();
    let (number, scale) = match trimmed.chars().last() {
        Some('s') => (&trimmed[..trimmed.len() - 1], 1.0),
        Some('m') => (&trimmed[..trimmed.len() - 1], 60.0),
        Some('h') => (&trimmed[..trimmed.len() - 1], 3600.0),
        _ => (trimmed, 1.0),
    };
    let wrong = || "give a time such as 90s, 5m or 1h".to_owned();
    let seconds: f64 = number.trim().parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(seconds * scale).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_times_take_the_usual_spellings() {
        assert_eq!(share("2%"), Ok(0.02));
        assert_eq!(share(" 0.02 "), Ok(0.02));
        assert!(share("two").is_err());
        assert_eq!(time("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(time("45"), Ok(Duration::from_secs(45)));
        for wrong in ["", "m", "-5m", "5 minutes", "NaN", "1e300h"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
