//! Kernels: what an operation computes for 64 lanes, compiled once for any host and once for AVX2
//! and FMA.
//!
//! Goes in: an operation written as a function of one lane. Comes out: a pair of functions over
//! whole registers, of which [`Pair::select`] picks the one this host runs.

use super::lane::Out;
use crate::exec::Lanes;

/// Sources of an operation: up to three operands of up to two registers, and a fourth that holds
/// an implicit one (VCC of `v_div_fmas`, the truth table of `v_bitop3`).
pub(super) type Sources<'a> = [[&'a Lanes; 2]; 4];

/// Computes all 64 lanes. The last argument is the MODE register.
///
/// # Safety
/// A kernel made for AVX2 and FMA may only be called where they exist.
pub(in crate::exec) type Kernel = unsafe fn(&Sources<'_>, &mut Out, u32);

/// One operation compiled twice.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    /// Needs AVX2 and FMA.
    pub(super) simd: Kernel,
    /// Runs anywhere.
    pub(super) base: Kernel,
}

impl Pair {
    /// The one to use on this host.
    pub(super) fn select(self) -> Kernel {
        if simd() { self.simd } else { self.base }
    }
}

/// Whether the host has what `Pair::simd` needs.
#[cfg(target_arch = "x86_64")]
pub(super) fn simd() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
}

/// Whether the host has what `Pair::simd` needs.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn simd() -> bool {
    false
}

/// Compiles `fn name(args)` with an inlined body twice and yields the two as a [`Pair`].
macro_rules! pair {
    ($body:path) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn simd(s: &$crate::exec::vector::kernel::Sources<'_>, out: &mut Out, mode: u32) {
            $body(s, out, mode);
        }
        #[cfg(not(target_arch = "x86_64"))]
        use base as simd;
        fn base(s: &$crate::exec::vector::kernel::Sources<'_>, out: &mut Out, mode: u32) {
            $body(s, out, mode);
        }
        $crate::exec::vector::kernel::Pair { simd, base }
    }};
}

/// A table of operations: `Name(a: type, b: type) -> type { expression }`, where an optional
/// `mode` after the arguments (`; mode`) names the MODE register.
macro_rules! kernels {
    (@load [$($rest:tt)*] $i:ident) => {};
    (@load [($lo:ident $hi:ident) $($rest:tt)*] $i:ident $a:ident: $t:ty) => {
        let $a = <$t as $crate::exec::vector::lane::Src>::get($lo, $hi, $i);
    };
    (@load [($lo:ident $hi:ident) $($rest:tt)*] $i:ident $a:ident: $t:ty, $($more:tt)*) => {
        let $a = <$t as $crate::exec::vector::lane::Src>::get($lo, $hi, $i);
        kernels!(@load [$($rest)*] $i $($more)*);
    };
    (
        $(#[$doc:meta])*
        $vis:vis fn $name:ident;
        $($op:ident $(| $alias:ident)* ($($args:tt)*) $([$mode:ident])? -> $r:ty { $($body:tt)* })*
    ) => {
        $(#[$doc])*
        $vis fn $name(op: $crate::isa::Op) -> Option<$crate::exec::vector::kernel::Pair> {
            use $crate::exec::vector::lane::{Dst, Out};
            Some(match op {
                $($crate::isa::Op::$op $(| $crate::isa::Op::$alias)* => {
                    // The registers arrive as separate references: that they do not overlap is
                    // what lets the loop vectorise without checks.
                    #[inline(always)]
                    #[allow(clippy::too_many_arguments, unused_variables)]
                    fn lanes(
                        a0: &$crate::exec::Lanes,
                        a1: &$crate::exec::Lanes,
                        b0: &$crate::exec::Lanes,
                        b1: &$crate::exec::Lanes,
                        c0: &$crate::exec::Lanes,
                        c1: &$crate::exec::Lanes,
                        d0: &$crate::exec::Lanes,
                        d1: &$crate::exec::Lanes,
                        out: &mut Out,
                        mode: u32,
                    ) {
                        $(let $mode = mode;)?
                        for i in 0..$crate::exec::WAVE {
                            kernels!(@load [(a0 a1) (b0 b1) (c0 c1) (d0 d1)] i $($args)*);
                            let result: $r = { $($body)* };
                            result.put(out, i);
                        }
                    }
                    #[inline(always)]
                    fn body(
                        s: &$crate::exec::vector::kernel::Sources<'_>,
                        out: &mut Out,
                        mode: u32,
                    ) {
                        let [[a0, a1], [b0, b1], [c0, c1], [d0, d1]] = *s;
                        lanes(a0, a1, b0, b1, c0, c1, d0, d1, out, mode);
                    }
                    $crate::exec::vector::kernel::pair!(body)
                })*
                _ => return None,
            })
        }
    };
}

pub(super) use {kernels, pair};
