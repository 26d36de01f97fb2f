//! Kernels: what an operation computes for 64 lanes.
//!
//! Goes in: an operation written as a function of one lane. Comes out: a function over whole
//! registers, compiled for AVX2 and FMA where the host may have them, and a function of one lane
//! that runs anywhere. [`Pair::select`] picks what this host runs.

use super::lane::Out;
use crate::exec::step::Handler;
use crate::exec::{Lanes, WAVE, host};

/// Sources of an operation: up to three operands of up to two registers, and a fourth that holds
/// an implicit one (VCC of `v_div_fmas`).
pub(super) type Sources<'a> = [[&'a Lanes; 2]; 4];

/// Computes all 64 lanes; the last argument is the MODE register, or the truth table of `v_bitop3`.
/// Only to be called on hosts with AVX2 and FMA when it was compiled for x86-64.
type Whole = unsafe fn(&Sources<'_>, &mut Out<'_>, u32);

/// Computes one lane.
type Single = fn(&Sources<'_>, &mut Out<'_>, u32, usize);

/// An operation compiled in the ways it may be run.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    /// All lanes at once, and a handler that does so in the plain case; absent for operations that are
    /// too rare to be worth the code.
    pub(super) whole: Option<(Whole, Handler)>,
    /// Lane by lane.
    pub(super) single: Single,
}

impl Pair {
    /// The one to use on this host.
    pub(super) fn select(self) -> Kernel {
        match self.whole {
            Some((whole, _)) if host::wide() => Kernel(Way::Whole(whole)),
            _ => Kernel(Way::Single(self.single)),
        }
    }

    /// The handler of the plain case (see [`super::plain`]), if this host can run it.
    pub(super) fn plain(self) -> Option<Handler> {
        self.whole.filter(|_| host::wide()).map(|(_, plain)| plain)
    }
}

/// How this host computes an operation.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Kernel(Way);

#[derive(Clone, Copy, Debug)]
enum Way {
    /// Only made by [`Pair::select`], which has checked the host.
    Whole(Whole),
    Single(Single),
}

impl Kernel {
    /// Computes all lanes.
    #[inline(always)]
    pub(super) fn run(self, sources: &Sources<'_>, out: &mut Out<'_>, mode: u32) {
        match self.0 {
            // SAFETY: `Pair::select` found that the host has what the function needs.
            Way::Whole(whole) => unsafe { whole(sources, out, mode) },
            Way::Single(single) => (0..WAVE).for_each(|i| single(sources, out, mode, i)),
        }
    }
}

/// A table of operations: `Name(a: type, b: type) -> type { expression }`. Aliases follow the name
/// after `|`; `[mode]` after the arguments names the last argument of [`Whole`]. A table that starts with
/// `single` is compiled lane by lane only.
macro_rules! kernels {
    (@load [$($rest:tt)*] $i:ident) => {};
    (@load [($lo:ident $hi:ident) $($rest:tt)*] $i:ident $a:ident: $t:ty) => {
        let $a = <$t as $crate::exec::vector::lane::Src>::get($lo, $hi, $i);
    };
    (@load [($lo:ident $hi:ident) $($rest:tt)*] $i:ident $a:ident: $t:ty, $($more:tt)*) => {
        let $a = <$t as $crate::exec::vector::lane::Src>::get($lo, $hi, $i);
        kernels!(@load [$($rest)*] $i $($more)*);
    };
    (@whole single $lane:ident) => { None };
    (@whole whole $lane:ident) => {{
        // The registers arrive as separate references: that they do not overlap is what lets the
        // loop vectorise without checks.
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        fn all(
            a0: &$crate::exec::Lanes,
            a1: &$crate::exec::Lanes,
            b0: &$crate::exec::Lanes,
            b1: &$crate::exec::Lanes,
            c0: &$crate::exec::Lanes,
            c1: &$crate::exec::Lanes,
            d0: &$crate::exec::Lanes,
            d1: &$crate::exec::Lanes,
            lo: &mut $crate::exec::Lanes,
            hi: &mut $crate::exec::Lanes,
            flag: &mut $crate::exec::Lanes,
            mode: u32,
        ) {
            for i in 0..$crate::exec::WAVE {
                $lane(a0, a1, b0, b1, c0, c1, d0, d1, &mut Out { lo, hi, flag }, mode, i);
            }
        }
        #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
        fn whole(s: &$crate::exec::vector::kernel::Sources<'_>, out: &mut Out<'_>, mode: u32) {
            let [[a0, a1], [b0, b1], [c0, c1], [d0, d1]] = *s;
            all(a0, a1, b0, b1, c0, c1, d0, d1, out.lo, out.hi, out.flag, mode);
        }
        #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
        fn plain(
            wave: &mut $crate::exec::Wave,
            ctx: &mut $crate::exec::Ctx<'_>,
            inst: &$crate::isa::Inst,
            code: &$crate::exec::program::Code,
        ) -> $crate::exec::step::Step {
            $crate::exec::vector::plain::run(wave, ctx, inst, code, |s, out, mode| {
                let [[a0, a1], [b0, b1], [c0, c1], [d0, d1]] = *s;
                all(a0, a1, b0, b1, c0, c1, d0, d1, out.lo, out.hi, out.flag, mode);
            })
        }
        Some((whole, plain))
    }};
    (
        $(#[$doc:meta])*
        $vis:vis fn $name:ident;
        $($body:tt)*
    ) => {
        kernels!(@table whole [$(#[$doc])* $vis] $name $($body)*);
    };
    (
        single
        $(#[$doc:meta])*
        $vis:vis fn $name:ident;
        $($body:tt)*
    ) => {
        kernels!(@table single [$(#[$doc])* $vis] $name $($body)*);
    };
    (
        @table $kind:ident [$($head:tt)*] $name:ident
        $($op:ident $(| $alias:ident)* ($($args:tt)*) $([$mode:ident])? -> $r:ty { $($body:tt)* })*
    ) => {
        $($head)* fn $name(op: $crate::isa::Op) -> Option<$crate::exec::vector::kernel::Pair> {
            use $crate::exec::vector::lane::{Dst, Out};
            Some(match op {
                $($crate::isa::Op::$op $(| $crate::isa::Op::$alias)* => {
                    #[inline(always)]
                    #[allow(clippy::too_many_arguments, unused_variables)]
                    fn lane(
                        a0: &$crate::exec::Lanes,
                        a1: &$crate::exec::Lanes,
                        b0: &$crate::exec::Lanes,
                        b1: &$crate::exec::Lanes,
                        c0: &$crate::exec::Lanes,
                        c1: &$crate::exec::Lanes,
                        d0: &$crate::exec::Lanes,
                        d1: &$crate::exec::Lanes,
                        out: &mut Out<'_>,
                        mode: u32,
                        i: usize,
                    ) {
                        $(let $mode = mode;)?
                        kernels!(@load [(a0 a1) (b0 b1) (c0 c1) (d0 d1)] i $($args)*);
                        let result: $r = { $($body)* };
                        result.put(out, i);
                    }
                    fn single(
                        s: &$crate::exec::vector::kernel::Sources<'_>,
                        out: &mut Out<'_>,
                        mode: u32,
                        i: usize,
                    ) {
                        let [[a0, a1], [b0, b1], [c0, c1], [d0, d1]] = *s;
                        lane(a0, a1, b0, b1, c0, c1, d0, d1, out, mode, i);
                    }
                    $crate::exec::vector::kernel::Pair {
                        whole: kernels!(@whole $kind lane),
                        single,
                    }
                })*
                _ => return None,
            })
        }
    };
}

pub(super) use kernels;
