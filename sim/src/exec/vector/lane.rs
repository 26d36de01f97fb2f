//! Reading typed lanes out of registers and writing them back.
//!
//! Goes in: the two registers of an operand and a lane number. Comes out: the lane as the type an
//! operation is written in, so that its table entry is one line of plain arithmetic.

use crate::exec::Lanes;
use crate::exec::formats::{f16_to_f32_signalling, f32_to_bf16, f32_to_f16};

/// Where the results of an operation go.
#[derive(Debug)]
pub(in crate::exec) struct Out<'a> {
    /// First destination register.
    pub(super) lo: &'a mut Lanes,
    /// Second destination register.
    pub(super) hi: &'a mut Lanes,
    /// Lane mask results: all ones where set.
    pub(super) flag: &'a mut Lanes,
}

/// A source type.
pub(super) trait Src {
    fn get(lo: &Lanes, hi: &Lanes, i: usize) -> Self;
}

/// A result type.
pub(super) trait Dst {
    fn put(self, out: &mut Out<'_>, i: usize);
}

/// An IEEE half, held as the f32 of the same value.
#[derive(Clone, Copy)]
pub(super) struct Half(pub(super) f32);

/// A bfloat16, held as the f32 of the same value.
#[derive(Clone, Copy)]
pub(super) struct Brain(pub(super) f32);

/// Two IEEE halves.
#[derive(Clone, Copy)]
pub(super) struct Halves(pub(super) [f32; 2]);

/// The number of the lane itself.
pub(super) struct Lane(pub(super) u32);

impl Src for u32 {
    #[inline(always)]
    fn get(lo: &Lanes, _: &Lanes, i: usize) -> Self {
        lo.0[i]
    }
}

impl Src for i32 {
    #[inline(always)]
    fn get(lo: &Lanes, _: &Lanes, i: usize) -> Self {
        lo.0[i] as i32
    }
}

impl Src for f32 {
    #[inline(always)]
    fn get(lo: &Lanes, _: &Lanes, i: usize) -> Self {
        f32::from_bits(lo.0[i])
    }
}

impl Src for u64 {
    #[inline(always)]
    fn get(lo: &Lanes, hi: &Lanes, i: usize) -> Self {
        u64::from(lo.0[i]) | u64::from(hi.0[i]) << 32
    }
}

impl Src for i64 {
    #[inline(always)]
    fn get(lo: &Lanes, hi: &Lanes, i: usize) -> Self {
        u64::get(lo, hi, i) as i64
    }
}

impl Src for f64 {
    #[inline(always)]
    fn get(lo: &Lanes, hi: &Lanes, i: usize) -> Self {
        f64::from_bits(u64::get(lo, hi, i))
    }
}

impl Src for u16 {
    #[inline(always)]
    fn get(lo: &Lanes, _: &Lanes, i: usize) -> Self {
        lo.0[i] as u16
    }
}

impl Src for i16 {
    #[inline(always)]
    fn get(lo: &Lanes, _: &Lanes, i: usize) -> Self {
        lo.0[i] as i16
    }
}

impl Src for bool {
    #[inline(always)]
    fn get(lo: &Lanes, _: &Lanes, i: usize) -> Self {
        lo.0[i] != 0
    }
}

impl Src for Lane {
    #[inline(always)]
    fn get(_: &Lanes, _: &Lanes, i: usize) -> Self {
        Lane(i as u32)
    }
}

impl Src for Half {
    #[inline(always)]
    fn get(lo: &Lanes, _: &Lanes, i: usize) -> Self {
        Half(f16_to_f32_signalling(lo.0[i] as u16))
    }
}

impl Src for Brain {
    #[inline(always)]
    fn get(lo: &Lanes, _: &Lanes, i: usize) -> Self {
        Brain(f32::from_bits(lo.0[i] << 16))
    }
}

impl Src for Halves {
    #[inline(always)]
    fn get(lo: &Lanes, _: &Lanes, i: usize) -> Self {
        Halves([
            f16_to_f32_signalling(lo.0[i] as u16),
            f16_to_f32_signalling((lo.0[i] >> 16) as u16),
        ])
    }
}

impl Src for [Brain; 2] {
    #[inline(always)]
    fn get(lo: &Lanes, _: &Lanes, i: usize) -> Self {
        [Brain(f32::from_bits(lo.0[i] << 16)), Brain(f32::from_bits(lo.0[i] & 0xffff_0000))]
    }
}

impl Src for [f32; 2] {
    #[inline(always)]
    fn get(lo: &Lanes, hi: &Lanes, i: usize) -> Self {
        [f32::from_bits(lo.0[i]), f32::from_bits(hi.0[i])]
    }
}

impl Src for [u16; 2] {
    #[inline(always)]
    fn get(lo: &Lanes, _: &Lanes, i: usize) -> Self {
        [lo.0[i] as u16, (lo.0[i] >> 16) as u16]
    }
}

impl Src for [i16; 2] {
    #[inline(always)]
    fn get(lo: &Lanes, _: &Lanes, i: usize) -> Self {
        [lo.0[i] as i16, (lo.0[i] >> 16) as i16]
    }
}

impl Src for [u32; 2] {
    #[inline(always)]
    fn get(lo: &Lanes, hi: &Lanes, i: usize) -> Self {
        [lo.0[i], hi.0[i]]
    }
}

impl Dst for u32 {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        out.lo.0[i] = self;
    }
}

impl Dst for i32 {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        out.lo.0[i] = self as u32;
    }
}

impl Dst for f32 {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        out.lo.0[i] = self.to_bits();
    }
}

impl Dst for u64 {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        out.lo.0[i] = self as u32;
        out.hi.0[i] = (self >> 32) as u32;
    }
}

impl Dst for i64 {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        (self as u64).put(out, i);
    }
}

impl Dst for f64 {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        self.to_bits().put(out, i);
    }
}

impl Dst for u16 {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        out.lo.0[i] = u32::from(self);
    }
}

impl Dst for i16 {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        out.lo.0[i] = u32::from(self as u16);
    }
}

impl Dst for bool {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        out.flag.0[i] = u32::from(self).wrapping_neg();
    }
}

impl<T: Dst> Dst for (T, bool) {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        self.0.put(out, i);
        self.1.put(out, i);
    }
}

impl Dst for Half {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        f32_to_f16(self.0).put(out, i);
    }
}

impl Dst for Halves {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        self.0.map(f32_to_f16).put(out, i);
    }
}

impl Dst for Brain {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        f32_to_bf16(self.0).put(out, i);
    }
}

impl Dst for [Brain; 2] {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        self.map(|x| f32_to_bf16(x.0)).put(out, i);
    }
}

impl Dst for [f32; 2] {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        out.lo.0[i] = self[0].to_bits();
        out.hi.0[i] = self[1].to_bits();
    }
}

impl Dst for [u32; 2] {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        out.lo.0[i] = self[0];
        out.hi.0[i] = self[1];
    }
}

impl Dst for [u16; 2] {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        out.lo.0[i] = u32::from(self[0]) | u32::from(self[1]) << 16;
    }
}

impl Dst for [i16; 2] {
    #[inline(always)]
    fn put(self, out: &mut Out<'_>, i: usize) {
        [self[0] as u16, self[1] as u16].put(out, i);
    }
}
