//! Parameters of a simulated device and of its timing model, one data file per target.
//!
//! Goes in: `data/gfx942.toml` and `data/gfx950.toml`, where each entry carries its value, unit,
//! source and confidence. Comes out: typed [`ArchParams`]; a missing, unknown or mistyped key, or a
//! unit other than the one the model computes in, is an error that names the key.

mod reader;
mod sections;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use reader::{Reader, invalid};
use toml::Table;

use crate::isa::Arch;

pub use reader::{ArchError, Confidence, Phases, Provenance};
pub use sections::{
    Clock, Device, Dispatch, Fetch, Hbm, Issue, L2, Launch, Lds, LdsPhases, LdsUnit, Mall, Matrix,
    Occupancy, ScalarCache, Valu, Vmem,
};

/// Everything the simulator knows about one target in numbers.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct ArchParams {
    /// Target.
    pub arch: Arch,
    pub device: Device,
    pub clock: Clock,
    pub occupancy: Occupancy,
    pub issue: Issue,
    pub fetch: Fetch,
    pub valu: Valu,
    pub matrix: Matrix,
    pub lds: Lds,
    pub vmem: Vmem,
    pub l2: L2,
    pub mall: Mall,
    pub hbm: Hbm,
    pub scalar: ScalarCache,
    pub dispatch: Dispatch,
    pub launch: Launch,
    /// Unit, source and confidence of every parameter, by dotted key.
    pub provenance: BTreeMap<String, Provenance>,
}

impl ArchParams {
    /// Parameters from the text of a file.
    pub fn parse(arch: Arch, text: &str) -> Result<Self, ArchError> {
        let root = text.parse::<Table>().map_err(|e| ArchError::Syntax(e.to_string()))?;
        let mut r = Reader { root, provenance: BTreeMap::new() };
        let phases = LdsPhases::read(&mut r)?;
        let params = ArchParams {
            arch,
            device: Device::read(&mut r)?,
            clock: Clock::read(&mut r)?,
            occupancy: Occupancy::read(&mut r)?,
            issue: Issue::read(&mut r)?,
            fetch: Fetch::read(&mut r)?,
            valu: Valu::read(&mut r)?,
            matrix: Matrix::read(&mut r)?,
            lds: Lds { unit: LdsUnit::read(&mut r)?, phases },
            vmem: Vmem::read(&mut r)?,
            l2: L2::read(&mut r)?,
            mall: Mall::read(&mut r)?,
            hbm: Hbm::read(&mut r)?,
            scalar: ScalarCache::read(&mut r)?,
            dispatch: Dispatch::read(&mut r)?,
            launch: Launch::read(&mut r)?,
            provenance: r.provenance,
        };
        match r.root.keys().next() {
            Some(key) => Err(ArchError::Unknown(key.clone())),
            None => params.check(),
        }
    }

    /// Relations between parameters that the model divides and indexes by.
    fn check(self) -> Result<Self, ArchError> {
        let d = &self.device;
        let per_xcd = d.compute_units / d.xcds;
        if per_xcd * d.xcds != d.compute_units {
            return Err(invalid("device.compute_units", "must be a multiple of device.xcds"));
        }
        if !d.simds_per_cu.is_multiple_of(self.lds.unit.ports) {
            return Err(invalid("lds.ports", "must divide device.simds_per_cu"));
        }
        for (key, line) in [
            ("vmem.line", self.vmem.line),
            ("vmem.store_sector", self.vmem.store_sector),
            ("scalar.line", self.scalar.line),
            ("fetch.line", self.fetch.line),
        ] {
            if !line.is_power_of_two() {
                return Err(invalid(key, "must be a power of two"));
            }
        }
        if self.vmem.store_sector > self.vmem.line {
            return Err(invalid("vmem.store_sector", "must not exceed vmem.line"));
        }
        Ok(self)
    }

    /// The bundled parameters of a target, or why they are unusable.
    pub fn load(arch: Arch) -> Result<&'static Self, ArchError> {
        static GFX942: OnceLock<Result<ArchParams, ArchError>> = OnceLock::new();
        static GFX950: OnceLock<Result<ArchParams, ArchError>> = OnceLock::new();
        let cell = match arch {
            Arch::Gfx942 => &GFX942,
            Arch::Gfx950 => &GFX950,
        };
        cell.get_or_init(|| Self::parse(arch, Self::text(arch))).as_ref().map_err(Clone::clone)
    }

    /// The bundled parameter file of a target, as it was compiled in.
    pub fn text(arch: Arch) -> &'static str {
        match arch {
            Arch::Gfx942 => include_str!("../../data/gfx942.toml"),
            Arch::Gfx950 => include_str!("../../data/gfx950.toml"),
        }
    }

    /// Compute units of one die.
    pub fn cus_per_xcd(&self) -> u32 {
        self.device.compute_units / self.device.xcds
    }

    /// Bytes per clock at the nominal clock for a bandwidth in GB/s.
    pub fn bytes_per_clk(&self, gb_per_s: f64) -> f64 {
        gb_per_s * 1e3 / self.clock.nominal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = include_str!("../../data/gfx950.toml");

    fn parse(text: &str) -> Result<ArchParams, ArchError> {
        ArchParams::parse(Arch::Gfx950, text)
    }

    #[test]
    fn both_files_load_and_every_parameter_has_a_source() {
        for arch in Arch::ALL {
            let p = ArchParams::load(arch).unwrap();
            assert!(p.provenance.len() > 100);
            assert!(p.provenance.values().all(|v| v.source.len() > 3));
        }
    }

    /// AMD data sheets: MI300X 1307 TF bf16 at 2100 MHz, MI355X 2517 TF bf16, 5033 TF fp8 and
    /// 10066 TF fp4 at 2400 MHz. flop = 2 M N K; one matrix unit per SIMD.
    #[test]
    fn matrix_passes_give_the_peak_rates_of_the_data_sheets() {
        let peak = |arch, key: &str, mnk: f64| {
            let p = ArchParams::load(arch).unwrap();
            let clk = f64::from(p.matrix.passes[key] * p.matrix.pass);
            let units = f64::from(p.device.compute_units * p.device.simds_per_cu);
            2.0 * mnk / clk * units * p.clock.nominal * 1e6 / 1e12
        };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1.0, "{a} against {b}");
        near(peak(Arch::Gfx942, "32x32x8_16bit", 8192.0), 1307.4);
        near(peak(Arch::Gfx950, "16x16x32_16bit", 8192.0), 2516.6);
        near(peak(Arch::Gfx950, "32x32x64_f8f6f4_8", 65536.0), 5033.2);
        near(peak(Arch::Gfx950, "16x16x128_f8f6f4_46", 32768.0), 10066.3);
    }

    #[test]
    fn a_missing_key_is_named() {
        let text: String =
            TEXT.lines().filter(|l| !l.starts_with("burst")).map(|l| format!("{l}\n")).collect();
        assert_eq!(parse(&text), Err(ArchError::Missing("hbm.burst".into())));
    }

    #[test]
    fn an_unknown_key_is_named() {
        let text = TEXT.replace("[mall]", "[mall]\nbanana = 1");
        assert_eq!(parse(&text), Err(ArchError::Unknown("mall.banana".into())));
        let text = format!("{TEXT}\n[extra]\n");
        assert_eq!(parse(&text), Err(ArchError::Unknown("extra".into())));
    }

    #[test]
    fn a_wrong_unit_or_a_value_out_of_range_is_an_error_that_names_the_key() {
        let unit = parse(&TEXT.replace("unit = \"us\"", "unit = \"ms\"")).unwrap_err();
        assert!(unit.to_string().contains("launch.fixed"), "{unit}");
        let line = TEXT.lines().find(|l| l.starts_with("xcds")).unwrap();
        let zero = parse(&TEXT.replace(line, &line.replace("value = 8", "value = 0"))).unwrap_err();
        assert!(zero.to_string().contains("device.xcds"), "{zero}");
    }

    #[test]
    fn a_phase_table_that_repeats_a_lane_is_rejected() {
        let error = parse(&TEXT.replacen("\"0-31\", \"32-63\"", "\"0-31\", \"31-63\"", 1));
        assert!(error.unwrap_err().to_string().contains("lds.phases."));
    }
}
