//! References in f64 for what the kernels compute, written from the definitions and sharing only
//! the number formats with the simulator. Decoded inputs go in, f64 results or id lists come out.

mod absorb;
mod gemm;
mod logits;
mod select;

pub use absorb::{AbsorbInputs, absorb, quantise_group};
pub use gemm::gemm;
pub use logits::{LogitsInputs, logits};
pub use select::{candidate_blocks, candidate_mask, newest_block, top_ids, topk_in_candidates};

use cdna_sim::exec::formats::{Format, e8m0_to_f32};
use cdna_sim::isa::Arch;

/// The simulator's name of a target.
pub fn target(arch: &str) -> Option<Arch> {
    Arch::ALL.into_iter().find(|a| a.name() == arch)
}

/// bf16 bits to f32.
pub fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// f32 to bf16 bits, truncated: exact for values that bf16 holds.
pub fn f32_to_bf16_exact(value: f32) -> u16 {
    (value.to_bits() >> 16) as u16
}

/// fp8 codes of a target to f32.
pub fn decode_fp8(codes: &[u8], arch: Arch) -> Vec<f32> {
    codes.iter().map(|c| Format::fp8(arch).decode(*c)).collect()
}

/// Packed e2m1 values, low nibble first, each times the ue8m0 scale of its group of 32.
pub fn decode_fp4(packed: &[u8], scales: &[u8]) -> Vec<f64> {
    let group = super::indexer::SCALE_GROUP as usize;
    packed
        .iter()
        .flat_map(|byte| [byte & 15, byte >> 4])
        .zip(scales.iter().flat_map(|s| std::iter::repeat_n(*s, group)))
        .map(|(code, scale)| f64::from(Format::Fp4.decode(code)) * f64::from(e8m0_to_f32(scale)))
        .collect()
}
