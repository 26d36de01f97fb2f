//! The functional run: every workgroup of a range, on all host cores, with real results.
//!
//! Goes in: a prepared launch and device memory. Comes out: how often each instruction was
//! executed. The result does not depend on the number of threads: kernels whose outcome depends on
//! the order of workgroups run on one thread, and of several faults the first workgroup's counts.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::prepared::{Prepared, Workgroup};
use crate::exec::hazard::{Footprint, Tracker};
use crate::exec::{self, Ctx, Flow, MemAccess, Tally, Wave};
use crate::fault::{Fault, FaultKind};
use crate::isa::{Class, Inst, MemOp, class, disassemble};
use crate::memory::AddressSpace;

/// Instructions a wave runs before the next wave of its workgroup gets a turn, so that waves can
/// wait for each other without a barrier.
const SLICE: u64 = 1 << 16;
/// Clocks that the counters of `s_memtime` advance per instruction: one issue slot.
const CLOCKS: u64 = 4;

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Host threads, at least 1.
    pub threads: usize,
    /// Instructions after which a wave counts as endless.
    pub instruction_limit: u64,
    /// Fault on a register that is used before the `s_waitcnt` which covers it. Several times
    /// slower.
    pub check_waits: bool,
}

impl Options {
    /// The usual limits on so many threads.
    pub fn on_threads(threads: usize) -> Self {
        Options { threads, instruction_limit: 1 << 28, check_waits: false }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::on_threads(std::thread::available_parallelism().map_or(1, usize::from))
    }
}

/// What was executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// Executions of each instruction of the program.
    pub counts: Vec<u64>,
    /// Workgroups.
    pub workgroups: u64,
}

impl Executed {
    /// Nothing executed yet, for a program of `instructions` instructions.
    pub fn none(instructions: usize) -> Self {
        Executed { counts: vec![0; instructions], workgroups: 0 }
    }

    /// Instructions in all.
    pub fn instructions(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Adds what another run of the same program executed.
    pub fn add(&mut self, other: &Executed) {
        self.workgroups += other.workgroups;
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
    }
}

/// Runs the workgroups with dispatch numbers in `range`.
///
/// # Errors
/// The fault of the first workgroup, in dispatch order, that has one.
pub fn run(
    launch: &Prepared,
    mem: &AddressSpace,
    range: Range<u64>,
    options: &Options,
) -> Result<Executed, Fault> {
    let total = range.end.saturating_sub(range.start);
    let wanted = options.threads.max(1) as u64;
    let wanted = if wanted > 1 && order_matters(launch) { 1 } else { wanted };
    let threads = wanted.min(total);
    // Small enough that threads end together, large enough that the counter is not contended.
    let chunk = (total / (threads.max(1) * 16)).clamp(1, 64);
    let shared = Shared {
        launch,
        mem,
        options,
        next: AtomicU64::new(range.start),
        end: range.end,
        chunk,
        stop: AtomicU64::new(u64::MAX),
        fault: Mutex::new(None),
        footprints: options.check_waits.then(|| footprints(launch)),
    };
    let mut all = Executed::none(launch.program.insts.len());
    if threads <= 1 {
        all = shared.work();
    } else {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| shared.work())).collect();
            for worker in workers {
                match worker.join() {
                    Ok(part) => all.add(&part),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
    }
    match shared.fault.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some((_, fault)) => Err(*fault),
        None => Ok(all),
    }
}

struct Shared<'a> {
    launch: &'a Prepared,
    mem: &'a AddressSpace,
    options: &'a Options,
    next: AtomicU64,
    end: u64,
    chunk: u64,
    /// Workgroups from this number on need not run: an earlier one has faulted.
    stop: AtomicU64,
    fault: Mutex<Option<(u64, Box<Fault>)>>,
    footprints: Option<Vec<Footprint>>,
}

impl Shared<'_> {
    fn work(&self) -> Executed {
        let mut tally = Tally::new(self.launch.program.insts.len());
        let workgroups = self.run_workgroups(&mut tally);
        Executed { counts: tally.counts(), workgroups }
    }

    /// Runs workgroups until there are no more. Returns how many.
    fn run_workgroups(&self, tally: &mut Tally) -> u64 {
        let mut done = 0;
        let mut group = None;
        loop {
            let first = self.next.fetch_add(self.chunk, Ordering::Relaxed);
            if first >= self.end {
                return done;
            }
            for index in first..(first + self.chunk).min(self.end) {
                if index >= self.stop.load(Ordering::Relaxed) {
                    return done;
                }
                let id = self.launch.workgroup_id(index);
                let group = match &mut group {
                    Some(group) => {
                        self.launch.reset(group, id);
                        group
                    }
                    None => group.insert(self.launch.workgroup(id)),
                };
                match self.run_workgroup(group, tally) {
                    Ok(()) => done += 1,
                    Err(fault) => self.report(index, fault),
                }
            }
        }
    }

    fn report(&self, index: u64, fault: Box<Fault>) {
        self.stop.fetch_min(index, Ordering::Relaxed);
        let mut first = self.fault.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if first.as_ref().is_none_or(|(at, _)| index < *at) {
            *first = Some((index, fault));
        }
    }

    /// Runs one workgroup to its end, adding to the executions of each instruction.
    fn run_workgroup(&self, group: &mut Workgroup, tally: &mut Tally) -> Result<(), Box<Fault>> {
        let Workgroup { id, waves, lds } = group;
        let mut ctx = Ctx {
            program: &self.launch.program,
            mem: self.mem,
            lds,
            access: MemAccess { wanted: false, ..MemAccess::default() },
            clock: 0,
        };
        let mut turns: Vec<_> = waves.iter().map(|_| Turn::default()).collect();
        loop {
            for (wave, turn) in waves.iter_mut().zip(&mut turns) {
                if turn.state == State::Running {
                    self.take_turn(wave, &mut ctx, turn, tally).map_err(|kind| {
                        Box::new(self.launch.locate(*id, wave.id, wave.pc, kind))
                    })?;
                }
            }
            if turns.iter().all(|turn| turn.state == State::Ended) {
                return Ok(());
            }
            // Ended waves no longer take part in barriers.
            if turns.iter().all(|turn| turn.state != State::Running) {
                turns
                    .iter_mut()
                    .filter(|turn| turn.state == State::AtBarrier)
                    .for_each(|turn| turn.state = State::Running);
            }
        }
    }

    /// Runs a wave until it waits, ends or has used its slice up.
    fn take_turn(
        &self,
        wave: &mut Wave,
        ctx: &mut Ctx<'_>,
        turn: &mut Turn,
        tally: &mut Tally,
    ) -> Result<(), FaultKind> {
        let limit = self.options.instruction_limit;
        let slice = SLICE.min(limit.saturating_sub(turn.executed)).max(1);
        let (flow, n) = match &self.footprints {
            None => exec::run_counted(wave, ctx, slice, tally)?,
            Some(footprints) => run_checked(wave, ctx, slice, tally, footprints, &mut turn.waits)?,
        };
        turn.executed += n;
        ctx.clock = ctx.clock.wrapping_add(n * CLOCKS);
        match flow {
            Flow::End => turn.state = State::Ended,
            Flow::Barrier => turn.state = State::AtBarrier,
            _ if turn.executed >= limit => return Err(FaultKind::Runaway { limit }),
            _ => {}
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Running,
    AtBarrier,
    Ended,
}

/// Where a wave stands.
#[derive(Default)]
struct Turn {
    state: State,
    executed: u64,
    waits: Tracker,
}

/// [`exec::run_counted`] with every instruction checked for values that have not arrived.
fn run_checked(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    limit: u64,
    tally: &mut Tally,
    footprints: &[Footprint],
    waits: &mut Tracker,
) -> Result<(Flow, u64), FaultKind> {
    let mut flow = Flow::Next;
    for done in 0..limit {
        if let Some(footprint) = footprints.get(wave.pc) {
            waits.check(footprint)?;
        }
        flow = exec::run_counted(wave, ctx, 1, tally)?.0;
        if matches!(flow, Flow::Barrier | Flow::End) {
            return Ok((flow, done + 1));
        }
    }
    Ok((flow, limit))
}

fn footprints(launch: &Prepared) -> Vec<Footprint> {
    launch.program.insts.iter().map(|inst| Footprint::of(inst, launch.arch)).collect()
}

impl Prepared {
    /// Adds kernel, instruction, workgroup and wave to a fault at instruction index `pc`.
    pub fn locate(&self, workgroup: [u32; 3], wave: u32, pc: usize, kind: FaultKind) -> Fault {
        let addr = self.program.addr.get(pc).copied().unwrap_or(self.entry);
        let inst = self.program.insts.get(pc);
        Fault {
            kind,
            kernel: self.kernel.name.clone(),
            pc: addr.wrapping_sub(self.entry),
            inst: inst.map_or_else(|| "past the end of the code".to_owned(), disassemble),
            workgroup,
            wave,
        }
    }
}

/// Whether results depend on the order in which workgroups run: an atomic that returns the old
/// value, exchanges, or rounds.
fn order_matters(launch: &Prepared) -> bool {
    let insts = launch.program.insts.get(launch.reach.clone()).unwrap_or_default();
    insts.iter().any(|inst| {
        let atomic = matches!(
            class(inst, launch.arch),
            Class::Vmem(MemOp::Atomic) | Class::Flat(MemOp::Atomic)
        );
        atomic && (inst.mods.sc0 || exchanges_or_rounds(inst))
    })
}

fn exchanges_or_rounds(inst: &Inst) -> bool {
    let name = inst.op.info().name;
    name.contains("swap") || ["_f32", "_f64", "_f16", "_bf16"].iter().any(|ty| name.contains(ty))
}
