//! `tune worker`: the hidden child that measures on a loaded HIP runtime, see
//! [`crate::measure::worker`].

use std::ffi::OsString;
use std::io::{stdin, stdout};
use std::path::{Path, PathBuf};

use clap::Args;

use super::tune::catalog;
use crate::error::{Error, Exit, Result};
use crate::grid::Case;
use crate::hip::{DeviceInfo, Hip};
use crate::measure::bench::{Bench, Settings};
use crate::measure::worker::{Message, serve};

/// Arguments of the child.
#[derive(Debug, Args)]
pub struct Arguments {
    /// HIP runtime to load.
    #[arg(long)]
    hip_lib: PathBuf,
    /// Device number.
    #[arg(long)]
    gpu: u32,
    /// Target of the kernels.
    #[arg(long)]
    arch: String,
    /// Kernel pack in place of bundled kernels.
    #[arg(long)]
    kernels: Option<PathBuf>,
}

/// The command line of a child that measures on `device` of the runtime `library`.
pub fn command_line(library: &Path, device: &DeviceInfo, pack: Option<&Path>) -> Vec<OsString> {
    let mut line: Vec<OsString> = vec![
        "worker".into(),
        "--hip-lib".into(),
        library.into(),
        "--gpu".into(),
        device.ordinal.to_string().into(),
        "--arch".into(),
        device.arch.clone().into(),
    ];
    if let Some(pack) = pack {
        line.extend(["--kernels".into(), pack.into()]);
    }
    line
}

/// Opens the device and measures what the parent sends.
///
/// # Errors
/// Status 3 when the device cannot be opened, 4 for a pack that cannot be read, 1 when the parent
/// is gone.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let hip = Hip::load(Some(&arguments.hip_lib)).map_err(Error::no_device)?;
    let (catalog, _) = catalog(&arguments.arch, arguments.kernels.as_deref())?;
    let mut bench = Bench::open(&hip, arguments.gpu, &catalog, Settings::default())
        .map_err(|trouble| Error::no_device(trouble.message))?;
    let measure =
        |group: &[Case], say: &mut dyn FnMut(Message)| measure_group(&mut bench, group, say);
    serve(stdin().lock(), stdout().lock(), measure).map_err(Error::failed)?;
    Ok(Exit::Ok)
}

/// Measures a group by whatever the device allows; returns whether it can still be used.
fn measure_group(bench: &mut Bench, group: &[Case], say: &mut dyn FnMut(Message)) -> bool {
    if !bench.is_simulated() {
        let say = std::cell::RefCell::new(say);
        return bench.measure_sampled(
            group,
            |index| (say.borrow_mut())(Message::Started(index)),
            |index, point| (say.borrow_mut())(Message::Finished(index, Box::new(point))),
        );
    }
    for (index, case) in group.iter().enumerate() {
        say(Message::Started(index));
        match bench.measure_exact(case) {
            Ok(point) => say(Message::Finished(index, Box::new(point))),
            // The parent sees the child end in this case and goes on with another.
            Err(_) => return false,
        }
    }
    true
}
