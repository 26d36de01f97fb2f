//! The single kernels of the indexer pipelines, with their grids and arguments.

use super::{BLOCK_KEYS, IndexerInputs, IndexerShape, KeyType};
use crate::hip::{Args, Buffer, Device};
use crate::ops::{Kernel, Library, OpError, dimension};

/// Rows and keys of a logits tile, columns of an element-wise tile.
const LOGITS_TILE: (u32, u32) = (32, 256);
const COLUMNS_TILE: u32 = 256;

/// A rectangle of the logits: `rows` rows from `row`, `keys` keys from `key`.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// First row of the chunk.
    pub row: u64,
    /// Rows.
    pub rows: u64,
    /// First key.
    pub key: u64,
    /// Keys.
    pub keys: u64,
}

/// A row-major matrix on the device.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    /// Storage.
    pub buffer: &'a Buffer,
    /// Elements from row to row.
    pub pitch: u64,
}

/// Top-k ids, and their values where they are needed for merging, `[rows, k]`.
#[derive(Clone, Copy, Debug)]
pub struct Selected<'a> {
    /// f32 values.
    pub values: Option<&'a Buffer>,
    /// int32 ids, -1 padded.
    pub ids: &'a Buffer,
    /// First row of `ids` and `values` to write.
    pub row: u64,
    /// Columns.
    pub k: u64,
}

/// Launches single steps of the indexer.
pub struct Steps<'a> {
    device: &'a Device,
    library: &'a Library,
    shape: IndexerShape,
}

impl<'a> Steps<'a> {
    /// Steps for one shape.
    ///
    /// # Errors
    /// A shape that the kernels do not take.
    pub fn new(
        device: &'a Device,
        library: &'a Library,
        shape: IndexerShape,
    ) -> Result<Self, OpError> {
        shape.validate()?;
        Ok(Steps { device, library, shape })
    }

    fn kernel(&self, step: &str) -> Result<&Kernel, OpError> {
        self.library.kernel(&format!("indexer_{step}"))
    }

    fn size(&self, name: &str, value: u64) -> Result<u32, OpError> {
        dimension("indexer", &self.shape, name, value)
    }

    /// Position of the first row of a window.
    fn position(&self, w: &Window) -> Result<u32, OpError> {
        self.size("position", self.shape.l.saturating_add(w.row))
    }

    /// Logits of a window into the first rows of `out`; `columns` of each row are written, -inf
    /// past the keys.
    ///
    /// # Errors
    /// The device's.
    pub fn logits(
        &self,
        inputs: &IndexerInputs,
        w: &Window,
        out: Matrix<'_>,
        columns: u64,
    ) -> Result<(), OpError> {
        let s = &self.shape;
        let (dim, heads) = (u64::from(s.dim), u64::from(s.heads));
        let scales = dim / super::SCALE_GROUP;
        let first_head = w.row * heads;
        let values = inputs.kind.bytes(dim);
        let q_scale = if inputs.kind == KeyType::Fp4 { first_head * scales } else { 0 };
        let key_scale = w.key * 4;
        let columns = self.size("columns", columns)?;
        let rows = self.size("rows", w.rows)?;
        let args = Args::new()
            .ptr_at(&inputs.q, first_head * values)
            .ptr_at(&inputs.q_scale, q_scale)
            .ptr_at(&inputs.k, w.key * values)
            .ptr_at(&inputs.k_scale, key_scale)
            .ptr_at(&inputs.weights, first_head * 4)
            .ptr(out.buffer)
            .u32(rows)
            .u32(self.size("keys", w.keys)?)
            .u32(columns)
            .u64(out.pitch)
            .u32(self.position(w)?)
            .u32(self.size("key", w.key)?)
            .u32(s.ratio);
        let grid = [columns.div_ceil(LOGITS_TILE.1), rows.div_ceil(LOGITS_TILE.0), 1];
        self.kernel(&format!("logits_{}_h{}", inputs.kind.name(), s.heads))?.launch(
            self.device,
            grid,
            &args,
        )
    }

    /// Copies `columns` (a multiple of 4) of each row, -inf up to the pitch of `out`.
    ///
    /// # Errors
    /// The device's.
    pub fn pad_copy(
        &self,
        rows: u64,
        from: Matrix<'_>,
        columns: u64,
        out: Matrix<'_>,
    ) -> Result<(), OpError> {
        self.rewrite("pad_copy", 4 * COLUMNS_TILE, rows, from, ("columns", columns), out)
    }

    /// Maximum of each block of 8 keys.
    ///
    /// # Errors
    /// The device's.
    pub fn block_max(
        &self,
        rows: u64,
        from: Matrix<'_>,
        blocks: u64,
        out: Matrix<'_>,
    ) -> Result<(), OpError> {
        self.rewrite("block_max", COLUMNS_TILE, rows, from, ("blocks", blocks), out)
    }

    /// Launches a kernel that makes each row of `out` from the one of `from`; a workgroup writes
    /// `tile` columns. `(name, n)` is the number of columns that count.
    fn rewrite(
        &self,
        step: &str,
        tile: u32,
        rows: u64,
        from: Matrix<'_>,
        (name, n): (&str, u64),
        out: Matrix<'_>,
    ) -> Result<(), OpError> {
        let pitch = self.size("pitch", out.pitch)?;
        let args = Args::new()
            .ptr(from.buffer)
            .ptr(out.buffer)
            .u32(self.size(name, n)?)
            .u64(from.pitch)
            .u32(pitch);
        let grid = [pitch.div_ceil(tile), self.size("rows", rows)?, 1];
        self.kernel(step)?.launch(self.device, grid, &args)
    }

    /// Ids of the best blocks of a window, the newest key's always among them.
    ///
    /// # Errors
    /// The device's.
    pub fn candidate_blocks(
        &self,
        w: &Window,
        block_max: Matrix<'_>,
        out: Selected<'_>,
    ) -> Result<(), OpError> {
        let blocks = w.keys.div_ceil(BLOCK_KEYS).next_multiple_of(4);
        self.select("candidate_blocks", w, block_max, None, blocks, w.key / BLOCK_KEYS, out)
    }

    /// Best keys of a window.
    ///
    /// # Errors
    /// The device's.
    pub fn topk(&self, w: &Window, logits: Matrix<'_>, out: Selected<'_>) -> Result<(), OpError> {
        self.select("topk", w, logits, None, w.keys.next_multiple_of(4), w.key, out)
    }

    /// Best keys of a window where the mask byte is set.
    ///
    /// # Errors
    /// The device's.
    pub fn topk_masked(
        &self,
        w: &Window,
        logits: Matrix<'_>,
        mask: Matrix<'_>,
        out: Selected<'_>,
    ) -> Result<(), OpError> {
        self.select(
            "topk_masked",
            w,
            logits,
            Some((mask, 0)),
            w.keys.next_multiple_of(4),
            w.key,
            out,
        )
    }

    /// Best keys of a window's candidate blocks, `ids` `[t, pitch]`.
    ///
    /// # Errors
    /// The device's.
    pub fn topk_candidates(
        &self,
        w: &Window,
        logits: Matrix<'_>,
        ids: Matrix<'_>,
        out: Selected<'_>,
    ) -> Result<(), OpError> {
        let offset = w.row * ids.pitch * 4;
        self.select("topk_candidates", w, logits, Some((ids, offset)), ids.pitch, w.key, out)
    }

    #[expect(clippy::too_many_arguments, reason = "the operands of one kernel family")]
    fn select(
        &self,
        step: &str,
        w: &Window,
        values: Matrix<'_>,
        aux: Option<(Matrix<'_>, u64)>,
        n: u64,
        first: u64,
        out: Selected<'_>,
    ) -> Result<(), OpError> {
        let offset = out.row * out.k * 4;
        let args = Args::new().ptr(values.buffer);
        let args = match aux {
            Some((aux, offset)) => args.ptr_at(aux.buffer, offset),
            None => args.null(),
        };
        let args = match out.values {
            Some(buffer) => args.ptr_at(buffer, offset),
            None => args.null(),
        };
        let args = args
            .ptr_at(out.ids, offset)
            .u32(self.size("n", n)?)
            .u32(self.size("k", out.k)?)
            .u64(values.pitch)
            .u64(aux.map_or(0, |(aux, _)| aux.pitch))
            .u32(self.size("first", first)?)
            .u32(self.position(w)?)
            .u32(self.shape.ratio);
        let grid = [self.size("rows", w.rows)?, 1, 1];
        self.kernel(step)?.launch(self.device, grid, &args)
    }

    /// Mask bytes of the keys in candidate blocks, `ids` `[rows, pitch]`.
    ///
    /// # Errors
    /// The device's.
    pub fn candidate_mask(
        &self,
        rows: u64,
        ids: Matrix<'_>,
        blocks: u64,
        mask: Matrix<'_>,
    ) -> Result<(), OpError> {
        let args = Args::new()
            .ptr(ids.buffer)
            .ptr(mask.buffer)
            .u32(self.size("count", ids.pitch)?)
            .u32(self.size("blocks", blocks)?)
            .u64(mask.pitch);
        let grid = [self.size("rows", rows)?, 1, 1];
        self.kernel("candidate_mask")?.launch(self.device, grid, &args)
    }

    /// Merges the selection of later keys into that of earlier ones.
    ///
    /// # Errors
    /// The device's.
    pub fn merge(
        &self,
        rows: u64,
        values: &Buffer,
        ids: &Buffer,
        new_values: &Buffer,
        new_ids: &Buffer,
        k: u64,
    ) -> Result<(), OpError> {
        let args =
            Args::new().ptr(values).ptr(ids).ptr(new_values).ptr(new_ids).u32(self.size("k", k)?);
        let grid = [self.size("rows", rows)?, 1, 1];
        self.kernel("topk_merge")?.launch(self.device, grid, &args)
    }
}
