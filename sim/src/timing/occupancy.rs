//! How many waves and workgroups of a kernel are resident on a compute unit.
//!
//! Goes in: the kernel's registers, LDS and workgroup size. Comes out: [`Occupancy`] with the
//! resource that limits it. The rules are those of the register file and LDS allocation granules
//! (LLVM AMDGPUUsage), so that the result equals what LLVM prints for the same kernel.

use crate::arch::ArchParams;
use crate::exec::WAVE;

/// Resource that keeps further waves or workgroups out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limiter {
    /// Wave slots of the SIMDs.
    WaveSlots,
    /// Vector registers.
    Vgprs,
    /// Scalar registers.
    Sgprs,
    /// Local data share.
    Lds,
    /// Workgroup slots of the compute unit.
    Workgroups,
}

impl std::fmt::Display for Limiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Limiter::WaveSlots => "wave slots",
            Limiter::Vgprs => "VGPRs",
            Limiter::Sgprs => "SGPRs",
            Limiter::Lds => "LDS",
            Limiter::Workgroups => "workgroup slots",
        })
    }
}

/// Residency of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Waves resident on the fullest SIMD; 0 when the workgroup does not fit a compute unit.
    pub waves_per_simd: u32,
    /// Workgroups resident on a compute unit; 0 when not even one fits.
    pub workgroups_per_cu: u32,
    /// What keeps more out.
    pub limiter: Limiter,
}

/// Registers, LDS and size of a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Resources {
    /// Architected vector registers.
    pub vgprs: u32,
    /// Accumulation vector registers.
    pub agprs: u32,
    /// Scalar registers, with VCC and the other extra ones.
    pub sgprs: u32,
    /// LDS bytes of a workgroup, static and dynamic.
    pub lds: u32,
    /// Threads of a workgroup.
    pub threads: u32,
}

/// Vector registers a wave takes from its SIMD: architected ones rounded to the offset granule where
/// accumulation registers follow, the sum rounded to the allocation granule, at least one granule.
pub fn allocated_vgprs(p: &ArchParams, vgprs: u32, agprs: u32) -> u32 {
    let arch = if agprs > 0 {
        vgprs.div_ceil(p.occupancy.arch_vgpr_granule).saturating_mul(p.occupancy.arch_vgpr_granule)
    } else {
        vgprs
    };
    let granules = arch.saturating_add(agprs).div_ceil(p.occupancy.vgpr_granule).max(1);
    granules.saturating_mul(p.occupancy.vgpr_granule)
}

/// Residency of a kernel with these resources on `p`.
pub fn occupancy(p: &ArchParams, r: &Resources) -> Occupancy {
    let o = &p.occupancy;
    let simds = p.device.simds_per_cu;
    let waves = r.threads.div_ceil(WAVE as u32).max(1);
    let by_vgpr = o.vgprs_per_lane / allocated_vgprs(p, r.vgprs, r.agprs);
    let by_sgpr = o.sgprs_per_simd / r.sgprs.max(1);
    let per_simd = o.waves_per_simd.min(by_vgpr).min(by_sgpr);
    let wave_limiter = if per_simd == o.waves_per_simd {
        Limiter::WaveSlots
    } else if by_vgpr <= by_sgpr {
        Limiter::Vgprs
    } else {
        Limiter::Sgprs
    };
    let by_waves = simds.saturating_mul(per_simd) / waves;
    let lds = u64::from(r.lds).next_multiple_of(u64::from(p.lds.unit.granule));
    let by_lds = match lds {
        0 => u32::MAX,
        _ => u32::try_from(u64::from(p.lds.unit.size) / lds).unwrap_or(u32::MAX),
    };
    let workgroups = by_waves.min(by_lds).min(o.workgroups_per_cu);
    let limiter = if workgroups == by_waves {
        wave_limiter
    } else if workgroups == by_lds {
        Limiter::Lds
    } else {
        Limiter::Workgroups
    };
    let resident = workgroups.saturating_mul(waves).div_ceil(simds);
    Occupancy { waves_per_simd: resident.min(per_simd), workgroups_per_cu: workgroups, limiter }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Arch;

    fn waves(vgprs: u32, agprs: u32) -> u32 {
        let p = ArchParams::load(Arch::Gfx950).unwrap();
        let r = Resources { vgprs, agprs, sgprs: 32, lds: 0, threads: 256 };
        occupancy(p, &r).waves_per_simd
    }

    /// 512 registers a lane, granule 8: 8 waves up to 64, 7 to 72, 6 to 80, 5 to 96, 4 to 128,
    /// 3 to 168, 2 to 256, 1 to 512.
    #[test]
    fn vector_registers_step_the_waves_down() {
        let steps = [(64, 8), (72, 7), (80, 6), (96, 5), (128, 4), (168, 3), (256, 2)];
        for (limit, expected) in steps {
            assert_eq!(waves(limit, 0), expected, "{limit} registers");
            assert_eq!(waves(limit + 1, 0), expected - 1, "{} registers", limit + 1);
        }
        // 125 architected registers round to 128 when 128 accumulation registers follow.
        assert_eq!(waves(125, 128), 2);
        assert_eq!(waves(129, 128), 1);
        assert_eq!(waves(256, 256), 1);
    }

    /// 64 KB of gfx942 hold 3 workgroups of 20,480 B (40 granules of 512 B each, 128 in all);
    /// 160 KB of gfx950 hold 8 (16 granules of 1280 B, 128 in all).
    #[test]
    fn lds_granules_limit_the_workgroups() {
        let r = Resources { vgprs: 32, agprs: 0, sgprs: 32, lds: 20_480, threads: 256 };
        let old = occupancy(ArchParams::load(Arch::Gfx942).unwrap(), &r);
        assert_eq!((old.workgroups_per_cu, old.limiter), (3, Limiter::Lds));
        assert_eq!(old.waves_per_simd, 3);
        let new = occupancy(ArchParams::load(Arch::Gfx950).unwrap(), &r);
        assert_eq!((new.workgroups_per_cu, new.limiter), (8, Limiter::WaveSlots));
        // One byte more takes a 17th granule: 128 / 17 = 7.
        let more = Resources { lds: 20_481, ..r };
        let new = occupancy(ArchParams::load(Arch::Gfx950).unwrap(), &more);
        assert_eq!((new.workgroups_per_cu, new.limiter), (7, Limiter::Lds));
    }

    /// LLVM's steps: 8 waves up to 100 SGPRs, 7 above.
    #[test]
    fn scalar_registers_limit_from_101() {
        let p = ArchParams::load(Arch::Gfx942).unwrap();
        let r = Resources { vgprs: 32, agprs: 0, sgprs: 100, lds: 0, threads: 64 };
        assert_eq!(occupancy(p, &r).waves_per_simd, 8);
        let more = occupancy(p, &Resources { sgprs: 101, ..r });
        assert_eq!((more.waves_per_simd, more.limiter), (7, Limiter::Sgprs));
    }

    #[test]
    fn a_workgroup_that_does_not_fit_is_reported_as_none() {
        let p = ArchParams::load(Arch::Gfx942).unwrap();
        let r = Resources { vgprs: 256, agprs: 256, sgprs: 32, lds: 0, threads: 1024 };
        assert_eq!(occupancy(p, &r).workgroups_per_cu, 0);
        let r = Resources { vgprs: 8, agprs: 0, sgprs: 32, lds: 65_537, threads: 64 };
        assert_eq!(occupancy(p, &r).workgroups_per_cu, 0);
    }
}
