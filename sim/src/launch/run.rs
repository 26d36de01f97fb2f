//! The functional run: every workgroup of a range, on all host cores, with real results.
//!
//! Goes in: a prepared launch and device memory. Comes out: how often each instruction was
//! executed. The result does not depend on the number of threads: kernels whose outcome depends on
//! the order of workgroups run on one thread, and of several faults the first workgroup's counts.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::prepared::{Prepared, Workgroup};
use crate::exec::{self, Ctx, Flow, MemAccess};
use crate::fault::{Fault, FaultKind};
use crate::isa::{Class, Inst, MemOp, class};
use crate::memory::AddressSpace;

/// Instructions a wave runs before the next wave of its workgroup gets a turn, so that waves can
/// wait for each other without a barrier.
const SLICE: u64 = 1 << 16;

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Host threads, at least 1.
    pub threads: usize,
    /// Instructions after which a wave counts as endless.
    pub instruction_limit: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            instruction_limit: 1 << 28,
        }
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
    let wanted = if order_matters(launch) { 1 } else { options.threads.max(1) as u64 };
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
}

impl Shared<'_> {
    fn work(&self) -> Executed {
        let mut done = Executed::none(self.launch.program.insts.len());
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
                match run_workgroup(self.launch, self.mem, group, &mut done.counts, self.options) {
                    Ok(()) => done.workgroups += 1,
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
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    AtBarrier,
    Ended,
}

/// Runs one workgroup to its end, adding to the executions of each instruction.
fn run_workgroup(
    launch: &Prepared,
    mem: &AddressSpace,
    group: &mut Workgroup,
    counts: &mut [u64],
    options: &Options,
) -> Result<(), Box<Fault>> {
    let Workgroup { id, waves, lds } = group;
    let mut ctx =
        Ctx { program: &launch.program, mem, lds, access: MemAccess::default(), clock: 0 };
    let mut states = vec![(State::Running, 0u64); waves.len()];
    loop {
        for (wave, (state, executed)) in waves.iter_mut().zip(&mut states) {
            if *state != State::Running {
                continue;
            }
            let slice = SLICE.min(options.instruction_limit.saturating_sub(*executed)).max(1);
            let result = exec::run_counted(wave, &mut ctx, slice, counts).and_then(|(flow, n)| {
                *executed += n;
                ctx.clock = ctx.clock.wrapping_add(n * 4);
                match flow {
                    Flow::End => *state = State::Ended,
                    Flow::Barrier => *state = State::AtBarrier,
                    _ if *executed >= options.instruction_limit => {
                        return Err(FaultKind::Runaway { limit: options.instruction_limit });
                    }
                    _ => {}
                }
                Ok(())
            });
            if let Err(kind) = result {
                return Err(Box::new(locate(launch, *id, wave.id, wave.pc, kind)));
            }
        }
        if states.iter().all(|(state, _)| *state == State::Ended) {
            return Ok(());
        }
        // Ended waves no longer take part in barriers.
        if states.iter().all(|(state, _)| *state != State::Running) {
            states
                .iter_mut()
                .filter(|(state, _)| *state == State::AtBarrier)
                .for_each(|(state, _)| *state = State::Running);
        }
    }
}

impl Prepared {
    /// Adds kernel, instruction, workgroup and wave to a fault at instruction index `pc`.
    pub fn locate(&self, workgroup: [u32; 3], wave: u32, pc: usize, kind: FaultKind) -> Fault {
        locate(self, workgroup, wave, pc, kind)
    }
}

fn locate(launch: &Prepared, workgroup: [u32; 3], wave: u32, pc: usize, kind: FaultKind) -> Fault {
    let addr = launch.program.addr.get(pc).copied().unwrap_or(launch.entry);
    let inst = launch.program.insts.get(pc).map_or_else(
        || "past the end of the code".to_owned(),
        |inst| inst.op.info().name.to_owned(),
    );
    Fault {
        kind,
        kernel: launch.kernel.name.clone(),
        pc: addr.wrapping_sub(launch.entry),
        inst,
        workgroup,
        wave,
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
