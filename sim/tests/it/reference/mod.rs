//! A deliberately plain interpreter of VALU, SALU and matrix instructions, one lane and one value at
//! a time. It shares no code with the simulator: operations are looked up by mnemonic, numbers are
//! computed in f64. Goes in: a [`Machine`] and an [`Instruction`]. Comes out: the changed machine, as
//! the simulator should have changed it.

mod compare;
mod convert;
mod float;
mod loose;
mod matrix;
mod modify;
mod movement;
pub mod number;
mod pi;
mod rounding;
mod saturate;
mod scalar;
mod sdwa;
mod several;
mod vector;

use cdna_sim::isa::{Op, Ty};

pub use loose::Loose;
pub use matrix::Shape;
use modify::{accumulator, modified, source_type};
pub use movement::{Move, Movement};
pub use rounding::follows_mode;
pub use saturate::clamps_integers;
pub use sdwa::{Part, Parts};
use vector::{Exactness, Lane};

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

/// Modifiers; bit i is about source i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mods {
    pub neg: u8,
    pub abs: u8,
    pub neg_hi: u8,
    pub op_sel: u8,
    pub op_sel_hi: u8,
    pub clamp: bool,
    /// Result times 1, 2, 4 or 1/2.
    pub omod: u8,
    pub table: u8,
    pub formats: [u8; 2],
    pub movement: Option<Movement>,
    pub parts: Option<Parts>,
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
    /// The MODE register.
    pub mode: u32,
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
        if name == "setreg_imm32_b32" {
            // Offset and width of the field, as the generator has packed them.
            let [width, offset] = (inst.imm as u16).to_le_bytes();
            let field = ((1 << width) - 1) << offset;
            let value = self.read(inst.src[0], Ty::B32, 0) as u32;
            self.mode = self.mode & !field | value << offset & field;
            return true;
        }
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

    fn vector(&mut self, inst: &Instruction, name: &str) -> Option<Vec<Loose>> {
        let operation = vector::operation(name)?;
        let info = inst.op.info();
        let exec = self.wide(EXEC);
        let mask = self.wide(inst.mask_src);
        let before = self.clone();
        let (mut flags, mut loose) = (0_u64, Vec::new());
        let directed = rounding::operation(name, self.mode);
        let operation = directed.unwrap_or(operation);
        for lane in (0..64).filter(|lane| exec >> lane & 1 == 1) {
            // A lane that has nowhere to read from is not written, or reads zero.
            let from = inst.mods.movement.map_or(Some(Some(lane)), |movement| {
                let from = movement.source(lane).filter(|l| exec >> l & 1 == 1);
                (movement.writes(lane) && (movement.zero || from.is_some())).then_some(from)
            });
            let Some(from) = from else { continue };
            let operand = |i: usize| {
                let ty = source_type(inst, i);
                let at = if i == 0 { from } else { Some(lane) };
                let value = at.map_or(0, |at| before.read(inst.src[i], ty, at));
                modified(value, ty, inst, i, self.mode)
            };
            let input = Lane {
                a: operand(0),
                b: operand(1),
                c: operand(2),
                old: accumulator(before.read(inst.dst, info.dst, lane), inst, self.mode),
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
