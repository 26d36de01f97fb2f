//! How long matrix operations take.
//!
//! Goes in: an operation and the parameters of its target. Comes out: its clocks, from the pass count
//! that the parameter file gives for its shape and input class.

use crate::arch::{ArchParams, Matrix};
use crate::isa::Inst;

/// A matrix operation whose pass count the parameter file lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no pass count for {mnemonic} in the parameters of {arch}: matrix.passes.\"{key}\" is missing"
)]
pub struct UnknownPasses {
    /// Operation.
    pub mnemonic: String,
    /// Key that the parameter file should have.
    pub key: String,
    /// Target.
    pub arch: crate::isa::Arch,
}

/// Clocks for which a matrix operation keeps the matrix unit.
pub(super) fn matrix_clk(p: &ArchParams, inst: &Inst) -> Result<u32, UnknownPasses> {
    let mnemonic = inst.op.info().name;
    let key = passes_key(mnemonic, inst.mods.cbsz, inst.mods.blgp);
    let Matrix { pass, passes, .. } = &p.matrix;
    match passes.get(&key) {
        Some(passes) => Ok(passes * pass),
        None => Err(UnknownPasses { mnemonic: mnemonic.to_owned(), key, arch: p.arch }),
    }
}

/// Key of `matrix.passes` for a matrix operation: shape, blocks and input class, with the formats of
/// A and B for f8f6f4 (0 and 1 are the 8-bit ones).
fn passes_key(mnemonic: &str, format_a: u8, format_b: u8) -> String {
    let sparse = if mnemonic.starts_with("v_smfmac") { "sparse_" } else { "" };
    let mut parts = mnemonic.split('_').filter(|p| !p.is_empty());
    let shape = parts.find(|p| p.contains('x') && p.as_bytes()[0].is_ascii_digit());
    let mut key = format!("{sparse}{}", shape.unwrap_or_default());
    for part in parts {
        let class = match part {
            "f16" | "bf16" => "16bit",
            "fp8" | "bf8" => "8bit",
            "f8f6f4" if format_a < 2 || format_b < 2 => "f8f6f4_8",
            "f8f6f4" => "f8f6f4_46",
            other => other,
        };
        if !key.ends_with(class) {
            key.push('_');
            key.push_str(class);
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Arch, Class, class, op};

    /// The pass table of the parameter files and the decoder's own classification are two readings
    /// of the same documents.
    #[test]
    fn every_matrix_operation_has_the_passes_that_the_decoder_expects() {
        let mut checked = 0;
        for arch in Arch::ALL {
            let p = ArchParams::load(arch).unwrap();
            for &(opcode, op) in op::VOP3P {
                let name = op.info().name;
                let matrix = name.starts_with("v_mfma_") || name.starts_with("v_smfmac_");
                // The scale prefix is not an operation of its own.
                if !matrix || name == "v_mfma_ld_scale_b32" {
                    continue;
                }
                for formats in [(0u32, 0u32), (4, 4)] {
                    let w = 0xd380_0000 | u32::from(opcode) << 16 | formats.0 << 8;
                    let w1 = 0x0402_0100 | formats.1 << 29;
                    let bytes: Vec<u8> = [w, w1].iter().flat_map(|w| w.to_le_bytes()).collect();
                    let Ok(inst) = crate::isa::decode(&bytes, arch) else { continue };
                    let Class::Mfma { passes, .. } = class(&inst, arch) else { continue };
                    let expected = u32::from(passes) * 4;
                    assert_eq!(matrix_clk(p, &inst), Ok(expected), "{name}");
                    checked += 1;
                }
            }
        }
        assert!(checked > 150, "only {checked} matrix operations were checked");
    }
}
