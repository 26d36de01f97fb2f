//! `v_smfmac_*`: A holds two of every four elements of k; a 2-bit index for each says which. The
//! accumulator is D itself.
//!
//! The indices of a lane take 2 bits per stored element. Where they need less than a register, CBSZ
//! of 0 lets ABID choose the part of the register that holds them.

use super::kernel::first_row;
use super::panel::{self, Panel};
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
    let (mut a, mut b) = (Panel::new(), Panel::new());
    panel::floats(&mut a, job.regs(&wave.vgpr, 0), job.data[0], count / 2, |_| None);
    panel::floats(&mut b, job.regs(&wave.vgpr, 1), job.data[1], count, |_| None);
    job.accumulate(&mut wave.vgpr, |acc| {
        multiply(job.shape.m, acc, &positions, a.flat(), b.flat())
    });
    Ok(())
}

fn multiply(m: usize, acc: &mut [Lanes], positions: &[[u8; WAVE]], a: &[f32], b: &[f32]) {
    for (r, acc) in acc.iter_mut().enumerate() {
        for (lane, acc) in acc.0.iter_mut().enumerate() {
            let (row, column) = (first_row(r) + 4 * (lane / m), lane % m);
            let mut sum = f32::from_bits(*acc);
            for group in 0..WAVE / m {
                let source = group * m + row;
                for (n, position) in positions.iter().enumerate() {
                    let k = usize::from(position[source]);
                    sum = a[n * WAVE + source].mul_add(b[k * WAVE + group * m + column], sum);
                }
            }
            *acc = sum.to_bits();
        }
    }
}
