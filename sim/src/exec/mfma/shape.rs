//! The shapes of the matrix operations: what each one multiplies. Goes in: an operation. Comes out:
//! its matrix sizes, number of independent blocks, element types and whether A is 2:4 sparse.

use crate::isa::Op;

/// Type of a matrix element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elem {
    F64,
    F32,
    /// f32 rounded to 10 mantissa bits.
    Xf32,
    F16,
    Bf16,
    I8,
    Fp8,
    Bf8,
    /// fp8, bf8, fp6, bf6 or fp4, chosen by CBSZ for A and BLGP for B.
    Mx,
}

/// What a matrix operation multiplies: `blocks` times an `m` x `k` by a `k` x `m` matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Rows of A and columns of B: 4, 16 or 32.
    pub m: usize,
    /// Inner size (of the dense matrix, where A is sparse).
    pub k: usize,
    /// Independent products.
    pub blocks: usize,
    /// Elements of A.
    pub a: Elem,
    /// Elements of B.
    pub b: Elem,
    /// A holds two of every four elements, picked by an index register.
    pub sparse: bool,
}

const fn dense(m: usize, k: usize, blocks: usize, a: Elem, b: Elem) -> Shape {
    Shape { m, k, blocks, a, b, sparse: false }
}

const fn sparse(m: usize, k: usize, a: Elem, b: Elem) -> Shape {
    Shape { m, k, blocks: 1, a, b, sparse: true }
}

impl Shape {
    /// The shape of `op`, if it is a matrix operation.
    pub fn of(op: Op) -> Option<Shape> {
        use Elem::*;
        Some(match op {
            Op::VMfmaF3232x32x12bF32 => dense(32, 1, 2, F32, F32),
            Op::VMfmaF3216x16x14bF32 => dense(16, 1, 4, F32, F32),
            Op::VMfmaF324x4x116bF32 => dense(4, 1, 16, F32, F32),
            Op::VMfmaF3232x32x2F32 => dense(32, 2, 1, F32, F32),
            Op::VMfmaF3216x16x4F32 => dense(16, 4, 1, F32, F32),
            Op::VMfmaF3216x16x8Xf32 => dense(16, 8, 1, Xf32, Xf32),
            Op::VMfmaF3232x32x4Xf32 => dense(32, 4, 1, Xf32, Xf32),
            Op::VMfmaF3232x32x42bF16 => dense(32, 4, 2, F16, F16),
            Op::VMfmaF3216x16x44bF16 => dense(16, 4, 4, F16, F16),
            Op::VMfmaF324x4x416bF16 => dense(4, 4, 16, F16, F16),
            Op::VMfmaF3232x32x8F16 => dense(32, 8, 1, F16, F16),
            Op::VMfmaF3216x16x16F16 => dense(16, 16, 1, F16, F16),
            Op::VMfmaF3232x32x16F16 => dense(32, 16, 1, F16, F16),
            Op::VMfmaF3216x16x32F16 => dense(16, 32, 1, F16, F16),
            Op::VMfmaF3232x32x42bBf16 => dense(32, 4, 2, Bf16, Bf16),
            Op::VMfmaF3216x16x44bBf16 => dense(16, 4, 4, Bf16, Bf16),
            Op::VMfmaF324x4x416bBf16 => dense(4, 4, 16, Bf16, Bf16),
            Op::VMfmaF3232x32x8Bf16 => dense(32, 8, 1, Bf16, Bf16),
            Op::VMfmaF3216x16x16Bf16 => dense(16, 16, 1, Bf16, Bf16),
            Op::VMfmaF3232x32x16Bf16 => dense(32, 16, 1, Bf16, Bf16),
            Op::VMfmaF3216x16x32Bf16 => dense(16, 32, 1, Bf16, Bf16),
            Op::VMfmaI3232x32x42bI8 => dense(32, 4, 2, I8, I8),
            Op::VMfmaI3216x16x44bI8 => dense(16, 4, 4, I8, I8),
            Op::VMfmaI324x4x416bI8 => dense(4, 4, 16, I8, I8),
            Op::VMfmaI3232x32x16I8 => dense(32, 16, 1, I8, I8),
            Op::VMfmaI3216x16x32I8 => dense(16, 32, 1, I8, I8),
            Op::VMfmaI3232x32x32I8 => dense(32, 32, 1, I8, I8),
            Op::VMfmaI3216x16x64I8 => dense(16, 64, 1, I8, I8),
            Op::VMfmaF6416x16x4F64 => dense(16, 4, 1, F64, F64),
            Op::VMfmaF644x4x44bF64 => dense(4, 4, 4, F64, F64),
            Op::VMfmaF3216x16x32Bf8Bf8 => dense(16, 32, 1, Bf8, Bf8),
            Op::VMfmaF3216x16x32Bf8Fp8 => dense(16, 32, 1, Bf8, Fp8),
            Op::VMfmaF3216x16x32Fp8Bf8 => dense(16, 32, 1, Fp8, Bf8),
            Op::VMfmaF3216x16x32Fp8Fp8 => dense(16, 32, 1, Fp8, Fp8),
            Op::VMfmaF3232x32x16Bf8Bf8 => dense(32, 16, 1, Bf8, Bf8),
            Op::VMfmaF3232x32x16Bf8Fp8 => dense(32, 16, 1, Bf8, Fp8),
            Op::VMfmaF3232x32x16Fp8Bf8 => dense(32, 16, 1, Fp8, Bf8),
            Op::VMfmaF3232x32x16Fp8Fp8 => dense(32, 16, 1, Fp8, Fp8),
            Op::VMfmaF3216x16x128F8f6f4 | Op::VMfmaScaleF3216x16x128F8f6f4 => {
                dense(16, 128, 1, Mx, Mx)
            }
            Op::VMfmaF3232x32x64F8f6f4 | Op::VMfmaScaleF3232x32x64F8f6f4 => {
                dense(32, 64, 1, Mx, Mx)
            }
            Op::VSmfmacF3216x16x32F16 => sparse(16, 32, F16, F16),
            Op::VSmfmacF3232x32x16F16 => sparse(32, 16, F16, F16),
            Op::VSmfmacF3216x16x64F16 => sparse(16, 64, F16, F16),
            Op::VSmfmacF3232x32x32F16 => sparse(32, 32, F16, F16),
            Op::VSmfmacF3216x16x32Bf16 => sparse(16, 32, Bf16, Bf16),
            Op::VSmfmacF3232x32x16Bf16 => sparse(32, 16, Bf16, Bf16),
            Op::VSmfmacF3216x16x64Bf16 => sparse(16, 64, Bf16, Bf16),
            Op::VSmfmacF3232x32x32Bf16 => sparse(32, 32, Bf16, Bf16),
            Op::VSmfmacI3216x16x64I8 => sparse(16, 64, I8, I8),
            Op::VSmfmacI3232x32x32I8 => sparse(32, 32, I8, I8),
            Op::VSmfmacI3216x16x128I8 => sparse(16, 128, I8, I8),
            Op::VSmfmacI3232x32x64I8 => sparse(32, 64, I8, I8),
            Op::VSmfmacF3216x16x64Bf8Bf8 => sparse(16, 64, Bf8, Bf8),
            Op::VSmfmacF3216x16x64Bf8Fp8 => sparse(16, 64, Bf8, Fp8),
            Op::VSmfmacF3216x16x64Fp8Bf8 => sparse(16, 64, Fp8, Bf8),
            Op::VSmfmacF3216x16x64Fp8Fp8 => sparse(16, 64, Fp8, Fp8),
            Op::VSmfmacF3232x32x32Bf8Bf8 => sparse(32, 32, Bf8, Bf8),
            Op::VSmfmacF3232x32x32Bf8Fp8 => sparse(32, 32, Bf8, Fp8),
            Op::VSmfmacF3232x32x32Fp8Bf8 => sparse(32, 32, Fp8, Bf8),
            Op::VSmfmacF3232x32x32Fp8Fp8 => sparse(32, 32, Fp8, Fp8),
            Op::VSmfmacF3216x16x128Bf8Bf8 => sparse(16, 128, Bf8, Bf8),
            Op::VSmfmacF3216x16x128Bf8Fp8 => sparse(16, 128, Bf8, Fp8),
            Op::VSmfmacF3216x16x128Fp8Bf8 => sparse(16, 128, Fp8, Bf8),
            Op::VSmfmacF3216x16x128Fp8Fp8 => sparse(16, 128, Fp8, Fp8),
            Op::VSmfmacF3232x32x64Bf8Bf8 => sparse(32, 64, Bf8, Bf8),
            Op::VSmfmacF3232x32x64Bf8Fp8 => sparse(32, 64, Bf8, Fp8),
            Op::VSmfmacF3232x32x64Fp8Bf8 => sparse(32, 64, Fp8, Bf8),
            Op::VSmfmacF3232x32x64Fp8Fp8 => sparse(32, 64, Fp8, Fp8),
            _ => return None,
        })
    }

    /// Elements of B (and of a dense A) in each lane: the lanes hold `m * blocks` rows side by side,
    /// and groups of that many lanes share the inner dimension.
    pub fn per_lane(&self) -> usize {
        self.k * self.m * self.blocks / 64
    }
}

/// Numeric format of the elements once CBSZ, BLGP and the target have been applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    F32,
    Xf32,
    F16,
    Bf16,
    I8,
    Float(crate::exec::formats::Format),
}

impl Data {
    /// Bits of one element.
    pub const fn bits(self) -> usize {
        match self {
            Data::F32 | Data::Xf32 => 32,
            Data::F16 | Data::Bf16 => 16,
            Data::I8 => 8,
            Data::Float(format) => format.bits() as usize,
        }
    }
}
