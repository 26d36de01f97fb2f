//! Two profiles side by side: what a ragged M costs per kernel, memory, BUDGET and schedules.
//!
//! In go two profiles with what was derived from them under the same limits; out comes a
//! [`Comparison`], as text, JSON or a plot.

mod text;

use serde::Serialize;

use super::plot::{self, Gain};
use crate::derive::Derived;
use crate::fit::alignment::{AlignmentFit, Pair, RAGGED_WRAP};
use crate::profile::{Engine, Op, Profile, Provenance};
use crate::validate;

/// Schema of `tune compare --json`.
pub const SCHEMA: &str = "chunktune/compare/v1";

/// Variant that keeps its bounds in the buffer resource.
const RAGGED_BUFFER: &str = "ragged_buffer";

/// Memory of one path on one side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathMemory {
    /// Path.
    pub path: String,
    /// Model.
    pub formula: String,
    /// Bytes per (row, key); 0 where memory is bounded.
    pub c: f64,
    /// Pool, bytes.
    pub pool_bytes: Option<f64>,
}

/// How far off simulated times of an operation are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeError {
    /// Operation.
    pub op: Op,
    /// Input element type.
    pub dtype: String,
    /// Median error on the nearest validated family of published kernels; none where too few are
    /// published.
    pub median: Option<f64>,
}

/// One of the two profiles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// Short name: architecture, or the model where the architectures are the same.
    pub name: String,
    /// Provenance line.
    pub headline: String,
    /// Model and how it is divided among ranks.
    pub model: String,
    /// How far off its times are, by operation and type; empty where they were measured.
    pub times_off_by: Vec<TimeError>,
    /// Hash of the profile.
    pub profile_sha256: String,
    /// Memory per path.
    pub memory: Vec<PathMemory>,
    /// Path that decides; none without a plan.
    pub memory_path: Option<String>,
    /// `c` that the plan uses, bytes.
    pub c_95: Option<f64>,
    /// BUDGET at the most likely `c`, token^2.
    pub budget_point: Option<u64>,
    /// BUDGET at the bound, token^2.
    pub budget_95: Option<u64>,
    /// Largest prefix served, tokens.
    pub max_context: Option<u64>,
    /// `(prefix_from, chunk)`.
    pub table: Vec<(u64, u64)>,
}

/// One kernel, shape and tile on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GainRow {
    /// Kernel id without its variant.
    pub kernel: String,
    /// Shape.
    pub shape: String,
    /// Tile.
    pub tile: String,
    /// Input element type.
    pub dtype: String,
    /// Batch, columns and depth.
    pub dims: [Option<u64>; 3],
    /// Ragged variant.
    pub variant: String,
    /// Whether the serving engine runs this kernel.
    pub deployed: bool,
    /// The pair of each side.
    pub sides: [Option<Pair>; 2],
}

/// The comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// `SCHEMA`.
    pub schema: &'static str,
    /// Both profiles.
    pub sides: [Side; 2],
    /// What differs beside what is compared, or that nothing can.
    pub remarks: Vec<String>,
    /// Gains, by kernel, shape, tile and variant.
    pub gains: Vec<GainRow>,
}

fn side(profile: &Profile, derived: &Derived, name: String) -> Side {
    let plan = derived.plan.as_ref().ok();
    Side {
        name,
        headline: profile.provenance().headline(),
        model: model(profile),
        times_off_by: times_off_by(profile, derived),
        profile_sha256: profile.sha256().to_owned(),
        memory: derived
            .fit
            .memory
            .iter()
            .map(|m| PathMemory {
                path: m.path.clone(),
                formula: m.formula.clone(),
                c: m.c.point,
                pool_bytes: m.pool_bytes,
            })
            .collect(),
        memory_path: plan.map(|p| p.memory_path.clone()),
        c_95: plan.map(|p| p.budget.c_95),
        budget_point: plan.and_then(|p| p.budget.budget_point),
        budget_95: plan.and_then(|p| p.budget.budget_95),
        max_context: plan.map(|p| p.schedule.max_context),
        table: plan.map(|p| p.schedule.table.clone()).unwrap_or_default(),
    }
}

fn model(profile: &Profile) -> String {
    let Provenance { model, tp, dp, cp, .. } = profile.provenance();
    format!("{model}, tp {tp}, dp {dp}, cp {cp}")
}

fn times_off_by(profile: &Profile, derived: &Derived) -> Vec<TimeError> {
    let provenance = profile.provenance();
    let mut errors: Vec<TimeError> = Vec::new();
    for fit in &derived.fit.alignment {
        let known = errors.iter().any(|e| (e.op, &e.dtype) == (fit.op, &fit.dtype));
        if provenance.engine == Engine::Simulated && !known {
            let median = validate::nearest(&provenance.arch, fit.op.name(), &fit.dtype).median();
            errors.push(TimeError { op: fit.op, dtype: fit.dtype.clone(), median });
        }
    }
    errors
}

/// What a reader of the differences must know, one line each.
fn remarks(a: &Profile, b: &Profile) -> Vec<String> {
    if a.sha256() == b.sha256() {
        return vec!["A and B are the same profile: nothing can differ.".to_owned()];
    }
    let mut out = Vec::new();
    if model(a) != model(b) {
        out.push(
            "The models are not the same or are divided otherwise: shapes, memory and chunks differ \
             for that too."
                .to_owned(),
        );
    }
    let (a, b) = (a.provenance(), b.provenance());
    if a.arch == b.arch {
        if a.simulator.is_some() && b.simulator.is_some() && a.simulator != b.simulator {
            out.push(
                "The simulator was another or had other hardware parameters: times differ for that \
                 too."
                    .to_owned(),
            );
        }
        let both = |id: &String| b.kernels.get(id).zip(a.kernels.get(id));
        let changed = a.kernels.keys().filter(|id| both(id).is_some_and(|(x, y)| x != y)).count();
        if changed > 0 {
            out.push(format!("{changed} kernels of the same name have other code in A than in B."));
        }
    }
    out
}

/// Names that tell the two apart, from what differs first.
fn names(a: &Profile, b: &Profile) -> [String; 2] {
    let (a, b) = (a.provenance(), b.provenance());
    let both = |x: &str, y: &str| [x.to_owned(), y.to_owned()];
    if a.arch != b.arch {
        both(&a.arch, &b.arch)
    } else if a.engine != b.engine {
        [format!("{} {}", a.arch, a.engine), format!("{} {}", b.arch, b.engine)]
    } else if a.model != b.model {
        [format!("{} {}", a.arch, a.model), format!("{} {}", b.arch, b.model)]
    } else {
        [format!("{} A", a.arch), format!("{} B", b.arch)]
    }
}

/// What is the same kernel on both sides. Depth of the tile differs between architectures.
fn same(a: &AlignmentFit, b: &AlignmentFit) -> bool {
    let key = |f: &AlignmentFit| {
        (f.op, f.kernel.clone(), f.shape.clone(), f.dtype.clone(), [f.b, f.n, f.k], f.tile())
    };
    key(a) == key(b) && a.deployed == b.deployed
}

/// Compares two profiles.
pub fn compare(a: (&Profile, &Derived), b: (&Profile, &Derived)) -> Comparison {
    let [name_a, name_b] = names(a.0, b.0);
    let (fits_a, fits_b) = (&a.1.fit.alignment, &b.1.fit.alignment);
    let mut matched: Vec<(Option<&AlignmentFit>, Option<&AlignmentFit>)> =
        fits_a.iter().map(|f| (Some(f), fits_b.iter().find(|g| same(f, g)))).collect();
    let alone = fits_b.iter().filter(|g| !fits_a.iter().any(|f| same(f, g)));
    matched.extend(alone.map(|g| (None, Some(g))));
    let mut gains = Vec::new();
    for (fit_a, fit_b) in matched {
        let Some(fit) = fit_a.or(fit_b) else { continue };
        for variant in [RAGGED_WRAP, RAGGED_BUFFER] {
            let pair = |f: Option<&AlignmentFit>| Some(f?.variant(variant)?.at);
            let sides = [pair(fit_a), pair(fit_b)];
            if sides.iter().any(Option::is_some) {
                gains.push(GainRow {
                    kernel: fit.kernel.clone(),
                    shape: fit.shape.clone(),
                    tile: fit.tile(),
                    dtype: fit.dtype.clone(),
                    dims: [fit.b, fit.n, fit.k],
                    variant: variant.to_owned(),
                    deployed: fit.deployed,
                    sides,
                });
            }
        }
    }
    let remarks = remarks(a.0, b.0);
    let sides = [side(a.0, a.1, name_a), side(b.0, b.1, name_b)];
    Comparison { schema: SCHEMA, sides, remarks, gains }
}

impl Comparison {
    /// The gains as a plot.
    ///
    /// # Errors
    /// The drawing backend's words.
    pub fn svg(&self) -> Result<String, String> {
        let mut rows: Vec<Gain> = Vec::new();
        for gain in &self.gains {
            let deployed = if gain.deployed { ", deployed" } else { "" };
            let label = format!(
                "{} {} {} {}{deployed}",
                op_name(&gain.kernel),
                gain.shape,
                gain.dtype,
                gain.tile
            );
            let values = [0, 1].map(|i| gain.sides[i].map(|pair| pair.gain));
            let row = match rows.iter_mut().find(|row| row.label == label) {
                Some(row) => row,
                None => {
                    rows.push(Gain { label, wrap: [None; 2], buffer: [None; 2] });
                    match rows.last_mut() {
                        Some(row) => row,
                        None => continue,
                    }
                }
            };
            if gain.variant == RAGGED_WRAP { row.wrap = values } else { row.buffer = values }
        }
        let [a, b] = &self.sides;
        let foot = format!("A: {}  \u{b7}  B: {}", a.headline, b.headline);
        plot::gains(&rows, [&a.name, &b.name], &foot)
    }
}

/// Kernel family of an id such as `absorb_bmm_64x256`.
fn op_name(kernel: &str) -> &str {
    let tile = kernel.rfind('_').filter(|at| kernel[at + 1..].contains('x'));
    tile.map_or(kernel, |at| &kernel[..at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::{Options, derive};
    use crate::model::Layout;
    use crate::options::ServerLimits;
    use crate::options::testing::limits;
    use crate::plan::Request;
    use crate::profile::testing::{Truth, points, provenance};

    fn derived(arch: &str, gain: f64) -> (Profile, Derived) {
        let truth = Truth { gain, ..Truth::default() };
        let profile = Profile::new(points(truth), provenance(arch, arch)).unwrap();
        let request = Request {
            limits: ServerLimits { free_bytes: None, ..limits() },
            device_free: None,
            layout: Layout { tp: 4, dp: 1, cp: 1 },
            context_length: None,
            memory_path: None,
        };
        let derived = derive(&profile, &Options::new(request));
        (profile, derived)
    }

    #[test]
    fn both_gains_budgets_and_schedules_stand_side_by_side() {
        let (a, b) = (derived("gfx950", 2.0), derived("gfx942", 1.4));
        let comparison = compare((&a.0, &a.1), (&b.0, &b.1));
        let wrap = &comparison.gains[0];
        assert_eq!((wrap.variant.as_str(), wrap.deployed), ("ragged_wrap", false));
        let gain = |i: usize| wrap.sides[i].unwrap().gain;
        assert!((gain(0) / gain(1) - 2.0 / 1.4).abs() < 1e-9);
        let text = comparison.text();
        for words in
            ["gfx950 M", "gfx942 M", "deployed", "BUDGET 95%", "max_context", "ragged_buffer"]
        {
            assert!(text.contains(words), "{words}\n{text}");
        }
        let json = serde_json::to_value(&comparison).unwrap();
        assert_eq!(json["sides"][1]["name"], "gfx942");
        assert!(comparison.svg().unwrap().contains("absorb_bmm w_kc bf16 64x256"));
    }

    #[test]
    fn what_differs_beside_the_times_is_said() {
        let profile = |change: fn(&mut Provenance)| {
            let mut provenance = provenance("gfx950", "gfx950");
            provenance.kernels = [("gemm".to_owned(), "aa".to_owned())].into();
            change(&mut provenance);
            Profile::new(points(Truth::default()), provenance).unwrap()
        };
        let plain = profile(|_| ());
        let said = |change: fn(&mut Provenance)| remarks(&plain, &profile(change)).join("\n");
        assert!(said(|_| ()).contains("the same profile"));
        assert!(said(|p| p.tp = 8).contains("divided otherwise"));
        let simulator = said(|p| {
            p.tp = 8;
            p.simulator = None;
        });
        assert!(!simulator.contains("simulator"), "{simulator}");
        // The table is the same then, and with it the hash: two runs of one table are not compared.
        let other = |p: &mut Provenance| {
            p.tp = 8;
            p.kernels.insert("gemm".to_owned(), "bb".to_owned());
            p.simulator.as_mut().unwrap().parameters_sha256 = "ef".repeat(32);
        };
        let found = said(other);
        assert!(found.contains("other hardware parameters"), "{found}");
        assert!(found.contains("1 kernels of the same name have other code"), "{found}");
    }

    #[test]
    fn a_kernel_on_one_side_only_is_shown_with_a_gap() {
        let (a, b) = (derived("gfx950", 2.0), derived("gfx942", 1.4));
        let none = Derived {
            fit: crate::fit::Fit { alignment: Vec::new(), ..b.1.fit.clone() },
            ..b.1.clone()
        };
        let comparison = compare((&b.0, &none), (&a.0, &a.1));
        assert!(comparison.gains.iter().all(|g| g.sides[0].is_none() && g.sides[1].is_some()));
        let same = compare((&a.0, &a.1), (&a.0, &a.1));
        assert_eq!(same.sides[1].name, "gfx950 B");
    }
}
