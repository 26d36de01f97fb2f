//! Why a scenario is not replayed.

use super::{AdmissionError, NothingLeft};

/// Longest loop, steps: one that needs more is a mistake in the scenario.
pub(super) const MAX_STEPS: u64 = 1 << 24;

/// Most passes that are kept, each about a kilobyte.
pub(super) const MAX_PASSES: usize = 1 << 18;

/// Why a scenario is not replayed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScenarioError {
    /// A figure out of range.
    #[error("`{field}` is {value}; it must be from {least} to {most}")]
    Range {
        /// Field.
        field: &'static str,
        /// Value.
        value: i64,
        /// Least value.
        least: i64,
        /// Greatest value.
        most: i64,
    },
    /// A chunk that never holds a page.
    #[error(
        "a chunk of {chunk} tokens is smaller than the page of {page}: nothing longer would ever be admitted"
    )]
    ChunkBelowPage {
        /// Chunk.
        chunk: i64,
        /// Page.
        page: i64,
    },
    /// A name without lengths.
    #[error("there is no prompt set `{0}`")]
    NoSet(String),
    /// Lists of different lengths.
    #[error("`{field}` lists {found} figures for {wanted} prompts")]
    Count {
        /// Field.
        field: &'static str,
        /// Figures.
        found: usize,
        /// Prompts.
        wanted: usize,
    },
    /// A sizer without coefficients.
    #[error("there are no coefficients for the sizer `{0}` that gives it a target")]
    NoSizer(String),
    /// A table of which the server leaves nothing.
    #[error(transparent)]
    NothingLeft(#[from] NothingLeft),
    /// A path that nothing recorded vouches for.
    #[error(
        "it asks for `{field}`: {value}; no decisions of SGLang were recorded on that path, so it is refused, not guessed"
    )]
    NotRecorded {
        /// Field.
        field: String,
        /// Value, as JSON.
        value: String,
    },
    /// The replay ran into what SGLang answers by other means.
    #[error(transparent)]
    Admission(#[from] AdmissionError),
    /// It does not end.
    #[error("it does not end within {MAX_STEPS} steps")]
    Endless,
    /// Every pass is kept to be printed or compared.
    #[error(
        "it has more than {MAX_PASSES} passes; give shorter prompts or larger chunks, or replay it \
         as a trace, which keeps none"
    )]
    Long,
}
