//! The server whose admission is replayed: flags in, settings out.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::emit::Sizer;
use crate::error::{Error, Result};
use crate::options::MAX_TOKENS;
use crate::plan::admission::{ChunkTable, Settings, fills_exactly};
use crate::units::Tokens;

/// Whether compute budgets are charged in rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Fill {
    /// In whole pages, as SGLang does where exact fill has no effect.
    Off,
    /// In rows.
    On,
    /// One after the other, to compare.
    Both,
}

/// Flags of a server.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server of a trace")]
#[group(conflicts_with_all = ["oracle", "scenarios"])]
pub struct ServerArguments {
    /// KV page, tokens.
    #[arg(long, value_name = "TOKENS", default_value = "64", allow_hyphen_values = true)]
    page_size: Tokens,
    /// `--chunked-prefill-size` of one rank.
    #[arg(long, value_name = "TOKENS", default_value = "16384", allow_hyphen_values = true)]
    chunk: Tokens,
    /// Chunked prefill is off.
    #[arg(long, conflicts_with = "chunk")]
    no_chunk: bool,
    /// `--max-prefill-tokens`.
    #[arg(long, value_name = "TOKENS", default_value = "16384", allow_hyphen_values = true)]
    max_prefill: Tokens,
    /// Exact fill.
    #[arg(long, value_enum, default_value = "both")]
    exact_fill: Fill,
    /// The prefix cache keeps mamba states: SGLang never fills exactly then, and only that is
    /// replayed.
    #[arg(long, conflicts_with = "exact_fill")]
    mamba: bool,
    /// Decode rows join prefills (`--enable-mixed-chunk`).
    #[arg(long, requires = "kv_tokens")]
    mixed_chunk: bool,
    /// Most requests of one prefill (`--prefill-max-requests`).
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    max_requests: Option<u64>,
    /// KV pool, tokens; without it the pool never fills and only prefills run.
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true)]
    kv_tokens: Option<Tokens>,
    /// Most running requests.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    max_running: Option<u64>,
    /// A sizer.json: chunks after a prefix come from it, and admission is clamped to it, as the
    /// plugin does both.
    #[arg(long, value_name = "FILE", conflicts_with = "no_chunk")]
    sizer: Option<PathBuf>,
}

impl ServerArguments {
    /// The replays: exact fill off, on, or one after the other.
    pub fn fills(&self) -> &'static [bool] {
        match self.exact_fill {
            _ if self.mamba => &[false],
            Fill::Off => &[false],
            Fill::On => &[true],
            Fill::Both => &[false, true],
        }
    }

    /// The settings with exact fill off or on.
    ///
    /// # Errors
    /// Status 2 for figures that make no server.
    pub fn settings(&self, exact_fill: bool) -> Result<Settings> {
        let page = tokens("--page-size", self.page_size)?;
        let chunk = if self.no_chunk { None } else { Some(tokens("--chunk", self.chunk)?) };
        if let Some(chunk) = chunk.filter(|chunk| *chunk < page) {
            return Err(Error::usage(format_args!(
                "--chunk {chunk} is smaller than --page-size {page}: no longer prompt would ever \
                 be admitted"
            ))
            .advice("give a chunk of at least one page"));
        }
        Ok(Settings {
            page,
            chunk,
            max_prefill: tokens("--max-prefill", self.max_prefill)?,
            exact_fill: fills_exactly(exact_fill, false, self.mamba),
            mixed: self.mixed_chunk,
            max_requests: count("--max-requests", self.max_requests)?,
            max_running: count("--max-running", self.max_running)?,
            cut_align: None,
            tiles: None,
            replay: false,
        })
    }

    /// The KV pool, tokens.
    ///
    /// # Errors
    /// Status 2 for a pool that holds no page.
    pub fn kv(&self) -> Result<Option<i64>> {
        let Some(kv) = self.kv_tokens else {
            return Ok(None);
        };
        if kv.0 < self.page_size.0 || i64::try_from(kv.0).is_err() || kv.0 > 1 << 40 {
            return Err(Error::usage(format_args!(
                "--kv-tokens {} must be from one page ({}) to 2^40",
                kv.0, self.page_size.0
            )));
        }
        Ok(i64::try_from(kv.0).ok())
    }

    /// Where the sizer is.
    pub fn sizer_path(&self) -> Option<&Path> {
        self.sizer.as_deref()
    }

    /// The sizer.
    ///
    /// # Errors
    /// Status 4 for a file that is no sizer, 2 for one of another page.
    pub fn sizer(&self) -> Result<Option<Sizer>> {
        let Some(path) = &self.sizer else {
            return Ok(None);
        };
        let sizer = Sizer::read(path)?;
        if sizer.page_size != self.page_size.0 {
            return Err(Error::usage(format_args!(
                "{} is for pages of {} tokens and --page-size is {}",
                path.display(),
                sizer.page_size,
                self.page_size.0
            )));
        }
        Ok(Some(sizer))
    }

    /// The table of `sizer` as the plugin keeps it on this server.
    ///
    /// # Errors
    /// Status 2 where the server's chunk leaves nothing of a row.
    pub fn table(&self, sizer: &Sizer, settings: &Settings) -> Result<Option<ChunkTable>> {
        let table = ChunkTable {
            align: sizer.align,
            chunk_min: sizer.chunk_min,
            max_context: sizer.max_context,
            table: sizer.table.clone(),
            frontier: sizer.frontier.clone(),
            tail_fraction: sizer.tail_fraction,
            own: false,
        };
        table.on(settings, false).map_err(|error| {
            Error::usage(format_args!("--sizer: {error}"))
                .advice("give a larger --chunk and --max-prefill")
        })
    }
}

fn tokens(flag: &str, value: Tokens) -> Result<i64> {
    match i64::try_from(value.0) {
        Ok(tokens) if (1..=MAX_TOKENS).contains(&value.0) => Ok(tokens),
        _ => Err(Error::usage(format_args!("{flag} {} must be from 1 to {MAX_TOKENS}", value.0))),
    }
}

fn count(flag: &str, value: Option<u64>) -> Result<Option<usize>> {
    match value {
        Some(0) => Err(Error::usage(format_args!("{flag} must be at least 1"))),
        Some(value) => Ok(Some(usize::try_from(value).unwrap_or(usize::MAX))),
        None => Ok(None),
    }
}
