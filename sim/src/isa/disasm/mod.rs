//! LLVM-syntax text of decoded instructions, as `llvm-objdump -d --mcpu=<arch>` prints it.
//!
//! Goes in: an [`Inst`]. Comes out: its text; for a whole text section, one line per instruction
//! with address, code words and symbolised branch target.

mod listing;
mod memory;
mod names;
mod operand;
mod scalar;
mod vector;

use super::{Enc, Inst, Op};

pub use listing::{Line, listing};

/// Text of one instruction, e.g. `v_add_f32_e32 v1, v2, v3`. Branch distances are printed in
/// dwords; [`listing`] adds the target's name.
pub fn disassemble(inst: &Inst) -> String {
    if inst.op == Op::Unknown {
        return format!(".long {:#010x}", inst.imm as u32);
    }
    match inst.enc {
        Enc::Sop1 | Enc::Sop2 | Enc::Sopc => scalar::sop(inst),
        Enc::Sopk => scalar::sopk(inst),
        Enc::Sopp => scalar::sopp(inst),
        Enc::Smem => scalar::smem(inst),
        Enc::Vop1 | Enc::Vop2 | Enc::Vopc | Enc::Vop3 | Enc::Vop3sd => vector::vop(inst),
        Enc::Vop3p => vector::vop3p(inst),
        Enc::Mai | Enc::MaiScale => vector::mai(inst),
        Enc::Ds => memory::ds(inst),
        Enc::Flat | Enc::Global | Enc::Scratch => memory::flat(inst),
        Enc::Mubuf | Enc::Mtbuf => memory::buffer(inst),
    }
    .finish()
}

/// The parts of an instruction's text.
struct Text {
    mnemonic: String,
    operands: Vec<String>,
    /// Each with its leading space.
    modifiers: String,
}

impl Text {
    fn new(mnemonic: impl Into<String>) -> Self {
        Text { mnemonic: mnemonic.into(), operands: Vec::new(), modifiers: String::new() }
    }

    fn operand(&mut self, text: impl Into<String>) {
        self.operands.push(text.into());
    }

    fn modifier(&mut self, text: impl AsRef<str>) {
        self.modifiers.push(' ');
        self.modifiers.push_str(text.as_ref());
    }

    /// A modifier without a value, when set.
    fn flag(&mut self, set: bool, name: &str) {
        if set {
            self.modifier(name);
        }
    }

    fn finish(self) -> String {
        let mut text = self.mnemonic;
        if !self.operands.is_empty() {
            text.push(' ');
            text.push_str(&self.operands.join(", "));
        }
        text.push_str(&self.modifiers);
        text
    }
}
