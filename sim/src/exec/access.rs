//! What each memory instruction moves, and the moving itself once every lane has a host address.
//!
//! Goes in: an operation, the vector registers and a checked host pointer per lane. Comes out:
//! changed registers or memory. LDS, scratch, global and buffer instructions share it.

use std::sync::LazyLock;

use super::atomic::{self, AtomicOp};
use super::{Lanes, WAVE, quad};
use crate::isa::{Op, op};

/// Which part of a register a sub-dword access uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The whole register, extended from the memory size.
    Whole,
    /// The low half; the high half is kept.
    Low,
    /// The high half; the low half is kept.
    High,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Memory to registers.
    Load { signed: bool, part: Part },
    /// Registers to memory.
    Store { part: Part },
    /// Read-modify-write.
    Atomic(AtomicOp),
    /// Cache control: nothing to do functionally.
    Control,
    /// Anything else.
    Other,
}

/// An operation's action and the bytes it moves per lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spec {
    pub action: Action,
    /// Bytes in memory per lane: 1, 2, 4, 8, 12 or 16.
    pub bytes: u32,
    /// Whether the mnemonic says that loaded data goes to LDS.
    pub to_lds: bool,
}

static SPECS: LazyLock<Vec<Spec>> =
    LazyLock::new(|| op::ALL.iter().map(|op| parse(op.info().name)).collect());

impl Spec {
    /// What `op` does; worked out from the mnemonics once.
    #[inline]
    pub fn of(op: Op) -> Spec {
        SPECS[op as usize]
    }

    /// A load or store of whole dwords.
    pub const fn plain(bytes: u32, load: bool) -> Spec {
        let part = Part::Whole;
        let action =
            if load { Action::Load { signed: false, part } } else { Action::Store { part } };
        Spec { action, bytes, to_lds: false }
    }

    /// Registers that hold one lane's data.
    #[inline]
    pub fn dwords(self) -> usize {
        self.bytes.div_ceil(4) as usize
    }
}

/// Spec of a FLAT, GLOBAL, SCRATCH, MUBUF or DS mnemonic.
fn parse(name: &str) -> Spec {
    let spec = |action, bytes| Spec { action, bytes, to_lds: false };
    let other = spec(Action::Other, 0);
    let Some((space, rest)) = name.split_once('_') else { return other };
    if !["flat", "global", "scratch", "buffer", "ds"].contains(&space) {
        return other;
    }
    if ["inv", "wbl2", "nop"].contains(&rest) {
        return spec(Action::Control, 0);
    }
    if space == "ds" {
        return parse_ds(rest).unwrap_or(other);
    }
    let parsed = match rest.split_once('_') {
        Some(("load", what)) => match what.strip_prefix("lds_") {
            Some(what) => transfer(what, true).map(|spec| Spec { to_lds: true, ..spec }),
            None => transfer(what, true),
        },
        Some(("store", what)) => transfer(what, false),
        Some(("atomic", what)) => {
            let (what, wide) = match what.strip_suffix("_x2") {
                Some(what) => (what, true),
                None => (what, what.ends_with("f64")),
            };
            AtomicOp::parse(what).map(|op| spec(Action::Atomic(op), if wide { 8 } else { 4 }))
        }
        _ => None,
    };
    parsed.unwrap_or(other)
}

fn transfer(what: &str, load: bool) -> Option<Spec> {
    let (what, part) = match (what.strip_suffix("_d16_hi"), what.strip_suffix("_d16")) {
        (Some(what), _) => (what, Part::High),
        (_, Some(what)) => (what, Part::Low),
        _ => (what, Part::Whole),
    };
    let (bytes, signed) = match what {
        "ubyte" | "byte" | "u8" | "b8" => (1, false),
        "sbyte" | "i8" => (1, true),
        "ushort" | "short" | "u16" | "b16" => (2, false),
        "sshort" | "i16" => (2, true),
        "dword" | "b32" => (4, false),
        "dwordx2" | "b64" => (8, false),
        "dwordx3" | "b96" => (12, false),
        "dwordx4" | "b128" => (16, false),
        _ => return None,
    };
    let action = if load { Action::Load { signed, part } } else { Action::Store { part } };
    Some(Spec { action, bytes, to_lds: false })
}

/// `rest` is a DS mnemonic without `ds_`.
fn parse_ds(rest: &str) -> Option<Spec> {
    match rest.split_once('_') {
        Some(("read", what)) => return transfer(what, true),
        Some(("write", what)) => return transfer(what, false),
        _ => {}
    }
    let (name, ty) = rest.rsplit_once('_')?;
    let name = name.strip_suffix("_rtn").unwrap_or(name);
    let op = AtomicOp::parse_ds(name, ty)?;
    let bytes = if ty.ends_with("64") { 8 } else { 4 };
    Some(Spec { action: Action::Atomic(op), bytes, to_lds: false })
}

/// The active lanes of a mask, in ascending order. Most masks are full: nothing depends on the lane
/// before.
#[inline(always)]
pub(super) fn lanes(mask: u64) -> impl Iterator<Item = usize> {
    (0..WAVE).filter(move |lane| mask >> lane & 1 == 1)
}

/// Calls `f` for each active lane, in ascending order.
#[inline(always)]
pub(super) fn each_lane(mask: u64, mut f: impl FnMut(usize)) {
    for lane in lanes(mask) {
        f(lane);
    }
}

/// Loads each active lane's data into `regs`.
///
/// # Safety
/// For every lane in `mask`, `at(lane)` points to `spec.bytes` readable bytes outside `regs`.
#[inline(always)]
pub(super) unsafe fn load(
    regs: &mut [Lanes],
    spec: Spec,
    mask: u64,
    at: impl Fn(usize) -> *const u8,
) {
    let Action::Load { signed, part } = spec.action else { return };
    match (spec.bytes, regs) {
        // SAFETY: one or two readable bytes, by contract.
        (1, [reg, ..]) if signed => {
            load_part(reg, part, mask, |lane| unsafe { at(lane).cast::<i8>().read() as u32 });
        }
        (1, [reg, ..]) => load_part(reg, part, mask, |lane| unsafe { at(lane).read().into() }),
        (2, [reg, ..]) if signed => load_part(reg, part, mask, |lane| unsafe {
            at(lane).cast::<i16>().read_unaligned() as u32
        }),
        (2, [reg, ..]) => load_part(reg, part, mask, |lane| unsafe {
            at(lane).cast::<u16>().read_unaligned().into()
        }),
        // SAFETY: the caller's contract, for each width.
        (_, [a]) => unsafe { load_dwords([a], mask, at) },
        (_, [a, b]) => unsafe { load_dwords([a, b], mask, at) },
        (_, [a, b, c]) => unsafe { load_dwords([a, b, c], mask, at) },
        (_, [a, b, c, d]) => unsafe { load_dwords([a, b, c, d], mask, at) },
        _ => {}
    }
}

/// Loads what `value` gives for each active lane to a register or half of it.
#[inline(always)]
fn load_part(reg: &mut Lanes, part: Part, mask: u64, value: impl Fn(usize) -> u32) {
    if mask == u64::MAX && part == Part::Whole {
        for (lane, reg) in reg.0.iter_mut().enumerate() {
            *reg = value(lane);
        }
        return;
    }
    for lane in lanes(mask) {
        insert(&mut reg.0[lane], value(lane), part);
    }
}

/// Writes a loaded value to a register or half of it.
#[inline(always)]
pub(super) fn insert(reg: &mut u32, value: u32, part: Part) {
    *reg = match part {
        Part::Whole => value,
        Part::Low => *reg & 0xffff_0000 | value & 0xffff,
        Part::High => *reg & 0xffff | value << 16,
    };
}

#[inline(always)]
unsafe fn load_dwords<const N: usize>(
    mut regs: [&mut Lanes; N],
    mask: u64,
    at: impl Fn(usize) -> *const u8,
) {
    // SAFETY: 4 * N readable bytes, by the contract of `load`.
    if mask == u64::MAX && unsafe { quad::load(&mut regs, &at) } {
        return;
    }
    for lane in lanes(mask) {
        // SAFETY: 4 * N readable bytes, by the contract of `load`.
        let data = unsafe { at(lane).cast::<[u32; N]>().read_unaligned() };
        for n in 0..N {
            regs[n].0[lane] = data[n];
        }
    }
}

/// Stores each active lane's data from `regs`, in ascending order of lanes.
///
/// # Safety
/// For every lane in `mask`, `at(lane)` points to `spec.bytes` writable bytes outside `regs`.
#[inline(always)]
pub(super) unsafe fn store(regs: &[Lanes], spec: Spec, mask: u64, at: impl Fn(usize) -> *mut u8) {
    let Action::Store { part } = spec.action else { return };
    let shift = if part == Part::High { 16 } else { 0 };
    match (spec.bytes, regs) {
        (1, [reg, ..]) => {
            for lane in lanes(mask) {
                // SAFETY: one writable byte, by contract.
                unsafe { at(lane).write((reg.0[lane] >> shift) as u8) }
            }
        }
        (2, [reg, ..]) => {
            for lane in lanes(mask) {
                // SAFETY: two writable bytes, by contract.
                unsafe { at(lane).cast::<u16>().write_unaligned((reg.0[lane] >> shift) as u16) }
            }
        }
        // SAFETY: the caller's contract, for each width.
        (_, [a]) => unsafe { store_dwords([a], mask, at) },
        (_, [a, b]) => unsafe { store_dwords([a, b], mask, at) },
        (_, [a, b, c]) => unsafe { store_dwords([a, b, c], mask, at) },
        (_, [a, b, c, d]) => unsafe { store_dwords([a, b, c, d], mask, at) },
        _ => {}
    }
}

#[inline(always)]
unsafe fn store_dwords<const N: usize>(
    regs: [&Lanes; N],
    mask: u64,
    at: impl Fn(usize) -> *mut u8,
) {
    // SAFETY: 4 * N writable bytes, by the contract of `store`.
    if mask == u64::MAX && unsafe { quad::store(&regs, &at) } {
        return;
    }
    for lane in lanes(mask) {
        let data: [u32; N] = std::array::from_fn(|n| regs[n].0[lane]);
        // SAFETY: 4 * N writable bytes, by the contract of `store`.
        unsafe { at(lane).cast::<[u32; N]>().write_unaligned(data) }
    }
}

/// Performs a read-modify-write for each active lane, in ascending order, and returns the old
/// values. `data` holds the operand in `bytes / 4` registers, then for compare-and-swap the value
/// to compare with.
///
/// # Safety
/// For every lane in `mask`, `at(lane)` points to `bytes` writable bytes, aligned to `bytes`, that
/// other threads access only atomically or racily as kernels do.
pub(super) unsafe fn update(
    data: &[Lanes],
    op: AtomicOp,
    bytes: u32,
    mask: u64,
    at: impl Fn(usize) -> *mut u8,
) -> [u64; WAVE] {
    let mut old = [0; WAVE];
    let word = |n: usize, lane: usize| data.get(n).map_or(0, |r| r.0[lane]);
    let wide =
        |n: usize, lane: usize| u64::from(word(n, lane)) | u64::from(word(n + 1, lane)) << 32;
    each_lane(mask, |lane| {
        // SAFETY: aligned and valid, by contract.
        old[lane] = unsafe {
            if bytes == 8 {
                atomic::update64(at(lane).cast(), op, wide(0, lane), wide(2, lane))
            } else {
                let old = atomic::update32(at(lane).cast(), op, word(0, lane), word(1, lane));
                u64::from(old)
            }
        };
    });
    old
}

/// Writes the old values of an atomic of `bytes` bytes to `regs`.
pub(super) fn write_old(regs: &mut [Lanes], old: &[u64; WAVE], mask: u64) {
    each_lane(mask, |lane| {
        for (n, reg) in regs.iter_mut().enumerate() {
            reg.0[lane] = (old[lane] >> (32 * n)) as u32;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_parts_follow_the_mnemonics() {
        let spec = |op: Op| Spec::of(op);
        let load = |signed, part| Action::Load { signed, part };
        assert_eq!(spec(Op::GlobalLoadDwordx3).bytes, 12);
        assert_eq!(spec(Op::FlatLoadSbyteD16Hi).action, load(true, Part::High));
        assert_eq!(spec(Op::ScratchLoadShortD16).action, load(false, Part::Low));
        assert_eq!(spec(Op::ScratchLoadShortD16).bytes, 2);
        assert_eq!(spec(Op::DsReadI16).action, load(true, Part::Whole));
        assert_eq!(spec(Op::DsWriteB8D16Hi).action, Action::Store { part: Part::High });
        assert_eq!(spec(Op::GlobalLoadLdsDwordx4).bytes, 16);
        assert_eq!(spec(Op::DsAddRtnF64).action, Action::Atomic(AtomicOp::AddF64));
        assert_eq!(spec(Op::DsAddRtnF64).bytes, 8);
        assert_eq!(spec(Op::BufferAtomicUmaxX2).action, Action::Atomic(AtomicOp::Umax));
        assert_eq!(spec(Op::BufferAtomicUmaxX2).bytes, 8);
        assert_eq!(spec(Op::BufferInv).action, Action::Control);
        assert_eq!(spec(Op::SLoadDword).action, Action::Other);
    }

    #[test]
    fn every_memory_operation_but_the_typed_ones_has_a_spec() {
        let missing: Vec<&str> = op::ALL
            .iter()
            .filter(|op| Spec::of(**op).action == Action::Other)
            .map(|op| op.info().name)
            .filter(|n| {
                ["flat_", "global_", "scratch_", "buffer_"].iter().any(|p| n.starts_with(p))
            })
            .filter(|n| !n.contains("_format_"))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
