//! Lane movement of the first operand (DPP).

/// Which lane each lane reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    QuadPerm([u8; 4]),
    RowShl(u8),
    RowShr(u8),
    RowRor(u8),
    RowMirror,
    RowHalfMirror,
    WaveShl,
    WaveShr,
    WaveRol,
    WaveRor,
    RowBroadcast15,
    RowBroadcast31,
    RowNewBroadcast(u8),
}

/// A movement, and what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Movement {
    pub from: Move,
    /// Rows of 16 lanes that are written.
    pub rows: u8,
    /// Quarters of each row that are.
    pub banks: u8,
    /// Whether a lane that has nowhere to read from reads zero; it is not written otherwise.
    pub zero: bool,
}

impl Movement {
    /// Whether the masks let `lane` be written.
    pub(super) fn writes(&self, lane: usize) -> bool {
        self.rows >> (lane / 16) & 1 == 1 && self.banks >> (lane % 16 / 4) & 1 == 1
    }

    /// Lane that `lane` reads, if there is one.
    pub(super) fn source(&self, lane: usize) -> Option<usize> {
        let (row, column) = (lane / 16 * 16, lane % 16);
        match self.from {
            Move::QuadPerm(perm) => Some(lane / 4 * 4 + usize::from(perm[lane % 4])),
            Move::RowShl(n) => (column + usize::from(n) < 16).then_some(lane + usize::from(n)),
            Move::RowShr(n) => (column >= usize::from(n)).then(|| lane - usize::from(n)),
            Move::RowRor(n) => Some(row + (column + 16 - usize::from(n)) % 16),
            Move::RowMirror => Some(row + 15 - column),
            Move::RowHalfMirror => Some(lane / 8 * 8 + 7 - lane % 8),
            Move::WaveShl => (lane < 63).then_some(lane + 1),
            Move::WaveShr => lane.checked_sub(1),
            Move::WaveRol => Some((lane + 1) % 64),
            Move::WaveRor => Some((lane + 63) % 64),
            // The last lane of a row to the whole next one; lane 31 to the upper half.
            Move::RowBroadcast15 => row.checked_sub(1),
            Move::RowBroadcast31 => (lane >= 32).then_some(31),
            Move::RowNewBroadcast(n) => Some(row + usize::from(n)),
        }
    }
}
