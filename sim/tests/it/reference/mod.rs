//! A deliberately plain interpreter of VALU, SALU and matrix instructions, one lane and one value at
//! a time. It shares no code with the simulator: operations are looked up by mnemonic, numbers are
//! computed in f64. Goes in: a [`Machine`] and an [`Instruction`]. Comes out: the changed machine, as
//! the simulator should have changed it.

mod compare;
mod convert;
mod float;
mod loose;
mod matrix;
pub mod number;
mod pi;
mod scalar;
mod vector;

use cdna_sim::isa::{Op, Ty};

pub use loose::Loose;
use loose::width_of;
pub use matrix::Shape;
use vector::{Exactness, Lane, Out};

/// Hardware numbers of scalar registers.
pub const VCC: u16 = 106;
const EXEC: u16 = 126;

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg {
    None,
    /// Vector register.
    V(u16),
    /// Accumulation register.
    A(u16),
    /// Scalar register.
    S(u16),
    /// Inline integer.
    Int(i8),
    /// Inline float: half of a small power of two.
    Float(f32),
    Literal(u32),
}

/// Lane movement of the first operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    QuadPerm([u8; 4]),
    RowShl(u8),
    RowShr(u8),
    RowRor(u8),
    RowMirror,
    RowHalfMirror,
}

/// Modifiers; bit i is about source i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mods {
    pub neg: u8,
    pub abs: u8,
    pub neg_hi: u8,
    pub op_sel: u8,
    pub op_sel_hi: u8,
    pub clamp: bool,
    pub table: u8,
    pub formats: [u8; 2],
    pub movement: Option<Move>,
}

/// An instruction, as the generator made it and the assembler was told.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    pub op: Op,
    /// Mnemonic without encoding suffix.
    pub name: &'static str,
    pub dst: Arg,
    /// Where a lane mask goes besides the result.
    pub mask_dst: u16,
    pub src: [Arg; 3],
    /// Where a lane mask comes from.
    pub mask_src: u16,
    /// Scales of a matrix operation.
    pub scale: [Arg; 2],
    /// 16-bit immediate.
    pub imm: i16,
    pub mods: Mods,
}

/// Registers of a wave.
#[derive(Clone, Debug)]
pub struct Machine {
    pub sgpr: [u32; 128],
    pub scc: bool,
    /// Vector registers, then accumulation registers from [`Machine::ACC`] on.
    pub vgpr: Vec<[u32; 64]>,
    pub fnuz: bool,
}

impl Machine {
    /// Index of the first accumulation register.
    pub const ACC: usize = 64;

    fn wide(&self, n: u16) -> u64 {
        u64::from(self.sgpr[usize::from(n)]) | u64::from(self.sgpr[usize::from(n) + 1]) << 32
    }

    fn set_wide(&mut self, n: u16, value: u64) {
        self.sgpr[usize::from(n)] = value as u32;
        self.sgpr[usize::from(n) + 1] = (value >> 32) as u32;
    }

    fn register(arg: Arg) -> Option<usize> {
        match arg {
            Arg::V(n) => Some(usize::from(n)),
            Arg::A(n) => Some(Machine::ACC + usize::from(n)),
            _ => None,
        }
    }

    /// An operand in one lane; scalars are the same in all.
    fn read(&self, arg: Arg, ty: Ty, lane: usize) -> u64 {
        let wide = ty.dwords() == 2;
        match arg {
            Arg::None => 0,
            Arg::V(_) | Arg::A(_) => {
                let first = Machine::register(arg).unwrap_or(0);
                let low = u64::from(self.vgpr[first][lane]);
                if wide { low | u64::from(self.vgpr[first + 1][lane]) << 32 } else { low }
            }
            Arg::S(n) if wide => self.wide(n),
            Arg::S(n) => self.sgpr[usize::from(n)].into(),
            Arg::Int(i) if wide => i64::from(i) as u64,
            Arg::Int(i) => u64::from(i32::from(i) as u32),
            Arg::Float(x) => match ty {
                Ty::F16 => number::F16.encode(x.into()).into(),
                Ty::F64 | Ty::B64 => f64::from(x).to_bits(),
                _ => x.to_bits().into(),
            },
            Arg::Literal(v) => v.into(),
        }
    }

    /// An operand with the register after it, if there is one, for reports.
    pub fn wide_operand(&self, arg: Arg, lane: usize) -> u64 {
        let last = Machine::register(arg) == Some(self.vgpr.len() - 1);
        self.read(arg, if last { Ty::B32 } else { Ty::B64 }, lane)
    }

    /// Executes an instruction; `None` if it is not known here. Returns what may differ from the
    /// simulator's result.
    pub fn execute(&mut self, inst: &Instruction) -> Option<Vec<Loose>> {
        let name = &inst.name[2..];
        if inst.name.starts_with("s_") {
            return self.scalar(inst, name).then(Vec::new);
        }
        if let Some(shape) = Shape::parse(name, inst.mods.formats) {
            return Some(self.matrix(inst, &shape));
        }
        if self.crosses_lanes(inst, name) {
            return Some(Vec::new());
        }
        if let Some(loose) = self.block(inst, name) {
            return Some(loose);
        }
        self.vector(inst, name)
    }

    fn scalar(&mut self, inst: &Instruction, name: &str) -> bool {
        let info = inst.op.info();
        let ty = |i: usize| info.src.get(i).copied().unwrap_or(Ty::B32);
        let immediate = name.contains('k') && inst.src[1] == Arg::None && inst.src[0] == Arg::None;
        let dst_ty = if info.dst == Ty::None { Ty::B32 } else { info.dst };
        let input = scalar::Input {
            a: self.read(inst.src[0], ty(0), 0),
            b: if immediate { inst.imm as u64 } else { self.read(inst.src[1], ty(1), 0) },
            old: self.read(inst.dst, dst_ty, 0),
            scc: self.scc,
            exec: self.wide(EXEC),
        };
        let Some(effect) = scalar::effect(name, input) else { return false };
        if let Some(exec) = effect.exec {
            self.set_wide(EXEC, exec);
        }
        if let (Some(value), Arg::S(n)) = (effect.dst, inst.dst) {
            match dst_ty.dwords() {
                2 => self.set_wide(n, value),
                _ => self.sgpr[usize::from(n)] = value as u32,
            }
        }
        self.scc = effect.scc.unwrap_or(self.scc);
        true
    }

    /// Operations that move values between lanes or to scalar registers.
    fn crosses_lanes(&mut self, inst: &Instruction, name: &str) -> bool {
        let exec = self.wide(EXEC);
        let active = |lane: usize| exec >> lane & 1 == 1;
        let first = (0..64).find(|&lane| active(lane)).unwrap_or(0);
        let [source, target] =
            [inst.src[0], inst.dst].map(|arg| Machine::register(arg).unwrap_or(0));
        let exchange = |this: &mut Machine, partner: &dyn Fn(usize) -> Option<usize>| {
            let old = [this.vgpr[source], this.vgpr[target]];
            for lane in 0..64 {
                let Some(other) = partner(lane) else { continue };
                if active(lane) {
                    this.vgpr[source][lane] = old[1][other];
                }
                if active(other) {
                    this.vgpr[target][other] = old[0][lane];
                }
            }
        };
        match name {
            "nop" => {}
            "readfirstlane_b32" | "readlane_b32" => {
                let lane = match name {
                    "readlane_b32" => (self.read(inst.src[1], Ty::B32, 0) % 64) as usize,
                    _ => first,
                };
                if let Arg::S(n) = inst.dst {
                    self.sgpr[usize::from(n)] = self.read(inst.src[0], Ty::B32, lane) as u32;
                }
            }
            "writelane_b32" => {
                let lane = (self.read(inst.src[1], Ty::B32, 0) % 64) as usize;
                self.vgpr[target][lane] = self.read(inst.src[0], Ty::B32, 0) as u32;
            }
            "swap_b32" => exchange(self, &Some),
            "permlane16_swap_b32" => {
                exchange(self, &|lane| (lane / 16 % 2 == 0).then_some(lane + 16));
            }
            "permlane32_swap_b32" => exchange(self, &|lane| (lane < 32).then_some(lane + 32)),
            _ => return false,
        }
        true
    }

    /// Operations on many registers of a lane.
    fn block(&mut self, inst: &Instruction, name: &str) -> Option<Vec<Loose>> {
        let info = inst.op.info();
        let exec = self.wide(EXEC);
        let mut results = Vec::new();
        for lane in 0..64 {
            let words = [0, 1, 2].map(|i| {
                let count = info.src.get(i).map_or(0, |ty| ty.dwords()).into();
                match Machine::register(inst.src[i]) {
                    Some(first) => (first..first + count).map(|r| self.vgpr[r][lane]).collect(),
                    None => vec![self.read(inst.src[i], Ty::B32, lane) as u32; count],
                }
            });
            let operands = words.each_ref().map(Vec::as_slice);
            let result = match name {
                "mqsad_u32_u8" => Some(masked_sums(operands)),
                _ => convert::block(name, operands),
            };
            results.push(result?);
        }
        let (ty, first) = (element_type(name), Machine::register(inst.dst)?);
        let mut loose = Vec::new();
        for (lane, result) in results.into_iter().enumerate().filter(|(l, _)| exec >> l & 1 == 1) {
            for (k, value) in result.into_iter().enumerate() {
                let register = first + k;
                self.vgpr[register][lane] = value;
                loose.push(Loose::new(register, lane, ty, Exactness::Exact));
            }
        }
        Some(loose)
    }

    fn vector(&mut self, inst: &Instruction, name: &str) -> Option<Vec<Loose>> {
        let operation = vector::operation(name)?;
        let info = inst.op.info();
        let exec = self.wide(EXEC);
        let mask = self.wide(inst.mask_src);
        let before = self.clone();
        let (mut flags, mut loose) = (0_u64, Vec::new());
        for lane in (0..64).filter(|lane| exec >> lane & 1 == 1) {
            let from = match inst.mods.movement {
                Some(movement) => moved(movement, lane).filter(|l| exec >> l & 1 == 1),
                None => Some(lane),
            };
            // A lane that has nowhere to read from is not written.
            let Some(from) = from else { continue };
            let operand = |i: usize| {
                let ty = source_type(inst, i);
                let at = if i == 0 { from } else { lane };
                modified(before.read(inst.src[i], ty, at), ty, inst, i)
            };
            let input = Lane {
                a: operand(0),
                b: operand(1),
                c: operand(2),
                old: before.read(inst.dst, info.dst, lane),
                mask: mask >> lane & 1 == 1,
                number: lane as u32,
                table: inst.mods.table.into(),
                fnuz: self.fnuz,
            };
            let out = operation(&input);
            flags |= u64::from(out.flag) << lane;
            if info.dst != Ty::Mask {
                loose.push(self.write(inst, lane, out, &input));
            }
        }
        if info.dst == Ty::Mask {
            if let Arg::S(n) = inst.dst {
                self.set_wide(n, flags);
            }
            if name.starts_with("cmpx") {
                self.set_wide(EXEC, flags);
            }
        } else if info.sdst == Ty::Mask {
            self.set_wide(inst.mask_dst, flags);
        }
        Some(loose)
    }

    /// Writes a result to its part of the destination.
    fn write(&mut self, inst: &Instruction, lane: usize, out: Out, input: &Lane) -> Loose {
        let ty = inst.op.info().dst;
        let value = if inst.mods.clamp { clamped(out.value, ty) } else { out.value };
        let register = Machine::register(inst.dst).unwrap_or(0);
        let old = self.vgpr[register][lane];
        let low = value as u32;
        self.vgpr[register][lane] = match ty {
            Ty::I8 => old & 0xffff_ff00 | low & 0xff,
            _ if inst.name.ends_with("mixhi_f16") => old & 0xffff | low << 16,
            Ty::I16 | Ty::F16 | Ty::Bf16 if keeps_half(inst.name) => {
                old & 0xffff_0000 | low & 0xffff
            }
            Ty::I16 | Ty::F16 | Ty::Bf16 => low & 0xffff,
            _ => low,
        };
        if ty.dwords() == 2 {
            self.vgpr[register + 1][lane] = (value >> 32) as u32;
        }
        let compared = if inst.name.ends_with("mixhi_f16") { Ty::PkF16 } else { ty };
        let mut loose = Loose::new(register, lane, compared, out.exactness);
        if out.exactness == Exactness::Approximate
            && let Some(width) = width_of(ty)
        {
            // The hardware's approximations flush denormal operands.
            let x = width.decode(input.a);
            loose.anything = x != 0.0 && x.abs() < width.smallest_normal();
        }
        loose
    }

    fn matrix(&mut self, inst: &Instruction, shape: &Shape) -> Vec<Loose> {
        let counts = shape.registers();
        let registers = |arg: Arg, count: usize| -> Vec<[u32; 64]> {
            match Machine::register(arg) {
                Some(first) => self.vgpr[first..first + count].to_vec(),
                None => (0..count)
                    .map(|k| {
                        let ty = if shape.types[0] == "f64" { Ty::F64 } else { Ty::F32 };
                        let value = self.read(arg, ty, 0);
                        [if k % 2 == 1 && ty == Ty::F64 {
                            (value >> 32) as u32
                        } else {
                            value as u32
                        }; 64]
                    })
                    .collect(),
            }
        };
        let a = registers(inst.src[0], counts[0]);
        let b = registers(inst.src[1], counts[1]);
        let c = registers(if shape.sparse { inst.dst } else { inst.src[2] }, counts[2]);
        let index = shape.sparse.then(|| registers(inst.src[2], 1)[0]);
        let scales = inst.scale.map(|arg| shape.scaled.then(|| registers(arg, 1)[0]));
        let operands = matrix::Operands {
            a: &a,
            b: &b,
            c: &c,
            index: index.as_ref(),
            scales: scales.each_ref().map(Option::as_ref),
            fnuz: self.fnuz,
        };
        let first = Machine::register(inst.dst).unwrap_or(0);
        let wide = shape.types[0] == "f64";
        let integer = shape.types[0] == "i8";
        let mut loose = Vec::new();
        for element in matrix::product(shape, &operands) {
            let (register, lane) = (first + element.register, element.lane);
            if wide {
                let bits = element.value.to_bits();
                self.vgpr[register][lane] = bits as u32;
                self.vgpr[register + 1][lane] = (bits >> 32) as u32;
            } else if integer {
                self.vgpr[register][lane] = element.value as i64 as u32;
                continue;
            } else {
                self.vgpr[register][lane] = (element.value as f32).to_bits();
            }
            let ty = if wide { Ty::F64 } else { Ty::F32 };
            let mut entry = Loose::new(register, lane, ty, Exactness::Exact);
            entry.slack = Some((element.value, element.slack));
            entry.anything = !element.slack.is_finite();
            loose.push(entry);
        }
        loose
    }
}

/// Type of a source, with the third one of operations whose table names only two.
fn source_type(inst: &Instruction, i: usize) -> Ty {
    let info = inst.op.info();
    info.src.get(i).copied().unwrap_or(info.dst)
}

/// Applies selection of halves, absolute value and negation.
fn modified(value: u64, ty: Ty, inst: &Instruction, i: usize) -> u64 {
    let m = &inst.mods;
    let has = |mask: u8| mask >> i & 1 == 1;
    if inst.name.starts_with("v_fma_mix") {
        let x = match has(m.op_sel_hi) {
            true => number::F16.decode(value as u32 >> if has(m.op_sel) { 16 } else { 0 } & 0xffff),
            false => f64::from(f32::from_bits(value as u32)),
        };
        let x = if has(m.neg_hi) { x.abs() } else { x };
        return ((if has(m.neg) { -x } else { x }) as f32).to_bits().into();
    }
    let packed_bits = match ty {
        Ty::PkF32 => Some(32),
        Ty::PkF16 | Ty::PkBf16 | Ty::PkI16 => Some(16),
        _ if inst.name == "v_pk_mov_b32" => Some(32),
        _ => None,
    };
    let is_packed = inst.name.starts_with("v_pk_") || inst.name.starts_with("v_dot2_");
    if let Some(bits) = packed_bits.filter(|_| is_packed) {
        let part = |high: bool, negate: bool| {
            let part = value >> if high { bits } else { 0 } & ((1 << bits) - 1);
            part ^ if negate { 1 << (bits - 1) } else { 0 }
        };
        if inst.name == "v_pk_mov_b32" {
            // Each result has one operand; op_sel says which half of it.
            let chosen = part(has(m.op_sel), false);
            return chosen | chosen << 32;
        }
        return part(has(m.op_sel), has(m.neg)) | part(has(m.op_sel_hi), has(m.neg_hi)) << bits;
    }
    let sign = match ty {
        Ty::F16 | Ty::Bf16 => 1 << 15,
        Ty::F32 => 1 << 31,
        Ty::F64 => 1 << 63,
        _ => return value,
    };
    let value = if has(m.abs) { value & !sign } else { value };
    if has(m.neg) { value ^ sign } else { value }
}

/// Between 0 and 1; NaN becomes 0.
fn clamped(value: u64, ty: Ty) -> u64 {
    let clamp = |x: f64| if x > 0.0 { x.min(1.0) } else { 0.0 };
    match width_of(ty) {
        Some(width) => width.encode(clamp(width.decode(value))),
        None => value,
    }
}

/// 16-bit operations that leave the upper half of their destination alone (LLVM's
/// `zeroesHigh16BitsOfDest` names the others).
fn keeps_half(name: &str) -> bool {
    const KEEPING: [&str; 16] = [
        "v_mad_f16",
        "v_mad_u16",
        "v_mad_i16",
        "v_fma_f16",
        "v_div_fixup_f16",
        "v_bitop3_b16",
        "v_fma_mixlo_f16",
        "v_min3_",
        "v_max3_",
        "v_med3_",
        "v_cvt_pk_fp8_",
        "v_cvt_pk_bf8_",
        "v_cvt_scalef32_pk_",
        "v_cvt_sr_f16_",
        "v_cvt_sr_bf16_",
        "v_cvt_scalef32_f16_",
    ];
    KEEPING.iter().any(|start| name.starts_with(start))
}

/// Lane that `lane` reads, if there is one.
fn moved(movement: Move, lane: usize) -> Option<usize> {
    let (row, column) = (lane / 16 * 16, lane % 16);
    match movement {
        Move::QuadPerm(perm) => Some(lane / 4 * 4 + usize::from(perm[lane % 4])),
        Move::RowShl(n) => (column + usize::from(n) < 16).then_some(lane + usize::from(n)),
        Move::RowShr(n) => (column >= usize::from(n)).then(|| lane - usize::from(n)),
        Move::RowRor(n) => Some(row + (column + 16 - usize::from(n)) % 16),
        Move::RowMirror => Some(row + 15 - column),
        Move::RowHalfMirror => Some(lane / 8 * 8 + 7 - lane % 8),
    }
}

/// Type of the values that a block conversion makes.
fn element_type(name: &str) -> Ty {
    match name.rsplit('_').nth(1) {
        Some("f32") => Ty::F32,
        Some("f16") => Ty::PkF16,
        Some("bf16") => Ty::PkBf16,
        _ => Ty::B32,
    }
}

/// Sums of absolute differences of the second operand against the first at four byte offsets, where
/// the second is not zero, added to the third.
fn masked_sums([a, b, c]: [&[u32]; 3]) -> Vec<u32> {
    let window: Vec<u8> = a.iter().flat_map(|w| w.to_le_bytes()).collect();
    let reference = b[0].to_le_bytes();
    let sum = |k: usize| -> u32 {
        let differs = |i: usize| u32::from(window[k + i].abs_diff(reference[i]));
        (0..4).filter(|&i| reference[i] != 0).map(differs).sum()
    };
    (0..4).map(|k| sum(k).wrapping_add(c[k])).collect()
}
