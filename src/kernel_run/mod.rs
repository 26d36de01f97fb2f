//! Runs any kernel of any code object on arrays from files: `tune kernel run`.
//!
//! Goes in: a code object, a kernel, a launch size and a list of arguments (SPEC.json). Comes out:
//! the arrays the kernel wrote, as .npy files, and a [`Report`] of what was executed. The arguments
//! are checked against the kernel's metadata before anything runs, and no output file is written
//! unless the kernel succeeded.

mod arrays;
mod bind;
mod disasm;
mod spec;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::files::{self, FileError};
use crate::hip::{Device, Fidelity, HipError, Launch, LaunchStats};

pub use arrays::{Array, Dtype};
pub use disasm::disassemble;
pub use spec::{Argument, Spec};

/// Why a kernel could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// An array file is not usable.
    #[error("{}: {what}", path.display())]
    Array {
        /// File.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The argument list is malformed.
    #[error("{}: {what}", path.display())]
    Spec {
        /// File.
        path: PathBuf,
        /// What is wrong, with the argument's number.
        what: String,
    },
    /// The arguments contradict the kernel's metadata.
    #[error("kernel {kernel}: {what}")]
    Metadata {
        /// Kernel.
        kernel: String,
        /// What contradicts.
        what: String,
    },
    /// The code object was refused, or the device failed.
    #[error(transparent)]
    Device(#[from] HipError),
    /// The code object was refused.
    #[error("{}: {source}", path.display())]
    CodeObject {
        /// File.
        path: PathBuf,
        /// Why.
        source: cdna_sim::code_object::CodeObjectError,
    },
}

/// A run.
#[derive(Clone, Debug)]
pub struct Request {
    /// Code object or offload bundle.
    pub file: PathBuf,
    /// Kernel symbol.
    pub kernel: String,
    /// Workgroups, threads of a workgroup, and dynamic LDS bytes added to the static ones.
    pub launch: Launch,
    /// SPEC.json; none for a kernel without arguments.
    pub args: Option<PathBuf>,
    /// Whether the run is timed.
    pub timing: bool,
}

/// What was run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Kernel.
    pub kernel: String,
    /// Target.
    pub arch: String,
    /// Device that ran it.
    pub device: String,
    /// Whether that was the simulator.
    pub simulated: bool,
    /// Workgroups.
    pub grid: [u32; 3],
    /// Threads of a workgroup.
    pub block: [u32; 3],
    /// LDS bytes of a workgroup, static and dynamic.
    pub lds: u32,
    /// Vector registers of the kernel, accumulation registers included.
    pub vgprs: u32,
    /// Scalar registers.
    pub sgprs: u32,
    /// Private bytes per lane.
    pub private: u32,
    /// Instructions, cycles, mix and time; simulator only.
    pub stats: Option<LaunchStats>,
    /// Time between two events around the launch in microseconds, if timed.
    pub time_us: Option<f64>,
    /// Files written.
    pub outputs: Vec<PathBuf>,
}

/// Runs a kernel on `device`.
///
/// # Errors
/// [`RunError`]: unreadable or contradictory input, or a fault of the kernel.
pub fn run(device: &Device, request: &Request) -> Result<Report, RunError> {
    let image = files::read_bytes(&request.file)?;
    let module = device.load_module(&image).map_err(|mut error| {
        error.detail = format!("{}: {}", request.file.display(), error.detail);
        error
    })?;
    let function = module.function(&request.kernel)?;
    let spec = request.args.as_deref().map(Spec::read).transpose()?.unwrap_or_default();
    let bound = bind::bind(device, function.kernel(), &spec)?;
    device.set_fidelity(if request.timing { Fidelity::Full } else { Fidelity::Functional });
    device.reset_stats();
    let (start, stop) = (device.event()?, device.event()?);
    start.record()?;
    device.launch(&function, request.launch, &bound.args)?;
    stop.record()?;
    device.synchronize()?;
    let time_us = if request.timing { Some(stop.elapsed_since(&start)?.0) } else { None };
    let outputs = bound.store()?;
    let kernel = function.kernel();
    Ok(Report {
        kernel: kernel.name.clone(),
        arch: device.info().arch.clone(),
        device: device.info().name.clone(),
        simulated: device.hip().is_simulated(),
        grid: request.launch.grid,
        block: request.launch.block,
        lds: kernel.lds_size.saturating_add(request.launch.lds),
        vgprs: kernel.vgpr_count,
        sgprs: kernel.sgpr_count,
        private: kernel.private_size,
        stats: device.launch_stats(),
        time_us,
        outputs,
    })
}

/// `name` next to the file `base`, unless it is absolute.
fn beside(base: &Path, name: &Path) -> PathBuf {
    base.parent().map_or_else(|| name.to_owned(), |folder| folder.join(name))
}

#[cfg(test)]
mod tests;
