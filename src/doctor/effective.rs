//! What a version of SGLang makes of chunk, page, truncation alignment and prefill limit: every
//! change on the way from the flags to the scheduler, in order, by the rules of
//! [`crate::sglang::Rules`].

use serde::Serialize;

use super::Facts;
use super::inputs::Server;
use crate::plan::lcm;
use crate::sglang::{Effect, Release, Rule, Setting, Stage, When};

/// Rows that the bounded replay of DeepSeek V4.1's encoder adds to the first chunk of a cache hit
/// (SGLang 0.5.23, `validate_deepseek_v41_encoder_replay_budget`).
pub const REPLAY_ROWS: u64 = 128;

/// Least unit of SGLang's own chunk sizes, tokens.
const SIZER_UNIT: u64 = 64;

/// One change of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Setting.
    pub what: &'static str,
    /// Before; none where it was off or not given.
    pub requested: Option<u64>,
    /// After; none where it is switched off.
    pub effective: Option<u64>,
    /// Why.
    pub why: String,
    /// File and line of SGLang below `sglang/srt`, in the nearest wheel that was read.
    pub line: String,
}

/// A setting at the end of its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Settled {
    /// Setting.
    pub what: &'static str,
    /// As given; none where it was off or not given.
    pub requested: Option<u64>,
    /// As the scheduler has it; none where it is off or not known.
    pub effective: Option<u64>,
}

/// Settings as the scheduler sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effective {
    /// Chunk of one rank, tokens, before truncation; none where it is off or not given.
    pub chunk: Option<u64>,
    /// Whether chunked prefill was switched off.
    pub off: bool,
    /// Most tokens that a long prompt's chunk really has, after truncation.
    pub cut: Option<u64>,
    /// Largest chunk of SGLang's own sizer, where that is on.
    pub dynamic: Option<u64>,
    /// Tokens of a rank that mega-MoE dispatches at once, where that is on.
    pub mega_moe: Option<u64>,
    /// KV page, tokens; none where nobody says.
    pub page: Option<u64>,
    /// Chunks are cut at multiples of this.
    pub truncation: Option<u64>,
    /// Most tokens of a prefill batch.
    pub prefill_limit: Option<u64>,
    /// Attention groups that share the flag.
    pub groups: u64,
    /// Rows of a full pass.
    pub rows: Option<u64>,
    /// What changed.
    pub changes: Vec<Change>,
    /// Changes that hang on what no flag shows, with what that is.
    pub unseen: Vec<String>,
}

impl Effective {
    /// Follows the settings through the version.
    pub fn of(server: &Server, release: &Release<'_>, facts: &Facts<'_>) -> Self {
        let given = |flag: &str| server.number(flag).and_then(positive);
        let chunk = server.number("--chunked-prefill-size");
        let mut effective = Self {
            groups: groups(server, release),
            page: given("--page-size"),
            chunk: chunk.and_then(positive),
            off: chunk.is_some_and(|chunk| chunk <= 0),
            prefill_limit: given("--max-prefill-tokens"),
            truncation: facts.truncation.filter(|align| *align > 0),
            ..Self::default()
        };
        for (rule, line) in release.rules() {
            let done = server.resolved && rule.stage == Stage::Arguments;
            if !done && holds(&rule.when, server, facts) {
                effective.apply(rule, line, server, facts);
            }
        }
        effective.truncate();
        effective.rows = effective.full_pass(server);
        effective
    }

    fn apply(&mut self, rule: &Rule, line: &str, server: &Server, facts: &Facts<'_>) {
        let factor = |times: &Option<String>| match times {
            Some(_) => facts.model.map_or(1, |model| model.index_kpool),
            None => 1,
        };
        if let Some(unseen) = &rule.unseen {
            self.unseen.push(format!("{} with {unseen} ({line})", rule.setting.name()));
            return;
        }
        let before = self.get(rule.setting);
        let chunk = self.chunk;
        let mut say = |what, requested, effective| {
            if requested != effective {
                let (why, line) = (rule.why.clone(), line.to_owned());
                self.changes.push(Change { what, requested, effective, why, line });
            }
        };
        let after = match &rule.effect {
            Effect::Set { set, keep, times } => match before {
                Some(kept) if keep.contains(&kept) => before,
                _ => Some(set.saturating_mul(factor(times))),
            },
            Effect::Default { default } if self.off && rule.setting == Setting::Chunk => None,
            Effect::Default { default } => before.or(Some(*default)),
            Effect::Off { .. } => None,
            Effect::Divide { .. } => before.map(|tokens| tokens / self.groups),
            Effect::RoundUp { .. } => before.map(|tokens| {
                let page = self.page.unwrap_or(1);
                tokens.div_ceil(page).saturating_mul(page)
            }),
            Effect::Align { align, env, times } => {
                let set = env.as_ref().and_then(|env| server.env_number(env)).and_then(positive);
                let align = set.unwrap_or(*align).saturating_mul(factor(times));
                // Two alignments hold together at their least common multiple.
                if align > 1 { lcm(before.unwrap_or(1), align) } else { before }
            }
            Effect::Dynamic { .. } => {
                let unit = self.page.unwrap_or(1).max(SIZER_UNIT);
                self.dynamic = chunk.and(self.prefill_limit).map(|limit| limit / unit * unit);
                let least = chunk.map(|chunk| (chunk / 4 / unit).max(1) * unit);
                say("a continued chunk, at least", chunk, least);
                say("a continued chunk, at most", chunk, self.dynamic);
                return;
            }
            Effect::Buffers { .. } => {
                let probe = chunk.map(|chunk| (chunk.saturating_mul(5)).div_ceil(4));
                say("rows of prefill buffers", chunk, probe.max(self.prefill_limit).max(chunk));
                return;
            }
            Effect::MegaMoe { .. } => {
                self.mega_moe = chunk.map(|chunk| mega_moe_tokens(chunk, self.groups, server));
                say("tokens of a rank in mega-MoE", chunk, self.mega_moe);
                return;
            }
        };
        say(rule.setting.name(), before, after);
        match rule.setting {
            Setting::Page => self.page = after,
            Setting::Chunk => {
                self.off |= before.is_some() && after.is_none();
                self.chunk = after.filter(|chunk| *chunk > 0);
            }
            Setting::Truncation => self.truncation = after,
            Setting::PrefillLimit => self.prefill_limit = after,
        }
    }

    fn get(&self, setting: Setting) -> Option<u64> {
        match setting {
            Setting::Page => self.page,
            Setting::Chunk => self.chunk,
            Setting::Truncation => self.truncation,
            Setting::PrefillLimit => self.prefill_limit,
        }
    }

    /// Each setting as given and as the scheduler has it.
    pub fn settled(&self, server: &Server) -> Vec<Settled> {
        let given = |flag: &str| server.number(flag).and_then(positive);
        let row = |setting: Setting, requested| Settled {
            what: setting.name(),
            requested,
            effective: self.get(setting),
        };
        vec![
            row(Setting::Chunk, given("--chunked-prefill-size")),
            row(Setting::Page, given("--page-size")),
            row(Setting::Truncation, None),
            row(Setting::PrefillLimit, given("--max-prefill-tokens")),
        ]
    }

    fn truncate(&mut self) {
        self.cut = self.chunk;
        if let (Some(chunk), Some(align)) = (self.chunk, self.truncation) {
            let cut = chunk / align * align;
            self.cut = Some(cut);
            if cut != chunk {
                self.changes.push(Change {
                    what: "chunk of a long prompt",
                    requested: Some(chunk),
                    effective: Some(cut),
                    why: format!("a prompt that does not fit is cut at multiples of {align}"),
                    line: "managers/schedule_policy.py".to_owned(),
                });
            }
        }
    }

    /// Rows of a pass that is full: the chunk, in which decode rows are counted; with replay the
    /// extend is cut to whole pages first.
    fn full_pass(&self, server: &Server) -> Option<u64> {
        let chunk = self.cut?;
        if !server.has("--enable-encoder-swa-bounded-replay") {
            return Some(chunk);
        }
        let page = self.page.unwrap_or(1);
        let extend = chunk.checked_sub(REPLAY_ROWS)? / page * page;
        Some(extend + REPLAY_ROWS)
    }
}

fn holds(when: &When, server: &Server, facts: &Facts<'_>) -> bool {
    let names = |flag: &str, value: &str| {
        server.flags.get(flag).is_some_and(|given| given.value.trim() == value)
    };
    let is = |text: &str| when.is.as_ref().is_none_or(|wanted| text.trim() == wanted);
    let flag = |flag: &String| server.flags.get(flag).is_some_and(|given| is(&given.value));
    let on = |name: &String| match (server.env.get(name), &when.is) {
        (Some(given), Some(_)) => is(&given.value.to_ascii_lowercase()),
        (Some(given), None) => truthy(&given.value),
        (None, _) => false,
    };
    let backend_flag = |of: &String| match of.as_str() {
        "" => "--attention-backend".to_owned(),
        of => format!("--{of}-attention-backend"),
    };
    let arch = facts.arch.or(facts.sizer.map(|sizer| sizer.arch.as_str()));
    let pipeline = server.number("--pp-size").is_some_and(|stages| stages > 1);
    (when.flags.is_empty() || when.flags.iter().any(flag))
        && when
            .backend
            .as_ref()
            .is_none_or(|backend| when.of.iter().any(|of| names(&backend_flag(of), backend)))
        && when.prefill_backend.as_ref().is_none_or(|b| backend(server) == Some(b.as_str()))
        && when.model.as_ref().is_none_or(|m| facts.model.is_some_and(|model| model.family == *m))
        && when.env.as_ref().is_none_or(on)
        && !when.not_env.as_ref().is_some_and(on)
        && (when.archs.is_empty()
            || arch.is_some_and(|a| when.archs.iter().any(|known| known == a)))
        && (!when.pipeline || pipeline)
}

/// Tokens of a rank that mega-MoE needs room for: the chunk split over context-parallel ranks, or
/// over attention groups once more, or not at all; in multiples of the ranks of a group
/// (`mega_moe_hook.validate_mega_moe_token_budget`).
fn mega_moe_tokens(chunk: u64, groups: u64, server: &Server) -> u64 {
    let number = |flag: &str| server.number(flag).and_then(positive).unwrap_or(1);
    let (tp, cp) = (number("--tp-size"), number("--attn-cp-size"));
    if server.has("--enable-prefill-cp") {
        return chunk.div_ceil(cp);
    }
    let unit = (tp / groups / cp).max(1);
    (chunk / groups).div_ceil(unit).saturating_mul(unit)
}

/// Backend of prefill attention.
pub fn backend(server: &Server) -> Option<&str> {
    let given = |flag: &str| server.flags.get(flag).map(|given| given.value.as_str());
    given("--prefill-attention-backend").or_else(|| given("--attention-backend"))
}

/// Attention groups among which the chunk is divided: `attn_dp_size`, before 0.5.22 `dp_size`, and
/// only with DP attention.
fn groups(server: &Server, release: &Release<'_>) -> u64 {
    let number = |flag: &str| server.number(flag).and_then(positive);
    let dp = number("--dp-size").filter(|_| server.has("--enable-dp-attention"));
    let attention =
        number("--attn-dp-size").filter(|_| release.flag("--attn-dp-size") == Some(true));
    attention.filter(|groups| *groups > 1).or(dp).unwrap_or(1)
}

fn positive(value: i64) -> Option<u64> {
    u64::try_from(value).ok().filter(|value| *value > 0)
}

/// As SGLang reads a switch.
pub fn truthy(value: &str) -> bool {
    matches!(value.trim().to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "y" | "on" | "t")
}
