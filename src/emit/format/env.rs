//! A file for `source` in a POSIX shell: values are quoted where the shell would read more in them.

use super::{Unwritable, comment, one_line, preamble, shell_word};
use crate::emit::Deployment;

pub(super) fn text(deployment: &Deployment) -> Result<String, Unwritable> {
    let how = "For a shell: set -a; . FILE; set +a. The flags: python -m sglang.launch_server \
               $CHUNKTUNE_SGLANG_ARGS ...";
    let mut out = preamble(deployment, how);
    for setting in deployment.env() {
        one_line("a shell file", &setting.name, &setting.value)?;
        out.push('\n');
        out.push_str(&comment(&setting.reason));
        out.push_str(&format!("{}={}\n", setting.name, shell_word(&setting.value)));
    }
    Ok(out)
}
