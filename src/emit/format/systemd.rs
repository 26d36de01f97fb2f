//! A drop-in for the server's unit: `/etc/systemd/system/UNIT.service.d/50-chunktune.conf`.

use super::{Unwritable, comment, one_line, preamble};
use crate::emit::Deployment;

pub(super) fn text(deployment: &Deployment) -> Result<String, Unwritable> {
    let how = "For systemd: put it into UNIT.service.d/ and daemon-reload. The flags go into the \
               unit: ExecStart=... $CHUNKTUNE_SGLANG_ARGS (without braces, so that they are \
               split).";
    let mut out = preamble(deployment, how);
    out.push_str("[Service]\n");
    for setting in deployment.env() {
        one_line("a systemd unit", &setting.name, &setting.value)?;
        out.push_str(&comment(&setting.reason));
        out.push_str(&format!("Environment=\"{}={}\"\n", setting.name, escaped(&setting.value)));
    }
    Ok(out)
}

/// A value inside double quotes, in which systemd expands `%` and takes backslashes as escapes.
fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('%', "%%")
}
