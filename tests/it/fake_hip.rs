//! A HIP runtime made of a script: every call counts, and the script decides which one fails, when
//! memory ends, which launch hangs and what the events say. State is per thread, as the tests are.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_uint, c_void};

use chunktune::hip::{Hip, Table, code, table::Handle};

/// What the runtime does.
pub struct Script {
    /// The call, counted from 0, that answers with the code.
    pub fail: Option<(usize, c_int)>,
    /// Device memory, bytes.
    pub memory: u64,
    /// Launch, counted from 0, after which the device never finishes again.
    pub hang: Option<usize>,
    /// Milliseconds of the n-th pair of events.
    pub time: Box<dyn Fn(usize) -> f32>,
}

impl Default for Script {
    fn default() -> Self {
        Self { fail: None, memory: 1 << 38, hang: None, time: Box::new(|_| 1.0) }
    }
}

#[derive(Default)]
struct State {
    script: Script,
    /// Names of the calls so far.
    calls: Vec<&'static str>,
    live: BTreeMap<u64, u64>,
    next: u64,
    launches: usize,
    times: usize,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// A runtime that plays `script` on this thread, from its first call.
pub fn play(script: Script) -> Hip {
    STATE.with_borrow_mut(|state| *state = State { script, next: 1 << 20, ..State::default() });
    Hip::from_table(table())
}

/// Names of the calls since [`play`].
pub fn calls() -> Vec<&'static str> {
    STATE.with_borrow(|state| state.calls.clone())
}

/// Counts a call; returns the code it has to answer with.
fn call(name: &'static str) -> c_int {
    STATE.with_borrow_mut(|state| {
        let index = state.calls.len();
        state.calls.push(name);
        match state.script.fail {
            Some((failing, code)) if failing == index => code,
            _ => code::SUCCESS,
        }
    })
}

fn table() -> Table {
    Table {
        init: {
            unsafe extern "C" fn f(_: c_uint) -> c_int {
                call("hipInit")
            }
            f
        },
        runtime_version: version,
        driver_version: version,
        device_count: {
            unsafe extern "C" fn f(count: *mut c_int) -> c_int {
                unsafe { *count = 1 };
                call("hipGetDeviceCount")
            }
            f
        },
        set_device: {
            unsafe extern "C" fn f(_: c_int) -> c_int {
                call("hipSetDevice")
            }
            f
        },
        device_name: {
            unsafe extern "C" fn f(name: *mut c_char, _: c_int, _: c_int) -> c_int {
                unsafe { c"Scripted".as_ptr().copy_to(name, 9) };
                call("hipDeviceGetName")
            }
            f
        },
        device_attribute: {
            unsafe extern "C" fn f(value: *mut c_int, _: c_int, _: c_int) -> c_int {
                unsafe { *value = 64 };
                call("hipDeviceGetAttribute")
            }
            f
        },
        device_synchronize: {
            unsafe extern "C" fn f() -> c_int {
                call("hipDeviceSynchronize")
            }
            f
        },
        malloc,
        free: {
            unsafe extern "C" fn f(ptr: Handle) -> c_int {
                STATE.with_borrow_mut(|state| state.live.remove(&(ptr as u64)));
                call("hipFree")
            }
            f
        },
        mem_info,
        memcpy: {
            unsafe extern "C" fn f(_: Handle, _: *const c_void, _: usize, _: c_int) -> c_int {
                call("hipMemcpy")
            }
            f
        },
        memset_async: {
            unsafe extern "C" fn f(_: Handle, _: c_int, _: usize, _: Handle) -> c_int {
                call("hipMemsetAsync")
            }
            f
        },
        module_load_data: {
            unsafe extern "C" fn f(module: *mut Handle, _: *const c_void) -> c_int {
                handle(module, "hipModuleLoadData")
            }
            f
        },
        module_unload: {
            unsafe extern "C" fn f(_: Handle) -> c_int {
                call("hipModuleUnload")
            }
            f
        },
        module_get_function: {
            unsafe extern "C" fn f(out: *mut Handle, _: Handle, _: *const c_char) -> c_int {
                handle(out, "hipModuleGetFunction")
            }
            f
        },
        launch,
        stream_create: {
            unsafe extern "C" fn f(stream: *mut Handle) -> c_int {
                handle(stream, "hipStreamCreate")
            }
            f
        },
        stream_destroy: {
            unsafe extern "C" fn f(_: Handle) -> c_int {
                call("hipStreamDestroy")
            }
            f
        },
        stream_query: {
            unsafe extern "C" fn f(_: Handle) -> c_int {
                query("hipStreamQuery")
            }
            f
        },
        event_create: {
            unsafe extern "C" fn f(event: *mut Handle) -> c_int {
                handle(event, "hipEventCreate")
            }
            f
        },
        event_destroy: {
            unsafe extern "C" fn f(_: Handle) -> c_int {
                call("hipEventDestroy")
            }
            f
        },
        event_record: {
            unsafe extern "C" fn f(_: Handle, _: Handle) -> c_int {
                call("hipEventRecord")
            }
            f
        },
        event_query: {
            unsafe extern "C" fn f(_: Handle) -> c_int {
                query("hipEventQuery")
            }
            f
        },
        event_elapsed,
        error_name: {
            unsafe extern "C" fn f(_: c_int) -> *const c_char {
                c"hipErrorScripted".as_ptr()
            }
            f
        },
        error_string: {
            unsafe extern "C" fn f(_: c_int) -> *const c_char {
                c"the script says so".as_ptr()
            }
            f
        },
        device_properties_r0600: Some(properties),
        device_properties_legacy: None,
        sim_identity: None,
        sim_set_mode: None,
        sim_last_fault: None,
        sim_launch_stats: None,
        sim_reset_stats: None,
        sim_check_waits: None,
    }
}

unsafe extern "C" fn version(value: *mut c_int) -> c_int {
    unsafe { *value = 60_443_482 };
    code::SUCCESS
}

fn handle(out: *mut Handle, name: &'static str) -> c_int {
    let code = call(name);
    if code == code::SUCCESS {
        unsafe { *out = std::ptr::without_provenance_mut(8) };
    }
    code
}

fn query(name: &'static str) -> c_int {
    let hung = STATE.with_borrow(|state| state.script.hang.is_some_and(|n| state.launches > n));
    if hung { code::NOT_READY } else { call(name) }
}

unsafe extern "C" fn malloc(out: *mut Handle, bytes: usize) -> c_int {
    let code = call("hipMalloc");
    if code != code::SUCCESS {
        return code;
    }
    STATE.with_borrow_mut(|state| {
        let live: u64 = state.live.values().sum();
        if live + bytes as u64 > state.script.memory {
            return code::OUT_OF_MEMORY;
        }
        let address = state.next;
        state.next += (bytes as u64).next_multiple_of(4096) + 4096;
        state.live.insert(address, bytes as u64);
        unsafe { *out = std::ptr::without_provenance_mut(address as usize) };
        code::SUCCESS
    })
}

unsafe extern "C" fn mem_info(free: *mut usize, total: *mut usize) -> c_int {
    STATE.with_borrow(|state| {
        let live: u64 = state.live.values().sum();
        unsafe {
            *free = (state.script.memory - live) as usize;
            *total = state.script.memory as usize;
        }
    });
    call("hipMemGetInfo")
}

unsafe extern "C" fn launch(
    _: Handle,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: Handle,
    _: *mut *mut c_void,
    _: *mut *mut c_void,
) -> c_int {
    STATE.with_borrow_mut(|state| state.launches += 1);
    call("hipModuleLaunchKernel")
}

unsafe extern "C" fn event_elapsed(ms: *mut f32, _: Handle, _: Handle) -> c_int {
    STATE.with_borrow_mut(|state| {
        unsafe { *ms = (state.script.time)(state.times) };
        state.times += 1;
    });
    call("hipEventElapsedTime")
}

/// The R0600 layout as far as it is read: the name at 0, memory at 288, the target behind it.
unsafe extern "C" fn properties(out: *mut c_void, _: c_int) -> c_int {
    let memory = STATE.with_borrow(|state| state.script.memory);
    unsafe {
        out.byte_add(288).cast::<u64>().write(memory);
        c"gfx950:sramecc+:xnack-".as_ptr().copy_to(out.byte_add(1160).cast(), 23);
    }
    call("hipGetDevicePropertiesR0600")
}
