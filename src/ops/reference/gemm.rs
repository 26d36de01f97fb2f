//! `C = A * B^T`.

/// A is `[m, k]`, B `[n, k]`, both dense; the result is `[m, n]`.
pub fn gemm(a: &[f32], b: &[f32], k: usize) -> Vec<f64> {
    let mut c = Vec::with_capacity((a.len() / k) * (b.len() / k));
    for row in a.chunks_exact(k) {
        for column in b.chunks_exact(k) {
            c.push(row.iter().zip(column).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum());
        }
    }
    c
}
