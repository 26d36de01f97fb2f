//! Listing of a whole text section.

use super::disassemble;
use crate::isa::{Arch, Enc, Inst, Op, decode};

/// One line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Address of the instruction.
    pub address: u64,
    /// Its code words.
    pub words: Vec<u32>,
    /// Its text, or `.long 0x...` for a dword that is no instruction.
    pub text: String,
    /// Where a direct branch goes.
    pub target: Option<u64>,
}

impl Line {
    /// The line as `llvm-objdump -d` prints it, without its leading tab: the text padded to 59
    /// columns, the address, the code words and, for a branch, `<symbol+offset>` by `name`.
    pub fn render(&self, name: impl Fn(u64) -> Option<String>) -> String {
        let mut out = format!("{:<59}// {:012X}:", self.text, self.address);
        for word in &self.words {
            out.push_str(&format!(" {word:08X}"));
        }
        if let Some(symbol) = self.target.and_then(name) {
            out.push_str(&format!(" <{symbol}>"));
        }
        out
    }
}

/// Disassembles the text section `bytes` at address `base`.
pub fn listing(bytes: &[u8], base: u64, arch: Arch) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= 4) {
        let address = base.wrapping_add(at as u64);
        let (size, text, target) = match decode(rest, arch) {
            Ok(inst) => (usize::from(inst.size), disassemble(&inst), branch_target(&inst, address)),
            Err(_) => {
                let word = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]);
                (4, format!(".long {word:#010x}"), None)
            }
        };
        let words = rest[..size]
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        lines.push(Line { address, words, text, target });
        at += size;
    }
    lines
}

/// Where a SOPP or SOPK branch at `address` goes.
fn branch_target(inst: &Inst, address: u64) -> Option<u64> {
    let branches = match inst.enc {
        Enc::Sopp => inst.op == Op::SBranch || inst.op.info().name.starts_with("s_cbranch"),
        Enc::Sopk => matches!(inst.op, Op::SCallB64 | Op::SCbranchIFork),
        _ => false,
    };
    branches.then(|| address.wrapping_add(4).wrapping_add_signed(i64::from(inst.imm) * 4))
}
