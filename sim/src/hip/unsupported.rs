//! HIP functions that programs are known to look for but the simulator does not have. Each answers
//! `hipErrorNotSupported` and says its name on stderr.

use std::ffi::c_int;

use super::codes;
use super::state::{fail, guard};

macro_rules! unsupported {
    ($($name:ident)*) => {$(
        #[doc = concat!("`", stringify!($name), "`: not supported.")]
        ///
        /// Declared without parameters: it reads none, and the C calling convention lets the
        /// caller pass any.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> c_int {
            guard(|| {
                eprintln!(concat!("cdna-sim: ", stringify!($name), " is not supported"));
                let what = concat!(stringify!($name), " is not supported by the simulator");
                Err(fail(codes::NOT_SUPPORTED, what))
            })
        }
    )*};
}

unsupported! {
    hipGetDeviceProperties
    hipLaunchKernel
    hipLaunchCooperativeKernel
    hipModuleLaunchCooperativeKernel
    hipExtModuleLaunchKernel
    hipModuleGetGlobal
    hipMallocManaged
    hipMallocAsync
    hipFreeAsync
    hipHostMalloc
    hipHostFree
    hipHostRegister
    hipHostUnregister
    hipMallocPitch
    hipMemcpy2D
    hipMemcpy2DAsync
    hipMemcpyPeer
    hipMemcpyPeerAsync
    hipPointerGetAttributes
    hipDeviceCanAccessPeer
    hipDeviceEnablePeerAccess
    hipStreamBeginCapture
    hipStreamEndCapture
    hipGraphCreate
    hipGraphLaunch
    hipIpcGetMemHandle
    hipIpcOpenMemHandle
    hipCtxCreate
    hipCtxDestroy
    hipCtxGetCurrent
    hipCtxSetCurrent
    hipDevicePrimaryCtxRetain
    hipDevicePrimaryCtxRelease
}
