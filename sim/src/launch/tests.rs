use super::*;
use crate::arch::ArchParams;
use crate::isa::Arch;
use crate::memory::AddressSpace;

const PROBE: [(&[u8], Arch); 2] = [
    (include_bytes!("../../tests/data/probe.gfx942.hsaco"), Arch::Gfx942),
    (include_bytes!("../../tests/data/probe.gfx950.hsaco"), Arch::Gfx950),
];

struct Bench {
    mem: AddressSpace,
    module: Module,
    block: u64,
}

impl Bench {
    fn new((file, arch): (&[u8], Arch)) -> Self {
        let mut mem = AddressSpace::new(1 << 30);
        let module = Module::load(&mut mem, file, arch).unwrap();
        let block = mem.alloc(4096).unwrap();
        Bench { mem, module, block }
    }

    fn prepare(
        &self,
        kernel: &str,
        groups: [u32; 3],
        block: [u32; 3],
        dynamic_lds: u32,
        args: &[u8],
    ) -> Result<Prepared, LaunchError> {
        let dispatch = Dispatch { groups, block, dynamic_lds };
        let params = ArchParams::load(self.module.object.arch).unwrap();
        Prepared::new(&self.module, kernel, dispatch, args, &self.mem, self.block, params)
    }

    fn word(&self, addr: u64) -> u32 {
        let mut raw = [0; 4];
        assert!(self.mem.read(addr, &mut raw));
        u32::from_le_bytes(raw)
    }
}

/// `sizes` is compiled with the dispatch packet in s[0:1], the kernarg segment in s[2:3] and the
/// x id in s4 (its first instructions are `v_or_b32 v0, s4, v0` and `s_load_dword s8, s[2:3]`).
#[test]
fn a_wave_starts_with_its_pointers_ids_and_lanes() {
    let bench = Bench::new(PROBE[1]);
    let launch = bench.prepare("sizes", [3, 2, 5], [33, 2, 1], 8, &7u64.to_le_bytes()).unwrap();
    assert_eq!((launch.waves, launch.workgroups()), (2, 30));
    assert_eq!(launch.workgroup_id(3 * 2 * 4 + 3 + 2), [2, 1, 4]);
    let group = launch.workgroup([2, 1, 4]);
    let wave = &group.waves[1];
    assert_eq!(wave.sgpr64(2), launch.kernarg);
    assert_eq!(wave.sgpr[4], 2);
    // 66 threads: the second wave has two.
    assert_eq!(wave.exec(), 3);
    assert_eq!(group.waves[0].exec(), u64::MAX);
    assert_eq!(launch.program.addr[wave.pc], launch.entry);
    let packet = wave.sgpr64(0);
    // hsa_kernel_dispatch_packet_t: 3 dimensions; workgroup 33 x 2 x 1; grid 99 x 4 x 5.
    assert_eq!(bench.word(packet) >> 16, 3);
    assert_eq!(bench.word(packet + 4), 33 | 2 << 16);
    assert_eq!(bench.word(packet + 8), 1);
    assert_eq!([12, 16, 20].map(|at| bench.word(packet + at)), [99, 4, 5]);
    // Kernarg segment: explicit pointer, then the hidden block (LLVM's offsets).
    assert_eq!(bench.word(launch.kernarg), 7);
    assert_eq!([0, 4, 8].map(|at| bench.word(launch.kernarg + 8 + at)), [3, 2, 5]);
    assert_eq!(bench.word(launch.kernarg + 8 + 12), 33 | 2 << 16);
    assert_eq!(bench.word(launch.kernarg + 8 + 64) & 0xffff, 3);
    assert_eq!(bench.word(launch.kernarg + 8 + 120), 8);
}

/// `ids` reads x, y and z, so all three are packed into v0: bits 0-9, 10-19 and 20-29.
#[test]
fn work_item_ids_are_packed_in_flat_order() {
    let bench = Bench::new(PROBE[0]);
    let launch = bench.prepare("ids", [1; 3], [5, 4, 6], 0, &[]).unwrap();
    let group = launch.workgroup([0; 3]);
    // Flat id 64 + 9 = 73 = (3 * 4 + 2) * 5 + 3.
    assert_eq!(group.waves[1].vgpr[0].0[9], 3 | 2 << 10 | 3 << 20);
    assert_eq!(group.waves[0].vgpr[0].0[63], 3 | 3 << 20);
}

#[test]
fn a_reused_workgroup_is_as_good_as_new() {
    let bench = Bench::new(PROBE[1]);
    let launch = bench.prepare("reverse", [4, 1, 1], [128, 1, 1], 512, &[]).unwrap();
    let mut used = launch.workgroup([0; 3]);
    used.lds.fill(9);
    for wave in &mut used.waves {
        wave.sgpr.fill(5);
        wave.vgpr[3].0.fill(7);
        (wave.scc, wave.pc, wave.mode) = (true, 99, 1);
    }
    launch.reset(&mut used, [3, 0, 0]);
    let fresh = launch.workgroup([3, 0, 0]);
    assert_eq!((used.id, &used.lds), (fresh.id, &fresh.lds));
    for (a, b) in used.waves.iter().zip(&fresh.waves) {
        assert_eq!((a.sgpr, &a.vgpr, a.pc), (b.sgpr, &b.vgpr, b.pc));
        assert_eq!((a.scc, a.mode, a.id), (b.scc, b.mode, b.id));
    }
}

#[test]
fn impossible_launches_are_refused_with_the_figures() {
    let bench = Bench::new(PROBE[0]);
    let message = |kernel: &str, groups, block, lds| {
        bench.prepare(kernel, groups, block, lds, &[]).unwrap_err().to_string()
    };
    assert!(
        message("nothing", [1; 3], [1; 3], 0).starts_with("no kernel nothing; the code object")
    );
    assert!(message("ids", [0, 1, 1], [1; 3], 0).contains("is empty"));
    assert!(message("ids", [1; 3], [1025, 1, 1], 0).contains("more than the 1024 threads"));
    assert!(message("ids", [1; 3], [65536, 65536, 2], 0).contains("more than the 1024 threads"));
    assert!(message("ids", [1 << 24, 1, 1], [256, 1, 1], 0).contains("2^32"));
    // 64 KiB less the 4096 static bytes of `reverse`.
    assert!(bench.prepare("reverse", [1; 3], [64, 1, 1], 61440, &[]).is_ok());
    let text = message("reverse", [1; 3], [64, 1, 1], 61441);
    assert!(text.contains("4096 static and 61441 dynamic bytes of LDS exceed 65536"), "{text}");
    assert!(message("reverse", [1; 3], [64, 1, 1], u32::MAX).contains("exceed 65536"));
}

/// The relocated pointers of `table` point into the loaded module.
#[test]
fn pointers_in_data_are_relocated() {
    let bench = Bench::new(PROBE[1]);
    let base = bench.module.base;
    let values = bench.module.object.relocations.iter().map(|relocation| {
        let place = base + relocation.place;
        bench.word(u64::from(bench.word(place)) | u64::from(bench.word(place + 4)) << 32)
    });
    assert_eq!(values.collect::<Vec<_>>(), [11, 22]);
}

fn run_on(
    bench: &Bench,
    launch: &Prepared,
    threads: usize,
) -> Result<Executed, crate::fault::Fault> {
    let options = Options { threads, instruction_limit: 1 << 22, ..Options::default() };
    run(launch, &bench.mem, 0..launch.workgroups(), &options)
}

fn args(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Every thread of a 3-D launch, partial waves included, sees its own ids and its wave's lanes.
#[test]
fn every_thread_of_a_launch_sees_its_ids() {
    for probe in PROBE {
        let mut bench = Bench::new(probe);
        let ([gx, gy, gz], [bx, by, bz]) = ([3u32, 2, 4], [7u32, 5, 3]);
        let out = bench.mem.alloc(u64::from(gx * gy * gz * bx * by * bz) * 32).unwrap();
        let arguments = args(&[
            out,
            u64::from(gx) | u64::from(gy) << 32,
            u64::from(bx) | u64::from(by) << 32,
            bz.into(),
        ]);
        let launch = bench.prepare("ids", [gx, gy, gz], [bx, by, bz], 0, &arguments).unwrap();
        let done = run_on(&bench, &launch, 2).unwrap();
        assert_eq!(done.workgroups, 24);
        let threads = bx * by * bz;
        for flat in 0..gx * gy * gz * threads {
            let (group, thread) = (flat / threads, flat % threads);
            let lanes = if thread < 64 { 64 } else { threads - 64 };
            let expected = [
                thread % bx,
                thread / bx % by,
                thread / bx / by,
                group % gx,
                group / gx % gy,
                group / gx / gy,
                lanes,
                0xabcd,
            ];
            let got: Vec<_> =
                (0..8).map(|i| bench.word(out + u64::from(flat) * 32 + i * 4)).collect();
            assert_eq!(got, expected, "thread {flat}");
        }
    }
}

#[test]
fn kernels_read_their_sizes_from_hidden_arguments_and_packet() {
    for probe in PROBE {
        let mut bench = Bench::new(probe);
        let out = bench.mem.alloc(64).unwrap();
        let launch = bench.prepare("sizes", [6, 5, 4], [33, 2, 3], 24, &args(&[out])).unwrap();
        run_on(&bench, &launch, 1).unwrap();
        let got: Vec<_> = (0..11).map(|i| bench.word(out + i * 4)).collect();
        assert_eq!(got, [33, 2, 3, 198, 10, 12, 6, 5, 4, 3, 24]);
    }
}

#[test]
fn private_memory_belongs_to_one_lane() {
    for probe in PROBE {
        let mut bench = Bench::new(probe);
        let out = bench.mem.alloc(1024 * 4).unwrap();
        let launch = bench.prepare("scratch", [1; 3], [1024, 1, 1], 0, &args(&[out, 1])).unwrap();
        run_on(&bench, &launch, 1).unwrap();
        for t in 0..1024 {
            assert_eq!(bench.word(out + t * 4), t as u32 * 100 + (t as u32 & 31));
        }
    }
}

#[test]
fn code_follows_relocated_pointers() {
    for probe in PROBE {
        let mut bench = Bench::new(probe);
        let out = bench.mem.alloc(8).unwrap();
        let launch = bench.prepare("relocated", [1; 3], [64, 1, 1], 0, &args(&[out])).unwrap();
        run_on(&bench, &launch, 1).unwrap();
        assert_eq!([bench.word(out), bench.word(out + 4)], [11, 22]);
    }
}

#[test]
fn waves_can_wait_for_each_other_without_a_barrier() {
    for probe in PROBE {
        let mut bench = Bench::new(probe);
        let out = bench.mem.alloc(4).unwrap();
        let launch = bench.prepare("handshake", [1; 3], [128, 1, 1], 0, &args(&[out])).unwrap();
        run_on(&bench, &launch, 1).unwrap();
        assert_eq!(bench.word(out), 7);
    }
}

#[test]
fn a_kernel_that_never_ends_is_stopped_at_the_limit() {
    let mut bench = Bench::new(PROBE[1]);
    let flag = bench.mem.alloc(4).unwrap();
    let launch = bench.prepare("spin", [1; 3], [64, 1, 1], 0, &args(&[flag])).unwrap();
    let fault = run_on(&bench, &launch, 1).unwrap_err();
    assert_eq!(fault.kind, crate::fault::FaultKind::Runaway { limit: 1 << 22 });
    assert_eq!(fault.kernel, "spin");
}

/// `stray` faults in one workgroup only; of many, the first in dispatch order is reported.
#[test]
fn the_first_faulting_workgroup_is_reported_with_its_place() {
    let bench = Bench::new(PROBE[1]);
    // Thread 70 of workgroup 5 writes to an address that is in no allocation.
    let launch = bench
        .prepare("stray", [64, 1, 1], [128, 1, 1], 0, &args(&[0, 5 | 70 << 32, 0x1234]))
        .unwrap();
    for threads in [1, 4] {
        let fault = run_on(&bench, &launch, threads).unwrap_err();
        assert_eq!((fault.workgroup, fault.wave), ([5, 0, 0], 1));
        let kind = crate::fault::FaultKind::OutOfBounds { lane: 6, addr: 0x1234, bytes: 1 };
        assert_eq!(fault.kind, kind);
        assert!(fault.inst.starts_with("global_store_byte"), "{}", fault.inst);
    }
}

#[test]
fn results_and_counts_do_not_depend_on_the_number_of_threads() {
    let results: Vec<_> = [1, 2, 5]
        .into_iter()
        .map(|threads| {
            let mut bench = Bench::new(PROBE[1]);
            let groups = 40;
            let out = bench.mem.alloc(64 * groups * 4).unwrap();
            let (counter, sum) = (bench.mem.alloc(4).unwrap(), bench.mem.alloc(4).unwrap());
            let arguments = args(&[counter, out, sum]);
            let launch =
                bench.prepare("tickets", [groups as u32, 1, 1], [64, 1, 1], 0, &arguments).unwrap();
            let done = run_on(&bench, &launch, threads).unwrap();
            let tickets: Vec<_> = (0..64 * groups).map(|i| bench.word(out + i * 4)).collect();
            (done, tickets, bench.word(sum), bench.word(counter))
        })
        .collect();
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
    let (_, tickets, sum, counter) = &results[0];
    assert_eq!(*counter, 2560);
    let mut sorted = tickets.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..2560).collect::<Vec<_>>());
    // The harmonic number of 2560: ln 2560 + 0.5772 + 1 / 5120.
    let harmonic = f64::from(f32::from_bits(*sum));
    assert!((harmonic - (2560f64.ln() + 0.577_215_66 + 1.0 / 5120.0)).abs() < 1e-3);
}

#[test]
fn compiled_kernels_pass_the_check_for_missing_waits() {
    for probe in PROBE {
        let mut bench = Bench::new(probe);
        let (data, sum) = (bench.mem.alloc(512).unwrap(), bench.mem.alloc(8).unwrap());
        let launch =
            bench.prepare("reverse", [2, 1, 1], [64, 1, 1], 256, &args(&[data, sum, 64])).unwrap();
        let options = Options { check_waits: true, ..Options::default() };
        let checked = run(&launch, &bench.mem, 0..2, &options).unwrap();
        assert_eq!(checked, run_on(&bench, &launch, 1).unwrap());
    }
}

/// The same kernel with its waits taken out (`s_waitcnt` is 0xbf8cxxxx; 0xbf800000 is `s_nop 0`).
#[test]
fn a_missing_wait_is_found() {
    let (file, arch) = PROBE[1];
    let mut file = file.to_vec();
    for word in file.chunks_exact_mut(4).filter(|w| w[2..] == [0x8c, 0xbf]) {
        word.copy_from_slice(&[0, 0, 0x80, 0xbf]);
    }
    let mut bench = Bench::new((&file, arch));
    let out = bench.mem.alloc(8).unwrap();
    let launch = bench.prepare("relocated", [1; 3], [64, 1, 1], 0, &args(&[out])).unwrap();
    let options = Options { check_waits: true, ..Options::default() };
    let fault = run(&launch, &bench.mem, 0..1, &options).unwrap_err();
    assert!(matches!(fault.kind, crate::fault::FaultKind::UnmetWait { .. }), "{fault}");
}
