//! `hipError_t` values with their names and descriptions (`hip_runtime_api.h`).

use std::ffi::{CStr, c_int};

pub(super) const SUCCESS: c_int = 0;
pub(super) const INVALID_VALUE: c_int = 1;
pub(super) const OUT_OF_MEMORY: c_int = 2;
pub(super) const NOT_INITIALIZED: c_int = 3;
pub(super) const INVALID_CONFIGURATION: c_int = 9;
pub(super) const INVALID_MEMCPY_DIRECTION: c_int = 21;
pub(super) const INVALID_DEVICE: c_int = 101;
pub(super) const INVALID_IMAGE: c_int = 200;
pub(super) const NO_BINARY_FOR_GPU: c_int = 209;
pub(super) const FILE_NOT_FOUND: c_int = 301;
pub(super) const INVALID_HANDLE: c_int = 400;
pub(super) const NOT_FOUND: c_int = 500;
pub(super) const ILLEGAL_ADDRESS: c_int = 700;
pub(super) const LAUNCH_TIMEOUT: c_int = 702;
pub(super) const LAUNCH_FAILURE: c_int = 719;
pub(super) const NOT_SUPPORTED: c_int = 801;
pub(super) const UNKNOWN: c_int = 999;

/// Name and description of a code, also of those that the simulator itself never answers.
pub(super) fn describe(code: c_int) -> (&'static CStr, &'static CStr) {
    match code {
        SUCCESS => (c"hipSuccess", c"no error"),
        INVALID_VALUE => (c"hipErrorInvalidValue", c"invalid argument"),
        OUT_OF_MEMORY => (c"hipErrorOutOfMemory", c"out of memory"),
        NOT_INITIALIZED => (c"hipErrorNotInitialized", c"initialization error"),
        INVALID_CONFIGURATION => {
            (c"hipErrorInvalidConfiguration", c"invalid configuration argument")
        }
        INVALID_MEMCPY_DIRECTION => {
            (c"hipErrorInvalidMemcpyDirection", c"invalid copy direction for memcpy")
        }
        100 => (c"hipErrorNoDevice", c"no ROCm-capable device is detected"),
        INVALID_DEVICE => (c"hipErrorInvalidDevice", c"invalid device ordinal"),
        INVALID_IMAGE => (c"hipErrorInvalidImage", c"device kernel image is invalid"),
        201 => (c"hipErrorInvalidContext", c"invalid device context"),
        NO_BINARY_FOR_GPU => {
            (c"hipErrorNoBinaryForGpu", c"no kernel image is available for execution on the device")
        }
        FILE_NOT_FOUND => (c"hipErrorFileNotFound", c"file not found"),
        INVALID_HANDLE => (c"hipErrorInvalidHandle", c"invalid resource handle"),
        NOT_FOUND => (c"hipErrorNotFound", c"named symbol not found"),
        600 => (c"hipErrorNotReady", c"device not ready"),
        ILLEGAL_ADDRESS => (c"hipErrorIllegalAddress", c"an illegal memory access was encountered"),
        LAUNCH_TIMEOUT => (c"hipErrorLaunchTimeOut", c"the launch timed out and was terminated"),
        LAUNCH_FAILURE => (c"hipErrorLaunchFailure", c"unspecified launch failure"),
        NOT_SUPPORTED => (c"hipErrorNotSupported", c"operation not supported"),
        _ => (c"hipErrorUnknown", c"unknown error"),
    }
}
