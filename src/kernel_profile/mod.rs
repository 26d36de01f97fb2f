//! Where the time of a kernel goes: `tune kernel profile`.
//!
//! Goes in: a kernel, bundled or of a pack, and a shape. The simulator times one launch of it. Comes out: a
//! [`KernelProfile`]: wave clocks by cause, instruction mix, rates against the device's peaks, the
//! blocks in which the clocks are spent with their disassembly, and a timeline of the simulated
//! compute unit; as text, JSON, SVG and Chrome trace.

mod launch;
mod picture;
mod text;
mod timeline;

use std::collections::BTreeMap;

use cdna_sim::arch::ArchParams;
use cdna_sim::exec::Program;
use cdna_sim::hip::Recording;
use cdna_sim::isa::{Class, class, disassemble};
use cdna_sim::timing::{Kind, Timing};
use serde::Serialize;

use crate::ops::KernelEntry;
use crate::validate::nearest;

pub use launch::{Shape, Work, heads, run};
pub use picture::svg;
pub use text::Text;
pub use timeline::chrome_trace;

/// Blocks that are shown.
const BLOCKS: usize = 4;
/// Most instructions of a block that are shown.
const LINES: usize = 24;

/// Why a kernel could not be profiled.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The kernel does not take the shape, or is not one that this command launches.
    #[error("{0}")]
    Shape(String),
    /// The launch failed.
    #[error("kernel {kernel}: {what}")]
    Launch {
        /// Kernel.
        kernel: String,
        /// What the simulator said.
        what: String,
    },
}

/// Where the time of one launch went.
#[derive(Clone, Debug, Serialize)]
pub struct KernelProfile {
    /// Kernel id.
    pub kernel: String,
    /// Target.
    pub arch: String,
    /// Shape, such as `b=16 m=16384 n=512 k=192`.
    pub shape: String,
    /// Simulated time, microseconds.
    pub time_us: f64,
    /// Median error of simulated times on the nearest validated family of published kernels; none
    /// where too few are published.
    pub time_off_by: Option<f64>,
    /// Cycles of the grid, without the fixed cost of a launch.
    pub cycles: u64,
    /// Clock, MHz.
    pub clock_mhz: f64,
    /// Workgroups of the grid.
    pub workgroups: u64,
    /// Workgroups that ran under the timing model on one compute unit; what follows describes these.
    pub workgroups_timed: u64,
    /// Workgroups resident on a compute unit.
    pub workgroups_per_cu: u32,
    /// Wave instructions of the grid.
    pub instructions: u64,
    /// Wave clocks of the timed workgroups by cause: issue by category, waits by reason.
    pub wave_clocks: Vec<Part>,
    /// Instructions of the timed workgroups by category.
    pub mix: BTreeMap<String, u64>,
    /// SIMD clocks without a resident wave.
    pub no_wave: u64,
    /// Fraction of the clocks in which the matrix units worked.
    pub matrix_busy: f64,
    /// Achieved and peak rates.
    pub rates: Vec<Rate>,
    /// Operations per byte that memory moved; none where it moved nothing.
    pub flop_per_byte: Option<f64>,
    /// Blocks in which most wave clocks are spent.
    pub blocks: Vec<Block>,
    /// Timeline of the compute unit.
    #[serde(skip)]
    pub trace: Vec<cdna_sim::timing::Event>,
    /// Instructions by index, for the timeline.
    #[serde(skip)]
    pub listing: Vec<String>,
}

/// A share of the wave clocks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// `issue valu`, `wait vmcnt`, ...
    pub name: String,
    /// Wave clocks.
    pub clocks: u64,
    /// Fraction of all.
    pub fraction: f64,
}

/// A rate beside its peak.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// What.
    pub name: String,
    /// Reached.
    pub reached: f64,
    /// Peak of the model's parameters; for HBM the nominal one.
    pub peak: f64,
    /// Unit.
    pub unit: &'static str,
}

/// A basic block.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Block {
    /// Offset of its first instruction from the kernel's first, bytes.
    pub offset: u64,
    /// Times a wave ran it.
    pub executions: u64,
    /// Wave clocks spent in it, issue and waits.
    pub clocks: u64,
    /// Fraction of all wave clocks.
    pub fraction: f64,
    /// Instructions, those that waves waited longest for first marked with their clocks.
    pub lines: Vec<Line>,
    /// Instructions that are not shown.
    pub hidden: usize,
}

/// An instruction of a block.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// LLVM syntax.
    pub text: String,
    /// Wave clocks lost at it: before it issued, at a barrier, in an `s_nop`.
    pub waited: u64,
}

/// Sums up a timed launch. `flops` is what the shape asks for.
fn collect(entry: &KernelEntry, shape: &str, flops: f64, recording: Recording) -> KernelProfile {
    let Recording { params: p, program, timing } = recording;
    let slot = u64::from(p.issue.slot);
    let issued = Kind::ALL.iter().zip(timing.counters.issued);
    let mut parts: Vec<(String, u64)> =
        issued.clone().map(|(kind, n)| (format!("issue {}", kind.name()), n * slot)).collect();
    let stalls = timing.counters.stalls();
    let waits = stalls.iter().filter(|(name, _)| *name != "lds_conflict");
    parts.extend(waits.map(|(name, clk)| (format!("wait {name}"), *clk)));
    let all: u64 = parts.iter().map(|(_, clk)| clk).sum();
    let fraction = |clocks: u64| clocks as f64 / all.max(1) as f64;
    let mut wave_clocks: Vec<Part> = parts
        .into_iter()
        .filter(|(_, clocks)| *clocks > 0)
        .map(|(name, clocks)| Part { name, clocks, fraction: fraction(clocks) })
        .collect();
    wave_clocks.sort_by_key(|part| std::cmp::Reverse(part.clocks));
    let moved = timing.traffic.hbm_read + timing.traffic.hbm_written;
    KernelProfile {
        kernel: entry.id.clone(),
        arch: entry.arch.clone(),
        shape: shape.to_owned(),
        time_us: timing.time_us,
        time_off_by: nearest(&entry.arch, entry.op.name(), &entry.dtype).median(),
        cycles: timing.cycles,
        clock_mhz: timing.clock_mhz,
        workgroups: timing.workgroups,
        workgroups_timed: timing.workgroups_timed,
        workgroups_per_cu: timing.occupancy.workgroups_per_cu,
        instructions: timing.instructions,
        wave_clocks,
        mix: issued.map(|(kind, n)| (kind.name().to_owned(), n)).collect(),
        no_wave: timing.counters.no_wave,
        matrix_busy: timing.matrix_busy,
        rates: rates(p, entry, &timing, flops),
        flop_per_byte: (moved > 0 && flops > 0.0).then(|| flops / moved as f64),
        blocks: blocks(&program, &timing, slot, all),
        listing: program.insts.iter().map(disassemble).collect(),
        trace: timing.trace,
    }
}

fn rates(p: &ArchParams, entry: &KernelEntry, timing: &Timing, flops: f64) -> Vec<Rate> {
    let per_us = |amount: f64| amount / timing.time_us.max(f64::MIN_POSITIVE);
    let traffic = &timing.traffic;
    let key = match (entry.dtype.as_str(), p.matrix.passes.contains_key("16x16x128_f8f6f4_8")) {
        ("bf16", true) => ("16x16x32_16bit", 16384.0),
        // The fp4 kernels of a target without fp4 decode to bf16.
        ("bf16" | "fp4", false) => ("16x16x16_16bit", 8192.0),
        ("fp4", true) => ("16x16x128_f8f6f4_46", 65536.0),
        (_, true) => ("16x16x128_f8f6f4_8", 65536.0),
        (_, false) => ("16x16x32_8bit", 16384.0),
    };
    let clk = p.matrix.passes.get(key.0).map_or(1.0, |passes| f64::from(passes * p.matrix.pass));
    let units = f64::from(p.device.compute_units * p.device.simds_per_cu);
    let rate = |name: &str, reached: f64, peak: f64, unit| Rate {
        name: name.to_owned(),
        reached,
        peak,
        unit,
    };
    let memory = (traffic.hbm_read + traffic.hbm_written) as f64;
    let l2 = traffic.l2_read as f64;
    let matrix = (flops > 0.0).then(|| {
        rate("matrix", per_us(flops) / 1e6, key.1 / clk * units * p.clock.nominal / 1e6, "TFLOP/s")
    });
    let memory_rates = [
        rate("HBM", per_us(memory) / 1e6, p.hbm.nominal / 1e3, "TB/s"),
        rate(
            "memory-side cache reads",
            per_us(traffic.mall_read as f64) / 1e6,
            p.mall.bandwidth / 1e3,
            "TB/s",
        ),
        rate("L2 reads", per_us(l2) / 1e6, p.l2.read / 1e3, "TB/s"),
    ];
    matrix.into_iter().chain(memory_rates).collect()
}

fn blocks(program: &Program, timing: &Timing, slot: u64, all: u64) -> Vec<Block> {
    let entry = program.addr.first().copied().unwrap_or(0);
    let count = |i: usize| timing.issued.get(i).copied().unwrap_or(0);
    let mut blocks: Vec<(std::ops::Range<usize>, u64)> = Vec::new();
    let mut start = 0;
    for (i, inst) in program.insts.iter().enumerate() {
        let ends = matches!(class(inst, program.arch), Class::Branch) || count(i) != count(i + 1);
        if ends || i + 1 == program.insts.len() {
            let range = start..i + 1;
            let clocks =
                range.clone().map(|i| count(i) * slot + timing.waited.get(i).copied().unwrap_or(0));
            blocks.push((range, clocks.sum()));
            start = i + 1;
        }
    }
    blocks.sort_by_key(|(range, clocks)| (std::cmp::Reverse(*clocks), range.start));
    let shown = blocks.into_iter().take(BLOCKS).filter(|(_, clocks)| *clocks > 0);
    shown
        .map(|(range, clocks)| Block {
            offset: program.addr[range.start] - entry,
            executions: count(range.start),
            clocks,
            fraction: clocks as f64 / all.max(1) as f64,
            hidden: range.len().saturating_sub(LINES),
            lines: longest(range, program, timing),
        })
        .collect()
}

/// The instructions of a block in order; of a long one those that were waited for longest.
fn longest(range: std::ops::Range<usize>, program: &Program, timing: &Timing) -> Vec<Line> {
    let waited = |i: usize| timing.waited.get(i).copied().unwrap_or(0);
    let mut shown: Vec<usize> = range.collect();
    shown.sort_by_key(|&i| (std::cmp::Reverse(waited(i)), i));
    shown.truncate(LINES);
    shown.sort_unstable();
    let line = |i| Line { text: disassemble(&program.insts[i]), waited: waited(i) };
    shown.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::KernelOp;
    use crate::ops::indexer::IndexerShape;

    fn profile(id: &str, m: u64) -> KernelProfile {
        let entries = crate::ops::catalog("gfx950").unwrap();
        let entry = entries.iter().find(|e| e.id == id).unwrap();
        run(entry, &Work::Product(Shape { b: 16, m, n: 512, k: 192 }), 2000).unwrap()
    }

    fn absorb(variant: &str) -> String {
        let entries = crate::ops::catalog("gfx950").unwrap();
        let of = |e: &&KernelEntry| {
            e.op.name() == "absorb_bmm"
                && e.variant == variant
                && e.tile.is_some_and(|t| (t.m, t.n) == (64, 256))
        };
        entries.iter().find(of).unwrap().id.clone()
    }

    /// Issue and waits are all that a wave does, so the parts add up to one; the mix counts the same
    /// instructions that the parts charge an issue slot of 4 clocks each.
    #[test]
    fn the_parts_account_for_every_wave_clock() {
        let p = profile(&absorb("even"), 4096);
        let sum: f64 = p.wave_clocks.iter().map(|part| part.fraction).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        let issue: u64 =
            p.wave_clocks.iter().filter(|x| x.name.starts_with("issue")).map(|x| x.clocks).sum();
        assert_eq!(issue, 4 * p.mix.values().sum::<u64>());
        // 64 x 256 tiles: 64 * 2 * 16 workgroups.
        assert_eq!(p.workgroups, 2048);
        assert!(p.rates.iter().all(|r| r.reached < r.peak), "{:?}", p.rates);
        assert_eq!(p.trace.len(), 2000);
        // The clocks of the timeline follow each other without a gap, wave by wave.
        let mut ends = BTreeMap::new();
        for event in &p.trace {
            let last = ends.insert((event.slot, event.workgroup), event.end);
            assert!(last.is_none_or(|end| end == event.begin), "{event:?}");
        }
        assert!(p.blocks.windows(2).all(|w| w[0].clocks >= w[1].clocks));
    }

    /// All issues and waits of all waves are in the timeline, so its clocks are those of the parts.
    #[test]
    fn the_timeline_and_the_parts_have_the_same_clocks() {
        for arch in ["gfx942", "gfx950"] {
            let entries = crate::ops::catalog(arch).unwrap();
            for id in ["absorb_bmm_64x256_even", "absorb_bmm_64x256_ragged_wrap"] {
                let entry = entries.iter().find(|e| e.id == id).unwrap();
                let shape = Work::Product(Shape { b: 1, m: 64, n: 256, k: 192 });
                let p = run(entry, &shape, usize::MAX).unwrap();
                let parts: u64 = p.wave_clocks.iter().map(|part| part.clocks).sum();
                let lasted: u64 = p.trace.iter().map(|e| e.end - e.begin).sum();
                assert_eq!(lasted, parts, "{id} {arch}");
                let waits: u64 = p
                    .wave_clocks
                    .iter()
                    .filter(|x| x.name.starts_with("wait"))
                    .map(|x| x.clocks)
                    .sum();
                assert!(waits > 0 && waits < parts);
            }
        }
    }

    /// A 64 x 256 tile over K = 192, padded to 256, takes 64 * 256 * 256 / (16 * 16 * d) matrix
    /// operations of depth d: 128 on gfx950 (d = 128), 512 on gfx942 (d = 32). Its 16384 results are
    /// 32 stores of 8 a lane, or 256 of one: 224 more, and as many more for nothing else.
    #[test]
    fn the_mix_follows_from_the_tile() {
        for (arch, matrix) in [("gfx950", 128), ("gfx942", 512)] {
            let entries = crate::ops::catalog(arch).unwrap();
            let [even, ragged] = ["even", "ragged_wrap"].map(|variant| {
                let id = format!("absorb_bmm_64x256_{variant}");
                let entry = entries.iter().find(|e| e.id == id).unwrap();
                run(entry, &Work::Product(Shape { b: 16, m: 1024, n: 512, k: 192 }), 0).unwrap()
            });
            let per = |p: &KernelProfile, kind: &str| p.mix[kind] / p.workgroups_timed;
            assert_eq!((per(&even, "mfma"), per(&ragged, "mfma")), (matrix, matrix), "{arch}");
            assert_eq!(per(&ragged, "vmem") - per(&even, "vmem"), 256 - 32, "{arch}");
        }
    }

    #[test]
    fn a_shape_that_the_kernel_does_not_take_is_refused() {
        let entries = crate::ops::catalog("gfx950").unwrap();
        let even = absorb("even");
        let entry = entries.iter().find(|e| e.id == even).unwrap();
        let error =
            run(entry, &Work::Product(Shape { b: 16, m: 100, n: 512, k: 192 }), 0).unwrap_err();
        assert!(error.to_string().contains("multiples"), "{error}");
    }

    /// A tile of 32 rows and 256 keys over 32 heads of 128 dimensions takes 32 * 256 * 32 * 128 /
    /// (16 * 16 * d) matrix operations of depth d: 1024 on gfx950 (d = 128), 4096 on gfx942 (d = 32).
    #[test]
    fn the_mix_of_the_logits_follows_from_the_tile() {
        for (arch, matrix) in [("gfx950", 1024), ("gfx942", 4096)] {
            let entries = crate::ops::catalog(arch).unwrap();
            let entry = entries.iter().find(|e| e.id == "indexer_logits_fp8_h32").unwrap();
            let p = run(entry, &chunk(64, 960), 0).unwrap();
            assert_eq!(p.mix["mfma"] / p.workgroups_timed, matrix, "{arch}");
            // 1024 keys are four tiles, 64 rows two.
            assert_eq!((p.workgroups, p.shape.as_str()), (8, "m=64 prefix=960 keys=1024"));
        }
    }

    fn chunk(t: u64, l: u64) -> Work {
        Work::Chunk(IndexerShape { t, l, ratio: 1, heads: 32, dim: 128, topk: 512 })
    }

    /// All steps of the pipelines, a workgroup a row but for the element-wise ones; they have no
    /// matrix rate.
    #[test]
    fn every_step_of_the_indexer_can_be_profiled() {
        let entries = crate::ops::catalog("gfx950").unwrap();
        let steps: Vec<&KernelEntry> =
            entries.iter().filter(|e| e.op == KernelOp::Indexer && heads(e).is_none()).collect();
        assert_eq!(steps.len(), 8);
        for entry in steps {
            let p = run(entry, &chunk(16, 4080), 0).unwrap();
            assert!(p.time_us > 0.0 && p.workgroups >= 16, "{}", entry.id);
            assert!(p.rates.iter().all(|rate| rate.name != "matrix"), "{}", entry.id);
        }
    }
}
