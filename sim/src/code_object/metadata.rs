//! The msgpack metadata of a code object ("Code Object V5 Metadata" in LLVM's AMDGPU usage
//! guide).

use rmpv::Value;

use super::{CodeObjectError, Descriptor, KernelInfo};

/// Most bytes of kernel arguments; larger claims are damage.
const MAX_KERNARG: u32 = 1 << 16;

/// One kernel argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelArg {
    /// Source name, where the compiler kept it.
    pub name: Option<String>,
    /// Byte offset in the kernarg segment.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// What it is.
    pub kind: ArgKind,
    /// Address space of what it points at, such as `global`.
    pub address_space: Option<String>,
}

/// What an argument is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// A value.
    ByValue,
    /// A pointer to global memory.
    GlobalBuffer,
    /// An LDS pointer whose target the launch sizes.
    DynamicSharedPointer,
    /// Filled in by the runtime.
    Hidden(Hidden),
    /// Images, samplers, pipes and queues, which HIP kernels do not have.
    Other(String),
}

/// A hidden argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// Whole workgroups in a dimension.
    BlockCount(usize),
    /// Threads of a workgroup in a dimension.
    GroupSize(usize),
    /// Threads of the partial last workgroup in a dimension.
    Remainder(usize),
    /// First global id in a dimension.
    GlobalOffset(usize),
    /// Dimensions of the grid.
    GridDims,
    /// Dynamic LDS bytes.
    DynamicLdsSize,
    /// High half of the private aperture's address.
    PrivateBase,
    /// High half of the shared aperture's address.
    SharedBase,
    /// The queue.
    QueuePtr,
    /// Host services (printf, hostcall, heap, multigrid sync, queues), which a kernel here does
    /// not get: the argument is zero.
    Service,
}

/// A kernel's metadata; address and descriptor are still to be found.
pub(super) struct Kernel {
    pub(super) info: KernelInfo,
    pub(super) symbol: String,
}

/// The metadata of a code object.
pub(super) struct Metadata {
    pub(super) target: String,
    pub(super) kernels: Vec<Kernel>,
}

pub(super) fn parse(mut note: &[u8]) -> Result<Metadata, CodeObjectError> {
    let damaged = |what: &str| CodeObjectError::damaged(format!("metadata: {what}"));
    let root = rmpv::decode::read_value(&mut note).map_err(|_| damaged("not msgpack"))?;
    let Value::Map(_) = root else { return Err(damaged("not a map")) };
    let kernels = match get(&root, "amdhsa.kernels") {
        None => Vec::new(),
        Some(Value::Array(kernels)) => kernels.iter().map(kernel).collect::<Result<_, _>>()?,
        Some(_) => return Err(damaged("amdhsa.kernels is no list")),
    };
    let target = get(&root, "amdhsa.target").and_then(Value::as_str).unwrap_or_default();
    Ok(Metadata { target: target.to_owned(), kernels })
}

fn kernel(value: &Value) -> Result<Kernel, CodeObjectError> {
    let name = text(value, ".name")?;
    let within = |e: CodeObjectError| match e {
        CodeObjectError::Damaged { what } => {
            CodeObjectError::damaged(format!("kernel {name}: {what}"))
        }
        other => other,
    };
    let number = |key| required(value, key).map_err(within);
    let or_zero = |key| optional(value, key).map_err(within).map(Option::unwrap_or_default);
    let args = match get(value, ".args") {
        None => Vec::new(),
        Some(Value::Array(args)) => {
            args.iter().map(argument).collect::<Result<Vec<_>, _>>().map_err(within)?
        }
        Some(_) => return Err(within(CodeObjectError::damaged("metadata: .args is no list"))),
    };
    let kernarg_size = number(".kernarg_segment_size")?;
    let ends = args.iter().map(|a| a.offset.checked_add(a.size));
    if kernarg_size > MAX_KERNARG || ends.into_iter().any(|e| e.is_none_or(|e| e > kernarg_size)) {
        return Err(within(CodeObjectError::damaged(
            "metadata: arguments do not fit the kernarg segment",
        )));
    }
    if number(".wavefront_size")? != 64 {
        let what = format!("kernel {name} is not wave64");
        return Err(CodeObjectError::Unsupported { what });
    }
    let required_workgroup = match get(value, ".reqd_workgroup_size") {
        Some(Value::Array(size)) => {
            let size: Vec<_> =
                size.iter().filter_map(Value::as_u64).filter_map(|v| v.try_into().ok()).collect();
            Some(
                <[u32; 3]>::try_from(size).map_err(|_| {
                    within(CodeObjectError::damaged("metadata: .reqd_workgroup_size"))
                })?,
            )
        }
        _ => None,
    };
    let info = KernelInfo {
        args,
        kernarg_size,
        kernarg_align: number(".kernarg_segment_align")?,
        lds_size: number(".group_segment_fixed_size")?,
        private_size: number(".private_segment_fixed_size")?,
        dynamic_stack: get(value, ".uses_dynamic_stack").and_then(Value::as_bool).unwrap_or(false),
        vgpr_count: number(".vgpr_count")?,
        agpr_count: or_zero(".agpr_count")?,
        sgpr_count: number(".sgpr_count")?,
        vgpr_spills: or_zero(".vgpr_spill_count")?,
        sgpr_spills: or_zero(".sgpr_spill_count")?,
        max_workgroup: number(".max_flat_workgroup_size")?,
        required_workgroup,
        descriptor_addr: 0,
        entry: 0,
        descriptor: Descriptor::default(),
        name: name.clone(),
    };
    Ok(Kernel { info, symbol: text(value, ".symbol")? })
}

fn argument(value: &Value) -> Result<KernelArg, CodeObjectError> {
    let string = |key| get(value, key).and_then(Value::as_str).map(str::to_owned);
    Ok(KernelArg {
        name: string(".name"),
        offset: required(value, ".offset")?,
        size: required(value, ".size")?,
        kind: kind(&text(value, ".value_kind")?),
        address_space: string(".address_space"),
    })
}

fn kind(name: &str) -> ArgKind {
    let Some(hidden) = name.strip_prefix("hidden_") else {
        return match name {
            "by_value" => ArgKind::ByValue,
            "global_buffer" => ArgKind::GlobalBuffer,
            "dynamic_shared_pointer" => ArgKind::DynamicSharedPointer,
            other => ArgKind::Other(other.to_owned()),
        };
    };
    let dimension = |prefix: &str| match hidden.strip_prefix(prefix)? {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    };
    ArgKind::Hidden(match hidden {
        "grid_dims" => Hidden::GridDims,
        "dynamic_lds_size" => Hidden::DynamicLdsSize,
        "private_base" => Hidden::PrivateBase,
        "shared_base" => Hidden::SharedBase,
        "queue_ptr" => Hidden::QueuePtr,
        _ => None
            .or_else(|| dimension("block_count_").map(Hidden::BlockCount))
            .or_else(|| dimension("group_size_").map(Hidden::GroupSize))
            .or_else(|| dimension("remainder_").map(Hidden::Remainder))
            .or_else(|| dimension("global_offset_").map(Hidden::GlobalOffset))
            .unwrap_or(Hidden::Service),
    })
}

fn get<'a>(map: &'a Value, key: &str) -> Option<&'a Value> {
    map.as_map()?.iter().find(|(k, _)| k.as_str() == Some(key)).map(|(_, v)| v)
}

fn text(map: &Value, key: &str) -> Result<String, CodeObjectError> {
    get(map, key)
        .and_then(Value::as_str)
        .map(str::to_owned)
        .ok_or_else(|| CodeObjectError::damaged(format!("metadata: {key} is missing or no text")))
}

fn optional(map: &Value, key: &str) -> Result<Option<u32>, CodeObjectError> {
    get(map, key)
        .map(|v| {
            v.as_u64().and_then(|v| u32::try_from(v).ok()).ok_or_else(|| {
                CodeObjectError::damaged(format!("metadata: {key} is no number of 32 bits"))
            })
        })
        .transpose()
}

fn required(map: &Value, key: &str) -> Result<u32, CodeObjectError> {
    optional(map, key)?
        .ok_or_else(|| CodeObjectError::damaged(format!("metadata: {key} is missing")))
}
