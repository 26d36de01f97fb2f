//! Sub-dword addressing: bytes and words of registers as operands.
//!
//! Goes in: a selection and a register. Comes out: the selected part, extended to 32 bits; or a
//! result placed into part of the destination.

use crate::exec::{Lanes, WAVE};
use crate::isa::{Sdwa, SdwaSel};

/// Shift and width of a selection.
fn field(sel: SdwaSel) -> (u32, u32) {
    match sel {
        SdwaSel::Byte0 => (0, 8),
        SdwaSel::Byte1 => (8, 8),
        SdwaSel::Byte2 => (16, 8),
        SdwaSel::Byte3 => (24, 8),
        SdwaSel::Word0 => (0, 16),
        SdwaSel::Word1 => (16, 16),
        SdwaSel::Dword => (0, 32),
    }
}

/// Replaces each lane by the selected part of it.
pub(super) fn select(sel: SdwaSel, sext: bool, lanes: &mut Lanes) {
    let (shift, width) = field(sel);
    for lane in &mut lanes.0 {
        let top = *lane << (32 - shift - width);
        *lane = if sext { ((top as i32) >> (32 - width)) as u32 } else { top >> (32 - width) };
    }
}

/// Moves results into the selected part of the destination, whose previous value is `old`.
pub(super) fn place(sdwa: &Sdwa, result: &mut Lanes, old: &Lanes) {
    let (shift, width) = field(sdwa.dst_sel);
    if width == 32 {
        return;
    }
    let mask = ((1_u32 << width) - 1) << shift;
    for i in 0..WAVE {
        let part = result.0[i] << shift & mask;
        let negative = result.0[i] >> (width - 1) & 1 == 1;
        let above = if shift + width == 32 { 0 } else { u32::MAX << (shift + width) };
        result.0[i] = match sdwa.dst_unused {
            1 if negative => part | above,
            2 => part | old.0[i] & !mask,
            _ => part,
        };
    }
}
