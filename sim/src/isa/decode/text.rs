//! Decoding of a whole text section.

use super::decode;
use crate::exec::Program;
use crate::isa::{Arch, Enc, Inst, Mods, Op, Operand};

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

/// Decodes the text section `bytes`, loaded at device address `base`. The first of a run of dwords
/// that are no instruction becomes an [`Op::Unknown`], so that running into them is an error while
/// their mere presence is none.
pub fn decode_text(bytes: &[u8], base: u64, arch: Arch) -> Program {
    let mut end = 0;
    let all = instructions(bytes, arch).flat_map(|(offset, inst)| {
        let gap = (end < offset).then(|| (end, unknown(bytes, end)));
        end = offset + u64::from(inst.size);
        gap.into_iter().chain([(offset, inst)])
    });
    let mut list: Vec<(u64, Inst)> = all.collect();
    let end = list.last().map_or(0, |(offset, inst)| offset + u64::from(inst.size));
    if end < bytes.len() as u64 {
        list.push((end, unknown(bytes, end)));
    }
    Program::new(arch, base, bytes.len() as u64, list)
}

/// Stands for a dword that is no instruction; its value is in `imm`.
fn unknown(bytes: &[u8], offset: u64) -> Inst {
    let dword = usize::try_from(offset).ok().and_then(|at| bytes.get(at..)?.first_chunk::<4>());
    Inst {
        op: Op::Unknown,
        enc: Enc::Sopp,
        size: 4,
        dst: Operand::None,
        sdst: Operand::None,
        src: [Operand::None; 3],
        imm: i32::from_le_bytes(dword.copied().unwrap_or_default()),
        mods: Mods::default(),
        scale: None,
    }
}
