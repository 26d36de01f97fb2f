//! Memory and LDS latency as a wave sees it.

use super::bench::*;
use crate::isa::Arch;
use crate::isa::Arch::{Gfx942, Gfx950};

/// Clocks of `first` alone and of `then` after it, each with its wait.
fn steps(bench: impl Fn(&[&[u32]]) -> Bench, first: &[&[u32]], then: &[&[u32]]) -> (u64, u64) {
    let none = bench(&[]).time().cycles;
    let one = bench(first).time().cycles;
    let two = bench(&[first, then].concat()).time().cycles;
    (one - none, two - one)
}

fn with_buffer(arch: Arch) -> impl Fn(&[&[u32]]) -> Bench {
    move |code| {
        let mut bench = Bench::new(arch, code);
        let buffer = bench.memory.alloc(1 << 20).unwrap();
        bench.pointers = [buffer, buffer, buffer];
        bench
    }
}

/// mt4g on MI300X: 876 clk from memory, 116 from the vector cache; the wait and the transfer of two
/// lines of 128 B at the compute unit's share of the bandwidth add less than 30.
#[test]
fn a_wait_for_a_load_takes_the_latency_of_the_level_that_has_the_line() {
    let (cold, hot) = steps(with_buffer(Gfx942), &[LOAD, WAIT_VM], &[LOAD, WAIT_VM]);
    assert!((876..906).contains(&cold), "{cold}");
    assert!((116..130).contains(&hot), "{hot}");
    let (cold, _) = steps(with_buffer(Gfx950), &[LOAD, WAIT_VM], &[]);
    assert!((1000..1030).contains(&cold), "{cold}");
}

/// mt4g on MI300X: a line takes 876 clk from memory and 288 from L2. An atomic on a line that L2 does not
/// have takes longer than the next one on it by the difference, within two issue slots of the wait.
#[test]
fn an_atomic_waits_for_a_line_that_l2_does_not_have() {
    let atomic: &[&[u32]] = &[ATOMIC_ADD, WAIT_VM];
    let (cold, hot) = steps(with_buffer(Gfx942), atomic, atomic);
    assert!((cold - hot).abs_diff(876 - 288) <= 8, "{cold}, {hot}");
}

/// Without the wait the wave goes on: a load costs its issue slot.
#[test]
fn a_load_without_a_wait_costs_its_slot() {
    let (first, second) = steps(with_buffer(Gfx942), &[LOAD], &[LOAD]);
    assert!(first <= 8 && second <= 8, "{first}, {second}");
}

/// mt4g: a hit in the scalar cache takes 48 clk; a miss goes to memory when nothing has the line.
#[test]
fn a_scalar_load_hits_its_cache_the_second_time() {
    let (cold, hot) = steps(with_buffer(Gfx942), &[S_LOAD, WAIT_LGKM], &[S_LOAD, WAIT_LGKM]);
    assert!((48 + 124 + 588..800).contains(&cold), "{cold}");
    assert!((48..60).contains(&hot), "{hot}");
}

/// Average clocks of a step of a pointer chase with `stride` over `bytes`, in the second round.
fn chase(arch: Arch, bytes: u64, stride: u64) -> f64 {
    let steps = bytes / stride;
    let run = |rounds: u64| {
        let n = (rounds * steps) as usize;
        let mut bench = Bench::new(arch, &repeat(&[CHASE, WAIT_VM], n));
        let buffer = bench.memory.alloc(bytes).unwrap();
        for i in 0..steps {
            let next = buffer + (i + 1) % steps * stride;
            assert!(bench.memory.write(buffer + i * stride, &next.to_le_bytes()));
        }
        bench.pointers[2] = buffer;
        bench.time().cycles
    };
    (run(2) - run(1)) as f64 / steps as f64
}

/// mt4g on MI300X: 116 clk in 16 KB (vector cache), 288 in 256 KB (L2); the wait and the slots of the
/// SIMD add up to 12.
#[test]
fn a_pointer_chase_sees_the_latency_of_the_cache_that_holds_it() {
    let l1 = chase(Gfx942, 16 << 10, 128);
    assert!((116.0..=128.0).contains(&l1), "{l1}");
    let l2 = chase(Gfx942, 256 << 10, 512);
    assert!((288.0..=300.0).contains(&l2), "{l2}");
}

/// pyhip: LDS read latency 52 clk for a dword and 64 for 16 bytes a lane.
#[test]
fn an_lds_read_takes_its_latency() {
    let lds = |code: &[&[u32]]| {
        let mut bench = Bench::new(Gfx942, code);
        bench.resources.lds = 4096;
        bench
    };
    let (first, _) = steps(lds, &[DS_READ_B32, WAIT_LGKM], &[]);
    assert!((52..60).contains(&first), "{first}");
    let wide = |code: &[&[u32]]| {
        let mut bench = lds(code);
        bench.v1 = |thread| 16 * (thread % 64);
        bench
    };
    let (first, _) = steps(wide, &[DS_READ_B128, WAIT_LGKM], &[]);
    assert!((64..72).contains(&first), "{first}");
}

/// gfx942, one wave: consecutive 16-byte reads leave a port at 64 B/clk, 16 clk each (pyhip). With a
/// row of 128 B a lane, the eight lanes of each of eight phases meet in one bank group: 64 clk.
/// Dwords: 4 clk; at a stride of 8 dwords, eight lanes to a bank, 16 clk (pyhip's "4 banks"); at a
/// stride of 32, 64 clk.
#[test]
fn lds_conflicts_multiply_the_time_of_a_read() {
    let clk = |code: &'static [u32], v1: fn(u32) -> u32| {
        clk_each(Gfx942, &[code], |bench| {
            bench.resources.lds = 16384;
            bench.v1 = v1;
        })
    };
    assert_eq!(clk(DS_READ_B128, |t| 16 * t), 16.0);
    assert_eq!(clk(DS_READ_B128, |t| 128 * t), 64.0);
    assert_eq!(clk(DS_READ_B32, |t| 4 * t), 4.0);
    assert_eq!(clk(DS_READ_B32, |t| 4 * 4 * t), 8.0);
    assert_eq!(clk(DS_READ_B32, |t| 4 * 8 * t), 16.0);
    assert_eq!(clk(DS_READ_B32, |t| 4 * 32 * t), 64.0);
}
