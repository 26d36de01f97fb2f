//! Files that make a server run a plan.
//!
//! In goes a [`Plan`](crate::plan::Plan) with where it came from; out come `sizer.json` (the table
//! that the SGLang plugin serves) and `tune.env` (settings and flags with their reasons). Both
//! carry the plan's status and the hash of the profile.

mod env;
mod sizer;

pub use env::{ENV_FILE, env_text, flags};
pub use sizer::{SIZER_FILE, SIZER_SCHEMA, Sizer};
