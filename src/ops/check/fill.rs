//! Check of the kernel that makes random inputs.

use super::{Session, Verdict};
use crate::ops::{OpError, Pattern, fill};

/// Finaliser of MurmurHash3 over word index and seed, as `kernels/fill.hip` defines it.
fn word(index: u32, seed: u32) -> u32 {
    let mut h = index.wrapping_add(seed.wrapping_mul(0x9e37_79b9));
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

pub(super) fn check(session: &mut Session<'_>) -> Result<(), OpError> {
    // A last tile that is not full, a last group of 4 that is not full.
    for (words, pattern) in [(2049u32, Pattern::Bf16), (1022, Pattern::Fp4)] {
        let buffer = session.scratch(words as usize * 4)?;
        fill(session.device, session.library, &buffer, pattern, 7)?;
        let (and_mask, or_mask) = pattern.masks();
        let want: Vec<u8> =
            (0..words).flat_map(|i| ((word(i, 7) & and_mask) | or_mask).to_le_bytes()).collect();
        let verdict = Verdict::exact(&buffer.download()?, &want);
        session.record("fill", format!("{words} words of {pattern:?}"), verdict);
    }
    Ok(())
}
