//! A fragment to merge with a Compose file: `docker compose -f compose.yaml -f FRAGMENT up`.

use super::{MOUNTED, Unwritable, comment, preamble, yaml_string};
use crate::emit::Deployment;

pub(super) fn text(deployment: &Deployment) -> Result<String, Unwritable> {
    let how = "For Compose: docker compose -f compose.yaml -f FILE up; name the service as yours \
               is. The flags go behind its command: sh -c 'python -m sglang.launch_server \
               $$CHUNKTUNE_SGLANG_ARGS ...'";
    let mut out = preamble(deployment, how);
    out.push_str("services:\n  sglang:\n    environment:\n");
    for mut setting in deployment.env() {
        if setting.name == "CHUNKTUNE_SIZER" {
            setting.value = MOUNTED.to_owned();
        }
        for line in comment(&setting.reason).lines() {
            out.push_str(&format!("      {line}\n"));
        }
        out.push_str(&format!("      {}: {}\n", setting.name, literal(&setting.value)));
    }
    out.push_str("    volumes:\n      - type: bind\n");
    out.push_str(&format!("        source: {}\n", literal(&deployment.sizer_path)));
    out.push_str(&format!("        target: {MOUNTED}\n        read_only: true\n"));
    Ok(out)
}

/// A scalar in which Compose must not substitute variables.
fn literal(value: &str) -> String {
    yaml_string(&value.replace('$', "$$"))
}
