//! Decoding of a whole text section.

use super::decode;
use crate::exec::Program;
use crate::isa::Arch;

/// Decodes the text section `bytes`, loaded at device address `base`. Dwords that are no
/// instruction (padding, data between functions) get no entry in the index, so that running into
/// them is an error while their mere presence is none; decoding resumes with the next dword.
pub fn decode_text(bytes: &[u8], base: u64, arch: Arch) -> Program {
    let dwords = bytes.len() / 4;
    let mut program = Program {
        arch,
        insts: Vec::with_capacity(dwords / 2),
        addr: Vec::with_capacity(dwords / 2),
        base,
        index: vec![u32::MAX; dwords],
    };
    let mut at = 0;
    while at < dwords {
        let Ok(inst) = decode(&bytes[4 * at..], arch) else {
            at += 1;
            continue;
        };
        program.index[at] = program.insts.len() as u32;
        program.addr.push(base.wrapping_add(4 * at as u64));
        program.insts.push(inst);
        at += usize::from(inst.size) / 4;
    }
    program
}
