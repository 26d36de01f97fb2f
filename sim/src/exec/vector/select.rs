//! `v_cndmask_b32` as kernels mostly use it: all lanes enabled, operands as they are.
//!
//! Goes in: an instruction with its plan. Comes out: a handler that takes the lane mask as it is instead of
//! spreading it over a register first, if the instruction is such a one.

use std::arch::x86_64::*;

use super::plain::Tables;
use super::{Code, Ctx, Flow, Handler, Plan, Step, Wave, execute_any, prepare_scalars};
use crate::exec::host;
use crate::exec::operand::scalar;
use crate::isa::{Inst, Op, Ty};

/// The handler of `inst`, if it is one of these.
pub(super) fn handler(inst: &Inst, plan: &Plan) -> Option<Handler> {
    let suits = inst.op == Op::VCndmaskB32 && !plan.modified && host::wide();
    suits.then_some(execute as Handler)
}

/// The bit in [`super::Places`] of the mask, which is never there beforehand.
const MASK: u8 = 1 << 2;

#[target_feature(enable = "avx2,fma")]
fn execute(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst, code: &Code) -> Step {
    let places = &code.places;
    let usual = wave.mode & places.mode_mask == places.mode_usual;
    if wave.exec() != u64::MAX || !usual || places.absent != MASK {
        return execute_any(wave, ctx, inst, code);
    }
    prepare_scalars(wave, places);
    let Some(tables) = Tables::new(wave, ctx, places) else {
        return execute_any(wave, ctx, inst, code);
    };
    let mask = scalar(wave, inst.src[2], Ty::Mask);
    let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    let target = tables.at(places.target).cast::<__m256i>();
    let [a, b] = [0, 1].map(|i| tables.at(places.sources[i][0]).cast::<__m256i>());
    for (eight, byte) in mask.to_le_bytes().into_iter().enumerate() {
        let byte = _mm256_and_si256(_mm256_set1_epi32(byte.into()), bits);
        let chosen = _mm256_cmpeq_epi32(byte, bits);
        // SAFETY: eight times eight lanes of registers that there are. The target may be one of the
        // sources: each lane is read before it is written.
        unsafe {
            let [a, b] = [a.add(eight).read(), b.add(eight).read()];
            target.add(eight).write(_mm256_blendv_epi8(a, b, chosen));
        }
    }
    Ok(Flow::Next)
}

#[cfg(test)]
mod tests {
    use crate::exec::testing::{program, wave};
    use crate::exec::{Ctx, Lanes, MemAccess, run};
    use crate::isa::{Arch, reg};
    use crate::memory::AddressSpace;

    #[test]
    fn each_bit_of_the_mask_picks_for_its_lane() {
        // v_cndmask_b32_e32 v5, v0, v1, vcc
        // v_cndmask_b32_e64 v0, v0, 7, s[2:3]
        // v_cndmask_b32_e64 v6, v0, -v1, s[2:3]
        let words = [0x000a_0300, 0xd100_0000, 0x0009_0f00, 0xd100_0006, 0x400a_0300];
        let program = program(Arch::Gfx950, &words);
        let mem = AddressSpace::new(0);
        for exec in [u64::MAX, 0xffff_ffff_0000_ffff] {
            let mut wave = wave();
            wave.set_exec(exec);
            wave.vgpr[0] = Lanes(std::array::from_fn(|lane| lane as u32));
            wave.vgpr[1] = Lanes(std::array::from_fn(|lane| 100 + lane as u32));
            wave.vgpr[5] = Lanes([7; 64]);
            let (vcc, mask) = (0x8000_0f0f_1234_0001_u64, 0x0123_4567_89ab_cdef_u64);
            wave.set_sgpr64(reg::VCC, vcc);
            wave.set_sgpr64(2, mask);
            let access = MemAccess::default();
            let mut ctx = Ctx { program: &program, mem: &mem, lds: &mut [], access, clock: 0 };
            run(&mut wave, &mut ctx, 3).unwrap();
            for lane in 0..64_usize {
                let enabled = exec >> lane & 1 == 1;
                let pick =
                    |bits: u64, yes: u32, no: u32| if bits >> lane & 1 == 1 { yes } else { no };
                let v0 = if enabled { pick(mask, 7, lane as u32) } else { lane as u32 };
                let v5 = if enabled { pick(vcc, 100 + lane as u32, lane as u32) } else { 7 };
                assert_eq!([wave.vgpr[0].0[lane], wave.vgpr[5].0[lane]], [v0, v5], "lane {lane}");
                let negated = (100 + lane as u32) | 1 << 31;
                let v6 = if enabled { pick(mask, negated, v0) } else { 0 };
                assert_eq!(wave.vgpr[6].0[lane], v6, "lane {lane}");
            }
        }
    }
}
