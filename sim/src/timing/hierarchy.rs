//! Vector and scalar memory of one compute unit: address processing, caches and the bandwidth of
//! what lies behind them.
//!
//! Goes in: the lane addresses of each access and when it issues. Comes out: when its data is there,
//! and how many bytes each level passed. L2, memory-side cache and memory are shared: the compute
//! unit gets its share of their bandwidth (its part of the grid's work) and of their capacity. What
//! is not modelled: address translation misses, channel conflicts, writes of other units to the same
//! line, and L1 hits on lines that another workgroup fetched.

use std::collections::BTreeMap;

use super::cache::{Cache, Lookup};
use super::coalesce::Segments;
use super::fifo::Fifo;
use super::place::Places;
use super::server::Server;
use super::sharing::{Device, Level, Shared, Sharing};
use crate::arch::ArchParams;
use crate::exec::{MemAccess, MemKind, WAVE};
use crate::memory::AddressSpace;

/// Bytes that each level passed to or from the compute unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Lane bytes of vector loads.
    pub loaded: u64,
    /// Lane bytes of vector stores and atomics.
    pub stored: u64,
    /// Lines looked up in the vector cache.
    pub l1_lookups: u64,
    /// Of those, hits.
    pub l1_hits: u64,
    /// Bytes read from L2.
    pub l2_read: u64,
    /// Bytes written to L2.
    pub l2_written: u64,
    /// Bytes that L2 read from the memory-side cache.
    pub mall_read: u64,
    /// Bytes that came from memory.
    pub hbm_read: u64,
    /// Bytes that go to memory.
    pub hbm_written: u64,
}

impl Traffic {
    /// Bytes by name of the level and direction.
    pub fn by_level(&self) -> BTreeMap<String, u64> {
        [
            ("loaded", self.loaded),
            ("stored", self.stored),
            ("l2_read", self.l2_read),
            ("l2_written", self.l2_written),
            ("mall_read", self.mall_read),
            ("hbm_read", self.hbm_read),
            ("hbm_written", self.hbm_written),
        ]
        .into_iter()
        .map(|(name, bytes)| (name.to_owned(), bytes))
        .collect()
    }

    /// What has passed since `other`.
    pub fn since(&self, other: &Traffic) -> Traffic {
        Traffic {
            loaded: self.loaded.saturating_sub(other.loaded),
            stored: self.stored.saturating_sub(other.stored),
            l1_lookups: self.l1_lookups.saturating_sub(other.l1_lookups),
            l1_hits: self.l1_hits.saturating_sub(other.l1_hits),
            l2_read: self.l2_read.saturating_sub(other.l2_read),
            l2_written: self.l2_written.saturating_sub(other.l2_written),
            mall_read: self.mall_read.saturating_sub(other.mall_read),
            hbm_read: self.hbm_read.saturating_sub(other.hbm_read),
            hbm_written: self.hbm_written.saturating_sub(other.hbm_written),
        }
    }

    /// Every count times `factor`.
    pub fn scaled(&self, factor: f64) -> Traffic {
        let by = |n: u64| (n as f64 * factor) as u64;
        Traffic {
            loaded: by(self.loaded),
            stored: by(self.stored),
            l1_lookups: by(self.l1_lookups),
            l1_hits: by(self.l1_hits),
            l2_read: by(self.l2_read),
            l2_written: by(self.l2_written),
            mall_read: by(self.mall_read),
            hbm_read: by(self.hbm_read),
            hbm_written: by(self.hbm_written),
        }
    }
}

/// What part of the device the simulated compute unit is.
#[derive(Clone, Debug)]
pub struct Share {
    /// Its part of the grid's workgroups: its part of every shared bandwidth.
    pub of_bandwidth: f64,
    /// Workgroups resident on it.
    pub resident: u32,
    /// Workgroups that run at the same time on one die.
    pub concurrent_in_xcd: u32,
    /// Workgroups that run at the same time on the device.
    pub concurrent_in_device: u64,
    /// Lines that others have fetched.
    pub sharing: Sharing,
}

/// Who accesses memory.
#[derive(Clone, Copy, Debug)]
pub struct Requester {
    /// Die of the workgroup.
    pub xcd: usize,
    /// Workgroup in sampling order.
    pub group: u64,
}

/// The memory system as one compute unit sees it.
#[derive(Clone, Debug)]
pub struct Hierarchy<'p> {
    p: &'p ArchParams,
    line_shift: u32,
    sector_shift: u32,
    address_free: u64,
    queue: Fifo,
    l1: Cache,
    scalar: Cache,
    l2: Vec<Cache>,
    mall: Cache,
    port: Server,
    l2_read: Server,
    l2_write: Server,
    mall_bandwidth: Server,
    hbm: Server,
    /// Cost of a written byte in read bytes.
    hbm_write_weight: f64,
    backlog: f64,
    sharing: Sharing,
    memory: &'p AddressSpace,
    places: Places,
    /// Part of the grid whose workgroups have begun on this compute unit.
    pub begun: f64,
    segments: Segments,
    /// Bytes so far.
    pub traffic: Traffic,
}

impl<'p> Hierarchy<'p> {
    /// An idle memory system with cold caches.
    pub fn new(p: &'p ArchParams, share: &Share, memory: &'p AddressSpace) -> Self {
        let line = u64::from(p.vmem.line);
        let rate =
            |gb_per_s: f64, part: f64| (p.bytes_per_clk(gb_per_s) * part).min(f64::from(p.l2.port));
        let w = share.of_bandwidth;
        let burst = p.hbm.burst;
        let sharing = share.sharing.clone();
        // A workgroup's lines compete with those of all others that run at the same time, as far as
        // these are different lines.
        let per_workgroup = |bytes: u64, concurrent: f64, unique: f64| {
            let lines = (bytes / line) as f64;
            lines / (concurrent * unique).max(1.0)
        };
        let xcds = p.device.xcds as usize;
        let resident_in_xcd = share.resident.div_ceil(p.device.xcds).max(1);
        let l2 =
            per_workgroup(p.l2.size, f64::from(share.concurrent_in_xcd), sharing.unique_in_xcd);
        let l2_lines = (l2 * f64::from(resident_in_xcd)).min((p.l2.size / line) as f64);
        let mall =
            per_workgroup(p.mall.size, share.concurrent_in_device as f64, sharing.unique_in_device);
        let mall_lines = (mall * f64::from(share.resident.max(1))).min((p.mall.size / line) as f64);
        Hierarchy {
            p,
            line_shift: p.vmem.line.trailing_zeros(),
            sector_shift: p.vmem.store_sector.trailing_zeros(),
            address_free: 0,
            queue: Fifo::new(p.vmem.queue),
            l1: Cache::new(u64::from(p.vmem.cache) / line, p.vmem.ways),
            scalar: Cache::new(u64::from(p.scalar.cache / p.scalar.line), u32::MAX),
            l2: vec![Cache::new(l2_lines as u64, p.l2.ways); xcds],
            mall: Cache::tags(mall_lines as u64, p.l2.ways),
            port: Server::new(f64::from(p.l2.port), 0),
            l2_read: Server::new(rate(p.l2.read, w), burst),
            l2_write: Server::new(rate(p.l2.write, w), burst),
            mall_bandwidth: Server::new(rate(p.mall.bandwidth, w), burst),
            hbm: Server::new(rate(p.hbm.read, w.min(p.hbm.share_per_cu)), burst),
            hbm_write_weight: p.hbm.read / p.hbm.write,
            backlog: 0.0,
            sharing,
            memory,
            places: Places::new(p.vmem.line.trailing_zeros()),
            begun: 0.0,
            segments: Segments::default(),
            traffic: Traffic::default(),
        }
    }

    /// From when the address queue accepts an instruction.
    pub fn room_at(&self) -> u64 {
        self.queue.room_at()
    }

    /// Bytes by level, with the lines that memory has still to be charged for.
    pub fn settled(&self) -> Traffic {
        let unpaid = self.sharing.unpaid() * u64::from(self.p.vmem.line);
        Traffic { hbm_read: self.traffic.hbm_read + unpaid, ..self.traffic }
    }

    /// When everything written so far is in memory.
    pub fn drained_at(&self) -> u64 {
        self.backlog as u64
    }

    /// Serves a vector access issued at `now`; returns when it completes.
    pub fn vector(&mut self, now: u64, who: Requester, access: &MemAccess) -> u64 {
        match access.kind {
            MemKind::Store => self.store(now, who, access),
            MemKind::Atomic => self.atomic(now, who, access),
            _ => self.load(now, who, access),
        }
    }

    fn load(&mut self, now: u64, who: Requester, access: &MemAccess) -> u64 {
        let v = &self.p.vmem;
        self.segments.collect(access, self.line_shift, v.address_lanes);
        let bytes = u64::from(access.mask.count_ones()) * u64::from(access.bytes);
        self.traffic.loaded += bytes;
        let (start, cost) = self.address(now, bytes, self.segments.lookups);
        let base = u64::from(self.base_cost());
        // The latencies are those of a dword load; wider ones return their last data later.
        let extra = cost.saturating_sub(base);
        let mut done = start + u64::from(v.hit);
        for i in 0..self.segments.as_slice().len() {
            let line = self.segments.as_slice()[i];
            let at = start + i as u64 / u64::from(v.line_rate);
            let ready = self.l1_line(at, who, line);
            done = done.max(ready);
        }
        done + extra
    }

    /// Occupies address processing; returns when it starts on the instruction and for how long.
    fn address(&mut self, now: u64, bytes: u64, lookups: u32) -> (u64, u64) {
        let v = &self.p.vmem;
        let start = now.max(self.address_free);
        let cost = u64::from(self.base_cost())
            .max(bytes.div_ceil(u64::from(v.bandwidth)))
            .max(u64::from(lookups.div_ceil(v.line_rate)));
        self.address_free = start + cost;
        self.queue.push(start);
        (start, cost)
    }

    fn base_cost(&self) -> u32 {
        (WAVE as u32).div_ceil(self.p.vmem.address_lanes)
    }

    fn l1_line(&mut self, at: u64, who: Requester, line: u64) -> u64 {
        self.traffic.l1_lookups += 1;
        // Line numbers take 41 bits; the workgroup above them keeps workgroups apart.
        let place = self.places.of(line, self.memory);
        match self.l1.touch(place ^ who.group << 44) {
            Lookup::Hit(i) => {
                self.traffic.l1_hits += 1;
                self.l1.entry(i).ready.max(at + u64::from(self.p.vmem.hit))
            }
            Lookup::Filled(i) | Lookup::Replaced(i) => {
                let ready = self.l2_line(at, who.xcd, line);
                self.l1.entry(i).ready = ready;
                ready
            }
        }
    }

    /// Fetches a line through L2; returns when it arrives at the vector cache.
    fn l2_line(&mut self, at: u64, xcd: usize, line: u64) -> u64 {
        let bytes = f64::from(self.p.vmem.line);
        self.traffic.l2_read += u64::from(self.p.vmem.line);
        let mut delay = self.port.serve(at, bytes).max(self.l2_read.serve(at, bytes));
        let unit = xcd.min(self.l2.len() - 1);
        let place = self.places.of(line, self.memory);
        let (latency, entry) = match self.l2[unit].touch(place) {
            Lookup::Hit(i) => (self.p.l2.hit, i),
            Lookup::Filled(i) | Lookup::Replaced(i) => {
                let (latency, behind) = self.behind_l2(at, line);
                delay = delay.max(behind);
                (latency, i)
            }
        };
        let entry = self.l2[unit].entry(entry);
        let ready = entry.ready.max(at + u64::from(latency) + delay as u64);
        entry.ready = ready;
        ready
    }

    /// Latency and queueing of a line that the compute unit's own accesses did not leave in L2.
    fn behind_l2(&mut self, at: u64, line: u64) -> (u32, f64) {
        let size = u64::from(self.p.vmem.line);
        let place = self.places.of(line, self.memory);
        let own = matches!(self.mall.touch(place), Lookup::Hit(_));
        let level = self.level(line, own);
        if level == Level::L2 {
            return (self.p.l2.hit, 0.0);
        }
        self.traffic.mall_read += size;
        let mall = self.mall_bandwidth.serve(at, size as f64);
        if level == Level::Mall {
            return (self.p.mall.hit, mall);
        }
        self.traffic.hbm_read += size;
        let hbm = self.occupy_memory(at, size as f64);
        (self.p.hbm.latency, mall.max(hbm))
    }

    fn level(&mut self, line: u64, own: bool) -> Level {
        let addr = line << self.line_shift;
        if !self.sharing.knows(addr)
            && let Some(r) = self.memory.region(addr)
        {
            self.sharing.add(Shared { base: r.base, len: r.len, in_l2: 0.0, in_mall: 0.0 });
        }
        let device = Device {
            begun: self.begun,
            mall: self.p.mall.size,
            l2: self.p.l2.size,
            dies: u64::from(self.p.device.xcds),
            line: u64::from(self.p.vmem.line),
        };
        self.sharing.level(addr, own, &device)
    }

    /// Passes bytes to or from memory; returns the clocks until they have passed.
    fn occupy_memory(&mut self, at: u64, bytes: f64) -> f64 {
        let delay = self.hbm.serve(at, bytes);
        self.backlog = self.backlog.max(at as f64 + delay);
        delay
    }

    fn store(&mut self, now: u64, who: Requester, access: &MemAccess) -> u64 {
        let v = &self.p.vmem;
        self.segments.collect(access, self.sector_shift, v.address_lanes);
        let bytes = u64::from(access.mask.count_ones()) * u64::from(access.bytes);
        self.traffic.stored += bytes;
        let (start, cost) = self.address(now, bytes, self.segments.lookups);
        let mut delay = 0.0f64;
        for i in 0..self.segments.as_slice().len() {
            let sector = self.segments.as_slice()[i];
            delay = delay.max(self.write_sector(start, who.xcd, sector));
        }
        // Stores are posted, but only as far ahead of memory as the burst allows.
        let limit = self.backlog - f64::from(self.p.hbm.burst);
        self.address_free = self.address_free.max(limit.max(0.0) as u64);
        start + cost + u64::from(self.p.vmem.store_latency) + delay as u64
    }

    fn write_sector(&mut self, at: u64, xcd: usize, sector: u64) -> f64 {
        let size = 1u64 << self.sector_shift;
        self.traffic.l2_written += size;
        let delay = self.port.serve(at, size as f64).max(self.l2_write.serve(at, size as f64));
        let line = sector >> (self.line_shift - self.sector_shift);
        let bit = 1u32 << (sector & ((1 << (self.line_shift - self.sector_shift)) - 1));
        let unit = xcd.min(self.l2.len() - 1);
        let place = self.places.of(line, self.memory);
        let (Lookup::Hit(i) | Lookup::Filled(i) | Lookup::Replaced(i)) = self.l2[unit].touch(place);
        let entry = self.l2[unit].entry(i);
        if entry.dirty & bit == 0 {
            entry.dirty |= bit;
            self.traffic.hbm_written += size;
            self.occupy_memory(at, size as f64 * self.hbm_write_weight);
        }
        delay
    }

    fn atomic(&mut self, now: u64, who: Requester, access: &MemAccess) -> u64 {
        let v = &self.p.vmem;
        self.segments.collect(access, self.sector_shift, v.address_lanes);
        let bytes = u64::from(access.mask.count_ones()) * u64::from(access.bytes);
        self.traffic.stored += bytes;
        let (start, cost) = self.address(now, bytes, self.segments.lookups);
        let mut done = start;
        for i in 0..self.segments.as_slice().len() {
            let sector = self.segments.as_slice()[i];
            let line = sector >> (self.line_shift - self.sector_shift);
            // Writing leaves the line in L2, where it must not be found as if it had been there before.
            let there = self.l2_line(start, who.xcd, line);
            let delay = self.write_sector(start, who.xcd, sector);
            // The line's own latency counts where it exceeds that of an atomic on a present line.
            let present = start + u64::from(self.p.l2.hit);
            let missing = there.saturating_sub(present);
            done = done.max(start + u64::from(v.atomic_latency) + missing + delay as u64);
        }
        done + cost
    }

    /// Serves a scalar load of `bytes` bytes at `addr`; returns when it completes.
    pub fn scalar(&mut self, now: u64, who: Requester, addr: u64, bytes: u32) -> u64 {
        let s = &self.p.scalar;
        let shift = s.line.trailing_zeros();
        let mut done = now + u64::from(s.hit);
        let last = addr.saturating_add(u64::from(bytes.max(1)) - 1) >> shift;
        for line in (addr >> shift)..=last {
            let ready = match self.scalar.touch(line) {
                Lookup::Hit(i) => self.scalar.entry(i).ready,
                Lookup::Filled(i) | Lookup::Replaced(i) => {
                    let wide = line << shift >> self.line_shift;
                    let there = self.l2_line(now, who.xcd, wide);
                    // From L2 it takes what a miss adds; what memory adds to that is the same as for
                    // vector loads.
                    let beyond = there.saturating_sub(now + u64::from(self.p.l2.hit));
                    let ready = now + u64::from(s.hit + s.miss) + beyond;
                    self.scalar.entry(i).ready = ready;
                    ready
                }
            };
            done = done.max(ready);
        }
        done
    }
}
