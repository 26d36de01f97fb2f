//! What the simulator's results may differ in: the payload of NaN, the last places of approximations,
//! the rounding of sums whose order is not documented.

use cdna_sim::isa::Ty;

use super::float::Width;
use super::number;
use super::vector::Exactness;

/// A value that the simulator need not match bit by bit.
#[derive(Clone, Copy, Debug)]
pub struct Loose {
    pub register: usize,
    pub lane: usize,
    pub(super) ty: Ty,
    pub(super) exactness: Exactness,
    /// For elements of matrices.
    pub(super) slack: Option<(f64, f64)>,
    pub(super) anything: bool,
}

impl Loose {
    pub(super) fn new(register: usize, lane: usize, ty: Ty, exactness: Exactness) -> Loose {
        Loose { register, lane, ty, exactness, slack: None, anything: false }
    }

    /// Registers it is about.
    pub fn registers(&self) -> std::ops::Range<usize> {
        self.register..self.register + usize::from(self.ty.dwords().clamp(1, 2))
    }

    /// Whether the simulator's bits will do for those expected.
    pub fn agrees(&self, expected: u64, actual: u64) -> bool {
        if self.anything || expected == actual {
            return true;
        }
        if let Some((value, slack)) = self.slack {
            let actual = if self.ty == Ty::F64 {
                f64::from_bits(actual)
            } else {
                f32::from_bits(actual as u32).into()
            };
            return (actual - value).abs() <= slack;
        }
        let parts: &[(u32, Width)] = match self.ty {
            Ty::F32 => &[(0, Width::F32)],
            Ty::F64 => &[(0, Width::F64)],
            Ty::PkF32 => &[(0, Width::F32), (32, Width::F32)],
            Ty::F16 | Ty::PkF16 => &[(0, Width::F16), (16, Width::F16)],
            Ty::Bf16 | Ty::PkBf16 => {
                return [0, 16].into_iter().all(|s| bf16_agrees(expected >> s, actual >> s));
            }
            _ => return false,
        };
        parts.iter().all(|&(shift, width)| {
            let bits = match width {
                Width::F16 => 16,
                Width::F32 => 32,
                Width::F64 => 64,
            };
            let field = |v: u64| v >> shift & u64::MAX >> (64 - bits);
            let (e, a) = (field(expected), field(actual));
            e == a || self.close(width, width.decode(e), width.decode(a))
        })
    }

    fn close(&self, width: Width, expected: f64, actual: f64) -> bool {
        if expected.is_nan() {
            return actual.is_nan();
        }
        if self.exactness == Exactness::Exact || !expected.is_finite() {
            return false;
        }
        let tiny = |x: f64| x.abs() <= width.smallest_normal();
        let unit = match width {
            Width::F16 => number::pow2(-10),
            Width::F32 => number::pow2(-23),
            Width::F64 => number::pow2(-50),
        };
        tiny(expected) && tiny(actual) || (expected - actual).abs() <= 2.0 * unit * expected.abs()
    }
}

fn bf16_agrees(expected: u64, actual: u64) -> bool {
    let (e, a) = (expected as u32 & 0xffff, actual as u32 & 0xffff);
    e == a || number::BF16.decode(e).is_nan() && number::BF16.decode(a).is_nan()
}

/// Width of a float type.
pub(super) fn width_of(ty: Ty) -> Option<Width> {
    Some(match ty {
        Ty::F16 => Width::F16,
        Ty::F32 => Width::F32,
        Ty::F64 => Width::F64,
        _ => return None,
    })
}
