//! `v_smfmac_*`: A holds two of every four elements of k; a 2-bit index for each says which. The
//! accumulator is D itself.
//!
//! The indices of a lane take 2 bits per stored element. Where they need less than a register, CBSZ
//! of 0 lets ABID choose the part of the register that holds them.

use super::kernel::first_row;
use super::panel::{self, Layout};
use super::{Job, Lanes, WAVE, Wave};
use crate::exec::operand::vector_index;
use crate::fault::FaultKind;
use crate::isa::Inst;

/// Executes a sparse matrix operation.
#[inline(never)]
pub(super) fn execute(wave: &mut Wave, inst: &Inst, job: &Job) -> Result<(), FaultKind> {
    let count = job.shape.per_lane();
    let index = &wave.vgpr[vector_index(wave, inst.src[2], 1)?];
    // Two bits for each of the count / 2 stored elements: `count` bits a lane.
    let sets = 32 / count.clamp(1, 32);
    let set = if inst.mods.cbsz == 0 { usize::from(inst.mods.abid) % sets } else { 0 };
    let positions: Vec<[u8; WAVE]> = (0..count / 2)
        .map(|n| index.0.map(|word| (n / 2 * 4) as u8 + (word >> (set * count + 2 * n) & 3) as u8))
        .collect();
    let b_layout = job.layout(1);
    let a_layout = Layout { count: count / 2, chunk: count / 2, ..b_layout };
    let unpacked = |side: usize, layout: Layout| {
        let mut panel = vec![0.0; layout.len()];
        let regs = job.regs(&wave.vgpr, side);
        panel::floats(&mut panel, regs, job.data[side], layout, |_| None);
        move |element: usize, lane: usize| panel[layout.place(element, lane)]
    };
    let (a, b) = (unpacked(0, a_layout), unpacked(1, b_layout));
    job.accumulate(&mut wave.vgpr, |acc| multiply(job.shape.m, acc, &positions, a, b));
    Ok(())
}

/// `a` and `b` give an element of a lane.
fn multiply(
    m: usize,
    acc: &mut [Lanes],
    positions: &[[u8; WAVE]],
    a: impl Fn(usize, usize) -> f32,
    b: impl Fn(usize, usize) -> f32,
) {
    for (r, acc) in acc.iter_mut().enumerate() {
        for (lane, acc) in acc.0.iter_mut().enumerate() {
            let (row, column) = (first_row(r) + 4 * (lane / m), lane % m);
            let mut sum = f32::from_bits(*acc);
            for group in 0..WAVE / m {
                let source = group * m + row;
                for (n, position) in positions.iter().enumerate() {
                    let k = usize::from(position[source]);
                    sum = a(n, source).mul_add(b(k, group * m + column), sum);
                }
            }
            *acc = sum.to_bits();
        }
    }
}
