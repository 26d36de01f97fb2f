//! Flags about what holds the memory of a rank, and about changes of the engine to weigh.

use clap::Args;

use super::limits::{context, some_bytes};
use crate::plan::decision::{self, Changes};
use crate::plan::ledger::Ledger;
use crate::units::{Bytes, Tokens};

/// What holds memory on a rank.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "What holds the memory of a rank")]
pub struct LedgerArguments {
    /// Memory of the rank; with --weights and the others it gives what is free.
    #[arg(long, value_name = "SIZE", requires = "weights", allow_hyphen_values = true)]
    total_bytes: Option<Bytes>,
    /// Weights.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    weights: Option<Bytes>,
    /// KV pool, as reserved.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    kv_reserved: Option<Bytes>,
    /// KV pool, pages touched so far.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    kv_touched: Option<Bytes>,
    /// Buffers of collectives.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    collectives: Option<Bytes>,
    /// Server and helper processes.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    processes: Option<Bytes>,
    /// Kept by the allocator without being used.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    allocator_cache: Option<Bytes>,
    /// CPU and GPU share the memory: pages count once touched.
    #[arg(long)]
    unified_memory: bool,
}

impl From<LedgerArguments> for Ledger {
    fn from(flags: LedgerArguments) -> Self {
        Self {
            total: flags.total_bytes,
            weights: flags.weights,
            kv_reserved: flags.kv_reserved,
            kv_touched: flags.kv_touched,
            collectives: flags.collectives,
            processes: flags.processes,
            cache: flags.allocator_cache,
            largest_block: None,
            unified: flags.unified_memory,
        }
    }
}

/// Changes of the engine to weigh against each other.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Changes to weigh")]
pub struct ChangeArguments {
    /// Byte budget of the candidate copy.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = some_bytes, allow_hyphen_values = true)]
    score_budget: Bytes,
    /// Byte budget of the scores of one tile of rows; default: the largest that fits.
    #[arg(long, value_name = "SIZE", value_parser = some_bytes, allow_hyphen_values = true)]
    row_budget: Option<Bytes>,
    /// Keys of a block.
    #[arg(long, value_name = "KEYS", default_value = "8192", value_parser = context, allow_hyphen_values = true)]
    key_block: Tokens,
}

impl ChangeArguments {
    /// The changes for a server whose rows `cp` ranks share; one rank is weighed against
    /// [`decision::CP`].
    pub fn changes(&self, cp: u32) -> Changes {
        Changes {
            copy_budget: self.score_budget,
            cp: if cp > 1 { cp } else { decision::CP },
            row_budget: self.row_budget,
            key_block: self.key_block.0,
        }
    }
}
