//! Everything as JSON, for a tool.

use serde_json::{Map, Value, json};

use super::Unwritable;
use crate::emit::Deployment;

/// Schema of the text.
const SCHEMA: &str = "chunktune/deployment/v1";

pub(super) fn text(deployment: &Deployment) -> Result<String, Unwritable> {
    let env: Map<String, Value> =
        deployment.env().into_iter().map(|setting| (setting.name, setting.value.into())).collect();
    let value = json!({
        "schema": SCHEMA,
        "sglang": deployment.sglang,
        "status": deployment.status.name(),
        "profile_sha256": deployment.profile_sha256,
        "header": deployment.header,
        "env": env,
        "args": deployment.args(),
        "settings": deployment.settings,
        "left_out": deployment.left_out,
    });
    Ok(format!("{value:#}\n"))
}
