//! What is worked out once about a matrix operation: what it multiplies, where its operands are and how
//! this host executes it.
//!
//! Goes in: a decoded instruction. Comes out: its [`Plan`], or the fault of one that is not executed.

use super::panel::Layout;
use super::shape::{Data, Elem, Shape};
use super::unimplemented;
#[cfg(target_arch = "x86_64")]
use super::{direct, nibbles};
use crate::exec::formats::Format;
use crate::exec::step::Handler;
use crate::fault::FaultKind;
use crate::isa::{Arch, Inst};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Plan {
    pub(super) shape: Shape,
    /// Formats of A and B; of no meaning for f64.
    pub(super) data: [Data; 2],
    /// Registers of A and B.
    pub(super) registers: [usize; 2],
    /// How this host executes it.
    #[cfg(target_arch = "x86_64")]
    pub(super) way: Way,
    /// Where its unpacked operands are kept.
    #[cfg(target_arch = "x86_64")]
    pub(super) slots: [Option<u16>; 2],
}

/// The ways to execute a matrix operation.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// [`super::execute_as`].
    General,
    /// [`direct`]. `halves`: the second half of k is the second half of the registers on both sides, and
    /// of formats whose products do not round to zero.
    Direct { halves: bool },
    /// [`nibbles`], if its scales allow it.
    Nibbles,
}

impl Plan {
    /// The plan of `inst`, or a fault if it is no matrix operation or not one that is executed.
    pub fn new(inst: &Inst, arch: Arch) -> Result<Self, FaultKind> {
        let shape = Shape::of(inst.op).ok_or_else(|| unimplemented(inst, ""))?;
        if shape.a == Elem::F64 {
            return Ok(Plan::of(inst, shape, [Data::F32; 2], [0; 2]));
        }
        let fields = inst.mods;
        if shape.a != Elem::Mx && !shape.sparse {
            // AMD's calculator: broadcasts of A need blocks, those of B blocks or f32 elements.
            if shape.blocks == 1 && (fields.cbsz != 0 || fields.abid != 0) {
                return Err(unimplemented(inst, " with cbsz or abid"));
            }
            if shape.blocks == 1 && shape.a != Elem::F32 && fields.blgp != 0 {
                return Err(unimplemented(inst, " with blgp"));
            }
        }
        let data = [
            data(arch, shape.a, fields.cbsz)
                .ok_or_else(|| unimplemented(inst, " with this cbsz"))?,
            data(arch, shape.b, fields.blgp)
                .ok_or_else(|| unimplemented(inst, " with this blgp"))?,
        ];
        let per_lane = shape.per_lane();
        let packed = [if shape.sparse { per_lane / 2 } else { per_lane }, per_lane];
        let registers = [0, 1].map(|side| (packed[side] * data[side].bits()).div_ceil(32));
        Ok(Plan::of(inst, shape, data, registers))
    }

    #[cfg(target_arch = "x86_64")]
    fn of(inst: &Inst, shape: Shape, data: [Data; 2], registers: [usize; 2]) -> Self {
        let plan = Plan { shape, data, registers, way: Way::General, slots: [None; 2] };
        let way = if nibbles::suits(inst, &plan) {
            Way::Nibbles
        } else if direct::suits(inst, &plan) {
            Way::Direct { halves: direct::halves(&plan) }
        } else {
            Way::General
        };
        Plan { way, ..plan }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn of(_: &Inst, shape: Shape, data: [Data; 2], registers: [usize; 2]) -> Self {
        Plan { shape, data, registers }
    }

    /// How A (side 0) or B (side 1) becomes a panel.
    pub(super) fn layout(&self, side: usize) -> Layout {
        layout(&self.shape, self.data[side])
    }

    /// The handler that is made for operations like this one, if there is one.
    pub fn handler(&self) -> Option<Handler> {
        #[cfg(target_arch = "x86_64")]
        return match (self.way, self.shape.m) {
            (Way::Direct { .. }, 16) => Some(direct::handler::<16>()),
            (Way::Direct { .. }, _) => Some(direct::handler::<32>()),
            (Way::Nibbles, 16) => Some(nibbles::execute::<16>),
            (Way::Nibbles, _) => Some(nibbles::execute::<32>),
            (Way::General, _) => None,
        };
        #[cfg(not(target_arch = "x86_64"))]
        return None;
    }
}

/// How an operand of these elements becomes a panel. 8-bit elements of f8f6f4 lie in two chunks of 16.
pub(super) fn layout(shape: &Shape, data: Data) -> Layout {
    let count = shape.per_lane();
    let chunk = if shape.a == Elem::Mx && data.bits() == 8 { 16 } else { count };
    Layout { m: shape.m, count, chunk }
}

/// The number format that an element type means for this target and format field.
fn data(arch: Arch, elem: Elem, field: u8) -> Option<Data> {
    Some(match elem {
        Elem::F64 => return None,
        Elem::F32 => Data::F32,
        Elem::Xf32 => Data::Xf32,
        Elem::F16 => Data::F16,
        Elem::Bf16 => Data::Bf16,
        Elem::I8 => Data::I8,
        Elem::Fp8 => Data::Float(Format::fp8(arch)),
        Elem::Bf8 => Data::Float(Format::bf8(arch)),
        Elem::Mx => Data::Float(match field {
            0 => Format::Fp8,
            1 => Format::Bf8,
            2 => Format::Fp6,
            3 => Format::Bf6,
            4 => Format::Fp4,
            _ => return None,
        }),
    })
}
