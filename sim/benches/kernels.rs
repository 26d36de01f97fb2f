//! Instruction rate on bundled kernels: wave64 instructions per second, functional and under the
//! timing model, on one host thread and on two. The machine's name is printed first.

#[path = "../tests/it/bundled.rs"]
mod bundled;

use cdna_sim::device::Mode;
use cdna_sim::isa::Arch;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

use bundled::{Case, absorb, indexer};

/// The processor's name, for the record.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name"));
    let name = name.map_or("unknown processor", |rest| rest.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name}, {cores} cores")
}

const ABSORB: &str = "absorb_bmm_64x256_even";

fn rates(c: &mut Criterion) {
    println!("machine: {}", machine());
    for arch in [Arch::Gfx942, Arch::Gfx950] {
        let mut group = c.benchmark_group(format!("kernels/{}", arch.name()));
        group.sample_size(10);
        let mut bench = |case: &Case, label: &str, mode, threads| {
            // What is really executed, not what it stands for.
            let instructions = case.launch(mode, threads).classes.values().sum();
            group.throughput(Throughput::Elements(instructions));
            let id = BenchmarkId::new(case.name, label);
            group.bench_function(id, |b| b.iter(|| case.launch(mode, threads)));
        };
        for case in
            [absorb(arch, ABSORB, 16, 256), indexer(arch, true, 64), indexer(arch, false, 64)]
        {
            bench(&case, "functional, 1 thread", Mode::Functional, 1);
            bench(&case, "functional, 2 threads", Mode::Functional, 2);
        }
        // A prefill chunk: the time of a launch is that of the sample, whatever the grid.
        for case in
            [absorb(arch, ABSORB, 16, 4096), indexer(arch, true, 4096), indexer(arch, false, 4096)]
        {
            bench(&case, "timing", Mode::Timing, 1);
        }
        group.finish();
    }
}

criterion_group!(benches, rates);
criterion_main!(benches);
