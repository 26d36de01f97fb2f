//! Checks of the absorb GEMM kernels.

use cdna_sim::exec::formats::Format;

use super::data::{Random, UNWRITTEN, gather, to_bf16};
use super::gemm::BF16_ROUNDING;
use super::{Session, Verdict, agreement};
use crate::ops::absorb::{AbsorbShape, launch};
use crate::ops::gemm::tile_of;
use crate::ops::pack::Picks;
use crate::ops::reference::{AbsorbInputs, absorb, bf16_to_f32, decode_fp8, f32_to_bf16_exact};
use crate::ops::{KernelEntry, KernelOp, OpError, Tile, Variant, catalog};

/// f32 accumulation, and values whose fp8 rounding a last-bit difference of the approximate
/// reciprocal turns: half an fp8 step (2^-4) of a few terms of the sum.
const SLACK: f64 = 2e-3;
/// Scale of W.
const W_SCALE: f32 = 0.37;

pub(super) fn check(session: &mut Session<'_>) -> Result<(), OpError> {
    for entry in catalog(session.arch.name())? {
        if entry.op != KernelOp::AbsorbBmm {
            continue;
        }
        let (tile, variant) = tile_of(&entry, &entry.id)?;
        for shape in shapes(tile, variant) {
            run(session, &entry.id, &shape).map_err(|error| error.of_kernel(&entry.id))?;
        }
    }
    Ok(())
}

/// Checks the kernels of a pack at the shapes that they were compiled for.
pub(super) fn check_pack(
    session: &mut Session<'_>,
    entries: &[KernelEntry],
) -> Result<(), OpError> {
    for entry in entries.iter().filter(|entry| entry.op == KernelOp::AbsorbBmm) {
        let (tile, _) = tile_of(entry, &entry.id)?;
        for shape in pack_shapes(entry, tile) {
            run(session, &entry.id, &shape).map_err(|error| error.of_kernel(&entry.id))?;
        }
    }
    Ok(())
}

/// One head and two, at the first rows at which the engine runs the kernel.
fn pack_shapes(entry: &KernelEntry, tile: Tile) -> Vec<AbsorbShape> {
    let Some(launch) = &entry.launch else { return Vec::new() };
    let (n, k) = (launch.dims.n, launch.dims.k);
    let shape = |(index, m)| AbsorbShape::of_entry(entry, 1 + (index as u64 & 1), m, n, k);
    pack_rows(entry, tile).into_iter().enumerate().map(shape).collect()
}

/// Few rows at which the engine runs a kernel of a pack: whole tiles, or a row beside a tile on
/// either side, and the first of its range.
pub(super) fn pack_rows(entry: &KernelEntry, tile: Tile) -> Vec<u64> {
    let Some(launch) = &entry.launch else { return Vec::new() };
    let block = u64::from(tile.m);
    let offsets = match launch.picks {
        Picks::Even => vec![0, block],
        Picks::Ragged => vec![1, block - 1],
        Picks::All => vec![0, 1, block - 1],
    };
    let first = launch.rows.iter().map(|[first, _]| *first).min().unwrap_or(1);
    let base = first.div_ceil(block) * block;
    let rows = offsets.iter().map(|offset| base + offset).chain([first]);
    rows.filter(|m| launch.runs(*m, tile)).collect()
}

/// GLM-5.2's depths (192 and 512) and ones that no group divides; head- and token-major.
fn shapes(tile: Tile, variant: Variant) -> Vec<AbsorbShape> {
    let (m, n) = (u64::from(tile.m), u64::from(tile.n));
    let padded = |s: AbsorbShape| AbsorbShape {
        x_stride_m: s.x_stride_m + 8,
        w_stride_n: s.w_stride_n + 16,
        w_stride_b: s.w_stride_b + s.n * 16,
        out_stride_m: s.out_stride_m + 8,
        ..s
    };
    match variant {
        Variant::Even => vec![
            AbsorbShape::token_major(2, m, n, 192),
            AbsorbShape::head_major(1, 2 * m, 2 * n, 512),
            padded(AbsorbShape::token_major(1, m, n, 16)),
        ],
        Variant::RaggedWrap => vec![
            AbsorbShape::token_major(2, m + 1, n, 192),
            AbsorbShape::head_major(1, 2 * m - 1, n + 3, 512),
            padded(AbsorbShape::token_major(2, 7, 45, 144)),
        ],
        Variant::RaggedBuffer => vec![
            AbsorbShape::token_major(2, m + 1, n, 192),
            AbsorbShape::head_major(1, 2 * m - 1, n + 8, 512),
            padded(AbsorbShape::token_major(2, 7, 40, 144)),
        ],
    }
}

/// Elements of a `[b, rows, row]` tensor with these strides.
fn extent(b: u64, stride_b: u64, rows: u64, stride: u64, row: u64) -> usize {
    ((b - 1) * stride_b + (rows - 1) * stride + row) as usize
}

fn run(session: &mut Session<'_>, id: &str, s: &AbsorbShape) -> Result<(), OpError> {
    let kernel = session.library.kernel(id)?.clone();
    let mut random = Random::new(s.m ^ s.n << 20 ^ s.k << 40);
    let x_len = extent(s.b, s.x_stride_b, s.m, s.x_stride_m, s.k);
    // Magnitudes over 16 binades, in stretches, so that rows and groups have scales of their own.
    let mut magnitude = 1.0;
    let x: Vec<u16> = (0..x_len)
        .map(|i| {
            if i % 61 == 0 {
                magnitude = f32::powi(2.0, random.below(16) as i32 - 8);
            }
            f32_to_bf16_exact(random.signed() * magnitude)
        })
        .collect();
    let mut x = x;
    // A row of zeros takes the smallest scale.
    x[..s.k as usize].fill(0);
    let w_len = extent(s.b, s.w_stride_b, s.n, s.w_stride_n, s.k);
    let format = Format::fp8(session.arch);
    let w: Vec<u8> = (0..w_len).map(|_| format.encode(random.signed() * 8.0, true)).collect();

    let x_bytes: Vec<u8> = x.iter().flat_map(|v| v.to_le_bytes()).collect();
    let x_buffer = session.upload(&x_bytes)?;
    let w_buffer = session.upload(&w)?;
    let scale = session.upload(&W_SCALE.to_le_bytes())?;
    let out_len = extent(s.b, s.out_stride_b, s.m, s.out_stride_m, s.n);
    let out_buffer = session.scratch(out_len * 2)?;
    launch(session.device, &kernel, s, &x_buffer, &w_buffer, &out_buffer, &scale)?;
    let out = out_buffer.download()?;

    let (m, n, k) = (s.m as usize, s.n as usize, s.k as usize);
    let (mut got, mut want) = (Vec::new(), Vec::new());
    let mut touched = vec![false; out_len];
    for head in 0..s.b {
        let at = |stride: u64| (head * stride) as usize;
        let x: Vec<f32> = gather(&x, at(s.x_stride_b), m, s.x_stride_m as usize, k)
            .into_iter()
            .map(bf16_to_f32)
            .collect();
        let w = gather(&w, at(s.w_stride_b), s.n as usize, s.w_stride_n as usize, k);
        let w = decode_fp8(&w, session.arch);
        let inputs = AbsorbInputs { x: &x, w: &w, w_scale: W_SCALE, k };
        want.extend(absorb(&inputs, session.arch));
        let (offset, pitch) = (at(s.out_stride_b), s.out_stride_m as usize);
        got.extend(to_bf16(&gather(&out, offset * 2, m, pitch * 2, n * 2)));
        for row in 0..m {
            touched[offset + row * pitch..][..n].fill(true);
        }
    }
    let case = format!(
        "B={} M={} N={} K={} x=({},{}) w=({},{}) out=({},{})",
        s.b,
        s.m,
        s.n,
        s.k,
        s.x_stride_b,
        s.x_stride_m,
        s.w_stride_b,
        s.w_stride_n,
        s.out_stride_b,
        s.out_stride_m
    );
    let close = row_agreement(&got, &want, n);
    session.record(id, &case, Verdict::Close(close));
    let outside: Vec<u8> = out
        .chunks(2)
        .zip(&touched)
        .filter(|(_, touched)| !**touched)
        .flat_map(|(bytes, _)| bytes.iter().copied())
        .collect();
    let untouched = vec![UNWRITTEN; outside.len()];
    session.record(id, format!("{case}: outside the result"), Verdict::exact(&outside, &untouched));
    Ok(())
}

/// Rows differ in magnitude by many binades: each is compared with its own largest value.
fn row_agreement(got: &[f64], want: &[f64], n: usize) -> super::Agreement {
    let rows = got.chunks(n).zip(want.chunks(n));
    rows.map(|(got, want)| agreement(got, want, BF16_ROUNDING, SLACK))
        .reduce(|a, b| super::Agreement {
            relative: a.relative.max(b.relative),
            outside: a.outside + b.outside,
        })
        .unwrap_or(super::Agreement { relative: f64::INFINITY, outside: 0 })
}
