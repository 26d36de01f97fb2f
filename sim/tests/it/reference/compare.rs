//! Comparisons and class tests.

use super::number;
use super::vector::{Lane, Operation};

/// The comparison `name`, `cmp_...` or `cmpx_...`; its flag is the result.
pub fn operation(name: &str) -> Option<Operation> {
    let rest = name.strip_prefix("cmp_").or_else(|| name.strip_prefix("cmpx_"))?;
    let (relation, ty) = rest.split_once('_')?;
    let (relation, ty) = (relation.to_owned(), ty.to_owned());
    if relation == "class" {
        return Some(Box::new(move |x: &Lane| (x.b >> class(x.a, &ty) & 1 == 1).into()));
    }
    Some(Box::new(move |x: &Lane| {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let order = match ty.as_str() {
            "f16" => number::F16.decode(x.a as u32).partial_cmp(&number::F16.decode(x.b as u32)),
            "f32" => f32::from_bits(x.a as u32).partial_cmp(&f32::from_bits(x.b as u32)),
            "f64" => f64::from_bits(x.a).partial_cmp(&f64::from_bits(x.b)),
            "i16" => Some((x.a as i16).cmp(&(x.b as i16))),
            "u16" => Some((x.a as u16).cmp(&(x.b as u16))),
            "i32" => Some((x.a as i32).cmp(&(x.b as i32))),
            "u32" => Some((x.a as u32).cmp(&(x.b as u32))),
            "i64" => Some((x.a as i64).cmp(&(x.b as i64))),
            _ => Some(x.a.cmp(&x.b)),
        };
        // The relations are sets of outcomes; those with n in front are complements.
        let among = |set: &[_]| order.is_some_and(|o| set.contains(&o));
        let result = match relation.as_str() {
            "f" => false,
            "lt" => among(&[Less]),
            "eq" => among(&[Equal]),
            "le" => among(&[Less, Equal]),
            "gt" => among(&[Greater]),
            "lg" => among(&[Less, Greater]),
            "ge" => among(&[Greater, Equal]),
            "o" => order.is_some(),
            "u" => order.is_none(),
            "nge" => !among(&[Greater, Equal]),
            "nlg" => !among(&[Less, Greater]),
            "ngt" => !among(&[Greater]),
            "nle" => !among(&[Less, Equal]),
            "neq" | "ne" => !among(&[Equal]),
            "nlt" => !among(&[Less]),
            _ => true,
        };
        result.into()
    }))
}

/// Bit of the class mask: signalling NaN, quiet NaN, -infinity, -normal, -denormal, -0, and +0 to
/// +infinity.
fn class(x: u64, ty: &str) -> u32 {
    let (exponent_bits, fraction_bits) = match ty {
        "f16" => (5, 10),
        "f32" => (8, 23),
        _ => (11, 52),
    };
    let fraction = x & ((1 << fraction_bits) - 1);
    let exponent = x >> fraction_bits & ((1 << exponent_bits) - 1);
    let negative = x >> (exponent_bits + fraction_bits) & 1 == 1;
    let largest = (1 << exponent_bits) - 1;
    if exponent == largest && fraction != 0 {
        return (fraction >> (fraction_bits - 1)) as u32;
    }
    let magnitude = match (exponent, fraction) {
        (0, 0) => 0,
        (0, _) => 1,
        (e, _) if e < largest => 2,
        _ => 3,
    };
    if negative { 5 - magnitude } else { 6 + magnitude }
}
