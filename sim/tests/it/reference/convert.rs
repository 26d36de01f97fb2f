//! Conversions between number formats.

use super::number::{self, BF6, BF16, F16, F32, FP4, FP6, Format, pow2};
use super::vector::{Lane, Operation, operations};

fn f32_of(bits: u64) -> f64 {
    f64::from(f32::from_bits(bits as u32))
}

fn single(x: f64) -> u64 {
    (x as f32).to_bits().into()
}

fn pack(low: u32, high: u32) -> u32 {
    low & 0xffff | high << 16
}

/// Towards zero; infinity stays, a finite value does not become it.
fn truncated_half(x: f64) -> u32 {
    let nearest = F16.encode(x);
    match F16.decode(nearest).abs() > x.abs() {
        true => nearest - 1,
        false => nearest,
    }
}

/// A fraction of one, as the nearest multiple of `1 / most` between `least` and 1.
fn normalised(x: f64, least: f64, most: f64) -> u32 {
    let x = if x.is_nan() { 0.0 } else { x.clamp(least, 1.0) };
    (f64::from((x as f32) * (most as f32))).round_ties_even() as i64 as u32 & 0xffff
}

fn next_random(x: u32) -> u32 {
    x << 1 ^ if x >> 31 == 1 { 197 } else { 0 }
}

fn insert_byte(x: &Lane, word: u32) -> u32 {
    let mut bytes = word.to_le_bytes();
    bytes[(x.b % 4) as usize] = f32_of(x.a).round_ties_even() as u8;
    u32::from_le_bytes(bytes)
}

pub fn operation(name: &str) -> Option<Operation> {
    if let Some(rest) = name.strip_prefix("cvt_scalef32_") {
        return scaled(rest);
    }
    let f8 = |name: &str, x: &Lane| {
        if name.contains("fp8") { number::fp8(x.fnuz) } else { number::bf8(x.fnuz) }
    };
    let half = |x: &Lane, i| F16.decode(x.half(i, false));
    let signed_half = move |x: &Lane, i, most: f64| normalised(half(x, i), -1.0, most);
    operations!(name, x, {
        "cvt_i32_f64" => f64::from_bits(x.a) as i32 as u32,
        "cvt_u32_f64" => f64::from_bits(x.a) as u32,
        "cvt_f64_i32" => (x.i()[0] as f64).to_bits(),
        "cvt_f64_u32" => f64::from(x.u()[0]).to_bits(),
        "cvt_f32_i32" => single(x.i()[0] as f64),
        "cvt_f32_u32" => single(x.u()[0].into()),
        "cvt_i32_f32" => f32_of(x.a) as i32 as u32,
        "cvt_u32_f32" => f32_of(x.a) as u32,
        "cvt_rpi_i32_f32" => (f32::from_bits(x.u()[0]) + 0.5).floor() as i32 as u32,
        "cvt_flr_i32_f32" => f32_of(x.a).floor() as i32 as u32,
        "cvt_off_f32_i4" => single(f64::from((x.a as u8) << 4 >> 4) / 16.0 - if x.a & 8 != 0 { 1.0 } else { 0.0 }),
        "cvt_f16_f32" => F16.encode(f32_of(x.a)),
        "cvt_f32_f16" => single(half(x, 0)),
        "cvt_f32_bf16" => x.half(0, false) << 16,
        "cvt_f32_f64" => single(f64::from_bits(x.a)),
        "cvt_f64_f32" => f32_of(x.a).to_bits(),
        "cvt_f32_ubyte0" => single(f64::from(x.u()[0].to_le_bytes()[0])),
        "cvt_f32_ubyte1" => single(f64::from(x.u()[0].to_le_bytes()[1])),
        "cvt_f32_ubyte2" => single(f64::from(x.u()[0].to_le_bytes()[2])),
        "cvt_f32_ubyte3" => single(f64::from(x.u()[0].to_le_bytes()[3])),
        "cvt_f16_u16" => F16.encode(x.half(0, false).into()),
        "cvt_f16_i16" => F16.encode(f64::from(x.a as i16)),
        "cvt_u16_f16" => u32::from(half(x, 0) as u16),
        "cvt_i16_f16" => u32::from(half(x, 0) as i16 as u16),
        "cvt_norm_i16_f16" => signed_half(x, 0, 32767.0),
        "cvt_norm_u16_f16" => normalised(half(x, 0), 0.0, 65535.0),
        "cvt_pknorm_i16_f16" => pack(signed_half(x, 0, 32767.0), signed_half(x, 1, 32767.0)),
        "cvt_pknorm_u16_f16" => {
            pack(normalised(half(x, 0), 0.0, 65535.0), normalised(half(x, 1), 0.0, 65535.0))
        },
        "cvt_pknorm_i16_f32" => {
            pack(normalised(f32_of(x.a), -1.0, 32767.0), normalised(f32_of(x.b), -1.0, 32767.0))
        },
        "cvt_pknorm_u16_f32" => {
            pack(normalised(f32_of(x.a), 0.0, 65535.0), normalised(f32_of(x.b), 0.0, 65535.0))
        },
        "cvt_pkrtz_f16_f32" => pack(truncated_half(f32_of(x.a)), truncated_half(f32_of(x.b))),
        "cvt_pk_f16_f32" => pack(F16.encode(f32_of(x.a)), F16.encode(f32_of(x.b))),
        "cvt_pk_bf16_f32" => pack(BF16.encode(f32_of(x.a)), BF16.encode(f32_of(x.b))),
        "cvt_pk_u8_f32" => insert_byte(x, x.u()[2]),
        "cvt_pkaccum_u8_f32" => insert_byte(x, x.old as u32),
        "cvt_f32_fp8" => single(f8("fp8", x).decode(x.u()[0] & 0xff)),
        "cvt_f32_bf8" => single(f8("bf8", x).decode(x.u()[0] & 0xff)),
        "cvt_pk_f32_fp8" => two(x, f8("fp8", x)),
        "cvt_pk_f32_bf8" => two(x, f8("bf8", x)),
        "cvt_pk_fp8_f32" => {
            f8("fp8", x).encode(f32_of(x.a)) | f8("fp8", x).encode(f32_of(x.b)) << 8
        },
        "cvt_pk_bf8_f32" => {
            f8("bf8", x).encode(f32_of(x.a)) | f8("bf8", x).encode(f32_of(x.b)) << 8
        },
        "cvt_sr_fp8_f32" => f8("fp8", x).encode_random(f32_of(x.a), x.u()[1]),
        "cvt_sr_bf8_f32" => f8("bf8", x).encode_random(f32_of(x.a), x.u()[1]),
        "cvt_sr_f16_f32" => F16.encode_random(f32_of(x.a), x.u()[1]),
        "cvt_sr_bf16_f32" => BF16.encode_random(f32_of(x.a), x.u()[1]),
    })
}

/// The values of the two lowest bytes.
fn two(x: &Lane, format: Format) -> u64 {
    let value = |k: u32| single(format.decode(x.u()[0] >> (8 * k) & 0xff));
    value(0) | value(1) << 32
}

/// A format by its name in a mnemonic.
fn format(name: &str) -> Option<Format> {
    Some(match name {
        "f32" => F32,
        "f16" => F16,
        "bf16" => BF16,
        "fp8" => number::fp8(false),
        "bf8" => number::bf8(false),
        "fp6" => FP6,
        "bf6" => BF6,
        "fp4" => FP4,
        _ => return None,
    })
}

fn width(format: Format) -> u32 {
    1 + format.exponent + format.fraction
}

/// A value divided by a scale; a scale without a value makes a positive NaN of everything.
fn divided(value: f64, scale: u32) -> f64 {
    let factor = factor(scale);
    if factor.is_nan() { f64::NAN } else { value / factor }
}

/// Two to the exponent of a scale, whose exponent field is all that counts; NaN if it is all ones.
fn factor(scale: u32) -> f64 {
    match scale >> 23 & 0xff {
        255 => f64::NAN,
        e => pow2(e as i32 - 127),
    }
}

/// `[sr_][pk_]<to>_<from>` with a block scale, of one or two values: divided by the scale on the way
/// to a narrow format, multiplied on the way from it.
fn scaled(name: &str) -> Option<Operation> {
    let random = name.starts_with("sr_");
    let rest = name.strip_prefix("sr_").unwrap_or(name);
    let packed = rest.starts_with("pk_");
    let (to, from) = rest.strip_prefix("pk_").unwrap_or(rest).split_once('_')?;
    let (to, from) = (format(to)?, format(from)?);
    let narrowing = width(from) > width(to);
    let count = if packed { 2 } else { 1 };
    Some(Box::new(move |x: &Lane| {
        // Two f32 are separate operands, but a register pair where a random number comes second.
        let separate = packed && narrowing && width(from) == 32 && !random;
        let scale = match (random, separate, narrowing) {
            (true, ..) | (_, true, _) => x.u()[2],
            _ => x.u()[1],
        };
        let source = if separate { x.a & 0xffff_ffff | x.b << 32 } else { x.a };
        let mut noise = x.u()[1];
        let mut result = 0_u64;
        for k in 0..count {
            let code = source >> (width(from) * k) & ((1 << width(from)) - 1);
            let value = from.decode(code as u32);
            let code = if !narrowing {
                to.encode(f64::from((value * factor(scale)) as f32))
            } else if random {
                let code = to.encode_random(divided(value, scale), noise);
                noise = next_random(noise);
                code
            } else {
                to.encode(divided(value, scale))
            };
            result |= u64::from(code) << (width(to) * k);
        }
        result.into()
    }))
}

/// Conversions of 32 values a lane between 6 bits and a wider format: `[sr_]pk32_<to>_<from>`, and
/// `2xpk16_<to>_f32`, which takes its values from two operands in turn. Takes the registers of the
/// operands and returns those of the result.
pub fn block(name: &str, operands: [&[u32]; 3]) -> Option<Vec<u32>> {
    let rest = name.strip_prefix("cvt_scalef32_")?;
    let random = rest.starts_with("sr_");
    let rest = rest.strip_prefix("sr_").unwrap_or(rest);
    let interleaved = rest.starts_with("2xpk16_");
    let rest = rest.strip_prefix("2xpk16_").or_else(|| rest.strip_prefix("pk32_"))?;
    let (to, from) = rest.split_once('_')?;
    let (to, from) = (format(to)?, format(from)?);
    let narrowing = width(from) > width(to);
    let scale = operands[if random || interleaved { 2 } else { 1 }].first()?;
    let mut noise = operands[1].first().copied().unwrap_or(0);
    let mut result = vec![0_u32; (32 * width(to)).div_ceil(32) as usize];
    for k in 0..32 {
        let (source, at) = match interleaved {
            true => (operands[(k % 2) as usize], k / 2),
            false => (operands[0], k),
        };
        let value = from.decode(field(source, width(from), at));
        let code = if !narrowing {
            to.encode(f64::from((value * factor(*scale)) as f32))
        } else if random {
            let code = to.encode_random(divided(value, *scale), noise);
            noise = next_random(noise);
            code
        } else {
            to.encode(divided(value, *scale))
        };
        for bit in 0..width(to) {
            let at = width(to) * k + bit;
            result[(at / 32) as usize] |= (code >> bit & 1) << (at % 32);
        }
    }
    Some(result)
}

/// Field number `at` of `width` bits.
pub fn field(words: &[u32], width: u32, at: u32) -> u32 {
    (0..width).fold(0, |m, bit| {
        let position = width * at + bit;
        let word = words.get((position / 32) as usize).copied().unwrap_or(0);
        m | (word >> (position % 32) & 1) << bit
    })
}
