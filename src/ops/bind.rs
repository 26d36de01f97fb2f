//! Kernel arguments by the names that the manifest gives them, whatever their order and width.

use super::manifest::{ArgType, KernelEntry};
use super::{OpError, dimension};
use crate::hip::Args;

/// The arguments of a launch. `value` gives an address or a number for a name; strides of absent
/// dimensions and Triton's scratch memory, of which no kernel here has any, are known here.
///
/// # Errors
/// [`OpError::Shape`] for a name that nobody knows, or a number too large for its type.
pub(super) fn bind(
    entry: &KernelEntry,
    shape: &impl std::fmt::Debug,
    value: impl Fn(&str) -> Option<u64>,
) -> Result<Args, OpError> {
    entry.args.iter().try_fold(Args::new(), |args, arg| {
        let known = match arg.name.as_str() {
            "zero" | "scratch" | "profile_scratch" => Some(0),
            name => value(name),
        };
        let Some(bits) = known else {
            let problem =
                format!("the manifest names an argument {}, which is not known", arg.name);
            return Err(OpError::shape(&entry.id, shape, problem));
        };
        match arg.ty {
            ArgType::I32 | ArgType::U32 => {
                Ok(args.u32(dimension(&entry.id, shape, &arg.name, bits)?))
            }
            ArgType::I64 | ArgType::U64 | ArgType::Ptr => Ok(args.u64(bits)),
            ArgType::F32 => {
                Err(OpError::shape(&entry.id, shape, format!("{} is no number", arg.name)))
            }
        }
    })
}
