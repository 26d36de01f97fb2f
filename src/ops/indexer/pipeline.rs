//! The indexer pipelines: the same selection with different buffers alive.

use super::steps::{Matrix, Selected, Window};
use super::{BLOCK_KEYS, CANDIDATE_BLOCKS, IndexerInputs, IndexerShape, KeyType, Steps};
use crate::hip::{Buffer, Device};
use crate::ops::{Library, OpError, product};
use crate::units::Bytes;

/// How the indexer's buffers are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipeline {
    /// fp8 logits `[T, keys]` and top-k, no candidate blocks: GLM-5.2 and DeepSeek-V3.2.
    Fp8,
    /// Everything at once: fp32 logits (4 B a row and key), a copy padded to whole blocks (4 B),
    /// block maxima (0.5 B), a mask of the candidates (1 B).
    Dense,
    /// One block of logits (with its block maxima) of at most `budget` bytes, rows split to fit;
    /// candidate ids `[T, 2048]` instead of a mask. SGLang 0.5.23 on ROCm.
    RowPooled {
        /// Bytes of the pooled logits.
        budget: Bytes,
    },
    /// Keys in blocks of `block` with a running exact top-k: memory does not depend on L.
    KeyBlocked {
        /// Keys of a block, a multiple of 8.
        block: u64,
    },
}

/// What a pipeline publishes.
#[derive(Debug)]
pub struct Selection {
    /// Key ids `[T, topk]` int32, ascending, -1 padded.
    pub topk: Buffer,
    /// Candidate block ids `[T, 2048]` int32, ascending, -1 padded, where the pipeline has any.
    pub candidates: Option<Buffer>,
}

impl Pipeline {
    /// Name in profiles.
    pub fn name(&self) -> &'static str {
        match self {
            Pipeline::Fp8 => "fp8",
            Pipeline::Dense => "dense",
            Pipeline::RowPooled { .. } => "row_pooled",
            Pipeline::KeyBlocked { .. } => "key_blocked",
        }
    }

    /// Element type of the q and k it takes.
    pub fn key_type(&self) -> KeyType {
        if *self == Pipeline::Fp8 { KeyType::Fp8 } else { KeyType::Fp4 }
    }

    /// Queues the whole pipeline. The transient buffers are freed before it returns; the selection
    /// is part of the peak.
    ///
    /// # Errors
    /// A shape that the kernels do not take, inputs of the wrong type, or the device's; a refused
    /// allocation satisfies [`OpError::is_out_of_memory`].
    pub fn run(
        &self,
        device: &Device,
        library: &Library,
        shape: &IndexerShape,
        inputs: &IndexerInputs,
    ) -> Result<Selection, OpError> {
        if inputs.kind != self.key_type() {
            let problem = format!("takes {} inputs", self.key_type().name());
            return Err(OpError::shape(self.name(), shape, problem));
        }
        let call = Call {
            name: self.name(),
            device,
            shape,
            inputs,
            steps: Steps::new(device, library, *shape)?,
        };
        match *self {
            Pipeline::Fp8 => call.fp8(),
            Pipeline::Dense => call.dense(),
            Pipeline::RowPooled { budget } => call.row_pooled(budget),
            Pipeline::KeyBlocked { block } => call.key_blocked(block),
        }
    }
}

/// One run.
struct Call<'a> {
    name: &'static str,
    device: &'a Device,
    shape: &'a IndexerShape,
    inputs: &'a IndexerInputs,
    steps: Steps<'a>,
}

impl Call<'_> {
    fn alloc(&self, rows: u64, columns: u64, bytes: u64) -> Result<Buffer, OpError> {
        let size = product(self.name, self.shape, &[rows, columns, bytes])?;
        Ok(self.device.malloc(Bytes(size))?)
    }

    fn topk(&self) -> u64 {
        u64::from(self.shape.topk)
    }

    fn whole(&self) -> Window {
        Window { row: 0, rows: self.shape.t, key: 0, keys: self.shape.keys() }
    }

    fn fp8(&self) -> Result<Selection, OpError> {
        let (w, k) = (self.whole(), self.topk());
        let pitch = w.keys.next_multiple_of(4);
        let logits = self.alloc(w.rows, pitch, 4)?;
        let logits = Matrix { buffer: &logits, pitch };
        self.steps.logits(self.inputs, &w, logits, pitch)?;
        let topk = self.alloc(w.rows, k, 4)?;
        self.steps.topk(&w, logits, Selected { values: None, ids: &topk, row: 0, k })?;
        self.device.synchronize()?;
        Ok(Selection { topk, candidates: None })
    }

    fn dense(&self) -> Result<Selection, OpError> {
        let (w, k) = (self.whole(), self.topk());
        let rows = w.rows;
        let blocks = w.keys.div_ceil(BLOCK_KEYS);
        let pitch = w.keys.next_multiple_of(4);
        let padded_pitch = blocks * BLOCK_KEYS;
        let max_pitch = blocks.next_multiple_of(4);
        let logits = self.alloc(rows, pitch, 4)?;
        let logits = Matrix { buffer: &logits, pitch };
        self.steps.logits(self.inputs, &w, logits, pitch)?;

        let padded = self.alloc(rows, padded_pitch, 4)?;
        let padded = Matrix { buffer: &padded, pitch: padded_pitch };
        self.steps.pad_copy(rows, logits, pitch, padded)?;
        let maxima = self.alloc(rows, max_pitch, 4)?;
        let maxima = Matrix { buffer: &maxima, pitch: max_pitch };
        self.steps.block_max(rows, padded, blocks, maxima)?;
        let candidates = self.alloc(rows, CANDIDATE_BLOCKS, 4)?;
        let selected = Selected { values: None, ids: &candidates, row: 0, k: CANDIDATE_BLOCKS };
        self.steps.candidate_blocks(&w, maxima, selected)?;

        let mask = self.alloc(rows, padded_pitch, 1)?;
        let mask = Matrix { buffer: &mask, pitch: padded_pitch };
        let ids = Matrix { buffer: &candidates, pitch: CANDIDATE_BLOCKS };
        self.steps.candidate_mask(rows, ids, blocks, mask)?;
        let topk = self.alloc(rows, k, 4)?;
        self.steps.topk_masked(
            &w,
            logits,
            mask,
            Selected { values: None, ids: &topk, row: 0, k },
        )?;
        self.device.synchronize()?;
        Ok(Selection { topk, candidates: Some(candidates) })
    }

    fn row_pooled(&self, budget: Bytes) -> Result<Selection, OpError> {
        let (all, k) = (self.whole(), self.topk());
        let blocks = all.keys.div_ceil(BLOCK_KEYS);
        let pitch = blocks * BLOCK_KEYS;
        let max_pitch = blocks.next_multiple_of(4);
        let row_bytes = product(self.name, self.shape, &[pitch, 4])?;
        let pool_rows = (budget.0 / row_bytes).clamp(1, all.rows);
        let logits = self.alloc(pool_rows, pitch, 4)?;
        let logits = Matrix { buffer: &logits, pitch };
        let maxima = self.alloc(pool_rows, max_pitch, 4)?;
        let maxima = Matrix { buffer: &maxima, pitch: max_pitch };
        let candidates = self.alloc(all.rows, CANDIDATE_BLOCKS, 4)?;
        let topk = self.alloc(all.rows, k, 4)?;
        for row in (0..all.rows).step_by(usize::try_from(pool_rows).unwrap_or(usize::MAX)) {
            let w = Window { row, rows: pool_rows.min(all.rows - row), ..all };
            self.steps.logits(self.inputs, &w, logits, pitch)?;
            self.steps.block_max(w.rows, logits, blocks, maxima)?;
            let selected = Selected { values: None, ids: &candidates, row, k: CANDIDATE_BLOCKS };
            self.steps.candidate_blocks(&w, maxima, selected)?;
            let ids = Matrix { buffer: &candidates, pitch: CANDIDATE_BLOCKS };
            let selected = Selected { values: None, ids: &topk, row, k };
            self.steps.topk_candidates(&w, logits, ids, selected)?;
        }
        self.device.synchronize()?;
        Ok(Selection { topk, candidates: Some(candidates) })
    }

    /// The candidate filter is not needed here: a key among the best k < 2048 lies in a block that
    /// fewer than k other blocks beat, so the candidates always hold it and the newest key's block
    /// besides.
    fn key_blocked(&self, block: u64) -> Result<Selection, OpError> {
        let (all, k) = (self.whole(), self.topk());
        if block == 0 || !block.is_multiple_of(BLOCK_KEYS) {
            let problem = format!("a key block of {block}; expected a multiple of {BLOCK_KEYS}");
            return Err(OpError::shape(self.name, self.shape, problem));
        }
        if k >= CANDIDATE_BLOCKS {
            let problem = format!("top-k {k}; needs fewer than {CANDIDATE_BLOCKS}");
            return Err(OpError::shape(self.name, self.shape, problem));
        }
        let rows = all.rows;
        let max_pitch = (block / BLOCK_KEYS).next_multiple_of(4);
        let logits = self.alloc(rows, block, 4)?;
        let logits = Matrix { buffer: &logits, pitch: block };
        let maxima = self.alloc(rows, max_pitch, 4)?;
        let maxima = Matrix { buffer: &maxima, pitch: max_pitch };
        let blocks = Running::new(self, rows, CANDIDATE_BLOCKS)?;
        let keys = Running::new(self, rows, k)?;
        for key in (0..all.keys).step_by(usize::try_from(block).unwrap_or(usize::MAX)) {
            let w = Window { key, keys: block.min(all.keys - key), ..all };
            self.steps.logits(self.inputs, &w, logits, w.keys.next_multiple_of(BLOCK_KEYS))?;
            self.steps.block_max(rows, logits, w.keys.div_ceil(BLOCK_KEYS), maxima)?;
            self.steps.candidate_blocks(&w, maxima, blocks.next(key == 0))?;
            self.steps.topk(&w, logits, keys.next(key == 0))?;
            if key != 0 {
                blocks.merge(self)?;
                keys.merge(self)?;
            }
        }
        self.device.synchronize()?;
        Ok(Selection { topk: keys.ids, candidates: Some(blocks.ids) })
    }
}

/// A running selection `[rows, k]` and the one of the current key block.
struct Running {
    rows: u64,
    k: u64,
    values: Buffer,
    ids: Buffer,
    new_values: Buffer,
    new_ids: Buffer,
}

impl Running {
    fn new(call: &Call<'_>, rows: u64, k: u64) -> Result<Self, OpError> {
        Ok(Running {
            rows,
            k,
            values: call.alloc(rows, k, 4)?,
            ids: call.alloc(rows, k, 4)?,
            new_values: call.alloc(rows, k, 4)?,
            new_ids: call.alloc(rows, k, 4)?,
        })
    }

    /// Where the next key block's selection goes: the first one is the running one.
    fn next(&self, first: bool) -> Selected<'_> {
        let (values, ids) =
            if first { (&self.values, &self.ids) } else { (&self.new_values, &self.new_ids) };
        Selected { values: Some(values), ids, row: 0, k: self.k }
    }

    fn merge(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Running { rows, k, values, ids, new_values, new_ids } = self;
        call.steps.merge(*rows, values, ids, new_values, new_ids, *k)
    }
}
