//! Functional simulation rate on `absorb_bmm`: wave64 instructions per second, on all host cores
//! and on one.

use std::error::Error;
use std::time::Duration;

use chunktune::hip::{Device, Fidelity, Hip};
use chunktune::ops::absorb::{AbsorbShape, Prepared};
use chunktune::ops::{self, Library};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// GLM-5.2 `w_kc` at TP4 (B=16 N=512 K=192): one row of tiles on one workgroup a head and two
/// column tiles, and enough rows to occupy every core.
const ROWS: [(&str, u64); 2] = [("one_row_of_tiles", 64), ("many_rows", 1024)];

fn absorb(criterion: &mut Criterion) {
    for arch in ["gfx942", "gfx950"] {
        if let Err(error) = bench(criterion, arch) {
            panic!("{arch}: {error}");
        }
    }
}

fn bench(criterion: &mut Criterion, arch: &str) -> Result<(), Box<dyn Error>> {
    let hip = Hip::simulator()?;
    let ordinal = hip.devices()?.into_iter().find(|info| info.arch == arch).map(|d| d.ordinal);
    let device = hip.device(ordinal.ok_or("the simulator has no such device")?)?;
    device.set_fidelity(Fidelity::Functional);
    let catalog = ops::catalog(arch)?;
    let library = Library::from_entries(&device, &catalog)?;
    let mut group = criterion.benchmark_group(format!("absorb_bmm/{arch}"));
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    for variant in ["even", "ragged_wrap"] {
        let id = format!("absorb_bmm_64x256_{variant}");
        let entry = catalog.iter().find(|entry| entry.id == id).ok_or("no such kernel")?;
        for (name, rows) in ROWS {
            let shape = AbsorbShape::token_major(16, rows, 512, 192);
            let prepared = Prepared::new(&device, &library, entry, shape)?;
            let instructions = instructions(&device, &prepared)?;
            group.throughput(Throughput::Elements(instructions));
            group.bench_function(format!("{variant}/{name}"), |bencher| {
                bencher.iter(|| prepared.launch().and_then(|()| Ok(device.synchronize()?)));
            });
        }
    }
    group.finish();
    Ok(())
}

/// Wave64 instructions of one launch.
fn instructions(device: &Device, prepared: &Prepared) -> Result<u64, Box<dyn Error>> {
    device.synchronize()?;
    device.reset_stats();
    prepared.launch()?;
    device.synchronize()?;
    Ok(device.launch_stats().ok_or("no statistics")?.instructions)
}

criterion_group!(benches, absorb);
criterion_main!(benches);
