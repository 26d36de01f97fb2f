//! Why a launch stopped: every error the device can raise, with the place where it happened.

use crate::isa::Arch;

/// What went wrong, without the place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FaultKind {
    /// An access outside every live allocation.
    #[error("lane {lane} accessed {bytes} bytes at {addr:#x}, which no allocation holds")]
    OutOfBounds {
        /// Lane of the wave, 0 for scalar accesses.
        lane: u8,
        /// Device address.
        addr: u64,
        /// Bytes accessed.
        bytes: u32,
    },
    /// An LDS access past the workgroup's allocation.
    #[error("lane {lane} accessed LDS byte {offset} of {size}")]
    LdsOutOfBounds {
        /// Lane of the wave.
        lane: u8,
        /// Byte offset in LDS.
        offset: u64,
        /// Bytes allocated to the workgroup.
        size: u32,
    },
    /// An access whose alignment the hardware does not allow.
    #[error("lane {lane} accessed {addr:#x}, which is not aligned to {align} bytes")]
    Misaligned {
        /// Lane of the wave.
        lane: u8,
        /// Device address.
        addr: u64,
        /// Required alignment.
        align: u32,
    },
    /// An encoding the decoder does not know.
    #[error("unknown instruction {word:#010x} for {arch}")]
    UnknownInstruction {
        /// First dword.
        word: u32,
        /// Target.
        arch: Arch,
    },
    /// An instruction or modifier that decodes but is not executed.
    #[error("instruction not implemented: {text}")]
    Unimplemented {
        /// Disassembly, or the mnemonic and what about it is missing.
        text: String,
    },
    /// A register was read or overwritten while a memory operation still owed it a value.
    #[error("{register} used before the s_waitcnt that covers it")]
    UnmetWait {
        /// Register name, as in `v12`.
        register: String,
    },
    /// An operand names a vector register that the kernel did not allocate.
    #[error("{register} is outside the registers that the kernel descriptor allocates")]
    NoRegister {
        /// Register name, as in `v12`.
        register: String,
    },
    /// Control left the code object's text, or landed between instructions.
    #[error("jump to {addr:#x}, which is not an instruction")]
    BadJump {
        /// Target address.
        addr: u64,
    },
    /// The program executed a trap.
    #[error("s_trap {id}")]
    Trap {
        /// Trap number.
        id: u16,
    },
    /// No wave of the workgroup can make progress.
    #[error("no wave can make progress: {what}")]
    Deadlock {
        /// What the waves wait for.
        what: String,
    },
    /// The launch ran past its instruction limit.
    #[error("more than {limit} instructions in one wave; the kernel does not seem to end")]
    Runaway {
        /// Instruction limit per wave.
        limit: u64,
    },
}

/// A [`FaultKind`] with kernel, workgroup, wave and program counter.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "device fault in {kernel} at pc {pc:#x} ({inst}), workgroup {workgroup:?}, wave {wave}: {kind}"
)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// Kernel symbol.
    pub kernel: String,
    /// Byte offset of the instruction from the kernel's entry.
    pub pc: u64,
    /// Disassembly of the instruction.
    pub inst: String,
    /// Workgroup id.
    pub workgroup: [u32; 3],
    /// Wave within the workgroup.
    pub wave: u32,
}
