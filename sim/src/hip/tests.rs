use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use super::*;

const PROBE: &[u8] = include_bytes!("../../tests/data/probe.gfx950.hsaco");

fn detail() -> String {
    let mut buf = [0u8; 1024];
    // SAFETY: the buffer holds the length it is said to hold.
    let len = unsafe { cdnaSimLastFault(buf.as_mut_ptr().cast(), buf.len()) };
    String::from_utf8(buf[..len].to_vec()).unwrap()
}

fn module() -> *mut c_void {
    let mut module = null_mut();
    assert_eq!(hipSetDevice(1), 0);
    // SAFETY: a whole code object.
    assert_eq!(unsafe { hipModuleLoadData(&mut module, PROBE.as_ptr().cast()) }, 0, "{}", detail());
    module
}

fn kernel(module: *mut c_void, name: &CStr) -> *mut c_void {
    let mut function = null_mut();
    // SAFETY: valid pointers.
    let code = unsafe { hipModuleGetFunction(&mut function, module, name.as_ptr()) };
    assert_eq!(code, 0, "{}", detail());
    function
}

/// Offsets as the C compiler lays `hipDeviceProp_tR0600` out.
#[test]
fn properties_and_attributes_describe_both_devices() {
    let mut count = 0;
    // SAFETY: valid pointers in all calls of this test.
    unsafe {
        assert_eq!(hipGetDeviceCount(&mut count), 0);
        assert_eq!(count, 2);
        for (device, arch, memory, units) in [
            (0, "gfx942:sramecc+:xnack-", 192u64 << 30, 304),
            (1, "gfx950:sramecc+:xnack-", 288 << 30, 256),
        ] {
            let mut raw = [0xffu8; 1472];
            assert_eq!(hipGetDevicePropertiesR0600(raw.as_mut_ptr().cast(), device), 0);
            let name = CStr::from_bytes_until_nul(&raw[1160..]).unwrap();
            assert_eq!(name.to_str().unwrap(), arch);
            assert_eq!(raw[288..296], memory.to_le_bytes());
            assert_eq!(raw[388..392], i32::to_le_bytes(units));
            assert_eq!(raw[308..312], 64i32.to_le_bytes());
            let mut value: c_int = 0;
            assert_eq!(hipDeviceGetAttribute(&mut value, 63, device), 0);
            assert_eq!(value, units);
            let mut short = [1 as c_char; 4];
            assert_eq!(hipDeviceGetName(short.as_mut_ptr(), 4, device), 0);
            assert_eq!(CStr::from_ptr(short.as_ptr()).to_str(), Ok("AMD"));
        }
        assert_eq!(hipDeviceGetAttribute(&mut count, 12345, 0), codes::INVALID_VALUE);
        assert!(detail().contains("attribute 12345"));
    }
    assert_eq!(hipSetDevice(2), codes::INVALID_DEVICE);
    assert_eq!(hipPeekAtLastError(), codes::INVALID_DEVICE);
    assert_eq!(hipGetLastError(), codes::INVALID_DEVICE);
    assert_eq!(hipGetLastError(), 0);
}

#[test]
fn memory_moves_and_fills_and_refuses_what_does_not_fit() {
    let (mut ptr, data) = (null_mut(), [1u8, 2, 3, 4, 5, 6, 7, 8]);
    let mut back = [0u8; 8];
    // SAFETY: valid pointers in all calls of this test.
    unsafe {
        assert_eq!(hipMalloc(&mut ptr, 8), 0);
        assert_eq!(hipMemcpy(ptr, data.as_ptr().cast(), 8, 1), 0);
        assert_eq!(hipMemsetD16(ptr.byte_add(2), 0x0a0b, 1), 0);
        assert_eq!(hipMemcpyDtoD(ptr.byte_add(6), ptr.byte_add(2), 2), 0);
        assert_eq!(hipMemcpy(back.as_mut_ptr().cast(), ptr, 8, 4), 0);
        assert_eq!(back, [1, 2, 0x0b, 0x0a, 5, 6, 0x0b, 0x0a]);
        assert_eq!(hipMemcpy(ptr, data.as_ptr().cast(), 9, 1), codes::INVALID_VALUE);
        assert!(detail().contains("leaves its allocation"), "{}", detail());
        assert_eq!(hipMemset(ptr, 0, 9), codes::INVALID_VALUE);
        assert_eq!(hipMemcpy(ptr, data.as_ptr().cast(), 1, 7), codes::INVALID_MEMCPY_DIRECTION);
        assert_eq!(hipFree(ptr), 0);
        assert_eq!(hipFree(ptr), codes::INVALID_VALUE);
        assert_eq!(hipFree(null_mut()), 0);
        assert_eq!(hipMalloc(&mut ptr, 0), 0);
        assert!(ptr.is_null());
        assert_eq!(hipMalloc(&mut ptr, 1 << 60), codes::OUT_OF_MEMORY);
        assert!(detail().contains("out of device memory"));
        assert_eq!(hipMalloc(null_mut(), 8), codes::INVALID_VALUE);
    }
}

#[test]
fn modules_functions_and_bad_handles() {
    let module = module();
    let reverse = kernel(module, c"reverse");
    let mut value = 0;
    // SAFETY: valid pointers in all calls of this test.
    unsafe {
        assert_eq!(hipFuncGetAttribute(&mut value, 1, reverse), 0);
        assert_eq!(value, 4096);
        let mut none = null_mut();
        let code = hipModuleGetFunction(&mut none, module, c"nothing".as_ptr());
        assert_eq!(code, codes::NOT_FOUND);
        assert!(detail().contains("the code object has ids, sizes, reverse"), "{}", detail());
        assert_eq!(hipFuncGetAttribute(&mut value, 1, module), codes::INVALID_HANDLE);
        // 1024 threads fill 16 of 32 wave slots: two workgroups, unless LDS limits to one.
        let count = hipModuleOccupancyMaxActiveBlocksPerMultiprocessor;
        assert_eq!(count(&mut value, reverse, 1024, 0), 0);
        assert_eq!(value, 2);
        assert_eq!(count(&mut value, reverse, 1024, 100 << 10), 0);
        assert_eq!(value, 1);
        assert_eq!(count(&mut value, reverse, 0, 0), codes::INVALID_VALUE);
    }
    assert_eq!(hipModuleUnload(module), 0);
    assert_eq!(hipModuleUnload(module), codes::INVALID_HANDLE);
    // SAFETY: valid pointers.
    let code = unsafe { hipFuncGetAttribute(&mut value, 1, reverse) };
    assert_eq!(code, codes::INVALID_HANDLE, "its functions go with the module");
}

#[test]
fn an_object_for_the_other_device_is_refused_naming_both() {
    assert_eq!(hipSetDevice(0), 0);
    let mut module = null_mut();
    // SAFETY: a whole code object; then 64 bytes of something else.
    unsafe {
        let code = hipModuleLoadData(&mut module, PROBE.as_ptr().cast());
        assert_eq!(code, codes::NO_BINARY_FOR_GPU);
        assert_eq!(detail(), "code object for gfx950, but the device is gfx942");
        let code = hipModuleLoadData(&mut module, [7u8; 64].as_ptr().cast());
        assert_eq!(code, codes::INVALID_IMAGE);
        let code = hipModuleLoad(&mut module, c"/nonexistent.hsaco".as_ptr());
        assert_eq!(code, codes::FILE_NOT_FOUND);
    }
}

fn launch(
    f: *mut c_void,
    groups: c_uint,
    block: c_uint,
    params: &mut [*mut c_void],
    extra: *mut *mut c_void,
) -> c_int {
    let params = if params.is_empty() { null_mut() } else { params.as_mut_ptr() };
    // SAFETY: the callers pass pointers to values of the kernel's argument sizes.
    unsafe { hipModuleLaunchKernel(f, groups, 1, 1, block, 1, 1, 4096, null_mut(), params, extra) }
}

#[test]
fn arguments_arrive_through_kernel_params_and_through_extra() {
    let module = module();
    let reverse = kernel(module, c"reverse");
    let input: Vec<u32> = (0..128).collect();
    let (mut data, mut sum) = (null_mut(), null_mut());
    // SAFETY: valid pointers in all calls of this test.
    unsafe {
        assert_eq!(cdnaSimSetMode(0), 0);
        assert_eq!(hipMalloc(&mut data, 512), 0);
        assert_eq!(hipMalloc(&mut sum, 8), 0);
        for by_params in [true, false] {
            assert_eq!(hipMemcpyHtoD(data, input.as_ptr().cast_mut().cast(), 512), 0);
            let mut threads = 64u32;
            let code = if by_params {
                let mut params = [
                    (&raw mut data).cast(),
                    (&raw mut sum).cast(),
                    (&raw mut threads).cast::<c_void>(),
                ];
                launch(reverse, 2, 64, &mut params, null_mut())
            } else {
                let mut buffer = [data as u64, sum as u64, 64];
                let mut size = 20usize;
                let mark = std::ptr::without_provenance_mut::<c_void>;
                let mut extra =
                    [mark(1), buffer.as_mut_ptr().cast(), mark(2), (&raw mut size).cast(), mark(3)];
                launch(reverse, 2, 64, &mut [], extra.as_mut_ptr())
            };
            assert_eq!(code, 0, "{}", detail());
            let mut out = [0u32; 128];
            assert_eq!(hipMemcpyDtoH(out.as_mut_ptr().cast(), data, 512), 0);
            let expected: Vec<u32> = (0..64).rev().chain((64..128).rev()).collect();
            assert_eq!(out.as_slice(), expected);
            let mut sums = [0u32; 2];
            assert_eq!(hipMemcpyDtoH(sums.as_mut_ptr().cast(), sum, 8), 0);
            assert_eq!(sums, [63 * 64 / 2, 63 * 64 / 2 + 64 * 64]);
        }
        let code = launch(reverse, 2, 64, &mut [], null_mut());
        assert_eq!(code, codes::INVALID_VALUE);
        assert!(detail().contains("takes arguments"));
    }
}

#[test]
fn a_stray_store_is_an_illegal_address_with_the_whole_diagnosis() {
    let module = module();
    let stray = kernel(module, c"stray");
    let mut out = null_mut();
    // SAFETY: valid pointers in all calls of this test.
    unsafe {
        assert_eq!(hipMalloc(&mut out, 100), 0);
        let store_at = |mut offset: u64| {
            let (mut out, mut group, mut thread) = (out, 2u32, 70u32);
            let mut params = [
                (&raw mut out).cast(),
                (&raw mut group).cast(),
                (&raw mut thread).cast(),
                (&raw mut offset).cast::<c_void>(),
            ];
            launch(stray, 4, 128, &mut params, null_mut())
        };
        assert_eq!(store_at(100), codes::ILLEGAL_ADDRESS);
        let text = detail();
        let address = format!("lane 6 accessed 1 bytes at {:#x}", out as u64 + 100);
        for part in ["device fault in stray", "[2, 0, 0], wave 1", "global_store_byte", &address] {
            assert!(text.contains(part), "{part} is not in: {text}");
        }
        // The device is still usable.
        assert_eq!(store_at(99), 0, "{}", detail());
        let mut byte = [0u8];
        assert_eq!(hipMemcpyDtoH(byte.as_mut_ptr().cast(), out.byte_add(99), 1), 0);
        assert_eq!(byte, [1]);
    }
}

#[test]
fn events_read_the_clock_of_their_stream() {
    let module = module();
    let ids = kernel(module, c"scratch");
    let (mut out, mut stream, mut other) = (null_mut(), null_mut(), null_mut());
    let mut events = [null_mut(); 3];
    // SAFETY: valid pointers in all calls of this test.
    unsafe {
        assert_eq!(cdnaSimSetMode(2), 0);
        cdnaSimResetStats();
        assert_eq!(hipMalloc(&mut out, 256), 0);
        assert_eq!(hipStreamCreate(&mut stream), 0);
        assert_eq!(hipStreamCreate(&mut other), 0);
        for event in &mut events {
            assert_eq!(hipEventCreate(event), 0);
        }
        let mut ms = 0f32;
        let [start, stop, elsewhere] = events;
        assert_eq!(hipEventElapsedTime(&mut ms, start, stop), codes::INVALID_HANDLE);
        let mut stride = 1u32;
        let mut params = [(&raw mut out).cast(), (&raw mut stride).cast::<c_void>()];
        assert_eq!(hipEventRecord(start, stream), 0);
        let code = hipModuleLaunchKernel(
            ids,
            1,
            1,
            1,
            64,
            1,
            1,
            0,
            stream,
            params.as_mut_ptr(),
            null_mut(),
        );
        assert_eq!(code, 0, "{}", detail());
        assert_eq!(hipEventRecord(stop, stream), 0);
        assert_eq!(hipEventRecord(elsewhere, other), 0);
        assert_eq!(hipEventElapsedTime(&mut ms, start, stop), 0);
        let mut json = vec![0u8; 4096];
        let len = cdnaSimLaunchStats(json.as_mut_ptr().cast(), json.len());
        let stats: crate::stats::LaunchStats = serde_json::from_slice(&json[..len]).unwrap();
        assert_eq!(stats.time_us.map(|us| (us / 1e3) as f32), Some(ms));
        assert_eq!((stats.launches, stats.workgroups, stats.workgroups_timed), (1, 1, 1));
        assert_eq!(stats.classes.values().sum::<u64>(), stats.instructions);
        assert_eq!(hipEventElapsedTime(&mut ms, start, elsewhere), 0);
        assert_eq!(ms, 0.0);
        assert_eq!(hipEventDestroy(start), 0);
        assert_eq!(hipEventRecord(start, stream), codes::INVALID_HANDLE);
    }
}

#[test]
fn an_unsupported_call_names_itself() {
    assert_eq!(hipMallocManaged(), codes::NOT_SUPPORTED);
    assert_eq!(detail(), "hipMallocManaged is not supported by the simulator");
    let name = hipGetErrorName(codes::NOT_SUPPORTED);
    // SAFETY: a static string.
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"hipErrorNotSupported");
}
