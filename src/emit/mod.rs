//! Files that make a server run a plan.
//!
//! In goes a [`Plan`](crate::plan::Plan) with where it came from; out come `sizer.json` (the table
//! that the SGLang plugin serves) and the settings and flags of the server with their reasons, in
//! the syntax asked for. All carry the plan's status and the hash of the profile.

mod deployment;
mod format;
mod sizer;

pub use deployment::{ARGS_VARIABLE, Context, Deployment, Kind, Setting};
pub use format::{Format, Unwritable};
pub use sizer::{SIZER_FILE, SIZER_SCHEMA, Sizer};
