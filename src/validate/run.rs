//! Runs the launches of every row in the simulator's timing mode.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cdna_sim::arch::ArchParams;
use cdna_sim::isa::Arch;
use cdna_sim::launch::{Dispatch, Module, PACKET_BYTES, Prepared};
use cdna_sim::memory::AddressSpace;
use cdna_sim::timing::{self, Launch};

use super::launches::{Argument, BufferSpec, KernelLaunch, LaunchFile, RowLaunches};
use super::{
    Mca, Report, Row, SCHEMA, Simulated, SimulatedLaunch, Split, Timing, ValidateError, compile,
    roofline_us, summarize, timings,
};
use crate::files;

/// Largest kernarg segment of a launch.
const KERNARG_BYTES: u64 = 1 << 14;
/// Bytes mapped behind every buffer.
const BEHIND: u64 = 512;

/// Hardware parameters by target.
#[derive(Clone, Debug)]
pub struct Parameters(BTreeMap<&'static str, (ArchParams, String)>);

impl Parameters {
    /// The bundled ones, or those of a folder with the same file names.
    ///
    /// # Errors
    /// A file that is missing or whose parameters are unusable.
    pub fn load(folder: Option<&Path>) -> Result<Self, ValidateError> {
        let one = |arch: Arch| {
            let text = match folder {
                None => ArchParams::text(arch).to_owned(),
                Some(folder) => {
                    let bytes = files::read_bytes(&folder.join(format!("{}.toml", arch.name())))?;
                    String::from_utf8_lossy(&bytes).into_owned()
                }
            };
            let params = ArchParams::parse(arch, &text)
                .map_err(|error| ValidateError::Parameters(format!("{}: {error}", arch.name())))?;
            Ok((arch.name(), (params, files::sha256_hex(text.as_bytes()))))
        };
        Ok(Parameters(Arch::ALL.into_iter().map(one).collect::<Result<_, ValidateError>>()?))
    }
}

/// What to validate with.
#[derive(Clone, Debug)]
pub struct Request {
    /// Table of published timings.
    pub timings: PathBuf,
    /// Rows.
    pub split: Split,
    /// Folder with the code objects, as the compiler left it.
    pub folder: PathBuf,
    /// Hardware parameters.
    pub parameters: Parameters,
    /// Host threads.
    pub threads: usize,
}

/// Runs every row of the split and scores it. `progress` hears the number of rows done and of all.
///
/// # Errors
/// Unreadable input. A row that cannot be run is not an error: it is listed with the reason.
pub fn run(
    request: &Request,
    progress: impl Fn(usize, usize) + Sync,
) -> Result<Report, ValidateError> {
    let launches = compile::read(&request.folder)?;
    let timings = timings::read(&request.timings, request.split)?;
    let timings_sha256 = files::sha256_hex(&files::read_bytes(&request.timings)?);
    if launches.timings_sha256.as_ref().is_some_and(|hash| *hash != timings_sha256) {
        let (folder, timings) = (request.folder.clone(), request.timings.clone());
        return Err(ValidateError::OtherTable { folder, timings });
    }
    let by_line: HashMap<u64, &RowLaunches> = launches.rows.iter().map(|r| (r.line, r)).collect();
    let mca = Mca::find();
    let results: Vec<Mutex<Option<Result<Simulated, String>>>> =
        timings.iter().map(|_| Mutex::default()).collect();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some((timing, result)) = {
            let i = next.fetch_add(1, Ordering::Relaxed);
            timings.get(i).zip(results.get(i))
        } {
            let found = row(request, timing, by_line.get(&timing.line).copied(), mca.as_ref());
            *result.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(found);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, timings.len());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..request.threads.max(1) {
            scope.spawn(work);
        }
    });
    let results = results.into_iter().map(|r| r.into_inner().ok().flatten());
    let rows: Vec<Row> = timings
        .iter()
        .zip(results)
        .map(|(t, result)| {
            let compiled = by_line.get(&t.line).copied();
            report_row(
                t,
                compiled,
                result.unwrap_or_else(|| Err("the simulation ended early".into())),
            )
        })
        .collect();
    Ok(report(request, &launches, timings_sha256, rows))
}

fn report(
    request: &Request,
    launches: &LaunchFile,
    timings_sha256: String,
    rows: Vec<Row>,
) -> Report {
    let parameters = &request.parameters.0;
    Report {
        schema: SCHEMA.to_owned(),
        timings_sha256,
        split: request.split.name().to_owned(),
        compiler: launches.compiler.clone(),
        aiter: launches.aiter.clone(),
        parameters_sha256: parameters
            .iter()
            .map(|(&arch, (_, hash))| (arch.to_owned(), hash.clone()))
            .collect(),
        groups: summarize(&rows),
        rows,
    }
}

fn report_row(
    t: &Timing,
    compiled: Option<&RowLaunches>,
    result: Result<Simulated, String>,
) -> Row {
    let (result, reason) = match result {
        Ok(simulated) => (Some(simulated), None),
        Err(reason) => (None, Some(reason)),
    };
    Row {
        line: t.line,
        arch: t.arch.clone(),
        family: t.family().to_owned(),
        shape: t.shape(),
        config: t.config.clone(),
        split: t.split.clone(),
        published_us: t.time_us,
        aiter: compiled.and_then(|r| r.aiter.clone()),
        compiler: compiled.and_then(|r| r.compiler.clone()),
        result,
        reason,
    }
}

/// Simulates one row; the error is the reason for which it could not be.
fn row(
    request: &Request,
    timing: &Timing,
    launches: Option<&RowLaunches>,
    mca: Option<&Mca>,
) -> Result<Simulated, String> {
    let launches = launches.ok_or("its kernels were not compiled")?;
    if let Some(reason) = &launches.reason {
        return Err(reason.clone());
    }
    let (params, _) = request.parameters.0.get(timing.arch.as_str()).ok_or("an unknown target")?;
    let mut memory = AddressSpace::of_device(params.device.memory, 0);
    let buffers = allocate(&mut memory, &launches.buffers)?;
    let (mut ran, mut static_us) = (Vec::new(), Vec::new());
    for launch in &launches.launches {
        let (one, by_blocks) = simulate(request, params, &mut memory, &buffers, launch, mca)?;
        ran.push(one);
        static_us.push(by_blocks);
    }
    let host_us = if timing.event_timed() { params.launch.host } else { 0.0 };
    let static_us = static_us.into_iter().collect::<Option<Vec<f64>>>();
    let mca_us = static_us.map(|times| together(timing, &times, 0.0));
    let times: Vec<f64> = ran.iter().map(|launch| launch.time_us).collect();
    Ok(Simulated {
        time_us: together(timing, &times, host_us),
        event_timed: timing.event_timed(),
        roofline_us: roofline_us(params, timing, launches),
        mca_us,
        launches: ran,
    })
}

/// The time of a row whose launches took `times`, as its published one was taken.
fn together(timing: &Timing, times: &[f64], host_us: f64) -> f64 {
    match timing.slowest_kernel_only() {
        true => times.iter().copied().fold(0.0, f64::max),
        false => end_to_end(times.iter().copied(), host_us),
    }
}

/// Time from the first event to the end of launches that the host issues every `host_us`, each no
/// earlier than the end of the one before.
fn end_to_end(times: impl Iterator<Item = f64>, host_us: f64) -> f64 {
    let (mut end, mut issued) = (0.0f64, 0.0);
    for time in times {
        issued += host_us;
        end = end.max(issued) + time;
    }
    end
}

/// Allocates the buffers, each with as much behind it as PyTorch's allocator rounds sizes to: kernels whose
/// split of K is not a multiple of their tile read a little past the end, where a GPU has memory mapped.
fn allocate(memory: &mut AddressSpace, buffers: &[BufferSpec]) -> Result<Vec<u64>, String> {
    let one = |buffer: &BufferSpec| {
        let bytes = buffer.bytes.saturating_add(BEHIND);
        let address = memory.alloc(bytes).map_err(|error| error.to_string())?;
        if let Some(values) = &buffer.i32 {
            let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            if !memory.write(address, &bytes) {
                return Err("more values than their buffer holds".to_owned());
            }
        }
        Ok(address)
    };
    buffers.iter().map(one).collect()
}

fn simulate(
    request: &Request,
    params: &ArchParams,
    memory: &mut AddressSpace,
    buffers: &[u64],
    launch: &KernelLaunch,
    mca: Option<&Mca>,
) -> Result<(SimulatedLaunch, Option<f64>), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let path = request.folder.join(&launch.object);
    let image = files::read_bytes(&path).map_err(|error| text(&error))?;
    let module = Module::load(memory, &image, params.arch).map_err(|error| text(&error))?;
    let block = memory.alloc(PACKET_BYTES + KERNARG_BYTES).map_err(|error| text(&error))?;
    let explicit = explicit(&module, launch, buffers)?;
    let dispatch =
        Dispatch { groups: launch.grid, block: launch.block, dynamic_lds: launch.shared };
    let prepared =
        Prepared::new(&module, &launch.kernel, dispatch, &explicit, memory, block, params)
            .map_err(|error| text(&error))?;
    let timed = timing::simulate(params, &Launch { prepared: &prepared, memory })
        .map_err(|error| text(&error))?;
    let scale = timed.workgroups as f64 / timed.executed.workgroups.max(1) as f64;
    let static_us = mca.and_then(|mca| {
        let counts = &timed.executed.counts;
        mca.time_us(params, &launch.object, &prepared.program, counts, scale)
    });
    Ok((
        SimulatedLaunch {
            kernel: launch.kernel.clone(),
            time_us: timed.time_us,
            workgroups: timed.workgroups,
            resident: timed.occupancy.workgroups_per_cu,
            clock_mhz: timed.clock_mhz,
            cycles: timed.cycles,
            matrix_busy: timed.matrix_busy,
            instructions: timed.instructions,
            bytes: timed.traffic.by_level(),
            stalls: timed.counters.stalls(),
        },
        static_us,
    ))
}

/// The explicit arguments at their offsets.
fn explicit(module: &Module, launch: &KernelLaunch, buffers: &[u64]) -> Result<Vec<u8>, String> {
    let kernel = module.object.kernel(&launch.kernel).ok_or("its code object lacks the kernel")?;
    let slots: Vec<_> = kernel.explicit_args().collect();
    // Releases differ in how many scratch pointers they append.
    let mut arguments = launch.arguments.as_slice();
    while arguments.len() > slots.len()
        && let [rest @ .., Argument::Null { .. }] = arguments
    {
        arguments = rest;
    }
    if slots.len() != arguments.len() {
        return Err(format!(
            "its kernel takes {} arguments, but {} are given",
            slots.len(),
            arguments.len()
        ));
    }
    let end = slots.iter().map(|s| s.offset.saturating_add(s.size)).max().unwrap_or(0);
    let mut bytes = vec![0; end as usize];
    for (i, (slot, argument)) in slots.iter().zip(arguments).enumerate() {
        let value = argument.bytes(buffers).ok_or("a pointer to a buffer that is not there")?;
        if value.len() != slot.size as usize {
            let (has, takes) = (value.len(), slot.size);
            return Err(format!("argument {i} has {has} bytes, but its kernel takes {takes}"));
        }
        bytes[slot.offset as usize..][..value.len()].copy_from_slice(&value);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_profiler_statistics_is_its_slowest_kernel_and_others_are_the_sum() {
        let noted = |notes: &str| Timing { notes: notes.to_owned(), ..Timing::default() };
        let times = [5.0, 3.0];
        assert_eq!(together(&noted("rocprof --stats kernel time, MI355X"), &times, 0.0), 5.0);
        assert_eq!(together(&noted("rocprofv3 --kernel-trace --stats"), &times, 0.0), 8.0);
        assert_eq!(together(&noted(""), &times, 0.0), 8.0);
    }

    /// Kernels of 5 and 3 us issued every 20 us: the second starts at 40 and ends at 43. Without a
    /// host in the way they follow each other; one of 50 us is waited for.
    #[test]
    fn short_kernels_wait_for_their_host() {
        assert_eq!(end_to_end([5.0, 3.0].into_iter(), 20.0), 43.0);
        assert_eq!(end_to_end([5.0, 3.0].into_iter(), 0.0), 8.0);
        assert_eq!(end_to_end([50.0, 3.0].into_iter(), 20.0), 73.0);
    }
}
