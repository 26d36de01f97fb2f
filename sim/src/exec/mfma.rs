//! Matrix operations: `v_mfma_*`, the scaled `v_mfma_scale_*` and the sparse `v_smfmac_*`.
//!
//! Goes in: a wave whose registers hold A, B and C spread over the lanes. Comes out: the same wave
//! with D. EXEC does not matter. Element layouts are those that AMD's matrix instruction calculator
//! prints for CDNA3; CDNA4's doubled shapes follow the same rules, and the layout of f8f6f4 and of
//! its scales is the one that composable_kernel's hardware experiments found. Products accumulate
//! in f32 (f64, wrapping i32) in the order of k; subnormals are kept, as on CDNA3 and later.

#[cfg(target_arch = "x86_64")]
mod direct;
mod double;
mod kept;
mod kernel;
#[cfg(target_arch = "x86_64")]
mod nibbles;
mod panel;
mod plan;
mod scale;
mod shape;
#[cfg(target_arch = "x86_64")]
pub(super) mod slots;
mod small;
mod sparse;
#[cfg(test)]
mod tests;

pub(super) use self::kept::Kept;
use self::kept::Key;
use self::panel::{Layout, blgp_source};
pub(super) use self::plan::Plan;
#[cfg(target_arch = "x86_64")]
use self::plan::Way;
use self::plan::layout;
use self::scale::{Factors, Scales};
use self::shape::{Data, Elem, Shape};
use super::formats::Format;
#[cfg(target_arch = "x86_64")]
use super::host;
use super::operand::{scalar32, vector_index};
use super::{Ctx, Lanes, WAVE, Wave};
use crate::fault::FaultKind;
use crate::isa::{Inst, Operand};

/// Executes a matrix operation.
pub(super) fn execute(wave: &mut Wave, ctx: &Ctx<'_>, inst: &Inst) -> Result<(), FaultKind> {
    execute_as(&Plan::new(inst, ctx.program.arch)?, wave, inst)
}

/// Executes a matrix operation whose plan is `plan`.
pub(super) fn execute_as(plan: &Plan, wave: &mut Wave, inst: &Inst) -> Result<(), FaultKind> {
    if plan.shape.a == Elem::F64 {
        return double::execute(wave, inst, &plan.shape);
    }
    let job = Job::new(wave, inst, plan)?;
    if plan.shape.sparse {
        return sparse::execute(wave, inst, &job);
    }
    #[cfg(target_arch = "x86_64")]
    if host::wide() {
        // SAFETY: the host has AVX2 and FMA.
        unsafe { run_avx(wave, inst, &job) };
        return Ok(());
    }
    run::<false>(wave, inst, &job);
    Ok(())
}

#[cold]
fn unimplemented(inst: &Inst, what: &str) -> FaultKind {
    FaultKind::Unimplemented { text: format!("{}{what}", inst.op.info().name) }
}

/// A matrix operation with its operands located and checked.
struct Job {
    shape: Shape,
    /// Formats of A and B.
    data: [Data; 2],
    /// First register and number of registers of A and B.
    src: [(usize, usize); 2],
    /// First register of D, and number of registers of C and D.
    dst: usize,
    dst_len: usize,
    /// Where C comes from.
    c: Init,
    /// Block scales of A and B.
    scales: [Option<Scales>; 2],
}

/// The initial value of the accumulators.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Init {
    /// Registers from this index on.
    Registers(usize),
    /// The same value everywhere.
    Constant(u32),
}

impl Job {
    fn new(wave: &Wave, inst: &Inst, plan: &Plan) -> Result<Self, FaultKind> {
        let Plan { shape, data, registers, .. } = *plan;
        let mut src = [(0, 0); 2];
        for (side, src) in src.iter_mut().enumerate() {
            *src = (vector_index(wave, inst.src[side], registers[side])?, registers[side]);
        }
        let dst_len = shape.m * shape.m * shape.blocks / WAVE;
        let dst = vector_index(wave, inst.dst, dst_len)?;
        let c = match inst.src[2] {
            _ if shape.sparse => Init::Registers(dst),
            c @ (Operand::Vgpr(_) | Operand::Agpr(_)) => {
                Init::Registers(vector_index(wave, c, dst_len)?)
            }
            c => Init::Constant(scalar32(wave, c)),
        };
        let mut scales = [None, None];
        if let Some(operands) = &inst.scale {
            for (side, scale) in scales.iter_mut().enumerate() {
                *scale = Some(Scales::locate(wave, operands, side)?);
            }
        }
        Ok(Job { shape, data, src, dst, dst_len, c, scales })
    }

    /// The registers of A (side 0) or B (side 1).
    fn regs<'a>(&self, vgpr: &'a [Lanes], side: usize) -> &'a [Lanes] {
        let (first, len) = self.src[side];
        vgpr.get(first..first + len).unwrap_or(&[])
    }

    /// Block of A that each block multiplies: with CBSZ, groups of `2^cbsz` blocks share the one
    /// that ABID picks.
    fn a_block(&self, inst: &Inst) -> impl Fn(usize) -> usize {
        let size = (1usize << inst.mods.cbsz.min(4)).min(self.shape.blocks);
        let chosen = usize::from(inst.mods.abid) % size;
        move |block| block / size * size + if size > 1 { chosen } else { 0 }
    }

    /// How a side becomes a panel.
    fn layout(&self, side: usize) -> Layout {
        layout(&self.shape, self.data[side])
    }

    /// Sets D to C and lets `multiply` add the f32 products.
    ///
    /// Products of bytes are summed in f32 too, apart from C: at most 128 of them stay below 2^21,
    /// so every sum is exact; they are added to C as wrapping integers.
    #[inline(always)]
    fn accumulate(&self, vgpr: &mut [Lanes], multiply: impl FnOnce(&mut [Lanes])) {
        let acc = self.accumulators(vgpr);
        if self.shape.a != Elem::I8 {
            return multiply(acc);
        }
        let mut sums = vec![Lanes::ZERO; self.dst_len];
        multiply(&mut sums);
        for (acc, sum) in acc.iter_mut().zip(&sums) {
            for (acc, sum) in acc.0.iter_mut().zip(&sum.0) {
                *acc = acc.wrapping_add(f32::from_bits(*sum) as i32 as u32);
            }
        }
    }

    /// Sets D to C and returns it.
    fn accumulators<'a>(&self, vgpr: &'a mut [Lanes]) -> &'a mut [Lanes] {
        match self.c {
            Init::Registers(c) if c == self.dst => {}
            Init::Registers(c) => vgpr.copy_within(c..c + self.dst_len, self.dst),
            Init::Constant(value) => {
                vgpr[self.dst..self.dst + self.dst_len].fill(Lanes([value; WAVE]));
            }
        }
        &mut vgpr[self.dst..self.dst + self.dst_len]
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx(wave: &mut Wave, inst: &Inst, job: &Job) {
    run::<true>(wave, inst, job);
}

/// Unpacks, multiplies and writes back a dense operation of up to 32-bit elements.
#[inline(always)]
fn run<const FAST: bool>(wave: &mut Wave, inst: &Inst, job: &Job) {
    let Wave { vgpr, kept, .. } = wave;
    let codes = job.scales.map(|scale| scale.map(|s| s.codes(vgpr)));
    if codes.iter().flatten().any(Scales::extreme) {
        return scale::run_wide(vgpr, job);
    }
    let permuted;
    let mut b_regs = job.regs(vgpr, 1);
    if job.shape.a != Elem::Mx && inst.mods.blgp != 0 {
        permuted = permute(b_regs, inst.mods.blgp);
        b_regs = &permuted;
    }
    let [kept_a, kept_b] = kept.sides();
    let a = panel::<FAST>(kept_a, job.regs(vgpr, 0), codes[0].as_ref(), job, 0);
    let b = panel::<FAST>(kept_b, b_regs, codes[1].as_ref(), job, 1);
    job.accumulate(vgpr, |acc| match job.shape.m {
        4 => small::multiply(acc, [a, b], job.shape.per_lane(), job.a_block(inst)),
        16 => blocks::<16, FAST>(inst, job, acc, a, b),
        _ => blocks::<32, FAST>(inst, job, acc, a, b),
    });
}

/// The elements of A (side 0) or B (side 1), times their scales.
#[inline(always)]
fn panel<'a, const FAST: bool>(
    kept: &'a mut kept::Side,
    regs: &[Lanes],
    codes: Option<&[u8; WAVE]>,
    job: &Job,
    side: usize,
) -> &'a [f32] {
    let key = Key { data: job.data[side], layout: job.layout(side), scales: codes.copied() };
    kept.panel(job.src[side].0, regs, &key, |panel| {
        let factors =
            codes.map(|codes| Scales::factors(codes, job.shape.m, key.layout.chunk == 16));
        #[cfg(target_arch = "x86_64")]
        if FAST {
            // SAFETY: `FAST` promises AVX2 and FMA.
            return unsafe { unpack_avx(panel, regs, key.data, key.layout, factors.as_ref()) };
        }
        unpack(panel, regs, key.data, key.layout, factors.as_ref());
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
#[inline(never)]
fn unpack_avx(
    panel: &mut [f32],
    regs: &[Lanes],
    data: Data,
    layout: Layout,
    factors: Option<&Factors>,
) {
    let done = match (data, factors) {
        (Data::Float(Format::Fp4), _) => panel::avx::fp4(panel, regs, layout, factors),
        (Data::Float(format), None) => panel::avx::bytes(panel, regs, format, layout),
        (Data::Bf16, None) => panel::avx::bf16(panel, regs, layout),
        _ => false,
    };
    if !done {
        unpack(panel, regs, data, layout, factors);
    }
}

#[inline(always)]
fn unpack(
    panel: &mut [f32],
    regs: &[Lanes],
    data: Data,
    layout: Layout,
    factors: Option<&Factors>,
) {
    match factors {
        None => panel::floats(panel, regs, data, layout, |_| None),
        Some(f) => panel::floats(panel, regs, data, layout, |j| f.get(j / 16)),
    }
}

/// Multiplies the block or blocks of a 16x16 or 32x32 operation.
#[inline(always)]
fn blocks<const M: usize, const FAST: bool>(
    inst: &Inst,
    job: &Job,
    acc: &mut [Lanes],
    a: &[f32],
    b: &[f32],
) {
    if job.shape.blocks == 1 {
        return kernel::multiply_f32::<M, FAST>(acc, a, b);
    }
    let a_block = job.a_block(inst);
    let len = job.shape.per_lane() * M;
    for (block, acc) in acc.chunks_exact_mut(M * M / WAVE).enumerate() {
        let of = |block: usize| block * len..(block + 1) * len;
        if let (Some(a), Some(b)) = (a.get(of(a_block(block))), b.get(of(block))) {
            kernel::multiply_f32::<M, FAST>(acc, a, b);
        }
    }
}

/// The registers of B with lanes moved as BLGP says.
#[cold]
#[inline(never)]
fn permute(regs: &[Lanes], blgp: u8) -> Vec<Lanes> {
    regs.iter().map(|r| Lanes(std::array::from_fn(|l| r.0[blgp_source(blgp, l)]))).collect()
}
