//! Launches of single kernels for one shape, timed on the simulator.
//!
//! Goes in: a kernel, bundled or of a pack, and what to launch it for. Comes out: what the timing model
//! saw of that launch. Inputs that decide where the time goes, the values that a selection selects
//! from, are random; those of matrix products, whose time does not depend on them, are zero.

use std::fmt;

use cdna_sim::hip::{Recording, record_next_launch, recorded_launch};

use super::{KernelProfile, ProfileError, collect};
use crate::hip::{Buffer, Device, Fidelity, Hip, HipErrorKind};
use crate::ops::absorb::AbsorbShape;
use crate::ops::gemm::GemmShape;
use crate::ops::indexer::{
    BLOCK_KEYS, CANDIDATE_BLOCKS, IndexerInputs, IndexerShape, KeyType, Matrix, Selected, Steps,
    Window,
};
use crate::ops::{KernelEntry, KernelOp, Library, OpError, Pattern, absorb, catalog, fill, gemm};
use crate::units::Bytes;

/// Most bytes that are filled with random values for one profile.
const MOST_RANDOM: u64 = 2 << 30;

/// Sizes of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Heads; 1 for a plain GEMM.
    pub b: u64,
    /// Rows.
    pub m: u64,
    /// Columns.
    pub n: u64,
    /// Depth.
    pub k: u64,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { b, m, n, k } = self;
        write!(f, "b={b} m={m} n={n} k={k}")
    }
}

/// What a kernel is launched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A matrix product.
    Product(Shape),
    /// One chunk, of which the kernel is a step of the indexer.
    Chunk(IndexerShape),
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Work::Product(shape) => write!(f, "{shape}"),
            Work::Chunk(shape) => {
                write!(f, "m={} prefix={} keys={}", shape.t, shape.l, shape.keys())
            }
        }
    }
}

/// Heads that a logits kernel was compiled for; none for the other steps.
pub fn heads(entry: &KernelEntry) -> Option<u32> {
    entry.variant.strip_prefix('h')?.parse().ok()
}

/// Times one launch of `entry` for `work` and says where the time goes, with a timeline of the first
/// `events` issues and waits.
///
/// # Errors
/// A kernel or shape that cannot be launched, or a fault.
pub fn run(entry: &KernelEntry, work: &Work, events: usize) -> Result<KernelProfile, ProfileError> {
    let fail = |error: OpError| refusal(entry, work, error);
    let hip = Hip::simulator().map_err(|e| fail(e.into()))?;
    let devices = hip.devices().map_err(|e| fail(e.into()))?;
    let info = devices.iter().find(|info| info.arch == entry.arch);
    let ordinal = info.map(|info| info.ordinal).ok_or_else(|| ProfileError::Launch {
        kernel: entry.id.clone(),
        what: format!("no such target {}", entry.arch),
    })?;
    let device = hip.device(ordinal).map_err(|e| fail(e.into()))?;
    device.set_fidelity(Fidelity::Functional);
    let (recording, flops) = launch(&device, entry, work, events).map_err(fail)?;
    Ok(collect(entry, &work.to_string(), flops, recording))
}

/// What the device or the launch code said, in terms of the command.
fn refusal(entry: &KernelEntry, work: &Work, error: OpError) -> ProfileError {
    match error {
        OpError::Shape { kernel, problem, .. } => {
            ProfileError::Shape(format!("{kernel} does not take {work}: {problem}"))
        }
        OpError::Hip(error) if error.kind == HipErrorKind::OutOfMemory => {
            ProfileError::Shape(format!("{work} is too large: {error}"))
        }
        other => ProfileError::Launch { kernel: entry.id.clone(), what: other.to_string() },
    }
}

/// The recorded launch, and the floating-point operations that the shape asks for.
fn launch(
    device: &Device,
    entry: &KernelEntry,
    work: &Work,
    events: usize,
) -> Result<(Recording, f64), OpError> {
    let mut entries = vec![entry.clone()];
    entries.extend(catalog(&entry.arch)?.into_iter().filter(|own| own.id == "fill"));
    let library = Library::from_entries(device, &entries)?;
    let call = Call { device, library: &library, entry, events };
    let mut flops = 0.0;
    match (entry.op, work) {
        (KernelOp::AbsorbBmm | KernelOp::Gemm, Work::Product(shape)) => {
            let Shape { b, m, n, k } = *shape;
            flops = 2.0 * [b, m, n, k].iter().map(|&size| size as f64).product::<f64>();
            match entry.op {
                KernelOp::AbsorbBmm => call.absorb(shape)?,
                _ => call.gemm(shape)?,
            }
        }
        (KernelOp::Indexer, Work::Chunk(shape)) => {
            if let Some(heads) = heads(entry) {
                let sizes = [shape.t, shape.keys(), u64::from(heads), u64::from(shape.dim)];
                flops = 2.0 * sizes.iter().map(|&size| size as f64).product::<f64>();
            }
            call.step(shape)?;
        }
        _ => return Err(OpError::shape(&entry.id, work, "it is no kernel for such a shape")),
    }
    let missing = || OpError::shape(&entry.id, work, "nothing was launched");
    Ok((recorded_launch().ok_or_else(missing)?, flops))
}

struct Call<'a> {
    device: &'a Device,
    library: &'a Library,
    entry: &'a KernelEntry,
    events: usize,
}

impl Call<'_> {
    fn malloc(&self, bytes: u64) -> Result<Buffer, OpError> {
        Ok(self.device.malloc(Bytes(bytes))?)
    }

    fn absorb(&self, s: &Shape) -> Result<(), OpError> {
        let shape = AbsorbShape::of_entry(self.entry, s.b, s.m, s.n, s.k);
        absorb::validate(self.entry, &shape)?;
        let [x, w, out] = shape.bytes(&self.entry.id)?.map(|bytes| self.malloc(bytes));
        let (x, w, out, scale) = (x?, w?, out?, self.malloc(4)?);
        let kernel = self.library.kernel(&self.entry.id)?;
        record_next_launch(self.events);
        absorb::launch(self.device, kernel, &shape, &x, &w, &out, &scale)
    }

    fn gemm(&self, s: &Shape) -> Result<(), OpError> {
        let shape = GemmShape::new(s.m, s.n, s.k);
        gemm::validate(self.entry, &shape)?;
        let element = gemm::element_bytes(&self.entry.dtype);
        let [a, b, c] = shape.bytes(&self.entry.id, element)?.map(|bytes| self.malloc(bytes));
        let (a, b, c) = (a?, b?, c?);
        let kernel = self.library.kernel(&self.entry.id)?;
        record_next_launch(self.events);
        gemm::launch(self.device, kernel, &shape, &a, &b, &c)
    }

    /// `rows` of `columns` random values of a pattern, a dword each.
    fn random(&self, rows: u64, columns: u64, pattern: Pattern) -> Result<Buffer, OpError> {
        let shape = (rows, columns);
        let bytes = rows.checked_mul(columns).and_then(|n| n.checked_mul(4));
        let bytes = bytes.filter(|&bytes| bytes <= MOST_RANDOM).ok_or_else(|| {
            let most = Bytes(MOST_RANDOM);
            let problem = format!(
                "its input of random values would be larger than {most}; with fewer rows the time of a \
                 row is the same"
            );
            OpError::shape(&self.entry.id, shape, problem)
        })?;
        let buffer = self.malloc(bytes)?;
        fill(self.device, self.library, &buffer, pattern, 1)?;
        Ok(buffer)
    }

    /// Ids of `count` of `of` things in each row, evenly spread and ascending; -1 where there are fewer.
    fn ids(&self, rows: u64, count: u64, of: u64) -> Result<Buffer, OpError> {
        let row: Vec<u8> = (0..count)
            .flat_map(|i| {
                let id = if of <= count { i } else { i * of / count };
                let id = if id < of { id as i32 } else { -1 };
                id.to_le_bytes()
            })
            .collect();
        let buffer = self.malloc(rows * count * 4)?;
        for i in 0..rows {
            buffer.upload_at(i * count * 4, &row)?;
        }
        Ok(buffer)
    }

    /// Launches the step of the indexer that the kernel is.
    fn step(&self, shape: &IndexerShape) -> Result<(), OpError> {
        let shape = IndexerShape { heads: heads(self.entry).unwrap_or(shape.heads), ..*shape };
        let steps = Steps::new(self.device, self.library, shape)?;
        let (rows, keys, k) = (shape.t, shape.keys(), u64::from(shape.topk));
        let w = Window { row: 0, rows, key: 0, keys };
        let blocks = keys.div_ceil(BLOCK_KEYS);
        let pitch = blocks * BLOCK_KEYS;
        let max_pitch = blocks.next_multiple_of(4);
        let record = || record_next_launch(self.events);
        if heads(self.entry).is_some() {
            let kind = if self.entry.dtype == "fp4" { KeyType::Fp4 } else { KeyType::Fp8 };
            let inputs = IndexerInputs::allocate(self.device, &shape, kind)?;
            let logits = self.malloc(rows * pitch * 4)?;
            record();
            return steps.logits(&inputs, &w, Matrix { buffer: &logits, pitch }, pitch);
        }
        let values = |pitch: u64| self.random(rows, pitch, Pattern::F32);
        match self.entry.variant.as_str() {
            "block_max" => {
                let (values, out) = (values(pitch)?, self.malloc(rows * max_pitch * 4)?);
                let out = Matrix { buffer: &out, pitch: max_pitch };
                record();
                steps.block_max(rows, Matrix { buffer: &values, pitch }, blocks, out)
            }
            "pad_copy" => {
                let (values, out) = (values(pitch)?, self.malloc(rows * pitch * 4)?);
                record();
                let out = Matrix { buffer: &out, pitch };
                steps.pad_copy(rows, Matrix { buffer: &values, pitch }, pitch, out)
            }
            "candidate_blocks" => {
                let (values, ids) = (values(max_pitch)?, self.malloc(rows * CANDIDATE_BLOCKS * 4)?);
                let out = Selected { values: None, ids: &ids, row: 0, k: CANDIDATE_BLOCKS };
                record();
                let maxima = Matrix { buffer: &values, pitch: max_pitch };
                steps.candidate_blocks(&w, maxima, out)
            }
            "candidate_mask" => {
                let ids = self.ids(rows, CANDIDATE_BLOCKS, blocks)?;
                let mask = self.malloc(rows * pitch)?;
                let ids = Matrix { buffer: &ids, pitch: CANDIDATE_BLOCKS };
                record();
                steps.candidate_mask(rows, ids, blocks, Matrix { buffer: &mask, pitch })
            }
            "topk" | "topk_masked" | "topk_candidates" => {
                let (values, ids) = (values(pitch)?, self.malloc(rows * k * 4)?);
                let values = Matrix { buffer: &values, pitch };
                let out = Selected { values: None, ids: &ids, row: 0, k };
                match self.entry.variant.as_str() {
                    "topk" => {
                        record();
                        steps.topk(&w, values, out)
                    }
                    "topk_masked" => {
                        // Half of the keys, at random.
                        let mask = self.random(rows, pitch / 4, Pattern::Mask)?;
                        record();
                        steps.topk_masked(&w, values, Matrix { buffer: &mask, pitch }, out)
                    }
                    _ => {
                        let ids = self.ids(rows, CANDIDATE_BLOCKS, blocks)?;
                        let ids = Matrix { buffer: &ids, pitch: CANDIDATE_BLOCKS };
                        record();
                        steps.topk_candidates(&w, values, ids, out)
                    }
                }
            }
            "topk_merge" => {
                let (old, new) = (values(k)?, values(k)?);
                let (ids, new_ids) = (self.ids(rows, k, k)?, self.ids(rows, k, k)?);
                record();
                steps.merge(rows, &old, &ids, &new, &new_ids, k)
            }
            other => {
                Err(OpError::shape(&self.entry.id, shape, format!("there is no step {other}")))
            }
        }
    }
}
