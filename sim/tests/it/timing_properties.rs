//! What must hold for any timing model of this hardware, whatever its parameters.

use cdna_sim::arch::ArchParams;
use cdna_sim::exec::{Program, Wave};
use cdna_sim::fault::{Fault, FaultKind};
use cdna_sim::isa::{Arch, decode_text};
use cdna_sim::launch::Executed;
use cdna_sim::memory::AddressSpace;
use cdna_sim::timing::{Grid, Launch, Resources, Timing, simulate, simulate_whole};
use proptest::prelude::*;

use crate::bundled::{Case, absorb, causal, gemm, hidden, indexer, key_block, topk};

fn time(case: &Case, p: &ArchParams) -> Timing {
    let prepared = case.prepared(p);
    let memory = case.device.memory();
    simulate(p, &Launch { prepared: &prepared, memory: &memory }).unwrap()
}

/// A device of `units` compute units on one die, so that small grids have many rounds.
fn small(arch: Arch, units: u32) -> ArchParams {
    let mut p = ArchParams::load(arch).unwrap().clone();
    p.device.compute_units = units;
    p.device.xcds = 1;
    p
}

/// Bundled kernels with about `workgroups` workgroups each, a multiple of 64.
fn kernels(arch: Arch, workgroups: u64) -> Vec<Case> {
    let tiles = workgroups / 4;
    let logits = workgroups / 8 * 32;
    vec![
        absorb(arch, "absorb_bmm_64x256_even", 2, 64 * tiles),
        absorb(arch, "absorb_bmm_64x256_ragged_wrap", 2, 64 * tiles - 16),
        absorb(arch, "absorb_bmm_64x256_ragged_buffer", 2, 64 * tiles - 16),
        indexer(arch, true, logits),
        indexer(arch, false, logits),
        key_block(arch, true, logits, 1 << 15),
        topk(arch, workgroups),
        gemm(arch, "gemm_bf16_128x128_even", 128 * workgroups / 8, 1024, 512),
        gemm(arch, "gemm_fp8_128x128_ragged_buffer", 128 * workgroups / 8 - 16, 1024, 512),
        gemm(arch, "gemm_fp8_256x256_even", 256 * workgroups / 8, 2048, 512),
    ]
}

/// 40 workgroups for each of eight compute units, of which one to twelve rounds are timed; and grids of
/// which up to a quarter end early, on such a device, on the whole one and on a single unit, which runs
/// all of them.
#[test]
fn the_extrapolated_time_of_a_kernel_is_that_of_all_its_workgroups_within_two_percent() {
    let (mut report, mut extrapolated) = (Vec::new(), 0);
    for arch in Arch::ALL {
        let device = ArchParams::load(arch).unwrap().clone();
        let mut cases: Vec<(Case, ArchParams)> =
            kernels(arch, 320).into_iter().map(|case| (case, small(arch, 8))).collect();
        cases.push((causal(arch, false, 1024, 8192), small(arch, 8)));
        cases.push((causal(arch, false, 2048, 2048), small(arch, 8)));
        cases.push((causal(arch, false, 512, 2048), small(arch, 1)));
        cases.push((causal(arch, false, 4096, 32_768), device));
        for (case, p) in cases {
            let prepared = case.prepared(&p);
            let memory = case.device.memory();
            let grid = Launch { prepared: &prepared, memory: &memory };
            let (sample, whole) =
                (simulate(&p, &grid).unwrap(), simulate_whole(&p, &grid).unwrap());
            let (timed, all) = (sample.workgroups_timed, whole.workgroups_timed);
            assert_eq!(all, whole.workgroups_of_busiest_cu);
            extrapolated += u32::from(timed < all);
            let error = 100.0 * (sample.cycles as f64 / whole.cycles as f64 - 1.0);
            let counted = sample.instructions as f64 / whole.instructions as f64;
            let line = format!(
                "{arch} {} of {}: {error:+.2}% ({timed} of {all}), instructions {counted:.4}",
                case.name, whole.workgroups
            );
            report.push((error.abs() <= 2.0 && (counted - 1.0).abs() <= 0.001, line));
        }
    }
    let text: Vec<&str> = report.iter().map(|(_, line)| line.as_str()).collect();
    println!("{}", text.join("\n"));
    assert!(extrapolated >= 18);
    assert!(report.iter().all(|(within, _)| *within), "{}", text.join("\n"));
}

/// 64 tiles of 32 rows and 8 to 16 tiles of 256 keys: a tile of rows ending at row r sees the keys before
/// 2048 + r, so that in each group of eight one tile more has work: 8 * (9 + 10 + ... + 16) = 800 of 1024,
/// and none does where no key can be seen. The work of the others is that of a grid in which all is seen.
#[test]
fn the_instructions_of_workgroups_that_end_early_are_counted_in_their_share() {
    for arch in Arch::ALL {
        let p = ArchParams::load(arch).unwrap();
        let each = |case: Case| {
            let t = time(&case, p);
            t.instructions as f64 / t.workgroups as f64
        };
        // All of the 2048 keys come before the first row, or after the last.
        let working = each(key_block(arch, false, 2048, 0));
        let idle = each(hidden(arch, 2048));
        let expected = (800.0 * working + 224.0 * idle) / 1024.0;
        let found = each(causal(arch, false, 2048, 2048));
        assert!((found / expected - 1.0).abs() < 0.002, "{arch}: {found} for {expected}");
        assert!(idle < working / 10.0);
    }
}

#[test]
fn twice_the_memory_bandwidth_slows_no_kernel() {
    for (arch, case) in Arch::ALL
        .into_iter()
        .flat_map(|arch| kernels(arch, 512).into_iter().map(move |case| (arch, case)))
    {
        let p = ArchParams::load(arch).unwrap();
        let mut faster = p.clone();
        faster.hbm.read *= 2.0;
        faster.hbm.write *= 2.0;
        let (before, after) = (time(&case, p).cycles as f64, time(&case, &faster).cycles as f64);
        assert!(after <= 1.01 * before, "{arch} {}: {before} to {after} clk", case.name);
    }
}

/// At 12 and 16 times what the device holds at once, the time lies on the line through those at 8 and 24
/// times.
#[test]
fn cycles_are_linear_in_the_grid_once_it_fills_the_device_eight_times() {
    let mut wrong = Vec::new();
    for arch in Arch::ALL {
        let p = small(arch, 16);
        for (i, case) in kernels(arch, 64).iter().enumerate() {
            let full = 16 * u64::from(time(case, &p).occupancy.workgroups_per_cu);
            let clk = |times: u64| time(&kernels(arch, times * full)[i], &p).cycles as f64;
            let (first, last) = (clk(8), clk(24));
            for times in [12, 16] {
                let straight = first + (last - first) * (times - 8) as f64 / 16.0;
                let error = 100.0 * (clk(times) / straight - 1.0);
                let line = format!("{arch} {}: {error:+.2}% at {times}", case.name);
                println!("{line}");
                wrong.extend((error.abs() > 2.0).then_some(line));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A grid of waves that run `body` instructions of the vector ALU and the matrix unit.
struct Arithmetic {
    program: Program,
    memory: AddressSpace,
    groups: u32,
    waves: u32,
}

impl Arithmetic {
    fn new(groups: u32, waves: u32, body: usize, matrix: bool) -> Self {
        // v_mul_f32 v2, v0, v1; v_add_u32 v4, v0, v2; v_mfma_f32_16x16x16_f16 v[4:7], v[0:1], v[2:3], v[4:7]
        let (multiply, add, mfma) = (0x0a04_0300_u32, 0x6808_0500, [0xd3cd_0004, 0x0412_0500]);
        let mut words = Vec::new();
        for k in 0..body {
            match k % 8 {
                7 if matrix => words.extend(mfma),
                k if k % 2 == 0 => words.push(multiply),
                _ => words.push(add),
            }
        }
        words.push(0xbf81_0000);
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let program = decode_text(&bytes, 0x1000, Arch::Gfx950);
        Arithmetic { program, memory: AddressSpace::new(0), groups, waves }
    }
}

impl Grid for Arithmetic {
    fn program(&self) -> &Program {
        &self.program
    }

    fn memory(&self) -> &AddressSpace {
        &self.memory
    }

    fn groups(&self) -> [u32; 3] {
        [self.groups, 1, 1]
    }

    fn resources(&self) -> Resources {
        Resources { vgprs: 32, agprs: 0, sgprs: 32, lds: 0, threads: 64 * self.waves }
    }

    fn waves(&self, id: u64) -> Vec<Wave> {
        (0..self.waves).map(|_| self.first_wave(id)).collect()
    }

    fn first_wave(&self, _: u64) -> Wave {
        let mut wave = Wave::new(32, 0, 0);
        wave.mode = 0x3f0;
        wave.set_exec(u64::MAX);
        wave
    }

    fn execute(&self, _: u64) -> Result<Executed, Fault> {
        let mut counts = vec![1; self.program.insts.len()];
        counts.iter_mut().for_each(|n| *n *= u64::from(self.waves));
        Ok(Executed { counts, workgroups: 1 })
    }

    fn fault(&self, kind: FaultKind, _: u64, wave: u32, pc: usize) -> Fault {
        panic!("wave {wave} at {pc}: {kind}")
    }
}

/// Another memory hierarchy: its latencies and bandwidths are `factor` times as large.
fn other_memory(p: &ArchParams, factor: f64) -> ArchParams {
    let mut p = p.clone();
    let scale = |n: &mut u32| *n = (f64::from(*n) * factor).ceil() as u32;
    p.hbm.read *= factor;
    p.hbm.write *= factor;
    p.mall.bandwidth *= factor;
    scale(&mut p.hbm.latency);
    scale(&mut p.l2.hit);
    scale(&mut p.mall.hit);
    scale(&mut p.vmem.hit);
    scale(&mut p.scalar.hit);
    p
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_kernel_without_memory_operations_does_not_depend_on_memory(
        groups in 1_u32..4000,
        waves in 1_u32..8,
        body in 8_usize..200,
        matrix: bool,
        factor in 0.25_f64..4.0,
    ) {
        let p = ArchParams::load(Arch::Gfx950).unwrap();
        let grid = Arithmetic::new(groups, waves, body, matrix);
        let (here, there) = (simulate(p, &grid).unwrap(), simulate(&other_memory(p, factor), &grid).unwrap());
        prop_assert_eq!(here.cycles, there.cycles);
    }

    /// One wave after the other is the least that a compute unit can do.
    #[test]
    fn more_waves_never_lower_the_throughput_below_that_of_one(
        waves in 1_u32..16,
        body in 8_usize..200,
        matrix: bool,
    ) {
        let p = ArchParams::load(Arch::Gfx950).unwrap();
        let clk = |waves| simulate(p, &Arithmetic::new(1, waves, body, matrix)).unwrap().cycles;
        prop_assert!(clk(waves) <= u64::from(waves) * clk(1), "{} and {} clk", clk(1), clk(waves));
    }
}

#[test]
fn more_workgroups_on_a_compute_unit_never_lower_its_throughput_below_that_of_one() {
    for (arch, name) in
        [(Arch::Gfx950, "absorb_bmm_64x256_even"), (Arch::Gfx942, "absorb_bmm_64x256_ragged_wrap")]
    {
        let p = small(arch, 1);
        let clk = |rows| time(&absorb(arch, name, 1, rows), &p).cycles;
        // 64 rows are two workgroups.
        let two = clk(64);
        for pairs in [2, 3, 5, 8] {
            assert!(clk(64 * pairs) <= pairs * two, "{arch} {name}: {pairs} pairs");
        }
    }
}
