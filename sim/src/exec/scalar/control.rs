//! Program control: branches, calls, barriers and the end.
//!
//! Goes in: an instruction and the program it is part of. Comes out: the wave's program counter and
//! what the driver does next.

use super::{Ctx, Flow, Inst, Op, Result, Wave, scalar64, set_scalar64, unimplemented};
use crate::exec::mode::GPR_IDX_EN;
use crate::exec::program::Code;
use crate::fault::FaultKind;
use crate::isa::reg;

/// Goes to the target of the branch that was just fetched.
pub(super) fn branch(wave: &mut Wave, ctx: &Ctx<'_>, code: &Code) -> Result<Flow> {
    if code.target == u32::MAX {
        let addr = ctx.program.branch_address(wave.pc - 1);
        return Err(FaultKind::BadJump { addr }.into());
    }
    wave.pc = code.target as usize;
    Ok(Flow::Branch)
}

/// `s_getpc`, `s_setpc`, `s_swappc`.
pub(super) fn program_counter(wave: &mut Wave, ctx: &Ctx<'_>, inst: &Inst) -> Result<Flow> {
    let next = ctx.program.end_of(wave.pc - 1);
    if inst.op == Op::SGetpcB64 {
        set_scalar64(wave, inst.dst, next);
        return Ok(Flow::Next);
    }
    let addr = scalar64(wave, inst.src[0]);
    wave.pc = ctx.program.index_of(addr).ok_or(FaultKind::BadJump { addr })?;
    if inst.op == Op::SSwappcB64 {
        set_scalar64(wave, inst.dst, next);
    }
    Ok(Flow::Branch)
}

#[inline(always)]
pub(super) fn sopp(
    op: Op,
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    code: &Code,
) -> Result<Flow> {
    let taken = match op {
        Op::SBranch => true,
        Op::SCbranchScc0 => !wave.scc,
        Op::SCbranchScc1 => wave.scc,
        Op::SCbranchVccz => wave.vcc() == 0,
        Op::SCbranchVccnz => wave.vcc() != 0,
        Op::SCbranchExecz => wave.exec() == 0,
        Op::SCbranchExecnz => wave.exec() != 0,
        // No debugger is ever attached.
        Op::SCbranchCdbgsys
        | Op::SCbranchCdbguser
        | Op::SCbranchCdbgsysOrUser
        | Op::SCbranchCdbgsysAndUser => false,
        Op::SEndpgm | Op::SEndpgmSaved | Op::SEndpgmOrderedPsDone => return Ok(Flow::End),
        Op::SBarrier => return Ok(Flow::Barrier),
        Op::STrap => return Err(FaultKind::Trap { id: inst.imm as u16 & 0xff }.into()),
        Op::SSetGprIdxOff => {
            wave.mode &= !GPR_IDX_EN;
            false
        }
        Op::SSetGprIdxMode => {
            let m0 = &mut wave.sgpr[usize::from(reg::M0)];
            *m0 = *m0 & !0xf000 | (inst.imm as u32 & 15) << 12;
            false
        }
        // Scheduling, caches and messages to the host: nothing of it changes the wave's state.
        Op::SNop
        | Op::SWaitcnt
        | Op::SSleep
        | Op::SSetprio
        | Op::SWakeup
        | Op::SSendmsg
        | Op::SIcacheInv
        | Op::SIncperflevel
        | Op::SDecperflevel
        | Op::STtracedata => false,
        _ => return Err(unimplemented(inst).into()),
    };
    if taken { branch(wave, ctx, code) } else { Ok(Flow::Next) }
}
