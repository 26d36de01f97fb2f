//! Hardware registers that a wave can read or set, and relative indexing.
//!
//! Goes in: the register id, bit offset and size of `s_getreg` and `s_setreg`. Comes out: a field
//! of MODE or STATUS, read or changed.

use super::{Flow, Inst, Result, Wave, put32};
use crate::exec::mode::GPR_IDX_EN;
use crate::fault::FaultKind;
use crate::isa::reg;

const MODE: u32 = 1;
const STATUS: u32 = 2;
const TRAPSTS: u32 = 3;
const HW_ID: u32 = 4;
const XCC_ID: u32 = 20;

/// Id, first bit and mask (at bit 0) of a register field.
fn field(inst: &Inst) -> (u32, u32, u32) {
    let imm = inst.imm as u32;
    let size = (imm >> 11 & 31) + 1;
    (imm & 63, imm >> 6 & 31, u32::MAX >> (32 - size))
}

pub(super) fn get(wave: &mut Wave, inst: &Inst) -> Result<Flow> {
    let (id, offset, mask) = field(inst);
    let value = match id {
        MODE => wave.mode,
        // SCC, EXECZ and VCCZ.
        STATUS => {
            u32::from(wave.scc)
                | u32::from(wave.exec() == 0) << 9
                | u32::from(wave.vcc() == 0) << 10
        }
        // No exception is ever pending, and every wave is as if alone on the first unit.
        TRAPSTS | HW_ID | XCC_ID => 0,
        _ => return Err(missing(inst, id).into()),
    };
    put32(wave, inst, value >> offset & mask, None)
}

pub(super) fn set(wave: &mut Wave, inst: &Inst, value: u32) -> Result<Flow> {
    let (id, offset, mask) = field(inst);
    match id {
        MODE => {
            let mask = mask << offset;
            wave.mode = wave.mode & !mask | value << offset & mask;
            Ok(Flow::Next)
        }
        // Exceptions are not raised, so there is nothing to clear.
        TRAPSTS => Ok(Flow::Next),
        _ => Err(missing(inst, id).into()),
    }
}

fn missing(inst: &Inst, id: u32) -> FaultKind {
    FaultKind::Unimplemented { text: format!("{} of register {id}", inst.op.info().name) }
}

/// `s_set_gpr_idx_on`: the index, and which operands it applies to.
pub(super) fn set_index_on(wave: &mut Wave, index: u32, enable: u32) -> Result<Flow> {
    let m0 = &mut wave.sgpr[usize::from(reg::M0)];
    *m0 = *m0 & !0xf0ff | index & 0xff | (enable & 15) << 12;
    wave.mode |= GPR_IDX_EN;
    Ok(Flow::Next)
}
