//! Binary decode: machine code bytes to [`Inst`].
//!
//! Goes in: the bytes at an instruction and the target. Comes out: the instruction with its
//! operands resolved, or why the bytes are none. Which encoding a word belongs to is decided here;
//! the fields of each encoding are read in the submodules.

mod arch;
mod matrix;
mod memory;
mod modifiers;
mod operand;
mod scalar;
#[cfg(test)]
mod tests;
mod text;
mod vector;

use super::{Arch, Enc, Inst, Mods, Op, Operand};

pub use arch::available;
pub(super) use matrix::{is_mix, selects_halves};
pub(super) use modifiers::selects_byte;
pub(super) use scalar::NO_IMMEDIATE;
pub use text::{decode_text, instructions};
pub(super) use vector::from_8_bit_float;

/// Why bytes are not an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end inside the instruction.
    #[error("the code ends inside an instruction")]
    Truncated,
    /// No encoding of this target has this bit pattern.
    #[error("{arch}: {word:#010x} belongs to no known instruction encoding")]
    UnknownEncoding {
        /// Target.
        arch: Arch,
        /// First word.
        word: u32,
    },
    /// The encoding has no such operation.
    #[error("{arch}: unknown {enc:?} opcode {opcode} in {word:#010x}")]
    UnknownOpcode {
        /// Target.
        arch: Arch,
        /// Encoding.
        enc: Enc,
        /// Operation number within the encoding.
        opcode: u16,
        /// First word.
        word: u32,
    },
    /// The operation exists, but not on this target.
    #[error("{arch} has no {}", .op.info().name)]
    NotOnArch {
        /// Target.
        arch: Arch,
        /// Operation.
        op: Op,
    },
    /// A field holds a value that the operation does not allow.
    #[error("{arch}: {} in {word:#010x}: {what}", .op.info().name)]
    BadField {
        /// Target.
        arch: Arch,
        /// Operation.
        op: Op,
        /// First word.
        word: u32,
        /// What is wrong.
        what: &'static str,
    },
}

/// Decodes the instruction at the start of `bytes`.
///
/// # Errors
/// [`DecodeError`] when the bytes are no instruction of `arch`.
pub fn decode(bytes: &[u8], arch: Arch) -> Result<Inst, DecodeError> {
    Decoder { bytes, arch, word: word(bytes, 0)? }.decode()
}

/// The 32-bit word at word index `i`.
fn word(bytes: &[u8], i: usize) -> Result<u32, DecodeError> {
    bytes
        .get(4 * i..4 * i + 4)
        .and_then(|b| b.try_into().ok())
        .map(u32::from_le_bytes)
        .ok_or(DecodeError::Truncated)
}

/// Bits `hi..=lo` of a word.
const fn bits(word: u32, hi: u32, lo: u32) -> u32 {
    (word >> lo) & (u32::MAX >> (31 - (hi - lo)))
}

/// One bit of a word.
const fn bit(word: u32, n: u32) -> bool {
    (word >> n) & 1 != 0
}

/// The low `width` bits of a word as a signed number.
const fn sign_extend(value: u32, width: u32) -> i32 {
    (value << (32 - width)) as i32 >> (32 - width)
}

/// The bytes being decoded.
struct Decoder<'a> {
    bytes: &'a [u8],
    arch: Arch,
    /// First word.
    word: u32,
}

impl Decoder<'_> {
    fn decode(&self) -> Result<Inst, DecodeError> {
        let w = self.word;
        match w >> 23 {
            0x17d => return self.sop1(),
            0x17e => return self.sopc(),
            0x17f => return self.sopp(),
            0x1a7 => return self.vop3p(),
            _ => {}
        }
        if w >> 30 == 0b10 {
            return if w >> 28 == 0b1011 { self.sopk() } else { self.sop2() };
        }
        if w >> 31 == 0 {
            return match w >> 25 {
                0x3f => self.vop1(),
                0x3e => self.vopc(),
                _ => self.vop2(),
            };
        }
        match w >> 26 {
            0b11_0000 => self.smem(),
            0b11_0100 => self.vop3(),
            0b11_0110 => self.ds(),
            0b11_0111 => self.flat(),
            0b11_1000 => self.mubuf(),
            0b11_1010 => self.mtbuf(),
            _ => Err(DecodeError::UnknownEncoding { arch: self.arch, word: w }),
        }
    }

    /// Word `i` of the instruction.
    fn word(&self, i: usize) -> Result<u32, DecodeError> {
        word(self.bytes, i)
    }

    /// Finds an opcode in its (ascending) table, on this target.
    fn op(&self, enc: Enc, table: &[(u16, Op)], opcode: u32) -> Result<Op, DecodeError> {
        let opcode = opcode as u16;
        let Ok(i) = table.binary_search_by_key(&opcode, |e| e.0) else {
            return Err(DecodeError::UnknownOpcode {
                arch: self.arch,
                enc,
                opcode,
                word: self.word,
            });
        };
        let op = table[i].1;
        if !available(op, self.arch) {
            return Err(DecodeError::NotOnArch { arch: self.arch, op });
        }
        Ok(op)
    }

    fn bad(&self, op: Op, what: &'static str) -> DecodeError {
        DecodeError::BadField { arch: self.arch, op, word: self.word, what }
    }
}

/// An instruction without operands.
fn plain(op: Op, enc: Enc, size: u8) -> Inst {
    Inst {
        op,
        enc,
        size,
        dst: Operand::None,
        sdst: Operand::None,
        src: [Operand::None; 3],
        imm: 0,
        mods: Mods::default(),
        scale: None,
    }
}
