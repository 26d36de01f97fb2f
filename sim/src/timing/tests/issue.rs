//! Issue and execution of vector, scalar and matrix instructions.

use super::bench::*;
use crate::isa::Arch;
use crate::isa::Arch::{Gfx942, Gfx950};

fn clk(arch: Arch, code: &[&[u32]]) -> f64 {
    clk_each(arch, code, |_| {})
}

/// Four waves of one SIMD: 16 waves of a workgroup, four on each of the four SIMDs.
fn clk_of_four_waves(arch: Arch, code: &[&[u32]]) -> f64 {
    clk_each(arch, code, |bench| bench.resources.threads = 1024)
}

/// pyhip: 4.00-4.02 clk for an f32 add, dependent or not; SQTT on gfx950: 4 clk.
#[test]
fn a_vector_add_takes_four_clocks() {
    for arch in Arch::ALL {
        assert_eq!(clk(arch, &[V_ADD]), 4.0);
    }
}

/// Four waves of a SIMD share its vector ALU: 16 clk until each has done one.
#[test]
fn waves_of_a_simd_share_its_vector_alu() {
    assert_eq!(clk_of_four_waves(Gfx942, &[V_ADD]), 16.0);
    // One vector and one scalar instruction of different waves go in the same slot: 4 waves of 2
    // instructions take the 4 slots that the vector ones need.
    assert_eq!(clk_of_four_waves(Gfx942, &[V_ADD, S_ADD]), 16.0);
}

/// pyhip: exp 16 clk; exp and an add of one wave add up to 20.
#[test]
fn transcendentals_take_sixteen_clocks() {
    assert_eq!(clk(Gfx942, &[V_EXP]), 16.0);
    assert_eq!(clk(Gfx942, &[V_EXP, V_ADD]), 20.0);
    // A scalar instruction issues in the shadow.
    assert_eq!(clk(Gfx942, &[V_EXP, S_ADD]), 16.0);
}

/// Passes times 4 clk, also where each accumulates on the one before: 16x16x16 has 4 passes, 32x32x8
/// has 8, f32 16x16x4 has 8; f8f6f4 16x16x128 has 8 with fp8 and 4 with fp4 operands.
#[test]
fn a_chain_of_matrix_operations_takes_its_passes() {
    for arch in Arch::ALL {
        assert_eq!(clk(arch, &[MFMA_16X16X16]), 16.0);
        assert_eq!(clk(arch, &[MFMA_32X32X8]), 32.0);
        assert_eq!(clk(arch, &[MFMA_F32_16X16X4]), 32.0);
    }
    assert_eq!(clk(Gfx950, &[MFMA_16X16X32]), 16.0);
    assert_eq!(clk(Gfx950, &[MFMA_FP8]), 32.0);
    assert_eq!(clk(Gfx950, &[MFMA_FP4]), 16.0);
}

/// pyhip, gfx942: three adds fit into the shadow of a 16-clk MFMA, the fourth adds 4 clk; MFMA and exp
/// take 20 clk; the first packed f32 adds 12 clk, each further one 4.
#[test]
fn vector_operations_run_in_the_shadow_of_a_matrix_operation() {
    let m = MFMA_16X16X16;
    // After an odd number of dwords every other MFMA lies across an 8-byte boundary: half a clock.
    assert_eq!(clk(Gfx942, &[m, V_ADD, V_ADD, V_ADD]), 16.5);
    assert_eq!(clk(Gfx942, &[m, V_ADD, V_ADD, V_ADD, V_ADD]), 20.0);
    assert_eq!(clk(Gfx942, &[m, V_EXP]), 20.5);
    assert_eq!(clk(Gfx942, &[m, V_PK_FMA]), 28.0);
    assert_eq!(clk(Gfx942, &[m, V_PK_FMA, V_PK_FMA]), 32.0);
}

/// The matrix calculator: f32 operations cannot overlap other vector instructions.
#[test]
fn an_f32_matrix_operation_leaves_no_shadow() {
    assert_eq!(clk(Gfx942, &[MFMA_F32_16X16X4, V_ADD]), 36.0);
}

/// s_nop 3 is four wait states of 4 clk.
#[test]
fn nops_take_four_clocks_a_wait_state() {
    assert_eq!(clk(Gfx942, &[S_NOP_3]), 16.0);
}

/// 2 x 16 x 16 x 16 flop in 16 clk on each of 4 SIMDs of 304 units at 2.1 GHz is 1307 TFLOPS; gfx950
/// reaches 2517 in bf16 and f16, 5033 in fp8, 10066 in fp4 (data sheets). A thousand operations in each
/// of four waves hide what start and end cost to 1%.
#[test]
fn matrix_kernels_reach_the_peak_of_the_data_sheet_at_the_nominal_clock() {
    let tflops = |arch, op, k: u32| {
        let mut bench = Bench::new(arch, &repeat(&[op], 1000));
        bench.resources.threads = 256;
        bench.groups = [bench.params().device.compute_units, 1, 1];
        let t = bench.time();
        let waves = f64::from(bench.groups[0]) * 4.0;
        let flop = 2.0 * 16.0 * 16.0 * f64::from(k) * 1000.0 * waves;
        assert!(t.matrix_busy > 0.98 && t.clock_mhz < bench.params().clock.nominal);
        flop / (t.cycles as f64 / bench.params().clock.nominal) / 1e6
    };
    for (arch, op, k, peak) in [
        (Gfx942, MFMA_16X16X16, 16, 1307.4),
        (Gfx950, MFMA_16X16X32, 32, 2516.6),
        (Gfx950, MFMA_FP8, 128, 5033.2),
        (Gfx950, MFMA_FP4, 128, 10066.3),
    ] {
        let found = tflops(arch, op, k);
        assert!(found < peak && found > 0.98 * peak, "{found} of {peak}");
    }
}
