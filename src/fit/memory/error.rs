//! Why rows give no memory model: nothing in them, bounds only, or peaks that follow none. The
//! message says what the rows do tell and what to record or check next.

/// Why no memory model can be given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MemoryError {
    /// Nothing at all.
    #[error(
        "{path}: no row says anything about memory; give T, L and a peak, or an outcome and the memory that there was"
    )]
    NoRows {
        /// Path.
        path: String,
    },
    /// Only bounds.
    #[error(
        "{path}: no peak was measured, only {censored} bounds; c is {bound}. \
         Record the peak of at least one chunk that fits"
    )]
    NoPeak {
        /// Path.
        path: String,
        /// Number of bounds.
        censored: usize,
        /// What they say.
        bound: String,
    },
    /// Observed peaks that no model explains.
    #[error(
        "{path}: the peaks scatter by {noise:.0}% around the best model, which is none: {rows}. \
         {advice}"
    )]
    Scattered {
        /// Path.
        path: String,
        /// Relative noise, percent.
        noise: f64,
        /// The rows furthest off, in words.
        rows: String,
        /// What to look at.
        advice: String,
    },
}
