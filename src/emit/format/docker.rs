//! A file for `docker run --env-file`, which knows no quotes: everything behind `=` is the value.

use super::{MOUNTED, Unwritable, comment, one_line, preamble, shell_word};
use crate::emit::Deployment;

pub(super) fn text(deployment: &Deployment) -> Result<String, Unwritable> {
    let how = format!(
        "For docker: docker run --env-file FILE -v {}:{MOUNTED}:ro ... sh -c 'python -m \
         sglang.launch_server $CHUNKTUNE_SGLANG_ARGS ...'",
        shell_word(&deployment.sizer_path)
    );
    let mut out = preamble(deployment, &how);
    for mut setting in deployment.env() {
        if setting.name == "CHUNKTUNE_SIZER" {
            setting.value = MOUNTED.to_owned();
        }
        one_line("a docker env-file", &setting.name, &setting.value)?;
        out.push('\n');
        out.push_str(&comment(&setting.reason));
        out.push_str(&format!("{}={}\n", setting.name, setting.value));
    }
    Ok(out)
}
