//! Which of the compiled forms of a function this host runs.
//!
//! Goes in: a handler. Comes out: itself, or on x86-64 hosts with AVX2 and FMA the same code compiled for
//! those. Both compute the same bits, but for which of several NaN a NaN is.

/// Whether the host can run what is compiled for AVX2 and FMA. On processors other than x86-64 that
/// code is compiled for what they all have.
pub(super) fn wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return true;
}

/// Whether the host can run what is compiled for AVX-512F besides.
#[cfg(target_arch = "x86_64")]
pub(super) fn widest() -> bool {
    wide() && std::arch::is_x86_feature_detected!("avx512f")
}

/// The handler that runs `$body`, an `#[inline(always)]` function with a handler's arguments, in
/// the form that suits the host.
macro_rules! for_host {
    ($body:path) => {{
        #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
        fn wide(
            wave: &mut $crate::exec::Wave,
            ctx: &mut $crate::exec::Ctx<'_>,
            inst: &$crate::isa::Inst,
            code: &$crate::exec::program::Code,
        ) -> $crate::exec::step::Step {
            $body(wave, ctx, inst, code)
        }
        fn narrow(
            wave: &mut $crate::exec::Wave,
            ctx: &mut $crate::exec::Ctx<'_>,
            inst: &$crate::isa::Inst,
            code: &$crate::exec::program::Code,
        ) -> $crate::exec::step::Step {
            $body(wave, ctx, inst, code)
        }
        if $crate::exec::host::wide() {
            wide as $crate::exec::step::Handler
        } else {
            narrow as $crate::exec::step::Handler
        }
    }};
}

pub(super) use for_host;
