//! A HIP runtime: the function table with what is known about where it came from.

use std::ffi::{CStr, c_char, c_int};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::device::{Device, DeviceInfo};
use super::error::{HipError, LoadError, check, code};
use super::load;
use super::table::Table;

/// What executes the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuntimeKind {
    /// A GPU.
    Hardware,
    /// The CDNA simulator, built in or loaded as a library.
    Simulated,
}

/// Where results of a runtime come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeInfo {
    /// What executes the kernels.
    pub kind: RuntimeKind,
    /// Runtime version, such as `6.4.43482`.
    pub version: String,
    /// Library the functions were loaded from; `None` for the built-in simulator.
    pub path: Option<PathBuf>,
    /// One line that names the runtime.
    pub identity: String,
}

/// A HIP runtime. Clones share it.
#[derive(Clone)]
pub struct Hip {
    pub(super) table: Arc<Table>,
    info: Arc<RuntimeInfo>,
}

impl std::fmt::Debug for Hip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hip").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Hip {
    /// Loads a real runtime: `path`, or the first `libamdhip64` found. It may still have no device.
    ///
    /// # Errors
    /// What was tried and why it did not load.
    pub fn load(path: Option<&Path>) -> Result<Hip, LoadError> {
        let (table, path) = load::load(path)?;
        Ok(Self::with(table, Some(path)))
    }

    /// The built-in simulator.
    ///
    /// # Errors
    /// When its devices cannot be set up.
    pub fn simulator() -> Result<Hip, HipError> {
        let hip = Self::with(Table::simulator(), None);
        hip.count()?;
        Ok(hip)
    }

    /// A runtime over any function table, as tests do.
    pub fn from_table(table: Table) -> Hip {
        Self::with(table, None)
    }

    fn with(table: Table, path: Option<PathBuf>) -> Hip {
        let version = version(&table);
        // SAFETY: the simulator returns a static string.
        let simulator = table.sim_identity.map(|f| unsafe { CStr::from_ptr(f()) });
        let (kind, identity) = match simulator {
            Some(text) => (RuntimeKind::Simulated, text.to_string_lossy().into_owned()),
            None => (RuntimeKind::Hardware, format!("HIP runtime {version}")),
        };
        let info = RuntimeInfo { kind, version, path, identity };
        Hip { table: Arc::new(table), info: Arc::new(info) }
    }

    /// Where its results come from.
    pub fn runtime(&self) -> &RuntimeInfo {
        &self.info
    }

    /// Whether kernels run on the simulator.
    pub fn is_simulated(&self) -> bool {
        self.info.kind == RuntimeKind::Simulated
    }

    /// All devices.
    ///
    /// # Errors
    /// [`super::HipErrorKind::NoDevice`] where the runtime has none.
    pub fn devices(&self) -> Result<Vec<DeviceInfo>, HipError> {
        (0..self.count()?).map(|ordinal| DeviceInfo::query(&self.table, ordinal)).collect()
    }

    /// Opens one device.
    ///
    /// # Errors
    /// [`super::HipErrorKind::NoDevice`] if the runtime has no device of that number.
    pub fn device(&self, ordinal: u32) -> Result<Device, HipError> {
        let count = self.count()?;
        if ordinal >= count {
            return Err(HipError::local(
                "hipSetDevice",
                code::INVALID_DEVICE,
                "hipErrorInvalidDevice",
                format!("there is no device {ordinal}; the runtime has {count}"),
            ));
        }
        Device::open(self.clone(), ordinal)
    }

    fn count(&self) -> Result<u32, HipError> {
        let mut count: c_int = 0;
        // The count comes first: runtimes without a device answer hipInit with assorted codes, but
        // hipGetDeviceCount with hipErrorNoDevice.
        // SAFETY: the pointer is valid for the call.
        check(&self.table, "hipGetDeviceCount", unsafe { (self.table.device_count)(&mut count) })?;
        if count <= 0 {
            return Err(HipError::local(
                "hipGetDeviceCount",
                code::NO_DEVICE,
                "hipErrorNoDevice",
                "the runtime reports no device",
            ));
        }
        // SAFETY: no pointers.
        check(&self.table, "hipInit", unsafe { (self.table.init)(0) })?;
        Ok(count.unsigned_abs())
    }
}

/// The runtime's version in HIP's `major * 10^7 + minor * 10^5 + patch` form, as text.
fn version(table: &Table) -> String {
    let mut raw: c_int = 0;
    // SAFETY: the pointer is valid for the call.
    if unsafe { (table.runtime_version)(&mut raw) } != code::SUCCESS {
        return "unknown".to_owned();
    }
    format!("{}.{}.{}", raw / 10_000_000, raw / 100_000 % 100, raw % 100_000)
}

/// Text in a NUL-terminated buffer.
pub(super) fn text(buf: &[c_char]) -> String {
    let bytes: Vec<u8> = buf.iter().take_while(|&&c| c != 0).map(|&c| c.cast_unsigned()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
