//! The recorded validation, carried in the program: how far off simulated times of a kind of kernel
//! have been found to be.

use std::fmt;
use std::sync::OnceLock;

use super::{Group, Summary};

/// Scores of the last validation on the rows that parameters were not set with.
const RECORDED: &str = include_str!("../../profiles/validation/summary.json");

/// The families of published kernels, nearest first, for a kernel of ours.
fn families(op: &str, dtype: &str) -> &'static [&'static str] {
    const PREQUANT: &str =
        "batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant";
    match (op, dtype) {
        ("absorb_bmm", _) => &[PREQUANT, "batched_gemm_a8w8", "gemm_a8w8_blockscale"],
        ("gemm", "fp8") => &["gemm_a8w8_blockscale", "gemm_a8w8_blockscale_preshuffle"],
        ("gemm", _) => &["gemm_a16w16", "gemm_a8w8_blockscale"],
        _ => &[],
    }
}

/// What is known of the error of a simulated time.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Nearest validated family, or the whole target; none where nothing of the target is validated, or
    /// no family is like the kernel.
    pub group: Option<Group>,
}

/// The nearest validated family for kernels of `op` and `dtype` on `arch`.
pub fn nearest(arch: &str, op: &str, dtype: &str) -> Evidence {
    static GROUPS: OnceLock<Vec<Group>> = OnceLock::new();
    let groups = GROUPS.get_or_init(|| {
        serde_json::from_str::<Summary>(RECORDED).map(|s| s.groups).unwrap_or_default()
    });
    among(groups, arch, op, dtype)
}

fn among(groups: &[Group], arch: &str, op: &str, dtype: &str) -> Evidence {
    let of_target = |family: Option<&str>| {
        groups.iter().find(|g| {
            g.validated && g.arch.as_deref() == Some(arch) && g.family.as_deref() == family
        })
    };
    let near = families(op, dtype);
    let family = near.iter().find_map(|family| of_target(Some(family)));
    // No published kernel is like an indexer or a top-k: what others were off by says nothing of them.
    let target = || of_target(None).filter(|_| !near.is_empty() || op.is_empty());
    Evidence { group: family.or_else(target).cloned() }
}

impl Evidence {
    /// Median error of simulated times of such kernels; none where too few are published.
    pub fn median(&self) -> Option<f64> {
        self.group.as_ref().map(|group| group.simulator.median)
    }
}

/// The error of a simulated time beside it.
pub fn off_by(median: Option<f64>) -> String {
    match median {
        Some(median) => format!("off by {:.0}%", 100.0 * median),
        None => "unvalidated".to_owned(),
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.median() {
            None => write!(f, "unvalidated"),
            Some(median) => write!(f, "{:.0}%", 100.0 * median),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_summary_is_readable_and_of_the_report_split() {
        let summary: Summary = serde_json::from_str(RECORDED).unwrap();
        assert_eq!(summary.split, "report");
    }

    #[test]
    fn a_kernel_has_the_error_of_its_nearest_validated_family_or_its_target() {
        let score = crate::validate::score(&[(11.0, 10.0), (12.0, 10.0), (13.0, 10.0)]).unwrap();
        let group = |family: Option<&str>, validated: bool| Group {
            name: String::new(),
            arch: Some("gfx950".to_owned()),
            family: family.map(str::to_owned),
            validated,
            simulator: score,
            mca: None,
            roofline: score,
        };
        let groups = [
            group(None, true),
            group(Some("gemm_a16w16"), true),
            group(Some("batched_gemm_a8w8"), false),
        ];
        let family = |op, dtype| among(&groups, "gfx950", op, dtype).group.unwrap().family;
        assert_eq!(family("gemm", "bf16").as_deref(), Some("gemm_a16w16"));
        assert_eq!(family("absorb_bmm", "fp8"), None);
        assert_eq!(family("", ""), None);
        assert_eq!(among(&groups, "gfx950", "indexer", "fp8").to_string(), "unvalidated");
        assert_eq!(among(&groups, "gfx950", "gemm", "bf16").to_string(), "20%");
        assert_eq!(among(&groups, "gfx942", "gemm", "bf16").to_string(), "unvalidated");
    }
}
