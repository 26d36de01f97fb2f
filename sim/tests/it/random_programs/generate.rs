//! Random instructions as text for the assembler and as structures for the reference, and random
//! registers to run them on.

use std::collections::BTreeSet;

use cdna_sim::isa::{Arch, Op, Ty, available, op};

use crate::reference::{Arg, Instruction, Mods, Shape, VCC, follows_mode};
use operands::{show, signed};

mod modifiers;
mod operands;
mod values;

/// A straight-line program and the MODE register that it starts with.
pub struct Program {
    pub mode: u32,
    pub lines: Vec<Line>,
}

/// An instruction, both ways.
pub struct Line {
    pub text: String,
    pub inst: Instruction,
}

/// Which syntax an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Scalar,
    Immediate,
    /// VOP1, VOP2 and VOPC.
    Short,
    /// VOP3 and VOP3P; with a suffix if there is a short form too.
    Long {
        suffix: bool,
    },
}

/// Control flow, relative indexing and access to hardware registers, which are not straight-line
/// programs of the ALUs, and operations without an effect.
fn excluded(name: &str) -> bool {
    const PREFIXES: [&str; 15] = [
        "s_getpc",
        "s_setpc",
        "s_swappc",
        "s_call",
        "s_rfe",
        "s_cbranch",
        "s_movrel",
        "s_set_gpr_idx",
        "s_setvskip",
        "s_getreg",
        "s_setreg",
        "v_nop",
        "v_clrexcp",
        "v_screen_partition",
        "v_mfma_ld_scale",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn forms() -> Vec<(Op, Form)> {
    let short: BTreeSet<Op> =
        [op::VOP1, op::VOP2, op::VOPC].concat().into_iter().map(|(_, op)| op).collect();
    let mut forms = Vec::new();
    for &(_, op) in [op::SOP1, op::SOP2, op::SOPC].concat().iter() {
        forms.push((op, Form::Scalar));
    }
    forms.extend(op::SOPK.iter().map(|&(_, op)| (op, Form::Immediate)));
    forms.extend(short.iter().map(|&op| (op, Form::Short)));
    for &(_, op) in [op::VOP3, op::VOP3SD, op::VOP3P, op::VOP3PX2].concat().iter() {
        forms.push((op, Form::Long { suffix: short.contains(&op) }));
    }
    forms.retain(|(op, _)| !excluded(op.info().name));
    forms
}

/// Mnemonics of everything that may be generated.
pub fn names() -> impl Iterator<Item = &'static str> {
    forms().into_iter().map(|(op, _)| op.info().name)
}

/// Denormals kept, nearest even, IEEE, DX10 clamp.
const USUAL: u32 = 0x3f0;

/// Makes programs and machines from a fixed seed.
pub struct Generator {
    arch: Arch,
    state: u64,
    forms: Vec<(Op, Form)>,
    /// Next form to be used in any case.
    turn: usize,
    /// Whether the program may run in any mode.
    any_mode: bool,
}

impl Generator {
    pub fn new(arch: Arch) -> Generator {
        let mut forms = forms();
        forms.retain(|(op, _)| available(*op, arch));
        Generator { arch, state: 0x9e37_79b9_7f4a_7c15, forms, turn: 0, any_mode: false }
    }

    /// xorshift64*.
    fn next(&mut self) -> u32 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    fn below(&mut self, n: u32) -> u32 {
        self.next() % n
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// A program of four to nine instructions. Every form gets its turn; those that cost a lot of
    /// time or switch off lanes are otherwise rarer. One in four runs in a mode of its own, which an
    /// instruction may change again.
    pub fn program(&mut self) -> Program {
        let length = 4 + self.below(6);
        self.any_mode = self.one_in(4);
        let mut lines = Vec::new();
        let mut mode = USUAL;
        if self.any_mode {
            mode = self.next() & 0x3ff;
            lines.extend(self.one_in(2).then(|| self.set_mode()));
        }
        lines.extend((0..length).map(|k| {
            let (op, form) = self.choose(k % 2 == 0);
            self.line(op, form)
        }));
        Program { mode, lines }
    }

    /// The next form, or any.
    fn choose(&mut self, next: bool) -> (Op, Form) {
        let any = |this: &mut Generator| {
            let at = this.below(this.forms.len() as u32) as usize;
            this.forms[at]
        };
        if self.any_mode {
            loop {
                let chosen = any(self);
                if follows_mode(chosen.0) {
                    return chosen;
                }
            }
        }
        let chosen = match next {
            true => {
                self.turn += 1;
                self.forms[self.turn % self.forms.len()]
            }
            false => any(self),
        };
        let name = chosen.0.info().name;
        let rare = name.contains("mfma") || name.contains("cmpx") || name.contains("exec");
        if rare && !self.one_in(6) { any(self) } else { chosen }
    }

    /// Changes a field of the rounding and denormal bits of MODE.
    fn set_mode(&mut self) -> Line {
        let offset = self.below(8);
        let width = 1 + self.below(8 - offset);
        let value = self.next();
        let op = Op::SSetregImm32B32;
        let inst = Instruction {
            op,
            name: op.info().name,
            dst: Arg::None,
            mask_dst: VCC,
            src: [Arg::Literal(value), Arg::None, Arg::None],
            mask_src: VCC,
            scale: [Arg::None; 2],
            imm: (offset << 8 | width) as i16,
            mods: Mods::default(),
        };
        let field = format!("hwreg(HW_REG_MODE, {offset}, {width})");
        Line { text: format!("{} {field}, {value:#x}", inst.name), inst }
    }

    fn line(&mut self, op: Op, form: Form) -> Line {
        let info = op.info();
        let mut inst = Instruction {
            op,
            name: info.name,
            dst: Arg::None,
            mask_dst: VCC,
            src: [Arg::None; 3],
            mask_src: VCC,
            scale: [Arg::None; 2],
            imm: 0,
            mods: Mods { op_sel_hi: 7, ..Mods::default() },
        };
        let text = match form {
            Form::Scalar | Form::Immediate => self.scalar(&mut inst, form),
            _ if info.name.contains("mfma") || info.name.contains("smfmac") => {
                self.matrix(&mut inst)
            }
            _ => self.vector(&mut inst, form),
        };
        Line { text, inst }
    }

    fn scalar(&mut self, inst: &mut Instruction, form: Form) -> String {
        let info = inst.op.info();
        let mut parts = Vec::new();
        if info.dst != Ty::None {
            inst.dst = Arg::S(self.sgpr(info.dst.dwords()));
            parts.push(show(inst.dst, info.dst.dwords()));
        }
        if form == Form::Immediate {
            inst.imm = self.next() as i16;
            parts.push(format!("{:#x}", inst.imm as u16));
        }
        let mut literal = true;
        for (i, &ty) in info.src.iter().enumerate().take(3) {
            inst.src[i] = match ty {
                Ty::B32 | Ty::B64 => self.uniform(ty, literal),
                _ => Arg::S(self.sgpr(ty.dwords())),
            };
            literal &= !matches!(inst.src[i], Arg::Literal(_));
            parts.push(show(inst.src[i], ty.dwords()));
        }
        format!("{} {}", inst.name, parts.join(", "))
    }

    fn matrix(&mut self, inst: &mut Instruction) -> String {
        if inst.name.ends_with("f8f6f4") {
            inst.mods.formats = [self.below(5) as u8, self.below(5) as u8];
        }
        let shape = Shape::parse(&inst.name[2..], inst.mods.formats).unwrap();
        let [a, b, d] = shape.registers().map(|n| n as u8);
        let tuple = |this: &mut Generator, n: u8, acc: bool| {
            let first = this.vgpr(n);
            if acc { Arg::A(first) } else { Arg::V(first) }
        };
        let acc = self.one_in(3);
        inst.dst = tuple(self, d, acc);
        inst.src[0] = tuple(self, a, false);
        inst.src[1] = tuple(self, b, false);
        inst.src[2] = match self.below(4) {
            _ if shape.sparse => tuple(self, 1, false),
            0 => inst.dst,
            1 if shape.types[0] != "i8" => Arg::Float(1.0),
            2 => Arg::Int(0),
            _ => tuple(self, d, acc),
        };
        let last = if shape.sparse { 1 } else { d };
        let mut text = format!(
            "{} {}, {}, {}, {}",
            inst.name,
            show(inst.dst, d),
            show(inst.src[0], a),
            show(inst.src[1], b),
            show(inst.src[2], last)
        );
        if shape.scaled {
            inst.scale = [tuple(self, 1, false), tuple(self, 1, false)];
            text += &format!(
                ", {}, {} op_sel_hi:[0,0,0]",
                show(inst.scale[0], 1),
                show(inst.scale[1], 1)
            );
        }
        let [cbsz, blgp] = inst.mods.formats;
        text + &format!(
            "{}{}",
            if cbsz > 0 { format!(" cbsz:{cbsz}") } else { String::new() },
            if blgp > 0 { format!(" blgp:{blgp}") } else { String::new() }
        )
    }

    fn vector(&mut self, inst: &mut Instruction, form: Form) -> String {
        let info = inst.op.info();
        let name = inst.name;
        let short = form == Form::Short;
        self.choose_operands(inst, short);
        let narrow = |ty: &Ty| matches!(ty, Ty::B32 | Ty::F32 | Ty::F16 | Ty::I16);
        let whole = ["v_swap", "v_permlane", "v_readfirst", "v_acc", "v_dot", "v_fmaak", "v_fmamk"];
        let sources = info.src.iter().filter(|ty| **ty != Ty::Mask).count();
        let simple = short
            && (1..=2).contains(&sources)
            && info.src.iter().all(|ty| narrow(ty) || *ty == Ty::Mask)
            && !whole.iter().any(|p| name.starts_with(p));
        let mut special = String::new();
        if simple && info.sdst == Ty::None && narrow(&info.dst) && self.one_in(4) {
            self.registers_only(inst);
            special = self.movement(inst);
        } else if simple && self.one_in(4) {
            self.registers_only(inst);
            special = self.parts(inst);
        }
        let suffix = match form {
            _ if inst.mods.movement.is_some() => "_dpp",
            _ if inst.mods.parts.is_some() => "_sdwa",
            Form::Short
                if matches!(name, "v_swap_b32" | "v_readfirstlane_b32" | "v_accvgpr_mov_b32") =>
            {
                ""
            }
            Form::Short
                if ["v_fmaak", "v_fmamk", "v_madak", "v_madmk"]
                    .iter()
                    .any(|p| name.starts_with(p)) =>
            {
                ""
            }
            Form::Short => "_e32",
            Form::Long { suffix: true } => "_e64",
            _ => "",
        };
        let tail = if short { String::new() } else { self.modifiers(inst) };
        let mut parts = Vec::new();
        parts.push(match inst.dst {
            Arg::S(n) if info.dst == Ty::Mask => show(Arg::S(n), 2),
            dst => show(dst, info.dst.dwords()),
        });
        if info.sdst == Ty::Mask {
            parts.push(show(Arg::S(inst.mask_dst), 2));
        }
        for i in 0..3 {
            let Some(ty) = info.src.get(i).copied() else { break };
            if ty == Ty::Mask {
                parts.push(show(Arg::S(inst.mask_src), 2));
                continue;
            }
            parts.push(signed(inst, i, show(inst.src[i], ty.dwords())));
        }
        format!("{name}{suffix} {}{special}{tail}", parts.join(", "))
    }
}
