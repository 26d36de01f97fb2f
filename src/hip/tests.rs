use super::*;
use crate::units::Bytes;

const PROBE: &[u8] = include_bytes!("../../sim/tests/data/probe.gfx950.hsaco");
const OTHER: &[u8] = include_bytes!("../../sim/tests/data/probe.gfx942.hsaco");

fn device() -> Device {
    Hip::simulator().unwrap().device(1).unwrap()
}

#[test]
fn the_simulator_offers_an_mi300x_and_an_mi355x() {
    let hip = Hip::simulator().unwrap();
    assert!(hip.is_simulated());
    assert!(hip.runtime().identity.starts_with("cdna-sim "));
    assert_eq!(hip.runtime().path, None);
    let devices = hip.devices().unwrap();
    let facts: Vec<_> = devices
        .iter()
        .map(|d| (d.ordinal, d.arch.as_str(), d.total_memory.0 >> 30, d.compute_units, d.clock_mhz))
        .collect();
    assert_eq!(facts, [(0, "gfx942", 192, 304, 2100), (1, "gfx950", 288, 256, 2400)]);
    assert_eq!(devices[1].lds_per_workgroup, Bytes(160 << 10));
    assert!(devices.iter().all(|d| d.wave_size == 64 && d.name.ends_with("(simulated)")));
    let error = hip.device(2).unwrap_err();
    assert_eq!(error.kind, HipErrorKind::NoDevice);
    assert!(error.to_string().contains("there is no device 2; the runtime has 2"));
}

#[test]
fn buffers_count_towards_live_and_peak_bytes_until_they_are_dropped() {
    let device = device();
    let a = device.malloc(Bytes(1000)).unwrap();
    let b = device.malloc(Bytes(500)).unwrap();
    assert_eq!(device.live_bytes(), Bytes(1500));
    drop(a);
    assert_eq!((device.live_bytes(), device.peak_bytes()), (Bytes(500), Bytes(1500)));
    device.reset_peak();
    assert_eq!(device.peak_bytes(), Bytes(500));
    drop(b);
    assert_eq!(device.live_bytes(), Bytes(0));
    let refused = device.malloc(Bytes(400 << 30)).unwrap_err();
    assert_eq!((refused.kind, refused.call), (HipErrorKind::OutOfMemory, "hipMalloc"));
    assert!(refused.to_string().starts_with("hipMalloc failed with hipErrorOutOfMemory (2): out"));
    assert_eq!(device.peak_bytes(), Bytes(500), "a refused allocation is no peak");
}

#[test]
fn copies_stay_inside_their_buffer() {
    let device = device();
    let a = device.malloc(Bytes(8)).unwrap();
    a.fill(7).unwrap();
    a.upload_at(2, &[1, 2, 3]).unwrap();
    assert_eq!(a.download().unwrap(), [7, 7, 1, 2, 3, 7, 7, 7]);
    assert_eq!(a.download_range(3, 2).unwrap(), [2, 3]);
    for error in [
        a.upload(&[0; 9]).unwrap_err(),
        a.upload_at(u64::MAX, &[0]).unwrap_err(),
        a.download_range(8, 1).map(drop).unwrap_err(),
    ] {
        assert_eq!(error.kind, HipErrorKind::InvalidValue);
        assert!(error.detail.ends_with("of a buffer of 8"), "{error}");
    }
    let b = device.malloc(Bytes(10)).unwrap();
    b.fill_zero().unwrap();
    b.copy_from(&a).unwrap();
    assert_eq!(b.download().unwrap(), [7, 7, 1, 2, 3, 7, 7, 7, 0, 0]);
    assert!(a.copy_from(&b).is_err());
    let empty = device.malloc(Bytes(0)).unwrap();
    empty.fill_zero().unwrap();
    assert_eq!((empty.ptr(), empty.download().unwrap()), (0, vec![]));
}

#[test]
fn modules_are_checked_before_the_runtime_sees_them() {
    let device = device();
    let refuse = |image: &[u8]| device.load_module(image).map(drop).unwrap_err();
    let error = refuse(OTHER);
    assert_eq!((error.kind, error.code), (HipErrorKind::InvalidValue, code::NO_BINARY_FOR_GPU));
    assert_eq!(error.detail, "code object for gfx942, but the device is gfx950");
    assert_eq!(refuse(&PROBE[..1000]).code, code::INVALID_IMAGE);
    assert_eq!(refuse(b"").detail, "not an AMDGPU code object: the file is empty");
    let module = device.load_module(PROBE).unwrap();
    let error = module.function("nothing").map(drop).unwrap_err();
    assert_eq!(error.code, code::NOT_FOUND);
    assert!(error.detail.contains("no kernel nothing; the code object has ids, sizes"));
}

#[test]
fn launches_check_their_arguments_and_report_faults_with_the_whole_diagnosis() {
    let device = device();
    let stray = device.load_module(PROBE).unwrap().function("stray").unwrap();
    let size = Launch { grid: [1; 3], block: [64, 1, 1], lds: 0 };
    let out = device.malloc(Bytes(16)).unwrap();
    let launch = |args: Args| device.launch(&stray, size, &args);
    let error = launch(Args::new().ptr(&out)).unwrap_err();
    assert_eq!(error.detail, "kernel stray takes 4 arguments, but 1 were given");
    let error = launch(Args::new().ptr(&out).u32(0).u64(3).u64(16)).unwrap_err();
    assert_eq!(error.detail, "argument 2 of kernel stray has 4 bytes, but 8 were given");
    let error = launch(Args::new().ptr(&out).u32(0).u32(3).u64(16)).unwrap_err();
    assert_eq!((error.kind, error.code), (HipErrorKind::LaunchFault, code::ILLEGAL_ADDRESS));
    let address = format!("lane 3 accessed 1 bytes at {:#x}", out.ptr() + 16);
    for part in ["device fault in stray", "workgroup [0, 0, 0], wave 0", &address] {
        assert!(error.detail.contains(part), "{error}");
    }
    launch(Args::new().ptr_at(&out, 3).u32(0).u32(3).u64(5)).unwrap();
    device.synchronize().unwrap();
    assert_eq!(out.download_range(8, 1).unwrap(), [1]);
    let huge = Launch { grid: [1; 3], block: [1025, 1, 1], lds: 0 };
    let error =
        device.launch(&stray, huge, &Args::new().ptr(&out).u32(0).u32(3).u64(0)).unwrap_err();
    assert_eq!((error.kind, error.code), (HipErrorKind::InvalidValue, 9));
}

#[test]
fn time_passes_only_where_a_launch_is_timed() {
    let device = device();
    let kernel = device.load_module(PROBE).unwrap().function("scratch").unwrap();
    let out = device.malloc(Bytes(256)).unwrap();
    let size = Launch { grid: [1; 3], block: [64, 1, 1], lds: 0 };
    let mut times = Vec::new();
    for fidelity in [Fidelity::Functional, Fidelity::Timing, Fidelity::Full, Fidelity::Full] {
        device.set_fidelity(fidelity);
        device.reset_stats();
        assert_eq!(device.launch_stats(), None);
        let (start, stop) = (device.event().unwrap(), device.event().unwrap());
        start.record().unwrap();
        device.launch(&kernel, size, &Args::new().ptr(&out).u32(1)).unwrap();
        stop.record().unwrap();
        stop.synchronize().unwrap();
        let time = stop.elapsed_since(&start).unwrap();
        let stats = device.launch_stats().unwrap();
        assert_eq!(stats.time_us.is_some(), fidelity != Fidelity::Functional);
        assert!((stats.time_us.unwrap_or(0.0) - time.0).abs() < 1e-3);
        times.push(time.0);
    }
    assert_eq!(times[0], 0.0);
    assert!(times[1] > 0.0);
    assert_eq!(times[2], times[3], "the simulation is deterministic");
}

/// Debian's libamdhip64-5 is a real runtime, of HIP 5.2, and finds no GPU on a build machine.
#[test]
fn a_runtime_without_a_device_says_so_and_names_its_version() {
    let library = "libamdhip64.so.5";
    let Ok(hip) = Hip::load(Some(library.as_ref())) else {
        let required = std::env::var_os("CHUNKTUNE_REQUIRE_TOOLS").is_some_and(|v| v == "1");
        assert!(!required, "CHUNKTUNE_REQUIRE_TOOLS=1, but there is no {library}");
        println!("skipped: there is no {library}");
        return;
    };
    assert_eq!(hip.runtime().kind, RuntimeKind::Hardware);
    assert!(hip.runtime().version.starts_with("5."), "{:?}", hip.runtime());
    if let Err(error) = hip.devices() {
        assert_eq!(error.kind, HipErrorKind::NoDevice);
        assert!(error.to_string().contains("hipErrorNoDevice (100)"), "{error}");
    }
}
