//! The syntaxes a deployment is written in, one file each. A [`Deployment`] goes in; the text of a
//! file comes out, with every value as the server must see it after that syntax's own unquoting.

mod args;
mod compose;
mod docker;
mod env;
mod json;
mod k8s;
mod systemd;

use super::Deployment;

/// Where containers find the sizer.
const MOUNTED: &str = "/etc/chunktune/sizer.json";

/// An output syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Shell file to source.
    Env,
    /// SGLang's launch flags.
    Args,
    /// File for `docker run --env-file`.
    Docker,
    /// Fragment of a Compose file.
    Compose,
    /// Kubernetes ConfigMap and a patch of the container's environment.
    K8s,
    /// systemd drop-in.
    Systemd,
    /// Everything as JSON.
    Json,
}

impl Format {
    /// Name of its file.
    pub fn file_name(self) -> &'static str {
        match self {
            Format::Env => "tune.env",
            Format::Args => "sglang.args",
            Format::Docker => "docker.env",
            Format::Compose => "compose.chunktune.yaml",
            Format::K8s => "kubernetes.yaml",
            Format::Systemd => "50-chunktune.conf",
            Format::Json => "deployment.json",
        }
    }

    /// The text.
    ///
    /// # Errors
    /// A value that the syntax cannot hold.
    pub fn text(self, deployment: &Deployment) -> Result<String, Unwritable> {
        match self {
            Format::Env => env::text(deployment),
            Format::Args => args::text(deployment),
            Format::Docker => docker::text(deployment),
            Format::Compose => compose::text(deployment),
            Format::K8s => k8s::text(deployment),
            Format::Systemd => systemd::text(deployment),
            Format::Json => json::text(deployment),
        }
    }
}

/// A value that a syntax cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} cannot be written as {format}: its value has a line break")]
pub struct Unwritable {
    name: String,
    format: &'static str,
}

/// Refuses values with line breaks, for syntaxes of one line a value.
fn one_line(format: &'static str, name: &str, value: &str) -> Result<(), Unwritable> {
    if value.contains(['\n', '\r', '\0']) {
        return Err(Unwritable { name: name.to_owned(), format });
    }
    Ok(())
}

/// Lines of a comment, each behind `# `.
fn comment(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        out.push_str(&format!("# {}\n", line.trim_end()));
    }
    out
}

/// Header and what was left out, as comments.
fn preamble(deployment: &Deployment, how: &str) -> String {
    let mut out: String = deployment.header.iter().map(|line| comment(line)).collect();
    out.push_str(&comment(how));
    out.push_str(&deployment.left_out.iter().map(|line| comment(line)).collect::<String>());
    out
}

/// `value` as one word of a POSIX shell.
fn shell_word(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=,@%+-".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}

/// `value` as a double-quoted scalar: JSON strings are YAML ones.
fn yaml_string(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

#[cfg(test)]
mod tests;
