//! Arguments on the device, checked against the kernel's metadata.

use std::path::PathBuf;

use cdna_sim::code_object::{ArgKind, KernelArg, KernelInfo};

use super::RunError;
use super::arrays::Array;
use super::spec::{Argument, Input, Spec};
use crate::hip::{Args, Buffer, Device};
use crate::units::Bytes;

/// Arguments ready for a launch, with the buffers they point at.
pub(super) struct Bound {
    pub(super) args: Args,
    buffers: Vec<Bindings>,
}

struct Bindings {
    buffer: Buffer,
    array: Array,
    output: Option<PathBuf>,
}

impl Bound {
    /// Writes every output buffer to its file.
    pub(super) fn store(self) -> Result<Vec<PathBuf>, RunError> {
        let mut written = Vec::new();
        for Bindings { buffer, array, output } in self.buffers {
            let Some(path) = output else { continue };
            let array = Array { data: buffer.download()?, ..array };
            array.write(&path)?;
            written.push(path);
        }
        Ok(written)
    }
}

/// Uploads the buffers of `spec` and lines all arguments up for `kernel`.
pub(super) fn bind(device: &Device, kernel: &KernelInfo, spec: &Spec) -> Result<Bound, RunError> {
    let refuse = |what: String| RunError::Metadata { kernel: kernel.name.clone(), what };
    let wanted: Vec<_> = kernel.explicit_args().collect();
    if wanted.len() != spec.arguments.len() {
        return Err(refuse(format!(
            "it takes {} arguments, but {} are given; it takes {}",
            wanted.len(),
            spec.arguments.len(),
            signature(&wanted)
        )));
    }
    let mut bound = Bound { args: Args::new(), buffers: Vec::new() };
    for (i, (argument, wanted)) in spec.arguments.iter().zip(wanted).enumerate() {
        check(argument, wanted).map_err(|what| refuse(format!("argument {i}{what}")))?;
        let args = std::mem::take(&mut bound.args);
        bound.args = match argument {
            Argument::Null => args.null(),
            Argument::Scalar { bytes, .. } => args.bytes(bytes),
            Argument::Buffer { input, output, offset } => {
                let array = match input {
                    Input::File(path) => Array::read(path)?,
                    Input::Zeros { dtype, shape } => Array::zeros(*dtype, shape)
                        .map_err(|what| refuse(format!("argument {i}: {what}")))?,
                };
                check_offset(&array, *offset)
                    .map_err(|what| refuse(format!("argument {i}: {what}")))?;
                let buffer = device.malloc(Bytes(array.data.len() as u64))?;
                match input {
                    Input::File(_) => buffer.upload(&array.data)?,
                    Input::Zeros { .. } => buffer.fill_zero()?,
                }
                let args = args.ptr_at(&buffer, *offset);
                bound.buffers.push(Bindings { buffer, array, output: output.clone() });
                args
            }
        };
    }
    Ok(bound)
}

fn check(argument: &Argument, wanted: &KernelArg) -> Result<(), String> {
    let name = wanted.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
    let pointer = matches!(wanted.kind, ArgKind::GlobalBuffer);
    match argument {
        Argument::Buffer { .. } | Argument::Null if wanted.size != 8 => {
            Err(format!("{name} is a value of {} bytes, but a pointer is given", wanted.size))
        }
        Argument::Scalar { ty, .. } if pointer => {
            Err(format!("{name} is a pointer, but a {ty} is given; give a buffer or null"))
        }
        Argument::Scalar { ty, bytes } if bytes.len() != wanted.size as usize => {
            Err(format!("{name} has {} bytes, but the {ty} given has {}", wanted.size, bytes.len()))
        }
        Argument::Scalar { ty, bytes } if !(wanted.offset as usize).is_multiple_of(bytes.len()) => {
            Err(format!(
                "{name} is at byte {} of the kernel's arguments, where no {ty} can be",
                wanted.offset
            ))
        }
        _ => Ok(()),
    }
}

fn check_offset(array: &Array, offset: u64) -> Result<(), String> {
    let (len, element) = (array.data.len() as u64, array.dtype.bytes());
    if offset > len {
        return Err(format!("\"offset_bytes\" is {offset}, but the buffer has {len} bytes"));
    }
    if !offset.is_multiple_of(element) {
        return Err(format!(
            "\"offset_bytes\" is {offset}, no multiple of the {element}-byte elements"
        ));
    }
    Ok(())
}

/// The parameters a kernel takes, for a message.
fn signature(args: &[&KernelArg]) -> String {
    let one = |arg: &&KernelArg| match arg.kind {
        ArgKind::GlobalBuffer => "pointer".to_owned(),
        _ => format!("{} bytes", arg.size),
    };
    if args.is_empty() {
        "none".to_owned()
    } else {
        args.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}
