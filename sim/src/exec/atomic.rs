//! Read-modify-write operations of global memory and LDS.
//!
//! Goes in: a pointer to the word and the operands. Comes out: the old value. Operations on device
//! memory are atomic across host threads; floating-point ones loop on compare-and-swap.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::formats::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

/// A read-modify-write operation; 32- or 64-bit by context where the type does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtomicOp {
    Swap,
    /// The second operand is compared with memory.
    Cmpswap,
    /// As [`AtomicOp::Cmpswap`] with floating-point comparison.
    CmpswapF,
    Add,
    Sub,
    /// Operand minus memory.
    Rsub,
    Smin,
    Umin,
    Smax,
    Umax,
    And,
    Or,
    Xor,
    /// Clear the bits of the operand, set those of the second one.
    Mskor,
    /// Up by one, to zero past the operand.
    Inc,
    /// Down by one, to the operand from zero or past it.
    Dec,
    /// Subtract the operand, or add the second one where memory is smaller.
    Wrap,
    AddF32,
    AddF64,
    MinF,
    MaxF,
    PkAddF16,
    PkAddBf16,
}

impl AtomicOp {
    /// From the end of a FLAT or MUBUF mnemonic, without `_x2`.
    pub fn parse(name: &str) -> Option<Self> {
        use AtomicOp::*;
        Some(match name {
            "swap" => Swap,
            "cmpswap" => Cmpswap,
            "add" => Add,
            "sub" => Sub,
            "smin" => Smin,
            "umin" => Umin,
            "smax" => Smax,
            "umax" => Umax,
            "and" => And,
            "or" => Or,
            "xor" => Xor,
            "inc" => Inc,
            "dec" => Dec,
            "add_f32" => AddF32,
            "add_f64" => AddF64,
            "min_f64" => MinF,
            "max_f64" => MaxF,
            "pk_add_f16" => PkAddF16,
            "pk_add_bf16" => PkAddBf16,
            _ => return None,
        })
    }

    /// From a DS mnemonic, cut into operation and type (`ds_max_rtn_i64`: `max`, `i64`).
    pub fn parse_ds(name: &str, ty: &str) -> Option<Self> {
        use AtomicOp::*;
        Some(match (name, ty.as_bytes().first()?) {
            ("wrxchg", _) => Swap,
            ("cmpst", b'f') => CmpswapF,
            ("cmpst", _) => Cmpswap,
            ("add", b'f') => {
                if ty == "f64" {
                    AddF64
                } else {
                    AddF32
                }
            }
            ("add", _) => Add,
            ("sub", _) => Sub,
            ("rsub", _) => Rsub,
            ("inc", _) => Inc,
            ("dec", _) => Dec,
            ("min", b'f') => MinF,
            ("max", b'f') => MaxF,
            ("min", b'i') => Smin,
            ("max", b'i') => Smax,
            ("min", _) => Umin,
            ("max", _) => Umax,
            ("and", _) => And,
            ("or", _) => Or,
            ("xor", _) => Xor,
            ("mskor", _) => Mskor,
            ("wrap", _) => Wrap,
            ("pk_add", b'f') => PkAddF16,
            ("pk_add", b'b') => PkAddBf16,
            _ => return None,
        })
    }
}

/// Applies `op` to the 32-bit word at `at` and returns its old value.
///
/// # Safety
/// `at` is valid, aligned to 4 bytes, and accessed by other threads only as kernels do.
pub(super) unsafe fn update32(at: *mut u32, op: AtomicOp, a: u32, b: u32) -> u32 {
    // SAFETY: by contract.
    let word = unsafe { AtomicU32::from_ptr(at) };
    let order = Ordering::AcqRel;
    match op {
        AtomicOp::Swap => word.swap(a, order),
        AtomicOp::Add => word.fetch_add(a, order),
        AtomicOp::And => word.fetch_and(a, order),
        AtomicOp::Or => word.fetch_or(a, order),
        AtomicOp::Xor => word.fetch_xor(a, order),
        _ => {
            let mut old = word.load(Ordering::Relaxed);
            loop {
                match word.compare_exchange_weak(
                    old,
                    apply32(op, old, a, b),
                    order,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => return old,
                    Err(now) => old = now,
                }
            }
        }
    }
}

/// 64-bit counterpart of [`update32`].
///
/// # Safety
/// `at` is valid, aligned to 8 bytes, and accessed by other threads only as kernels do.
pub(super) unsafe fn update64(at: *mut u64, op: AtomicOp, a: u64, b: u64) -> u64 {
    // SAFETY: by contract.
    let word = unsafe { AtomicU64::from_ptr(at) };
    let mut old = word.load(Ordering::Relaxed);
    loop {
        let new = apply64(op, old, a, b);
        match word.compare_exchange_weak(old, new, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return old,
            Err(now) => old = now,
        }
    }
}

/// What the operations do to words of a width; none for those of packed halves.
macro_rules! operations {
    ($name:ident, $word:ty, $signed:ty, $float:ty) => {
        fn $name(op: AtomicOp, old: $word, a: $word, b: $word) -> Option<$word> {
            use AtomicOp::*;
            let f = <$float>::from_bits;
            let a_if = |takes: bool| if takes { a } else { old };
            Some(match op {
                Swap => a,
                Cmpswap => a_if(old == b),
                CmpswapF => a_if(f(old) == f(b)),
                Add => old.wrapping_add(a),
                Sub => old.wrapping_sub(a),
                Rsub => a.wrapping_sub(old),
                Smin => (old as $signed).min(a as $signed) as $word,
                Umin => old.min(a),
                Smax => (old as $signed).max(a as $signed) as $word,
                Umax => old.max(a),
                And => old & a,
                Or => old | a,
                Xor => old ^ a,
                Mskor => old & !a | b,
                Inc if old >= a => 0,
                Inc => old + 1,
                Dec if old == 0 || old > a => a,
                Dec => old - 1,
                Wrap if old >= a => old - a,
                Wrap => old.wrapping_add(b),
                AddF32 | AddF64 => (f(old) + f(a)).to_bits(),
                MinF => a_if(f(a) < f(old)),
                MaxF => a_if(f(a) > f(old)),
                PkAddF16 | PkAddBf16 => return None,
            })
        }
    };
}

operations!(operate32, u32, i32, f32);
operations!(operate64, u64, i64, f64);

pub(super) fn apply32(op: AtomicOp, old: u32, a: u32, b: u32) -> u32 {
    operate32(op, old, a, b).unwrap_or_else(|| match op {
        AtomicOp::PkAddBf16 => pairs(old, a, |x, y| f32_to_bf16(bf16_to_f32(x) + bf16_to_f32(y))),
        _ => pairs(old, a, |x, y| f32_to_f16(f16_to_f32(x) + f16_to_f32(y))),
    })
}

pub(super) fn apply64(op: AtomicOp, old: u64, a: u64, b: u64) -> u64 {
    // Packed halves exist in 32 bits only.
    operate64(op, old, a, b).unwrap_or(old)
}

/// Adds the two 16-bit halves. Sums of two halves are exact in f32, so they round once.
fn pairs(x: u32, y: u32, add: impl Fn(u16, u16) -> u16) -> u32 {
    let high = add((x >> 16) as u16, (y >> 16) as u16);
    u32::from(add(x as u16, y as u16)) | u32::from(high) << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run32(op: AtomicOp, mut memory: u32, a: u32, b: u32) -> (u32, u32) {
        // SAFETY: a local word.
        let old = unsafe { update32(&mut memory, op, a, b) };
        (old, memory)
    }

    #[test]
    fn integer_operations_follow_the_isa_pseudocode() {
        use AtomicOp::*;
        let minus = u32::MAX;
        for (op, memory, a, b, want) in [
            (Swap, 5, 9, 0, 9),
            (Cmpswap, 5, 9, 5, 9),
            (Cmpswap, 5, 9, 6, 5),
            (Add, minus, 2, 0, 1),
            (Sub, 1, 2, 0, minus),
            (Rsub, 1, 9, 0, 8),
            (Smin, 1, minus, 0, minus),
            (Umin, 1, minus, 0, 1),
            (Smax, 1, minus, 0, 1),
            (Umax, 1, minus, 0, minus),
            (And, 12, 10, 0, 8),
            (Or, 12, 10, 0, 14),
            (Xor, 12, 10, 0, 6),
            (Mskor, 0xff, 0xf0, 0x50, 0x5f),
            (Inc, 3, 3, 0, 0),
            (Inc, 2, 3, 0, 3),
            (Dec, 0, 7, 0, 7),
            (Dec, 9, 7, 0, 7),
            (Dec, 7, 7, 0, 6),
            (Wrap, 10, 4, 1, 6),
            (Wrap, 3, 4, 100, 103),
        ] {
            assert_eq!(run32(op, memory, a, b), (memory, want), "{op:?}");
            if !matches!(op, Add | Sub | Smin | Umin | Smax | Umax) {
                let mut wide = u64::from(memory);
                // SAFETY: a local word.
                let old = unsafe { update64(&mut wide, op, u64::from(a), u64::from(b)) };
                assert_eq!((old, wide), (u64::from(memory), u64::from(want)), "{op:?} 64");
            }
        }
        let mut wide = 1u64;
        // SAFETY: a local word.
        let old = unsafe { update64(&mut wide, Smin, u64::MAX, 0) };
        assert_eq!((old, wide), (1, u64::MAX));
    }

    #[test]
    fn floating_point_operations_keep_the_smaller_or_larger_number() {
        use AtomicOp::*;
        let bits = f32::to_bits;
        assert_eq!(run32(AddF32, bits(1.5), bits(2.0), 0).1, bits(3.5));
        assert_eq!(run32(MinF, bits(1.5), bits(-2.0), 0).1, bits(-2.0));
        assert_eq!(run32(MaxF, bits(1.5), bits(-2.0), 0).1, bits(1.5));
        assert_eq!(run32(CmpswapF, bits(0.0), 7, bits(-0.0)).1, 7);
        // 1 + 2 and -0.5 + 0.25 in each half.
        assert_eq!(run32(PkAddF16, 0xb800_3c00, 0x3400_4000, 0).1, 0xb400_4200);
        assert_eq!(run32(PkAddBf16, 0xbf00_3f80, 0x3e80_4000, 0).1, 0xbe80_4040);
        let mut wide = 1.0f64.to_bits();
        // SAFETY: a local word.
        unsafe { update64(&mut wide, AddF64, 0.25f64.to_bits(), 0) };
        assert_eq!(f64::from_bits(wide), 1.25);
    }

    #[test]
    fn additions_from_several_threads_lose_nothing() {
        let mut word = 0f32.to_bits();
        let at = &raw mut word as usize;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || {
                    for _ in 0..1000 {
                        // SAFETY: the word outlives the scope and is accessed atomically only.
                        unsafe { update32(at as *mut u32, AtomicOp::AddF32, 1f32.to_bits(), 0) };
                    }
                });
            }
        });
        assert_eq!(f32::from_bits(word), 4000.0);
    }
}
