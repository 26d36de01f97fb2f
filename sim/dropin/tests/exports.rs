//! The built library exports what HIP programs look up, and works through `dlopen`.

use std::ffi::{CStr, c_char, c_int};
use std::path::PathBuf;

use libloading::Library;

/// The library that cargo built beside this test.
fn library() -> Library {
    let test = std::env::current_exe().unwrap();
    let folders = test.ancestors().skip(1).take(2).map(|folder| folder.join("libamdhip64.so"));
    let path: PathBuf = folders.into_iter().find(|path| path.is_file()).unwrap();
    // SAFETY: our own library.
    unsafe { Library::new(path) }.unwrap()
}

#[test]
fn every_function_that_hip_programs_need_is_exported() {
    let library = library();
    #[rustfmt::skip]
    let symbols = [
        "hipInit", "hipDriverGetVersion", "hipRuntimeGetVersion", "hipGetDeviceCount",
        "hipSetDevice", "hipGetDevice", "hipDeviceGet", "hipDeviceGetName",
        "hipDeviceGetAttribute", "hipGetDevicePropertiesR0600", "hipMalloc", "hipFree",
        "hipMemGetInfo", "hipMemcpy", "hipMemcpyAsync", "hipMemcpyHtoD", "hipMemcpyDtoH",
        "hipMemcpyDtoD", "hipMemset", "hipMemsetAsync", "hipMemsetD8", "hipMemsetD32",
        "hipModuleLoadData", "hipModuleUnload", "hipModuleGetFunction", "hipFuncGetAttribute",
        "hipModuleLaunchKernel", "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
        "hipStreamCreate", "hipStreamDestroy", "hipStreamSynchronize", "hipStreamQuery",
        "hipEventCreate", "hipEventDestroy", "hipEventRecord", "hipEventSynchronize",
        "hipEventQuery", "hipEventElapsedTime", "hipDeviceSynchronize", "hipGetErrorName",
        "hipGetErrorString", "hipGetLastError", "hipPeekAtLastError", "cdnaSimIdentity",
        "hipHostMalloc", "hipHostFree", "hipMemcpy2D", "hipMallocAsync", "hipGetDeviceProperties",
        "hipModuleOccupancyMaxPotentialBlockSize", "hipGraphInstantiate", "__hipRegisterFatBinary",
        "cdnaSimSetMode", "cdnaSimCheckWaits", "cdnaSimLastFault", "cdnaSimLaunchStats",
        "cdnaSimResetStats",
    ];
    for symbol in symbols {
        // SAFETY: only looked up, not called.
        let found = unsafe { library.get::<unsafe extern "C" fn()>(symbol.as_bytes()) };
        assert!(found.is_ok(), "{symbol} is not exported");
    }
}

#[test]
fn a_program_that_opens_the_library_finds_both_devices() {
    let library = library();
    // SAFETY: HIP's signatures.
    unsafe {
        let count: libloading::Symbol<unsafe extern "C" fn(*mut c_int) -> c_int> =
            library.get(b"hipGetDeviceCount").unwrap();
        let identity: libloading::Symbol<unsafe extern "C" fn() -> *const c_char> =
            library.get(b"cdnaSimIdentity").unwrap();
        let mut devices = 0;
        assert_eq!(count(&mut devices), 0);
        assert_eq!(devices, 2);
        assert!(CStr::from_ptr(identity()).to_str().unwrap().starts_with("cdna-sim "));
    }
}
