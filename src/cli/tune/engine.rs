//! Which device answers: hardware where it is present, the simulator where that is allowed.

use crate::cli::output;
use crate::error::{Error, Result};
use crate::hip::{DeviceInfo, Hip};
use crate::options::{EngineChoice, Options};
use crate::units::Bytes;

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
pub fn choose(options: &Options) -> Result<Engine> {
    match options.engine {
        EngineChoice::Simulate if options.hip_lib.is_some() => {
            Err(Error::usage("--engine simulate uses the built-in simulator, not --hip-lib")
                .advice("drop one of the two"))
        }
        EngineChoice::Simulate => simulator(&options.arch, None),
        EngineChoice::Hardware => hardware(options),
        // A library or a device number that was named must not be passed over in silence.
        EngineChoice::Auto if options.hip_lib.is_some() || options.gpu.is_some() => {
            hardware(options)
        }
        EngineChoice::Auto => match hardware(options) {
            Ok(engine) => Ok(engine),
            Err(reason) => simulator(&options.arch, Some(reason.message)),
        },
    }
}

fn hardware(options: &Options) -> Result<Engine> {
    let arch = &options.arch;
    let advice = "run on a machine with the device, or use --engine simulate";
    let hip = Hip::load(options.hip_lib.as_deref())
        .map_err(|error| Error::no_device(error).advice(advice))?;
    let devices = hip.devices().map_err(|error| {
        Error::no_device(format_args!("{}: {error}", hip.runtime().identity)).advice(advice)
    })?;
    let wanted = |info: &&DeviceInfo| {
        info.arch == *arch && options.gpu.is_none_or(|ordinal| ordinal == info.ordinal)
    };
    match devices.iter().find(wanted) {
        Some(info) => Ok(Engine { info: info.clone(), hip, no_hardware: None }),
        None => {
            let present: Vec<String> =
                devices.iter().map(|info| format!("{} {}", info.ordinal, info.arch)).collect();
            let wanted = match options.gpu {
                Some(ordinal) => format!("device {ordinal} is not a {arch}"),
                None => format!("there is no {arch}"),
            };
            Err(Error::no_device(format_args!("{wanted}; present: {}", present.join(", ")))
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
