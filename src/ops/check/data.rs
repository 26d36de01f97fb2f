//! Test inputs: deterministic random numbers, and host bytes to values and back.

/// Byte that fills results before a kernel writes them.
pub const UNWRITTEN: u8 = 0xcd;

/// SplitMix64: any seed gives an independent sequence.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A sequence.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1 << 24) as f32
    }

    /// Uniform in [-1, 1).
    pub fn signed(&mut self) -> f32 {
        self.unit() * 2.0 - 1.0
    }

    /// Uniform below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }
}

/// Little-endian bytes of f32 values.
pub fn f32_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// f32 values of little-endian bytes.
pub fn to_f32(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

/// Integers of little-endian bytes.
pub fn to_i32(bytes: &[u8]) -> Vec<i32> {
    bytes.as_chunks::<4>().0.iter().map(|b| i32::from_le_bytes(*b)).collect()
}

/// bf16 values of little-endian bytes.
pub fn to_bf16(bytes: &[u8]) -> Vec<f64> {
    let value = |b: &[u8; 2]| super::super::reference::bf16_to_f32(u16::from_le_bytes(*b));
    bytes.as_chunks::<2>().0.iter().map(|b| f64::from(value(b))).collect()
}

/// `rows` rows of `columns` elements out of a strided matrix.
pub fn gather<T: Copy>(
    data: &[T],
    offset: usize,
    rows: usize,
    pitch: usize,
    columns: usize,
) -> Vec<T> {
    (0..rows)
        .flat_map(|r| {
            let at = offset + r * pitch;
            data[at..at + columns].iter().copied()
        })
        .collect()
}
