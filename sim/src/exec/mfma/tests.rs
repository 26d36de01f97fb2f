//! A separate index-by-index reference in f64. Shapes and types are parsed from the mnemonic;
//! layouts are the formulas printed by AMD's matrix instruction calculator, and for f8f6f4 the
//! register tables and scale mappings that composable_kernel's tests record from hardware.

#![allow(clippy::needless_range_loop, reason = "the formulas are in matrix indices")]

mod portable;

use super::*;
use crate::exec::{MemAccess, Program};
use crate::isa::{Arch, Enc, Mods, Op, ScaleOperands, op};
use crate::memory::AddressSpace;

struct Random(u64);

impl Random {
    fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 32) as u32
    }

    fn below(&mut self, n: u32) -> u32 {
        self.word() % n
    }
}

/// Sizes and types read off a mnemonic such as `v_mfma_f32_32x32x4_2b_bf16`.
#[derive(Clone, Debug)]
struct Name {
    m: usize,
    k: usize,
    blocks: usize,
    types: [String; 2],
}

fn parse(name: &str) -> Name {
    let parts: Vec<&str> = name.split('_').collect();
    let at = parts.iter().position(|p| p.matches('x').count() == 2 && p.len() > 4).unwrap();
    let dims: Vec<usize> = parts[at].split('x').map(|d| d.parse().unwrap()).collect();
    let mut rest = &parts[at + 1..];
    let mut blocks = 1;
    if let Some(n) = rest[0].strip_suffix('b').filter(|n| n.parse::<usize>().is_ok()) {
        blocks = n.parse().unwrap();
        rest = &rest[1..];
    }
    let types = [rest[0].to_owned(), rest[rest.len() - 1].to_owned()];
    Name { m: dims[0], k: dims[2], blocks, types }
}

fn bits_of(ty: &str) -> usize {
    match ty {
        "f64" => 64,
        "f32" | "xf32" => 32,
        "f16" | "bf16" => 16,
        "i8" | "fp8" | "bf8" => 8,
        "fp6" | "bf6" => 6,
        "fp4" => 4,
        _ => panic!("{ty}"),
    }
}

fn value(arch: Arch, ty: &str, code: u64) -> f64 {
    let f8 = |f: Format| f64::from(f.decode(code as u8));
    match ty {
        "f64" => f64::from_bits(code),
        "f32" | "xf32" => f64::from(f32::from_bits(code as u32)),
        "f16" => half::f16::from_bits(code as u16).to_f64(),
        "bf16" => half::bf16::from_bits(code as u16).to_f64(),
        "i8" => f64::from(code as u8 as i8),
        "fp8" => f8(Format::fp8(arch)),
        "bf8" => f8(Format::bf8(arch)),
        "fp6" => f8(Format::Fp6),
        "bf6" => f8(Format::Bf6),
        "fp4" => f8(Format::Fp4),
        _ => panic!("{ty}"),
    }
}

/// Lane and element index of A[row][k] (or B[k][row]) of a block.
fn input_place(name: &Name, row: usize, k: usize, block: usize, chunked: bool) -> (usize, usize) {
    let (m, groups) = (name.m, 64 / name.m);
    if name.types[0] == "f64" {
        return (16 * k + if m == 4 { 4 * block } else { 0 } + row, 0);
    }
    if name.blocks > 1 {
        return (m * block + row, k);
    }
    if chunked {
        return (m * (k / 16 % groups) + row, k % 16 + 16 * (k / (16 * groups)));
    }
    let per_lane = name.k / groups;
    (m * (k / per_lane) + row, k % per_lane)
}

/// Register and lane of D[i][j] of a block (register pair for f64).
fn output_place(name: &Name, i: usize, j: usize, block: usize) -> (usize, usize) {
    match (name.m, name.types[0].as_str()) {
        (16, "f64") => (i / 4, 16 * (i % 4) + j),
        (4, "f64") => (0, 16 * i + 4 * block + j),
        (32, _) => (16 * block + 4 * (i / 8) + i % 4, 32 * (i / 4) % 64 + j),
        (16, _) => (4 * block + i % 4, 16 * (i / 4) + j),
        (4, _) => (i, 4 * block + j),
        _ => panic!(),
    }
}

fn put(regs: &mut [Lanes], lane: usize, bit: usize, bits: usize, code: u64) {
    for b in 0..bits {
        let at = bit + b;
        regs[at / 32].0[lane] |= ((code >> b & 1) as u32) << (at % 32);
    }
}

/// Executes `inst` as programs do, and in the general way, which has to give the same.
fn run_inst(wave: &mut Wave, arch: Arch, inst: &Inst) -> Result<(), FaultKind> {
    let program = Program::new(arch, 0, 16, [(0, *inst)]);
    let mem = AddressSpace::new(0);
    let mut ctx =
        Ctx { program: &program, mem: &mem, lds: &mut [], access: MemAccess::default(), clock: 0 };
    let mut other = wave.clone();
    let general = execute(&mut other, &ctx, inst);
    wave.pc = 0;
    let result = crate::exec::run(wave, &mut ctx, 1).map(|_| ());
    assert_eq!(result, general, "{inst:?}");
    assert_eq!(wave.vgpr, other.vgpr, "{inst:?}");
    result
}

const A: u16 = 0;
const B: u16 = 10;
const C: u16 = 20;
const D: u16 = 60;
const SCALE: u16 = 100;

fn inst(op: Op) -> Inst {
    Inst {
        op,
        enc: Enc::Mai,
        size: 8,
        dst: Operand::Vgpr(D),
        sdst: Operand::None,
        src: [Operand::Vgpr(A), Operand::Vgpr(B), Operand::Vgpr(C)],
        imm: 0,
        mods: Mods::default(),
        scale: None,
    }
}

/// Matrices by [block][row or column][k] as codes.
type Codes = Vec<Vec<Vec<u64>>>;

fn matrix(name: &Name, mut code: impl FnMut() -> u64) -> Codes {
    (0..name.blocks)
        .map(|_| (0..name.m).map(|_| (0..name.k).map(|_| code()).collect()).collect())
        .collect()
}

fn place(wave: &mut Wave, name: &Name, first: u16, ty: &str, codes: &Codes, mx: bool) {
    let bits = bits_of(ty);
    for (block, rows) in codes.iter().enumerate() {
        for (row, ks) in rows.iter().enumerate() {
            for (k, &code) in ks.iter().enumerate() {
                let (lane, j) = input_place(name, row, k, block, mx && bits == 8);
                put(&mut wave.vgpr[first as usize..], lane, j * bits, bits, code);
            }
        }
    }
}

/// A code of `ty` that is NaN, infinite or subnormal now and then.
fn wild(random: &mut Random, ty: &str) -> u64 {
    let word = random.word();
    match (ty, random.below(40)) {
        ("f32" | "xf32", 0) => 0x7f80_0000,
        ("f32" | "xf32", 1) => 0x7fc0_0000,
        ("f32", 2) => u64::from(word & 0x807f_ffff),
        ("f32", _) => u64::from(word & 0x87ff_ffff | 0x3800_0000),
        // Ten mantissa bits: exact in xf32.
        ("xf32", _) => u64::from(word & 0x87ff_e000 | 0x3800_0000),
        ("f64", 0) => f64::INFINITY.to_bits(),
        ("f64", 1) => f64::NAN.to_bits(),
        ("f64", _) => (f64::from(word as i32) / 65536.0).to_bits(),
        ("bf16", 0) => 0x7f80,
        ("bf16", 1) => u64::from(word & 0x807f),
        ("bf16", _) => u64::from(word & 0x87ff | 0x3800),
        _ => u64::from(word) & (u64::MAX >> (64 - bits_of(ty))),
    }
}

fn check(want: f64, magnitude: f64, got: f64, eps: f64, what: &str) {
    if want.is_nan() {
        assert!(got.is_nan(), "{what}: got {got}, want NaN");
    } else if want.is_infinite() {
        assert_eq!(got, want, "{what}");
    } else if want.abs() < f64::from(f32::MAX) * 0.99 {
        let limit = magnitude * eps + 1e-44;
        assert!((got - want).abs() <= limit, "{what}: got {got}, want {want} within {limit}");
    }
}

fn read(wave: &Wave, name: &Name, integer: bool, first: usize, p: usize, lane: usize) -> f64 {
    if name.types[0] == "f64" {
        let (low, high) = (wave.vgpr[first + 2 * p].0[lane], wave.vgpr[first + 2 * p + 1].0[lane]);
        return f64::from_bits(u64::from(low) | u64::from(high) << 32);
    }
    let word = wave.vgpr[first + p].0[lane];
    if integer { f64::from(word as i32) } else { f64::from(f32::from_bits(word)) }
}

/// Runs a dense operation on random matrices and compares it with the f64 sum.
fn dense_case(random: &mut Random, arch: Arch, op: Op, types: [&str; 2], mods: Mods) {
    let mut name = parse(op.info().name);
    let mx = name.types[0] == "f8f6f4";
    name.types = types.map(str::to_owned);
    let integer = types[0] == "i8";
    let mut wave = Wave::new(128, 0, 0);
    let a = matrix(&name, || wild(random, types[0]));
    let b = matrix(&name, || wild(random, types[1]));
    place(&mut wave, &name, A, types[0], &a, mx);
    place(&mut wave, &name, B, types[1], &b, mx);
    for reg in &mut wave.vgpr[C as usize..C as usize + 32] {
        for (lane, x) in reg.0.iter_mut().enumerate() {
            let c = random.below(2000) as f32 / 8.0 - 100.0;
            // As f64 high word, as f32 or as i32; the odd registers of f64 pairs are the high ones.
            *x = if integer { random.word() } else { (c + lane as f32).to_bits() };
        }
    }
    let before = wave.clone();
    let mut inst = inst(op);
    inst.mods = mods;
    run_inst(&mut wave, arch, &inst).unwrap();
    let eps = if types[0] == "f64" { 1e-14 } else { name.k as f64 * 1.2e-7 };
    for block in 0..name.blocks {
        for i in 0..name.m {
            for j in 0..name.m {
                let (reg, lane) = output_place(&name, i, j, block);
                let c = read(&before, &name, integer, C as usize, reg, lane);
                let (mut sum, mut magnitude) = (c, c.abs());
                for k in 0..name.k {
                    let x = value(arch, types[0], a[block][i][k])
                        * value(arch, types[1], b[block][j][k]);
                    sum += x;
                    magnitude += x.abs();
                }
                let got = read(&wave, &name, integer, D as usize, reg, lane);
                let what = format!("{} {types:?} [{block}][{i}][{j}]", op.info().name);
                if integer {
                    assert_eq!(got as i32, sum as i64 as i32, "{what}");
                } else {
                    check(sum, magnitude, got, eps, &what);
                }
            }
        }
    }
}

fn mfma_ops() -> impl Iterator<Item = Op> {
    let dense =
        |op: &Op| op.info().name.starts_with("v_mfma_") && !op.info().name.contains("scale");
    op::ALL.iter().copied().filter(dense)
}

#[test]
fn every_dense_shape_equals_the_f64_reference_on_both_targets() {
    let mut random = Random(1);
    let mut cases = 0;
    for arch in Arch::ALL {
        for op in mfma_ops() {
            let name = parse(op.info().name);
            if name.types[0] == "f8f6f4" {
                continue;
            }
            let types = [name.types[0].as_str(), name.types[1].as_str()];
            dense_case(&mut random, arch, op, types, Mods::default());
            cases += 1;
        }
    }
    // 38 operations in the ISA tables, see shape.rs.
    assert_eq!(cases, 2 * 38);
}

const MX: [&str; 5] = ["fp8", "bf8", "fp6", "bf6", "fp4"];

#[test]
fn f8f6f4_multiplies_every_pair_of_formats() {
    let mut random = Random(2);
    for op in [Op::VMfmaF3216x16x128F8f6f4, Op::VMfmaF3232x32x64F8f6f4] {
        for (cbsz, ta) in MX.iter().enumerate() {
            for (blgp, tb) in MX.iter().enumerate() {
                let mods = Mods { cbsz: cbsz as u8, blgp: blgp as u8, ..Mods::default() };
                dense_case(&mut random, Arch::Gfx950, op, [ta, tb], mods);
            }
        }
    }
}

#[test]
fn scales_apply_to_blocks_of_32_elements_of_their_row() {
    let mut random = Random(3);
    let ops = [Op::VMfmaScaleF3216x16x128F8f6f4, Op::VMfmaScaleF3232x32x64F8f6f4];
    // Both the usual range and scales that f32 elements cannot carry.
    for (op, low, span) in [(ops[0], 120, 15), (ops[1], 120, 15), (ops[0], 0, 30), (ops[1], 0, 30)]
    {
        for (case, (ta, tb)) in MX.iter().flat_map(|a| MX.iter().map(move |b| (*a, *b))).enumerate()
        {
            let mut name = parse(op.info().name);
            name.types = [ta.to_owned(), tb.to_owned()];
            let mut wave = Wave::new(128, 0, 0);
            let finite = |ty: &str, random: &mut Random| loop {
                let code = wild(random, ty);
                if value(Arch::Gfx950, ty, code).is_finite() {
                    return code;
                }
            };
            let a = matrix(&name, || finite(ta, &mut random));
            let b = matrix(&name, || finite(tb, &mut random));
            place(&mut wave, &name, A, ta, &a, true);
            place(&mut wave, &name, B, tb, &b, true);
            // The scale of row r and block s of 32 k is in lane r + m * s.
            for side in 0..2 {
                for lane in 0..64 {
                    let word = (0..4).fold(0, |w, byte| {
                        // The second side brings small scales of the first back into range.
                        let base = if side == 1 && low == 0 { 254 - 30 } else { low };
                        w | (base + random.below(span)) << (8 * byte)
                    });
                    wave.vgpr[SCALE as usize + side].0[lane] = word;
                }
            }
            let mut inst = inst(op);
            inst.enc = Enc::MaiScale;
            inst.src[2] = Operand::Int(0);
            inst.mods.cbsz = MX.iter().position(|t| *t == ta).unwrap() as u8;
            inst.mods.blgp = MX.iter().position(|t| *t == tb).unwrap() as u8;
            let bytes = [case % 4, (case / 4 + 1) % 4];
            inst.scale = Some(ScaleOperands {
                src: [Operand::Vgpr(SCALE), Operand::Vgpr(SCALE + 1)],
                op_sel: (bytes[0] & 1 | (bytes[1] & 1) << 1) as u8,
                op_sel_hi: (bytes[0] >> 1 | (bytes[1] >> 1) << 1) as u8,
            });
            let factor = |side: usize, row: usize, k: usize| {
                let word = wave.vgpr[SCALE as usize + side].0[row + name.m * (k / 32)];
                2f64.powi((word >> (8 * bytes[side]) & 0xff) as i32 - 127)
            };
            let mut after = wave.clone();
            run_inst(&mut after, Arch::Gfx950, &inst).unwrap();
            for i in 0..name.m {
                for j in 0..name.m {
                    let (reg, lane) = output_place(&name, i, j, 0);
                    let terms = (0..name.k).map(|k| {
                        value(Arch::Gfx950, ta, a[0][i][k])
                            * factor(0, i, k)
                            * (value(Arch::Gfx950, tb, b[0][j][k]) * factor(1, j, k))
                    });
                    let (sum, magnitude) =
                        terms.fold((0.0, 0.0), |(s, m), x: f64| (s + x, m + x.abs()));
                    let got = read(&after, &name, false, D as usize, reg, lane);
                    let what = format!("{} {ta} {tb} [{i}][{j}]", op.info().name);
                    check(sum, magnitude, got, name.k as f64 * 1.2e-7, &what);
                }
            }
        }
    }
}

#[test]
fn a_nan_scale_makes_its_row_nan_and_no_other() {
    let mut wave = Wave::new(128, 0, 0);
    for reg in &mut wave.vgpr[..16] {
        *reg = Lanes([0x2222_2222; WAVE]);
    }
    wave.vgpr[SCALE as usize] = Lanes([127; WAVE]);
    // Row 5, second block of k.
    wave.vgpr[SCALE as usize].0[5 + 16] = 255;
    let mut inst = inst(Op::VMfmaScaleF3216x16x128F8f6f4);
    inst.enc = Enc::MaiScale;
    (inst.mods.cbsz, inst.mods.blgp) = (4, 4);
    inst.src[2] = Operand::Float(242);
    inst.src[1] = Operand::Vgpr(4);
    let one = Operand::Int(127 - 64);
    let scale = |b| ScaleOperands { src: [Operand::Vgpr(SCALE), b], op_sel: 0, op_sel_hi: 0 };
    // Scale B by 2^-64 through a constant, and expect 1 + 128 * 2^-64 = 1.
    inst.scale = Some(scale(Operand::Int(63)));
    assert_eq!(one, Operand::Int(63));
    run_inst(&mut wave, Arch::Gfx950, &inst).unwrap();
    for i in 0..16 {
        for j in 0..16 {
            let got = f32::from_bits(wave.vgpr[D as usize + i % 4].0[16 * (i / 4) + j]);
            assert_eq!(got.is_nan(), i == 5, "{i} {j}");
            assert!(i == 5 || got == 1.0);
        }
    }
}

#[test]
fn sparse_shapes_skip_what_the_indices_leave_out() {
    let mut random = Random(4);
    let mut cases = 0;
    let ops = op::ALL.iter().copied().filter(|op| op.info().name.starts_with("v_smfmac"));
    for op in ops {
        let name = parse(op.info().name);
        let [ta, tb] = [name.types[0].as_str(), name.types[1].as_str()];
        let integer = ta == "i8";
        let bits = bits_of(ta);
        let per_lane = name.k * name.m / 64;
        let sets = 32 / per_lane;
        for abid in 0..sets {
            let mut wave = Wave::new(128, 0, 0);
            // Infinities and NaN in B must not reach rows that skip them.
            let b = matrix(&name, || wild(&mut random, tb));
            place(&mut wave, &name, B, tb, &b, false);
            let mut a = vec![vec![None; name.k]; name.m];
            for reg in &mut wave.vgpr[C as usize..=C as usize] {
                reg.0.fill_with(|| random.word());
            }
            for (row, row_codes) in a.iter_mut().enumerate() {
                for quad in 0..name.k / 4 {
                    let lane = name.m * (4 * quad / per_lane) + row;
                    let slot = quad % (per_lane / 4);
                    let first = random.below(3);
                    let second = first + 1 + random.below(3 - first);
                    let shift = abid * per_lane + 4 * slot;
                    let word = &mut wave.vgpr[C as usize].0[lane];
                    *word = *word & !(0xf << shift) | (first | second << 2) << shift;
                    for (n, at) in [first, second].into_iter().enumerate() {
                        let code = wild(&mut random, ta);
                        put(&mut wave.vgpr[A as usize..], lane, (2 * slot + n) * bits, bits, code);
                        row_codes[4 * quad + at as usize] = Some(code);
                    }
                }
            }
            let mut inst = inst(op);
            inst.mods.abid = abid as u8;
            run_inst(&mut wave, Arch::Gfx950, &inst).unwrap();
            for i in 0..name.m {
                for j in 0..name.m {
                    let (reg, lane) = output_place(&name, i, j, 0);
                    let terms = (0..name.k).filter_map(|k| {
                        let x = value(Arch::Gfx950, ta, a[i][k]?);
                        Some(x * value(Arch::Gfx950, tb, b[0][j][k]))
                    });
                    let (sum, magnitude) =
                        terms.fold((0.0, 0.0), |(s, m), x| (s + x, m + f64::abs(x)));
                    let got = read(&wave, &name, integer, D as usize, reg, lane);
                    let what = format!("{} abid {abid} [{i}][{j}]", op.info().name);
                    check(sum, magnitude, got, name.k as f64 * 1.2e-7, &what);
                }
            }
            cases += 1;
        }
    }
    assert!(cases > 28, "{cases}");
}

#[test]
fn cbsz_and_blgp_broadcast_blocks_of_a_and_lanes_of_b() {
    let mut random = Random(5);
    let ops = [
        Op::VMfmaF3232x32x12bF32,
        Op::VMfmaF3216x16x44bBf16,
        Op::VMfmaF324x4x416bF16,
        Op::VMfmaI3216x16x44bI8,
    ];
    for op in ops {
        for _ in 0..40 {
            let name = parse(op.info().name);
            let ty = name.types[0].as_str();
            let small = |r: &mut Random| match ty {
                "f32" => u64::from((r.below(17) as f32 - 8.0).to_bits()),
                "bf16" => u64::from(half::bf16::from_f32(r.below(17) as f32 - 8.0).to_bits()),
                "f16" => u64::from(half::f16::from_f32(r.below(17) as f32 - 8.0).to_bits()),
                _ => u64::from(r.below(17) as u8),
            };
            let a = matrix(&name, || small(&mut random));
            let b = matrix(&name, || small(&mut random));
            let mut wave = Wave::new(128, 0, 0);
            place(&mut wave, &name, A, ty, &a, false);
            place(&mut wave, &name, B, ty, &b, false);
            let mut inst = inst(op);
            inst.src[2] = Operand::Int(0);
            let cbsz = random.below(name.blocks.ilog2() + 1) as u8;
            inst.mods = Mods {
                cbsz,
                abid: random.below(1 << cbsz) as u8,
                blgp: random.below(8) as u8,
                ..Mods::default()
            };
            run_inst(&mut wave, Arch::Gfx942, &inst).unwrap();
            let shared = 1 << cbsz;
            for block in 0..name.blocks {
                for i in 0..name.m {
                    for j in 0..name.m {
                        let ab = if cbsz == 0 {
                            block
                        } else {
                            block / shared * shared + usize::from(inst.mods.abid)
                        };
                        // The lane of B[.][j] reads another lane, hence another block and column.
                        let lane = name.m * block + j;
                        let from = match inst.mods.blgp {
                            0 => lane,
                            1 => lane % 32,
                            2 => 32 + lane % 32,
                            3 => (lane + 16) % 64,
                            g => 16 * (usize::from(g) - 4) + lane % 16,
                        };
                        let column = &b[from / name.m][from % name.m];
                        let want: f64 = (0..name.k)
                            .map(|k| {
                                value(Arch::Gfx942, ty, a[ab][i][k])
                                    * value(Arch::Gfx942, ty, column[k])
                            })
                            .sum();
                        let (reg, lane) = output_place(&name, i, j, block);
                        let got = read(&wave, &name, ty == "i8", D as usize, reg, lane);
                        assert_eq!(got, want, "{} {:?}", op.info().name, inst.mods);
                    }
                }
            }
        }
    }
}

#[test]
fn accumulators_may_be_agprs_constants_or_the_destination_itself() {
    let mut wave = Wave::new(32, 16, 0);
    // bf16 ones in A and B: every sum is 16.
    for reg in &mut wave.vgpr[..8] {
        *reg = Lanes([0x3f80_3f80; WAVE]);
    }
    let mut inst = inst(Op::VMfmaF3216x16x16Bf16);
    inst.src = [Operand::Vgpr(0), Operand::Vgpr(4), Operand::Float(242)];
    inst.dst = Operand::Agpr(4);
    run_inst(&mut wave, Arch::Gfx942, &inst).unwrap();
    assert_eq!(wave.vgpr[36..40], [Lanes([17f32.to_bits(); WAVE]); 4]);
    inst.src[2] = Operand::Agpr(4);
    run_inst(&mut wave, Arch::Gfx942, &inst).unwrap();
    assert_eq!(wave.vgpr[36..40], [Lanes([33f32.to_bits(); WAVE]); 4]);
    inst.dst = Operand::Vgpr(8);
    run_inst(&mut wave, Arch::Gfx942, &inst).unwrap();
    assert_eq!(wave.vgpr[8..12], [Lanes([49f32.to_bits(); WAVE]); 4]);
    inst.dst = Operand::Agpr(13);
    let fault = run_inst(&mut wave, Arch::Gfx942, &inst).unwrap_err();
    assert_eq!(fault, FaultKind::NoRegister { register: "a13".into() });
}

#[test]
fn f64_operands_are_negated_by_blgp() {
    let mut wave = Wave::new(32, 0, 0);
    let two = 2f64.to_bits();
    for pair in [0, 2, 4] {
        wave.vgpr[pair + 1] = Lanes([(two >> 32) as u32; WAVE]);
    }
    let mut inst = inst(Op::VMfmaF644x4x44bF64);
    inst.src = [Operand::Vgpr(0), Operand::Vgpr(2), Operand::Vgpr(4)];
    inst.dst = Operand::Vgpr(6);
    // 4 products of 2 * 2, plus 2.
    for (blgp, want) in [(0, 18.0), (1, -14.0), (3, 18.0), (4, 14.0), (7, 14.0)] {
        inst.mods.blgp = blgp;
        run_inst(&mut wave, Arch::Gfx942, &inst).unwrap();
        assert_eq!(f64::from_bits(u64::from(wave.vgpr[7].0[33]) << 32), want, "{blgp}");
    }
}
