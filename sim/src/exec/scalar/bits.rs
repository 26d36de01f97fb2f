//! Bit manipulation of the scalar ALU.
//!
//! Goes in: plain integers. Comes out: plain integers.

/// One bit per group of four: set if any of them is.
pub(super) fn quads(x: u64) -> u64 {
    (0..16).fold(0, |mask, i| mask | u64::from(x >> (4 * i) & 15 != 0) << i)
}

/// Every group of four in which any bit is set, completely set.
pub(super) fn whole_quads(x: u64) -> u64 {
    (0..16).fold(0, |mask, i| if x >> (4 * i) & 15 != 0 { mask | 15 << (4 * i) } else { mask })
}

/// Position of the lowest set bit, -1 if there is none.
pub(super) fn first32(x: u32) -> u32 {
    if x == 0 { u32::MAX } else { x.trailing_zeros() }
}

/// Position of the lowest set bit, -1 if there is none.
pub(super) fn first64(x: u64) -> u32 {
    if x == 0 { u32::MAX } else { x.trailing_zeros() }
}

/// Distance from the top to the first bit that differs from the sign, -1 if none does.
pub(super) fn sign_change32(x: u32) -> u32 {
    let folded = x ^ ((x as i32) >> 31) as u32;
    if folded == 0 { u32::MAX } else { folded.leading_zeros() }
}

/// Distance from the top to the first bit that differs from the sign, -1 if none does.
pub(super) fn sign_change64(x: u64) -> u32 {
    let folded = x ^ ((x as i64) >> 63) as u64;
    if folded == 0 { u32::MAX } else { folded.leading_zeros() }
}

/// Every bit twice.
pub(super) fn replicate(x: u32) -> u64 {
    (0..32).fold(0, |wide, i| wide | (u64::from(x >> i & 1) * 3) << (2 * i))
}

/// The low bits of `x`, as many as bits 22:16 of `control` say.
pub(super) fn field(x: u64, control: u32) -> u64 {
    match control >> 16 & 127 {
        width @ 0..64 => x & ((1 << width) - 1),
        _ => x,
    }
}

/// The low bits of `x`, as many as bits 22:16 of `control` say, sign-extended.
pub(super) fn signed_field(x: i64, control: u32) -> i64 {
    match control >> 16 & 127 {
        0 => 0,
        width @ 1..64 => (x << (64 - width)) >> (64 - width),
        _ => x,
    }
}
