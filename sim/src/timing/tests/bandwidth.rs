//! Bandwidth of streaming kernels.

use super::bench::*;
use crate::isa::Arch;
use crate::isa::Arch::{Gfx942, Gfx950};

/// Moves 16 KB a workgroup of 256 threads: v1 = 16 thread + 16384 workgroup, then four accesses
/// 4096 B apart.
const SETUP: &[u32] = &[
    0x2402_0084, // v_lshlrev_b32_e32 v1, 4, v0
    0x8e05_8e04, // s_lshl_b32 s5, s4, 14
    0x6802_0205, // v_add_u32_e32 v1, s5, v1
    0x6804_02ff,
    0x0000_1000, // v_add_u32_e32 v2, 0x1000, v1
    0x6806_04ff,
    0x0000_1000, // v_add_u32_e32 v3, 0x1000, v2
    0x6808_06ff,
    0x0000_1000, // v_add_u32_e32 v4, 0x1000, v3
];
const LOADS: &[u32] = &[
    0xdc5c_8000,
    0x0800_0001, // global_load_dwordx4 v[8:11], v1, s[0:1]
    0xdc5c_8000,
    0x0c00_0002, // global_load_dwordx4 v[12:15], v2, s[0:1]
    0xdc5c_8000,
    0x1000_0003, // global_load_dwordx4 v[16:19], v3, s[0:1]
    0xdc5c_8000,
    0x1400_0004, // global_load_dwordx4 v[20:23], v4, s[0:1]
    0xbf8c_0f70, // s_waitcnt vmcnt(0)
];
const STORES: &[u32] = &[
    0xdc7c_8000,
    0x0002_0801, // global_store_dwordx4 v1, v[8:11], s[2:3]
    0xdc7c_8000,
    0x0002_0c02, // global_store_dwordx4 v2, v[12:15], s[2:3]
    0xdc7c_8000,
    0x0002_1003, // global_store_dwordx4 v3, v[16:19], s[2:3]
    0xdc7c_8000,
    0x0002_1404, // global_store_dwordx4 v4, v[20:23], s[2:3]
];
const BYTES: u64 = 1 << 30;

/// Terabytes a second of a kernel that moves 1 GiB with `code`, `passes` times.
fn tb_per_s(arch: Arch, code: &[&[u32]], passes: f64) -> f64 {
    let mut bench = Bench::new(arch, code);
    let from = bench.memory.alloc(BYTES).unwrap();
    let to = bench.memory.alloc(BYTES).unwrap();
    bench.pointers = [from, to, 0];
    bench.resources.threads = 256;
    bench.groups = [(BYTES >> 14) as u32, 1, 1];
    let t = bench.time();
    passes * BYTES as f64 / t.time_us / 1e6
}

/// pyhip and mt4g: 4.0 TB/s read on gfx942. Skinny GEMMs on gfx950: time = 2.9 us + bytes / 6.94 TB/s.
/// Within 5% of the figures.
#[test]
fn streaming_kernels_reach_the_measured_bandwidth_of_memory() {
    let read = tb_per_s(Gfx942, &[SETUP, LOADS], 1.0);
    assert!((3.8..4.2).contains(&read), "{read}");
    let copy = tb_per_s(Gfx942, &[SETUP, LOADS, STORES], 2.0);
    assert!((3.8..4.42).contains(&copy), "{copy}");
    let read = tb_per_s(Gfx950, &[SETUP, LOADS], 1.0);
    assert!((6.5..7.0).contains(&read), "{read}");
    let copy = tb_per_s(Gfx950, &[SETUP, LOADS, STORES], 2.0);
    assert!((6.5..7.0).contains(&copy), "{copy}");
}

/// Lanes that store 2 B each, 1024 B apart, write 32 times the sectors of lanes next to each other.
#[test]
fn scattered_narrow_stores_cost_a_sector_each() {
    let clk = |v1: fn(u32) -> u32| {
        clk_each(Gfx950, &[STORE_SHORT], |bench| {
            let buffer = bench.memory.alloc(1 << 20).unwrap();
            bench.pointers[1] = buffer;
            bench.v1 = v1;
        })
    };
    let (together, apart) = (clk(|t| 2 * t), clk(|t| 1024 * t));
    assert!(apart > 8.0 * together, "{together} and {apart}");
}
