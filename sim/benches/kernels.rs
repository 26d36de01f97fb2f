//! Instruction rate on bundled kernels: wave64 instructions per second, functional and under the
//! timing model, on one host thread and on two. The machine's name is printed first.

use cdna_sim::device::{Device, Mode};
use cdna_sim::isa::Arch;
use cdna_sim::launch::{Dispatch, Module, Options};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// A kernel of a prebuilt object with its arguments in device memory.
struct Case {
    name: &'static str,
    device: Device,
    module: Module,
    dispatch: Dispatch,
    args: Vec<u8>,
}

macro_rules! object {
    ($arch:literal, $name:literal) => {
        &include_bytes!(concat!("../../kernels/prebuilt/", $arch, "/", $name, ".hsaco"))[..]
    };
}

impl Case {
    fn new(arch: Arch, name: &'static str, file: &[u8], groups: [u32; 3]) -> Self {
        let device = Device::new(arch, 0).unwrap();
        let module = device.load(file).unwrap();
        let dispatch = Dispatch { groups, block: [256, 1, 1], dynamic_lds: 0 };
        Case { name, device, module, dispatch, args: Vec::new() }
    }

    /// A buffer that holds the dwords of `words`, repeated; its address is the next argument.
    fn buffer(&mut self, bytes: u64, words: &[u32]) {
        let mut mem = self.device.memory_mut();
        let base = mem.alloc(bytes).unwrap();
        let pattern: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert!(mem.fill(base, &pattern, bytes));
        self.args.extend(base.to_le_bytes());
    }

    /// Runs the kernel; returns the instructions that were really executed.
    fn launch(&self, mode: Mode, threads: usize) -> u64 {
        let options = Options { threads, ..Options::default() };
        let stats = self
            .device
            .launch(&self.module, self.name, self.dispatch, &self.args, mode, &options)
            .unwrap();
        stats.classes.values().sum()
    }
}

/// Uncorrelated finite values of every sign, whatever 16-bit or 8-bit float they are read as.
fn noise() -> Vec<u32> {
    let mut state = 0x2545_f491_u32;
    (0..4099)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state & 0xbfbf_bfbf
        })
        .collect()
}

/// GLM-5.2 `w_kc` at TP4: B = 16, N = 512, K = 192, in the deployed tile.
fn absorb(arch: Arch, m: u64) -> Case {
    let file = match arch {
        Arch::Gfx942 => object!("gfx942", "absorb_bmm"),
        Arch::Gfx950 => object!("gfx950", "absorb_bmm"),
    };
    let (b, n, k) = (16_u64, 512_u64, 192_u64);
    let groups = [n / 256, m / 64, b].map(|n| n as u32);
    let mut case = Case::new(arch, "absorb_bmm_64x256_even", file, groups);
    case.buffer(m * b * k * 2, &noise());
    case.buffer(b * n * k, &noise());
    case.buffer(m * b * n * 2, &[0]);
    case.buffer(4, &[1.0_f32.to_bits()]);
    for size in [m, n, k] {
        case.args.extend((size as i32).to_le_bytes());
    }
    case.args.extend([0; 4]);
    for stride in [k, b * k, n * k, k, n, b * n] {
        case.args.extend(stride.to_le_bytes());
    }
    case
}

/// Logits of rows against 2048 keys at ratio 4, all visible: fp4 of 64 heads or fp8 of 32.
fn indexer(arch: Arch, fp4: bool, rows: u64) -> Case {
    let file = match arch {
        Arch::Gfx942 => object!("gfx942", "indexer_logits"),
        Arch::Gfx950 => object!("gfx950", "indexer_logits"),
    };
    let (name, heads, row_bytes) = match fp4 {
        true => ("indexer_logits_fp4_h64", 64, 64),
        false => ("indexer_logits_fp8_h32", 32, 128),
    };
    let keys = 2048_u64;
    let mut case = Case::new(arch, name, file, [(keys / 256) as u32, (rows / 32) as u32, 1]);
    case.buffer(rows * heads * row_bytes, &noise());
    case.buffer(rows * heads * 4, &[0x7f7f_7f7f]);
    case.buffer(keys * row_bytes, &noise());
    case.buffer(keys * 4, &[0x3f80_3f80]);
    case.buffer(rows * heads * 4, &[0.125_f32.to_bits()]);
    case.buffer(rows * keys * 4, &[0]);
    for size in [rows, keys, keys] {
        case.args.extend((size as u32).to_le_bytes());
    }
    case.args.extend([0; 4]);
    case.args.extend(keys.to_le_bytes());
    for value in [keys * 4, 0, 4] {
        case.args.extend((value as u32).to_le_bytes());
    }
    case
}

/// The processor's name, for the record.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name"));
    let name = name.map_or("unknown processor", |rest| rest.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name}, {cores} cores")
}

fn rates(c: &mut Criterion) {
    println!("machine: {}", machine());
    for arch in [Arch::Gfx942, Arch::Gfx950] {
        let mut group = c.benchmark_group(format!("kernels/{}", arch.name()));
        group.sample_size(10);
        let mut bench = |case: &Case, label: &str, mode, threads| {
            group.throughput(Throughput::Elements(case.launch(mode, threads)));
            let id = BenchmarkId::new(case.name, label);
            group.bench_function(id, |b| b.iter(|| case.launch(mode, threads)));
        };
        for case in [absorb(arch, 256), indexer(arch, true, 64), indexer(arch, false, 64)] {
            bench(&case, "functional, 1 thread", Mode::Functional, 1);
            bench(&case, "functional, 2 threads", Mode::Functional, 2);
        }
        // A prefill chunk: the time of a launch is that of the sample, whatever the grid.
        for case in [absorb(arch, 4096), indexer(arch, true, 4096), indexer(arch, false, 4096)] {
            bench(&case, "timing", Mode::Timing, 1);
        }
        group.finish();
    }
}

criterion_group!(benches, rates);
criterion_main!(benches);
