//! Time of a chunk, as a schedule is searched with it.
//!
//! In goes a fit; out comes one model of t(T, L): the deployed engine's own times where they were
//! observed, else the measured kernels of one layer added up (indexer, absorb, plain GEMM), each
//! with the fastest tile.

use serde::{Deserialize, Serialize};

use super::exact_fill::fastest;
use crate::fit::Fit;
use crate::fit::latency::{self, TimeModel};
use crate::profile::Op;

/// Time of a chunk and what is in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChunkTime {
    /// Coefficients, microseconds; of one layer unless `deployed`.
    pub model: TimeModel,
    /// What was added up.
    pub parts: Vec<String>,
    /// Whether the whole engine was timed, and not kernels of ours.
    pub deployed: bool,
}

impl ChunkTime {
    /// The time that a plan for the memory path `path` is made with, the rows of a chunk shared by
    /// `cp` ranks; none where nothing was timed.
    pub fn of_fit(fit: &Fit, path: &str, cp: u32) -> Option<Self> {
        let own = fit.latency.iter().find(|l| l.path == path);
        // Times of another system than the one whose memory decides say nothing here.
        let mut deployed = fit.latency.iter().filter(|l| l.deployed);
        let only = deployed.next().filter(|_| deployed.next().is_none());
        let observed = own.filter(|l| l.deployed).or(only);
        if let Some(latency) = observed {
            let parts = vec![latency.path.clone()];
            return Some(Self { model: latency.model.clone(), parts, deployed: true });
        }
        let named = |path: &&str| fit.latency.iter().find(|l| l.path == *path);
        let indexer = own.or_else(|| ["fp8", "row_pooled", "dense"].iter().find_map(named))?;
        let mut model = indexer.model.clone();
        let mut parts = vec![format!("indexer {}", indexer.path)];
        for op in [Op::AbsorbBmm, Op::Gemm] {
            for kernel in fastest(&fit.alignment, op) {
                if let Some(stairs) = latency::of_kernel(kernel) {
                    model = model.plus(&stairs);
                    parts.push(format!("{} {}", kernel.shape, kernel.kernel));
                }
            }
        }
        Some(Self { model: model.shared_by(cp), parts, deployed: false })
    }

    /// What the times stand for, in words, where those of kernels are given for `layers` layers.
    pub fn sentence(&self, layers: u64) -> String {
        if self.deployed {
            return "Times are those of the deployed engine, as observed.".to_owned();
        }
        let of = match layers {
            0 | 1 => "one layer".to_owned(),
            layers => format!("one layer, {layers} times"),
        };
        format!(
            "Times are those of the measured kernels of {of} ({}); a served layer also runs \
             attention and experts, so what a schedule gains is less than shown here.",
            self.parts.join(", ")
        )
    }
}
