//! What a version of SGLang makes of chunk and page: every change on the way from the flag to the
//! scheduler, in order.

use serde::Serialize;

use super::Facts;
use super::inputs::Server;
use crate::sglang::Release;

/// Rows that the bounded replay of DeepSeek V4.1's encoder adds to the first chunk of a cache hit
/// (SGLang 0.5.23, `validate_deepseek_v41_encoder_replay_budget`).
pub const REPLAY_ROWS: u64 = 128;

/// One change of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Setting.
    pub what: &'static str,
    /// Before.
    pub requested: u64,
    /// After.
    pub effective: u64,
    /// Why.
    pub why: String,
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
    /// KV page, tokens; none where it is not given.
    pub page: Option<u64>,
    /// Chunks are cut at multiples of this.
    pub truncation: Option<u64>,
    /// Attention groups that share the flag.
    pub groups: u64,
    /// Rows of a full pass.
    pub rows: Option<u64>,
    /// What changed.
    pub changes: Vec<Change>,
}

impl Effective {
    /// Follows the settings through the version.
    pub fn of(server: &Server, release: &Release<'_>, facts: &Facts<'_>) -> Self {
        let mut effective = Self { groups: groups(server, release), ..Self::default() };
        effective.page(server, release);
        effective.chunk(server);
        effective.truncate(server, release, facts);
        effective.rows = effective.full_pass(server);
        effective
    }

    fn change(&mut self, what: &'static str, requested: u64, effective: u64, why: String) {
        if requested != effective {
            self.changes.push(Change { what, requested, effective, why });
        }
    }

    fn page(&mut self, server: &Server, release: &Release<'_>) {
        let Some(page) = server.number("--page-size").and_then(positive) else { return };
        let backend = backend(server).filter(|_| !server.resolved);
        let after = backend.map_or(page, |backend| release.page(backend, page));
        let why = format!("the {} backend has pages of its own", backend.unwrap_or_default());
        self.change("page", page, after, why);
        self.page = Some(after);
    }

    fn chunk(&mut self, server: &Server) {
        let Some(flag) = server.number("--chunked-prefill-size") else { return };
        let Some(chunk) = positive(flag) else {
            self.off = true;
            return;
        };
        let groups = if server.resolved { 1 } else { self.groups };
        let share = chunk / groups;
        let why = format!("divided by {groups} attention groups");
        self.change("chunk", chunk, share, why);
        self.chunk = Some(share);
    }

    fn truncate(&mut self, server: &Server, release: &Release<'_>, facts: &Facts<'_>) {
        let deterministic = || {
            if !server.has("--enable-deterministic-inference") {
                return None;
            }
            let rule = release.truncation(backend(server)?)?;
            let set = server.env_number(&rule.env).and_then(positive);
            Some(set.unwrap_or(rule.default))
        };
        // Two alignments hold together at their least common multiple.
        self.truncation = match (facts.truncation.filter(|n| *n > 0), deterministic()) {
            (Some(a), Some(b)) => a.checked_div(gcd(a, b)).and_then(|part| part.checked_mul(b)),
            (a, b) => a.or(b),
        };
        self.cut = self.chunk;
        if let (Some(chunk), Some(align)) = (self.chunk, self.truncation) {
            let cut = chunk / align * align;
            let why = format!("a prompt that does not fit is cut at multiples of {align}");
            self.change("chunk of a long prompt", chunk, cut, why);
            self.cut = Some(cut);
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

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
