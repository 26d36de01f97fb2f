//! Comparisons and class tests: one flag per lane.
//!
//! Goes in: an operation. Comes out: its kernel. The `v_cmpx` forms compute the same flags; that
//! they also set EXEC is the caller's business.

// Neither the negation of a comparison nor "less or greater" is another comparison when a NaN is
// involved.
#![allow(clippy::neg_cmp_op_on_partial_ord, clippy::double_comparisons)]

use super::kernel::kernels;
use super::lane::Half;

/// Index in the class mask of a float with `exponent` and `fraction` fields; `quiet` is the top
/// fraction bit and `special` the all-ones exponent.
#[inline(always)]
fn class(negative: bool, exponent: u64, fraction: u64, quiet: u64, special: u64) -> u32 {
    let signed = |minus: u32, plus: u32| if negative { minus } else { plus };
    let nan = if fraction & quiet != 0 { 1 } else { 0 };
    let top = if fraction != 0 { nan } else { signed(2, 9) };
    let low = if fraction != 0 { signed(4, 7) } else { signed(5, 6) };
    let finite = if exponent != 0 { signed(3, 8) } else { low };
    if exponent == special { top } else { finite }
}

#[inline(always)]
fn class_f16(x: u16) -> u32 {
    let x = u64::from(x);
    class(x >> 15 == 1, x >> 10 & 0x1f, x & 0x3ff, 0x200, 0x1f)
}

#[inline(always)]
fn class_f32(x: u32) -> u32 {
    let x = u64::from(x);
    class(x >> 31 == 1, x >> 23 & 0xff, x & 0x7f_ffff, 0x40_0000, 0xff)
}

#[inline(always)]
fn class_f64(x: u64) -> u32 {
    class(x >> 63 == 1, x >> 52 & 0x7ff, x & 0xf_ffff_ffff_ffff, 1 << 51, 0x7ff)
}

kernels! {
    /// Kernels of `v_cmp_*` and `v_cmpx_*`.
    pub(super) fn lookup;
    VCmpClassF32 | VCmpxClassF32 (a: u32, b: u32) -> bool { b >> class_f32(a) & 1 == 1 }
    VCmpLtF32 | VCmpxLtF32 (a: f32, b: f32) -> bool { a < b }
    VCmpEqF32 | VCmpxEqF32 (a: f32, b: f32) -> bool { a == b }
    VCmpLeF32 | VCmpxLeF32 (a: f32, b: f32) -> bool { a <= b }
    VCmpGtF32 | VCmpxGtF32 (a: f32, b: f32) -> bool { a > b }
    VCmpLgF32 | VCmpxLgF32 (a: f32, b: f32) -> bool { a < b || a > b }
    VCmpGeF32 | VCmpxGeF32 (a: f32, b: f32) -> bool { a >= b }
    VCmpOF32 | VCmpxOF32 (a: f32, b: f32) -> bool { !(a.is_nan() || b.is_nan()) }
    VCmpUF32 | VCmpxUF32 (a: f32, b: f32) -> bool { a.is_nan() || b.is_nan() }
    VCmpNgeF32 | VCmpxNgeF32 (a: f32, b: f32) -> bool { !(a >= b) }
    VCmpNlgF32 | VCmpxNlgF32 (a: f32, b: f32) -> bool { !(a < b || a > b) }
    VCmpNgtF32 | VCmpxNgtF32 (a: f32, b: f32) -> bool { !(a > b) }
    VCmpNleF32 | VCmpxNleF32 (a: f32, b: f32) -> bool { !(a <= b) }
    VCmpNeqF32 | VCmpxNeqF32 (a: f32, b: f32) -> bool { a != b }
    VCmpNltF32 | VCmpxNltF32 (a: f32, b: f32) -> bool { !(a < b) }
    VCmpLtF64 | VCmpxLtF64 (a: f64, b: f64) -> bool { a < b }
    VCmpEqF64 | VCmpxEqF64 (a: f64, b: f64) -> bool { a == b }
    VCmpLeF64 | VCmpxLeF64 (a: f64, b: f64) -> bool { a <= b }
    VCmpGtF64 | VCmpxGtF64 (a: f64, b: f64) -> bool { a > b }
    VCmpLgF64 | VCmpxLgF64 (a: f64, b: f64) -> bool { a < b || a > b }
    VCmpGeF64 | VCmpxGeF64 (a: f64, b: f64) -> bool { a >= b }
    VCmpOF64 | VCmpxOF64 (a: f64, b: f64) -> bool { !(a.is_nan() || b.is_nan()) }
    VCmpUF64 | VCmpxUF64 (a: f64, b: f64) -> bool { a.is_nan() || b.is_nan() }
    VCmpNgeF64 | VCmpxNgeF64 (a: f64, b: f64) -> bool { !(a >= b) }
    VCmpNlgF64 | VCmpxNlgF64 (a: f64, b: f64) -> bool { !(a < b || a > b) }
    VCmpNgtF64 | VCmpxNgtF64 (a: f64, b: f64) -> bool { !(a > b) }
    VCmpNleF64 | VCmpxNleF64 (a: f64, b: f64) -> bool { !(a <= b) }
    VCmpNeqF64 | VCmpxNeqF64 (a: f64, b: f64) -> bool { a != b }
    VCmpNltF64 | VCmpxNltF64 (a: f64, b: f64) -> bool { !(a < b) }
    VCmpLtI32 | VCmpxLtI32 (a: i32, b: i32) -> bool { a < b }
    VCmpEqI32 | VCmpxEqI32 (a: i32, b: i32) -> bool { a == b }
    VCmpLeI32 | VCmpxLeI32 (a: i32, b: i32) -> bool { a <= b }
    VCmpGtI32 | VCmpxGtI32 (a: i32, b: i32) -> bool { a > b }
    VCmpNeI32 | VCmpxNeI32 (a: i32, b: i32) -> bool { a != b }
    VCmpGeI32 | VCmpxGeI32 (a: i32, b: i32) -> bool { a >= b }
    VCmpLtU32 | VCmpxLtU32 (a: u32, b: u32) -> bool { a < b }
    VCmpEqU32 | VCmpxEqU32 (a: u32, b: u32) -> bool { a == b }
    VCmpLeU32 | VCmpxLeU32 (a: u32, b: u32) -> bool { a <= b }
    VCmpGtU32 | VCmpxGtU32 (a: u32, b: u32) -> bool { a > b }
    VCmpNeU32 | VCmpxNeU32 (a: u32, b: u32) -> bool { a != b }
    VCmpGeU32 | VCmpxGeU32 (a: u32, b: u32) -> bool { a >= b }
    VCmpLtI64 | VCmpxLtI64 (a: i64, b: i64) -> bool { a < b }
    VCmpEqI64 | VCmpxEqI64 (a: i64, b: i64) -> bool { a == b }
    VCmpLeI64 | VCmpxLeI64 (a: i64, b: i64) -> bool { a <= b }
    VCmpGtI64 | VCmpxGtI64 (a: i64, b: i64) -> bool { a > b }
    VCmpNeI64 | VCmpxNeI64 (a: i64, b: i64) -> bool { a != b }
    VCmpGeI64 | VCmpxGeI64 (a: i64, b: i64) -> bool { a >= b }
    VCmpLtU64 | VCmpxLtU64 (a: u64, b: u64) -> bool { a < b }
    VCmpEqU64 | VCmpxEqU64 (a: u64, b: u64) -> bool { a == b }
    VCmpLeU64 | VCmpxLeU64 (a: u64, b: u64) -> bool { a <= b }
    VCmpGtU64 | VCmpxGtU64 (a: u64, b: u64) -> bool { a > b }
    VCmpNeU64 | VCmpxNeU64 (a: u64, b: u64) -> bool { a != b }
    VCmpGeU64 | VCmpxGeU64 (a: u64, b: u64) -> bool { a >= b }
}

kernels! {
    single
    /// Kernels of rare comparisons.
    pub(super) fn lookup_rare;
    VCmpClassF16 | VCmpxClassF16 (a: u16, b: u32) -> bool { b >> class_f16(a) & 1 == 1 }
    VCmpFF16 | VCmpxFF16 (a: Half, b: Half) -> bool { false }
    VCmpLtF16 | VCmpxLtF16 (a: Half, b: Half) -> bool { a.0 < b.0 }
    VCmpEqF16 | VCmpxEqF16 (a: Half, b: Half) -> bool { a.0 == b.0 }
    VCmpLeF16 | VCmpxLeF16 (a: Half, b: Half) -> bool { a.0 <= b.0 }
    VCmpGtF16 | VCmpxGtF16 (a: Half, b: Half) -> bool { a.0 > b.0 }
    VCmpLgF16 | VCmpxLgF16 (a: Half, b: Half) -> bool { a.0 < b.0 || a.0 > b.0 }
    VCmpGeF16 | VCmpxGeF16 (a: Half, b: Half) -> bool { a.0 >= b.0 }
    VCmpOF16 | VCmpxOF16 (a: Half, b: Half) -> bool { !(a.0.is_nan() || b.0.is_nan()) }
    VCmpUF16 | VCmpxUF16 (a: Half, b: Half) -> bool { a.0.is_nan() || b.0.is_nan() }
    VCmpNgeF16 | VCmpxNgeF16 (a: Half, b: Half) -> bool { !(a.0 >= b.0) }
    VCmpNlgF16 | VCmpxNlgF16 (a: Half, b: Half) -> bool { !(a.0 < b.0 || a.0 > b.0) }
    VCmpNgtF16 | VCmpxNgtF16 (a: Half, b: Half) -> bool { !(a.0 > b.0) }
    VCmpNleF16 | VCmpxNleF16 (a: Half, b: Half) -> bool { !(a.0 <= b.0) }
    VCmpNeqF16 | VCmpxNeqF16 (a: Half, b: Half) -> bool { a.0 != b.0 }
    VCmpNltF16 | VCmpxNltF16 (a: Half, b: Half) -> bool { !(a.0 < b.0) }
    VCmpTruF16 | VCmpxTruF16 (a: Half, b: Half) -> bool { true }
    VCmpFI16 | VCmpxFI16 (a: i16, b: i16) -> bool { false }
    VCmpLtI16 | VCmpxLtI16 (a: i16, b: i16) -> bool { a < b }
    VCmpEqI16 | VCmpxEqI16 (a: i16, b: i16) -> bool { a == b }
    VCmpLeI16 | VCmpxLeI16 (a: i16, b: i16) -> bool { a <= b }
    VCmpGtI16 | VCmpxGtI16 (a: i16, b: i16) -> bool { a > b }
    VCmpNeI16 | VCmpxNeI16 (a: i16, b: i16) -> bool { a != b }
    VCmpGeI16 | VCmpxGeI16 (a: i16, b: i16) -> bool { a >= b }
    VCmpTI16 | VCmpxTI16 (a: i16, b: i16) -> bool { true }
    VCmpFU16 | VCmpxFU16 (a: u16, b: u16) -> bool { false }
    VCmpLtU16 | VCmpxLtU16 (a: u16, b: u16) -> bool { a < b }
    VCmpEqU16 | VCmpxEqU16 (a: u16, b: u16) -> bool { a == b }
    VCmpLeU16 | VCmpxLeU16 (a: u16, b: u16) -> bool { a <= b }
    VCmpGtU16 | VCmpxGtU16 (a: u16, b: u16) -> bool { a > b }
    VCmpNeU16 | VCmpxNeU16 (a: u16, b: u16) -> bool { a != b }
    VCmpGeU16 | VCmpxGeU16 (a: u16, b: u16) -> bool { a >= b }
    VCmpTU16 | VCmpxTU16 (a: u16, b: u16) -> bool { true }
    VCmpFF32 | VCmpxFF32 (a: f32, b: f32) -> bool { false }
    VCmpTruF32 | VCmpxTruF32 (a: f32, b: f32) -> bool { true }
    VCmpFF64 | VCmpxFF64 (a: f64, b: f64) -> bool { false }
    VCmpTruF64 | VCmpxTruF64 (a: f64, b: f64) -> bool { true }
    VCmpFI32 | VCmpxFI32 (a: i32, b: i32) -> bool { false }
    VCmpTI32 | VCmpxTI32 (a: i32, b: i32) -> bool { true }
    VCmpFU32 | VCmpxFU32 (a: u32, b: u32) -> bool { false }
    VCmpTU32 | VCmpxTU32 (a: u32, b: u32) -> bool { true }
    VCmpFI64 | VCmpxFI64 (a: i64, b: i64) -> bool { false }
    VCmpTI64 | VCmpxTI64 (a: i64, b: i64) -> bool { true }
    VCmpFU64 | VCmpxFU64 (a: u64, b: u64) -> bool { false }
    VCmpTU64 | VCmpxTU64 (a: u64, b: u64) -> bool { true }
    VCmpClassF64 | VCmpxClassF64 (a: u64, b: u32) -> bool { b >> class_f64(a) & 1 == 1 }
}
