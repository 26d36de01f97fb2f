//! The local data share of a compute unit: bank conflicts, ports and queue.
//!
//! Goes in: the lane addresses of each access and when it issues. Comes out: when it completes, and
//! the clocks that conflicts added. Lanes are served in phases; within a phase, lanes that address
//! different dwords of one bank take turns, lanes that address the same dword share it.

use super::fifo::Fifo;
use crate::arch::{ArchParams, Lds, Phases};
use crate::exec::{MemAccess, MemKind, WAVE};

/// Most banks a parameter file may name.
const MAX_BANKS: usize = 128;
/// Most dwords one phase can touch: 64 lanes of 16 bytes.
const MAX_WORDS: usize = 4 * WAVE;

/// Clocks that an access occupies the banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BankCycles {
    /// Phases with at least one lane: the cost without conflicts.
    pub phases: u32,
    /// Further clocks that conflicts take.
    pub conflicts: u32,
}

/// Bank clocks of one address of every lane in `mask`, `bytes` bytes each.
pub fn bank_cycles(phases: &Phases, mask: u64, bytes: u32, addr: &[u64; WAVE]) -> BankCycles {
    // Aligned wide accesses occupy whole groups of banks, which need only one check.
    let wide = u64::from(bytes);
    let aligned = wide.is_power_of_two()
        && wide >= 4
        && (0..WAVE).all(|lane| mask >> lane & 1 == 0 || addr[lane].is_multiple_of(wide));
    let (unit, parts) = if aligned { (wide, 1) } else { (4, u64::from(bytes.div_ceil(4).max(1))) };
    // All of these are powers of two.
    let shift = unit.trailing_zeros();
    let groups = (((u64::from(phases.banks) * 4) >> shift).max(1) as usize).min(MAX_BANKS);
    let mut total = BankCycles::default();
    // Words seen in a phase, chained by bank; index 0 ends a chain.
    let mut seen = [0u64; MAX_WORDS + 1];
    let mut next = [0u16; MAX_WORDS + 1];
    for lanes in &phases.lanes {
        let mut head = [0u16; MAX_BANKS];
        let mut degree = [0u16; MAX_BANKS];
        let (mut len, mut worst) = (0, 0);
        for &lane in lanes {
            if mask >> lane & 1 == 0 {
                continue;
            }
            for part in 0..parts {
                let word = (addr[lane as usize] >> shift) + part;
                let bank = word as usize & (groups - 1);
                let mut i = head[bank] as usize;
                while i != 0 && seen[i] != word {
                    i = next[i] as usize;
                }
                if i == 0 && len < MAX_WORDS {
                    len += 1;
                    seen[len] = word;
                    next[len] = head[bank];
                    head[bank] = len as u16;
                    degree[bank] += 1;
                    worst = worst.max(degree[bank]);
                }
            }
        }
        if worst > 0 {
            total.phases += 1;
            total.conflicts += u32::from(worst) - 1;
        }
    }
    total
}

/// Patterns of addresses whose clocks are remembered.
const PATTERNS: usize = 64;

/// Bank clocks of patterns of addresses seen before: a kernel reads LDS in few patterns, over and over.
#[derive(Clone, Debug)]
struct Memo(Vec<Option<(Pattern, BankCycles)>>);

/// What bank clocks depend on. Addresses are relative to the start of the row of banks that the first
/// lane's lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    mask: u64,
    bytes: u32,
    write: bool,
    addr: [u32; WAVE],
}

impl Memo {
    fn new() -> Self {
        Memo(vec![None; PATTERNS])
    }

    fn cycles(
        &mut self,
        phases: &Phases,
        write: bool,
        access: &MemAccess,
        addr: &[u64; WAVE],
    ) -> BankCycles {
        // A row starts where the widest access does.
        let row = (4 * u64::from(phases.banks)).max(16);
        let base = addr[0] & !(row - 1);
        let relative = addr.map(|addr| addr.wrapping_sub(base) as u32);
        let MemAccess { mask, bytes, .. } = *access;
        let pattern = Pattern { mask, bytes, write, addr: relative };
        let hash = [0, 1, 5, 17, 63].iter().fold(u64::from(bytes), |hash, &lane| {
            (hash ^ u64::from(pattern.addr[lane])).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        let slot = &mut self.0[(hash >> 32) as usize % PATTERNS];
        match slot {
            Some((known, cycles)) if *known == pattern => *cycles,
            _ => {
                let cycles = bank_cycles(phases, mask, bytes, addr);
                *slot = Some((pattern, cycles));
                cycles
            }
        }
    }
}

/// Clocks at which the parts of the unit are free.
#[derive(Clone, Debug)]
pub struct LdsPipe<'p> {
    p: &'p Lds,
    simds_per_port: usize,
    banks_free: u64,
    input_free: Vec<u64>,
    output_free: Vec<u64>,
    queue: Fifo,
    memo: Memo,
}

/// What an access cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LdsTiming {
    /// When its data is in the registers, or its write acknowledged.
    pub done: u64,
    /// Clocks that bank conflicts added.
    pub conflicts: u32,
}

impl<'p> LdsPipe<'p> {
    /// An idle unit.
    pub fn new(p: &'p ArchParams) -> Self {
        let ports = p.lds.unit.ports as usize;
        LdsPipe {
            p: &p.lds,
            simds_per_port: (p.device.simds_per_cu as usize / ports).max(1),
            banks_free: 0,
            input_free: vec![0; ports],
            output_free: vec![0; ports],
            queue: Fifo::new(p.lds.unit.queue),
            memo: Memo::new(),
        }
    }

    /// From when the queue accepts an instruction.
    pub fn room_at(&self) -> u64 {
        self.queue.room_at()
    }

    /// Serves an access that `simd` issues at `now`.
    pub fn access(&mut self, now: u64, simd: usize, access: &MemAccess) -> LdsTiming {
        let u = &self.p.unit;
        let port = (simd / self.simds_per_port).min(self.input_free.len() - 1);
        let write = access.kind == MemKind::LdsWrite;
        let cycles = self.cycles(access, write);
        let lanes = u64::from(access.mask.count_ones());
        let bytes = lanes * u64::from(access.bytes) * if access.two { 2 } else { 1 };
        let addresses = u64::from(u.port_address) * if access.two { 2 } else { 1 };

        let input =
            if write { addresses + bytes.div_ceil(u64::from(u.port_write)) } else { addresses };
        let begin = now.max(self.input_free[port]);
        self.input_free[port] = begin + input;
        let banks = begin.max(self.banks_free);
        self.banks_free = banks + u64::from(cycles.phases + cycles.conflicts);
        let mut leave = banks;
        if !write {
            leave = banks.max(self.output_free[port]);
            self.output_free[port] = leave + bytes.div_ceil(u64::from(u.port_read));
        }
        self.queue.push(leave);
        let latency = match (access.kind, access.bytes) {
            (MemKind::LdsWrite, _) => u.latency_write,
            (MemKind::LdsAtomic, _) => u.latency_atomic,
            (_, 0..=4) => u.latency_b32,
            (_, 5..=8) => u.latency_b64,
            _ => u.latency_b128,
        };
        let delay = (leave - now).max(banks - now + u64::from(cycles.conflicts));
        LdsTiming { done: now + u64::from(latency) + delay, conflicts: cycles.conflicts }
    }

    /// Accounts for data that arrives from memory without passing registers.
    pub fn direct_write(&mut self, now: u64, bytes: u64) {
        let rate = u64::from(self.p.unit.port_write) * self.input_free.len() as u64;
        self.banks_free = self.banks_free.max(now) + bytes.div_ceil(rate);
    }

    fn cycles(&mut self, access: &MemAccess, write: bool) -> BankCycles {
        let t = &self.p.phases;
        let phases = match (write, access.bytes) {
            (false, 0..=4) => &t.read_b32,
            (false, 5..=8) => &t.read_b64,
            (false, 9..=12) => &t.read_b96,
            (false, _) => &t.read_b128,
            (true, 0..=4) => &t.write_b32,
            (true, 5..=8) => &t.write_b64,
            (true, 9..=12) => &t.write_b96,
            (true, _) => &t.write_b128,
        };
        if access.kind == MemKind::LdsLane {
            let used = |l: &&Vec<u8>| l.iter().any(|&lane| access.mask >> lane & 1 == 1);
            let phases = phases.lanes.iter().filter(used).count() as u32;
            return BankCycles { phases, conflicts: 0 };
        }
        let mut cycles = self.memo.cycles(phases, write, access, &access.addr);
        if access.two {
            let second = self.memo.cycles(phases, write, access, &access.addr2);
            cycles.phases += second.phases;
            cycles.conflicts += second.conflicts;
        }
        cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Arch;

    fn params(arch: Arch) -> &'static ArchParams {
        ArchParams::load(arch).unwrap()
    }

    fn access(kind: MemKind, bytes: u32, address: impl Fn(u64) -> u64) -> MemAccess {
        let mut a = MemAccess { kind, mask: u64::MAX, bytes, ..Default::default() };
        for lane in 0..WAVE {
            a.addr[lane] = address(lane as u64);
        }
        a
    }

    fn cost(phases: &Phases, bytes: u32, address: impl Fn(u64) -> u64) -> u32 {
        let a = access(MemKind::LdsRead, bytes, address);
        let c = bank_cycles(phases, a.mask, bytes, &a.addr);
        c.phases + c.conflicts
    }

    /// gfx942, 32 banks, two phases of 32 lanes: stride 1 takes 2 clk, stride 2 (two lanes a bank)
    /// 4, stride 8 (8 lanes in each of 4 banks) 16, stride 32 (one bank) 64, odd strides 2; the
    /// times pyhip measured grow by the same steps.
    #[test]
    fn dword_reads_cost_two_clocks_for_each_lane_of_the_fullest_bank() {
        let t = &params(Arch::Gfx942).lds.phases.read_b32;
        for (stride, clk) in [(1, 2), (2, 4), (4, 8), (8, 16), (16, 32), (32, 64), (33, 2), (3, 2)]
        {
            assert_eq!(cost(t, 4, |l| 4 * stride * l), clk, "stride {stride}");
        }
        assert_eq!(cost(t, 4, |_| 64), 2, "a broadcast is one dword");
    }

    /// Eight lanes of 16 B fill the 32 banks of gfx942 in one clock: 8 clk for consecutive lanes.
    /// With a 128 B row for each lane all eight lanes of a phase meet in the same banks: 64 clk.
    /// gfx950 has twice the banks: 4 clk, and 4 phases of 16 lanes, which a 256 B row sends all to
    /// the same banks, also 64.
    #[test]
    fn wide_reads_conflict_within_their_phase_only() {
        let old = &params(Arch::Gfx942).lds.phases.read_b128;
        let new = &params(Arch::Gfx950).lds.phases.read_b128;
        assert_eq!(cost(old, 16, |l| 16 * l), 8);
        assert_eq!(cost(old, 16, |l| 128 * l), 64);
        assert_eq!(cost(new, 16, |l| 16 * l), 4);
        assert_eq!(cost(new, 16, |l| 256 * l), 64);
        // Lanes 0-3 share their phase with 20-23, not with 4-7. Moved to the banks of lanes 0-3,
        // lanes 20-23 meet those, and lanes 4-7 meet 16-19 of their own phase: 1 clk more each.
        let swap = |from: u64, to: u64| {
            move |l: u64| 16 * if (from..from + 4).contains(&l) { l - from + to + 256 } else { l }
        };
        assert_eq!(cost(old, 16, swap(4, 0)), 8 + 1);
        assert_eq!(cost(old, 16, swap(20, 0)), 8 + 1);
        assert_eq!(cost(old, 16, swap(20, 20)), 8);
    }

    #[test]
    fn misaligned_wide_reads_are_counted_by_dword() {
        let t = &params(Arch::Gfx942).lds.phases.read_b64;
        // 16 lanes of 8 B are 32 dwords on 32 banks, wherever they begin.
        assert_eq!(cost(t, 8, |l| 4 + 8 * l), 4);
    }

    /// gfx942: one wave gets 64 B/clk from its port, 16 clk for each ds_read_b128; waves of SIMDs on
    /// both ports get 8 clk from the unit (pyhip). Latency of the first is 64 clk.
    #[test]
    fn one_port_returns_half_of_what_the_unit_can() {
        let a = access(MemKind::LdsRead, 16, |l| 16 * l);
        let mut one = LdsPipe::new(params(Arch::Gfx942));
        let done: Vec<u64> = (0..5).map(|_| one.access(0, 0, &a).done).collect();
        assert_eq!(done, [64, 80, 96, 112, 128]);
        let mut both = LdsPipe::new(params(Arch::Gfx942));
        let done: Vec<u64> = (0..8).map(|i| both.access(0, (i % 2) * 2, &a).done).collect();
        assert_eq!(done[7] - done[1], 48, "six more accesses in 48 clk");
    }

    /// The input port carries 4 clk of addresses and the data at 64 B/clk: a b32 store takes 8 clk,
    /// a b128 store 20 (rocprofiler-compute).
    #[test]
    fn stores_take_their_address_and_data_cycles_on_the_input_port() {
        for (bytes, clk) in [(4, 8), (16, 20)] {
            let a = access(MemKind::LdsWrite, bytes, |l| u64::from(bytes) * l);
            let mut pipe = LdsPipe::new(params(Arch::Gfx942));
            let first = pipe.access(0, 0, &a).done;
            assert_eq!(pipe.access(0, 0, &a).done - first, clk);
        }
    }

    /// A pattern that comes again 3 dwords further, in other banks, and in another row: the first is
    /// another pattern, the second the same; both cost what they cost without a memory.
    #[test]
    fn a_remembered_pattern_costs_what_it_did() {
        for arch in Arch::ALL {
            let p = params(arch);
            let mut pipe = LdsPipe::new(p);
            for offset in [0, 12, 128, 4096 + 12, 256 + 16] {
                for stride in [4, 20, 36, 132] {
                    let a = access(MemKind::LdsRead, 4, |l| offset + stride * l);
                    let expected = bank_cycles(&p.lds.phases.read_b32, a.mask, 4, &a.addr);
                    assert_eq!(pipe.cycles(&a, false), expected, "{offset} + {stride} * lane");
                }
            }
        }
    }
}
