//! Throughput of the functional loop: wave64 instructions per second on one core.

use cdna_sim::device::{Device, Mode};
use cdna_sim::exec::{Ctx, MemAccess, Wave, run};
use cdna_sim::isa::{Arch, decode_text};
use cdna_sim::launch::{Dispatch, Options};
use cdna_sim::memory::AddressSpace;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Instruction kinds with the words that encode one of them.
const KINDS: &[(&str, &[u32])] = &[
    ("s_add_u32 s4, s0, s2", &[0x8004_0200]),
    ("v_mov_b32_e32 v2, s4", &[0x7e04_0204]),
    ("v_mul_f32_e32 v2, v0, v1", &[0x0a04_0300]),
    ("v_fma_f32 v5, v0, v1, v2", &[0xd1cb_0005, 0x040a_0300]),
    ("v_fma_f32 v5, v0, v1, -v2", &[0xd1cb_0005, 0x840a_0300]),
    ("v_pk_mul_f32 v[10:11], v[0:1], v[2:3]", &[0xd3b1_400a, 0x1802_0500]),
    ("v_lshl_add_u64 v[10:11], v[0:1], 3, v[2:3]", &[0xd208_000a, 0x0409_0700]),
    ("v_add_co_u32_e32 v4, vcc, v0, v2", &[0x3208_0500]),
    ("v_cmp_lt_f32_e32 vcc, v0, v1", &[0x7c82_0300]),
    ("v_cndmask_b32_e32 v5, v0, v1, vcc", &[0x000a_0300]),
    ("v_max_f32_e32 v8, v0, v1", &[0x1610_0300]),
    ("v_exp_f32_e32 v2, v0", &[0x7e04_4100]),
    ("v_cvt_pk_bf16_f32 v18, v2, v3", &[0xd268_0012, 0x0002_0702]),
    ("v_perm_b32 v4, v0, v1, v2", &[0xd1ed_0004, 0x040a_0300]),
    ("v_bitop3_b32 v12, v0, v1, v2 bitop3:0x96", &[0xd234_020c, 0xd40a_0300]),
    ("v_cvt_pk_fp8_f32 v19, v2, v3", &[0xd2a2_0013, 0x0002_0702]),
    ("v_add_u32_dpp v0, v0, v0 row_shr:1", &[0x6800_00fa, 0xff09_1100]),
];

fn throughput(c: &mut Criterion) {
    const COUNT: usize = 1000;
    let mut group = c.benchmark_group("instructions");
    for (name, words) in KINDS {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let program = decode_text(&bytes.repeat(COUNT), 0, Arch::Gfx950);
        let mem = AddressSpace::new(1 << 20);
        let mut wave = Wave::new(64, 0, 0);
        wave.mode = 0x3f0;
        wave.set_exec(u64::MAX);
        for register in &mut wave.vgpr {
            register.0.fill(0x3f80_0000);
        }
        let access = MemAccess::default();
        let mut ctx = Ctx { program: &program, mem: &mem, lds: &mut [], access, clock: 0 };
        group.throughput(Throughput::Elements(COUNT as u64));
        for (lanes, exec) in [("all", u64::MAX), ("half", u64::MAX / 3)] {
            wave.set_exec(exec);
            group.bench_function(BenchmarkId::new(*name, lanes), |b| {
                b.iter(|| {
                    wave.pc = 0;
                    run(&mut wave, &mut ctx, COUNT as u64)
                });
            });
        }
    }
    group.finish();
}

/// A matrix multiplication of the bundled kernels, M = N = 256 and K = 512, on one host thread.
fn gemm(c: &mut Criterion) {
    let mut group = c.benchmark_group("gemm_bf16_128x128_even");
    group.sample_size(10);
    for (arch, file) in [
        (Arch::Gfx942, &include_bytes!("../../kernels/prebuilt/gfx942/gemm.hsaco")[..]),
        (Arch::Gfx950, &include_bytes!("../../kernels/prebuilt/gfx950/gemm.hsaco")[..]),
    ] {
        let device = Device::new(arch, 0).unwrap();
        let module = device.load(file).unwrap();
        let (m, n, k) = (256_u32, 256_u32, 512_u32);
        let mut args = Vec::new();
        for elements in [m * k, n * k, m * n] {
            args.extend(device.memory_mut().alloc(u64::from(elements) * 2).unwrap().to_le_bytes());
        }
        for value in [m, n, k, k, k, n] {
            args.extend(value.to_le_bytes());
        }
        let dispatch =
            Dispatch { groups: [n / 128, m / 128, 1], block: [256, 1, 1], dynamic_lds: 0 };
        let options = Options { threads: 1, ..Options::default() };
        let run = || {
            let kernel = "gemm_bf16_128x128_even";
            device.launch(&module, kernel, dispatch, &args, Mode::Functional, &options).unwrap()
        };
        group.throughput(Throughput::Elements(run().instructions));
        group.bench_function(arch.name(), |b| b.iter(run));
    }
    group.finish();
}

criterion_group!(benches, throughput, gemm);
criterion_main!(benches);
