//! The CDNA3/CDNA4 instruction set: binary decode into [`Inst`] and LLVM-syntax disassembly.
//!
//! Goes in: the bytes of a code object's `.text`. Comes out: one [`Inst`] per instruction, with
//! operands resolved, and its text as `llvm-objdump` prints it.

pub mod class;
mod decode;
mod disasm;
mod inst;
pub mod op;
mod part;
mod regs;
mod types;

pub use class::{Class, MemOp, class};
pub use decode::{DecodeError, available, decode, decode_text, instructions};
pub use disasm::{Line, disassemble, listing};
pub use inst::{Dpp, Enc, Inst, Mods, Operand, ScaleOperands, Sdwa, SdwaSel, reg};
pub use op::{Op, OpInfo, Ty};
pub use part::{Part, written_part};
pub use regs::{File, RegRange, Regs, may_index_registers, regs};
pub use types::source_types;

/// A target the simulator executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Arch {
    /// CDNA3: MI300X.
    Gfx942,
    /// CDNA4: MI355X.
    Gfx950,
}

impl Arch {
    /// All targets, oldest first.
    pub const ALL: [Arch; 2] = [Arch::Gfx942, Arch::Gfx950];

    /// LLVM processor name.
    pub const fn name(self) -> &'static str {
        match self {
            Arch::Gfx942 => "gfx942",
            Arch::Gfx950 => "gfx950",
        }
    }
}

impl std::fmt::Display for Arch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
