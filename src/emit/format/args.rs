//! The launch flags on one line, behind comments.

use super::{Unwritable, comment, one_line, preamble, shell_word};
use crate::emit::Deployment;

pub(super) fn text(deployment: &Deployment) -> Result<String, Unwritable> {
    let how = "Flags: python -m sglang.launch_server $(grep -v '^#' FILE) ...";
    let mut out = preamble(deployment, how);
    for flag in deployment.flags_only() {
        one_line("arguments", &flag.name, &flag.value)?;
        out.push_str(&comment(&format!("{}: {}", flag.name, flag.reason)));
    }
    let words: Vec<String> = deployment.args().iter().map(|word| shell_word(word)).collect();
    out.push_str(&format!("{}\n", words.join(" ")));
    Ok(out)
}
