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

#[cfg(test)]
mod tests {
    #[test]
    fn rows_of_a_meet_rows_of_b() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
        assert_eq!(super::gemm(&a, &b, 2), [17.0, 23.0, 29.0, 39.0, 53.0, 67.0]);
    }
}
