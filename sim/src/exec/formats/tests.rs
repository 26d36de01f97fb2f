//! Brute force in f64 over every code of a format is the reference here.

use super::*;

const ALL: [Format; 7] = [
    Format::Fp8,
    Format::Bf8,
    Format::Fp8Fnuz,
    Format::Bf8Fnuz,
    Format::Fp6,
    Format::Bf6,
    Format::Fp4,
];

fn codes(format: Format) -> impl Iterator<Item = u8> {
    (0..1u16 << format.bits()).map(|c| c as u8)
}

/// Finite non-negative values with their codes, ascending.
fn ladder(format: Format) -> Vec<(f64, u8)> {
    let mut all: Vec<_> = codes(format)
        .filter(|c| u32::from(*c) >> (format.bits() - 1) == 0)
        .map(|c| (f64::from(format.decode(c)), c))
        .filter(|(v, _)| v.is_finite())
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// Nearest code of |x| by searching all of them, ties to the even code; `None` past the range,
/// which ends half a step above the largest finite value.
fn nearest(ladder: &[(f64, u8)], x: f64) -> Option<u8> {
    let (max, top) = ladder[ladder.len() - 1];
    let last_step = max - ladder[ladder.len() - 2].0;
    let limit = max + last_step / 2.0;
    if x > limit || (x == limit && top % 2 == 1) {
        return None;
    }
    ladder
        .iter()
        .min_by(|a, b| {
            let key = |v: &(f64, u8)| ((v.0 - x).abs(), v.1 % 2);
            key(a).partial_cmp(&key(b)).unwrap()
        })
        .map(|v| v.1)
}

/// f32 values from far below the smallest step to far above the largest code, about 1000 a binade,
/// with every midpoint of two codes and its neighbours.
fn sweep(ladder: &[(f64, u8)]) -> Vec<f32> {
    let mut values: Vec<f32> = (90u32 << 23..150 << 23).step_by(8191).map(f32::from_bits).collect();
    for pair in ladder.windows(2) {
        let middle = ((pair[0].0 + pair[1].0) / 2.0) as f32;
        values.extend([middle, middle.next_up(), middle.next_down(), pair[1].0 as f32]);
    }
    values.extend([0.0, 1e-45, f32::MIN_POSITIVE, f32::MAX]);
    values
}

#[test]
fn the_largest_and_smallest_values_are_those_of_the_specifications() {
    // OCP OFP8 table 1, OCP MX table 1, and the FNUZ definitions: max, smallest subnormal.
    let facts = [
        (Format::Fp8, 448.0, 2f64.powi(-9)),
        (Format::Bf8, 57344.0, 2f64.powi(-16)),
        (Format::Fp8Fnuz, 240.0, 2f64.powi(-10)),
        (Format::Bf8Fnuz, 57344.0, 2f64.powi(-17)),
        (Format::Fp6, 7.5, 0.125),
        (Format::Bf6, 28.0, 0.0625),
        (Format::Fp4, 6.0, 0.5),
    ];
    for (format, max, min) in facts {
        let ladder = ladder(format);
        assert_eq!(ladder[ladder.len() - 1].0, max, "{format:?}");
        assert_eq!(ladder[1].0, min, "{format:?}");
    }
    let fp4: Vec<f64> = ladder(Format::Fp4).iter().map(|v| v.0).collect();
    assert_eq!(fp4, [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
}

#[test]
fn every_code_round_trips() {
    for format in ALL {
        for code in codes(format) {
            let value = format.decode(code);
            if value.is_nan() {
                assert!(format.decode(format.encode(value, false)).is_nan());
                assert!(format.decode(format.encode(value, true)).is_nan());
            } else if value.is_finite() {
                assert_eq!(format.encode(value, false), code, "{format:?} {value}");
                assert_eq!(format.encode(value, true), code, "{format:?} {value}");
                assert_eq!(format.encode_sr(value, u32::MAX, true), code, "{format:?} {value}");
            }
        }
    }
}

#[test]
fn decoding_by_arithmetic_equals_the_table() {
    for format in ALL {
        for code in codes(format) {
            let (wide, table) = (format.decode_wide(u32::from(code)), format.decode(code));
            let same = wide.to_bits() == table.to_bits() || (wide.is_nan() && table.is_nan());
            assert!(same, "{format:?} {code:#x}: {wide} {table}");
        }
    }
}

#[test]
fn nan_codes_are_those_of_the_formats() {
    let nans = |f: Format| codes(f).filter(|c| f.decode(*c).is_nan()).collect::<Vec<_>>();
    assert_eq!(nans(Format::Fp8), [0x7f, 0xff]);
    assert_eq!(nans(Format::Bf8), [0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff]);
    assert_eq!(nans(Format::Fp8Fnuz), [0x80]);
    assert_eq!(nans(Format::Bf8Fnuz), [0x80]);
    for format in [Format::Fp6, Format::Bf6, Format::Fp4] {
        assert!(nans(format).is_empty());
    }
    assert_eq!(Format::Bf8.decode(0x7c), f32::INFINITY);
    assert_eq!(Format::Bf8.decode(0xfc), f32::NEG_INFINITY);
}

#[test]
fn encoding_picks_the_nearest_code_with_ties_to_even() {
    for format in ALL {
        let ladder = ladder(format);
        let sign_bit = 1u8 << (format.bits() - 1);
        let top = ladder[ladder.len() - 1].1;
        let fnuz = matches!(format, Format::Fp8Fnuz | Format::Bf8Fnuz);
        for x in sweep(&ladder) {
            let want = nearest(&ladder, f64::from(x));
            let negative = match want {
                Some(0) if fnuz => 0,
                code => code.unwrap_or(top) | sign_bit,
            };
            assert_eq!(format.encode(x, true), want.unwrap_or(top), "{format:?} {x:e}");
            assert_eq!(format.encode(-x, true), negative, "{format:?} {x:e}");
            match want {
                Some(code) => assert_eq!(format.encode(x, false), code, "{format:?} {x:e}"),
                None => {
                    let got = format.decode(format.encode(x, false));
                    match format {
                        Format::Fp8 | Format::Fp8Fnuz | Format::Bf8Fnuz => assert!(got.is_nan()),
                        Format::Bf8 => assert_eq!(got, f32::INFINITY),
                        _ => assert_eq!(f64::from(got), ladder[ladder.len() - 1].0),
                    }
                }
            }
        }
    }
}

#[test]
fn infinity_saturates_only_on_request() {
    assert_eq!(Format::Fp8.encode(f32::NEG_INFINITY, true), 0xfe);
    assert_eq!(Format::Fp8.encode(f32::NEG_INFINITY, false), 0xff);
    assert_eq!(Format::Bf8.encode(f32::INFINITY, true), 0x7b);
    assert_eq!(Format::Bf8.encode(f32::INFINITY, false), 0x7c);
    assert_eq!(Format::Fp8Fnuz.encode(f32::INFINITY, true), 0x7f);
    assert_eq!(Format::Fp8Fnuz.encode(f32::NEG_INFINITY, false), 0x80);
    assert_eq!(Format::Fp4.encode(f32::NEG_INFINITY, false), 0xf);
    assert_eq!(Format::Fp4.encode(f32::NAN, false), 0x7);
}

#[test]
fn stochastic_rounding_goes_up_in_proportion_to_the_remainder() {
    // Over an equidistant set of 4096 random words the share of upward roundings is the position
    // of x between its neighbours, to one part in 4096.
    for format in ALL {
        for pair in ladder(format).windows(2) {
            for sixteenths in [0, 1, 5, 8, 15] {
                let at = f64::from(sixteenths) / 16.0;
                let x = (pair[0].0 + at * (pair[1].0 - pair[0].0)) as f32;
                let up = (0..4096u32)
                    .map(|i| format.encode_sr(x, i << 20, true))
                    .inspect(|c| assert!(*c == pair[0].1 || *c == pair[1].1, "{format:?} {x}"))
                    .filter(|c| *c == pair[1].1)
                    .count();
                assert_eq!(up as f64 / 4096.0, at, "{format:?} {x}");
            }
        }
    }
}

#[test]
fn scaled_conversions_divide_and_multiply_by_the_block_scale() {
    for format in ALL {
        let ladder = ladder(format);
        for scale in [0u8, 1, 60, 126, 127, 128, 200, 254] {
            let factor = 2f64.powi(i32::from(scale) - 127);
            for &(value, code) in &ladder {
                let scaled = (value * factor) as f32;
                assert_eq!(format.decode_scaled(code, scale), scaled, "{format:?} {scale}");
                if scaled.is_normal() {
                    assert_eq!(format.encode_scaled(scaled, scale, true), code, "{format:?}");
                    assert_eq!(format.encode_scaled_sr(scaled, scale, 7 << 20, true), code);
                }
            }
        }
    }
    assert_eq!(Format::Fp8.encode_scaled(1.0, 255, true), 0x7f);
    assert!(Format::Fp4.decode_scaled(0x2, 255).is_nan());
    // 1 / 2^-127 leaves every range; 2^127 / 2^127 is one.
    assert_eq!(Format::Fp4.encode_scaled(1.0, 0, false), 0x7);
    assert_eq!(Format::Fp8.encode_scaled(2f32.powi(127), 254, false), 0x38);
}

#[test]
fn halves_agree_with_the_half_crate_on_every_code_and_on_a_sweep() {
    for bits in 0..=u16::MAX {
        let f = half::f16::from_bits(bits);
        let b = half::bf16::from_bits(bits);
        if f.is_nan() {
            assert!(f16_to_f32(bits).is_nan());
        } else {
            assert_eq!(f16_to_f32(bits).to_bits(), f.to_f32_const().to_bits());
            assert_eq!(f32_to_f16(f16_to_f32(bits)), bits);
        }
        if b.is_nan() {
            assert!(bf16_to_f32(bits).is_nan());
            assert!(half::bf16::from_bits(f32_to_bf16(bf16_to_f32(bits))).is_nan());
        } else {
            assert_eq!(bf16_to_f32(bits).to_bits(), b.to_f32_const().to_bits());
            assert_eq!(f32_to_bf16(bf16_to_f32(bits)), bits);
        }
    }
    for bits in (0..=u32::MAX).step_by(1021) {
        let x = f32::from_bits(bits);
        if x.is_nan() {
            assert!(half::f16::from_bits(f32_to_f16(x)).is_nan());
            assert!(half::bf16::from_bits(f32_to_bf16(x)).is_nan());
        } else {
            assert_eq!(f32_to_f16(x), half::f16::from_f32_const(x).to_bits(), "{x:e}");
            assert_eq!(f32_to_bf16(x), half::bf16::from_f32_const(x).to_bits(), "{x:e}");
        }
    }
}

#[test]
fn block_scales_are_powers_of_two() {
    for code in 0..255u8 {
        let want = 2f64.powi(i32::from(code) - 127);
        assert_eq!(f64::from(e8m0_to_f32(code)), want);
    }
    assert!(e8m0_to_f32(255).is_nan());
}
