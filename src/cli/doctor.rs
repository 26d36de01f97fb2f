//! `tune doctor`: checks a deployment before it boots.

use std::path::{Path, PathBuf};

use clap::Args;
use owo_colors::OwoColorize;

use super::output;
use crate::doctor::inputs::Server;
use crate::doctor::{Change, Facts, Report, Settled, Severity, examine, fetch};
use crate::emit::{SIZER_FILE, Sizer};
use crate::error::{Error, Exit, Result, read_text};
use crate::options::{self, MAX_TOKENS};
use crate::profile::Profile;
use crate::sglang::{self, ModelKind, Table, Version};

/// Arguments of `tune doctor`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Environment file of the server, as a shell or docker reads it.
    #[arg(long, value_name = "FILE")]
    env_file: Vec<PathBuf>,
    /// Launch flags in one text, such as "--tp 8 --chunked-prefill-size 2048".
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    flags: Option<String>,
    /// Answer of a running server's /server_info: a file, or its http:// address.
    #[arg(long, value_name = "FILE|URL")]
    server_info: Option<String>,
    /// sizer.json, or the directory that holds it; default: what CHUNKTUNE_SIZER of the
    /// environment file names, where that is here.
    #[arg(long, value_name = "PATH")]
    sizer: Option<PathBuf>,
    /// Profile that the sizer should come from.
    #[arg(long, value_name = "PATH")]
    profile: Option<PathBuf>,
    /// Device of the server: gfx942 (MI300X) or gfx950 (MI355X).
    #[arg(long, value_name = "ARCH")]
    device: Option<String>,
    /// SGLang version; default: what the server says, the installed one, or the newest known.
    #[arg(long, value_name = "VERSION")]
    sglang_version: Option<Version>,
    /// Truncation alignment that model or cache force, tokens.
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true,
        value_parser = clap::value_parser!(u64).range(1..=MAX_TOKENS))]
    truncation_align: Option<u64>,
    /// BLOCK_SIZE_M of the kernel that decides; default: the sizer's.
    #[arg(long, value_name = "ROWS", allow_hyphen_values = true,
        value_parser = clap::value_parser!(u64).range(1..=MAX_TOKENS))]
    block_m: Option<u64>,
    /// Decode rows that ride in a mixed chunk (--enable-mixed-chunk).
    #[arg(long, value_name = "ROWS", allow_hyphen_values = true,
        value_parser = clap::value_parser!(u64).range(0..=MAX_TOKENS))]
    decode_rows: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Checks and prints. Status 6 where something does not work, 8 where only warnings were found.
///
/// # Errors
/// Status 2 without anything to check, 4 for an input that cannot be read.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let server = server(arguments)?;
    let table = Table::load().map_err(Error::failed)?;
    let reported = server.version.as_deref().and_then(|text| text.parse().ok());
    let version = arguments.sglang_version.or(reported).or_else(sglang::installed);
    let Some(version) = version.or(table.newest()) else {
        return Err(Error::usage("no SGLang version").advice("give --sglang-version"));
    };
    let sizer = sizer(arguments, &server)?;
    if arguments.profile.is_some() && sizer.is_none() {
        return Err(Error::usage("--profile is compared with the sizer, and there is none")
            .advice("give --sizer"));
    }
    if arguments.decode_rows.is_some() && !server.has("--enable-mixed-chunk") {
        return Err(Error::usage("--decode-rows: no decode row rides in a chunk of this server")
            .advice("leave it out, or add --enable-mixed-chunk to the server's flags"));
    }
    let arch = arguments.device.as_deref().map(options::arch).transpose()?;
    let profile = match &arguments.profile {
        Some(path) => Some(super::source::read_profile(path)?),
        None => None,
    };
    let model = model_kind(&table, &server, sizer.as_ref());
    let facts = Facts {
        sizer: sizer.as_ref(),
        model: model.as_ref(),
        arch: arch.as_deref(),
        profile_sha256: profile.as_ref().map(Profile::sha256),
        truncation: arguments.truncation_align,
        block_m: arguments.block_m,
        decode_rows: arguments.decode_rows,
    };
    let report = examine(&server, &table.release(version), &facts);
    if arguments.json {
        output::json(&report)?;
    } else {
        print(&report)?;
    }
    Ok(match report.worst() {
        Some(Severity::Error) => Exit::Check,
        Some(Severity::Warning) => Exit::Warned,
        Some(Severity::Info) | None => Exit::Ok,
    })
}

fn server(arguments: &Arguments) -> Result<Server> {
    let mut server = Server::default();
    let refuse = |error| Error::new(Exit::Format, error);
    if let Some(source) = &arguments.server_info {
        let text = if source.contains("://") {
            fetch::server_info(source).map_err(|what| Error::format(Path::new(source), what))?
        } else {
            read_text(Path::new(source))?
        };
        server.read_server_info(&text, source).map_err(refuse)?;
    }
    for path in &arguments.env_file {
        server.read_env(&read_text(path)?, &path.display().to_string()).map_err(refuse)?;
    }
    if let Some(flags) = &arguments.flags {
        server.read_flags(flags, "--flags").map_err(Error::usage)?;
    }
    if server == Server::default() {
        return Err(Error::usage("there is nothing to check")
            .advice("give --env-file, --flags or --server-info"));
    }
    Ok(server)
}

fn sizer(arguments: &Arguments, server: &Server) -> Result<Option<Sizer>> {
    let named = server.env.get("CHUNKTUNE_SIZER").map(|given| PathBuf::from(&given.value));
    let path = match (&arguments.sizer, named) {
        (Some(path), _) => path.clone(),
        // A path of the server's machine need not exist here.
        (None, Some(path)) if path.exists() => path,
        _ => return Ok(None),
    };
    let path = if path.is_dir() { path.join(SIZER_FILE) } else { path };
    Ok(Some(Sizer::read(&path)?))
}

/// What is known of the model: the server's, or else the one that was planned for.
fn model_kind(table: &Table, server: &Server, sizer: Option<&Sizer>) -> Option<ModelKind> {
    let flag = |name: &str| server.flags.get(name).map(|given| given.value.as_str());
    let name = flag("--model-path").or(flag("--model"));
    table.model_kind(name.or(sizer.map(|sizer| sizer.model.as_str()))?)
}

fn print(report: &Report) -> Result<()> {
    output::line(format_args!(
        "{:<24}{:>12}{:>12}",
        format!("SGLang {}", report.sglang),
        "requested",
        "effective"
    ))?;
    let tokens = |tokens: Option<u64>| tokens.map_or("-".to_owned(), |tokens| tokens.to_string());
    for Settled { what, requested, effective } in &report.settings {
        let (requested, effective) = (tokens(*requested), tokens(*effective));
        output::line(format_args!("{what:<24}{requested:>12}{effective:>12}"))?;
    }
    for (index, change) in report.changes.iter().enumerate() {
        let Change { what, requested, effective, why, line } = change;
        let (requested, effective) = (tokens(*requested), tokens(*effective));
        let title = if index == 0 { "\nchanges, in order:\n" } else { "" };
        output::line(format_args!("{title}  {what}: {requested} -> {effective}: {why} ({line})"))?;
    }
    if !report.not_followed.is_empty() {
        let list = report.not_followed.join("\n  ");
        output::line(format_args!("\nnot followed, because no flag shows it:\n  {list}"))?;
    }
    for finding in &report.findings {
        let name = match finding.severity {
            Severity::Error => format!("{}", "error".red().bold()),
            Severity::Warning => format!("{}", "warning".yellow().bold()),
            Severity::Info => format!("{}", "info".blue().bold()),
        };
        output::line(format_args!("\n{name} {}: {}", finding.check, finding.reason))?;
        output::line(format_args!("  from: {}", finding.source))?;
        output::line(format_args!("  fix:  {}", finding.fix))?;
    }
    let count = |severity| report.findings.iter().filter(|f| f.severity == severity).count();
    output::line(format_args!(
        "\n{} errors, {} warnings, {} remarks",
        count(Severity::Error),
        count(Severity::Warning),
        count(Severity::Info)
    ))
}
