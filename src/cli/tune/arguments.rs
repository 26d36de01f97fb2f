//! Flags of the main job.

use std::path::PathBuf;

use clap::Args;

use crate::cli::limits::LimitArguments;
use crate::cli::source::EvidenceArguments;
use crate::error::Result;
use crate::model::{Layout, PRESETS};
use crate::options::{self, EngineChoice, GridSize, Options};
use crate::units::Tokens;

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
        let options = Options {
            arch: options::arch(&self.device.unwrap_or_default())?,
            model: self.model,
            layout: Layout { tp: self.tp, dp: self.dp_attention, cp: self.cp },
            grid: self.grid,
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
