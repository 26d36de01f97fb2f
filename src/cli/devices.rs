//! `tune devices`: what can be measured here.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::output;
use crate::error::{Exit, Result};
use crate::hip::{DeviceInfo, Hip, RuntimeInfo};

/// Arguments of `tune devices`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// HIP runtime to load instead of the first libamdhip64 found.
    #[arg(long, value_name = "PATH")]
    hip_lib: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// One runtime and what it offers.
#[derive(Debug, Serialize)]
struct Runtime {
    source: &'static str,
    runtime: Option<RuntimeInfo>,
    devices: Vec<Listed>,
    /// Why there is no device.
    problem: Option<String>,
}

#[derive(Debug, Serialize)]
struct Listed {
    #[serde(flatten)]
    info: DeviceInfo,
    /// Memory that other processes hold, bytes, where enough to disturb a measurement.
    busy_bytes: Option<u64>,
}

/// Lists the devices.
///
/// # Errors
/// When stdout cannot be written.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let hardware = match Hip::load(arguments.hip_lib.as_deref()) {
        Ok(hip) => survey("hardware", &hip),
        Err(error) => unavailable("hardware", &error),
    };
    let simulated = match Hip::simulator() {
        Ok(hip) => survey("simulator", &hip),
        Err(error) => unavailable("simulator", &error),
    };
    let runtimes = [hardware, simulated];
    if arguments.json {
        output::json(&runtimes)?;
        return Ok(Exit::Ok);
    }
    for runtime in &runtimes {
        print(runtime)?;
    }
    Ok(Exit::Ok)
}

fn unavailable(source: &'static str, problem: &impl ToString) -> Runtime {
    Runtime { source, runtime: None, devices: Vec::new(), problem: Some(problem.to_string()) }
}

fn survey(source: &'static str, hip: &Hip) -> Runtime {
    let runtime = Some(hip.runtime().clone());
    match hip.devices() {
        Ok(found) => {
            let listed = |info: DeviceInfo| {
                let busy = hip.device(info.ordinal).ok().and_then(|d| d.busy_memory());
                Listed { info, busy_bytes: busy.map(|b| b.0) }
            };
            let devices = found.into_iter().map(listed).collect();
            Runtime { source, runtime, devices, problem: None }
        }
        Err(error) => {
            Runtime { source, runtime, devices: Vec::new(), problem: Some(error.to_string()) }
        }
    }
}

fn print(runtime: &Runtime) -> Result<()> {
    let name = match &runtime.runtime {
        Some(RuntimeInfo { identity, path: Some(path), .. }) => {
            format!("{}: {identity} ({})", runtime.source, path.display())
        }
        Some(info) => format!("{}: {}", runtime.source, info.identity),
        None => runtime.source.to_string(),
    };
    output::line(name)?;
    if let Some(problem) = &runtime.problem {
        output::line(format_args!("  no device: {problem}"))?;
    }
    for Listed { info, busy_bytes } in &runtime.devices {
        output::line(format_args!(
            "  {}  {}  {}  {} memory, {} compute units, {} MHz{}",
            info.ordinal,
            info.arch,
            info.name,
            info.total_memory,
            info.compute_units,
            info.clock_mhz,
            busy_bytes.map_or(String::new(), |bytes| format!(
                "; busy: {} in use by others",
                crate::units::Bytes(bytes)
            )),
        ))?;
    }
    Ok(())
}
