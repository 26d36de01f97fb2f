//! The sections of a parameter file, as types.

use std::collections::BTreeMap;

use super::reader::{ArchError, Phases, Reader, reject_rest};

macro_rules! section {
    ($(#[$doc:meta])* $name:ident $path:literal
     { $($(#[$field_doc:meta])* $field:ident: $ty:ty = $unit:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $($(#[$field_doc])* pub $field: $ty,)* }

        impl $name {
            pub(super) fn read(reader: &mut Reader) -> Result<Self, ArchError> {
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
        /// Data sheet bandwidth, for rooflines only.
        nominal: f64 = "GB/s",
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
        /// What the host takes to issue a launch from Python, which events around it include.
        host: f64 = "us",
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
    pub(super) fn read(reader: &mut Reader) -> Result<Self, ArchError> {
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
