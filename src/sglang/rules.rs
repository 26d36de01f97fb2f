//! How each SGLang version changes chunk, page, truncation alignment and prefill limit on their way
//! from the flags to the scheduler: one data file made from the wheels. A version goes in; its rules
//! come out in the order in which they apply.

use serde::Deserialize;

use super::Version;

/// The data file.
const RULES: &str = include_str!("rules.toml");
const SCHEMA: &str = "chunktune/sglang-rules/v1";

/// All rules.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    schema: String,
    read: Vec<String>,
    model: Vec<Family>,
    rule: Vec<Rule>,
}

/// Models that SGLang treats alike.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    family: String,
    /// Beginnings of names.
    names: Vec<String>,
    /// Architectures of `config.json`.
    architectures: Vec<String>,
    /// Field of `config.json` that must be there too.
    field: Option<String>,
}

/// A model as far as the rules ask for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelKind {
    /// Family, as rules name it.
    pub family: String,
    /// Positions that share an indexer key (`index_kpool`), 1 where they share none.
    pub index_kpool: u64,
}

/// What a rule changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// `--page-size`.
    Page,
    /// `--chunked-prefill-size`.
    Chunk,
    /// Multiple at which cut prompts end.
    Truncation,
    /// `--max-prefill-tokens`.
    PrefillLimit,
}

impl Setting {
    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Chunk => "chunk",
            Self::Truncation => "truncation alignment",
            Self::PrefillLimit => "max prefill tokens",
        }
    }
}

/// When a rule applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Before the server reports its arguments.
    #[default]
    Arguments,
    /// After that.
    Scheduler,
}

/// What becomes of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Effect {
    /// This, unless one of `keep` was asked for.
    Set {
        /// Value.
        set: u64,
        /// Values that are left alone.
        #[serde(default)]
        keep: Vec<u64>,
        /// Field of the model's configuration that multiplies it.
        times: Option<String>,
    },
    /// This where nothing was given.
    Default {
        /// Value.
        default: u64,
    },
    /// Switched off.
    Off {
        /// Always true.
        off: bool,
    },
    /// Divided among the attention groups.
    Divide {
        /// What by.
        divide: String,
    },
    /// Rounded up to whole pages.
    RoundUp {
        /// Multiple of what.
        round_up: String,
    },
    /// Ends of cut prompts are multiples of this.
    Align {
        /// Tokens where no variable says otherwise.
        align: u64,
        /// Variable.
        env: Option<String>,
        /// Field of the model's configuration that multiplies it.
        times: Option<String>,
    },
    /// SGLang's own sizer.
    Dynamic {
        /// Always true.
        dynamic: bool,
    },
    /// Buffers for the largest chunk of that sizer.
    Buffers {
        /// Always true.
        buffers: bool,
    },
    /// Tokens that a rank dispatches at once.
    MegaMoe {
        /// Always true.
        mega_moe: bool,
    },
}

/// All of it must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// One of these flags is given.
    pub flags: Vec<String>,
    /// With this value, or the variable has it.
    pub is: Option<String>,
    /// One of the flags `--<of>-attention-backend` names it.
    pub backend: Option<String>,
    /// Which of those flags; empty for the plain one.
    pub of: Vec<String>,
    /// The backend of prefills, which is the plain one where no other is given.
    pub prefill_backend: Option<String>,
    /// Family of the model.
    pub model: Option<String>,
    /// A variable that is on.
    pub env: Option<String>,
    /// A variable that is not on.
    pub not_env: Option<String>,
    /// Targets.
    pub archs: Vec<String>,
    /// Several pipeline stages.
    pub pipeline: bool,
}

/// One change.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Of what.
    pub setting: Setting,
    /// Where on the way.
    #[serde(default)]
    pub stage: Stage,
    /// To what.
    pub effect: Effect,
    /// If what.
    #[serde(default)]
    pub when: When,
    /// What else decides that no flag or variable shows; such a rule is listed, not applied.
    pub unseen: Option<String>,
    /// Why SGLang does it.
    pub why: String,
    /// Last version with the rule, where that lies between two wheels.
    until: Option<String>,
    /// File and line below `sglang/srt`, by wheel.
    lines: std::collections::BTreeMap<String, String>,
}

impl Rules {
    /// The rules of this build.
    ///
    /// # Errors
    /// When the data file is not one of its schema.
    pub fn load() -> Result<Self, String> {
        let rules: Self = toml::from_str(RULES).map_err(|error| error.to_string())?;
        if rules.schema == SCHEMA { Ok(rules) } else { Err(format!("schema {}", rules.schema)) }
    }

    /// The rules of a version in the order in which they apply, each with its file and line.
    pub fn of(&self, version: Version) -> impl Iterator<Item = (&Rule, &str)> {
        let wheel = self.wheel(version);
        self.rule.iter().filter_map(move |rule| {
            let until = rule.until.as_deref().and_then(|text| text.parse::<Version>().ok());
            let line = rule.lines.get(wheel)?;
            until.is_none_or(|until| version <= until).then_some((rule, line.as_str()))
        })
    }

    /// The wheel that a version counts as.
    fn wheel(&self, version: Version) -> &str {
        let known = |text: &&String| text.parse::<Version>().is_ok_and(|read| read <= version);
        let wheel = self.read.iter().rev().find(known).or(self.read.first());
        wheel.map_or("", String::as_str)
    }

    /// What a name of a model, or the text of its `config.json`, says of it.
    pub fn kind(&self, name: &str, config: Option<&str>) -> Option<ModelKind> {
        let config: serde_json::Value =
            config.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let base = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
        let architecture = config["architectures"][0].as_str();
        let is = |family: &&Family| match architecture {
            Some(found) => {
                family.architectures.iter().any(|known| known == found)
                    && family.field.as_ref().is_none_or(|field| !config[field].is_null())
            }
            None => family.names.iter().any(|known| base.starts_with(known)),
        };
        let family = self.model.iter().find(is)?.family.clone();
        let index_kpool = config["index_kpool"].as_u64().unwrap_or(1).max(1);
        Some(ModelKind { family, index_kpool })
    }

    /// The page that a version gives a model whatever is asked for; none where it may be chosen.
    pub fn page_of(&self, version: Version, model: &ModelKind) -> Option<u64> {
        let forced = |(rule, _): (&Rule, &str)| match &rule.effect {
            Effect::Set { set, times, .. }
                if rule.setting == Setting::Page
                    && rule.unseen.is_none()
                    && rule.when.env.is_none()
                    && rule.when.model.as_ref() == Some(&model.family) =>
            {
                Some(set.saturating_mul(if times.is_some() { model.index_kpool } else { 1 }))
            }
            _ => None,
        };
        self.of(version).find_map(forced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn a_version_has_the_rules_of_the_wheel_before_it() {
        let rules = Rules::load().unwrap();
        let sharding = |text: &str| {
            let round = |(rule, _): (&Rule, &str)| matches!(rule.effect, Effect::RoundUp { .. });
            rules.of(version(text)).any(round)
        };
        assert!(sharding("0.5.23") && sharding("0.6.1"));
        assert!(!sharding("0.5.22") && !sharding("0.5.10") && !sharding("0.5.3"));
        let backends = |text: &str| -> Vec<&str> {
            rules.of(version(text)).filter_map(|(rule, _)| rule.when.backend.as_deref()).collect()
        };
        // cutlass_mla went with 0.5.20, between the wheels.
        assert!(backends("0.5.19").contains(&"cutlass_mla"));
        assert!(!backends("0.5.20").contains(&"cutlass_mla"));
        assert!(backends("0.5.20").contains(&"flashmla"));
    }

    #[test]
    fn models_go_by_name_or_by_their_configuration() {
        let rules = Rules::load().unwrap();
        let family = |name: &str, config| rules.kind(name, config).map(|kind| kind.family);
        assert_eq!(family("zai-org/GLM-5.2-FP8", None).as_deref(), Some("dsa"));
        assert_eq!(family("deepseek-ai/DeepSeek-V4-Pro", None).as_deref(), Some("deepseek_v4"));
        assert_eq!(family("deepseek-ai/DeepSeek-R1", None), None);
        let plain = r#"{"architectures": ["DeepseekV3ForCausalLM"]}"#;
        assert_eq!(family("glm-5.2", Some(plain)), None);
        let sparse = r#"{"architectures": ["GlmMoeDsaForCausalLM"], "index_topk": 2048,
            "index_kpool": 4}"#;
        let kind = rules.kind("/models/x", Some(sparse)).unwrap();
        assert_eq!((kind.family.as_str(), kind.index_kpool), ("dsa", 4));
        // 64 positions a key page, four of them a pooled key.
        assert_eq!(rules.page_of(version("0.5.23"), &kind), Some(256));
        assert_eq!(rules.page_of(version("0.5.10"), &kind), Some(1));
    }
}
