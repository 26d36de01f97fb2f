//! The instruction loop: one instruction for the timing model, or a run of them for functional
//! execution.
//!
//! Goes in: a wave and what it can reach. Comes out: the changed wave and why it stopped.

use super::host::for_host;
use super::program::{Code, Unit};
use super::tally::Tally;
use super::{Ctx, Flow, Wave, global, lds, mfma, scalar, smem};
use crate::fault::FaultKind;
use crate::isa::{Enc, Inst, Op};

/// Executes one instruction; `Wave::pc` already points past it.
///
/// # Safety
/// The host must have what the function is compiled for; [`super::host::for_host`] sees to that.
pub(super) type Handler = unsafe fn(&mut Wave, &mut Ctx<'_>, &Inst, &Code) -> Step;

/// What a handler returns. Faults are boxed so that it fits two host registers.
pub(super) type Step = Result<Flow, Box<FaultKind>>;

/// Executes the instruction at [`Wave::pc`]. On a fault the program counter stays on it.
pub fn step(wave: &mut Wave, ctx: &mut Ctx<'_>) -> Result<Flow, FaultKind> {
    run(wave, ctx, 1).map(|(flow, _)| flow)
}

/// Executes instructions until a barrier, the end of the program or `limit` of them. Returns why
/// it stopped ([`Flow::Next`] or [`Flow::Branch`] at the limit) and how many were executed.
pub fn run(wave: &mut Wave, ctx: &mut Ctx<'_>, limit: u64) -> Result<(Flow, u64), FaultKind> {
    drive(wave, ctx, limit, |_, _| {})
}

/// [`run`] that also counts how often each instruction of the program was executed.
pub fn run_counted(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    limit: u64,
    tally: &mut Tally,
) -> Result<(Flow, u64), FaultKind> {
    drive(wave, ctx, limit, |first, end| tally.add(first, end))
}

/// `stretch` is told of instructions that were executed one after the other: the first one's index, and
/// that behind the last one.
#[inline(always)]
fn drive(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    limit: u64,
    mut stretch: impl FnMut(usize, usize),
) -> Result<(Flow, u64), FaultKind> {
    let program = ctx.program;
    #[cfg(target_arch = "x86_64")]
    wave.panels.forget_others(&program.slots);
    let mut flow = Flow::Next;
    let mut first = wave.pc;
    for done in 0..limit {
        let pc = wave.pc;
        let (Some(inst), Some(code)) = (program.insts.get(pc), program.code.get(pc)) else {
            let addr = match pc.checked_sub(1) {
                Some(last) if last < program.insts.len() => program.end_of(last),
                _ => program.base,
            };
            return Err(FaultKind::BadJump { addr });
        };
        wave.pc = pc + 1;
        // SAFETY: the program's handlers were chosen for this host.
        let step = unsafe { (code.run)(wave, ctx, inst, code) };
        #[cfg(target_arch = "x86_64")]
        if code.overwrite != u32::MAX
            && let Some(&slots) = program.overwrites.get(code.overwrite as usize)
        {
            wave.panels.make_stale(slots);
        }
        flow = match step {
            Ok(flow) => flow,
            Err(fault) => {
                wave.pc = pc;
                return Err(*fault);
            }
        };
        if flow != Flow::Next {
            stretch(first, pc + 1);
            first = wave.pc;
            if flow != Flow::Branch {
                return Ok((flow, done + 1));
            }
        }
    }
    if first < wave.pc && flow == Flow::Next {
        stretch(first, wave.pc);
    }
    Ok((flow, limit))
}

/// The function that executes `inst`, or `None` if its unit is the vector ALU.
pub(super) fn handler(inst: &Inst) -> Option<Handler> {
    if inst.op == Op::Unknown {
        return Some(unknown);
    }
    Some(match inst.enc {
        Enc::Sop1 | Enc::Sop2 | Enc::Sopc | Enc::Sopk | Enc::Sopp => scalar::handler(inst),
        Enc::Vop1 | Enc::Vop2 | Enc::Vopc | Enc::Vop3 | Enc::Vop3sd | Enc::Vop3p => return None,
        Enc::Mai if matches!(inst.op, Op::VAccvgprReadB32 | Op::VAccvgprWriteB32) => return None,
        Enc::Mai | Enc::MaiScale => matrix,
        Enc::Smem => |wave, ctx, inst, _| next(smem::execute(wave, ctx, inst)),
        Enc::Ds => lds::handler(inst).unwrap_or(for_host!(lds)),
        Enc::Flat | Enc::Global | Enc::Scratch | Enc::Mubuf | Enc::Mtbuf => global::handler(inst),
    })
}

#[inline(always)]
fn lds(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst, _: &Code) -> Step {
    next(lds::execute(wave, ctx, inst))
}

fn matrix(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst, code: &Code) -> Step {
    next(match &code.unit {
        Unit::Matrix(plan) => mfma::execute_as(plan, wave, inst),
        // Says what about it is not executed.
        _ => mfma::execute(wave, ctx, inst),
    })
}

/// What follows an instruction that does not branch.
#[inline(always)]
fn next(result: Result<(), FaultKind>) -> Step {
    Ok(result.map(|()| Flow::Next)?)
}

/// The fault of an instruction that is decoded but not executed.
pub(super) fn unimplemented(inst: &Inst) -> FaultKind {
    FaultKind::Unimplemented { text: inst.op.info().name.to_owned() }
}

/// Running into what is no instruction.
fn unknown(_: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst, _: &Code) -> Step {
    Err(FaultKind::UnknownInstruction { word: inst.imm as u32, arch: ctx.program.arch }.into())
}

pub(super) fn missing(_: &mut Wave, _: &mut Ctx<'_>, inst: &Inst, _: &Code) -> Step {
    Err(unimplemented(inst).into())
}
