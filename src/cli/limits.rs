//! Flags about the server, shared by the commands that plan.

use clap::Args;

use crate::error::Error;
use crate::options::{MAX_TOKENS, ServerLimits};
use crate::sglang::Version;
use crate::units::{Bytes, Tokens};

/// What the server has to live within.
#[derive(Clone, Copy, Debug, Args)]
pub struct LimitArguments {
    /// Memory free on the server after boot, such as 5GB or 4.6GiB.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    free_bytes: Option<Bytes>,
    /// Free memory below which the server's guard stops it.
    #[arg(long, value_name = "SIZE", default_value = "1.5GB", allow_hyphen_values = true)]
    guard: Bytes,
    /// Memory to keep free on top of the guard.
    #[arg(long, value_name = "SIZE", default_value = "0.5GB", allow_hyphen_values = true)]
    margin: Bytes,
    /// Smallest chunk worth running.
    #[arg(long, value_name = "TOKENS", default_value = "256", allow_hyphen_values = true)]
    chunk_min: Tokens,
    /// Largest chunk.
    #[arg(long, value_name = "TOKENS", default_value = "2048", allow_hyphen_values = true)]
    chunk_max: Tokens,
    /// KV page of the server.
    #[arg(long, value_name = "TOKENS", default_value = "256", allow_hyphen_values = true)]
    page_size: Tokens,
    /// Largest free block of the allocator: the fp32 scores of a chunk are one allocation.
    #[arg(long, value_name = "SIZE", value_parser = some_bytes, allow_hyphen_values = true)]
    largest_block: Option<Bytes>,
}

/// The longest context of a server, tokens.
///
/// # Errors
/// No count, no token at all, or more than any server takes.
pub fn context(text: &str) -> Result<Tokens, String> {
    match text.parse::<Tokens>().map_err(|error| error.to_string())? {
        Tokens(0) => Err("a context of no tokens serves nothing".to_owned()),
        Tokens(long) if long > MAX_TOKENS => Err(format!("the limit is {MAX_TOKENS} tokens")),
        context => Ok(context),
    }
}

/// Says that chunks in multiples of `align` are not whole pages of the model.
pub fn other_page(version: Version, model: &str, page: u64, align: u64) -> Error {
    Error::usage(format_args!(
        "SGLang {version} gives {model} pages of {page} tokens whatever is asked for, and the plan's \
         chunks are multiples of {align}"
    ))
    .advice(format_args!("give --page-size {page}, or a multiple of it"))
}

/// A size that must not be nothing.
///
/// # Errors
/// No size, or zero.
pub fn some_bytes(text: &str) -> Result<Bytes, String> {
    match text.parse::<Bytes>().map_err(|error| error.to_string())? {
        Bytes(0) => Err("nothing fits into 0 bytes".to_owned()),
        size => Ok(size),
    }
}

impl From<LimitArguments> for ServerLimits {
    fn from(flags: LimitArguments) -> Self {
        Self {
            free_bytes: flags.free_bytes,
            guard: flags.guard,
            margin: flags.margin,
            chunk_min: flags.chunk_min,
            chunk_max: flags.chunk_max,
            page_size: flags.page_size,
            largest_block: flags.largest_block,
        }
    }
}
