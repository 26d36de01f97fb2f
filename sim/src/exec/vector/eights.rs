//! Operations that host vectors compute as they are. Their results are written straight to the
//! destination even where that is one of the sources, as in most accumulations.
//!
//! Goes in: an instruction. Comes out: the handler for the plain case (see [`super::plain`]), if its
//! operation is one of these; it computes the same bits as the general kernel.

use std::arch::x86_64::*;

use super::place::{Overlap, Place};
use super::plain::Tables;
use super::{Code, Ctx, Flow, Handler, Step, Wave, execute_any, prepare_wide};
use crate::exec::host;
use crate::isa::{Inst, Op};

/// The handler of the operation `op`, if it is one of these.
pub(super) fn handler(op: Op) -> Option<Handler> {
    macro_rules! table {
        ($($($op:ident)|+ => $compute:expr,)*) => {
            match op {
                $($(Op::$op)|+ => {
                    #[target_feature(enable = "avx2,fma")]
                    fn eights(
                        wave: &mut Wave,
                        ctx: &mut Ctx<'_>,
                        inst: &Inst,
                        code: &Code,
                    ) -> Step {
                        run(wave, ctx, inst, code, $compute)
                    }
                    eights as Handler
                })*
                _ => return None,
            }
        };
    }
    if !host::wide() {
        return None;
    }
    Some(table! {
        VMaxI32 => |[a, b, _]| _mm256_max_epi32(a, b),
        VMinI32 => |[a, b, _]| _mm256_min_epi32(a, b),
        VMaxU32 => |[a, b, _]| _mm256_max_epu32(a, b),
        VMinU32 => |[a, b, _]| _mm256_min_epu32(a, b),
        VAndB32 => |[a, b, _]| _mm256_and_si256(a, b),
        VOrB32 => |[a, b, _]| _mm256_or_si256(a, b),
        VXorB32 => |[a, b, _]| _mm256_xor_si256(a, b),
        VAddU32 | VAddI32 => |[a, b, _]| _mm256_add_epi32(a, b),
        VSubU32 | VSubI32 => |[a, b, _]| _mm256_sub_epi32(a, b),
        VLshlrevB32 => |[a, b, _]| _mm256_sllv_epi32(b, low_five(a)),
        VLshrrevB32 => |[a, b, _]| _mm256_srlv_epi32(b, low_five(a)),
        VAshrrevI32 => |[a, b, _]| _mm256_srav_epi32(b, low_five(a)),
        VLshlOrB32 => |[a, b, c]| _mm256_or_si256(_mm256_sllv_epi32(a, low_five(b)), c),
        VLshlAddU32 => |[a, b, c]| _mm256_add_epi32(_mm256_sllv_epi32(a, low_five(b)), c),
        VAndOrB32 => |[a, b, c]| _mm256_or_si256(_mm256_and_si256(a, b), c),
        VOr3B32 => |[a, b, c]| _mm256_or_si256(_mm256_or_si256(a, b), c),
        VAdd3U32 => |[a, b, c]| _mm256_add_epi32(_mm256_add_epi32(a, b), c),
        VPkMaxU16 => |[a, b, _]| _mm256_max_epu16(a, b),
        VAddF32 | VPkAddF32 => |[a, b, _]| words(_mm256_add_ps(floats(a), floats(b))),
        VMulF32 | VPkMulF32 => |[a, b, _]| words(_mm256_mul_ps(floats(a), floats(b))),
        VFmaF32 | VFmacF32 | VPkFmaF32 => |[a, b, c]| {
            words(_mm256_fmadd_ps(floats(a), floats(b), floats(c)))
        },
    })
}

/// The amounts of a shift.
#[target_feature(enable = "avx2")]
#[inline]
fn low_five(x: __m256i) -> __m256i {
    _mm256_and_si256(x, _mm256_set1_epi32(31))
}

#[target_feature(enable = "avx2")]
#[inline]
fn floats(x: __m256i) -> __m256 {
    _mm256_castsi256_ps(x)
}

#[target_feature(enable = "avx2")]
#[inline]
fn words(x: __m256) -> __m256i {
    _mm256_castps_si256(x)
}

/// Executes an instruction that computes `compute` of eight lanes of up to three sources. Where a
/// destination of two registers lies over a source in another way, it is left to the general path.
#[inline(always)]
fn run(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    code: &Code,
    compute: impl Fn([__m256i; 3]) -> __m256i,
) -> Step {
    let places = &code.places;
    let usual = wave.mode & places.mode_mask == places.mode_usual;
    if wave.exec() != u64::MAX || !usual || places.overlap == Overlap::Crossed {
        return execute_any(wave, ctx, inst, code);
    }
    if places.absent | places.scalars != 0 {
        // SAFETY: this handler is only made where the host has what it is compiled for.
        unsafe { prepare_wide(wave, inst, code)? };
    }
    let Some(tables) = Tables::new(wave, ctx, places) else {
        return execute_any(wave, ctx, inst, code);
    };
    let target = tables.at(places.target);
    for half in 0..1 + usize::from(places.wide) {
        let at = |places: &[Place; 2]| tables.at(places[half]).cast::<__m256i>().cast_const();
        let [a, b, c] = [at(&places.sources[0]), at(&places.sources[1]), at(&places.sources[2])];
        let target = target.wrapping_add(half).cast::<__m256i>();
        for eight in 0..8 {
            // SAFETY: eight times eight lanes of registers that there are, none of which is borrowed.
            // Lanes of a source that is the target are read before they are written.
            unsafe {
                let [a, b, c] = [a.add(eight).read(), b.add(eight).read(), c.add(eight).read()];
                target.add(eight).write(compute([a, b, c]));
            }
        }
    }
    Ok(Flow::Next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::testing::{random, wave};
    use crate::exec::{MemAccess, Program};
    use crate::isa::{Arch, Enc, Mods, Operand, Ty, op};
    use crate::memory::AddressSpace;

    /// Operands, and which halves of the pairs among them are taken.
    const OPERANDS: [([Operand; 3], [u8; 2]); 6] = {
        use Operand::{Float, Sgpr, Vgpr};
        [
            ([Vgpr(0), Vgpr(2), Vgpr(4)], [0, 7]),
            ([Vgpr(0), Vgpr(2), Vgpr(4)], [1, 6]),
            ([Vgpr(0), Vgpr(2), Vgpr(4)], [6, 7]),
            ([Vgpr(0), Vgpr(0), Vgpr(0)], [2, 5]),
            ([Sgpr(4), Vgpr(2), Sgpr(4)], [0, 7]),
            ([Float(242), Vgpr(2), Vgpr(4)], [0, 7]),
        ]
    };

    /// Every operation, with its destination apart from its sources, over each of them, and, if it is two
    /// registers, over them in another way, against the general path, which a disabled lane leads to.
    #[test]
    fn results_are_those_of_the_general_path_wherever_they_go() {
        if !host::wide() {
            return;
        }
        let mut random = random(11);
        // Finite floats of like size, so that sums and products round.
        let mut float = || 0x3f00_0000 | random() as u32 & 0x80ff_ffff;
        let mut tested = 0;
        for &op in op::ALL.iter().filter(|op| handler(**op).is_some()) {
            let wide = op.info().dst == Ty::PkF32;
            for (target, (src, halves)) in
                [20, 0, 2, 4, 1, 3].into_iter().flat_map(|target| OPERANDS.map(|o| (target, o)))
            {
                let [op_sel, op_sel_hi] = if wide { halves } else { [0; 2] };
                let inst = Inst {
                    op,
                    enc: if wide { Enc::Vop3p } else { Enc::Vop3 },
                    size: 8,
                    dst: Operand::Vgpr(target),
                    sdst: Operand::None,
                    src,
                    imm: 0,
                    mods: Mods { op_sel, op_sel_hi, ..Mods::default() },
                    scale: None,
                };
                let program = Program::new(Arch::Gfx950, 0, 8, [(0, inst)]);
                let mut eights = wave();
                eights.sgpr[4..6].fill_with(&mut float);
                for reg in &mut eights.vgpr[..6] {
                    reg.0.fill_with(&mut float);
                }
                let mut general = eights.clone();
                let mem = AddressSpace::new(0);
                for (wave, exec) in [(&mut eights, u64::MAX), (&mut general, u64::MAX >> 1)] {
                    wave.set_exec(exec);
                    let access = MemAccess::default();
                    let mut ctx =
                        Ctx { program: &program, mem: &mem, lds: &mut [], access, clock: 0 };
                    crate::exec::step(wave, &mut ctx).unwrap();
                }
                for (reg, (a, b)) in eights.vgpr.iter().zip(&general.vgpr).enumerate().take(24) {
                    assert_eq!(a.0[..63], b.0[..63], "v{reg} of {inst:?}");
                }
                tested += 1;
            }
        }
        assert_eq!(tested, 36 * 27);
    }
}
