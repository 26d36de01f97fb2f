//! Checks of the indexer pipelines against the references and against each other.

use super::data::{to_f32, to_i32};
use super::logits::HostInputs;
use super::{Session, Verdict};
use crate::ops::OpError;
use crate::ops::indexer::{
    CANDIDATE_BLOCKS, IndexerShape, KeyType, Matrix, Pipeline, Selection, Steps, Window,
};
use crate::ops::reference::{candidate_blocks, top_ids, topk_in_candidates};
use crate::units::Bytes;

pub(super) fn check(session: &mut Session<'_>) -> Result<(), OpError> {
    for shape in [
        // More candidate blocks than are kept; key blocks that do not divide the keys; few keys.
        IndexerShape { t: 3, l: 17_001, ratio: 1, heads: 32, dim: 128, topk: 512 },
        IndexerShape { t: 35, l: 2_500, ratio: 2, heads: 64, dim: 128, topk: 1024 },
        IndexerShape { t: 9, l: 0, ratio: 1, heads: 64, dim: 128, topk: 512 },
    ] {
        fp4(session, &shape)?;
    }
    for shape in [
        IndexerShape { t: 3, l: 5_003, ratio: 1, heads: 32, dim: 128, topk: 2048 },
        IndexerShape { t: 6, l: 0, ratio: 1, heads: 32, dim: 128, topk: 2048 },
    ] {
        fp8(session, &shape)?;
    }
    Ok(())
}

/// The device's own logits, `[t, keys]`, which `check::logits` compares with the f64 reference.
fn device_logits(
    session: &Session<'_>,
    shape: &IndexerShape,
    inputs: &crate::ops::indexer::IndexerInputs,
) -> Result<Vec<f32>, OpError> {
    let keys = shape.keys();
    let out = session.scratch((shape.t * keys * 4) as usize)?;
    let whole = Window { row: 0, rows: shape.t, key: 0, keys };
    let matrix = Matrix { buffer: &out, pitch: keys };
    Steps::new(session.device, session.library, *shape)?.logits(inputs, &whole, matrix, keys)?;
    Ok(to_f32(&out.download()?))
}

fn ids(selection: &Selection) -> Result<(Vec<i32>, Vec<i32>), OpError> {
    let candidates = match &selection.candidates {
        Some(buffer) => to_i32(&buffer.download()?),
        None => Vec::new(),
    };
    Ok((to_i32(&selection.topk.download()?), candidates))
}

fn fp4(session: &mut Session<'_>, shape: &IndexerShape) -> Result<(), OpError> {
    let inputs = HostInputs::random(session, shape, KeyType::Fp4).upload(session, shape)?;
    let logits = device_logits(session, shape, &inputs)?;
    let k = shape.topk as usize;
    let (mut want_topk, mut want_candidates) = (Vec::new(), Vec::new());
    for (t, row) in logits.chunks(shape.keys() as usize).enumerate() {
        let candidates = candidate_blocks(row, shape.visible(t as u64), CANDIDATE_BLOCKS as usize);
        want_topk.extend(topk_in_candidates(row, &candidates, k));
        want_candidates.extend(candidates);
    }
    // A pool of two rows, and key blocks that do not divide the keys.
    let pool = Bytes(2 * shape.keys().next_multiple_of(8) * 4);
    let block = (shape.keys() / 3).next_multiple_of(8).max(8);
    for pipeline in [
        Pipeline::Dense,
        Pipeline::RowPooled { budget: pool },
        Pipeline::RowPooled { budget: super::super::indexer::POOL_BUDGET },
        Pipeline::KeyBlocked { block },
        Pipeline::KeyBlocked { block: super::super::indexer::KEY_BLOCK },
    ] {
        let selection = pipeline.run(session.device, session.library, shape, &inputs)?;
        let (topk, candidates) = ids(&selection)?;
        let subject = format!("pipeline {}", pipeline.name());
        let case = format!(
            "{pipeline:?} T={} L={} ratio={} heads={}",
            shape.t, shape.l, shape.ratio, shape.heads
        );
        session.record(&subject, format!("{case}: top-{k}"), Verdict::exact(&topk, &want_topk));
        let verdict = Verdict::exact(&candidates, &want_candidates);
        session.record(&subject, format!("{case}: candidate blocks"), verdict);
    }
    Ok(())
}

fn fp8(session: &mut Session<'_>, shape: &IndexerShape) -> Result<(), OpError> {
    let inputs = HostInputs::random(session, shape, KeyType::Fp8).upload(session, shape)?;
    let logits = device_logits(session, shape, &inputs)?;
    let k = shape.topk as usize;
    let want: Vec<i32> =
        logits.chunks(shape.keys() as usize).flat_map(|row| top_ids(row, k)).collect();
    let selection = Pipeline::Fp8.run(session.device, session.library, shape, &inputs)?;
    let case = format!("T={} L={} heads={}: top-{k}", shape.t, shape.l, shape.heads);
    session.record("pipeline fp8", case, Verdict::exact(&ids(&selection)?.0, &want));
    Ok(())
}
