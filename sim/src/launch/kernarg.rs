//! The kernarg segment and the dispatch packet, as the command processor would hand them over
//! (offsets of the hidden arguments come from the metadata).

use super::prepared::Dispatch;
use crate::code_object::{ArgKind, Hidden, KernelInfo};
use crate::memory::{PRIVATE_APERTURE, SHARED_APERTURE};

/// The kernarg segment: `explicit` at the start, hidden arguments filled in, the rest zero.
pub(super) fn segment(
    kernel: &KernelInfo,
    dispatch: &Dispatch,
    explicit: &[u8],
    queue: u64,
) -> Vec<u8> {
    let mut bytes = vec![0; kernel.kernarg_size as usize];
    let len = explicit.len().min(bytes.len());
    bytes[..len].copy_from_slice(&explicit[..len]);
    for arg in &kernel.args {
        let ArgKind::Hidden(hidden) = arg.kind else { continue };
        let value = hidden_value(hidden, dispatch, queue).to_le_bytes();
        let (at, size) = (arg.offset as usize, (arg.size as usize).min(8));
        if let Some(slot) = bytes.get_mut(at..at + size) {
            slot.copy_from_slice(&value[..size]);
        }
    }
    bytes
}

fn hidden_value(hidden: Hidden, dispatch: &Dispatch, queue: u64) -> u64 {
    match hidden {
        Hidden::BlockCount(d) => dispatch.groups[d].into(),
        Hidden::GroupSize(d) => dispatch.block[d].into(),
        // HIP launches whole workgroups.
        Hidden::Remainder(_) | Hidden::GlobalOffset(_) | Hidden::Service => 0,
        Hidden::GridDims => dispatch.dimensions().into(),
        Hidden::DynamicLdsSize => dispatch.dynamic_lds.into(),
        Hidden::PrivateBase => PRIVATE_APERTURE >> 32,
        Hidden::SharedBase => SHARED_APERTURE >> 32,
        Hidden::QueuePtr => queue,
    }
}

/// `hsa_kernel_dispatch_packet_t`.
pub(super) fn packet(
    dispatch: &Dispatch,
    private_size: u32,
    lds: u32,
    kernel_object: u64,
    kernarg: u64,
) -> [u8; 64] {
    /// Type kernel dispatch (2), acquire and release fences of system scope.
    const HEADER: u16 = 2 | 2 << 9 | 2 << 11;
    let mut bytes = [0; 64];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &HEADER.to_le_bytes());
    put(2, &dispatch.dimensions().to_le_bytes());
    for d in 0..3 {
        put(4 + 2 * d, &(dispatch.block[d] as u16).to_le_bytes());
        put(12 + 4 * d, &(dispatch.groups[d].wrapping_mul(dispatch.block[d])).to_le_bytes());
    }
    put(24, &private_size.to_le_bytes());
    put(28, &lds.to_le_bytes());
    put(32, &kernel_object.to_le_bytes());
    put(40, &kernarg.to_le_bytes());
    bytes
}

/// The part of `amd_queue_t` that device code reads: the aperture bases at 0x40 and 0x44.
pub(super) fn queue() -> [u8; 128] {
    let mut bytes = [0; 128];
    bytes[0x40..0x44].copy_from_slice(&((SHARED_APERTURE >> 32) as u32).to_le_bytes());
    bytes[0x44..0x48].copy_from_slice(&((PRIVATE_APERTURE >> 32) as u32).to_le_bytes());
    bytes
}
