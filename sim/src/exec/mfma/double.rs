//! Matrix operations on f64: 16x16x4, and 4x4x4 with four blocks. BLGP holds the negation of A, B
//! and C (bits 0 to 2).

use super::shape::Shape;
use crate::exec::operand::{scalar, vector_index};
use crate::exec::{WAVE, Wave};
use crate::fault::FaultKind;
use crate::isa::{Inst, Operand, Ty};

/// Where the elements of the f64 shapes lie.
struct Layout {
    /// Lane of A's element (row, k) or B's (column, k) of a block.
    input: fn(block: usize, row: usize, k: usize) -> usize,
    /// Register pair and lane of D's element.
    output: fn(block: usize, row: usize, column: usize) -> (usize, usize),
}

const LARGE: Layout =
    Layout { input: |_, row, k| 16 * k + row, output: |_, i, j| (i / 4, 16 * (i % 4) + j) };
const SMALL: Layout = Layout {
    input: |block, row, k| 16 * k + 4 * block + row,
    output: |block, i, j| (0, 16 * i + 4 * block + j),
};

/// Executes an f64 matrix operation.
pub(super) fn execute(wave: &mut Wave, inst: &Inst, shape: &Shape) -> Result<(), FaultKind> {
    let (m, layout) = (shape.m, if shape.m == 16 { LARGE } else { SMALL });
    let regs = 2 * m * m * shape.blocks / WAVE;
    let dst = vector_index(wave, inst.dst, regs)?;
    let negate = |bit: u8, x: f64| if inst.mods.blgp >> bit & 1 == 1 { -x } else { x };
    let a = pair(wave, vector_index(wave, inst.src[0], 2)?).map(|x| negate(0, x));
    let b = pair(wave, vector_index(wave, inst.src[1], 2)?).map(|x| negate(1, x));
    let mut sums: [[f64; WAVE]; 4] = match inst.src[2] {
        c @ (Operand::Vgpr(_) | Operand::Agpr(_)) => {
            let c = vector_index(wave, c, regs)?;
            std::array::from_fn(|p| if 2 * p < regs { pair(wave, c + 2 * p) } else { [0.0; WAVE] })
        }
        c => [[f64::from_bits(scalar(wave, c, Ty::F64)); WAVE]; 4],
    };
    for block in 0..shape.blocks {
        for i in 0..m {
            for j in 0..m {
                let (p, lane) = (layout.output)(block, i, j);
                sums[p][lane] = (0..shape.k).fold(negate(2, sums[p][lane]), |sum, k| {
                    a[(layout.input)(block, i, k)].mul_add(b[(layout.input)(block, j, k)], sum)
                });
            }
        }
    }
    for (p, sum) in sums.iter().enumerate().take(regs / 2) {
        for (lane, x) in sum.iter().enumerate() {
            wave.vgpr[dst + 2 * p].0[lane] = x.to_bits() as u32;
            wave.vgpr[dst + 2 * p + 1].0[lane] = (x.to_bits() >> 32) as u32;
        }
    }
    Ok(())
}

/// The f64 values of a register pair.
fn pair(wave: &Wave, first: usize) -> [f64; WAVE] {
    let (low, high) = (&wave.vgpr[first].0, &wave.vgpr[first + 1].0);
    std::array::from_fn(|l| f64::from_bits(u64::from(low[l]) | u64::from(high[l]) << 32))
}
