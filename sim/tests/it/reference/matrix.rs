//! Matrix operations, element by element in f64. Where an element lies follows the formulas that
//! AMD's matrix instruction calculator prints, and for f8f6f4 the tables of composable_kernel.

use super::convert::field;
use super::number::{self, BF6, BF16, F16, F32, FP4, FP6, Format, pow2};

/// What a mnemonic says.
#[derive(Clone, Debug)]
pub struct Shape {
    pub m: usize,
    pub k: usize,
    pub blocks: usize,
    pub types: [String; 2],
    pub sparse: bool,
    pub scaled: bool,
}

impl Shape {
    /// Reads `mfma_f32_32x32x4_2b_bf16` and its like.
    pub fn parse(name: &str, formats: [u8; 2]) -> Option<Shape> {
        let sparse = name.starts_with("smfmac_");
        if !sparse && !name.starts_with("mfma_") {
            return None;
        }
        let mut parts = name.split('_').skip_while(|p| p.matches('x').count() != 2 || p.len() < 5);
        let sizes: Vec<usize> = parts.next()?.split('x').filter_map(|n| n.parse().ok()).collect();
        let mut rest: Vec<&str> = parts.collect();
        let blocks = rest[0].strip_suffix('b').and_then(|n| n.parse().ok());
        if blocks.is_some() {
            rest.remove(0);
        }
        let mx = |format: u8| ["fp8", "bf8", "fp6", "bf6", "fp4"][usize::from(format)].to_owned();
        let types = match rest[0] {
            "f8f6f4" => formats.map(mx),
            first => [first.to_owned(), rest[rest.len() - 1].to_owned()],
        };
        let scaled = name.starts_with("mfma_scale_");
        Some(Shape { m: sizes[0], k: sizes[2], blocks: blocks.unwrap_or(1), types, sparse, scaled })
    }

    fn groups(&self) -> usize {
        64 / self.m / self.blocks.min(64 / self.m)
    }

    /// Elements of k in a lane of a dense operand.
    fn per_lane(&self) -> usize {
        self.k / self.groups()
    }

    /// Registers of A, B and of C and D.
    pub fn registers(&self) -> [usize; 3] {
        if self.types[0] == "f64" {
            return [2, 2, if self.m == 16 { 8 } else { 2 }];
        }
        let of = |side: usize| {
            let elements = self.per_lane() / if self.sparse && side == 0 { 2 } else { 1 };
            (elements * bits(&self.types[side])).div_ceil(32)
        };
        [of(0), of(1), self.m * self.m * self.blocks / 64]
    }

    /// Lane and element of row (or column) `row` and `k` of an operand.
    fn place(&self, side: usize, row: usize, k: usize, block: usize) -> (usize, usize) {
        let (m, groups) = (self.m, self.groups());
        if self.types[0] == "f64" {
            return (16 * k + if m == 4 { 4 * block } else { 0 } + row, 0);
        }
        if self.blocks > 1 {
            return (m * block + row, k);
        }
        let mx = self.k * m >= 2048 && !self.sparse && bits(&self.types[side]) == 8;
        if mx && self.types[side] != "i8" {
            return (m * (k / 16 % groups) + row, k % 16 + 16 * (k / (16 * groups)));
        }
        (m * (k / self.per_lane()) + row, k % self.per_lane())
    }

    /// Register and lane of D.
    fn output(&self, i: usize, j: usize, block: usize) -> (usize, usize) {
        match (self.m, self.types[0].as_str()) {
            (16, "f64") => (2 * (i / 4), 16 * (i % 4) + j),
            (_, "f64") => (0, 16 * i + 4 * block + j),
            (32, _) => (16 * block + 4 * (i / 8) + i % 4, 32 * (i / 4 % 2) + j),
            (16, _) => (4 * block + i % 4, 16 * (i / 4) + j),
            _ => (i, 4 * block + j),
        }
    }
}

fn bits(ty: &str) -> usize {
    match ty {
        "f64" => 64,
        "f32" | "xf32" => 32,
        "f16" | "bf16" => 16,
        "fp6" | "bf6" => 6,
        "fp4" => 4,
        _ => 8,
    }
}

fn format(ty: &str, fnuz: bool) -> Format {
    match ty {
        "f16" => F16,
        "bf16" => BF16,
        "fp8" => number::fp8(fnuz),
        "bf8" => number::bf8(fnuz),
        "fp6" => FP6,
        "bf6" => BF6,
        "fp4" => FP4,
        _ => F32,
    }
}

/// Registers of the operands, by lane.
pub struct Operands<'a> {
    pub a: &'a [[u32; 64]],
    pub b: &'a [[u32; 64]],
    pub c: &'a [[u32; 64]],
    /// Indices of a sparse A.
    pub index: Option<&'a [u32; 64]>,
    /// Scales of A and B; their low bytes count.
    pub scales: [Option<&'a [u32; 64]>; 2],
    pub fnuz: bool,
}

/// One element of D: its register and lane, and the value between bounds.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    pub register: usize,
    pub lane: usize,
    pub value: f64,
    /// By how much the sum may be off for rounding in another order; infinite where an operand is
    /// not finite or the sum may overflow on the way.
    pub slack: f64,
}

fn element(shape: &Shape, ops: &Operands<'_>, side: usize, lane: usize, at: usize) -> f64 {
    let registers = if side == 0 { ops.a } else { ops.b };
    let words: Vec<u32> = registers.iter().map(|r| r[lane]).collect();
    let ty = shape.types[side].as_str();
    match ty {
        "f64" => f64::from_bits(u64::from(words[0]) | u64::from(words[1]) << 32),
        "i8" => f64::from(field(&words, 8, at as u32) as u8 as i8),
        // Ten bits of fraction and no larger an exponent.
        "xf32" => {
            let x = f64::from(f32::from_bits(words[at]));
            let exponent = (x.abs().to_bits() >> 52) as i32 - 1023;
            let unit = pow2(exponent.max(-126) - 10);
            let rounded = if x.is_finite() { (x / unit).round_ties_even() * unit } else { x };
            if rounded.abs() < pow2(128) { rounded } else { f64::INFINITY.copysign(x) }
        }
        _ => format(ty, ops.fnuz).decode(field(&words, bits(ty) as u32, at as u32)),
    }
}

/// Factor of element `k` of a row.
fn scale(shape: &Shape, ops: &Operands<'_>, side: usize, row: usize, k: usize) -> f64 {
    let Some(register) = ops.scales[side] else { return 1.0 };
    match register[row + shape.m * (k / 32)] & 0xff {
        255 => f64::NAN,
        code => pow2(code as i32 - 127),
    }
}

/// D of a matrix operation.
pub fn product(shape: &Shape, ops: &Operands<'_>) -> Vec<Element> {
    let value = |side: usize, row: usize, k: usize, block: usize| {
        let (lane, at) = shape.place(side, row, k, block);
        element(shape, ops, side, lane, at) * scale(shape, ops, side, row, k)
    };
    let integer = shape.types[0] == "i8";
    let mut result = Vec::new();
    for block in 0..shape.blocks {
        let table = |side: usize| -> Vec<Vec<f64>> {
            let row = |i| (0..shape.k).map(|k| value(side, i, k, block)).collect();
            (0..shape.m).map(row).collect()
        };
        let b = table(1);
        let a = if shape.sparse { stored(shape, ops) } else { numbered(table(0)) };
        for (i, a) in a.iter().enumerate() {
            for (j, b) in b.iter().enumerate() {
                let (register, lane) = shape.output(i, j, block);
                let word = ops.c[register][lane];
                let c = match shape.types[0].as_str() {
                    "i8" => f64::from(word as i32),
                    "f64" => {
                        f64::from_bits(u64::from(word) | u64::from(ops.c[register + 1][lane]) << 32)
                    }
                    _ => f64::from(f32::from_bits(word)),
                };
                let products = || a.iter().map(|&(k, a)| a * b[k]);
                let size = c.abs() + products().map(f64::abs).sum::<f64>();
                let (most, unit) = match shape.types[0].as_str() {
                    "i8" => (f64::INFINITY, 0.0),
                    "f64" => (f64::MAX / 4.0, pow2(-48)),
                    "xf32" => (f64::from(f32::MAX) / 4.0, pow2(-9)),
                    _ => (f64::from(f32::MAX) / 4.0, pow2(-18)),
                };
                let slack = if size < most { size * unit + pow2(-140) } else { f64::INFINITY };
                let slack = if integer { 0.0 } else { slack };
                result.push(Element { register, lane, value: c + products().sum::<f64>(), slack });
            }
        }
    }
    result
}

/// The elements of each row with their k.
fn numbered(rows: Vec<Vec<f64>>) -> Vec<Vec<(usize, f64)>> {
    rows.into_iter().map(|row| row.into_iter().enumerate().collect()).collect()
}

/// The elements of a sparse A with their k: of every four, two are stored, and two bits for each tell
/// which.
fn stored(shape: &Shape, ops: &Operands<'_>) -> Vec<Vec<(usize, f64)>> {
    let (m, per_lane) = (shape.m, shape.per_lane());
    let row = |row: usize| {
        let mut elements = Vec::new();
        for group in 0..shape.groups() {
            let lane = group * m + row;
            for n in 0..per_lane / 2 {
                let index = ops.index.map_or(0, |r| r[lane] >> (2 * n) & 3) as usize;
                let k = group * per_lane + n / 2 * 4 + index;
                elements.push((k, element(shape, ops, 0, lane, n)));
            }
        }
        elements
    };
    (0..m).map(row).collect()
}
