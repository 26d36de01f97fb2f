//! The plain roofline of a row: its bytes at the nominal memory bandwidth or its operations at the
//! peak rate, whichever takes longer. No launch cost, no efficiency.

use cdna_sim::arch::ArchParams;

use super::launches::RowLaunches;
use super::timings::Timing;

/// Roofline of a row in microseconds.
pub fn roofline_us(p: &ArchParams, timing: &Timing, launches: &RowLaunches) -> f64 {
    let bytes: u64 = launches.buffers.iter().map(|b| b.bytes).fold(0, u64::saturating_add);
    let memory = bytes as f64 / (p.hbm.nominal * 1e3);
    let matrix = timing.flops().map_or(0.0, |flops| flops / (peak(p, timing) * 1e6));
    memory.max(matrix)
}

/// Peak rate in TFLOP/s for the widest multiplicand of a row.
fn peak(p: &ArchParams, timing: &Timing) -> f64 {
    let narrow =
        ["fp4", "afp4"].iter().any(|t| timing.kernel.contains(t) || timing.dtype.contains(t));
    let eight = ["fp8", "int8", "a8w8"].iter().any(|t| timing.dtype.contains(t));
    let (shape, ops) = match (narrow, eight, p.matrix.passes.contains_key("16x16x128_f8f6f4_8")) {
        (true, _, true) => ("16x16x128_f8f6f4_46", 32768.0),
        (_, true, true) => ("16x16x128_f8f6f4_8", 32768.0),
        (_, false, true) => ("16x16x32_16bit", 8192.0),
        (_, true, false) => ("16x16x32_8bit", 8192.0),
        (_, false, false) => ("16x16x16_16bit", 4096.0),
    };
    let clk = p.matrix.passes.get(shape).map_or(1.0, |passes| f64::from(passes * p.matrix.pass));
    let units = f64::from(p.device.compute_units * p.device.simds_per_cu);
    2.0 * ops / clk * units * p.clock.nominal / 1e6
}
