//! `tune emit`: the configuration of a recorded profile for a server's limits.

use std::path::{Path, PathBuf};

use clap::Args;

use super::limits::{LimitArguments, other_page};
use super::output;
use super::source::{EvidenceArguments, derive, directory_of};
use crate::derive;
use crate::emit::{Format, SIZER_FILE, Sizer};
use crate::error::{Error, Exit, Result};
use crate::files;
use crate::options::ServerLimits;
use crate::report;
use crate::sglang::{self, Table, Version};

/// Arguments of `tune emit`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Directory of a run, or its profile.parquet.
    #[arg(value_name = "PROFILE")]
    profile: PathBuf,
    #[command(flatten)]
    limits: LimitArguments,
    #[command(flatten)]
    evidence: EvidenceArguments,
    /// Directory to write into; default: beside the profile, and nowhere with --format.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the settings of the server in this syntax; with --out, write them there beside the
    /// sizer.
    #[arg(long, value_enum, conflicts_with = "json")]
    format: Option<Format>,
    /// SGLang version to write for; default: the installed one, or the newest known.
    #[arg(long, value_name = "VERSION")]
    sglang_version: Option<Version>,
    /// Print the sizer as JSON in place of the summary.
    #[arg(long)]
    json: bool,
}

/// Derives and writes the files.
///
/// # Errors
/// Status 4 for a profile that cannot be read, 2 for limits that leave no chunk, 7 for files that
/// cannot be written.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let limits: ServerLimits = arguments.limits.into();
    limits.validate()?;
    let table = Table::load().map_err(Error::failed)?;
    let version = match arguments.sglang_version.or_else(sglang::installed).or(table.newest()) {
        Some(version) => version,
        None => return Err(Error::usage("no SGLang version").advice("give --sglang-version")),
    };
    let (profile, mut derived) = derive(&arguments.profile, limits, &arguments.evidence)?;
    let plan = derived.plan.clone()?;
    if let Some(sizer) = &mut derived.sizer {
        let release = table.release(version);
        sizer.settle(&release);
        if let Some(page) = release.page_of(&sizer.model).filter(|page| *page != sizer.page_size) {
            return Err(other_page(version, &sizer.model, page, sizer.align));
        }
    }
    let beside = directory_of(&arguments.profile);
    if let (Some(format), Some(sizer)) = (arguments.format, &derived.sizer) {
        let directory = arguments.out.as_deref().unwrap_or(beside);
        let write = |path: &Path, text: &str| files::write_atomic(path, text.as_bytes());
        if arguments.out.is_some() {
            sizer.write(directory)?;
        }
        let deployment = derive::deployment(directory, &profile, &plan, sizer, &table, version);
        let text = format.text(&deployment).map_err(Error::usage)?;
        if arguments.out.is_some() {
            let path = directory.join(format.file_name());
            write(&path, &text)?;
            output::written(&[directory.join(SIZER_FILE), path])?;
        } else {
            warn_of_another(sizer, directory);
            output::line(text.trim_end())?;
        }
        return Ok(Exit::Ok);
    }
    let directory = arguments.out.as_deref().unwrap_or(beside);
    let written = derived.write(directory, &profile)?;
    if arguments.json {
        output::json(&derived.sizer)?;
        return Ok(Exit::Ok);
    }
    output::line(report::summary(&profile, &derived))?;
    output::written(&written)?;
    Ok(Exit::Ok)
}

/// The settings name the sizer beside the profile: it must be the one of these limits.
fn warn_of_another(sizer: &Sizer, directory: &Path) {
    let path = directory.join(SIZER_FILE);
    if !Sizer::read(&path).is_ok_and(|written| written == *sizer) {
        output::warn(format_args!(
            "{} is not the sizer of these settings; give --out DIR to write both",
            path.display()
        ));
    }
}
