//! Which device answers: hardware where it is present, the simulator where that is allowed.

use std::path::Path;

use super::output;
use crate::error::{Error, Result};
use crate::hip::{DeviceInfo, Hip};
use crate::options::EngineChoice;
use crate::units::Bytes;

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// LLVM target.
    pub arch: &'a str,
    /// What may answer.
    pub engine: EngineChoice,
    /// HIP runtime to load.
    pub hip_lib: Option<&'a Path>,
    /// Device number.
    pub gpu: Option<u32>,
}

/// The runtime and the device chosen.
#[derive(Debug)]
pub struct Engine {
    /// Runtime.
    pub hip: Hip,
    /// Device.
    pub info: DeviceInfo,
    /// Why hardware was not used, where it might have been.
    no_hardware: Option<String>,
}

impl Engine {
    /// The first line of output: what was measured on what.
    pub fn banner(&self) -> String {
        let DeviceInfo { arch, name, ordinal, .. } = &self.info;
        let identity = &self.hip.runtime().identity;
        if !self.hip.is_simulated() {
            return format!("{arch}: hardware: {name}, device {ordinal}, {identity}");
        }
        let through = self.hip.runtime().path.as_ref();
        let through = through.map_or(String::new(), |path| format!(" through {}", path.display()));
        let reason = self.no_hardware.as_ref();
        let reason = reason.map_or(String::new(), |reason| format!("; no hardware: {reason}"));
        format!("{arch}: simulated (no GPU was used): {name}, {identity}{through}{reason}")
    }

    /// Memory free on a GPU now; none in simulation, where it says nothing about a server.
    ///
    /// # Errors
    /// Status 3 when the device cannot be asked.
    pub fn free_bytes(&self) -> Result<Option<Bytes>> {
        if self.hip.is_simulated() {
            return Ok(None);
        }
        let device = self.hip.device(self.info.ordinal).map_err(Error::no_device)?;
        let (free, _) = device.mem_info().map_err(Error::no_device)?;
        if let Some(busy) = device.busy_memory() {
            output::warn(format_args!(
                "device {} is busy: {busy} of its memory are in use; times may be disturbed",
                self.info.ordinal
            ));
        }
        Ok(Some(free))
    }
}

/// Chooses the device.
///
/// # Errors
/// Status 3 when what was asked for is not there.
pub fn choose(wanted: &Wanted<'_>) -> Result<Engine> {
    match wanted.engine {
        EngineChoice::Simulate if wanted.hip_lib.is_some() => {
            Err(Error::usage("--engine simulate uses the built-in simulator, not --hip-lib")
                .advice("drop one of the two"))
        }
        EngineChoice::Simulate if wanted.gpu.is_some() => {
            Err(Error::usage("--gpu chooses among hardware devices; each simulated one is alone")
                .advice("drop --gpu, or use --engine hardware"))
        }
        EngineChoice::Simulate => simulator(wanted.arch, None),
        EngineChoice::Hardware => hardware(wanted),
        // A library or a device number that was named must not be passed over in silence.
        EngineChoice::Auto if wanted.hip_lib.is_some() || wanted.gpu.is_some() => hardware(wanted),
        EngineChoice::Auto => match hardware(wanted) {
            Ok(engine) => Ok(engine),
            Err(reason) => simulator(wanted.arch, Some(reason.message)),
        },
    }
}

fn hardware(wanted: &Wanted<'_>) -> Result<Engine> {
    let arch = wanted.arch;
    let advice = "run on a machine with the device, or use --engine simulate";
    let hip = Hip::load(wanted.hip_lib).map_err(|error| Error::no_device(error).advice(advice))?;
    let devices = hip.devices().map_err(|error| {
        Error::no_device(format_args!("{}: {error}", hip.runtime().identity)).advice(advice)
    })?;
    let matches = |info: &&DeviceInfo| {
        info.arch == arch && wanted.gpu.is_none_or(|ordinal| ordinal == info.ordinal)
    };
    match devices.iter().find(matches) {
        Some(info) => Ok(Engine { info: info.clone(), hip, no_hardware: None }),
        None => {
            let present: Vec<String> =
                devices.iter().map(|info| format!("{} {}", info.ordinal, info.arch)).collect();
            let missing = match wanted.gpu {
                Some(ordinal) => format!("device {ordinal} is not a {arch}"),
                None => format!("there is no {arch}"),
            };
            Err(Error::no_device(format_args!("{missing}; present: {}", present.join(", ")))
                .advice("`tune devices` lists what can be measured"))
        }
    }
}

fn simulator(arch: &str, no_hardware: Option<String>) -> Result<Engine> {
    let hip = Hip::simulator().map_err(Error::no_device)?;
    let devices = hip.devices().map_err(Error::no_device)?;
    match devices.into_iter().find(|info| info.arch == arch) {
        Some(info) => Ok(Engine { hip, info, no_hardware }),
        None => Err(Error::no_device(format_args!("the simulator has no {arch}"))
            .advice("`tune devices` lists what can be measured")),
    }
}
