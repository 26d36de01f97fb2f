//! Parameters of a simulated device and of its timing model, one data file per target.
//!
//! Goes in: `data/gfx942.toml` and `data/gfx950.toml`, where each entry carries its value, unit,
//! source and confidence. Comes out: typed [`ArchParams`]; a missing, unknown or mistyped key, or a
//! unit other than the one the model computes in, is an error that names the key.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use toml::{Table, Value};

use crate::isa::Arch;

/// Why a parameter file was rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ArchError {
    /// Not TOML.
    #[error("parameter file does not parse: {0}")]
    Syntax(String),
    /// A key the model needs is absent.
    #[error("parameter `{0}` is missing")]
    Missing(String),
    /// A key the model does not know.
    #[error("parameter `{0}` is not one the model knows; remove it or correct its name")]
    Unknown(String),
    /// A key with the wrong shape, unit or value.
    #[error("parameter `{key}`: {what}")]
    Invalid {
        /// Dotted path of the key.
        key: String,
        /// What is wrong and what was expected.
        what: String,
    },
}

fn invalid(key: &str, what: impl Into<String>) -> ArchError {
    ArchError::Invalid { key: key.to_owned(), what: what.into() }
}

/// How sure a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Inferred, assumed or from a related part.
    Low,
    /// One measurement or one vendor model.
    Medium,
    /// Two independent sources or a direct measurement.
    High,
}

/// Where a figure comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// Unit of the value.
    pub unit: String,
    /// Source.
    pub source: String,
    /// Confidence.
    pub confidence: Confidence,
}

/// A value as it can be read from a parameter entry.
trait Scalar: Sized {
    const EXPECTED: &'static str;
    fn from_value(value: &Value) -> Option<Self>;
}

impl Scalar for u64 {
    const EXPECTED: &'static str = "a positive integer";
    fn from_value(value: &Value) -> Option<u64> {
        value.as_integer().and_then(|v| u64::try_from(v).ok()).filter(|&v| v > 0)
    }
}

impl Scalar for u32 {
    const EXPECTED: &'static str = "a positive integer below 2^32";
    fn from_value(value: &Value) -> Option<u32> {
        u64::from_value(value).and_then(|v| u32::try_from(v).ok())
    }
}

impl Scalar for f64 {
    const EXPECTED: &'static str = "a positive number";
    fn from_value(value: &Value) -> Option<f64> {
        let v = value.as_float().or_else(|| value.as_integer().map(|v| v as f64))?;
        (v.is_finite() && v > 0.0).then_some(v)
    }
}

impl Scalar for String {
    const EXPECTED: &'static str = "a text";
    fn from_value(value: &Value) -> Option<String> {
        value.as_str().filter(|s| !s.is_empty()).map(str::to_owned)
    }
}

/// Lanes of an LDS access that are served together, and the banks they are spread over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phases {
    /// Dword banks told apart within a phase; a power of two.
    pub banks: u32,
    /// Lanes of each phase, in service order; every lane is in exactly one.
    pub lanes: Vec<Vec<u8>>,
}

impl Scalar for Phases {
    const EXPECTED: &'static str = "{ banks = power of two, phases = [\"0-3,20-23\", ..] } with each of the 64 lanes in one phase";
    fn from_value(value: &Value) -> Option<Phases> {
        let table = value.as_table().filter(|t| t.len() == 2)?;
        let banks = u32::from_value(table.get("banks")?).filter(|b| b.is_power_of_two())?;
        let mut seen = 0u64;
        let mut lanes = Vec::new();
        for phase in table.get("phases")?.as_array()? {
            let mut list = Vec::new();
            for range in phase.as_str()?.split(',') {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                for lane in first.parse::<u8>().ok()?..=last.parse::<u8>().ok()? {
                    let bit = 1u64.checked_shl(u32::from(lane))?;
                    if seen & bit != 0 {
                        return None;
                    }
                    seen |= bit;
                    list.push(lane);
                }
            }
            lanes.push(list);
        }
        (seen == u64::MAX).then_some(Phases { banks, lanes })
    }
}

/// Reads sections, keeps the provenance of every entry and notices what is left over.
struct Reader {
    root: Table,
    provenance: BTreeMap<String, Provenance>,
}

impl Reader {
    fn section(&mut self, path: &str) -> Result<Table, ArchError> {
        let mut table = &mut self.root;
        let mut parts = path.split('.').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return match table.remove(part) {
                    Some(Value::Table(section)) => Ok(section),
                    Some(_) => Err(invalid(path, "expected a section")),
                    None => Err(ArchError::Missing(path.to_owned())),
                };
            }
            table = match table.get_mut(part) {
                Some(Value::Table(inner)) => inner,
                _ => return Err(ArchError::Missing(path.to_owned())),
            };
        }
        Err(ArchError::Missing(path.to_owned()))
    }

    fn entry<T: Scalar>(&mut self, key: &str, value: Value, unit: &str) -> Result<T, ArchError> {
        const SHAPE: &str = "expected { value, unit, source, confidence }";
        let Value::Table(mut entry) = value else { return Err(invalid(key, SHAPE)) };
        let raw = entry.remove("value").ok_or_else(|| invalid(key, SHAPE))?;
        let mut text = |name: &str| match entry.remove(name) {
            Some(Value::String(s)) if !s.is_empty() => Ok(s),
            _ => Err(invalid(key, SHAPE)),
        };
        let (found, source, confidence) = (text("unit")?, text("source")?, text("confidence")?);
        if !entry.is_empty() {
            return Err(invalid(key, SHAPE));
        }
        if found != unit {
            return Err(invalid(key, format!("unit is `{found}`, expected `{unit}`")));
        }
        let confidence = match confidence.as_str() {
            "H" => Confidence::High,
            "M" => Confidence::Medium,
            "L" => Confidence::Low,
            other => {
                return Err(invalid(key, format!("confidence is `{other}`, expected H, M or L")));
            }
        };
        let typed = T::from_value(&raw)
            .ok_or_else(|| invalid(key, format!("value is {raw}, expected {}", T::EXPECTED)))?;
        self.provenance.insert(key.to_owned(), Provenance { unit: found, source, confidence });
        Ok(typed)
    }

    fn take<T: Scalar>(
        &mut self,
        section: &mut Table,
        path: &str,
        name: &str,
        unit: &str,
    ) -> Result<T, ArchError> {
        let key = format!("{path}.{name}");
        let value = section.remove(name).ok_or_else(|| ArchError::Missing(key.clone()))?;
        self.entry(&key, value, unit)
    }
}

fn reject_rest(section: &Table, path: &str) -> Result<(), ArchError> {
    match section.keys().next() {
        Some(key) => Err(ArchError::Unknown(format!("{path}.{key}"))),
        None => Ok(()),
    }
}

macro_rules! section {
    ($(#[$doc:meta])* $name:ident $path:literal
     { $($(#[$field_doc:meta])* $field:ident: $ty:ty = $unit:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $($(#[$field_doc])* pub $field: $ty,)* }

        impl $name {
            fn read(reader: &mut Reader) -> Result<Self, ArchError> {
                let mut table = reader.section($path)?;
                let section = $name {
                    $($field: reader.take(&mut table, $path, stringify!($field), $unit)?,)*
                };
                reject_rest(&table, $path)?;
                Ok(section)
            }
        }
    };
}

section! {
    /// What the runtime reports, and how many of what there is.
    Device "device" {
        /// Marketing name, as the runtime reports it.
        name: String = "text",
        /// Compute units.
        compute_units: u32 = "count",
        /// Accelerator dies; workgroup `i` goes to die `i mod xcds`.
        xcds: u32 = "count",
        /// Shader engines of a die.
        shader_engines_per_xcd: u32 = "count",
        /// SIMDs of a compute unit.
        simds_per_cu: u32 = "count",
        /// Device memory.
        memory: u64 = "B",
        /// Largest workgroup.
        max_workgroup_threads: u32 = "count",
    }
}

section! {
    /// Shader clock.
    Clock "clock" {
        /// Clock of short or memory-bound kernels.
        nominal: f64 = "MHz",
        /// Clock left at full load of the matrix units with 16-bit (and wider) inputs.
        sustained_matrix_16bit: f64 = "MHz",
        /// Clock left at full load of the matrix units with inputs of 8 bits or less.
        sustained_matrix_8bit: f64 = "MHz",
        /// Clock that `s_memrealtime` counts.
        realtime_counter: f64 = "MHz",
    }
}

section! {
    /// What limits the waves resident on a SIMD.
    Occupancy "occupancy" {
        /// Wave slots of a SIMD.
        waves_per_simd: u32 = "count",
        /// Architected plus accumulation registers of a lane, over all waves of a SIMD.
        vgprs_per_lane: u32 = "count",
        /// Allocation granule of a wave's registers.
        vgpr_granule: u32 = "count",
        /// Granule of the architected part where accumulation registers follow.
        arch_vgpr_granule: u32 = "count",
        /// Scalar registers of a SIMD.
        sgprs_per_simd: u32 = "count",
        /// Workgroups resident on a compute unit.
        workgroups_per_cu: u32 = "count",
    }
}

section! {
    /// Instruction issue.
    Issue "issue" {
        /// Distance of two issue slots of a SIMD.
        slot: u32 = "clk",
        /// Cost of an 8-byte instruction across an 8-byte boundary.
        crossing: u32 = "clk",
        /// A branch that is not taken.
        branch: u32 = "clk",
        /// A taken branch.
        branch_taken: u32 = "clk",
        /// One unit of `s_sleep`.
        sleep_unit: u32 = "clk",
        /// From the arrival of the last wave at a barrier to the next instruction of all.
        barrier: u32 = "clk",
    }
}

section! {
    /// Instruction cache.
    Fetch "fetch" {
        /// Capacity.
        cache: u32 = "B",
        /// Line.
        line: u32 = "B",
        /// Miss that hits L2.
        miss: u32 = "clk",
        /// Lines fetched ahead.
        prefetch: u32 = "count",
    }
}

section! {
    /// Clocks that one wave instruction occupies the vector ALU of its SIMD.
    Valu "valu" {
        /// Ordinary operations.
        full: u32 = "clk",
        /// Transcendental functions of 16 and 32 bits.
        transcendental: u32 = "clk",
        /// Reciprocal and square root of 64 bits.
        transcendental_f64: u32 = "clk",
        /// Conversions between number formats.
        convert: u32 = "clk",
        /// 32-bit and 64-bit integer multiplication.
        integer_multiply: u32 = "clk",
        /// 64-bit floating point.
        double: u32 = "clk",
        /// Packed 32-bit floating point.
        packed_f32: u32 = "clk",
        /// `v_permlane16_swap` and `v_permlane32_swap`.
        permlane_swap: u32 = "clk",
        /// Wait of a packed 32-bit operation after the matrix unit has become idle.
        packed_f32_after_matrix: u32 = "clk",
    }
}

section! {
    /// Local data share, except its phases.
    LdsUnit "lds" {
        /// Bytes of a compute unit.
        size: u32 = "B",
        /// Allocation granule.
        granule: u32 = "B",
        /// Ports, each shared by an equal number of SIMDs.
        ports: u32 = "count",
        /// Read data a port returns.
        port_read: u32 = "B/clk",
        /// Write data a port accepts.
        port_write: u32 = "B/clk",
        /// Address cycles of a wave access on its port.
        port_address: u32 = "clk",
        /// Instructions that can wait for the unit.
        queue: u32 = "count",
        /// Issue to data of an unloaded read of up to 4 bytes a lane.
        latency_b32: u32 = "clk",
        /// The same for 8 bytes a lane.
        latency_b64: u32 = "clk",
        /// The same for 12 or 16 bytes a lane.
        latency_b128: u32 = "clk",
        /// Issue to acknowledgement of a write.
        latency_write: u32 = "clk",
        /// Issue to data of an atomic.
        latency_atomic: u32 = "clk",
    }
}

section! {
    /// Lanes served together, by direction and width.
    LdsPhases "lds.phases" {
        /// Reads of up to 4 bytes a lane.
        read_b32: Phases = "lanes",
        /// Reads of 8 bytes.
        read_b64: Phases = "lanes",
        /// Reads of 12 bytes.
        read_b96: Phases = "lanes",
        /// Reads of 16 bytes.
        read_b128: Phases = "lanes",
        /// Writes of up to 4 bytes a lane.
        write_b32: Phases = "lanes",
        /// Writes of 8 bytes.
        write_b64: Phases = "lanes",
        /// Writes of 12 bytes.
        write_b96: Phases = "lanes",
        /// Writes of 16 bytes.
        write_b128: Phases = "lanes",
    }
}

section! {
    /// Vector memory issue and the vector cache of a compute unit.
    Vmem "vmem" {
        /// Lane addresses processed.
        address_lanes: u32 = "lanes/clk",
        /// Data between the vector cache and the registers.
        bandwidth: u32 = "B/clk",
        /// Instructions that can wait for address processing.
        queue: u32 = "count",
        /// Instructions a wave can have outstanding.
        outstanding_per_wave: u32 = "count",
        /// Capacity of the cache.
        cache: u32 = "B",
        /// Line of the vector cache and of L2.
        line: u32 = "B",
        /// Associativity.
        ways: u32 = "count",
        /// Issue to data of a hit.
        hit: u32 = "clk",
        /// Lines looked up.
        line_rate: u32 = "lines/clk",
        /// Issue to acknowledgement of an unloaded store.
        store_latency: u32 = "clk",
        /// Issue to data of an uncontended atomic.
        atomic_latency: u32 = "clk",
        /// Granule in which stores leave the compute unit.
        store_sector: u32 = "B",
    }
}

section! {
    /// Second-level cache of one die.
    L2 "l2" {
        /// Capacity of one die's cache.
        size: u64 = "B",
        /// Associativity.
        ways: u32 = "count",
        /// Issue to data of a hit.
        hit: u32 = "clk",
        /// Read bandwidth of all dies together.
        read: f64 = "GB/s",
        /// Write bandwidth of all dies together.
        write: f64 = "GB/s",
        /// Limit of one compute unit.
        port: u32 = "B/clk",
    }
}

section! {
    /// Memory-side cache.
    Mall "mall" {
        /// Capacity.
        size: u64 = "B",
        /// Issue to data of a hit.
        hit: u32 = "clk",
        /// Bandwidth of all dies together.
        bandwidth: f64 = "GB/s",
    }
}

section! {
    /// Memory.
    Hbm "hbm" {
        /// Issue to data, unloaded.
        latency: u32 = "clk",
        /// Read bandwidth reached by streaming kernels.
        read: f64 = "GB/s",
        /// Write bandwidth reached by streaming kernels.
        write: f64 = "GB/s",
        /// Fraction of the bandwidth that one compute unit can reach.
        share_per_cu: f64 = "ratio",
        /// How long an idle compute unit saves up its share.
        burst: u32 = "clk",
    }
}

section! {
    /// Scalar data cache.
    ScalarCache "scalar" {
        /// Capacity.
        cache: u32 = "B",
        /// Line.
        line: u32 = "B",
        /// Issue to data of a hit.
        hit: u32 = "clk",
        /// Added by a miss that hits L2.
        miss: u32 = "clk",
        /// Operations counted by lgkmcnt that a wave can have outstanding.
        outstanding_per_wave: u32 = "count",
    }
}

section! {
    /// From the grid to waves.
    Dispatch "dispatch" {
        /// Between two workgroups of one die.
        xcd_interval: u32 = "clk",
        /// Between two workgroups of one shader engine.
        engine_interval: u32 = "clk",
        /// Between two waves of one workgroup.
        wave_interval: u32 = "clk",
        /// From a free place to the first instruction of the workgroup that takes it.
        workgroup_latency: u32 = "clk",
    }
}

section! {
    /// What a kernel costs beyond its workgroups.
    Launch "launch" {
        /// Begin to end timestamp of a kernel, less the time of its workgroups.
        fixed: f64 = "us",
    }
}

/// Matrix unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Clocks of one pass.
    pub pass: u32,
    /// Clocks by which a sparse operation's shadow for other vector instructions is shorter.
    pub sparse_shadow_loss: u32,
    /// Passes by shape and input class, such as `16x16x16_16bit`.
    pub passes: BTreeMap<String, u32>,
}

impl Matrix {
    fn read(reader: &mut Reader) -> Result<Self, ArchError> {
        let section = reader.section("matrix.passes")?;
        let mut passes = BTreeMap::new();
        for (name, value) in section {
            let key = format!("matrix.passes.{name}");
            passes.insert(name, reader.entry(&key, value, "count")?);
        }
        let mut table = reader.section("matrix")?;
        let pass = reader.take(&mut table, "matrix", "pass", "clk")?;
        let sparse_shadow_loss = reader.take(&mut table, "matrix", "sparse_shadow_loss", "clk")?;
        reject_rest(&table, "matrix")?;
        Ok(Matrix { pass, sparse_shadow_loss, passes })
    }
}

/// Local data share.
#[derive(Clone, Debug, PartialEq)]
pub struct Lds {
    /// Sizes, ports and latencies.
    pub unit: LdsUnit,
    /// Lanes served together.
    pub phases: LdsPhases,
}

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
        let (cell, text) = match arch {
            Arch::Gfx942 => (&GFX942, include_str!("../data/gfx942.toml")),
            Arch::Gfx950 => (&GFX950, include_str!("../data/gfx950.toml")),
        };
        cell.get_or_init(|| Self::parse(arch, text)).as_ref().map_err(Clone::clone)
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

    const TEXT: &str = include_str!("../data/gfx950.toml");

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
