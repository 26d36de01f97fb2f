//! Decoding of a whole text section.

use super::decode;
use crate::exec::Program;
use crate::isa::{Arch, Inst};

/// The instructions of a text section with their byte offsets, in address order. Dwords that are
/// no instruction (padding, data between functions) are passed over one at a time.
pub fn instructions(bytes: &[u8], arch: Arch) -> impl Iterator<Item = (u64, Inst)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= 4) {
            let offset = at as u64;
            match decode(rest, arch) {
                Ok(inst) => {
                    at += usize::from(inst.size);
                    return Some((offset, inst));
                }
                Err(_) => at += 4,
            }
        }
        None
    })
}

/// Decodes the text section `bytes`, loaded at device address `base`. Dwords that are no
/// instruction get no entry in the index, so that running into them is an error while their mere
/// presence is none.
pub fn decode_text(bytes: &[u8], base: u64, arch: Arch) -> Program {
    Program::new(arch, base, bytes.len() as u64, instructions(bytes, arch))
}
