//! The clamp bit of integer operations: their exact result, moved to the nearest value of their type.

use super::vector::Lane;

/// Whether an operation (with `v_`) is known here to stop at the ends of its range with clamp.
pub fn clamps_integers(name: &str) -> bool {
    name.strip_prefix("v_").is_some_and(|name| clamped(name, &Lane::default()).is_some())
}

fn limits(ty: &str) -> Option<(i64, i64)> {
    Some(match ty {
        "u16" => (0, 0xffff),
        "i16" => (-0x8000, 0x7fff),
        "u32" => (0, 0xffff_ffff),
        "i32" => (-0x8000_0000, 0x7fff_ffff),
        _ => return None,
    })
}

/// Bits of an operand as a number of a type.
fn number(bits: u32, ty: &str) -> i64 {
    match ty {
        "u4" => i64::from(bits & 15),
        "i4" => i64::from((bits & 15) as i32 - if bits & 8 != 0 { 16 } else { 0 }),
        "u8" => i64::from(bits as u8),
        "i8" => i64::from(bits as i8),
        "u16" => i64::from(bits as u16),
        "i16" => i64::from(bits as i16),
        "u24" => i64::from(bits & 0xff_ffff),
        "i24" => i64::from((bits << 8) as i32 >> 8),
        "i32" => i64::from(bits as i32),
        _ => bits.into(),
    }
}

/// The result of an operation with clamp; none where that does nothing, or is not known.
pub(super) fn clamped(name: &str, x: &Lane) -> Option<u64> {
    let [a, b, c] = [x.a, x.b, x.c].map(|operand| operand as u32);
    if let Some(rest) = name.strip_prefix("dot") {
        let (kind, types) = rest.split_once('_')?;
        let (to, from) = types.split_once('_')?;
        let (low, high) = limits(to)?;
        let bits: u32 = from[1..].parse().ok()?;
        let c = if kind.ends_with('c') { x.old as u32 } else { c };
        let part = |word: u32, k: u32| number(word >> (bits * k), from);
        let sum: i64 = (0..32 / bits).map(|k| part(a, k) * part(b, k)).sum();
        return Some(((sum + number(c, to)).clamp(low, high) as u32).into());
    }
    let mad = name.strip_prefix("mad_").filter(|types| !types.starts_with("legacy"));
    if let Some((to, from)) = mad.and_then(|types| types.split_once('_')) {
        let (low, high) = limits(to)?;
        let exact = number(a, from).checked_mul(number(b, from))?.checked_add(number(c, to))?;
        let narrow = matches!(from, "u16" | "i16" | "u24" | "i24");
        return narrow.then(|| (exact.clamp(low, high) as u32).into());
    }
    let (packed, plain) = match name.strip_prefix("pk_") {
        Some(rest) => (true, rest),
        None => (false, name),
    };
    let (op, ty) = plain.rsplit_once('_')?;
    let (low, high) = limits(ty)?;
    let apply = |a: i64, b: i64, c: i64| {
        Some(match op {
            "add" | "add_co" => a + b,
            "sub" | "sub_co" => a - b,
            "subrev" | "subrev_co" => b - a,
            "mad" | "mad_legacy" if ty.ends_with("16") => a * b + c,
            _ => return None,
        })
    };
    let half = |shift: u32| {
        let [a, b, c] = [a, b, c].map(|word| number(word >> shift, ty));
        Some(
            apply(a, b, c)?.clamp(low, high) as u32
                & if ty.ends_with("16") { 0xffff } else { u32::MAX },
        )
    };
    let low_half = half(0)?;
    Some(if packed { low_half | half(16)? << 16 } else { low_half }.into())
}
