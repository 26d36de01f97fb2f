//! The bits of 2/pi, by Machin's formula in fixed point.

/// Limbs of 32 bits, least significant first; the fraction has [`FRACTION`] of them.
type Number = Vec<u32>;

const FRACTION: usize = 42;

fn integer(n: u32) -> Number {
    let mut number = vec![0; FRACTION + 2];
    number[FRACTION] = n;
    number
}

fn divide(number: &Number, by: u32) -> Number {
    let mut rest = 0;
    let mut quotient = number.clone();
    for limb in quotient.iter_mut().rev() {
        let wide = rest << 32 | u64::from(*limb);
        (*limb, rest) = ((wide / u64::from(by)) as u32, wide % u64::from(by));
    }
    quotient
}

/// `a + b` or `a - b`, which is not negative.
fn combine(a: &Number, b: &Number, subtract: bool) -> Number {
    let mut carry = 0_i64;
    let limbs = a.iter().zip(b).map(|(&a, &b)| {
        let b = if subtract { -i64::from(b) } else { i64::from(b) };
        let sum = i64::from(a) + b + carry;
        carry = sum >> 32;
        sum as u32
    });
    limbs.collect()
}

/// `factor * atan(1 / n)`.
fn arctangent(factor: u32, n: u32) -> Number {
    let mut power = divide(&integer(factor), n);
    let mut sum = power.clone();
    for k in 1.. {
        power = divide(&power, n * n);
        if power.iter().all(|&limb| limb == 0) {
            break;
        }
        sum = combine(&sum, &divide(&power, 2 * k + 1), k % 2 == 1);
    }
    sum
}

/// The first `count` bits of the fraction of 2/pi.
pub fn two_over_pi(count: usize) -> Vec<bool> {
    let pi = combine(&arctangent(16, 5), &arctangent(4, 239), true);
    let at_least = |a: &Number, b: &Number| a.iter().rev().ge(b.iter().rev());
    let mut rest = integer(2);
    (0..count)
        .map(|_| {
            rest = combine(&rest, &rest, false);
            let bit = at_least(&rest, &pi);
            if bit {
                rest = combine(&rest, &pi, true);
            }
            bit
        })
        .collect()
}

#[test]
fn the_first_bits_are_those_of_the_quotient_in_f64() {
    let value =
        two_over_pi(60).iter().rev().fold(0.0, |v, &bit| (v + f64::from(u8::from(bit))) / 2.0);
    assert!((value - 2.0 / std::f64::consts::PI).abs() < 1e-15);
}
