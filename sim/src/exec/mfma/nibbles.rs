//! fp4 times fp4 in integers. Twice an fp4 value is a small integer, so the products of a block of 32
//! fit 16 bits, and bytes multiply several times faster than f32.
//!
//! Goes in: the packed operands and their block scales. Comes out: the same bits as from the f32
//! kernel, which is why it is used only where no sum can round: from zero, with scales that lie
//! close together ([`Scaled::exact`]).

use std::arch::x86_64::*;

use super::kernel::avx::accumulator;
use super::scale::Scales;
use super::{Elem, Plan, execute_as, unimplemented};
use crate::exec::formats::Format;
use crate::exec::operand::{scalar32, vector_index};
use crate::exec::program::{Code, Unit};
use crate::exec::step::Step;
use crate::exec::{Ctx, Flow, Lanes, WAVE, Wave, host};
use crate::isa::{Inst, Operand};

/// Registers of an operand: 32 values of 4 bits in each lane.
const REGISTERS: usize = 4;
/// The largest difference of two products' exponents. 128 products of up to 36 are below 2^13, in
/// steps of a quarter; 24 bits of mantissa leave room for this much.
const SPREAD: i32 = 9;
/// Most that the exponent of a scale product may be, either way: far from the ends of f32.
const REACH: i32 = 90;

/// Twice the value of each code.
const DOUBLED: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];
/// Added to A's values so that they are not negative.
const OFFSET: i8 = 12;
/// [`DOUBLED`] plus [`OFFSET`].
const SHIFTED: [i8; 16] = {
    let mut values = DOUBLED;
    let mut code = 0;
    while code < values.len() {
        values[code] += OFFSET;
        code += 1;
    }
    values
};

/// Elements of a panel for A: the values of each register's even and odd nibbles as bytes, plus
/// [`OFFSET`].
pub(super) const LEFT: usize = 2 * REGISTERS * WAVE;
/// Elements of a panel for B: for each eight lanes what the offset of A adds, negated, then the values
/// of each register's even and odd nibbles as bytes.
pub(super) const RIGHT: usize = (1 + 2 * REGISTERS) * WAVE;
/// Vectors of B for eight lanes.
const VECTORS: usize = 1 + 2 * REGISTERS;

/// Whether the operation may be one for this module.
pub(super) fn suits(inst: &Inst, plan: &Plan) -> bool {
    use super::shape::Data::Float;
    plan.shape.a == Elem::Mx
        && plan.data == [Float(Format::Fp4); 2]
        && inst.scale.is_some()
        && host::wide()
}

/// Executes an operation that [`suits`].
#[target_feature(enable = "avx2,fma")]
pub(super) fn execute<const M: usize>(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    code: &Code,
) -> Step {
    let Unit::Matrix(plan) = &code.unit else { return Err(unimplemented(inst, "").into()) };
    let len = M * M / WAVE;
    let a = vector_index(wave, inst.src[0], REGISTERS)?;
    let b = vector_index(wave, inst.src[1], REGISTERS)?;
    let d = vector_index(wave, inst.dst, len)?;
    let from_zero = !matches!(inst.src[2], Operand::Vgpr(_) | Operand::Agpr(_))
        && scalar32(wave, inst.src[2]) == 0;
    let (Some(operands), true) = (&inst.scale, from_zero) else {
        return general(plan, wave, inst);
    };
    let rows = Scaled::new(Scales::locate(wave, operands, 0)?, &wave.vgpr);
    let columns = Scaled::new(Scales::locate(wave, operands, 1)?, &wave.vgpr);
    if !Scaled::exact(&rows, &columns) {
        return general(plan, wave, inst);
    }
    let Wave { vgpr, panels, .. } = wave;
    let slots = &ctx.program.slots;
    let left =
        panels.panel(slots, plan.slots[0], 0, LEFT, |to| unpack_left(&vgpr[a..a + REGISTERS], to));
    let right = panels
        .panel(slots, plan.slots[1], 1, RIGHT, |to| unpack_right(&vgpr[b..b + REGISTERS], to));
    let all = panels.all();
    let (left, right) = (&all[left..left + LEFT], &all[right..right + RIGHT]);
    // SAFETY: the panels and D have their lengths.
    unsafe { multiply::<M>(&mut vgpr[d..d + len], left, right, &rows.factors, &columns.factors) };
    Ok(Flow::Next)
}

/// The operation in f32.
#[cold]
#[inline(never)]
fn general(plan: &Plan, wave: &mut Wave, inst: &Inst) -> Step {
    execute_as(plan, wave, inst)?;
    Ok(Flow::Next)
}

/// The block scales of an operand.
struct Scaled {
    /// What they stand for, except for those at either end.
    factors: [f32; WAVE],
    least: i32,
    most: i32,
}

impl Scaled {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn new(scales: Scales, vgpr: &[Lanes]) -> Self {
        let mut factors = [0.0; WAVE];
        let shift = _mm_cvtsi32_si128(8 * scales.byte as i32);
        let (mut least, mut most) = (_mm256_set1_epi32(255), _mm256_setzero_si256());
        for at in (0..WAVE).step_by(8) {
            let words = match scales.register {
                Some(register) => eight(&vgpr[register], at),
                None => _mm256_set1_epi32(scales.constant as i32),
            };
            let codes = _mm256_and_si256(_mm256_srl_epi32(words, shift), _mm256_set1_epi32(255));
            (least, most) = (_mm256_min_epi32(least, codes), _mm256_max_epi32(most, codes));
            put(&mut factors, at, _mm256_slli_epi32::<23>(codes));
        }
        let (mut all_least, mut all_most) = ([0; 8], [0; 8]);
        // SAFETY: eight dwords each.
        unsafe {
            _mm256_storeu_si256(all_least.as_mut_ptr().cast(), least);
            _mm256_storeu_si256(all_most.as_mut_ptr().cast(), most);
        }
        Scaled {
            factors,
            least: all_least.into_iter().fold(255, i32::min),
            most: all_most.into_iter().fold(0, i32::max),
        }
    }

    /// Whether every sum of products under these scales is exact in f32, in whatever order. The codes at
    /// either end, whose factors are not what they stand for, do not count as such.
    fn exact(a: &Scaled, b: &Scaled) -> bool {
        let (least, most) = (a.least + b.least - 2 * 127, a.most + b.most - 2 * 127);
        let ends = [a, b].iter().any(|side| side.least == 0 || side.most == 255);
        !ends && most - least <= SPREAD && least >= -REACH && most <= REACH
    }
}

/// The values of a register's even and odd nibbles.
#[target_feature(enable = "avx2")]
#[inline]
fn values(word: __m256i, table: __m256i) -> [__m256i; 2] {
    let nibble = _mm256_set1_epi8(15);
    let odd = _mm256_and_si256(_mm256_srli_epi16::<4>(word), nibble);
    let even = _mm256_and_si256(word, nibble);
    [_mm256_shuffle_epi8(table, even), _mm256_shuffle_epi8(table, odd)]
}

/// A value for each code, for [`values`].
#[target_feature(enable = "avx2")]
#[inline]
fn table(values: &[i8; 16]) -> __m256i {
    // SAFETY: the table has 16 bytes.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(values.as_ptr().cast())) }
}

/// Eight lanes of a register.
#[target_feature(enable = "avx2")]
#[inline]
fn eight(reg: &Lanes, at: usize) -> __m256i {
    let words: &[u32; 8] = reg.0[at..].first_chunk().unwrap_or(&[0; 8]);
    // SAFETY: eight dwords.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

/// Writes eight elements of a panel.
#[target_feature(enable = "avx2")]
#[inline]
fn put(to: &mut [f32], at: usize, value: __m256i) {
    if let Some(to) = to.get_mut(at..at + 8) {
        // SAFETY: eight elements.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), value) }
    }
}

/// Unpacks A.
#[target_feature(enable = "avx2")]
fn unpack_left(regs: &[Lanes], to: &mut [f32]) {
    let table = table(&SHIFTED);
    for (reg, to) in regs.iter().zip(to.chunks_exact_mut(2 * WAVE)) {
        for at in (0..WAVE).step_by(8) {
            let [even, odd] = values(eight(reg, at), table);
            put(to, at, even);
            put(to, WAVE + at, odd);
        }
    }
}

/// Unpacks B.
#[target_feature(enable = "avx2")]
fn unpack_right(regs: &[Lanes], to: &mut [f32]) {
    let table = table(&DOUBLED);
    for (at, to) in (0..WAVE).step_by(8).zip(to.chunks_exact_mut(8 * VECTORS)) {
        let mut start = _mm256_setzero_si256();
        for (reg, n) in regs.iter().zip((1..).step_by(2)) {
            let pair = values(eight(reg, at), table);
            for (value, n) in pair.into_iter().zip(n..) {
                let extra = _mm256_maddubs_epi16(_mm256_set1_epi8(OFFSET), value);
                start = _mm256_sub_epi16(start, extra);
                put(to, 8 * n, value);
            }
        }
        put(to, 0, start);
    }
}

/// Sets the accumulators `acc` of an `M` x `M` operation to the product of the panels, whose lanes have
/// the scales `rows` and `columns`.
///
/// # Safety
/// The CPU has AVX2 and FMA; there are `M * M / 64` accumulators and [`LEFT`] and [`RIGHT`] elements.
#[target_feature(enable = "avx2,fma")]
unsafe fn multiply<const M: usize>(
    acc: &mut [Lanes],
    left: &[f32],
    right: &[f32],
    rows: &[f32; WAVE],
    columns: &[f32; WAVE],
) {
    let acc = acc.as_mut_ptr().cast::<f32>();
    for first in (0..WAVE).step_by(M) {
        for column in (0..M).step_by(16) {
            let right = right.as_ptr().wrapping_add((first + column) * VECTORS).cast();
            // The values are doubled on both sides.
            let quarter = _mm256_set1_ps(0.25);
            // SAFETY: 16 of the 64 columns.
            let columns = unsafe {
                let columns = columns.as_ptr().add(first + column);
                let halves = [_mm256_loadu_ps(columns), _mm256_loadu_ps(columns.add(8))];
                [_mm256_mul_ps(halves[0], quarter), _mm256_mul_ps(halves[1], quarter)]
            };
            for row in (0..M).step_by(2) {
                let left = left.as_ptr().wrapping_add(first + row).cast();
                // SAFETY: two lanes of A, and 16 of B.
                let sums = unsafe { products(left, right) };
                for (row, sums) in (row..).zip(sums) {
                    let scale = _mm256_set1_ps(rows[first + row]);
                    let to =
                        acc.wrapping_add(row / 16 * 16 * M + accumulator::<M>(row % 16) + column);
                    for (half, sum) in sums.into_iter().enumerate() {
                        // SAFETY: eight columns of a row.
                        unsafe {
                            let to = to.add(8 * half);
                            // From zero, as long as this is the first group of k.
                            let before =
                                if first == 0 { _mm256_setzero_ps() } else { _mm256_loadu_ps(to) };
                            let scale = _mm256_mul_ps(columns[half], scale);
                            _mm256_storeu_ps(to, _mm256_fmadd_ps(sum, scale, before));
                        }
                    }
                }
            }
        }
    }
}

/// Four times the products of two lanes of A and 16 of B, summed over the 32 values of a lane.
///
/// # Safety
/// The CPU has AVX2; `left` points to the first of two lanes of the panel of A, `right` to the first of
/// twice [`VECTORS`] of that of B.
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn products(left: *const i32, right: *const __m256i) -> [[__m256; 2]; 2] {
    let ones = _mm256_set1_epi16(1);
    // SAFETY: by contract.
    unsafe {
        let start = [_mm256_loadu_si256(right), _mm256_loadu_si256(right.add(VECTORS))];
        let mut sums = [start; 2];
        for n in 0..2 * REGISTERS {
            let right = right.add(1 + n);
            let right = [_mm256_loadu_si256(right), _mm256_loadu_si256(right.add(VECTORS))];
            for (lane, sums) in sums.iter_mut().enumerate() {
                let row = _mm256_set1_epi32(left.add(n * WAVE + lane).read());
                for (sum, right) in sums.iter_mut().zip(right) {
                    *sum = _mm256_add_epi16(*sum, _mm256_maddubs_epi16(row, right));
                }
            }
        }
        let mut floats = [[_mm256_setzero_ps(); 2]; 2];
        for (floats, sums) in floats.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
            *floats = _mm256_cvtepi32_ps(_mm256_madd_epi16(*sums, ones));
        }
        floats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::mfma::{Job, Way, run};
    use crate::exec::testing::random;
    use crate::exec::{self, MemAccess, Program};
    use crate::isa::{Arch, Enc, Mods, Op, ScaleOperands};
    use crate::memory::AddressSpace;

    fn inst(op: Op) -> Inst {
        Inst {
            op,
            enc: Enc::MaiScale,
            size: 16,
            dst: Operand::Vgpr(32),
            sdst: Operand::None,
            src: [Operand::Vgpr(0), Operand::Vgpr(4), Operand::Int(0)],
            imm: 0,
            mods: Mods { cbsz: 4, blgp: 4, ..Mods::default() },
            scale: Some(ScaleOperands {
                src: [Operand::Vgpr(8), Operand::Vgpr(9)],
                op_sel: 0,
                op_sel_hi: 0,
            }),
        }
    }

    /// Scales up to 2^4 apart on each side take the integer path, others the f32 one.
    #[test]
    fn integers_give_the_bits_that_f32_gives() {
        if !host::wide() {
            return;
        }
        let mut random = random(7);
        for op in [Op::VMfmaScaleF3216x16x128F8f6f4, Op::VMfmaScaleF3232x32x64F8f6f4] {
            for range in [1, 5, 5, 5, 40] {
                let mut wave = Wave::new(64, 0, 0);
                for reg in &mut wave.vgpr[..8] {
                    reg.0.fill_with(|| random() as u32);
                }
                for reg in &mut wave.vgpr[8..10] {
                    reg.0.fill_with(|| 110 + random() as u32 % range);
                }
                let inst = inst(op);
                let scales = inst.scale.unwrap();
                // SAFETY: the host has AVX2.
                let [a, b] = [0, 1].map(|side| unsafe {
                    Scaled::new(Scales::locate(&wave, &scales, side).unwrap(), &wave.vgpr)
                });
                assert_eq!(Scaled::exact(&a, &b), range <= 5);
                let mut other = wave.clone();
                let program = Program::new(Arch::Gfx950, 0, 16, [(0, inst)]);
                let plan = Plan::new(&program.insts[0], Arch::Gfx950).unwrap();
                assert_eq!(plan.way, Way::Nibbles);
                let job = Job::new(&wave, &program.insts[0], &plan).unwrap();
                run::<false>(&mut other, &program.insts[0], &job);
                let mem = AddressSpace::new(0);
                let access = MemAccess::default();
                let mut ctx = Ctx { program: &program, mem: &mem, lds: &mut [], access, clock: 0 };
                exec::run(&mut wave, &mut ctx, 1).unwrap();
                assert_eq!(wave.vgpr, other.vgpr, "{op:?}");
            }
        }
    }
}
