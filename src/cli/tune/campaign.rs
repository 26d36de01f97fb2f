//! Measures the grid: journals every finished point before the next one counts, continues a
//! journal, and ends between two points when interrupted.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::interrupt::Interrupt;
use super::progress::Progress;
use crate::adaptive::Planner;
use crate::cli::engine::Engine;
use crate::cli::{output, worker};
use crate::error::{Error, Exit, Result};
use crate::grid::{Case, Group};
use crate::journal::{Finished, Journal};
use crate::measure::bench::{Bench, HANG, Settings};
use crate::measure::outcome::Trouble;
use crate::measure::parallel;
use crate::measure::prepared::{Entries, blank};
use crate::measure::worker::{Loss, Supervisor, WorkerError};
use crate::ops::KernelEntry;
use crate::profile::{Outcome, Point};

/// The kernels of a run.
pub struct Kernels<'a> {
    /// All of them.
    pub catalog: &'a [KernelEntry],
    /// Folder of the pack among them, from which a child process reads it again.
    pub pack: Option<&'a Path>,
}

/// Measures what `planner` asks for, the widest interval first, until nothing is open or `limit`
/// is over. Returns the points in the order in which they were asked for, and why measuring stopped
/// where it stopped early.
///
/// # Errors
/// As [`measure`].
pub fn measure_adaptively(
    engine: &Engine,
    kernels: &Kernels<'_>,
    planner: &Planner,
    journal: &mut Journal,
    mut finished: Finished,
    limit: Option<Duration>,
    interrupt: &Interrupt,
) -> Result<(Vec<Point>, Option<&'static str>)> {
    let started = Instant::now();
    let mut points = Vec::new();
    loop {
        let groups = planner.next(&points);
        if groups.is_empty() {
            return Ok((points, None));
        }
        for group in groups {
            // What a journal holds costs no time.
            let known = group.iter().all(|case| finished.contains_key(&case.name));
            if !known && limit.is_some_and(|limit| started.elapsed() >= limit) {
                return Ok((points, Some("the time limit was reached")));
            }
            let held: Finished =
                group.iter().filter_map(|case| finished.remove_entry(&case.name)).collect();
            let group = std::slice::from_ref(&group);
            points.extend(measure(engine, kernels, group, journal, held, interrupt)?);
        }
    }
}

/// Measures every case of `groups` that `finished` does not hold and returns the points of all, in
/// the order of the grid.
///
/// # Errors
/// Status 130 when interrupted, 7 when the journal cannot be written, 3 when the device cannot be
/// opened.
pub fn measure(
    engine: &Engine,
    kernels: &Kernels<'_>,
    groups: &[Group],
    journal: &mut Journal,
    mut finished: Finished,
    interrupt: &Interrupt,
) -> Result<Vec<Point>> {
    let total = groups.iter().map(Vec::len).sum();
    drop_foreign(groups, &entries(kernels.catalog), &mut finished);
    let progress = Progress::new(total, finished.len());
    let open: Vec<Group> = groups
        .iter()
        .map(|group| {
            group.iter().filter(|case| !finished.contains_key(&case.name)).cloned().collect()
        })
        .collect();
    let keep = |case: &Case, point: Point| -> Result<()> {
        journal.append(&case.name, &point)?;
        progress.finished(&case.name);
        finished.insert(case.name.clone(), point);
        Ok(())
    };
    match &engine.hip.runtime().path {
        None => on_threads(engine, kernels.catalog, &open, interrupt, keep)?,
        Some(library) => in_child(library, engine, kernels, &open, interrupt, keep)?,
    }
    drop(progress);
    let points: Vec<Point> =
        groups.iter().flatten().filter_map(|case| finished.remove(&case.name)).collect();
    if points.len() == total {
        return Ok(points);
    }
    let done = points.len();
    Err(Error::new(Exit::Interrupted, format_args!("interrupted after {done} of {total} points")))
}

/// Drops points of a journal that are not of the case that they are named after: a line was changed.
fn drop_foreign(groups: &[Group], entries: &Entries, finished: &mut Finished) {
    for case in groups.iter().flatten() {
        let foreign = |point: &Point| !point.is_of(&blank(case, entries));
        if finished.get(&case.name).is_some_and(foreign) {
            finished.remove(&case.name);
            let name = &case.name;
            output::warn(format_args!(
                "the journal's point of {name} is of something else; it is measured again"
            ));
        }
    }
}

/// The built-in simulator: one bench a host core.
fn on_threads(
    engine: &Engine,
    catalog: &[KernelEntry],
    groups: &[Group],
    interrupt: &Interrupt,
    keep: impl FnMut(&Case, Point) -> Result<()>,
) -> Result<()> {
    let cases: Vec<&Case> = groups.iter().flatten().collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let entries = entries(catalog);
    let open = || {
        Bench::open(&engine.hip, engine.info.ordinal, catalog, Settings::default())
            .map_err(|trouble| Error::no_device(trouble.message))
    };
    // A device that cannot be opened again fails every case that follows in the same way.
    let measure = |bench: &mut Bench, case: &Case| {
        bench.measure_exact(case).unwrap_or_else(|trouble| trouble.record(blank(case, &entries)))
    };
    parallel::run(&cases, threads, interrupt.flag(), open, measure, keep)
}

/// A loaded runtime: one child process, replaced when a kernel takes it down.
fn in_child(
    library: &Path,
    engine: &Engine,
    kernels: &Kernels<'_>,
    groups: &[Group],
    interrupt: &Interrupt,
    mut keep: impl FnMut(&Case, Point) -> Result<()>,
) -> Result<()> {
    let program = std::env::current_exe().map_err(Error::failed)?;
    let spawn = || {
        let mut command = Command::new(&program);
        command.args(worker::command_line(library, &engine.info, kernels.pack));
        command
    };
    let entries = entries(kernels.catalog);
    let lost = |case: &Case, loss: &Loss| lost(loss).record(blank(case, &entries));
    let mut supervisor = Supervisor::new(spawn, 2 * HANG);
    for group in groups {
        let measured = supervisor.run(group, interrupt.flag(), &mut keep, lost);
        measured.map_err(|error| match error {
            WorkerError::Keep(error) => error,
            WorkerError::Spawn(_) => Error::failed(error),
            WorkerError::NotReady(_) => Error::no_device(error)
                .advice("its message is above; `tune devices` lists what can be measured"),
        })?;
    }
    Ok(())
}

/// What the profile says about a case whose child was lost.
fn lost(loss: &Loss) -> Trouble {
    match loss {
        Loss::Silent(time) => Trouble {
            outcome: Outcome::Hang,
            message: format!("no answer for {} s; the measuring process was ended", time.as_secs()),
        },
        Loss::Died(how) => Trouble {
            outcome: Outcome::Fault,
            message: format!("the measuring process ended: {how}"),
        },
    }
}

fn entries(catalog: &[KernelEntry]) -> Entries {
    catalog.iter().map(|entry| (entry.id.clone(), entry.clone())).collect()
}
