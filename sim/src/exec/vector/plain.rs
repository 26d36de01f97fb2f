//! The fast path: all lanes enabled, the usual mode, results that fill registers.
//!
//! Goes in: an instruction whose operands have known places, and the kernel of its operation. Comes
//! out: a handler with the kernel compiled into it.

use super::kernel::Sources;
use super::lane::Out;
use super::place::{Overlap, Place, Places};
use super::{Code, Ctx, Flow, Step, Wave, execute_any, prepare_wide};
use crate::exec::Lanes;
use crate::isa::Inst;

/// Where places are, for a wave and a program.
pub(super) struct Tables([*mut Lanes; 4]);

impl Tables {
    /// The tables of `wave`, or `None` if it has fewer registers than `places` name.
    #[inline(always)]
    pub(super) fn new(wave: &mut Wave, ctx: &Ctx<'_>, places: &Places) -> Option<Self> {
        let (arch, acc) = (wave.acc_base, wave.vgpr.len() - wave.acc_base);
        if usize::from(places.arch) > arch || usize::from(places.acc) > acc {
            return None;
        }
        let registers = wave.vgpr.as_mut_ptr();
        Some(Tables([
            registers,
            registers.wrapping_add(arch),
            ctx.program.constants.as_ptr().cast_mut(),
            (&raw mut wave.lanes.registers).cast(),
        ]))
    }

    /// The register at `place`, which is of the places that the tables were made for.
    #[inline(always)]
    pub(super) fn at(&self, place: Place) -> *mut Lanes {
        self.0[place.table()].wrapping_add(place.index())
    }

    /// The registers of all sources.
    ///
    /// # Safety
    /// Nothing writes to them while they are in use.
    #[inline(always)]
    pub(super) unsafe fn sources<'a>(&self, places: &Places) -> Sources<'a> {
        let [a, b, c] = places.sources;
        let scratch = |index: usize| self.0[3].wrapping_add(index);
        // SAFETY: registers are as many as the places need, constants are the program's, and each
        // source has two scratch registers, of which the last are those of the fourth.
        unsafe {
            let source = |[lo, hi]: [Place; 2]| [&*self.at(lo), &*self.at(hi)];
            [source(a), source(b), source(c), [&*scratch(6), &*scratch(7)]]
        }
    }
}

/// Executes an instruction with this kernel.
#[inline(always)]
pub(super) fn run(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    code: &Code,
    kernel: impl FnOnce(&Sources<'_>, &mut Out<'_>, u32),
) -> Step {
    let places = &code.places;
    if wave.exec() != u64::MAX || wave.mode & places.mode_mask != places.mode_usual {
        return execute_any(wave, ctx, inst, code);
    }
    if places.absent | places.scalars != 0 {
        // SAFETY: a plain handler runs only on hosts that have what it is compiled for.
        unsafe { prepare_wide(wave, inst, code)? };
    }
    let Some(tables) = Tables::new(wave, ctx, places) else {
        return execute_any(wave, ctx, inst, code);
    };
    let argument = places.table.map_or(wave.mode, u32::from);
    let target = tables.at(places.target);
    let [lo, hi, flag] = &mut wave.lanes.results;
    // SAFETY: the results go to scratch registers, or to a register or two that no source is in.
    unsafe {
        let sources = tables.sources(places);
        let (mut to_lo, mut to_hi) = (&raw mut *lo, &raw mut *hi);
        let apart = places.overlap == Overlap::Apart;
        if apart {
            to_lo = target;
            if places.wide {
                to_hi = target.wrapping_add(1);
            }
        }
        kernel(&sources, &mut Out { lo: &mut *to_lo, hi: &mut *to_hi, flag }, argument);
        if !apart {
            *target = *to_lo;
            if places.wide {
                *target.wrapping_add(1) = *to_hi;
            }
        }
    }
    Ok(Flow::Next)
}
