//! Synthetic points and profiles with known truths, for tests.

use super::{Engine, Op, Outcome, Point, Profile, Provenance, Simulator};

/// A finished point with every optional field empty.
pub fn blank(op: Op, kernel: &str, variant: &str) -> Point {
    Point { outcome: Outcome::Ok, samples: 1, ..Point::new(op, kernel, variant, "", "bf16") }
}

/// An indexer point of `pipeline` with exact peak bytes and time.
pub fn indexer(pipeline: &str, t: u64, l: u64, ratio: u32, peak: u64, time_us: f64) -> Point {
    Point {
        shape: "indexer".into(),
        dtype: "fp4".into(),
        t: Some(t),
        l: Some(l),
        ratio: Some(ratio),
        heads: Some(64),
        topk: Some(512),
        peak_bytes: Some(peak),
        time_us: Some(time_us),
        time_lo_us: Some(time_us),
        time_hi_us: Some(time_us),
        ..blank(Op::Indexer, pipeline, pipeline)
    }
}

/// An absorb point of shape `w_kc` at tile `block_m` x 256.
pub fn absorb(variant: &str, block_m: u32, m: u64, time_us: f64, instructions: u64) -> Point {
    Point {
        shape: "w_kc".into(),
        block_m: Some(block_m),
        block_n: Some(256),
        block_k: Some(128),
        b: Some(16),
        m: Some(m),
        n: Some(512),
        k: Some(192),
        time_us: Some(time_us),
        time_lo_us: Some(time_us),
        time_hi_us: Some(time_us),
        instructions: Some(instructions),
        kernel_sha256: Some("ab".repeat(32)),
        ..blank(Op::AbsorbBmm, &format!("absorb_bmm_{block_m}x256"), variant)
    }
}

/// What a synthetic device is like.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    /// Bytes per (row, key) of the dense pipeline.
    pub c: u64,
    /// Fixed bytes.
    pub m0: u64,
    /// Pool of the `row_pooled` pipeline, bytes.
    pub pool: u64,
    /// Time per row of the ragged variant over that of the even one.
    pub gain: f64,
}

impl Default for Truth {
    fn default() -> Self {
        Self { c: 9, m0: 1 << 20, pool: 64 << 20, gain: 2.0 }
    }
}

/// Rows and prefixes of the synthetic grid.
pub const ROWS: [u64; 4] = [256, 512, 1024, 2048];
/// Prefixes of the synthetic grid.
pub const PREFIXES: [u64; 5] = [0, 8_192, 32_768, 65_536, 131_072];

/// Points of the three fp4 pipelines at ratio 1, of the fp8 path, and of `absorb_bmm` at tile 64.
pub fn points(truth: Truth) -> Vec<Point> {
    let mut points = Vec::new();
    for t in ROWS {
        for l in PREFIXES {
            let keys = l + t;
            let time = 5.0 + 0.02 * t as f64 + 1e-6 * (t * keys) as f64;
            let dense = truth.m0 + truth.c * t * keys;
            let pooled = truth.m0 + 8_192 * t + (4 * t * keys).min(truth.pool);
            let blocked = truth.m0 + 20_000 * t;
            points.push(indexer("fp8", t, l, 1, truth.m0 + 5 * t * keys, time));
            points.push(indexer("dense", t, l, 1, dense, time));
            points.push(indexer("row_pooled", t, l, 1, pooled, time * 1.05));
            points.push(indexer("key_blocked", t, l, 1, blocked, time * 1.1));
        }
    }
    for block in [2u64, 8, 256] {
        for residue in [0u64, 1, 16, 48, 63] {
            let m = block * 64 + residue;
            let tiles = m.div_ceil(64) as f64;
            let variant = if residue == 0 { "even" } else { "ragged_wrap" };
            let slow = if residue == 0 { 1.0 } else { truth.gain };
            points.push(absorb(
                variant,
                64,
                m,
                tiles * slow,
                m * if residue == 0 { 10 } else { 24 },
            ));
            if residue != 0 {
                points.push(absorb("ragged_buffer", 64, m, tiles * 1.05, m * 11));
            }
        }
    }
    points
}

/// A simulated profile of [`points`].
pub fn profile(truth: Truth) -> Profile {
    Profile::new(points(truth), provenance("gfx950", "MI355X")).unwrap()
}

/// Provenance of a simulated run.
pub fn provenance(arch: &str, device: &str) -> Provenance {
    let mut provenance = Provenance::new(Engine::Simulated, arch, device);
    provenance.simulator = Some(Simulator {
        version: "0.1.0".into(),
        parameters: format!("{arch}.toml"),
        parameters_sha256: "cd".repeat(32),
    });
    provenance.model = "glm-5.2".into();
    provenance.tp = 4;
    provenance.grid = "default".into();
    provenance.host = "test".into();
    provenance.date = "2026-01-01T00:00:00Z".into();
    provenance
}
