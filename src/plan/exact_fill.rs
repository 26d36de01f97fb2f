//! Whether a chunk should be filled exactly, and in which unit.
//!
//! In go the alignment fits; out come the tile that decides, the gain of an aligned length with
//! its interval, and whether SGLang's exact fill should be on. Only deployed kernels decide;
//! bundled ones show the mechanism.

use serde::{Deserialize, Serialize};

use crate::fit::alignment::{AlignmentFit, Pair};
use crate::profile::Op;

/// A gain below this (lower end of the interval) is not worth a setting. Padding to multiples of 4
/// was reported at 1.02 on a device that does not need it and at 1.12 to 1.26 on one that does
/// (vllm-project/vllm#30524).
pub const WORTH: f64 = 1.025;

/// The decision on exact fill, as `sizer.json` carries it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExactFill {
    /// Whether to run batches at exactly the chunk length.
    pub enabled: bool,
    /// Whether SGLang must be overruled: its own switch works on gfx95 only.
    pub force: bool,
    /// Tile rows that decide; 0 without a measured kernel.
    pub block_m: u64,
    /// Time per row of a ragged length over an aligned one.
    pub gain: f64,
    /// Lower end of the 95% interval.
    pub lo: f64,
    /// Upper end of the 95% interval.
    pub hi: f64,
    /// Whether deployed kernels decided.
    pub deployed: bool,
}

/// The decision with its reason and the kernels behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlignmentDecision {
    /// For the sizer.
    pub exact_fill: ExactFill,
    /// The least gain among its kernels; `exact_fill.gain` weighs them by their time.
    pub least_gain: f64,
    /// Kernel, tile and shape of each member of the decision.
    pub kernels: Vec<String>,
    /// Why, in words.
    pub reason: String,
}

/// Decides from the fits; deployed kernels first, absorb before plain GEMM.
pub fn decide(fits: &[AlignmentFit], arch: &str) -> AlignmentDecision {
    let chosen = choose(fits);
    let pairs: Vec<(&AlignmentFit, Pair)> =
        chosen.iter().filter_map(|f| Some((*f, f.ragged()?.at))).collect();
    let Some((largest, _)) = pairs.iter().max_by(|a, b| a.1.time_us.total_cmp(&b.1.time_us)) else {
        return AlignmentDecision {
            exact_fill: ExactFill {
                enabled: false,
                force: false,
                block_m: 0,
                gain: 1.0,
                lo: 1.0,
                hi: 1.0,
                deployed: false,
            },
            least_gain: 1.0,
            kernels: Vec::new(),
            reason: "no kernel was measured both aligned and ragged".to_owned(),
        };
    };
    // Each kernel counts by the time of an aligned row, as its share of prefill time.
    let weight = |p: &Pair| p.even_time_us / p.even_m as f64;
    let total: f64 = pairs.iter().map(|(_, p)| weight(p)).sum();
    let mean = |value: fn(&Pair) -> f64| {
        pairs.iter().map(|(_, p)| weight(p) * value(p)).sum::<f64>() / total
    };
    let least_gain = pairs.iter().map(|(_, p)| p.gain).fold(f64::INFINITY, f64::min);
    let (gain, lo, hi) = (mean(|p| p.gain), mean(|p| p.lo), mean(|p| p.hi));
    let deployed = largest.deployed;
    let pays = lo > WORTH;
    let enabled = deployed && pays;
    let reason = match (deployed, pays) {
        (true, true) => "deployed kernels run faster at aligned lengths".to_owned(),
        (true, false) => "deployed kernels gain nothing from aligned lengths".to_owned(),
        (false, true) => "bundled kernels show the mechanism; whether it pays is decided on the \
                          deployed kernels, which were not measured"
            .to_owned(),
        (false, false) => "bundled kernels gain nothing from aligned lengths; the deployed \
                           kernels were not measured"
            .to_owned(),
    };
    // One figure for several kernels has to say how it came about.
    let reason = match pairs.len() {
        1 => reason,
        count => format!(
            "{reason}; the gain is the mean of {count} kernels and shapes, each weighed by the time \
             of its aligned row (least {least_gain:.3})"
        ),
    };
    AlignmentDecision {
        exact_fill: ExactFill {
            enabled,
            force: enabled && !arch.starts_with("gfx95"),
            block_m: u64::from(largest.block_m),
            gain,
            lo,
            hi,
            deployed,
        },
        least_gain,
        kernels: pairs
            .iter()
            .map(|(f, _)| format!("{} {} at tile {}", f.kernel, f.shape, f.tile()))
            .collect(),
        reason,
    }
}

/// The kernels that decide: deployed before bundled, absorb before plain GEMM.
fn choose(fits: &[AlignmentFit]) -> Vec<&AlignmentFit> {
    let deployed: Vec<&AlignmentFit> = fits.iter().filter(|f| f.deployed).collect();
    let bundled: Vec<&AlignmentFit> = fits.iter().filter(|f| !f.deployed).collect();
    [deployed, bundled]
        .into_iter()
        .flat_map(|group| [Op::AbsorbBmm, Op::Gemm].map(|op| fastest_of(&group, op)))
        .find(|chosen| !chosen.is_empty())
        .unwrap_or_default()
}

/// Of each shape of `op` the tile that an engine would run, the one with the fastest aligned row;
/// deployed kernels where there are any.
pub(super) fn fastest(fits: &[AlignmentFit], op: Op) -> Vec<&AlignmentFit> {
    let of = |deployed: bool| {
        fastest_of(&fits.iter().filter(|f| f.deployed == deployed).collect::<Vec<_>>(), op)
    };
    let deployed = of(true);
    if deployed.is_empty() { of(false) } else { deployed }
}

fn fastest_of<'a>(fits: &[&'a AlignmentFit], op: Op) -> Vec<&'a AlignmentFit> {
    let row_time = |f: &AlignmentFit| {
        f.ragged().map_or(f64::INFINITY, |v| v.at.even_time_us / v.at.even_m as f64)
    };
    let mut best: Vec<&AlignmentFit> = Vec::new();
    for fit in fits.iter().filter(|f| f.op == op && f.ragged().is_some()) {
        match best.iter_mut().find(|b| b.shape == fit.shape) {
            Some(held) if row_time(fit) < row_time(held) => *held = fit,
            Some(_) => {}
            None => best.push(fit),
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::alignment;
    use crate::profile::testing::absorb;

    fn fits(gain: f64, deployed: bool) -> Vec<AlignmentFit> {
        let mut points = vec![
            absorb("ragged_wrap", 64, 16_320 + 48, gain * 100.0, 1),
            absorb("even", 64, 16_384, 100.0, 1),
            absorb("ragged_wrap", 32, 16_320 + 48, 300.0, 1),
            absorb("even", 32, 16_384, 290.0, 1),
        ];
        points.iter_mut().for_each(|p| p.deployed = deployed);
        alignment::fit(&points)
    }

    #[test]
    fn deployed_kernels_that_gain_enable_exact_fill_and_gfx942_needs_force() {
        let on_950 = decide(&fits(2.0, true), "gfx950").exact_fill;
        assert!(on_950.enabled && !on_950.force && on_950.deployed);
        assert_eq!(on_950.block_m, 64);
        assert!((on_950.gain - 2.0 * 16_384.0 / 16_368.0).abs() < 1e-9);
        assert!(decide(&fits(2.0, true), "gfx942").exact_fill.force);
    }

    #[test]
    fn bundled_kernels_show_the_gain_but_enable_nothing() {
        let decision = decide(&fits(2.0, false), "gfx950");
        assert!(!decision.exact_fill.enabled && decision.exact_fill.gain > 1.9);
        assert!(decision.reason.contains("mechanism"));
    }

    /// C05 of the field cases, requests per second before and after padding to multiples of 4: on
    /// B200 8016.02/6350.89 = 1.26 and 17350.65/15455.37 = 1.12, on H200 6161.02/6049.23 = 1.018
    /// and 16136.04/15810.43 = 1.021. The value of an alignment belongs to the device.
    #[test]
    fn padding_pays_on_the_device_that_needs_it_and_not_on_the_other() {
        let fits = |before: f64, after: f64| {
            let mut points = vec![
                absorb("ragged_wrap", 4, 4095, 4095.0 / before, 1),
                absorb("even", 4, 4096, 4096.0 / after, 1),
            ];
            points.iter_mut().for_each(|p| p.deployed = true);
            decide(&alignment::fit(&points), "").exact_fill
        };
        for (before, after) in [(6350.89, 8016.02), (15_455.37, 17_350.65)] {
            let fill = fits(before, after);
            assert!(fill.enabled && (fill.gain - after / before).abs() < 1e-9, "{fill:?}");
            assert_eq!(fill.block_m, 4);
        }
        for (before, after) in [(6049.23, 6161.02), (15_810.43, 16_136.04)] {
            assert!(!fits(before, after).enabled);
        }
    }

    /// C11 of the field cases: a weighted 1.80x hides kernels that gain nothing.
    #[test]
    fn the_least_gain_stands_beside_the_weighted_one() {
        let mut all = fits(2.0, true);
        let mut level = fits(1.0, true);
        level.iter_mut().for_each(|f| f.shape = "w_vc".into());
        all.extend(level);
        let decision = decide(&all, "gfx950");
        assert!(decision.exact_fill.gain > 1.3 && decision.least_gain < 1.01, "{decision:?}");
    }

    #[test]
    fn no_gain_enables_nothing() {
        assert!(!decide(&fits(0.99, true), "gfx950").exact_fill.enabled);
        let none = decide(&[], "gfx950");
        assert!(!none.exact_fill.enabled && none.exact_fill.block_m == 0);
    }
}
