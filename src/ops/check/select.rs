//! Checks of candidate selection, mask, top-k and merge, on values with many ties.

use super::data::{Random, f32_bytes, to_f32, to_i32};
use super::{Session, Verdict};
use crate::hip::Buffer;
use crate::ops::OpError;
use crate::ops::indexer::{
    BLOCK_KEYS, CANDIDATE_BLOCKS, IndexerShape, Matrix, Selected, Steps, Window,
};
use crate::ops::reference::{candidate_blocks, candidate_mask, top_ids, topk_in_candidates};

/// A chunk and its logits: few distinct values, so that ties are everywhere, or all distinct.
struct Case {
    shape: IndexerShape,
    keys: u64,
    pitch: u64,
    /// `[t, pitch]`, -inf where not visible.
    logits: Vec<f32>,
    label: String,
}

impl Case {
    fn new(t: u64, l: u64, ratio: u32, topk: u32, levels: u64) -> Self {
        let shape = IndexerShape { t, l, ratio, heads: 32, dim: 128, topk };
        let keys = shape.keys();
        let pitch = keys.next_multiple_of(BLOCK_KEYS);
        let mut random = Random::new(t ^ l << 16 ^ levels << 48);
        let logits = (0..t)
            .flat_map(|row| (0..pitch).map(move |key| (row, key)))
            .map(|(row, key)| {
                let value = random.below(levels) as f32 / 16.0 - 3.0;
                if key < shape.visible(row) { value } else { f32::NEG_INFINITY }
            })
            .collect();
        let label = format!("T={t} L={l} ratio={ratio} k={topk} levels={levels}");
        Case { shape, keys, pitch, logits, label }
    }

    fn window(&self) -> Window {
        Window { row: 0, rows: self.shape.t, key: 0, keys: self.keys }
    }

    fn row(&self, t: u64) -> &[f32] {
        &self.logits[(t * self.pitch) as usize..][..self.keys as usize]
    }

    /// A reference over all rows.
    fn rows<T>(&self, f: impl Fn(u64, &[f32]) -> Vec<T>) -> Vec<T> {
        (0..self.shape.t).flat_map(|t| f(t, self.row(t))).collect()
    }

    fn candidates(&self) -> Vec<i32> {
        let count = CANDIDATE_BLOCKS as usize;
        self.rows(|t, row| candidate_blocks(row, self.shape.visible(t), count))
    }
}

pub(super) fn check(session: &mut Session<'_>) -> Result<(), OpError> {
    for case in [
        // Fewer keys than k; more; more blocks than candidates, ties and none.
        Case::new(3, 300, 1, 512, 8),
        Case::new(2, 5001, 1, 1024, 40),
        Case::new(2, 40_003, 2, 2048, 1 << 24),
        Case::new(2, 40_003, 2, 512, 12),
        Case::new(4, 0, 4, 512, 100),
    ] {
        topk(session, &case)?;
        candidates(session, &case)?;
        merge(session, &case)?;
    }
    Ok(())
}

fn ids_of(buffer: &Buffer) -> Result<Vec<i32>, OpError> {
    Ok(to_i32(&buffer.download()?))
}

fn topk(session: &mut Session<'_>, case: &Case) -> Result<(), OpError> {
    let logits = session.upload(&f32_bytes(&case.logits))?;
    let k = u64::from(case.shape.topk);
    let size = (case.shape.t * k * 4) as usize;
    let (ids, values) = (session.scratch(size)?, session.scratch(size)?);
    let steps = Steps::new(session.device, session.library, case.shape)?;
    let matrix = Matrix { buffer: &logits, pitch: case.pitch };
    steps.topk(&case.window(), matrix, Selected { values: Some(&values), ids: &ids, row: 0, k })?;
    let got = ids_of(&ids)?;
    let want = case.rows(|_, row| top_ids(row, k as usize));
    session.record("indexer_topk", &case.label, Verdict::exact(&got, &want));
    let want: Vec<f32> = want
        .chunks(k as usize)
        .enumerate()
        .flat_map(|(t, ids)| {
            let row = case.row(t as u64);
            ids.iter().map(|id| usize::try_from(*id).map_or(f32::NEG_INFINITY, |i| row[i]))
        })
        .collect();
    let label = format!("{}: values", case.label);
    session.record("indexer_topk", label, Verdict::exact(&to_f32(&values.download()?), &want));
    Ok(())
}

fn candidates(session: &mut Session<'_>, case: &Case) -> Result<(), OpError> {
    let (t, w) = (case.shape.t, case.window());
    let k = u64::from(case.shape.topk);
    let logits = session.upload(&f32_bytes(&case.logits))?;
    let logits = Matrix { buffer: &logits, pitch: case.pitch };
    let blocks = case.keys.div_ceil(BLOCK_KEYS);
    let steps = Steps::new(session.device, session.library, case.shape)?;

    // A copy that drops the last keys and pads one block more.
    let columns = case.keys / 4 * 4;
    let copy_pitch = case.pitch + 4 * BLOCK_KEYS;
    let copy = session.scratch((t * copy_pitch * 4) as usize)?;
    steps.pad_copy(t, logits, columns, Matrix { buffer: &copy, pitch: copy_pitch })?;
    let want = case.rows(|_, row| {
        let mut row = row[..columns as usize].to_vec();
        row.resize(copy_pitch as usize, f32::NEG_INFINITY);
        row
    });
    session.record(
        "indexer_pad_copy",
        &case.label,
        Verdict::exact(&to_f32(&copy.download()?), &want),
    );

    let max_pitch = blocks.next_multiple_of(4);
    let maxima = session.scratch((t * max_pitch * 4) as usize)?;
    let maxima_matrix = Matrix { buffer: &maxima, pitch: max_pitch };
    steps.block_max(t, logits, blocks, maxima_matrix)?;
    let want = case.rows(|_, row| {
        let mut maxima: Vec<f32> = row
            .chunks(BLOCK_KEYS as usize)
            .map(|b| b.iter().copied().fold(f32::NEG_INFINITY, f32::max))
            .collect();
        maxima.resize(max_pitch as usize, f32::NEG_INFINITY);
        maxima
    });
    session.record(
        "indexer_block_max",
        &case.label,
        Verdict::exact(&to_f32(&maxima.download()?), &want),
    );

    let ids = session.scratch((t * CANDIDATE_BLOCKS * 4) as usize)?;
    let selected = Selected { values: None, ids: &ids, row: 0, k: CANDIDATE_BLOCKS };
    steps.candidate_blocks(&w, maxima_matrix, selected)?;
    let want_ids = case.candidates();
    session.record(
        "indexer_candidate_blocks",
        &case.label,
        Verdict::exact(&ids_of(&ids)?, &want_ids),
    );

    let mask = session.scratch((t * case.pitch) as usize)?;
    let ids_matrix = Matrix { buffer: &ids, pitch: CANDIDATE_BLOCKS };
    let mask_matrix = Matrix { buffer: &mask, pitch: case.pitch };
    steps.candidate_mask(t, ids_matrix, blocks, mask_matrix)?;
    let per_row =
        |t: u64| &want_ids[(t * CANDIDATE_BLOCKS) as usize..][..CANDIDATE_BLOCKS as usize];
    let want = case.rows(|t, _| {
        let mask = candidate_mask(per_row(t), case.pitch as usize);
        mask.into_iter().map(u8::from).collect()
    });
    session.record("indexer_candidate_mask", &case.label, Verdict::exact(&mask.download()?, &want));

    let want = case.rows(|t, row| topk_in_candidates(row, per_row(t), k as usize));
    let out = session.scratch((t * k * 4) as usize)?;
    let selected = Selected { values: None, ids: &out, row: 0, k };
    steps.topk_masked(&w, logits, mask_matrix, selected)?;
    session.record("indexer_topk_masked", &case.label, Verdict::exact(&ids_of(&out)?, &want));
    let out = session.scratch((t * k * 4) as usize)?;
    let selected = Selected { values: None, ids: &out, row: 0, k };
    steps.topk_candidates(&w, logits, ids_matrix, selected)?;
    session.record("indexer_topk_candidates", &case.label, Verdict::exact(&ids_of(&out)?, &want));
    Ok(())
}

/// Merging the selections of two key ranges gives the selection of both.
fn merge(session: &mut Session<'_>, case: &Case) -> Result<(), OpError> {
    let k = u64::from(case.shape.topk);
    let split = (case.keys / 2).next_multiple_of(BLOCK_KEYS).min(case.keys);
    let half = |from: u64, to: u64| {
        let mut values = Vec::new();
        let ids = case.rows(|_, row| {
            let mut ids = top_ids(&row[from as usize..to as usize], k as usize);
            ids.iter_mut().filter(|id| **id >= 0).for_each(|id| *id += from as i32);
            ids
        });
        for (t, ids) in ids.chunks(k as usize).enumerate() {
            let row = case.row(t as u64);
            values.extend(
                ids.iter().map(|id| usize::try_from(*id).map_or(f32::NEG_INFINITY, |i| row[i])),
            );
        }
        (values, ids)
    };
    let bytes = |ids: &[i32]| ids.iter().flat_map(|id| id.to_le_bytes()).collect::<Vec<u8>>();
    let (values, ids) = half(0, split);
    let (new_values, new_ids) = half(split, case.keys);
    let values = session.upload(&f32_bytes(&values))?;
    let ids = session.upload(&bytes(&ids))?;
    let new_values = session.upload(&f32_bytes(&new_values))?;
    let new_ids = session.upload(&bytes(&new_ids))?;
    let steps = Steps::new(session.device, session.library, case.shape)?;
    steps.merge(case.shape.t, &values, &ids, &new_values, &new_ids, k)?;
    let want = case.rows(|_, row| top_ids(row, k as usize));
    session.record("indexer_topk_merge", &case.label, Verdict::exact(&ids_of(&ids)?, &want));
    Ok(())
}
