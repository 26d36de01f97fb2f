//! Architectural state of a wave and what its instructions can reach.

use super::Program;
use super::mfma::Kept;
#[cfg(target_arch = "x86_64")]
use super::mfma::slots::Panels;
use super::vector::Scratch;
use crate::isa::reg;
use crate::memory::AddressSpace;

/// Lanes of a wave.
pub const WAVE: usize = 64;

/// Flat addresses of LDS start here and take 4 GiB (`src_shared_base`, `src_shared_limit`).
pub const SHARED_APERTURE: u64 = 1 << 48;

/// Flat addresses of private memory start here and take 4 GiB (`src_private_base`,
/// `src_private_limit`).
pub const PRIVATE_APERTURE: u64 = 1 << 49;

/// One vector register: 64 lanes of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Lanes(pub [u32; WAVE]);

impl Lanes {
    /// All lanes zero.
    pub const ZERO: Lanes = Lanes([0; WAVE]);
}

/// What the driver of a wave does after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Flow {
    /// Go on with the next instruction (`Wave::pc` already points to it).
    Next,
    /// A branch was taken (`Wave::pc` points to its target).
    Branch,
    /// Wait for the other waves of the workgroup.
    Barrier,
    /// The wave has ended.
    End,
}

/// Which memory path an access takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MemKind {
    /// No memory access.
    #[default]
    None,
    /// Scalar load through the scalar cache; `addr[0]` and `bytes` describe it.
    Scalar,
    /// Vector load.
    Load,
    /// Vector store.
    Store,
    /// Vector atomic.
    Atomic,
    /// Vector load that lands in LDS.
    LoadToLds,
    /// LDS read; `addr` holds LDS byte offsets.
    LdsRead,
    /// LDS write.
    LdsWrite,
    /// LDS atomic.
    LdsAtomic,
    /// Lane exchange through the LDS crossbar (bpermute, permute, swizzle): no banks involved.
    LdsLane,
}

/// The memory access of the last instruction.
#[derive(Clone, Debug)]
pub struct MemAccess {
    /// Path.
    pub kind: MemKind,
    /// Lanes that took part.
    pub mask: u64,
    /// Bytes per lane (for read2/write2: of each of the two).
    pub bytes: u32,
    /// Address of each lane: device address, or LDS byte offset.
    pub addr: [u64; WAVE],
    /// Second address of each lane (read2/write2), valid when `two`.
    pub addr2: [u64; WAVE],
    /// Whether `addr2` counts.
    pub two: bool,
    /// Whether anybody wants the addresses: they may be missing otherwise.
    pub wanted: bool,
}

impl Default for MemAccess {
    fn default() -> Self {
        MemAccess {
            kind: MemKind::None,
            mask: 0,
            bytes: 0,
            addr: [0; WAVE],
            addr2: [0; WAVE],
            two: false,
            wanted: true,
        }
    }
}

/// What the instructions of a workgroup can reach besides their wave.
pub struct Ctx<'a> {
    /// Decoded text.
    pub program: &'a Program,
    /// Global memory.
    pub mem: &'a AddressSpace,
    /// The workgroup's LDS.
    pub lds: &'a mut [u8],
    /// Access of the last memory instruction; untouched by all others.
    pub access: MemAccess,
    /// Core clock counter for `s_memtime`/`s_memrealtime`, advanced by the driver.
    pub clock: u64,
}

/// Architectural state of one wave.
#[derive(Clone, Debug)]
pub struct Wave {
    /// Index of the next instruction in [`Program::insts`].
    pub pc: usize,
    /// Scalar file by hardware number: SGPRs, VCC (106), TTMP (108..), M0 (124), EXEC (126).
    pub sgpr: [u32; 128],
    /// Scalar condition code.
    pub scc: bool,
    /// MODE register: round 0-3, denorm 4-7, dx10_clamp 8, ieee 9, fp16_ovfl 23.
    pub mode: u32,
    /// Vector registers: `acc_base` architected ones, then the accumulation registers. The wave keeps some
    /// of them in another form as well: whoever writes to them between two of its instructions calls
    /// [`Wave::forget_unpacked`].
    pub vgpr: Vec<Lanes>,
    /// Index of accumulation register 0 in `vgpr`.
    pub acc_base: usize,
    /// Private memory: 64 lanes of `scratch_stride` bytes, lane after lane.
    pub scratch: Vec<u8>,
    /// Private bytes per lane.
    pub scratch_stride: u32,
    /// Wave within its workgroup.
    pub id: u32,
    /// Working registers of vector instructions; nothing in them outlives an instruction.
    pub(super) lanes: Box<Scratch>,
    /// Unpacked operands of its matrix operations, by what their registers held.
    pub(super) kept: Kept,
    /// Unpacked operands of its matrix operations, by their program's slots.
    #[cfg(target_arch = "x86_64")]
    pub(super) panels: Panels,
}

impl Wave {
    /// A wave with `arch` architected and `acc` accumulation registers, everything zero.
    pub fn new(arch: usize, acc: usize, scratch_stride: u32) -> Self {
        Wave {
            pc: 0,
            sgpr: [0; 128],
            scc: false,
            mode: 0,
            vgpr: vec![Lanes::ZERO; arch + acc],
            acc_base: arch,
            scratch: vec![0; WAVE * scratch_stride as usize],
            scratch_stride,
            id: 0,
            lanes: Box::new(Scratch::ZERO),
            kept: Kept::default(),
            #[cfg(target_arch = "x86_64")]
            panels: Panels::default(),
        }
    }

    /// To be called after writing to `vgpr`, unless the wave has executed nothing yet.
    pub fn forget_unpacked(&mut self) {
        #[cfg(target_arch = "x86_64")]
        self.panels.forget();
    }

    /// Makes the registers, SCC and the private memory of a used wave zero. MODE, the program counter and
    /// the wave's number are left to the caller.
    pub fn clear(&mut self) {
        self.sgpr = [0; 128];
        self.scc = false;
        self.vgpr.fill(Lanes::ZERO);
        self.scratch.fill(0);
        self.forget_unpacked();
    }

    /// Execution mask.
    #[inline]
    pub fn exec(&self) -> u64 {
        self.sgpr64(reg::EXEC)
    }

    /// Sets the execution mask.
    #[inline]
    pub fn set_exec(&mut self, mask: u64) {
        self.set_sgpr64(reg::EXEC, mask);
    }

    /// Vector condition code.
    #[inline]
    pub fn vcc(&self) -> u64 {
        self.sgpr64(reg::VCC)
    }

    /// A scalar register pair.
    #[inline]
    pub fn sgpr64(&self, n: u16) -> u64 {
        let n = n as usize;
        u64::from(self.sgpr[n]) | u64::from(self.sgpr[n + 1]) << 32
    }

    /// Writes a scalar register pair.
    #[inline]
    pub fn set_sgpr64(&mut self, n: u16, value: u64) {
        let n = n as usize;
        self.sgpr[n] = value as u32;
        self.sgpr[n + 1] = (value >> 32) as u32;
    }
}
