//! What a server must be told to run a plan: variables and flags with their values and reasons.
//!
//! In go a sizer, the SGLang version and where the figures come from; out comes a [`Deployment`]
//! that every output format writes in its own syntax. Only what that version reads is in it; what
//! it does not read is named, with the versions that do.

use serde::Serialize;

use super::Sizer;
use crate::plan::{EndsBy, Status};
use crate::sglang::Release;

/// Variable in which every format hands over the launch flags as one text.
pub const ARGS_VARIABLE: &str = "CHUNKTUNE_SGLANG_ARGS";

/// How the server reads a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// From its environment.
    Env,
    /// From its command line.
    Flag,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// How it is read.
    pub kind: Kind,
    /// Variable, or flag with its dashes.
    pub name: String,
    /// Value as the server must see it.
    pub value: String,
    /// Why this value; lines of a comment.
    pub reason: String,
}

/// Everything a format needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployment {
    /// Lines that say what this is and where it comes from.
    pub header: Vec<String>,
    /// Settings, variables first.
    pub settings: Vec<Setting>,
    /// What was decided but cannot be set, and why.
    pub left_out: Vec<String>,
    /// SGLang version.
    pub sglang: String,
    /// Validated or not.
    pub status: Status,
    /// Hash of the profile.
    pub profile_sha256: String,
    /// Target of the figures; empty for a budget given as a number.
    pub arch: String,
    /// Path of the sizer where it was written.
    pub sizer_path: String,
    /// The sizer itself, JSON.
    pub sizer: String,
}

/// What decides beside the sizer.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// SGLang version with what it reads.
    pub release: Release<'a>,
    /// Where the figures come from, one line.
    pub headline: &'a str,
    /// Path of the sizer for the server.
    pub sizer_path: &'a str,
    /// Why exact fill is or is not decided.
    pub exact_fill: &'a str,
    /// What ends requests before the model's own context does; none where nothing does.
    pub ends_by: Option<EndsBy>,
}

impl Deployment {
    /// The deployment of a sizer.
    pub fn new(sizer: &Sizer, context: &Context<'_>) -> Self {
        let mut deployment = Deployment {
            header: header(sizer, context),
            settings: Vec::new(),
            left_out: Vec::new(),
            sglang: context.release.version.to_string(),
            status: sizer.status,
            profile_sha256: sizer.profile_sha256.clone(),
            arch: sizer.arch.clone(),
            sizer_path: context.sizer_path.to_owned(),
            sizer: serde_json::to_string(sizer).unwrap_or_default(),
        };
        deployment.sizer(sizer, context);
        deployment.score_budgets(sizer, &context.release);
        deployment.exact_fill(sizer, context);
        deployment.flags(sizer, context);
        deployment
    }

    /// Variables with their values, the flags in [`ARGS_VARIABLE`] among them.
    pub fn env(&self) -> Vec<Setting> {
        let own = self.settings.iter().filter(|setting| setting.kind == Kind::Env).cloned();
        let flags: Vec<&Setting> = self.flags_only().collect();
        let reasons: Vec<String> =
            flags.iter().map(|flag| format!("{}: {}", flag.name, flag.reason)).collect();
        let args = Setting {
            kind: Kind::Env,
            name: ARGS_VARIABLE.to_owned(),
            value: self.args().join(" "),
            reason: format!("Launch flags.\n{}", reasons.join("\n")),
        };
        own.chain([args]).collect()
    }

    /// Launch flags.
    pub fn flags_only(&self) -> impl Iterator<Item = &Setting> {
        self.settings.iter().filter(|setting| setting.kind == Kind::Flag)
    }

    /// Launch flags and their values as single arguments.
    pub fn args(&self) -> Vec<String> {
        self.flags_only().flat_map(|flag| [flag.name.clone(), flag.value.clone()]).collect()
    }

    fn set(&mut self, kind: Kind, name: &str, value: impl ToString, reason: impl Into<String>) {
        let (name, value) = (name.to_owned(), value.to_string());
        self.settings.push(Setting { kind, name, value, reason: reason.into() });
    }

    /// Sets a variable that this version reads, or says which versions do.
    fn env_of_release(&mut self, release: &Release<'_>, name: &str, value: u64, reason: String) {
        match release.env(name) {
            Some((_, true)) => self.set(Kind::Env, name, value, reason),
            Some((_, false)) => {
                let range = release.range(name).unwrap_or_default();
                let version = release.version;
                self.left_out.push(format!(
                    "{name}={value} is left out: SGLang {version} does not read it ({range} do)"
                ));
            }
            None => self.left_out.push(format!(
                "{name}={value} is left out: it is no variable of SGLang; the plugin sets it"
            )),
        }
    }

    fn sizer(&mut self, sizer: &Sizer, context: &Context<'_>) {
        let memory = match sizer.budget_95 {
            Some(budget) => {
                format!("c {} B a (row, key), BUDGET {budget} token^2 (95%)", sizer.c_95)
            }
            None => format!(
                "no BUDGET (null in the sizer): memory on path {} stays bounded however large T*L",
                sizer.memory_path
            ),
        };
        let mut reason = format!(
            "Chunk for every prefix, read by the SGLang plugin.\nUsable memory {} bytes, {memory}, \
             max_context (largest prefix before a chunk) {} tokens.",
            sizer.usable_bytes, sizer.max_context
        );
        if !context.release.has("plugins") {
            reason.push_str(
                "\nThis version loads no plugins: it needs the plugin's sitecustomize instead.",
            );
        }
        self.set(Kind::Env, "CHUNKTUNE_SIZER", context.sizer_path, reason);
    }

    fn score_budgets(&mut self, sizer: &Sizer, release: &Release<'_>) {
        for (symbol, bytes) in &sizer.score_budgets {
            let mib = bytes >> 20;
            let value = if symbol.ends_with("_MB") { mib } else { *bytes };
            let reason = format!(
                "Pool that bounds the scores of path {}, {mib} MiB; rows are split to fit.",
                sizer.memory_path
            );
            self.env_of_release(release, symbol, value, reason);
        }
    }

    fn exact_fill(&mut self, sizer: &Sizer, context: &Context<'_>) {
        let fill = &sizer.exact_fill;
        let why = context.exact_fill;
        if fill.block_m == 0 {
            self.left_out
                .push(format!("Exact fill was not decided: {why}. SGLang's default stays."));
            return;
        }
        let interval = if fill.lo == fill.hi {
            String::new()
        } else {
            format!(" (95% {:.3} to {:.3})", fill.lo, fill.hi)
        };
        let gain = format!(
            "ragged/aligned time per row {:.3}{interval} at BLOCK_SIZE_M {}",
            fill.gain, fill.block_m
        );
        if !fill.deployed {
            self.left_out.push(format!(
                "Exact fill was not decided: {gain}; {why}. SGLang's default stays \
                 (SGLANG_EXACT_CHUNK_FILL on, effective on gfx95 only)."
            ));
            return;
        }
        let mut reason = format!("Exact fill: {gain}; {why}.");
        if fill.force {
            reason.push_str("\nSGLang ignores it on this architecture; the plugin forces it.");
        }
        let value = u64::from(fill.enabled);
        self.env_of_release(&context.release, "SGLANG_EXACT_CHUNK_FILL", value, reason);
    }

    fn flags(&mut self, sizer: &Sizer, context: &Context<'_>) {
        let dp = u64::from(sizer.dp.max(1));
        let chunk = sizer.static_chunk.saturating_mul(dp);
        let split = if dp > 1 {
            format!("; SGLang divides it by {dp} attention groups to {}", sizer.static_chunk)
        } else {
            String::new()
        };
        let why = if sizer.static_chunk < sizer.chunk_max {
            "stays under the frontier at every prefix"
        } else {
            "the largest chunk of the plan"
        };
        self.set(Kind::Flag, "--chunked-prefill-size", chunk, format!("{why}{split}"));
        self.set(
            Kind::Flag,
            "--max-prefill-tokens",
            sizer.chunk_max.max(sizer.static_chunk),
            "no pass has more rows than the largest chunk of the plan",
        );
        self.set(
            Kind::Flag,
            "--page-size",
            sizer.page_size,
            match context.release.page_of(&sizer.model) {
                Some(page) if page == sizer.page_size => format!(
                    "SGLang {} gives {} this page whatever is asked for; chunks of the plan are \
                     multiples of {}",
                    context.release.version, sizer.model, sizer.align
                ),
                _ => format!("chunks of the plan are multiples of {}", sizer.align),
            },
        );
        let length = sizer.longest_request();
        let reason = match context.ends_by {
            None => return,
            Some(EndsBy::Memory) => format!(
                "the end of the last page that begins within max_context {}; past that prefix not \
                 even {} rows fit in memory",
                sizer.max_context, sizer.chunk_min
            ),
            Some(EndsBy::Context) => {
                "the longest context that was planned for, less than the model's own".to_owned()
            }
        };
        self.set(Kind::Flag, "--context-length", length, reason);
    }
}

fn header(sizer: &Sizer, context: &Context<'_>) -> Vec<String> {
    let version = context.release.version;
    let mut header = vec![
        format!("chunktune {}: settings for SGLang {version}", env!("CARGO_PKG_VERSION")),
        context.headline.to_owned(),
        format!("model {}, memory path {}", sizer.model, sizer.memory_path),
        format!("profile_sha256 {}", sizer.profile_sha256),
        format!("status: {}", sizer.status.name()),
    ];
    if sizer.status == Status::Unvalidated {
        header.push(
            "Memory of the deployed engine was not observed. The plugin refuses this sizer unless \
             CHUNKTUNE_ALLOW_UNVALIDATED=1 is set; better, give peaks with --observations."
                .to_owned(),
        );
    }
    if !context.release.is_known() {
        header.push(format!(
            "SGLang {version} is not among the versions that were read; check that it still reads \
             these settings."
        ));
    }
    header
}
