//! Checks of the GEMM kernels.

use cdna_sim::exec::formats::Format;

use super::data::{Random, UNWRITTEN, gather, to_bf16};
use super::{Session, Verdict, agreement};
use crate::ops::gemm::{GemmShape, element_bytes, launch, tile_of};
use crate::ops::reference::{bf16_to_f32, decode_fp8, f32_to_bf16_exact, gemm};
use crate::ops::{KernelEntry, KernelOp, OpError, Tile, Variant, catalog};

/// Unit roundoff of bf16: half a step of 2^-7.
pub(super) const BF16_ROUNDING: f64 = 1.0 / 256.0;
/// What f32 accumulation in another order may add: thousands of f32 roundings.
const SLACK: f64 = 1e-4;

pub(super) fn check(session: &mut Session<'_>) -> Result<(), OpError> {
    for entry in catalog(session.arch.name())? {
        if entry.op != KernelOp::Gemm {
            continue;
        }
        let (tile, variant) = tile_of(&entry, &entry.id)?;
        for shape in shapes(tile, variant, element_bytes(&entry.dtype)) {
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
    for entry in entries.iter().filter(|entry| entry.op == KernelOp::Gemm) {
        let (tile, _) = tile_of(entry, &entry.id)?;
        // A deployed product is large, so one number of rows has to do.
        let m = super::absorb::pack_rows(entry, tile).into_iter().min();
        for (m, launch) in m.iter().zip(&entry.launch) {
            let shape = GemmShape::new(*m, launch.dims.n, launch.dims.k);
            run(session, &entry.id, &shape).map_err(|error| error.of_kernel(&entry.id))?;
        }
    }
    Ok(())
}

/// Sizes at, around and across the tile; a depth that no tile divides; padded rows.
fn shapes(tile: Tile, variant: Variant, elem: u64) -> Vec<GemmShape> {
    let (m, n, k) = (u64::from(tile.m), u64::from(tile.n), u64::from(tile.k));
    // Sixteen bytes: what rows are multiples of.
    let step = 16 / elem;
    let padded = |m, n, k| GemmShape {
        lda: k + step,
        ldb: k + 3 * step,
        ldc: n + 8,
        ..GemmShape::new(m, n, k)
    };
    match variant {
        Variant::Even => vec![
            GemmShape::new(m, n, 3 * k),
            padded(m, 2 * n, 2 * k + step),
            GemmShape::new(2 * m, n, step),
        ],
        _ => vec![
            padded(m + 1, n + 8, k + step),
            GemmShape::new(m - 1, n + 3, 2 * k),
            GemmShape { ldc: 24, ..GemmShape::new(17, 21, k - step) },
        ],
    }
}

fn run(session: &mut Session<'_>, id: &str, s: &GemmShape) -> Result<(), OpError> {
    let kernel = session.library.kernel(id)?.clone();
    let bf16 = kernel.entry.dtype == "bf16";
    let mut random = Random::new(s.m ^ s.n << 20 ^ s.k << 40);
    let mut operand = |rows: u64, pitch: u64, k: u64| -> (Vec<u8>, Vec<f32>) {
        let (rows, pitch, k) = (rows as usize, pitch as usize, k as usize);
        let values: Vec<f32> = (0..rows * pitch).map(|_| random.signed()).collect();
        if bf16 {
            let bits: Vec<u16> = values.iter().map(|v| f32_to_bf16_exact(*v)).collect();
            let bytes = bits.iter().flat_map(|b| b.to_le_bytes()).collect();
            (bytes, gather(&bits, 0, rows, pitch, k).iter().map(|b| bf16_to_f32(*b)).collect())
        } else {
            let format = Format::fp8(session.arch);
            let codes: Vec<u8> = values.iter().map(|v| format.encode(*v, true)).collect();
            let dense = decode_fp8(&gather(&codes, 0, rows, pitch, k), session.arch);
            (codes, dense)
        }
    };
    let (a_bytes, a) = operand(s.m, s.lda, s.k);
    let (b_bytes, b) = operand(s.n, s.ldb, s.k);
    let a_buffer = session.upload(&a_bytes)?;
    let b_buffer = session.upload(&b_bytes)?;
    let c_buffer = session.scratch((s.m * s.ldc * 2) as usize)?;
    launch(session.device, &kernel, s, &a_buffer, &b_buffer, &c_buffer)?;
    let c = c_buffer.download()?;

    let (m, n, ldc) = (s.m as usize, s.n as usize, s.ldc as usize);
    let got = to_bf16(&gather(&c, 0, m, ldc * 2, n * 2));
    let verdict =
        Verdict::Close(agreement(&got, &gemm(&a, &b, s.k as usize), BF16_ROUNDING, SLACK));
    let case = format!("M={} N={} K={} lda={} ldb={} ldc={}", s.m, s.n, s.k, s.lda, s.ldb, s.ldc);
    session.record(id, &case, verdict);
    let outside = gather(&c, n * 2, m - 1, ldc * 2, (ldc - n) * 2);
    let untouched = vec![UNWRITTEN; outside.len()];
    session.record(id, format!("{case}: between rows"), Verdict::exact(&outside, &untouched));
    Ok(())
}
