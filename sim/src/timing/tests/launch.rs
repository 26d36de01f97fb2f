//! Residency, rounds and the form of the result.

use super::bench::*;
use crate::isa::Arch::{Gfx942, Gfx950};
use crate::timing::Limiter;

/// A kernel whose workgroup of 4 waves keeps every SIMD's matrix unit busy for 16,000 clk.
fn busy(groups: u32) -> Bench {
    let mut bench = Bench::new(Gfx950, &repeat(&[MFMA_16X16X32], 1000));
    bench.resources.threads = 256;
    bench.groups = [groups, 1, 1];
    bench
}

/// 256 compute units: 256 workgroups take one turn, 257 take two turns of the matrix units on one
/// unit, 512 the same; 2560 take ten.
#[test]
fn a_partial_last_round_costs_a_whole_turn() {
    let clk = |groups| busy(groups).time().cycles as f64;
    let one = clk(256);
    assert!((16_000.0..17_000.0).contains(&one), "{one}");
    assert!((clk(257) / one - 2.0).abs() < 0.05);
    assert_eq!(clk(257), clk(512));
    assert!((clk(2560) / one - 10.0).abs() < 0.3);
    assert_eq!(clk(100), one);
}

/// 41 KB of LDS let one workgroup of a latency-bound kernel run on gfx942, 32 KB let two, which wait
/// for memory at the same time.
#[test]
fn more_resident_workgroups_hide_latency() {
    let time = |lds| {
        let mut bench = Bench::new(Gfx942, &repeat(&[CHASE, WAIT_VM], 20));
        let buffer = bench.memory.alloc(4096).unwrap();
        assert!(bench.memory.write(buffer, &buffer.to_le_bytes()));
        bench.pointers[2] = buffer;
        bench.resources.lds = lds;
        bench.groups = [304 * 8, 1, 1];
        bench.time()
    };
    let (one, two) = (time(41 << 10), time(32 << 10));
    assert_eq!((one.occupancy.workgroups_per_cu, one.occupancy.limiter), (1, Limiter::Lds));
    assert_eq!(two.occupancy.workgroups_per_cu, 2);
    let gain = one.cycles as f64 / two.cycles as f64;
    assert!((1.7..2.1).contains(&gain), "{gain}");
}

#[test]
fn a_launch_is_timed_the_same_every_time() {
    let run = || {
        let mut bench = busy(10_000);
        let buffer = bench.memory.alloc(1 << 20).unwrap();
        bench.pointers = [buffer; 3];
        bench.time()
    };
    assert_eq!(run(), run());
}

/// 10,000 equal workgroups of 1001 instructions a wave.
#[test]
fn instructions_are_extrapolated_to_the_grid() {
    let t = busy(10_000).time();
    assert_eq!(t.instructions, 10_000 * 4 * 1001);
    assert!(t.workgroups_timed < 100);
    let rest: u64 = t.not_executed().iter().map(|r| r.end - r.start).sum();
    assert_eq!(rest + t.workgroups_executed.len() as u64, 10_000);
    assert!(t.workgroups_executed.len() as u64 > t.workgroups_timed);
}

/// All waves go on when the last has come; the four of a SIMD then end in successive slots.
#[test]
fn a_barrier_waits_for_the_last_wave() {
    let clk = |code: &[&[u32]]| {
        let mut bench = Bench::new(Gfx942, code);
        bench.resources.threads = 1024;
        bench.time()
    };
    let with = clk(&[BARRIER]);
    let without = clk(&[]);
    let barrier = u64::from(Bench::new(Gfx942, &[]).params().issue.barrier);
    assert!(with.cycles >= without.cycles + barrier);
    assert!(with.cycles <= without.cycles + barrier + 16);
}
