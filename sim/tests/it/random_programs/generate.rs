//! Random instructions as text for the assembler and as structures for the reference, and random
//! registers to run them on.

use std::collections::BTreeSet;

use cdna_sim::isa::{Arch, Op, Ty, available, op};

use crate::reference::{Arg, Instruction, Machine, Mods, Move, Shape, VCC};

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

/// Makes programs and machines from a fixed seed.
pub struct Generator {
    arch: Arch,
    state: u64,
    forms: Vec<(Op, Form)>,
    /// Next form to be used in any case.
    turn: usize,
}

impl Generator {
    pub fn new(arch: Arch) -> Generator {
        let mut forms = forms();
        forms.retain(|(op, _)| available(*op, arch));
        Generator { arch, state: 0x9e37_79b9_7f4a_7c15, forms, turn: 0 }
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
    /// time or switch off lanes are otherwise rarer.
    pub fn program(&mut self) -> Vec<Line> {
        let length = 4 + self.below(6);
        (0..length)
            .map(|k| {
                let at = if k % 2 == 0 {
                    self.turn += 1;
                    self.turn
                } else {
                    self.below(self.forms.len() as u32) as usize
                };
                let (mut op, mut form) = self.forms[at % self.forms.len()];
                let name = op.info().name;
                let rare = name.contains("mfma") || name.contains("cmpx") || name.contains("exec");
                if rare && !self.one_in(6) {
                    let other = self.below(self.forms.len() as u32) as usize;
                    (op, form) = self.forms[other];
                }
                self.line(op, form)
            })
            .collect()
    }

    /// A machine with registers full of values of all kinds.
    pub fn machine(&mut self) -> Machine {
        let mut machine = Machine {
            sgpr: [0; 128],
            scc: self.one_in(2),
            vgpr: vec![[0; 64]; 2 * Machine::ACC],
            fnuz: self.arch == Arch::Gfx942,
        };
        for n in (0..32).chain([106, 107]) {
            let kind = self.below(8);
            machine.sgpr[n] = self.value(kind);
        }
        let full = self.one_in(2);
        for n in [126, 127] {
            machine.sgpr[n] = if full { u32::MAX } else { self.next() };
        }
        for r in 0..machine.vgpr.len() {
            // The upper half of many register pairs is that of a moderate f64.
            let kind = if r % 2 == 1 && self.one_in(2) { 5 } else { self.below(8) };
            machine.vgpr[r] = std::array::from_fn(|_| self.value(kind));
        }
        machine
    }

    fn value(&mut self, kind: u32) -> u32 {
        const SPECIAL: [u32; 16] = [
            0,
            0x8000_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            1,
            0x807f_ffff,
            0x0080_0000,
            0x7f7f_ffff,
            0x3f80_0000,
            0xbf00_0000,
            u32::MAX,
            0x7fff_ffff,
            0x7c00_fc00,
            0x8000_0001,
            0x4b00_0001,
        ];
        let bits = self.next();
        // A float between 2^-8 and 2^8, by the position of its sign and the bias of its exponent.
        let moderate = |bits: u32, bias: u32, fraction: u32| {
            let exponent = bias - 8 + (bits >> 4) % 16;
            let sign = bits & 1;
            sign << (if bias == 15 { 15 } else { 31 })
                | exponent << fraction
                | bits >> 9 & ((1 << fraction) - 1)
        };
        match kind {
            0 => bits,
            1 => SPECIAL[bits as usize % SPECIAL.len()],
            2 => moderate(bits, 127, 23),
            3 => moderate(bits, 15, 10) | moderate(self.next(), 15, 10) << 16,
            4 => (bits % 129).wrapping_sub(64),
            5 => (bits & 1) << 31 | (1015 + (bits >> 4) % 16) << 20 | bits >> 12,
            6 => moderate(bits, 127, 23) & 0xffff_0000 | moderate(self.next(), 127, 23) >> 16,
            _ => bits & 0x3b3b_3b3b,
        }
    }

    fn vgpr(&mut self, dwords: u8) -> u16 {
        let n = u32::from(dwords.max(1));
        match n {
            1 => self.below(64) as u16,
            // Tuples start at even registers.
            _ => (2 * self.below((64 - n) / 2 + 1)) as u16,
        }
    }

    fn sgpr(&mut self, dwords: u8) -> u16 {
        match dwords {
            2.. if self.one_in(4) => VCC,
            2.. => 2 * self.below(16) as u16,
            _ => self.below(32) as u16,
        }
    }

    /// A scalar, constant or, where it may be one, a literal.
    fn uniform(&mut self, ty: Ty, literal: bool) -> Arg {
        let dwords = ty.dwords();
        let constants = matches!(ty, Ty::B32 | Ty::F32 | Ty::F64 | Ty::B64 | Ty::F16);
        match self.below(6) {
            0 if constants => Arg::Int((self.below(81) as i8) - 16),
            1 if constants && ty != Ty::B64 => {
                const FLOATS: [f32; 8] = [0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0];
                Arg::Float(FLOATS[self.below(8) as usize])
            }
            2 if literal && matches!(ty, Ty::B32 | Ty::F32) => Arg::Literal(self.next() | 0x100),
            _ => Arg::S(self.sgpr(dwords)),
        }
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
        let mut movement = String::new();
        let narrow = |ty: &Ty| matches!(ty, Ty::B32 | Ty::F32 | Ty::F16 | Ty::I16);
        let movable = short
            && info.sdst == Ty::None
            && narrow(&info.dst)
            && !info.src.is_empty()
            && info.src.len() <= 2
            && info.src.iter().all(narrow)
            && ![
                "v_swap",
                "v_permlane",
                "v_readfirst",
                "v_acc",
                "v_cmp",
                "v_dot",
                "v_fmaak",
                "v_fmamk",
            ]
            .iter()
            .any(|p| name.starts_with(p));
        if movable && self.one_in(4) {
            for src in inst.src.iter_mut().take(info.src.len()) {
                *src = Arg::V(self.vgpr(1));
            }
            movement = self.movement(inst);
        }
        let suffix = match form {
            _ if !movement.is_empty() => "_dpp",
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
        format!("{name}{suffix} {}{movement}{tail}", parts.join(", "))
    }

    fn choose_operands(&mut self, inst: &mut Instruction, short: bool) {
        let info = inst.op.info();
        let name = inst.name;
        inst.dst = match name {
            "v_readlane_b32" | "v_readfirstlane_b32" => Arg::S(self.sgpr(1)),
            "v_accvgpr_write_b32" | "v_accvgpr_mov_b32" => Arg::A(self.vgpr(1)),
            _ if info.dst == Ty::Mask && short => Arg::S(VCC),
            _ if info.dst == Ty::Mask => Arg::S(self.sgpr(2)),
            _ => Arg::V(self.vgpr(info.dst.dwords())),
        };
        if info.sdst == Ty::Mask && !short {
            inst.mask_dst = self.sgpr(2);
        }
        if info.src.contains(&Ty::Mask) && !short {
            inst.mask_src = self.sgpr(2);
        }
        let mut uniform = false;
        for (i, &ty) in info.src.iter().enumerate().take(3) {
            // Short forms take anything first and a register then; long ones one scalar anywhere.
            let may = match (short, i) {
                (true, 0) => true,
                (true, _) => false,
                _ => !uniform && !info.src.contains(&Ty::Mask),
            };
            let packed = !matches!(ty, Ty::B32 | Ty::F32 | Ty::F64 | Ty::B64 | Ty::F16);
            let plain = may && !packed && !name.starts_with("v_pk_") && !name.contains("_mix");
            let registers_only =
                ["v_swap", "v_permlane", "v_readlane", "v_readfirst", "v_cvt_scalef32"];
            let registers_only = registers_only.iter().any(|p| name.starts_with(p));
            inst.src[i] = if plain && !registers_only && self.one_in(3) {
                uniform = true;
                self.uniform(ty, short)
            } else {
                Arg::V(self.vgpr(ty.dwords()))
            };
        }
        match name {
            "v_readlane_b32" => inst.src[1] = self.uniform(Ty::B32, false),
            "v_writelane_b32" => {
                inst.src[0] = Arg::S(self.sgpr(1));
                inst.src[1] = Arg::Int(self.below(64) as i8);
            }
            // With itself there is nothing to trade.
            "v_swap_b32" | "v_permlane16_swap_b32" | "v_permlane32_swap_b32" => {
                while inst.src[0] == inst.dst {
                    inst.src[0] = Arg::V(self.vgpr(1));
                }
            }
            "v_accvgpr_read_b32" | "v_accvgpr_mov_b32" => inst.src[0] = Arg::A(self.vgpr(1)),
            // The value is the denominator or the numerator.
            _ if name.starts_with("v_div_scale") => {
                let ty = info.src[0].dwords();
                inst.src = [0; 3].map(|_| Arg::V(self.vgpr(ty)));
                inst.src[0] = inst.src[1 + self.below(2) as usize];
            }
            "v_fmamk_f32" | "v_madmk_f16" => {
                let bits = self.literal(name);
                inst.src[1] = Arg::Literal(bits);
                inst.src[2] = Arg::V(self.vgpr(1));
            }
            "v_fmaak_f32" | "v_madak_f16" => {
                let bits = self.literal(name);
                inst.src[1] = Arg::V(self.vgpr(1));
                inst.src[2] = Arg::Literal(bits);
            }
            _ => return,
        }
        if ["v_fmamk", "v_madmk", "v_fmaak", "v_madak"].iter().any(|p| name.starts_with(p)) {
            // The one literal is taken.
            inst.src[0] = Arg::V(self.vgpr(1));
        }
    }

    fn literal(&mut self, name: &str) -> u32 {
        let kind = if name.ends_with("f16") { 3 } else { 2 };
        let value = self.value(kind);
        if name.ends_with("f16") { value & 0xffff | 0x100 } else { value | 0x100 }
    }

    fn movement(&mut self, inst: &mut Instruction) -> String {
        let n = 1 + self.below(15) as u8;
        let perm = [0; 4].map(|_| self.below(4) as u8);
        let (movement, text) = match self.below(6) {
            0 => {
                let [a, b, c, d] = perm;
                (Move::QuadPerm(perm), format!("quad_perm:[{a},{b},{c},{d}]"))
            }
            1 => (Move::RowShl(n), format!("row_shl:{n}")),
            2 => (Move::RowShr(n), format!("row_shr:{n}")),
            3 => (Move::RowRor(n), format!("row_ror:{n}")),
            4 => (Move::RowMirror, "row_mirror".to_owned()),
            _ => (Move::RowHalfMirror, "row_half_mirror".to_owned()),
        };
        inst.mods.movement = Some(movement);
        format!(" {text} row_mask:0xf bank_mask:0xf")
    }

    /// Modifiers of a long form that its syntax puts behind the operands.
    fn modifiers(&mut self, inst: &mut Instruction) -> String {
        let info = inst.op.info();
        let (name, sources) = (inst.name, info.src.len());
        let list = |mask: u8| {
            let bits: Vec<String> = (0..sources).map(|i| (mask >> i & 1).to_string()).collect();
            format!("[{}]", bits.join(","))
        };
        let mask = (1_u8 << sources.min(7)) - 1;
        if name.starts_with("v_bitop3") {
            inst.mods.table = self.next() as u8;
            return match inst.mods.table {
                0 => String::new(),
                table => format!(" bitop3:{table:#x}"),
            };
        }
        if name == "v_pk_mov_b32" {
            inst.mods.op_sel = self.next() as u8 & mask;
            return format!(" op_sel:{}", list(inst.mods.op_sel));
        }
        if name.starts_with("v_fma_mix") {
            inst.mods.op_sel_hi = self.next() as u8 & mask;
            inst.mods.op_sel = self.next() as u8 & inst.mods.op_sel_hi;
            inst.mods.neg = self.next() as u8 & mask;
            inst.mods.neg_hi = self.next() as u8 & mask;
            return format!(
                " op_sel:{} op_sel_hi:{}",
                list(inst.mods.op_sel),
                list(inst.mods.op_sel_hi)
            );
        }
        if name.starts_with("v_pk_") {
            inst.mods.op_sel = self.next() as u8 & mask;
            inst.mods.op_sel_hi = self.next() as u8 & mask;
            let mut text = format!(
                " op_sel:{} op_sel_hi:{}",
                list(inst.mods.op_sel),
                list(inst.mods.op_sel_hi)
            );
            if info.src.iter().all(|ty| matches!(ty, Ty::PkF16 | Ty::PkF32))
                && name != "v_pk_fmac_f16"
            {
                inst.mods.neg = self.next() as u8 & mask;
                inst.mods.neg_hi = self.next() as u8 & mask;
                text +=
                    &format!(" neg_lo:{} neg_hi:{}", list(inst.mods.neg), list(inst.mods.neg_hi));
            }
            return text;
        }
        let float = |ty: &Ty| matches!(ty, Ty::F16 | Ty::F32 | Ty::F64);
        let plain = [
            "v_cvt_",
            "v_ldexp",
            "v_div_",
            "v_cmp_class",
            "v_cmpx_class",
            "v_dot",
            "v_frexp",
            "v_cube",
        ];
        if plain.iter().any(|p| name.starts_with(p)) || !info.src.iter().all(float) {
            return String::new();
        }
        if self.one_in(2) {
            inst.mods.neg = self.next() as u8 & mask;
            inst.mods.abs = self.next() as u8 & mask;
        }
        if float(&info.dst) && self.one_in(4) {
            inst.mods.clamp = true;
            return " clamp".to_owned();
        }
        String::new()
    }
}

/// An operand with the signs that the syntax writes around it.
fn signed(inst: &Instruction, i: usize, text: String) -> String {
    let m = &inst.mods;
    if inst.name.starts_with("v_pk_") {
        return text;
    }
    let abs = if inst.name.starts_with("v_fma_mix") { m.neg_hi } else { m.abs };
    let text = if abs >> i & 1 == 1 { format!("|{text}|") } else { text };
    match inst.src[i] {
        _ if m.neg >> i & 1 == 0 => text,
        // A minus would be part of the number.
        Arg::Int(_) | Arg::Float(_) => format!("neg({text})"),
        _ => format!("-{text}"),
    }
}

fn show(arg: Arg, dwords: u8) -> String {
    let tuple = |prefix: char, n: u16| match dwords {
        0 | 1 => format!("{prefix}{n}"),
        _ => format!("{prefix}[{n}:{}]", n + u16::from(dwords) - 1),
    };
    match arg {
        Arg::None => "off".to_owned(),
        Arg::S(VCC) if dwords == 2 => "vcc".to_owned(),
        Arg::V(n) => tuple('v', n),
        Arg::A(n) => tuple('a', n),
        Arg::S(n) => tuple('s', n),
        Arg::Int(i) => i.to_string(),
        Arg::Float(x) => format!("{x:?}"),
        Arg::Literal(v) => format!("{v:#x}"),
    }
}
