//! Launches of bundled kernels, with their arguments in device memory, for tests and benches.

use cdna_sim::arch::ArchParams;
use cdna_sim::device::{Device, Mode};
use cdna_sim::isa::Arch;
use cdna_sim::launch::{Dispatch, Module, Options, Prepared};
use cdna_sim::stats::LaunchStats;

/// A kernel of a prebuilt object and its arguments.
pub struct Case {
    /// Symbol.
    pub name: &'static str,
    /// Where it runs.
    pub device: Device,
    module: Module,
    dispatch: Dispatch,
    args: Vec<u8>,
    /// Address and bytes of the result.
    output: (u64, u64),
}

macro_rules! object {
    ($arch:expr, $name:literal) => {
        match $arch {
            Arch::Gfx942 => {
                &include_bytes!(concat!("../../../kernels/prebuilt/gfx942/", $name, ".hsaco"))[..]
            }
            Arch::Gfx950 => {
                &include_bytes!(concat!("../../../kernels/prebuilt/gfx950/", $name, ".hsaco"))[..]
            }
        }
    };
}

impl Case {
    fn new(arch: Arch, name: &'static str, file: &[u8], threads: u32, groups: [u64; 3]) -> Self {
        let device = Device::new(arch, 0).unwrap();
        let module = device.load(file).unwrap();
        let groups = groups.map(|n| n as u32);
        let dispatch = Dispatch { groups, block: [threads, 1, 1], dynamic_lds: 0 };
        Case { name, device, module, dispatch, args: Vec::new(), output: (0, 0) }
    }

    /// A buffer that holds the dwords of `words`, repeated; its address is the next argument.
    fn buffer(&mut self, bytes: u64, words: &[u32]) -> u64 {
        let mut mem = self.device.memory_mut();
        let base = mem.alloc(bytes).unwrap();
        let pattern: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert!(mem.fill(base, &pattern, bytes));
        self.args.extend(base.to_le_bytes());
        base
    }

    fn output(&mut self, bytes: u64) {
        self.output = (self.buffer(bytes, &[0]), bytes);
    }

    /// Runs the kernel.
    pub fn launch(&self, mode: Mode, threads: usize) -> LaunchStats {
        let options = Options { threads, ..Options::default() };
        let (module, args) = (&self.module, &self.args);
        self.device.launch(module, self.name, self.dispatch, args, mode, &options).unwrap()
    }

    /// The launch, ready for the timing model.
    #[allow(dead_code, reason = "benches only launch")]
    pub fn prepared(&self, p: &ArchParams) -> Prepared {
        let block = self.device.memory_mut().alloc(1 << 12).unwrap();
        let mem = self.device.memory();
        Prepared::new(&self.module, self.name, self.dispatch, &self.args, &mem, block, p).unwrap()
    }

    /// The bytes of the result, which are then set to zero.
    #[allow(dead_code, reason = "benches do not look at results")]
    pub fn take_output(&self) -> Vec<u8> {
        let (base, bytes) = self.output;
        let mut out = vec![0; bytes as usize];
        let mem = self.device.memory();
        assert!(mem.read(base, &mut out) && mem.fill(base, &[0], bytes));
        out
    }
}

/// Uncorrelated finite values of every sign, whatever 16-bit or 8-bit float they are read as. (A byte of
/// 0x80 is NaN in the FNUZ formats.)
fn noise() -> Vec<u32> {
    let mut state = 0x2545_f491_u32;
    (0..4099)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state & 0xbfbf_bfbf | 0x0101_0101
        })
        .collect()
}

/// The absorb matrix multiplication with N = 512 and K = 192 (GLM-5.2 `w_kc`) in tiles of 64 x 256,
/// `b` heads and `m` rows.
pub fn absorb(arch: Arch, name: &'static str, b: u64, m: u64) -> Case {
    let (n, k) = (512_u64, 192_u64);
    let file = object!(arch, "absorb_bmm");
    let mut case = Case::new(arch, name, file, 256, [n / 256, m.div_ceil(64), b]);
    case.buffer(m * b * k * 2, &noise());
    case.buffer(b * n * k, &noise());
    case.output(m * b * n * 2);
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

/// Indexer logits of `rows` against 2048 keys at ratio 4, all visible: fp4 of 64 heads or fp8 of 32.
pub fn indexer(arch: Arch, fp4: bool, rows: u64) -> Case {
    key_block(arch, fp4, rows, 0)
}

/// The same of the 2048 keys from `first` on.
pub fn key_block(arch: Arch, fp4: bool, rows: u64, first: u64) -> Case {
    logits(arch, fp4, rows, 2048, [(first + 2048) * 4, first, 4])
}

/// Indexer logits of `rows` that follow a prefix of `prefix` tokens, at ratio 1: tiles of keys that come
/// after the last row of a tile of rows end early.
#[allow(dead_code, reason = "the kernel bench has its own cases")]
pub fn causal(arch: Arch, fp4: bool, rows: u64, prefix: u64) -> Case {
    logits(arch, fp4, rows, prefix + rows, [prefix, 0, 1])
}

/// Indexer logits of `rows` against 2048 keys that come after all of them.
#[allow(dead_code, reason = "the kernel bench has its own cases")]
pub fn hidden(arch: Arch, rows: u64) -> Case {
    logits(arch, false, rows, 2048, [0, 2 * rows, 1])
}

/// Indexer logits with the kernel's last arguments: the position of the first row, the number of the
/// first key and the ratio.
fn logits(arch: Arch, fp4: bool, rows: u64, keys: u64, last: [u64; 3]) -> Case {
    let (name, heads, row_bytes) = match fp4 {
        true => ("indexer_logits_fp4_h64", 64, 64),
        false => ("indexer_logits_fp8_h32", 32, 128),
    };
    let file = object!(arch, "indexer_logits");
    let mut case = Case::new(arch, name, file, 256, [keys / 256, rows.div_ceil(32), 1]);
    case.buffer(rows * heads * row_bytes, &noise());
    // Scales of 1: four e8m0 exponents of 127 for the blocks of a row of fp4, one f32 for a key of fp8.
    let exponents = 0x7f7f_7f7f;
    case.buffer(rows * heads * 4, &[exponents]);
    case.buffer(keys * row_bytes, &noise());
    case.buffer(keys * 4, &[if fp4 { exponents } else { 1.0_f32.to_bits() }]);
    case.buffer(rows * heads * 4, &[0.125_f32.to_bits()]);
    case.output(rows * keys * 4);
    for size in [rows, keys, keys] {
        case.args.extend((size as u32).to_le_bytes());
    }
    case.args.extend([0; 4]);
    case.args.extend(keys.to_le_bytes());
    for value in last {
        case.args.extend((value as u32).to_le_bytes());
    }
    case
}

/// The best 512 of 2048 keys of each of `rows` rows.
#[allow(dead_code, reason = "the kernel bench has its own cases")]
pub fn topk(arch: Arch, rows: u64) -> Case {
    let (keys, k) = (2048_u64, 512_u64);
    let file = object!(arch, "indexer_select");
    let mut case = Case::new(arch, "indexer_topk", file, 512, [rows, 1, 1]);
    case.buffer(rows * keys * 4, &noise());
    // No mask, and no values wanted.
    case.args.extend([0; 16]);
    case.output(rows * k * 4);
    case.args.extend((keys as u32).to_le_bytes());
    case.args.extend((k as u32).to_le_bytes());
    case.args.extend(keys.to_le_bytes());
    case.args.extend([0; 8]);
    for value in [0, keys * 4, 4] {
        case.args.extend((value as u32).to_le_bytes());
    }
    case
}

/// `C[m, n] = A[m, k] B[n, k]^T` in the square tiles that `name` says.
#[allow(dead_code, reason = "the kernel bench has its own cases")]
pub fn gemm(arch: Arch, name: &'static str, m: u64, n: u64, k: u64) -> Case {
    let bytes = if name.contains("fp8") { 1 } else { 2 };
    let (tile, threads) = if name.contains("256x256") { (256, 512) } else { (128, 256) };
    let file = object!(arch, "gemm");
    let groups = [n.div_ceil(tile), m.div_ceil(tile), 1];
    let mut case = Case::new(arch, name, file, threads, groups);
    case.buffer(m * k * bytes, &noise());
    case.buffer(n * k * bytes, &noise());
    case.output(m * n * 2);
    for value in [m, n, k, k, k, n] {
        case.args.extend((value as u32).to_le_bytes());
    }
    case
}
