//! Checks of the indexer logits kernels.

use cdna_sim::exec::formats::Format;

use super::data::{Random, UNWRITTEN, f32_bytes, gather, to_f32};
use super::{Session, Verdict, agreement};
use crate::ops::OpError;
use crate::ops::indexer::{IndexerInputs, IndexerShape, KeyType, Matrix, Steps, Window};
use crate::ops::reference::{LogitsInputs, decode_fp4, decode_fp8, logits};

/// f32 accumulation over 128 x 64 terms in another order.
const SLACK: f64 = 1e-5;
/// Unit roundoff of f32.
const F32_ROUNDING: f64 = 1.0 / (1u64 << 24) as f64;

/// Host copies of indexer inputs.
pub(super) struct HostInputs {
    kind: KeyType,
    q: Vec<u8>,
    q_scale: Vec<u8>,
    k: Vec<u8>,
    k_scale: Vec<u8>,
    weights: Vec<f32>,
}

impl HostInputs {
    pub(super) fn random(session: &Session<'_>, shape: &IndexerShape, kind: KeyType) -> Self {
        let mut random = Random::new(shape.t ^ shape.l << 16 ^ u64::from(shape.heads) << 40);
        let heads = (shape.t * u64::from(shape.heads)) as usize;
        let (keys, dim) = (shape.keys() as usize, shape.dim as usize);
        let weights = (0..heads).map(|_| random.signed()).collect();
        match kind {
            KeyType::Fp4 => {
                let mut bytes = |n: usize| (0..n).map(|_| random.bits() as u8).collect::<Vec<_>>();
                let (q, k) = (bytes(heads * dim / 2), bytes(keys * dim / 2));
                // 2^-6 to 2^5.
                let mut scales =
                    |n: usize| (0..n).map(|_| 121 + random.below(12) as u8).collect::<Vec<_>>();
                let (q_scale, k_scale) = (scales(heads * dim / 32), scales(keys * dim / 32));
                HostInputs { kind, q, q_scale, k, k_scale, weights }
            }
            KeyType::Fp8 => {
                let format = Format::fp8(session.arch);
                let mut codes = |n: usize| {
                    (0..n).map(|_| format.encode(random.signed() * 16.0, true)).collect::<Vec<_>>()
                };
                let (q, k) = (codes(heads * dim), codes(keys * dim));
                let scales: Vec<f32> = (0..keys).map(|_| 0.01 + random.unit()).collect();
                HostInputs { kind, q, q_scale: vec![], k, k_scale: f32_bytes(&scales), weights }
            }
        }
    }

    pub(super) fn upload(
        &self,
        session: &Session<'_>,
        shape: &IndexerShape,
    ) -> Result<IndexerInputs, OpError> {
        let inputs = IndexerInputs::allocate(session.device, shape, self.kind)?;
        inputs.q.upload(&self.q)?;
        inputs.k.upload(&self.k)?;
        inputs.k_scale.upload(&self.k_scale)?;
        inputs.weights.upload(&f32_bytes(&self.weights))?;
        if self.kind == KeyType::Fp4 {
            inputs.q_scale.upload(&self.q_scale)?;
        }
        Ok(inputs)
    }

    fn reference(&self, session: &Session<'_>, shape: &IndexerShape) -> Vec<f64> {
        let widen = |codes: &[u8]| -> Vec<f64> {
            decode_fp8(codes, session.arch).into_iter().map(f64::from).collect()
        };
        let scales = to_f32(&self.k_scale);
        let (q, k, key_scale) = match self.kind {
            KeyType::Fp4 => {
                (decode_fp4(&self.q, &self.q_scale), decode_fp4(&self.k, &self.k_scale), None)
            }
            KeyType::Fp8 => (widen(&self.q), widen(&self.k), Some(scales.as_slice())),
        };
        logits(&LogitsInputs { q: &q, k: &k, weights: &self.weights, key_scale }, shape)
    }
}

pub(super) fn check(session: &mut Session<'_>) -> Result<(), OpError> {
    for kind in [KeyType::Fp4, KeyType::Fp8] {
        for heads in [32, 64] {
            // Rows and keys that no tile divides, a first chunk, ratios with invisible last keys.
            for (t, l, ratio) in [(37, 261, 1), (33, 0, 1), (5, 1201, 4), (34, 253, 2)] {
                let shape = IndexerShape { t, l, ratio, heads, dim: 128, topk: 512 };
                run(session, &shape, kind)?;
            }
        }
    }
    Ok(())
}

fn run(session: &mut Session<'_>, shape: &IndexerShape, kind: KeyType) -> Result<(), OpError> {
    let host = HostInputs::random(session, shape, kind);
    let inputs = host.upload(session, shape)?;
    let want = host.reference(session, shape);
    let subject = format!("indexer_logits_{}_h{}", kind.name(), shape.heads);
    let keys = shape.keys();
    let whole = Window { row: 0, rows: shape.t, key: 0, keys };
    // A window inside, as row- and key-splitting pipelines launch it.
    let inner = Window { row: 2, rows: shape.t - 3, key: 8, keys: keys - 16 };
    for w in [whole, inner] {
        let columns = w.keys.next_multiple_of(8);
        let pitch = columns + 4;
        let out = session.scratch((w.rows * pitch * 4) as usize)?;
        let matrix = Matrix { buffer: &out, pitch };
        Steps::new(session.device, session.library, *shape)?
            .logits(&inputs, &w, matrix, columns)?;
        let bytes = out.download()?;
        let (rows, pitch, columns) = (w.rows as usize, pitch as usize, columns as usize);
        let got: Vec<f64> = to_f32(&gather(&bytes, 0, rows, pitch * 4, columns * 4))
            .into_iter()
            .map(f64::from)
            .collect();
        let offset = (w.row * keys + w.key) as usize;
        let mut padded = Vec::new();
        for row in
            gather(&want, offset, rows, keys as usize, w.keys as usize).chunks(w.keys as usize)
        {
            padded.extend_from_slice(row);
            padded.resize(padded.len() + columns - row.len(), f64::NEG_INFINITY);
        }
        let case = format!(
            "T={} L={} ratio={} rows {}+{} keys {}+{}",
            shape.t, shape.l, shape.ratio, w.row, w.rows, w.key, w.keys
        );
        let verdict = Verdict::Close(agreement(&got, &padded, F32_ROUNDING, SLACK));
        session.record(&subject, &case, verdict);
        let outside = gather(&bytes, columns * 4, rows - 1, pitch * 4, 16);
        let untouched = vec![UNWRITTEN; outside.len()];
        session.record(
            &subject,
            format!("{case}: between rows"),
            Verdict::exact(&outside, &untouched),
        );
    }
    Ok(())
}
