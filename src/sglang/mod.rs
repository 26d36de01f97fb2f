//! What a version of SGLang reads: its variables, flags, alignments and abilities, from one data
//! file made from the wheels. A version goes in; what it has and how it changes what it is told
//! comes out.

mod rules;

use std::fmt;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;

use serde::Deserialize;

pub use rules::{Effect, ModelKind, Rule, Rules, Setting, Stage, When};

/// The data file.
const TABLE: &str = include_str!("table.toml");
const SCHEMA: &str = "chunktune/sglang/v1";

/// A release such as 0.5.23; `.postN` counts as the release, development builds by their base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version([u32; 3]);

/// Not a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an SGLang version such as 0.5.23")]
pub struct NotAVersion(String);

impl FromStr for Version {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || NotAVersion(crate::text::quoted(text));
        let bare = text.trim().trim_start_matches('v');
        let release = bare.split(['+', '-']).next().unwrap_or(bare);
        let mut parts = release.split('.');
        let number = |part: Option<&str>| {
            let digits = part?.split("rc").next()?;
            digits.parse::<u32>().ok()
        };
        let version = [number(parts.next()), number(parts.next()), number(parts.next())];
        match version {
            [Some(major), Some(minor), Some(patch)] => Ok(Self([major, minor, patch])),
            _ => Err(refuse()),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// The version that Python finds here; none without Python or SGLang.
pub fn installed() -> Option<Version> {
    let python = std::env::var_os("CHUNKTUNE_PYTHON").unwrap_or_else(|| "python3".into());
    let ask = "import importlib.metadata as m; print(m.version('sglang'))";
    let output = Command::new(python).args(["-c", ask]).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// First and last version that has something.
#[derive(Clone, Debug, Deserialize)]
pub struct Range {
    since: String,
    until: Option<String>,
}

/// A variable of the environment.
#[derive(Clone, Debug, Deserialize)]
pub struct Env {
    /// Name.
    pub name: String,
    /// Where it has an effect; empty means everywhere.
    #[serde(default)]
    pub archs: Vec<String>,
    /// What it does.
    pub what: String,
    #[serde(flatten)]
    range: Range,
}

/// A launch flag.
#[derive(Clone, Debug, Deserialize)]
pub struct Flag {
    /// Name with its dashes.
    pub name: String,
    #[serde(flatten)]
    range: Range,
}

#[derive(Clone, Debug, Deserialize)]
struct Feature {
    name: String,
    #[serde(flatten)]
    range: Range,
}

/// The whole table.
#[derive(Clone, Debug, Deserialize)]
pub struct Table {
    schema: String,
    read: Vec<String>,
    env: Vec<Env>,
    flag: Vec<Flag>,
    feature: Vec<Feature>,
    #[serde(skip)]
    rules: Rules,
}

/// What one version has.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    table: &'a Table,
    /// The version.
    pub version: Version,
}

impl Range {
    fn holds(&self, version: Version) -> bool {
        let at = |text: &str| text.parse::<Version>().ok();
        at(&self.since).is_some_and(|since| since <= version)
            && self.until.as_deref().and_then(at).is_none_or(|until| version <= until)
    }

    /// The range in words.
    pub fn words(&self) -> String {
        match &self.until {
            Some(until) => format!("{} to {until}", self.since),
            None => format!("{} and later", self.since),
        }
    }
}

impl Table {
    /// The table of this build.
    ///
    /// # Errors
    /// When the data file is not one of its schema.
    pub fn load() -> Result<Self, String> {
        let table: Self = toml::from_str(TABLE).map_err(|error| error.to_string())?;
        if table.schema != SCHEMA {
            return Err(format!("schema {}", table.schema));
        }
        Ok(Self { rules: Rules::load()?, ..table })
    }

    /// The newest version whose wheel was read.
    pub fn newest(&self) -> Option<Version> {
        self.read.iter().filter_map(|text| text.parse().ok()).max()
    }

    /// What is known of a model by its name, its folder or its `config.json`.
    pub fn model_kind(&self, name: &str) -> Option<ModelKind> {
        let path = Path::new(name);
        let own = path.extension().is_some_and(|extension| extension == "json");
        let path = if own { path.to_owned() } else { path.join("config.json") };
        self.rules.kind(name, std::fs::read_to_string(path).ok().as_deref())
    }

    /// What `version` has.
    pub fn release(&self, version: Version) -> Release<'_> {
        Release { table: self, version }
    }
}

impl<'a> Release<'a> {
    /// Whether the version lies between the oldest and the newest wheel that were read.
    pub fn is_known(&self) -> bool {
        let mut read = self.table.read.iter().filter_map(|text| text.parse::<Version>().ok());
        let oldest = read.clone().min();
        oldest.is_some_and(|oldest| oldest <= self.version)
            && read.any(|version| version >= self.version)
    }

    /// Whether the version is older than every wheel that was read: what it lacks is not known.
    pub fn is_older(&self) -> bool {
        let mut read = self.table.read.iter().filter_map(|text| text.parse::<Version>().ok());
        read.all(|version| version > self.version)
    }

    /// The variable of that name, with whether this version reads it; none for one that is not in
    /// the table.
    pub fn env(&self, name: &str) -> Option<(&'a Env, bool)> {
        let env = self.table.env.iter().find(|env| env.name == name)?;
        Some((env, env.range.holds(self.version)))
    }

    /// The versions that read a variable or flag, in words.
    pub fn range(&self, name: &str) -> Option<String> {
        let env = self.table.env.iter().find(|env| env.name == name).map(|env| &env.range);
        let flag = || self.table.flag.iter().find(|flag| flag.name == name).map(|f| &f.range);
        env.or_else(flag).map(Range::words)
    }

    /// Whether this version has the flag; none for one that is not in the table.
    pub fn flag(&self, name: &str) -> Option<bool> {
        let flag = self.table.flag.iter().find(|flag| flag.name == name)?;
        Some(flag.range.holds(self.version))
    }

    /// Variables and flags of the table, whether this version has them or not.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let env = self.table.env.iter().map(|env| env.name.as_str());
        env.chain(self.table.flag.iter().map(|flag| flag.name.as_str()))
    }

    /// How this version changes settings, in order, each rule with file and line.
    pub fn rules(&self) -> impl Iterator<Item = (&'a Rule, &'a str)> + use<'a> {
        self.table.rules.of(self.version)
    }

    /// The page that this version gives a model whatever is asked for; none where it may be chosen.
    pub fn page_of(&self, model: &str) -> Option<u64> {
        self.table.rules.page_of(self.version, &self.table.model_kind(model)?)
    }

    /// Whether this version has an ability.
    pub fn has(&self, feature: &str) -> bool {
        let mut all = self.table.feature.iter();
        all.any(|entry| entry.name == feature && entry.range.holds(self.version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn versions_order_by_number_and_take_the_spellings_of_pip() {
        assert!(version("0.5.9") < version("0.5.23"));
        assert_eq!(version("v0.5.15.post1"), version("0.5.15"));
        assert_eq!(version("0.5.23+gabc"), version("0.5.23"));
        assert_eq!(version("0.5.6rc1").to_string(), "0.5.6");
        for text in ["", "0.5", "latest", "0.x.1", "99999999999.1.1"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_table_is_whole_and_every_version_in_it_is_one() {
        let table = Table::load().unwrap();
        assert_eq!(table.newest(), Some(version("0.5.23")));
        let ranges = table.env.iter().map(|e| &e.range).chain(table.flag.iter().map(|f| &f.range));
        for range in ranges {
            let since = version(&range.since);
            assert!(table.read.contains(&range.since), "{}", range.since);
            assert!(range.until.as_deref().is_none_or(|until| version(until) >= since));
        }
    }

    /// By the wheels: exact fill came with 0.5.20.
    #[test]
    fn ranges_are_inclusive_at_both_ends() {
        let table = Table::load().unwrap();
        let release = |text: &str| table.release(version(text));
        let reads = |text: &str, name: &str| release(text).env(name).unwrap().1;
        assert!(!reads("0.5.19", "SGLANG_EXACT_CHUNK_FILL"));
        assert!(reads("0.5.20", "SGLANG_EXACT_CHUNK_FILL"));
        assert!(reads("0.6.0", "SGLANG_EXACT_CHUNK_FILL"));
        assert_eq!(release("0.5.23").flag("--attn-dp-size"), Some(true));
        assert_eq!(release("0.5.9").flag("--attn-dp-size"), Some(false));
        assert_eq!(release("0.5.9").flag("--frobnicate"), None);
        assert!(!release("0.5.10").has("plugins") && release("0.5.12").has("plugins"));
        assert!(release("0.5.7").is_known() && !release("0.5.2").is_known());
        assert!(!release("0.5.24").is_known());
    }
}
