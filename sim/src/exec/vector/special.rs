//! Vector instructions that cross lanes or write scalar registers: they have no per-lane kernel.
//!
//! Goes in: an instruction. Comes out: the handler that executes it, if it is one of these.

use super::{Code, Ctx, Flow, Handler, Wave, wide};
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
        Op::VSwapB32 => |wave, _, inst, _| exchange(wave, inst, |_| None),
        // Rows 0 and 2 of the source change places with rows 1 and 3 of the destination.
        Op::VPermlane16SwapB32 => {
            |wave, _, inst, _| exchange(wave, inst, |i| Some((i & 16 == 0, i ^ 16)))
        }
        // The halves of the wave likewise.
        Op::VPermlane32SwapB32 => {
            |wave, _, inst, _| exchange(wave, inst, |i| Some((i & 32 == 0, i ^ 32)))
        }
        _ => return wide::handler(inst),
    };
    Some(handler)
}

fn nop(_: &mut Wave, _: &mut Ctx<'_>, _: &Inst, _: &Code) -> Result<Flow, FaultKind> {
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

fn read_first_lane(
    wave: &mut Wave,
    _: &mut Ctx<'_>,
    inst: &Inst,
    _: &Code,
) -> Result<Flow, FaultKind> {
    let exec = wave.exec();
    // With no lane enabled, lane 0 is read.
    let lane = if exec == 0 { 0 } else { exec.trailing_zeros() as usize };
    let value = lane_of(wave, inst.src[0], lane)?;
    set_scalar32(wave, inst.dst, value);
    Ok(Flow::Next)
}

fn read_lane(wave: &mut Wave, _: &mut Ctx<'_>, inst: &Inst, _: &Code) -> Result<Flow, FaultKind> {
    let lane = scalar32(wave, inst.src[1]) as usize;
    let value = lane_of(wave, inst.src[0], lane)?;
    set_scalar32(wave, inst.dst, value);
    Ok(Flow::Next)
}

fn write_lane(wave: &mut Wave, _: &mut Ctx<'_>, inst: &Inst, _: &Code) -> Result<Flow, FaultKind> {
    let value = scalar32(wave, inst.src[0]);
    let lane = scalar32(wave, inst.src[1]) as usize % WAVE;
    let target = vector_index(wave, inst.dst, 1)?;
    wave.vgpr[target].0[lane] = value;
    Ok(Flow::Next)
}

/// Exchanges lanes of source and destination. `partner` tells for a lane whether its source half
/// takes part (else its destination half does) and which lane of the other register it trades
/// with; `None` trades the lane with itself in both.
fn exchange(
    wave: &mut Wave,
    inst: &Inst,
    partner: fn(usize) -> Option<(bool, usize)>,
) -> Result<Flow, FaultKind> {
    let source = vector_index(wave, inst.src[0], 1)?;
    let target = vector_index(wave, inst.dst, 1)?;
    let (old_source, old_target) = (wave.vgpr[source], wave.vgpr[target]);
    let new = |own: &Lanes, other: &Lanes, is_source: bool| {
        Lanes(std::array::from_fn(|i| match partner(i) {
            None => other.0[i],
            Some((source_moves, lane)) if source_moves == is_source => other.0[lane],
            Some(_) => own.0[i],
        }))
    };
    let exec = wave.exec();
    merge(&mut wave.vgpr[source], &new(&old_source, &old_target, true), exec);
    merge(&mut wave.vgpr[target], &new(&old_target, &old_source, false), exec);
    Ok(Flow::Next)
}
