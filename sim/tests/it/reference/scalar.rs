//! Scalar ALU operations, from the pseudocode of AMD's ISA documents.

/// Operands of a scalar operation, 64 bits wide; the instruction's immediate is `b`.
#[derive(Clone, Copy)]
pub struct Input {
    pub a: u64,
    pub b: u64,
    pub old: u64,
    pub scc: bool,
    pub exec: u64,
}

/// What it changes; `None` leaves things alone.
#[derive(Clone, Copy, Default)]
pub struct Effect {
    pub dst: Option<u64>,
    pub scc: Option<bool>,
    pub exec: Option<u64>,
}

fn value(dst: u64) -> Effect {
    Effect { dst: Some(dst), ..Effect::default() }
}

fn with_scc(dst: u64, scc: bool) -> Effect {
    Effect { dst: Some(dst), scc: Some(scc), exec: None }
}

fn nonzero(dst: u64) -> Effect {
    with_scc(dst, dst != 0)
}

fn test(scc: bool) -> Effect {
    Effect { scc: Some(scc), ..Effect::default() }
}

fn bit(x: u64, n: u64) -> bool {
    x / 2_u64.pow(n as u32) % 2 == 1
}

/// Position of the first of `bits` bits, from the bottom, that `wanted` holds for; all ones if none.
fn find(bits: u64, from_top: bool, wanted: impl Fn(u64) -> bool) -> u64 {
    let at = |i: u64| if from_top { bits - 1 - i } else { i };
    (0..bits).find(|&i| wanted(at(i))).unwrap_or(0xffff_ffff)
}

/// The effect of `name` (without `s_`), or `None` if it is not known here.
pub fn effect(name: &str, x: Input) -> Option<Effect> {
    let wide = name.ends_with("64") || name.ends_with("_b64");
    let (bits, mask) = if wide { (64, u64::MAX) } else { (32, 0xffff_ffff) };
    let (a, b) = (x.a & mask, x.b & mask);
    let (ia, ib) = (i64::from(x.a as i32), i64::from(x.b as i32));
    let low = |v: i64| v as u64 & 0xffff_ffff;
    let overflows = |v: i64| v != i64::from(v as i32);
    let ones = |n: u64| if n >= 64 { u64::MAX } else { (1 << n) - 1 };
    let quads = (0..16).fold(0, |m, i| m | u64::from(a >> (4 * i) & 15 != 0) << i);
    let base = name.rsplit_once('_').map_or(name, |(base, _)| base);
    if let Some(effect) = logic(name, base, a, b, x, mask) {
        return Some(effect);
    }
    Some(match name {
        "mov_b32" | "mov_b64" => value(a),
        "movk_i32" => value(low(ib)),
        "cmov_b32" | "cmov_b64" => {
            if x.scc {
                value(a)
            } else {
                Effect::default()
            }
        }
        "cmovk_i32" => {
            if x.scc {
                value(low(ib))
            } else {
                Effect::default()
            }
        }
        "not_b32" | "not_b64" => nonzero(!a & mask),
        "wqm_b32" | "wqm_b64" => {
            nonzero((0..16).fold(0, |m, i| m | if bit(quads, i) { 15 << (4 * i) } else { 0 }))
        }
        "quadmask_b32" | "quadmask_b64" => nonzero(quads),
        "brev_b32" | "brev_b64" => {
            value((0..bits).fold(0, |m, i| m | u64::from(bit(a, i)) << (bits - 1 - i)))
        }
        "bcnt0_i32_b32" => nonzero((0..32).filter(|&i| !bit(x.a, i)).count() as u64),
        "bcnt0_i32_b64" => nonzero((0..64).filter(|&i| !bit(x.a, i)).count() as u64),
        "bcnt1_i32_b32" => nonzero((0..32).filter(|&i| bit(x.a, i)).count() as u64),
        "bcnt1_i32_b64" => nonzero((0..64).filter(|&i| bit(x.a, i)).count() as u64),
        "ff0_i32_b32" | "ff0_i32_b64" => value(find(bits, false, |i| !bit(a, i))),
        "ff1_i32_b32" | "ff1_i32_b64" => value(find(bits, false, |i| bit(a, i))),
        "flbit_i32_b32" | "flbit_i32_b64" => value(find(bits, true, |i| bit(a, i))),
        "flbit_i32" => value(find(32, true, |i| bit(x.a, i) != bit(x.a, 31))),
        "flbit_i32_i64" => value(find(64, true, |i| bit(x.a, i) != bit(x.a, 63))),
        "sext_i32_i8" => value(low(i64::from(x.a as i8))),
        "sext_i32_i16" => value(low(i64::from(x.a as i16))),
        "bitset0_b32" => value(x.old & !(1 << (x.a % 32)) & mask),
        "bitset1_b32" => value((x.old | 1 << (x.a % 32)) & mask),
        "bitset0_b64" => value(x.old & !(1 << (x.a % 64))),
        "bitset1_b64" => value(x.old | 1 << (x.a % 64)),
        "abs_i32" => nonzero(ia.unsigned_abs() & mask),
        "bitreplicate_b64_b32" => {
            let a = x.a & 0xffff_ffff;
            value((0..32).fold(0, |m, i| m | if bit(a, i) { 3 << (2 * i) } else { 0 }))
        }
        "add_u32" => with_scc((a + b) & mask, a + b > mask),
        "sub_u32" => with_scc(a.wrapping_sub(b) & mask, a < b),
        "add_i32" | "addk_i32" => {
            let a = if name == "addk_i32" { i64::from(x.old as i32) } else { ia };
            with_scc(low(a + ib), overflows(a + ib))
        }
        "sub_i32" => with_scc(low(ia - ib), overflows(ia - ib)),
        "addc_u32" => {
            let sum = a + b + u64::from(x.scc);
            with_scc(sum & mask, sum > mask)
        }
        "subb_u32" => {
            let taken = b + u64::from(x.scc);
            with_scc(a.wrapping_sub(taken) & mask, a < taken)
        }
        "min_i32" => with_scc(low(ia.min(ib)), ia < ib),
        "min_u32" => with_scc(a.min(b), a < b),
        "max_i32" => with_scc(low(ia.max(ib)), ia >= ib),
        "max_u32" => with_scc(a.max(b), a >= b),
        "cselect_b32" | "cselect_b64" => value(if x.scc { a } else { b }),
        "lshl_b32" | "lshl_b64" => nonzero(a << (x.b % bits) & mask),
        "lshr_b32" | "lshr_b64" => nonzero(a >> (x.b % bits)),
        "ashr_i32" => nonzero(low(ia >> (x.b % 32))),
        "ashr_i64" => nonzero((x.a as i64 >> (x.b % 64)) as u64),
        "bfm_b32" | "bfm_b64" => value(ones(x.a % bits) << (x.b % bits) & mask),
        "mul_i32" => value(low(ia.wrapping_mul(ib))),
        "mulk_i32" => value(low(i64::from(x.old as i32).wrapping_mul(ib))),
        "bfe_u32" | "bfe_u64" => nonzero(a >> (x.b % bits) & ones(x.b >> 16 & 127) & mask),
        "bfe_i32" | "bfe_i64" => {
            let a = if name == "bfe_i32" { ia } else { x.a as i64 };
            let shifted = a >> (x.b % bits);
            let field = match x.b >> 16 & 127 {
                0 => 0,
                width if width >= 64 => shifted,
                width if shifted >> (width - 1) & 1 == 1 => shifted | !(ones(width) as i64),
                width => shifted & ones(width) as i64,
            };
            nonzero(field as u64 & mask)
        }
        "absdiff_i32" => nonzero(low((ia - ib) as i32 as i64).min(low(-((ia - ib) as i32 as i64)))),
        "mul_hi_u32" => value(((a & 0xffff_ffff) * (b & 0xffff_ffff)) >> 32),
        "mul_hi_i32" => value(low((ia * ib) >> 32)),
        "lshl1_add_u32" | "lshl2_add_u32" | "lshl3_add_u32" | "lshl4_add_u32" => {
            let sum = (a << (name.as_bytes()[4] - b'0')) + b;
            with_scc(sum & mask, sum > mask)
        }
        "pack_ll_b32_b16" => value(x.a & 0xffff | (x.b & 0xffff) << 16),
        "pack_lh_b32_b16" => value(x.a & 0xffff | (x.b >> 16 & 0xffff) << 16),
        "pack_hh_b32_b16" => value(x.a >> 16 & 0xffff | (x.b >> 16 & 0xffff) << 16),
        "bitcmp0_b32" | "bitcmp0_b64" => test(!bit(a, x.b % bits)),
        "bitcmp1_b32" | "bitcmp1_b64" => test(bit(a, x.b % bits)),
        _ => return compare(name, a, b, x),
    })
}

/// The two-operand logic operations and their forms that work on EXEC.
fn logic(name: &str, base: &str, a: u64, b: u64, x: Input, mask: u64) -> Option<Effect> {
    let apply = |op: &str, a: u64, b: u64| {
        Some(match op {
            "and" => a & b,
            "or" => a | b,
            "xor" => a ^ b,
            "andn1" => !a & b,
            "orn1" => !a | b,
            "andn2" => a & !b,
            "orn2" => a | !b,
            "nand" => !(a & b),
            "nor" => !(a | b),
            "xnor" => !(a ^ b),
            _ => return None,
        })
    };
    if let Some(op) = name.strip_suffix("_saveexec_b64") {
        let exec = apply(op, x.a, x.exec)?;
        return Some(Effect { dst: Some(x.exec), scc: Some(exec != 0), exec: Some(exec) });
    }
    if let Some(op) = name.strip_suffix("_wrexec_b64") {
        let exec = apply(op, x.a, x.exec)?;
        return Some(Effect { dst: Some(exec), scc: Some(exec != 0), exec: Some(exec) });
    }
    apply(base, a, b).map(|result| nonzero(result & mask))
}

/// `cmp_eq_i32` and the like, and the forms with an immediate, which compare the destination.
fn compare(name: &str, a: u64, b: u64, x: Input) -> Option<Effect> {
    let (rest, a, b) = match name.strip_prefix("cmpk_") {
        Some(rest) if rest.ends_with("u32") => (rest, x.old & 0xffff_ffff, x.b & 0xffff),
        Some(rest) => (rest, x.old, x.b),
        None => (name.strip_prefix("cmp_")?, a, b),
    };
    let (relation, ty) = rest.split_once('_')?;
    let order = match ty {
        "i32" => (a as i32).cmp(&(b as i32)),
        "u32" => (a as u32).cmp(&(b as u32)),
        "u64" => a.cmp(&b),
        _ => return None,
    };
    Some(test(match relation {
        "eq" => order.is_eq(),
        "lg" => order.is_ne(),
        "gt" => order.is_gt(),
        "ge" => order.is_ge(),
        "lt" => order.is_lt(),
        "le" => order.is_le(),
        _ => return None,
    }))
}
