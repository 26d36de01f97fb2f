//! 32- and 64-bit integer and bit operations.
//!
//! Goes in: an operation. Comes out: its kernel.

use super::kernel::kernels;
use super::lane::Lane;

/// The low 24 bits, sign-extended.
#[inline(always)]
fn i24(x: i32) -> i64 {
    i64::from(x << 8 >> 8)
}

/// The low 24 bits.
#[inline(always)]
fn u24(x: u32) -> u64 {
    u64::from(x & 0xff_ffff)
}

/// The middle of three values.
#[inline(always)]
pub(super) fn median<T: Ord + Copy>(a: T, b: T, c: T) -> T {
    a.max(b).min(a.min(b).max(c))
}

/// Sum of the absolute differences of four bytes; with `masked`, bytes that are zero in `b` do not
/// count.
#[inline(always)]
pub(super) fn sad_u8(a: u32, b: u32, masked: bool) -> u32 {
    let mut sum = 0;
    for shift in [0, 8, 16, 24] {
        let (x, y) = (a >> shift & 0xff, b >> shift & 0xff);
        sum += if masked && y == 0 { 0 } else { x.abs_diff(y) };
    }
    sum
}

/// Sum of the absolute differences of two halfwords.
#[inline(always)]
fn sad_u16(a: u32, b: u32) -> u32 {
    (a & 0xffff).abs_diff(b & 0xffff).wrapping_add((a >> 16).abs_diff(b >> 16))
}

/// Four 16-bit sums of absolute differences of `b` against `a` at byte offsets 0 to 3, added to
/// the halfwords of `c`.
#[inline(always)]
fn quad_sad(a: u64, b: u32, c: u64, masked: bool) -> u64 {
    let mut result = 0;
    for k in 0..4 {
        let sum = sad_u8((a >> (8 * k)) as u32, b, masked).wrapping_add((c >> (16 * k)) as u32);
        result |= u64::from(sum as u16) << (16 * k);
    }
    result
}

/// One byte of `data` chosen by a `v_perm_b32` selector: 0-7 a byte, 8-11 the sign of byte 1, 3, 5
/// or 7, 12 zero, above that all ones.
#[inline(always)]
fn permuted_byte(data: u64, select: u32) -> u32 {
    let byte = (data >> (8 * (select & 7))) as u32 & 0xff;
    let sign = ((data >> (16 * (select & 3) + 15)) as u32 & 1).wrapping_neg() & 0xff;
    let constant = if select == 12 { 0 } else { 0xff };
    let high = if select < 12 { sign } else { constant };
    if select < 8 { byte } else { high }
}

#[inline(always)]
fn perm(a: u32, b: u32, select: u32) -> u32 {
    let data = u64::from(a) << 32 | u64::from(b);
    permuted_byte(data, select & 0xff)
        | permuted_byte(data, select >> 8 & 0xff) << 8
        | permuted_byte(data, select >> 16 & 0xff) << 16
        | permuted_byte(data, select >> 24) << 24
}

#[inline(always)]
fn lerp(a: u32, b: u32, round: u32) -> u32 {
    let mut result = 0;
    for shift in [0, 8, 16, 24] {
        let sum = (a >> shift & 0xff) + (b >> shift & 0xff) + (round >> shift & 1);
        result |= (sum >> 1) << shift;
    }
    result
}

/// A bit field of `width` bits, sign-extended. A width of zero gives zero.
#[inline(always)]
fn bfe_i32(x: i32, offset: u32, width: u32) -> i32 {
    let unused = 32 - (width & 31);
    let field = (x >> (offset & 31)).wrapping_shl(unused).wrapping_shr(unused);
    if width & 31 == 0 { 0 } else { field }
}

/// Selects bits of the truth table `table`, whose index is made of one bit each of a, b and c.
#[inline(always)]
pub(super) fn bitop3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let row = |k: u32| (table >> k & 1).wrapping_neg();
    let mux = |select: u32, zero: u32, one: u32| zero ^ (select & (zero ^ one));
    let a00 = mux(a, row(0), row(4));
    let a01 = mux(a, row(1), row(5));
    let a10 = mux(a, row(2), row(6));
    let a11 = mux(a, row(3), row(7));
    mux(b, mux(c, a00, a01), mux(c, a10, a11))
}

/// Count of leading bits equal to the sign bit, as the position of the first that differs; -1 if
/// none does.
#[inline(always)]
fn first_sign_change(x: i32) -> u32 {
    let folded = (x ^ (x >> 31)) as u32;
    if folded == 0 { u32::MAX } else { folded.leading_zeros() }
}

#[inline(always)]
fn dot4(a: u32, b: u32) -> i32 {
    let product = |k: u32| i32::from((a >> k) as i8) * i32::from((b >> k) as i8);
    product(0) + product(8) + product(16) + product(24)
}

#[inline(always)]
fn dot4_unsigned(a: u32, b: u32) -> u32 {
    let product = |k: u32| (a >> k & 0xff) * (b >> k & 0xff);
    product(0) + product(8) + product(16) + product(24)
}

#[inline(always)]
fn dot8(a: u32, b: u32) -> i32 {
    let nibble = |x: u32, k: u32| ((x << (28 - k)) as i32) >> 28;
    (0..8).map(|k| nibble(a, 4 * k) * nibble(b, 4 * k)).sum()
}

#[inline(always)]
fn dot8_unsigned(a: u32, b: u32) -> u32 {
    (0..8).map(|k| (a >> (4 * k) & 15) * (b >> (4 * k) & 15)).sum()
}

#[inline(always)]
fn dot2(a: [i16; 2], b: [i16; 2]) -> i32 {
    // Two products of -32768 by itself sum to 2^31.
    (i32::from(a[0]) * i32::from(b[0])).wrapping_add(i32::from(a[1]) * i32::from(b[1]))
}

#[inline(always)]
fn dot2_unsigned(a: [u16; 2], b: [u16; 2]) -> u32 {
    (u32::from(a[0]) * u32::from(b[0])).wrapping_add(u32::from(a[1]) * u32::from(b[1]))
}

kernels! {
    /// Kernels of the wrapping forms.
    pub(super) fn lookup;
    VMovB32 | VAccvgprReadB32 | VAccvgprWriteB32 | VAccvgprMovB32 (a: u32) -> u32 { a }
    VMovB64(a: u64) -> u64 { a }
    VNotB32(a: u32) -> u32 { !a }
    VBfrevB32(a: u32) -> u32 { a.reverse_bits() }
    VFfbhU32(a: u32) -> u32 { if a == 0 { u32::MAX } else { a.leading_zeros() } }
    VFfblB32(a: u32) -> u32 { if a == 0 { u32::MAX } else { a.trailing_zeros() } }

    VCndmaskB32(a: u32, b: u32, c: bool) -> u32 { if c { b } else { a } }
    VMulI32I24(a: i32, b: i32) -> u32 { (i24(a) * i24(b)) as u32 }
    VMulU32U24(a: u32, b: u32) -> u32 { (u24(a) * u24(b)) as u32 }
    VMinI32(a: i32, b: i32) -> i32 { a.min(b) }
    VMaxI32(a: i32, b: i32) -> i32 { a.max(b) }
    VMinU32(a: u32, b: u32) -> u32 { a.min(b) }
    VMaxU32(a: u32, b: u32) -> u32 { a.max(b) }
    VLshrrevB32(a: u32, b: u32) -> u32 { b >> (a & 31) }
    VAshrrevI32(a: u32, b: i32) -> i32 { b >> (a & 31) }
    VLshlrevB32(a: u32, b: u32) -> u32 { b << (a & 31) }
    VAndB32(a: u32, b: u32) -> u32 { a & b }
    VOrB32(a: u32, b: u32) -> u32 { a | b }
    VXorB32(a: u32, b: u32) -> u32 { a ^ b }
    VXnorB32(a: u32, b: u32) -> u32 { !(a ^ b) }
    VAddU32 | VAddI32 (a: u32, b: u32) -> u32 { a.wrapping_add(b) }
    VSubU32 | VSubI32 (a: u32, b: u32) -> u32 { a.wrapping_sub(b) }
    VSubrevU32(a: u32, b: u32) -> u32 { b.wrapping_sub(a) }
    VAddCoU32(a: u32, b: u32) -> (u32, bool) { a.overflowing_add(b) }
    VSubCoU32(a: u32, b: u32) -> (u32, bool) { a.overflowing_sub(b) }
    VSubrevCoU32(a: u32, b: u32) -> (u32, bool) { b.overflowing_sub(a) }
    VAddcCoU32(a: u32, b: u32, c: bool) -> (u32, bool) { carrying_add(a, b, c) }
    VSubbCoU32(a: u32, b: u32, c: bool) -> (u32, bool) { borrowing_sub(a, b, c) }
    VSubbrevCoU32(a: u32, b: u32, c: bool) -> (u32, bool) { borrowing_sub(b, a, c) }

    VMadI32I24(a: i32, b: i32, c: u32) -> u32 { ((i24(a) * i24(b)) as u32).wrapping_add(c) }
    VMadU32U24(a: u32, b: u32, c: u32) -> u32 { ((u24(a) * u24(b)) as u32).wrapping_add(c) }
    VBfeU32(a: u32, b: u32, c: u32) -> u32 { a >> (b & 31) & ((1 << (c & 31)) - 1) }
    VBfeI32(a: i32, b: u32, c: u32) -> i32 { bfe_i32(a, b, c) }
    VBfiB32(a: u32, b: u32, c: u32) -> u32 { (a & b) | (!a & c) }
    VBfmB32(a: u32, b: u32) -> u32 { ((1 << (a & 31)) - 1) << (b & 31) }
    VAlignbitB32(a: u32, b: u32, c: u32) -> u32 {
        ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32
    }
    VAlignbyteB32(a: u32, b: u32, c: u32) -> u32 {
        ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32
    }
    VMin3I32(a: i32, b: i32, c: i32) -> i32 { a.min(b).min(c) }
    VMin3U32(a: u32, b: u32, c: u32) -> u32 { a.min(b).min(c) }
    VMax3I32(a: i32, b: i32, c: i32) -> i32 { a.max(b).max(c) }
    VMax3U32(a: u32, b: u32, c: u32) -> u32 { a.max(b).max(c) }
    VMed3I32(a: i32, b: i32, c: i32) -> i32 { median(a, b, c) }
    VMed3U32(a: u32, b: u32, c: u32) -> u32 { median(a, b, c) }
    VPermB32(a: u32, b: u32, c: u32) -> u32 { perm(a, b, c) }
    VXadU32(a: u32, b: u32, c: u32) -> u32 { (a ^ b).wrapping_add(c) }
    VLshlAddU32(a: u32, b: u32, c: u32) -> u32 { (a << (b & 31)).wrapping_add(c) }
    VAddLshlU32(a: u32, b: u32, c: u32) -> u32 { a.wrapping_add(b) << (c & 31) }
    VAdd3U32(a: u32, b: u32, c: u32) -> u32 { a.wrapping_add(b).wrapping_add(c) }
    VLshlOrB32(a: u32, b: u32, c: u32) -> u32 { a << (b & 31) | c }
    VAndOrB32(a: u32, b: u32, c: u32) -> u32 { a & b | c }
    VOr3B32(a: u32, b: u32, c: u32) -> u32 { a | b | c }
    VBitop3B32(a: u32, b: u32, c: u32)[table] -> u32 { bitop3(a, b, c, table) }
    VLshlAddU64(a: u64, b: u32, c: u64) -> u64 { (a << (b & 7)).wrapping_add(c) }
    VMulLoU32(a: u32, b: u32) -> u32 { a.wrapping_mul(b) }
    VMulHiU32(a: u32, b: u32) -> u32 { ((u64::from(a) * u64::from(b)) >> 32) as u32 }
    VMulHiI32(a: i32, b: i32) -> u32 { ((i64::from(a) * i64::from(b)) >> 32) as u32 }
    VMadU64U32(a: u32, b: u32, c: u64) -> (u64, bool) {
        (u64::from(a) * u64::from(b)).overflowing_add(c)
    }
    VMadI64I32(a: i32, b: i32, c: i64) -> (i64, bool) {
        // The flag is bit 64 of the 65-bit sum, which is its sign.
        let (sum, overflow) = (i64::from(a) * i64::from(b)).overflowing_add(c);
        (sum, (sum < 0) ^ overflow)
    }
    VLshlrevB64(a: u32, b: u64) -> u64 { b << (a & 63) }
    VLshrrevB64(a: u32, b: u64) -> u64 { b >> (a & 63) }
    VAshrrevI64(a: u32, b: i64) -> i64 { b >> (a & 63) }
    VBcntU32B32(a: u32, b: u32) -> u32 { a.count_ones().wrapping_add(b) }
    VMbcntLoU32B32(a: u32, b: u32, lane: Lane) -> u32 {
        let below = if lane.0 < 32 { (1 << (lane.0 & 31)) - 1 } else { u32::MAX };
        (a & below).count_ones().wrapping_add(b)
    }
    VMbcntHiU32B32(a: u32, b: u32, lane: Lane) -> u32 {
        let below = if lane.0 < 32 { 0 } else { (1 << (lane.0 & 31)) - 1 };
        (a & below).count_ones().wrapping_add(b)
    }
    VPkMovB32(a: u64, b: u64) -> [u32; 2] { [a as u32, (b >> 32) as u32] }
}

kernels! {
    single
    /// Kernels of the forms whose clamp bit saturates.
    pub(super) fn lookup_clamped;
    VAddU32 | VAddCoU32 (a: u32, b: u32) -> (u32, bool) {
        (a.saturating_add(b), a.checked_add(b).is_none())
    }
    VSubU32 | VSubCoU32 (a: u32, b: u32) -> (u32, bool) { (a.saturating_sub(b), b > a) }
    VSubrevU32 | VSubrevCoU32 (a: u32, b: u32) -> (u32, bool) { (b.saturating_sub(a), a > b) }
    VAddcCoU32(a: u32, b: u32, c: bool) -> (u32, bool) {
        let (sum, carry) = carrying_add(a, b, c);
        (if carry { u32::MAX } else { sum }, carry)
    }
    VSubbCoU32(a: u32, b: u32, c: bool) -> (u32, bool) {
        let (difference, borrow) = borrowing_sub(a, b, c);
        (if borrow { 0 } else { difference }, borrow)
    }
    VSubbrevCoU32(a: u32, b: u32, c: bool) -> (u32, bool) {
        let (difference, borrow) = borrowing_sub(b, a, c);
        (if borrow { 0 } else { difference }, borrow)
    }
    VAddI32(a: i32, b: i32) -> i32 { a.saturating_add(b) }
    VSubI32(a: i32, b: i32) -> i32 { a.saturating_sub(b) }
    VMadI32I24(a: i32, b: i32, c: i32) -> i32 { saturate(i24(a) * i24(b) + i64::from(c)) }
    VMadU32U24(a: u32, b: u32, c: u32) -> u32 {
        (u24(a) * u24(b) + u64::from(c)).min(u64::from(u32::MAX)) as u32
    }
    VSadU8(a: u32, b: u32, c: u32) -> u32 { sad_u8(a, b, false).saturating_add(c) }
    VSadU16(a: u32, b: u32, c: u32) -> u32 { sad_u16(a, b).saturating_add(c) }
    VSadU32(a: u32, b: u32, c: u32) -> u32 { a.abs_diff(b).saturating_add(c) }
    VMsadU8(a: u32, b: u32, c: u32) -> u32 { sad_u8(a, b, true).saturating_add(c) }
    VDot2I32I16(a: [i16; 2], b: [i16; 2], c: i32) -> i32 {
        saturate(
            i64::from(a[0]) * i64::from(b[0]) + i64::from(a[1]) * i64::from(b[1]) + i64::from(c),
        )
    }
    VDot2U32U16(a: [u16; 2], b: [u16; 2], c: u32) -> u32 {
        let sum = u64::from(a[0]) * u64::from(b[0]) + u64::from(a[1]) * u64::from(b[1]);
        (sum + u64::from(c)).min(u64::from(u32::MAX)) as u32
    }
    VDot4I32I8(a: u32, b: u32, c: i32) -> i32 { dot4(a, b).saturating_add(c) }
    VDot4U32U8(a: u32, b: u32, c: u32) -> u32 { dot4_unsigned(a, b).saturating_add(c) }
    VDot8I32I4(a: u32, b: u32, c: i32) -> i32 { dot8(a, b).saturating_add(c) }
    VDot8U32U4(a: u32, b: u32, c: u32) -> u32 { dot8_unsigned(a, b).saturating_add(c) }
}

#[inline(always)]
fn saturate(x: i64) -> i32 {
    x.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

#[inline(always)]
fn carrying_add(a: u32, b: u32, carry: bool) -> (u32, bool) {
    let sum = u64::from(a) + u64::from(b) + u64::from(carry);
    (sum as u32, sum >> 32 != 0)
}

#[inline(always)]
fn borrowing_sub(a: u32, b: u32, borrow: bool) -> (u32, bool) {
    let difference = u64::from(a).wrapping_sub(u64::from(b)).wrapping_sub(u64::from(borrow));
    (difference as u32, difference >> 32 != 0)
}

kernels! {
    single
    /// Kernels of rare operations.
    pub(super) fn lookup_rare;
    VLerpU8(a: u32, b: u32, c: u32) -> u32 { lerp(a, b, c) }
    VSadU8(a: u32, b: u32, c: u32) -> u32 { sad_u8(a, b, false).wrapping_add(c) }
    VSadHiU8(a: u32, b: u32, c: u32) -> u32 { (sad_u8(a, b, false) << 16).wrapping_add(c) }
    VSadU16(a: u32, b: u32, c: u32) -> u32 { sad_u16(a, b).wrapping_add(c) }
    VSadU32(a: u32, b: u32, c: u32) -> u32 { a.abs_diff(b).wrapping_add(c) }
    VMsadU8(a: u32, b: u32, c: u32) -> u32 { sad_u8(a, b, true).wrapping_add(c) }
    VQsadPkU16U8(a: u64, b: u32, c: u64) -> u64 { quad_sad(a, b, c, false) }
    VMqsadPkU16U8(a: u64, b: u32, c: u64) -> u64 { quad_sad(a, b, c, true) }
    VDot8U32U4(a: u32, b: u32, c: u32) -> u32 { dot8_unsigned(a, b).wrapping_add(c) }
    VDot8I32I4 | VDot8cI32I4 (a: u32, b: u32, c: i32) -> i32 { dot8(a, b).wrapping_add(c) }
    VDot4U32U8(a: u32, b: u32, c: u32) -> u32 { dot4_unsigned(a, b).wrapping_add(c) }
    VDot2U32U16(a: [u16; 2], b: [u16; 2], c: u32) -> u32 { dot2_unsigned(a, b).wrapping_add(c) }
    VDot2I32I16 | VDot2cI32I16 (a: [i16; 2], b: [i16; 2], c: i32) -> i32 {
        dot2(a, b).wrapping_add(c)
    }
    VDot4I32I8 | VDot4cI32I8 (a: u32, b: u32, c: i32) -> i32 { dot4(a, b).wrapping_add(c) }
    VMulHiI32I24(a: i32, b: i32) -> u32 { ((i24(a) * i24(b)) >> 32) as u32 }
    VMulHiU32U24(a: u32, b: u32) -> u32 { ((u24(a) * u24(b)) >> 32) as u32 }
    VFfbhI32(a: i32) -> u32 { first_sign_change(a) }
    VPrngB32(a: u32) -> u32 { a << 1 ^ (if a >> 31 == 1 { 197 } else { 0 }) }
}
