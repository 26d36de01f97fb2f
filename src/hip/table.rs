//! The HIP C functions the tool calls, as one table of function pointers.
//!
//! Goes in: a loaded `libamdhip64.so`, or the simulator's functions of the same signatures. Comes
//! out: a [`Table`] behind which nothing can tell which of the two it is talking to.

use std::ffi::{c_char, c_int, c_uint, c_void};

use libloading::Library;

/// Opaque HIP handle (stream, event, module, function) or pointer.
pub type Handle = *mut c_void;

/// The simulator's function of an optional name. It has the property layout of ROCm 6 only.
macro_rules! simulated {
    (hipGetDeviceProperties) => {
        None
    };
    ($symbol:ident) => {
        Some(cdna_sim::hip::$symbol)
    };
}

macro_rules! table {
    (
        required { $($(#[$rdoc:meta])* $rfield:ident = $rsymbol:ident ( $($rarg:ty),* ) -> $rret:ty;)* }
        optional { $($(#[$odoc:meta])* $ofield:ident = $osymbol:ident ( $($oarg:ty),* ) -> $oret:ty;)* }
    ) => {
        /// HIP functions by pointer. Signatures are those of `hip_runtime_api.h`; a `hipError_t`
        /// is a `c_int`.
        #[derive(Clone)]
        pub struct Table {
            $($(#[$rdoc])* pub $rfield: unsafe extern "C" fn($($rarg),*) -> $rret,)*
            $($(#[$odoc])* pub $ofield: Option<unsafe extern "C" fn($($oarg),*) -> $oret>,)*
        }

        impl Table {
            /// The built-in simulator's functions.
            pub fn simulator() -> Table {
                Table {
                    $($rfield: cdna_sim::hip::$rsymbol,)*
                    $($ofield: simulated!($osymbol),)*
                }
            }

            /// Takes every function from a loaded runtime.
            ///
            /// # Errors
            /// The name of the first required symbol that the library lacks.
            pub fn from_library(library: &Library) -> Result<Table, &'static str> {
                // SAFETY: each symbol is given the signature that the HIP headers declare for it.
                unsafe {
                    Ok(Table {
                        $($rfield: *library
                            .get(concat!(stringify!($rsymbol), "\0").as_bytes())
                            .map_err(|_| stringify!($rsymbol))?,)*
                        $($ofield: library
                            .get(concat!(stringify!($osymbol), "\0").as_bytes())
                            .ok()
                            .map(|symbol| *symbol),)*
                    })
                }
            }
        }
    };
}

table! {
    required {
        /// `hipInit(flags)`.
        init = hipInit(c_uint) -> c_int;
        /// `hipRuntimeGetVersion(&version)`.
        runtime_version = hipRuntimeGetVersion(*mut c_int) -> c_int;
        /// `hipDriverGetVersion(&version)`.
        driver_version = hipDriverGetVersion(*mut c_int) -> c_int;
        /// `hipGetDeviceCount(&count)`.
        device_count = hipGetDeviceCount(*mut c_int) -> c_int;
        /// `hipSetDevice(ordinal)`, per host thread.
        set_device = hipSetDevice(c_int) -> c_int;
        /// `hipDeviceGetName(name, len, device)`.
        device_name = hipDeviceGetName(*mut c_char, c_int, c_int) -> c_int;
        /// `hipDeviceGetAttribute(&value, attribute, device)`.
        device_attribute = hipDeviceGetAttribute(*mut c_int, c_int, c_int) -> c_int;
        /// `hipDeviceSynchronize()`.
        device_synchronize = hipDeviceSynchronize() -> c_int;
        /// `hipMalloc(&ptr, bytes)`.
        malloc = hipMalloc(*mut Handle, usize) -> c_int;
        /// `hipFree(ptr)`.
        free = hipFree(Handle) -> c_int;
        /// `hipMemGetInfo(&free, &total)`.
        mem_info = hipMemGetInfo(*mut usize, *mut usize) -> c_int;
        /// `hipMemcpy(dst, src, bytes, kind)`.
        memcpy = hipMemcpy(Handle, *const c_void, usize, c_int) -> c_int;
        /// `hipMemsetAsync(dst, byte, bytes, stream)`.
        memset_async = hipMemsetAsync(Handle, c_int, usize, Handle) -> c_int;
        /// `hipModuleLoadData(&module, image)`.
        module_load_data = hipModuleLoadData(*mut Handle, *const c_void) -> c_int;
        /// `hipModuleUnload(module)`.
        module_unload = hipModuleUnload(Handle) -> c_int;
        /// `hipModuleGetFunction(&function, module, name)`.
        module_get_function = hipModuleGetFunction(*mut Handle, Handle, *const c_char) -> c_int;
        /// `hipModuleLaunchKernel(function, grid, block, lds, stream, params, extra)`; the grid
        /// counts workgroups.
        launch = hipModuleLaunchKernel(
            Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle,
            *mut *mut c_void, *mut *mut c_void
        ) -> c_int;
        /// `hipStreamCreate(&stream)`.
        stream_create = hipStreamCreate(*mut Handle) -> c_int;
        /// `hipStreamDestroy(stream)`.
        stream_destroy = hipStreamDestroy(Handle) -> c_int;
        /// `hipStreamQuery(stream)`.
        stream_query = hipStreamQuery(Handle) -> c_int;
        /// `hipEventCreate(&event)`.
        event_create = hipEventCreate(*mut Handle) -> c_int;
        /// `hipEventDestroy(event)`.
        event_destroy = hipEventDestroy(Handle) -> c_int;
        /// `hipEventRecord(event, stream)`.
        event_record = hipEventRecord(Handle, Handle) -> c_int;
        /// `hipEventQuery(event)`.
        event_query = hipEventQuery(Handle) -> c_int;
        /// `hipEventElapsedTime(&milliseconds, start, stop)`.
        event_elapsed = hipEventElapsedTime(*mut f32, Handle, Handle) -> c_int;
        /// `hipGetErrorName(code)`.
        error_name = hipGetErrorName(c_int) -> *const c_char;
        /// `hipGetErrorString(code)`.
        error_string = hipGetErrorString(c_int) -> *const c_char;
    }
    optional {
        /// `hipGetDevicePropertiesR0600(&properties, device)`, ROCm 6 and later.
        device_properties_r0600 = hipGetDevicePropertiesR0600(*mut c_void, c_int) -> c_int;
        /// `hipGetDeviceProperties(&properties, device)` with the layout of ROCm 5 and earlier.
        device_properties_legacy = hipGetDeviceProperties(*mut c_void, c_int) -> c_int;
        /// Simulator only: what it is, as text.
        sim_identity = cdnaSimIdentity() -> *const c_char;
        /// Simulator only: fidelity of this thread's launches (0 functional, 1 timing, 2 full).
        sim_set_mode = cdnaSimSetMode(c_int) -> c_int;
        /// Simulator only: whether this thread's functional launches fault on missing waits.
        sim_check_waits = cdnaSimCheckWaits(c_int) -> c_int;
        /// Simulator only: diagnosis of this thread's last device fault; returns its length.
        sim_last_fault = cdnaSimLastFault(*mut c_char, usize) -> usize;
        /// Simulator only: statistics of this thread's launches since the last reset as JSON;
        /// returns their length.
        sim_launch_stats = cdnaSimLaunchStats(*mut c_char, usize) -> usize;
        /// Simulator only: forgets the statistics.
        sim_reset_stats = cdnaSimResetStats() -> c_int;
    }
}
