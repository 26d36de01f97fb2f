//! Kernels compiled by Triton for both targets give the results of f64 references.

use std::path::{Path, PathBuf};
use std::process::Command;

use cdna_sim::device::{Device, Mode};
use cdna_sim::isa::{self, Arch};
use cdna_sim::launch::{Dispatch, Module, Options};

use crate::tools;

/// Kernels of one target, compiled into a folder.
struct Compiled {
    arch: Arch,
    folder: PathBuf,
    device: Device,
}

/// One argument of a kernel.
enum Arg {
    Ptr(u64),
    I32(i32),
    I64(i64),
}

fn compile(test: &str) -> Option<Vec<Compiled>> {
    let python = Command::new("python3").args(["-c", "import triton"]).output();
    let missing = if python.is_ok_and(|o| o.status.success()) { "" } else { "triton for python3" };
    if !tools::report_missing(missing) {
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/triton/kernels.py");
    let one = |arch: Arch| {
        let folder = tools::scratch(&format!("triton_{test}_{arch}"));
        let cache = folder.join("cache");
        let mut command = Command::new("python3");
        command.arg(&script).args([arch.name(), test]).arg(&folder);
        tools::run(command.env("TRITON_CACHE_DIR", cache));
        Compiled { arch, folder, device: Device::new(arch, 0).unwrap() }
    };
    Some(Arch::ALL.into_iter().map(one).collect())
}

impl Compiled {
    fn upload(&self, data: &[u8]) -> u64 {
        let mut memory = self.device.memory_mut();
        let addr = memory.alloc(data.len() as u64).unwrap();
        assert!(memory.write(addr, data));
        addr
    }

    fn download(&self, addr: u64, bytes: usize) -> Vec<u8> {
        let mut out = vec![0; bytes];
        assert!(self.device.memory().read(addr, &mut out));
        out
    }

    fn f32s(&self, addr: u64, count: usize) -> Vec<f64> {
        let raw = self.download(addr, count * 4);
        raw.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()).into()).collect()
    }

    /// Runs kernel `name`; Triton appends two scratch pointers, which are null here.
    fn run(&self, name: &str, groups: [u32; 3], args: &[Arg], mode: Mode) {
        let file = std::fs::read(self.folder.join(format!("{name}.hsaco"))).unwrap();
        let module: Module = self.device.load(&file).unwrap();
        let info: serde_json::Value = serde_json::from_slice(
            &std::fs::read(self.folder.join(format!("{name}.json"))).unwrap(),
        )
        .unwrap();
        let number = |key: &str| info[key].as_u64().unwrap() as u32;
        let kernel = module.object.kernel(info["symbol"].as_str().unwrap()).unwrap();
        let slots: Vec<_> = kernel.explicit_args().collect();
        assert_eq!(slots.len(), args.len() + 2, "{slots:?}");
        let mut explicit = vec![0; kernel.kernarg_size as usize];
        for (slot, arg) in slots.iter().zip(args) {
            let bytes = match arg {
                Arg::Ptr(v) => v.to_le_bytes().to_vec(),
                Arg::I32(v) => v.to_le_bytes().to_vec(),
                Arg::I64(v) => v.to_le_bytes().to_vec(),
            };
            assert_eq!(slot.size as usize, bytes.len());
            explicit[slot.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        let dispatch =
            Dispatch { groups, block: [number("threads"), 1, 1], dynamic_lds: number("lds") };
        let options = Options { check_waits: true, ..Options::default() };
        let launched =
            self.device.launch(&module, &kernel.name, dispatch, &explicit, mode, &options);
        let stats = launched.unwrap_or_else(|e| panic!("{name} on {}: {e}", self.arch));
        assert_eq!(stats.workgroups_run, stats.workgroups);
    }
}

/// A fixed sequence of numbers in 0..n (Numerical Recipes' linear congruential generator).
fn numbers(n: u32, count: usize) -> Vec<u32> {
    let mut state = 12345u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((u64::from(state) * u64::from(n)) >> 32) as u32
    };
    (0..count).map(|_| next()).collect()
}

/// Multiples of 1/64 in -1..1: exact in bf16.
fn bf16_values(count: usize) -> Vec<f64> {
    numbers(128, count).into_iter().map(|v| (f64::from(v) - 64.0) / 64.0).collect()
}

fn bf16_bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| half::bf16::from_f64(*v).to_le_bytes()).collect()
}

/// Fails unless every element is within `relative` of the reference plus `absolute` of the sum of
/// the products' magnitudes.
fn assert_product(
    got: &[f64],
    [m, n, k]: [usize; 3],
    a: impl Fn(usize, usize) -> f64,
    b: impl Fn(usize, usize) -> f64,
    relative: f64,
    absolute: f64,
) {
    assert_eq!(got.len(), m * n);
    for (at, &value) in got.iter().enumerate() {
        let (i, j) = (at / n, at % n);
        let exact: f64 = (0..k).map(|x| a(i, x) * b(x, j)).sum();
        let size: f64 = (0..k).map(|x| (a(i, x) * b(x, j)).abs()).sum();
        let limit = relative * exact.abs() + absolute * size;
        assert!((value - exact).abs() <= limit, "C[{i},{j}] = {value}, expected {exact}");
    }
}

#[test]
fn a_masked_bf16_matmul_is_right_functionally_and_under_the_timing_model() {
    let Some(targets) = compile("matmul") else { return };
    let [m, n, k] = [100usize, 72, 90];
    let (a, b) = (bf16_values(m * k), bf16_values(k * n));
    for target in targets {
        let (pa, pb) = (target.upload(&bf16_bytes(&a)), target.upload(&bf16_bytes(&b)));
        let mut results = Vec::new();
        for mode in [Mode::Functional, Mode::Full] {
            let pc = target.upload(&vec![0; m * n * 2]);
            let mut args = vec![Arg::Ptr(pa), Arg::Ptr(pb), Arg::Ptr(pc)];
            args.extend([m, n, k, k, n, n].map(|v| Arg::I32(v as i32)));
            target.run("matmul", [2, 2, 1], &args, mode);
            let raw = target.download(pc, m * n * 2);
            let c: Vec<f64> = raw
                .chunks_exact(2)
                .map(|b| half::bf16::from_le_bytes([b[0], b[1]]).to_f64())
                .collect();
            // Half a unit in the last of bf16's 8 bits; the f32 sum is exact to far less.
            let (row, column) = (|i, x| a[i * k + x], |x, j| b[x * n + j]);
            assert_product(&c, [m, n, k], row, column, 1.0 / 256.0, 1e-6);
            results.push(raw);
        }
        assert_eq!(results[0], results[1]);
    }
}

#[test]
fn a_row_softmax_is_right() {
    let Some(targets) = compile("softmax") else { return };
    let (rows, cols, stride) = (5usize, 777usize, 800usize);
    let x: Vec<f32> =
        numbers(2000, rows * stride).into_iter().map(|v| v as f32 / 100.0 - 10.0).collect();
    let bytes: Vec<u8> = x.iter().flat_map(|v| v.to_le_bytes()).collect();
    for target in targets {
        let (px, py) = (target.upload(&bytes), target.upload(&vec![0xff; bytes.len()]));
        let args = [Arg::Ptr(px), Arg::Ptr(py), Arg::I32(cols as i32), Arg::I32(stride as i32)];
        target.run("softmax", [rows as u32, 1, 1], &args, Mode::Functional);
        let y = target.f32s(py, rows * stride);
        for (x, y) in x.chunks_exact(stride).zip(y.chunks_exact(stride)) {
            let sum: f64 = x[..cols].iter().map(|v| f64::from(*v).exp()).sum();
            for (x, y) in x[..cols].iter().zip(y) {
                let exact = f64::from(*x).exp() / sum;
                assert!((y - exact).abs() <= 1e-5 * exact, "{y}, expected {exact}");
            }
            assert!(y[cols..].iter().all(|v| v.is_nan()), "the padding was written");
        }
    }
}

#[test]
fn a_masked_copy_with_64_bit_modulo_addressing_is_exact() {
    let Some(targets) = compile("wrapped_copy") else { return };
    let n = 1000usize;
    let source: Vec<i32> = (0..3005).map(|v| v * 7 - 1000).collect();
    let bytes: Vec<u8> = source.iter().flat_map(|v| v.to_le_bytes()).collect();
    for target in targets {
        // The second period is past 32 bits, so nothing wraps.
        for period in [777i64, 5_000_000_029] {
            let (src, dst) = (target.upload(&bytes), target.upload(&vec![0xee; n * 4 + 64]));
            let args = [Arg::Ptr(src), Arg::Ptr(dst), Arg::I64(n as i64), Arg::I64(period)];
            target.run("wrapped_copy", [4, 1, 1], &args, Mode::Functional);
            let out = target.download(dst, n * 4 + 64);
            let got: Vec<_> = out[..n * 4]
                .chunks_exact(4)
                .map(|b| i32::from_le_bytes(b.try_into().unwrap()))
                .collect();
            let expected: Vec<_> =
                (0..n as i64).map(|i| source[((i * 3 + 5) % period) as usize]).collect();
            assert_eq!(got, expected);
            assert!(out[n * 4..].iter().all(|&b| b == 0xee));
        }
    }
}

/// e4m3 by its definition: bias 7 (OCP, gfx950) or 8 (FNUZ, gfx942), subnormals below exponent 1.
fn e4m3(code: u8, arch: Arch) -> f64 {
    let bias = if arch == Arch::Gfx950 { 7 } else { 8 };
    let (exponent, mantissa) = (i32::from(code >> 3 & 15), f64::from(code & 7));
    let magnitude = match exponent {
        0 => mantissa / 8.0 * 2f64.powi(1 - bias),
        e => (1.0 + mantissa / 8.0) * 2f64.powi(e - bias),
    };
    if code & 0x80 != 0 { -magnitude } else { magnitude }
}

#[test]
fn an_fp8_matmul_uses_the_format_of_its_target() {
    let Some(targets) = compile("fp8_matmul") else { return };
    let (m, n, k) = (64usize, 64usize, 192usize);
    // Codes without NaN in either format: not 0x7f, 0xff, 0x80.
    let codes = |seed: usize| -> Vec<u8> {
        let all = numbers(0x70, seed + m * k).into_iter().skip(seed);
        all.enumerate().map(|(i, v)| v as u8 | if i % 3 == 0 && v > 0 { 0x80 } else { 0 }).collect()
    };
    let (a, b) = (codes(0), codes(999));
    for target in targets {
        let (pa, pb) = (target.upload(&a), target.upload(&b));
        let pc = target.upload(&vec![0; m * n * 4]);
        let args = [Arg::Ptr(pa), Arg::Ptr(pb), Arg::Ptr(pc), Arg::I32(k as i32)];
        target.run("fp8_matmul", [1; 3], &args, Mode::Functional);
        let c = target.f32s(pc, m * n);
        let value = |code| e4m3(code, target.arch);
        let (row, column) = (|i, x| value(a[i * k + x]), |x, j| value(b[j * k + x]));
        assert_product(&c, [m, n, k], row, column, 0.0, 1e-5);
    }
}

#[test]
fn a_block_scaled_fp4_matmul_is_right() {
    let Some(targets) = compile("scaled_matmul") else { return };
    const E2M1: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    let (m, n, k) = (64usize, 64usize, 256usize);
    let packed: Vec<u8> = numbers(256, 2 * m * k / 2).into_iter().map(|v| v as u8).collect();
    let scales: Vec<u8> = numbers(16, 2 * m * k / 32).into_iter().map(|v| v as u8 + 120).collect();
    let (a, b) = packed.split_at(m * k / 2);
    let (sa, sb) = scales.split_at(m * k / 32);
    let value = |data: &[u8], scale: &[u8], row: usize, x: usize| {
        let nibble = data[row * k / 2 + x / 2] >> (x % 2 * 4) & 15;
        let magnitude = E2M1[usize::from(nibble & 7)];
        let sign = if nibble & 8 != 0 { -1.0 } else { 1.0 };
        sign * magnitude * 2f64.powi(i32::from(scale[row * k / 32 + x / 32]) - 127)
    };
    for target in targets {
        let inputs = [a, sa, b, sb].map(|data| Arg::Ptr(target.upload(data)));
        let pc = target.upload(&vec![0; m * n * 4]);
        let args: Vec<_> = inputs.into_iter().chain([Arg::Ptr(pc)]).collect();
        target.run("scaled_matmul", [1; 3], &args, Mode::Functional);
        let c = target.f32s(pc, m * n);
        let (row, column) = (|i, x| value(a, sa, i, x), |x, j| value(b, sb, j, x));
        assert_product(&c, [m, n, k], row, column, 0.0, 1e-5);
    }
}

#[test]
fn the_disassembly_of_triton_objects_equals_llvms() {
    let Some(targets) = compile("all") else { return };
    if !tools::available(&[tools::OBJDUMP]) {
        return;
    }
    for target in targets {
        for name in ["matmul", "softmax", "wrapped_copy", "fp8_matmul", "scaled_matmul"] {
            let path = target.folder.join(format!("{name}.hsaco"));
            let file = std::fs::read(&path).unwrap();
            let object = cdna_sim::code_object::CodeObject::parse(&file, None).unwrap();
            let ours = isa::listing(object.code(), object.text.addr, object.arch);
            let theirs = tools::objdump(&path, target.arch);
            assert!(theirs.len() > 20);
            for (ours, theirs) in ours.iter().zip(&theirs) {
                assert_eq!((ours.address, &ours.text), (theirs.address, &theirs.text), "{name}");
            }
            assert!(ours.len() >= theirs.len());
        }
    }
}
