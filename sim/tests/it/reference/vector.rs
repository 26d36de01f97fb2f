//! Integer and bit operations of the vector ALU on one lane, from the pseudocode of AMD's ISA
//! documents, and what they have in common with the floating-point ones.

use super::{compare, convert, float};

/// Operands of one lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lane {
    pub a: u64,
    pub b: u64,
    pub c: u64,
    /// The destination before the operation.
    pub old: u64,
    /// The lane's bit of the mask that the operation reads, if it reads one.
    pub mask: bool,
    /// Number of the lane.
    pub number: u32,
    /// Truth table of `bitop3`.
    pub table: u32,
    /// Whether 8-bit floats are those of CDNA3.
    pub fnuz: bool,
}

impl Lane {
    pub fn u(&self) -> [u32; 3] {
        [self.a as u32, self.b as u32, self.c as u32]
    }

    pub fn i(&self) -> [i64; 3] {
        self.u().map(|x| i64::from(x as i32))
    }

    pub fn half(&self, operand: usize, high: bool) -> u32 {
        self.u()[operand] >> if high { 16 } else { 0 } & 0xffff
    }
}

/// How a result is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// Bit by bit, but any NaN is as good as another.
    Exact,
    /// Within two units in the last place; denormals may be zero.
    Approximate,
}

/// Result of one lane.
#[derive(Clone, Copy, Debug)]
pub struct Out {
    pub value: u64,
    pub flag: bool,
    pub exactness: Exactness,
}

impl From<u64> for Out {
    fn from(value: u64) -> Out {
        Out { value, flag: false, exactness: Exactness::Exact }
    }
}

impl From<u32> for Out {
    fn from(value: u32) -> Out {
        u64::from(value).into()
    }
}

impl From<i64> for Out {
    /// The low 32 bits.
    fn from(value: i64) -> Out {
        (value as u32).into()
    }
}

impl From<bool> for Out {
    fn from(flag: bool) -> Out {
        Out { flag, ..Out::from(0_u64) }
    }
}

impl<T: Into<Out>> From<(T, bool)> for Out {
    fn from((value, flag): (T, bool)) -> Out {
        Out { flag, ..value.into() }
    }
}

/// An operation on one lane.
pub type Operation = Box<dyn Fn(&Lane) -> Out>;

/// Arms `"name" | "alias" => expression of the lane`.
macro_rules! operations {
    ($name:expr, $x:ident, { $($($op:literal)|+ => $result:expr,)* }) => {
        match $name {
            $($($op)|+ => {
                let operation: $crate::reference::vector::Operation =
                    Box::new(move |$x: &$crate::reference::vector::Lane| ($result).into());
                Some(operation)
            })*
            _ => None,
        }
    };
}
pub(super) use operations;

/// The operation `name` (without `v_`), or `None` if it is not known here.
pub fn operation(name: &str) -> Option<Operation> {
    words(name)
        .or_else(|| sums(name))
        .or_else(|| halves(name))
        .or_else(|| compare::operation(name))
        .or_else(|| float::operation(name))
        .or_else(|| convert::operation(name))
}

fn low_bits(n: u32) -> u32 {
    (0..n).fold(0, |m, i| m | 1 << i)
}

fn signed(x: u32, bits: u32) -> i64 {
    let x = i64::from(x) & ((1 << bits) - 1);
    if x >> (bits - 1) == 1 { x - (1 << bits) } else { x }
}

fn median<T: Ord + Copy>(mut values: [T; 3]) -> T {
    values.sort_unstable();
    values[1]
}

fn carry(sum: u64) -> (u32, bool) {
    (sum as u32, sum > 0xffff_ffff)
}

fn borrow(a: u32, taken: u64) -> (u32, bool) {
    (u64::from(a).wrapping_sub(taken) as u32, u64::from(a) < taken)
}

fn leading(x: u32, wanted: impl Fn(u32) -> bool) -> u32 {
    (0..32).find(|i| wanted(x >> (31 - i) & 1)).unwrap_or(u32::MAX)
}

fn perm([a, b, select]: [u32; 3]) -> u32 {
    let bytes: Vec<u8> = b.to_le_bytes().into_iter().chain(a.to_le_bytes()).collect();
    let sign = |byte: u8| if byte >= 128 { 0xff } else { 0 };
    u32::from_le_bytes(select.to_le_bytes().map(|s| match s {
        0..8 => bytes[usize::from(s)],
        8 => sign(bytes[1]),
        9 => sign(bytes[3]),
        10 => sign(bytes[5]),
        11 => sign(bytes[7]),
        12 => 0,
        _ => 0xff,
    }))
}

fn bitop3([a, b, c]: [u32; 3], table: u32) -> u32 {
    (0..32).fold(0, |m, i| {
        let row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1;
        m | (table >> row & 1) << i
    })
}

fn words(name: &str) -> Option<Operation> {
    operations!(name, x, {
        "mov_b32" | "accvgpr_mov_b32" | "accvgpr_read_b32" | "accvgpr_write_b32" => x.a as u32,
        "mov_b64" => x.a,
        "not_b32" => !x.u()[0],
        "bfrev_b32" => (0..32).fold(0_u32, |m, i| m | (x.u()[0] >> i & 1) << (31 - i)),
        "ffbh_u32" => leading(x.u()[0], |bit| bit == 1),
        "ffbl_b32" => (0..32).find(|i| x.u()[0] >> i & 1 == 1).unwrap_or(u32::MAX),
        "ffbh_i32" => leading(x.u()[0], |bit| bit != x.u()[0] >> 31),
        "cndmask_b32" => x.u()[usize::from(x.mask)],
        "prng_b32" => x.u()[0] << 1 ^ if x.u()[0] >> 31 == 1 { 197 } else { 0_u32 },
        "min_i32" => x.i()[0].min(x.i()[1]),
        "max_i32" => x.i()[0].max(x.i()[1]),
        "min_u32" => x.u()[0].min(x.u()[1]),
        "max_u32" => x.u()[0].max(x.u()[1]),
        "lshrrev_b32" => x.u()[1] >> (x.a % 32),
        "ashrrev_i32" => x.i()[1] >> (x.a % 32),
        "lshlrev_b32" => x.u()[1] << (x.a % 32),
        "lshrrev_b64" => x.b >> (x.a % 64),
        "ashrrev_i64" => (x.b as i64 >> (x.a % 64)) as u64,
        "lshlrev_b64" => x.b << (x.a % 64),
        "and_b32" => x.u()[0] & x.u()[1],
        "or_b32" => x.u()[0] | x.u()[1],
        "xor_b32" => x.u()[0] ^ x.u()[1],
        "xnor_b32" => !(x.u()[0] ^ x.u()[1]),
        "bfe_u32" => x.u()[0] >> (x.b % 32) & low_bits(x.u()[2] % 32),
        "bfe_i32" => match x.u()[2] % 32 {
            0 => 0_i64,
            width => signed((x.i()[0] >> (x.b % 32)) as u32, width),
        },
        "bfi_b32" => x.u()[0] & x.u()[1] | !x.u()[0] & x.u()[2],
        "bfm_b32" => low_bits(x.u()[0] % 32) << (x.b % 32),
        "alignbit_b32" => ((x.a << 32 | x.b & 0xffff_ffff) >> (x.c % 32)) as u32,
        "alignbyte_b32" => ((x.a << 32 | x.b & 0xffff_ffff) >> (x.c % 4 * 8)) as u32,
        "min3_i32" => x.i().into_iter().min().unwrap_or(0),
        "min3_u32" => x.u().into_iter().min().unwrap_or(0),
        "max3_i32" => x.i().into_iter().max().unwrap_or(0),
        "max3_u32" => x.u().into_iter().max().unwrap_or(0),
        "med3_i32" => median(x.i()),
        "med3_u32" => median(x.u()),
        "perm_b32" => perm(x.u()),
        "and_or_b32" => x.u()[0] & x.u()[1] | x.u()[2],
        "or3_b32" => x.u()[0] | x.u()[1] | x.u()[2],
        "lshl_or_b32" => x.u()[0] << (x.b % 32) | x.u()[2],
        "bitop3_b32" => bitop3(x.u(), x.table),
        "bitop3_b16" => bitop3(x.u(), x.table) & 0xffff,
        "bcnt_u32_b32" => x.u()[0].count_ones().wrapping_add(x.u()[1]),
        "mbcnt_lo_u32_b32" => {
            (0..x.number.min(32)).filter(|i| x.a >> i & 1 == 1).count() as i64 + x.i()[1]
        },
        "mbcnt_hi_u32_b32" => {
            (32..x.number.max(32)).filter(|i| x.a >> (i - 32) & 1 == 1).count() as i64 + x.i()[1]
        },
    })
}

fn bytes(x: u32) -> [u32; 4] {
    x.to_le_bytes().map(u32::from)
}

fn sad(a: u32, b: u32, masked: bool) -> u32 {
    let pairs = bytes(a).into_iter().zip(bytes(b));
    pairs.filter(|(_, b)| !masked || *b != 0).map(|(a, b)| a.abs_diff(b)).sum()
}

/// Sums at four byte offsets, added to the halfwords of the third operand.
fn quad_sad(x: &Lane, masked: bool) -> u64 {
    (0..4).fold(0, |m, k| {
        let sum =
            u64::from(sad((x.a >> (8 * k)) as u32, x.u()[1], masked)).wrapping_add(x.c >> (16 * k));
        m | (sum & 0xffff) << (16 * k)
    })
}

/// Sum of products of the `bits`-bit parts, and the third operand.
fn dot(x: &Lane, bits: u32, is_signed: bool) -> i64 {
    let part = |v: u32, k: u32| {
        let field = v >> (bits * k) & low_bits(bits);
        if is_signed { signed(field, bits) } else { i64::from(field) }
    };
    let [a, b, _] = x.u();
    (0..32 / bits).map(|k| part(a, k) * part(b, k)).sum::<i64>() + x.i()[2]
}

/// The third operand of an operation that reads it from its destination.
fn accumulating(x: &Lane) -> Lane {
    Lane { c: x.old, ..*x }
}

fn sums(name: &str) -> Option<Operation> {
    let product = |x: &Lane| (x.a & 0xffff_ffff) * (x.b & 0xffff_ffff);
    let small = |x: &Lane| (x.a & 0xff_ffff) * (x.b & 0xff_ffff);
    let small_signed = |x: &Lane| signed(x.u()[0], 24) * signed(x.u()[1], 24);
    let with_mask = |x: &Lane, v: u32| u64::from(v) + u64::from(x.mask);
    operations!(name, x, {
        "add_u32" | "add_i32" => x.i()[0] + x.i()[1],
        "sub_u32" | "sub_i32" => x.i()[0] - x.i()[1],
        "subrev_u32" => x.i()[1] - x.i()[0],
        "add_co_u32" => carry(u64::from(x.u()[0]) + u64::from(x.u()[1])),
        "sub_co_u32" => borrow(x.u()[0], x.u()[1].into()),
        "subrev_co_u32" => borrow(x.u()[1], x.u()[0].into()),
        "addc_co_u32" => carry(u64::from(x.u()[0]) + with_mask(x, x.u()[1])),
        "subb_co_u32" => borrow(x.u()[0], with_mask(x, x.u()[1])),
        "subbrev_co_u32" => borrow(x.u()[1], with_mask(x, x.u()[0])),
        "mul_i32_i24" => small_signed(x),
        "mul_hi_i32_i24" => small_signed(x) >> 32,
        "mul_u32_u24" => small(x) as u32,
        "mul_hi_u32_u24" => (small(x) >> 32) as u32,
        "mad_i32_i24" => small_signed(x) + x.i()[2],
        "mad_u32_u24" => (small(x) + x.c) as u32,
        "mul_lo_u32" => product(x) as u32,
        "mul_hi_u32" => (product(x) >> 32) as u32,
        "mul_hi_i32" => (x.i()[0] * x.i()[1]) >> 32,
        "mad_u64_u32" => {
            let sum = u128::from(product(x)) + u128::from(x.c);
            (sum as u64, sum >> 64 != 0)
        },
        "mad_i64_i32" => {
            let sum = i128::from(x.i()[0] * x.i()[1]) + i128::from(x.c as i64);
            (sum as u64, sum < 0)
        },
        "xad_u32" => (x.u()[0] ^ x.u()[1]).wrapping_add(x.u()[2]),
        "lshl_add_u32" => (x.u()[0] << (x.b % 32)).wrapping_add(x.u()[2]),
        "add_lshl_u32" => x.u()[0].wrapping_add(x.u()[1]) << (x.c % 32),
        "add3_u32" => x.i()[0] + x.i()[1] + x.i()[2],
        "lshl_add_u64" => (x.a << (x.b % 8)).wrapping_add(x.c),
        "lerp_u8" => {
            let [a, b, c] = x.u().map(bytes);
            u32::from_le_bytes([0, 1, 2, 3].map(|k| ((a[k] + b[k] + c[k] % 2) / 2) as u8))
        },
        "sad_u8" => sad(x.u()[0], x.u()[1], false).wrapping_add(x.u()[2]),
        "sad_hi_u8" => (sad(x.u()[0], x.u()[1], false) << 16).wrapping_add(x.u()[2]),
        "msad_u8" => sad(x.u()[0], x.u()[1], true).wrapping_add(x.u()[2]),
        "sad_u16" => {
            let d = |high| i64::from(x.half(0, high).abs_diff(x.half(1, high)));
            d(false) + d(true) + x.i()[2]
        },
        "sad_u32" => x.u()[0].abs_diff(x.u()[1]).wrapping_add(x.u()[2]),
        "qsad_pk_u16_u8" => quad_sad(x, false),
        "mqsad_pk_u16_u8" => quad_sad(x, true),
        "dot2_i32_i16" => dot(x, 16, true),
        "dot2_u32_u16" => dot(x, 16, false),
        "dot4_i32_i8" => dot(x, 8, true),
        "dot4_u32_u8" => dot(x, 8, false),
        "dot8_i32_i4" => dot(x, 4, true),
        "dot8_u32_u4" => dot(x, 4, false),
        "dot2c_i32_i16" => dot(&accumulating(x), 16, true),
        "dot4c_i32_i8" => dot(&accumulating(x), 8, true),
        "dot8c_i32_i4" => dot(&accumulating(x), 4, true),
    })
}

/// A 16-bit integer operation on values extended to 64 bits; the result is truncated.
fn half_operation(name: &str) -> Option<fn([i64; 3]) -> i64> {
    Some(match name {
        "add" => |[a, b, _]| a + b,
        "sub" => |[a, b, _]| a - b,
        "subrev" => |[a, b, _]| b - a,
        "mul_lo" => |[a, b, _]| a * b,
        "lshlrev" => |[a, b, _]| b << (a & 15),
        "lshrrev" | "ashrrev" => |[a, b, _]| b >> (a & 15),
        "min" => |[a, b, _]| a.min(b),
        "max" => |[a, b, _]| a.max(b),
        "mad" | "mad_legacy" => |[a, b, c]| a * b + c,
        "min3" => |[a, b, c]| a.min(b).min(c),
        "max3" => |[a, b, c]| a.max(b).max(c),
        "med3" => |x| median(x),
        _ => return None,
    })
}

fn halves(name: &str) -> Option<Operation> {
    let clamped = |v: i64, low: i64, high: i64| v.clamp(low, high) as u32;
    let pack = |low: u32, high: u32| low & 0xffff | high << 16;
    let special = operations!(name, x, {
        "mad_u32_u16" => i64::from(x.half(0, false)) * i64::from(x.half(1, false)) + x.i()[2],
        "mad_i32_i16" => {
            signed(x.half(0, false), 16) * signed(x.half(1, false), 16) + x.i()[2]
        },
        "pack_b32_f16" => pack(x.half(0, false), x.half(1, false)),
        "sat_pk_u8_i16" => {
            let byte = |high| clamped(signed(x.half(0, high), 16), 0, 255);
            byte(false) | byte(true) << 8
        },
        "cvt_pk_u16_u32" => {
            pack(clamped(x.u()[0].into(), 0, 0xffff), clamped(x.u()[1].into(), 0, 0xffff))
        },
        "cvt_pk_i16_i32" => {
            pack(clamped(x.i()[0], -0x8000, 0x7fff), clamped(x.i()[1], -0x8000, 0x7fff))
        },
        "ashr_pk_i8_i32" => {
            let byte = |v: i64| clamped(v >> (x.c % 32), -128, 127) & 0xff;
            byte(x.i()[0]) | byte(x.i()[1]) << 8
        },
        "ashr_pk_u8_i32" => {
            let byte = |v: i64| clamped(v >> (x.c % 32), 0, 255);
            byte(x.i()[0]) | byte(x.i()[1]) << 8
        },
    });
    if special.is_some() {
        return special;
    }
    let (packed, rest) = match name.strip_prefix("pk_") {
        Some(rest) => (true, rest),
        None => (false, name),
    };
    let (op, ty) = rest.rsplit_once('_')?;
    let is_signed = match ty {
        "i16" => true,
        "u16" | "b16" => false,
        _ => return None,
    };
    let apply = half_operation(op)?;
    Some(Box::new(move |x: &Lane| {
        let result = |high| {
            let operands = [0, 1, 2].map(|i| {
                let half = x.half(i, high);
                if is_signed { signed(half, 16) } else { i64::from(half) }
            });
            apply(operands) as u32 & 0xffff
        };
        pack(result(false), if packed { result(true) } else { 0 }).into()
    }))
}
