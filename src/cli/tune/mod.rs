//! The main job: `tune --device gfx950` measures a grid, fits it, plans the chunk schedule and
//! writes the configuration.

mod arguments;
mod campaign;
mod directory;
mod interrupt;
mod kernels;
mod origin;
mod progress;
mod summary;

pub use arguments::Arguments;
pub use kernels::catalog;

use directory::Directory;
use interrupt::Interrupt;
use summary::Summary;

use super::engine::{self, Engine, Wanted};
use super::limits::other_page;
use super::output;
use crate::adaptive::Planner;
use crate::derive;
use crate::error::{Error, Exit, Result};
use crate::grid::{self, Axes, Group};
use crate::journal::{Finished, Journal, RunKey};
use crate::model::{self, Model, RankShapes};
use crate::ops::{KernelEntry, Pack};
use crate::options::{GridSize, Options};
use crate::plan::Usable;
use crate::profile::{Outcome, Point};
use crate::report;
use crate::sglang::Table;
use crate::units::Bytes;

/// Everything settled before the first point.
struct Job {
    options: Options,
    model: Model,
    shapes: RankShapes,
    engine: Engine,
    catalog: Vec<KernelEntry>,
    pack: Option<Pack>,
    /// Memory free on the device; none in simulation, where it says nothing about a server.
    free: Option<Bytes>,
}

/// Runs the main job.
///
/// # Errors
/// See [`crate::error`].
pub fn run(arguments: Arguments) -> Result<Exit> {
    let (options, evidence) = arguments.into_options()?;
    evidence.check()?;
    let model = model::resolve(&options.model)?;
    check_page(&options)?;
    let shapes = model.rank_shapes(options.layout)?;
    let engine = engine::choose(&Wanted {
        arch: &options.arch,
        engine: options.engine,
        hip_lib: options.hip_lib.as_deref(),
        gpu: options.gpu,
    })?;
    let (catalog, pack) = kernels::catalog(&options.arch, options.kernels.as_deref())?;
    let free = engine.free_bytes()?;
    Usable::new(&options.limits, free, None).bytes()?;
    if let (Some(pack), Some(dir), false) = (&pack, &options.kernels, options.resume)
        && engine.hip.is_simulated()
    {
        kernels::verify(pack, dir)?;
    }
    let job = Job { options, model, shapes, engine, catalog, pack, free };
    let axes = Axes::named(job.options.grid, job.model.max_positions)
        .with_lengths(job.options.t.as_deref(), job.options.l.as_deref());
    let work = Work::new(&job, &axes)?;
    let directory = directory::prepare(&job.options)?;
    let interrupt = Interrupt::listen()?;
    let (mut journal, finished) = open_journal(&directory, &job.key()?)?;
    job.announce(&directory)?;
    let measured = work.measure(&job, &mut journal, finished, &interrupt);
    let resumable = |error: Error| match error.exit {
        Exit::Output => error.advice(format_args!(
            "what was measured is in the journal: make room, then give the same command with \
             --resume --out {}",
            directory.path.display()
        )),
        Exit::Interrupted => error.advice(format_args!(
            "continue with the same command and --resume --out {}",
            directory.path.display()
        )),
        _ => error,
    };
    let (points, notes) = measured.map_err(resumable)?;
    // Nothing is lost by ending here: every point is in the journal.
    let unless_interrupted = |before: &str| {
        interrupt.check(format_args!("all points are measured, {before}")).map_err(resumable)
    };
    unless_interrupted("but the profile is not written")?;
    let profile = job.seal(points, notes)?;
    profile.write(&directory.path).map_err(|error| resumable(error.into()))?;
    judge(profile.points())?;
    let request = evidence.options(job.options.limits, profile.provenance())?;
    let derived = derive::derive(&profile, &request);
    unless_interrupted("but only the profile is written")?;
    let written =
        derived.write(&directory.path, &profile).map_err(|error| resumable(error.into()))?;
    if job.options.json {
        output::json(&Summary::new(&directory.path, &profile, &derived))?;
    } else {
        output::line(report::summary(&profile, &derived))?;
        output::written(&written)?;
    }
    derived.plan?;
    Ok(Exit::Ok)
}

/// What is measured: a whole grid, or what settles the questions.
enum Work {
    Whole(Vec<Group>),
    Adaptive(Planner),
}

impl Work {
    fn new(job: &Job, axes: &Axes) -> Result<Self> {
        let tiles = kernels::tiles(&job.catalog);
        let groups = grid::build(&job.shapes, &tiles, axes)?;
        job.check_pack(&groups)?;
        Ok(match job.options.grid {
            GridSize::Adaptive => {
                let precision = job.options.precision;
                Self::Adaptive(Planner::new(&job.shapes, &tiles, axes, precision)?)
            }
            GridSize::Quick | GridSize::Default | GridSize::Full => Self::Whole(groups),
        })
    }

    /// The points, and what to note about how they were chosen.
    fn measure(
        &self,
        job: &Job,
        journal: &mut Journal,
        finished: Finished,
        interrupt: &Interrupt,
    ) -> Result<(Vec<Point>, Vec<String>)> {
        let Job { engine, catalog, options, .. } = job;
        let kernels = campaign::Kernels { catalog, pack: options.kernels.as_deref() };
        match self {
            Self::Whole(groups) => {
                let points =
                    campaign::measure(engine, &kernels, groups, journal, finished, interrupt)?;
                Ok((points, Vec::new()))
            }
            Self::Adaptive(planner) => {
                let limit = options.time_limit;
                let (points, ended) = campaign::measure_adaptively(
                    engine, &kernels, planner, journal, finished, limit, interrupt,
                )?;
                let notes = planner.account(&points, ended);
                Ok((points, notes))
            }
        }
    }
}

/// Finds before a long run that its plan could not be deployed: a page that the model does not have.
fn check_page(options: &Options) -> Result<()> {
    let table = Table::load().map_err(Error::failed)?;
    let version = derive::SGLANG.parse().map_err(Error::failed)?;
    let align = options.limits.page_size.0;
    match table.release(version).page_of(&options.model) {
        Some(page) if !align.is_multiple_of(page) => {
            Err(other_page(version, &options.model, page, align))
        }
        _ => Ok(()),
    }
}

fn open_journal(directory: &Directory, key: &RunKey) -> Result<(Journal, Finished)> {
    if directory.resume {
        let (journal, finished) = Journal::resume(&directory.path, key)?;
        if finished.is_empty() {
            let path = directory.path.display();
            output::warn(format_args!("{path}: no point had been finished; the run starts over"));
        }
        return Ok((journal, finished));
    }
    Ok((Journal::create(&directory.path, key)?, Finished::new()))
}

/// A run in which nothing could be measured has failed; single failed points have not.
fn judge(points: &[Point]) -> Result<()> {
    if points.iter().any(|point| matches!(point.outcome, Outcome::Ok | Outcome::Oom)) {
        return Ok(());
    }
    let first = points.iter().find_map(|point| point.message.clone()).unwrap_or_default();
    Err(Error::new(
        Exit::DeviceFault,
        format_args!("no point could be measured; the first: {first}"),
    ))
}
