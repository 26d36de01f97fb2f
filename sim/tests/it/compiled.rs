//! Kernels that clang compiles from `compiled.hip`, against the same computation on the host.

use std::process::Command;

use cdna_sim::device::{Device, Mode};
use cdna_sim::isa::Arch;
use cdna_sim::launch::{Dispatch, Options};
use half::{bf16, f16};

use crate::tools;

const CLANG: &str = "clang-22";
const THREADS: usize = 4096;

/// Runs `kernel` once per element on buffers with `inputs` and returns `outputs` bytes per thread.
fn run(arch: Arch, kernel: &str, inputs: &[Vec<u8>], outputs: usize) -> Vec<u8> {
    let dir = tools::scratch(&format!("compiled-{arch}-{kernel}"));
    let object = dir.join("compiled.hsaco");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/compiled.hip");
    tools::run(
        Command::new(CLANG)
            .args(["-x", "hip", "-nogpulib", "-nogpuinc", "--cuda-device-only", "-O3"])
            .args(["--no-gpu-bundle-output", "-std=c++17", &format!("--offload-arch={arch}")])
            .args([source, "-o"])
            .arg(&object),
    );
    let device = Device::new(arch, 0).unwrap();
    let module = device.load(&std::fs::read(object).unwrap()).unwrap();
    let mut args = Vec::new();
    for input in inputs {
        let addr = device.memory_mut().alloc(input.len() as u64).unwrap();
        assert!(device.memory().write(addr, input));
        args.extend(addr.to_le_bytes());
    }
    let addr = device.memory_mut().alloc((THREADS * outputs) as u64).unwrap();
    args.extend(addr.to_le_bytes());
    let dispatch =
        Dispatch { groups: [THREADS as u32 / 64, 1, 1], block: [64, 1, 1], dynamic_lds: 0 };
    let options = Options { threads: 1, ..Options::default() };
    device.launch(&module, kernel, dispatch, &args, Mode::Functional, &options).unwrap();
    let mut result = vec![0; THREADS * outputs];
    assert!(device.memory().read(addr, &mut result));
    result
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn longs(bytes: &[u8]) -> Vec<u64> {
    words(bytes).chunks_exact(2).map(|w| u64::from(w[0]) | u64::from(w[1]) << 32).collect()
}

fn bytes<const N: usize>(values: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    values.into_iter().flatten().collect()
}

/// Reproducible random bits (splitmix64).
fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

fn on_each_arch(test: impl Fn(Arch)) {
    if tools::available(&[CLANG]) {
        Arch::ALL.into_iter().for_each(test);
    }
}

#[test]
fn integer_division_multiplication_and_bit_operations() {
    on_each_arch(|arch| {
        // Random bits with random magnitudes.
        let sized = |seed| random(seed).zip(random(seed + 1)).map(|(x, s)| x >> (s % 64));
        let a: Vec<u64> = sized(1).take(THREADS).collect();
        let b: Vec<u64> = sized(3).take(THREADS).collect();
        let inputs = [&a, &b].map(|v| bytes(v.iter().map(|x| x.to_le_bytes())));
        let out = longs(&run(arch, "integers", &inputs, 128));
        for (i, o) in out.chunks_exact(16).enumerate() {
            let (x, y) = (a[i], b[i] | 1);
            let (sx, sy) = (x as i64, y as i64);
            let (x32, y32) = (x as u32, y as u32);
            let (i32x, i32y) = (x32 as i32, y32 as i32);
            let counts = x.count_ones() | y.leading_zeros() << 8 | y.trailing_zeros() << 16;
            let want = [
                x / y,
                x % y,
                sx.wrapping_div(sy) as u64,
                sx.wrapping_rem(sy) as u64,
                (x32 / y32).into(),
                (x32 % y32).into(),
                u64::from(i32x.wrapping_div(i32y) as u32),
                u64::from(i32x.wrapping_rem(i32y) as u32),
                x.wrapping_mul(y),
                ((u128::from(x) * u128::from(y)) >> 64) as u64,
                counts.into(),
                x << (y & 63),
                (sx >> (y & 63)) as u64,
                x32.rotate_left(y32 & 31).into(),
                x.reverse_bits(),
                u64::from(x32 / 10) + x % 1000,
            ];
            assert_eq!(o, want, "{arch}: {x:#x} and {y:#x}");
        }
    });
}

/// Whether two floats are the same bits or both NaN.
fn same(got: u32, want: f32) -> bool {
    got == want.to_bits() || f32::from_bits(got).is_nan() && want.is_nan()
}

/// Whether a float is within `ulps` units of the last place of an exact value.
fn near(got: u32, want: f64, ulps: f64) -> bool {
    let got = f32::from_bits(got);
    let rounded = want as f32;
    if rounded.is_nan() || rounded.is_infinite() || rounded == 0.0 {
        return same(got.to_bits(), rounded);
    }
    let unit = f64::from(rounded.abs().next_up()) - f64::from(rounded.abs());
    (f64::from(got) - want).abs() <= ulps * unit
}

#[test]
fn single_precision_arithmetic_conversions_and_exponentials() {
    on_each_arch(|arch| {
        let a: Vec<f32> = random(5).map(|x| f32::from_bits(x as u32)).take(THREADS).collect();
        // Up to 2^10 in magnitude, or any bits.
        let moderate = |x: u64| ((x >> 32) as i32) as f32 / 2_097_152.0;
        let b: Vec<f32> = random(6)
            .map(|x| if x & 3 == 0 { f32::from_bits((x >> 8) as u32) } else { moderate(x) })
            .take(THREADS)
            .collect();
        let inputs = [&a, &b].map(|v| bytes(v.iter().map(|x| x.to_le_bytes())));
        let out = words(&run(arch, "singles", &inputs, 64));
        for (i, o) in out.chunks_exact(16).enumerate() {
            let (x, y) = (a[i], b[i]);
            let (wx, wy) = (f64::from(x), f64::from(y));
            let place = format!("{arch}: {x:e} and {y:e}: {o:x?}");
            assert!(same(o[0], x / y), "division, {place}");
            assert!(same(o[1], x.sqrt()), "square root, {place}");
            assert!(same(o[2], x.mul_add(y, x)), "fma, {place}");
            assert!(near(o[3], wy.exp2(), 1.5), "exp2, {place}");
            assert!(near(o[4], wy.exp(), 1.5), "exp, {place}");
            assert!(near(o[5], wx.ln(), 2.5), "log, {place}");
            assert!(near(o[6], wx.log2(), 1.5), "log2, {place}");
            assert!(same(o[7], y.round_ties_even()), "rint, {place}");
            assert!(same(o[8], y.floor()), "floor, {place}");
            assert!(same(o[9], y.trunc()), "trunc, {place}");
            assert!(same(o[10], x.min(y)), "minimum, {place}");
            assert!(same(o[11], x.max(-y.abs())), "maximum, {place}");
            if y.abs() < 2e9 {
                assert_eq!(o[12] as i32, y as i32, "to integer, {place}");
            }
            assert!(same(o[13], f16::from_f32(y).to_f32()), "half, {place}");
            assert!(same(o[14], bf16::from_f32(y).to_f32()), "bfloat16, {place}");
            assert!(same(o[15], y.round()), "round, {place}");
        }
    });
}

#[test]
fn double_precision_arithmetic_and_conversions() {
    on_each_arch(|arch| {
        let a: Vec<f64> = random(7).map(f64::from_bits).take(THREADS).collect();
        let moderate = |x: u64| (x as i64) as f64 / 4096.0;
        let b: Vec<f64> = random(8)
            .map(|x| if x & 3 == 0 { f64::from_bits(x) } else { moderate(x) })
            .take(THREADS)
            .collect();
        let inputs = [&a, &b].map(|v| bytes(v.iter().map(|x| x.to_le_bytes())));
        let out = longs(&run(arch, "doubles", &inputs, 64));
        let same = |got: u64, want: f64| {
            got == want.to_bits() || f64::from_bits(got).is_nan() && want.is_nan()
        };
        for (i, o) in out.chunks_exact(8).enumerate() {
            let (x, y) = (a[i], b[i]);
            let place = format!("{arch}: {x:e} and {y:e}: {o:x?}");
            assert!(same(o[0], x / y), "division, {place}");
            assert!(same(o[1], x.sqrt()), "square root, {place}");
            assert!(same(o[2], x.mul_add(y, x)), "fma, {place}");
            if y.abs() < 9e18 {
                assert_eq!(o[3] as i64, y as i64, "to integer, {place}");
            }
            assert!(same(o[4], x.to_bits() as i64 as f64), "from signed, {place}");
            assert!(same(o[5], f64::from(y as f32)), "single, {place}");
            assert!(same(o[6], y.floor()), "floor, {place}");
            assert!(same(o[7], x.to_bits() as f64), "from unsigned, {place}");
        }
    });
}

#[test]
fn half_precision_arithmetic() {
    on_each_arch(|arch| {
        let any = |seed| random(seed).map(|x| f16::from_bits(x as u16)).take(THREADS);
        let (a, b): (Vec<f16>, Vec<f16>) = (any(9).collect(), any(10).collect());
        let inputs = [&a, &b].map(|v| bytes(v.iter().map(|x| x.to_le_bytes())));
        let out = words(&run(arch, "halves", &inputs, 32));
        for (i, o) in out.chunks_exact(8).enumerate() {
            let (x, y) = (a[i].to_f32(), b[i].to_f32());
            let place = format!("{arch}: {x:e} and {y:e}: {o:x?}");
            // Sums, products and quotients of halves in f32 round to half as the exact ones do.
            let half = |x: f32| f16::from_f32(x).to_f32();
            assert!(same(o[0], half(x + y)), "sum, {place}");
            assert!(same(o[1], half(x * y)), "product, {place}");
            assert!(same(o[2], half(x - y)), "difference, {place}");
            assert!(same(o[3], half(x / y)), "quotient, {place}");
            // The exact sum needs more than f32; its f16 neighbours are half a place away.
            let exact = f64::from(x) * f64::from(y) + f64::from(x);
            let got = f64::from(f32::from_bits(o[4]));
            let place_value = f64::from(half(exact as f32)).abs().max(6.2e-5) / 1024.0;
            let close = (got - exact).abs() <= 0.5001 * place_value;
            assert!(close || exact.is_nan() || exact.abs() >= 65504.0, "fma, {place}");
            assert!(same(o[5], x * y + 1.0) || same(o[5], x.mul_add(y, 1.0)), "mix, {place}");
            assert_eq!(o[6] == 1, x < y, "comparison, {place}");
        }
    });
}

#[test]
fn lanes_leave_a_loop_one_by_one() {
    on_each_arch(|arch| {
        let a: Vec<u32> = random(11).map(|x| x as u32 % 100_000 + 1).take(THREADS).collect();
        let out = words(&run(arch, "collatz", &[bytes(a.iter().map(|x| x.to_le_bytes()))], 4));
        for (start, got) in a.iter().zip(out) {
            let (mut n, mut steps) = (u64::from(*start), 0);
            while n != 1 {
                n = if n % 2 == 1 { 3 * n + 1 } else { n / 2 };
                steps += 1;
            }
            assert_eq!(got, steps, "{arch}: from {start}");
        }
    });
}

#[test]
fn scans_permutations_ballots_and_indexed_arrays() {
    on_each_arch(|arch| {
        let a: Vec<i32> = random(12).map(|x| x as i32 >> 8).take(THREADS).collect();
        let out = words(&run(arch, "lanes", &[bytes(a.iter().map(|x| x.to_le_bytes()))], 32));
        for (w, (values, out)) in a.chunks(64).zip(out.chunks(64 * 8)).enumerate() {
            let ballot = (0..64).fold(0_u64, |mask, i| mask | u64::from(values[i] < 0) << i);
            for (i, o) in out.chunks_exact(8).enumerate() {
                let scan: i32 = values[..=i].iter().fold(0, |sum, x| sum.wrapping_add(*x));
                let sum: i32 = values.iter().fold(0, |sum, x| sum.wrapping_add(*x));
                let want = [
                    scan,
                    sum,
                    values[63 - i],
                    ballot as i32,
                    (ballot >> 32) as i32,
                    values[0],
                    // The table is indexed by the first wave's values.
                    values[i].wrapping_mul(a[i ^ 1] & 15),
                    i as i32,
                ];
                assert_eq!(o.iter().map(|x| *x as i32).collect::<Vec<_>>(), want, "wave {w}");
            }
        }
    });
}
