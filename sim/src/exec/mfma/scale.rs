//! The e8m0 block scales of `v_mfma_scale_*`: one for each row of A (column of B) and 32 elements
//! of k, held by the lane `row + m * (k / 32)` in one byte of its scale register.

use super::kernel;
use super::shape::Data;
use super::{Job, Lanes, WAVE, Wave};
use crate::exec::formats::e8m0_to_f32;
use crate::exec::operand::{scalar32, vector_index};
use crate::fault::FaultKind;
use crate::isa::{Operand, ScaleOperands};

/// Where the scales of one operand come from: a register, or the same word in every lane.
#[derive(Clone, Copy)]
pub(super) struct Scales {
    pub register: Option<usize>,
    pub constant: u32,
    /// Byte of the word.
    pub byte: u32,
}

/// Scale of elements 0..16 and 16..32 of each lane.
pub(super) type Factors = [[f32; WAVE]; 2];

impl Scales {
    /// Locates the scales of A (side 0) or B (side 1).
    pub fn locate(wave: &Wave, scale: &ScaleOperands, side: usize) -> Result<Self, FaultKind> {
        let byte = u32::from((scale.op_sel >> side & 1) | (scale.op_sel_hi >> side & 1) << 1);
        Ok(match scale.src[side] {
            src @ (Operand::Vgpr(_) | Operand::Agpr(_)) => {
                Scales { register: Some(vector_index(wave, src, 1)?), constant: 0, byte }
            }
            src => Scales { register: None, constant: scalar32(wave, src), byte },
        })
    }

    /// The scales' codes, one a lane.
    #[inline(always)]
    pub fn codes(&self, vgpr: &[Lanes]) -> [u8; WAVE] {
        let mut codes = [(self.constant >> (8 * self.byte)) as u8; WAVE];
        if let Some(r) = self.register {
            for (code, word) in codes.iter_mut().zip(&vgpr[r].0) {
                *code = (word >> (8 * self.byte)) as u8;
            }
        }
        codes
    }

    /// Whether a scaled element might be too large for f32: the largest bf8 is below 2^16, so scales
    /// up to 2^112 are safe. Small ones always are: elements are multiples of 2^-16, and multiples
    /// of 2^-149 are exact, if subnormal.
    #[inline(always)]
    pub fn extreme(codes: &[u8; WAVE]) -> bool {
        codes.iter().fold(false, |e, &s| e | (240..=254).contains(&s))
    }

    /// The factors of each lane's elements. In `chunked` operands the two halves are two chunks of
    /// 16 consecutive k, otherwise halves of 32 consecutive k.
    #[inline(always)]
    pub fn factors(codes: &[u8; WAVE], m: usize, chunked: bool) -> Factors {
        let values = codes.map(e8m0_to_f32);
        if !chunked {
            return [values; 2];
        }
        let groups = WAVE / m;
        std::array::from_fn(|half| {
            std::array::from_fn(|lane| {
                let (row, group) = (lane % m, lane / m);
                values[(group + half * groups) / 2 * m + row]
            })
        })
    }
}

/// The scaled product in f64, for scales that f32 elements cannot carry.
#[cold]
#[inline(never)]
pub(super) fn run_wide(vgpr: &mut [Lanes], job: &Job) {
    let [a, b] = [0, 1].map(|side| panel(vgpr, job, side));
    let acc = job.accumulators(vgpr);
    match job.shape.m {
        16 => kernel::multiply_wide::<16>(acc, &a, &b),
        _ => kernel::multiply_wide::<32>(acc, &a, &b),
    }
}

fn panel(vgpr: &[Lanes], job: &Job, side: usize) -> Vec<f64> {
    let layout = job.layout(side);
    let mut panel = vec![0.0; layout.len()];
    let (regs, Data::Float(format)) = (job.regs(vgpr, side), job.data[side]) else {
        return panel;
    };
    let bits = job.data[side].bits();
    let factors =
        job.scales[side].map(|s| Scales::factors(&s.codes(vgpr), job.shape.m, layout.chunk == 16));
    for j in 0..layout.count {
        let (index, shift) = (j * bits / 32, j * bits % 32);
        let row = std::array::from_fn(|lane| {
            let word = |i: usize| regs.get(i).map_or(0, |r| u64::from(r.0[lane]));
            let code = ((word(index) | word(index + 1) << 32) >> shift) as u8;
            let factor = factors.as_ref().map_or(1.0, |f| f64::from(f[j / 16][lane]));
            f64::from(format.decode(code)) * factor
        });
        layout.put(&mut panel, j, &row);
    }
    panel
}
