//! Candidate blocks and exact top-k of one row.

use crate::ops::indexer::BLOCK_KEYS;

/// Ids of the `k` largest values, equal ones by lowest id, ascending, padded with -1 to `k`; -inf is
/// never taken.
pub fn top_ids(values: &[f32], k: usize) -> Vec<i32> {
    let taken = values.iter().enumerate().filter(|(_, v)| **v > f32::NEG_INFINITY);
    let mut order: Vec<(usize, f32)> = taken.map(|(i, v)| (i, *v)).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut ids: Vec<i32> = order.iter().take(k).map(|(i, _)| *i as i32).collect();
    ids.sort_unstable();
    ids.resize(k, -1);
    ids
}

/// Block of the newest of `visible` keys.
pub fn newest_block(visible: u64) -> Option<usize> {
    Some(visible.checked_sub(1)? as usize / BLOCK_KEYS as usize)
}

/// Ids of the best `count` blocks by their largest logit; the newest key's block is always kept.
pub fn candidate_blocks(logits: &[f32], visible: u64, count: usize) -> Vec<i32> {
    let mut maxima: Vec<f32> = logits
        .chunks(BLOCK_KEYS as usize)
        .map(|block| block.iter().copied().fold(f32::NEG_INFINITY, f32::max))
        .collect();
    if let Some(block) = newest_block(visible) {
        maxima[block] = f32::INFINITY;
    }
    top_ids(&maxima, count)
}

/// Whether each of `keys` keys lies in a candidate block.
pub fn candidate_mask(ids: &[i32], keys: usize) -> Vec<bool> {
    let mut mask = vec![false; keys];
    for id in ids.iter().filter(|id| **id >= 0) {
        let first = *id as usize * BLOCK_KEYS as usize;
        let end = keys.min(first + BLOCK_KEYS as usize);
        mask[first..end].fill(true);
    }
    mask
}

/// Top-k among the keys of candidate blocks.
pub fn topk_in_candidates(logits: &[f32], candidates: &[i32], k: usize) -> Vec<i32> {
    let mask = candidate_mask(candidates, logits.len());
    let kept: Vec<f32> = logits
        .iter()
        .zip(mask)
        .map(|(v, kept)| if kept { *v } else { f32::NEG_INFINITY })
        .collect();
    top_ids(&kept, k)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: f32 = f32::NEG_INFINITY;

    #[test]
    fn equal_values_are_taken_by_lowest_id_and_written_in_order() {
        assert_eq!(top_ids(&[1.0, 3.0, 2.0, 3.0, 2.0, 2.0], 4), [1, 2, 3, 4]);
    }

    #[test]
    fn invisible_keys_leave_room_that_is_padded() {
        assert_eq!(top_ids(&[NONE, 0.5, NONE], 3), [1, -1, -1]);
    }

    #[test]
    fn the_newest_block_is_kept_though_others_are_better() {
        let mut logits = vec![9.0; 16];
        logits.extend([1.0, NONE, NONE, NONE, NONE, NONE, NONE, NONE]);
        assert_eq!(candidate_blocks(&logits, 17, 2), [0, 2]);
        let mask = candidate_mask(&[0, 2], 20);
        assert_eq!(mask, (0..20).map(|key| !(8..16).contains(&key)).collect::<Vec<_>>());
        assert_eq!(topk_in_candidates(&logits, &[0, 2], 9)[8], 16);
    }

    #[test]
    fn a_row_that_sees_no_key_has_no_candidates() {
        assert_eq!(newest_block(0), None);
        assert_eq!(candidate_blocks(&[NONE; 16], 0, 3), [-1, -1, -1]);
    }
}
