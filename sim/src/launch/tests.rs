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
