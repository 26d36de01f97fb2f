//! `hipError_t` values with their names and descriptions (`hip_runtime_api.h`).

use std::ffi::{CStr, c_int};

macro_rules! codes {
    ($($constant:ident = $value:literal, $name:literal, $text:literal;)*) => {
        $(pub(super) const $constant: c_int = $value;)*

        /// Name and description of a code.
        pub(super) fn describe(code: c_int) -> (&'static CStr, &'static CStr) {
            match code {
                $($value => ($name, $text),)*
                _ => (c"hipErrorUnknown", c"unknown error"),
            }
        }
    };
}

codes! {
    SUCCESS = 0, c"hipSuccess", c"no error";
    INVALID_VALUE = 1, c"hipErrorInvalidValue", c"invalid argument";
    OUT_OF_MEMORY = 2, c"hipErrorOutOfMemory", c"out of memory";
    NOT_INITIALIZED = 3, c"hipErrorNotInitialized", c"initialization error";
    INVALID_CONFIGURATION = 9, c"hipErrorInvalidConfiguration", c"invalid configuration argument";
    INVALID_MEMCPY_DIRECTION = 21, c"hipErrorInvalidMemcpyDirection",
        c"invalid copy direction for memcpy";
    NO_DEVICE = 100, c"hipErrorNoDevice", c"no ROCm-capable device is detected";
    INVALID_DEVICE = 101, c"hipErrorInvalidDevice", c"invalid device ordinal";
    INVALID_IMAGE = 200, c"hipErrorInvalidImage", c"device kernel image is invalid";
    NO_BINARY_FOR_GPU = 209, c"hipErrorNoBinaryForGpu",
        c"no kernel image is available for execution on the device";
    FILE_NOT_FOUND = 301, c"hipErrorFileNotFound", c"file not found";
    INVALID_HANDLE = 400, c"hipErrorInvalidHandle", c"invalid resource handle";
    NOT_FOUND = 500, c"hipErrorNotFound", c"named symbol not found";
    NOT_READY = 600, c"hipErrorNotReady", c"device not ready";
    ILLEGAL_ADDRESS = 700, c"hipErrorIllegalAddress",
        c"an illegal memory access was encountered";
    LAUNCH_TIMEOUT = 702, c"hipErrorLaunchTimeOut", c"the launch timed out and was terminated";
    LAUNCH_FAILURE = 719, c"hipErrorLaunchFailure", c"unspecified launch failure";
    NOT_SUPPORTED = 801, c"hipErrorNotSupported", c"operation not supported";
    UNKNOWN = 999, c"hipErrorUnknown", c"unknown error";
}
