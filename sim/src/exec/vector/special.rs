//! Vector instructions that cross lanes or write scalar registers: they have no per-lane kernel.
//!
//! Goes in: an instruction. Comes out: the handler that executes it, if it is one of these.

use super::{Code, Ctx, Flow, Handler, Step, Wave, for_host, wide};
use crate::exec::mode::GPR_IDX_EN;
use crate::exec::operand::{scalar32, set_scalar32, vector_index};
use crate::exec::{Lanes, WAVE};
use crate::fault::FaultKind;
use crate::isa::{Inst, Op, Operand};

use super::mask::merge;

pub(super) fn handler(inst: &Inst) -> Option<Handler> {
    let handler: Handler = match inst.op {
        Op::VNop | Op::VClrexcp => nop,
        Op::VReadfirstlaneB32 => read_first_lane,
        Op::VReadlaneB32 => read_lane,
        Op::VWritelaneB32 => write_lane,
        Op::VSwapB32 => for_host!(exchange::<0>),
        // Rows 0 and 2 of the source change places with rows 1 and 3 of the destination.
        Op::VPermlane16SwapB32 => for_host!(exchange::<16>),
        // The halves of the wave likewise.
        Op::VPermlane32SwapB32 => for_host!(exchange::<32>),
        _ => return wide::handler(inst),
    };
    Some(handler)
}

fn nop(_: &mut Wave, _: &mut Ctx<'_>, _: &Inst, _: &Code) -> Step {
    Ok(Flow::Next)
}

/// A lane of a source, or the source itself if it is a scalar.
fn lane_of(wave: &Wave, operand: Operand, lane: usize) -> Result<u32, FaultKind> {
    match operand {
        Operand::Vgpr(_) | Operand::Agpr(_) => {
            Ok(wave.vgpr[vector_index(wave, operand, 1)?].0[lane % WAVE])
        }
        _ => Ok(scalar32(wave, operand)),
    }
}

fn read_first_lane(wave: &mut Wave, _: &mut Ctx<'_>, inst: &Inst, _: &Code) -> Step {
    let exec = wave.exec();
    // With no lane enabled, lane 0 is read.
    let lane = if exec == 0 { 0 } else { exec.trailing_zeros() as usize };
    let value = lane_of(wave, inst.src[0], lane)?;
    set_scalar32(wave, inst.dst, value);
    Ok(Flow::Next)
}

fn read_lane(wave: &mut Wave, _: &mut Ctx<'_>, inst: &Inst, _: &Code) -> Step {
    let lane = scalar32(wave, inst.src[1]) as usize;
    let value = lane_of(wave, inst.src[0], lane)?;
    set_scalar32(wave, inst.dst, value);
    Ok(Flow::Next)
}

fn write_lane(wave: &mut Wave, _: &mut Ctx<'_>, inst: &Inst, _: &Code) -> Step {
    let value = scalar32(wave, inst.src[0]);
    let lane = scalar32(wave, inst.src[1]) as usize % WAVE;
    let target = vector_index(wave, inst.dst, 1)?;
    wave.vgpr[target].0[lane] = value;
    Ok(Flow::Next)
}

/// Copies a register or a scalar. In the relative indexing mode it is left to the slow path.
#[inline(always)]
pub(super) fn mov(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst, code: &Code) -> Step {
    if wave.mode & GPR_IDX_EN != 0 {
        return super::unusual(wave, ctx, inst, code);
    }
    let target = vector_index(wave, inst.dst, 1)?;
    let exec = wave.exec();
    match inst.src[0] {
        register @ (Operand::Vgpr(_) | Operand::Agpr(_)) => {
            let value = wave.vgpr[vector_index(wave, register, 1)?];
            merge(&mut wave.vgpr[target], &value, exec);
        }
        scalar => {
            let value = scalar32(wave, scalar);
            let target = &mut wave.vgpr[target];
            if exec == u64::MAX {
                target.0.fill(value);
            } else {
                merge(target, &Lanes([value; WAVE]), exec);
            }
        }
    }
    Ok(Flow::Next)
}

/// Exchanges lanes of source and destination: all of them for `STEP` 0, else the even blocks of
/// `STEP` lanes of the source with the odd ones of the destination.
#[inline(always)]
fn exchange<const STEP: usize>(wave: &mut Wave, _: &mut Ctx<'_>, inst: &Inst, _: &Code) -> Step {
    let source = vector_index(wave, inst.src[0], 1)?;
    let target = vector_index(wave, inst.dst, 1)?;
    let (old_source, old_target) = (wave.vgpr[source], wave.vgpr[target]);
    let (mut new_source, mut new_target) = (old_target, old_source);
    if STEP > 0 {
        (new_source, new_target) = (old_source, old_target);
        for even in (0..WAVE).step_by(2 * STEP) {
            let odd = even + STEP;
            new_source.0[even..odd].copy_from_slice(&old_target.0[odd..odd + STEP]);
            new_target.0[odd..odd + STEP].copy_from_slice(&old_source.0[even..odd]);
        }
    }
    let exec = wave.exec();
    merge(&mut wave.vgpr[source], &new_source, exec);
    merge(&mut wave.vgpr[target], &new_target, exec);
    Ok(Flow::Next)
}
