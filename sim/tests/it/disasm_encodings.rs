//! Every operation of every encoding, with random operands, against LLVM's disassembler: the same
//! text, and the same verdict on what is an instruction.

use std::collections::BTreeMap;

use cdna_sim::isa::{Arch, decode, disassemble};

use crate::tools;

/// Dwords per case: the longest instruction is four, and the rest keeps LLVM in step.
const SLOT: usize = 8;
const S_NOP: u32 = 0xbf80_0000;

/// A small deterministic generator (xorshift64*).
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    fn below(&mut self, n: u32) -> u32 {
        self.next() % n
    }

    /// True once in `n`.
    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// `value`, mostly zero: a field that most instructions do not have.
    fn rarely(&mut self, mask: u32) -> u32 {
        if self.one_in(4) { self.next() & mask } else { 0 }
    }

    /// A vector register number, mostly fit for a group.
    fn vgpr(&mut self) -> u32 {
        match self.below(8) {
            0 => self.below(224),
            _ => 2 * self.below(112),
        }
    }

    /// A scalar register number.
    fn sgpr(&mut self) -> u32 {
        const NAMED: [u32; 12] = [102, 103, 104, 106, 107, 108, 112, 120, 123, 124, 126, 127];
        match self.below(4) {
            0 => NAMED[self.below(12) as usize],
            1 => self.below(102),
            _ => 4 * self.below(22),
        }
    }

    /// A 9-bit source.
    fn source(&mut self) -> u32 {
        if self.one_in(20) { 255 } else { self.operand() }
    }

    /// A 9-bit source of an encoding without literals: LLVM's disassembler dies of those.
    fn operand(&mut self) -> u32 {
        match self.below(8) {
            0 | 1 => self.sgpr(),
            2 => 128 + self.below(81),
            3 => 235 + self.below(14),
            4 => 251 + self.below(4),
            _ => 256 + self.vgpr(),
        }
    }

    /// An 8-bit source of a scalar operation.
    fn scalar_source(&mut self) -> u32 {
        loop {
            let source = self.source();
            if source < 256 {
                return source;
            }
        }
    }

    /// The same without literals.
    fn scalar_operand(&mut self) -> u32 {
        loop {
            let source = self.operand();
            if source < 256 {
                return source;
            }
        }
    }

    /// A literal, often one that has an inline constant.
    fn literal(&mut self) -> u32 {
        const SPECIAL: [u32; 8] =
            [0, 1, 64, 0xffff_fff0, 0x3f80_0000, 0x3ff0_0000, 0x3c00, 0x3e22_f983];
        if self.one_in(2) { SPECIAL[self.below(8) as usize] } else { self.next() }
    }
}

type Generator = fn(u32, &mut Rng) -> Vec<u32>;

/// Name, number of opcodes, and a random instruction of an opcode.
static ENCODINGS: &[(&str, u32, Generator)] = &[
    ("sop1", 256, |op, r| {
        vec![0xbe80_0000 | r.sgpr() << 16 | op << 8 | (r.scalar_source()), r.literal()]
    }),
    ("sop2", 96, |op, r| {
        let src = (r.scalar_source()) | (r.scalar_source()) << 8;
        vec![0x8000_0000 | op << 23 | r.sgpr() << 16 | src, r.literal()]
    }),
    ("sopc", 128, |op, r| {
        vec![0xbf00_0000 | op << 16 | (r.scalar_source()) << 8 | (r.scalar_source()), r.literal()]
    }),
    ("sopk", 29, |op, r| {
        vec![0xb000_0000 | op << 23 | r.sgpr() << 16 | (r.next() & 0xffff), r.literal()]
    }),
    ("sopp", 128, |op, r| {
        let imm = if r.one_in(2) { r.below(100) } else { r.rarely(0xffff) };
        vec![0xbf80_0000 | op << 16 | imm]
    }),
    ("smem", 256, |op, r| {
        let flags = (r.next() & 6) << 14 | r.rarely(1) << 16 | r.rarely(1) << 15;
        let w1 = if r.one_in(3) { 0 } else { r.next() & 0x1f_ffff };
        vec![
            0xc000_0000 | op << 18 | flags | r.sgpr() << 6 | r.sgpr() >> 1,
            w1 | r.rarely(0x7f) << 25,
        ]
    }),
    ("vop1", 256, |op, r| vec![0x7e00_0000 | r.vgpr() << 17 | op << 9 | r.source(), r.literal()]),
    ("vop1 dpp", 256, |op, r| vec![0x7e00_00fa | r.vgpr() << 17 | op << 9, dpp(r)]),
    ("vop1 sdwa", 256, |op, r| vec![0x7e00_00f9 | r.vgpr() << 17 | op << 9, sdwa(r)]),
    ("vop2", 62, |op, r| vec![op << 25 | r.vgpr() << 17 | r.vgpr() << 9 | r.source(), r.literal()]),
    ("vop2 dpp", 62, |op, r| vec![op << 25 | r.vgpr() << 17 | r.vgpr() << 9 | 0xfa, dpp(r)]),
    ("vop2 sdwa", 62, |op, r| vec![op << 25 | r.vgpr() << 17 | r.vgpr() << 9 | 0xf9, sdwa(r)]),
    ("vopc", 256, |op, r| vec![0x7c00_0000 | op << 17 | r.vgpr() << 9 | r.source(), r.literal()]),
    ("vopc dpp", 256, |op, r| vec![0x7c00_00fa | op << 17 | r.vgpr() << 9, dpp(r)]),
    ("vopc sdwa", 256, |op, r| vec![0x7c00_00f9 | op << 17 | r.vgpr() << 9, sdwa(r)]),
    ("vop3", 896, |op, r| {
        let w = r.rarely(7) << 8 | r.rarely(15) << 11 | r.rarely(1) << 15;
        let w1 = r.rarely(7) << 29 | r.rarely(3) << 27 | r.operand() << 18;
        let dst = if r.one_in(3) { r.sgpr() } else { r.vgpr() };
        vec![0xd000_0000 | op << 16 | w | dst, w1 | r.operand() << 9 | r.operand()]
    }),
    // Opcodes 45 and 46 are matrix operations, which "mai" covers.
    ("vop3p", 44, |op, r| vop3p(op, r)),
    ("vop3p f32", 4, |op, r| vop3p(op + 48, r)),
    ("mai", 128, |op, r| {
        let (w, w1) = mai(r);
        vec![0xd380_0000 | op << 16 | w, w1]
    }),
    ("mai scale", 4, |op, r| {
        let (w, w1) = mai(r);
        let opsel = r.rarely(7) << 11 | r.rarely(7) << 8 | r.rarely(3) << 14;
        let scale = r.rarely(7) << 27 | (256 + r.vgpr()) << 9 | (256 + r.vgpr());
        let w = if r.one_in(4) { w } else { w & !0x7800 | 0x800 };
        vec![0xd3ac_0000 | opsel, scale, 0xd380_0000 | (op + 44) << 16 | w, w1]
    }),
    ("ds", 256, |op, r| {
        let fields = if r.one_in(4) { 0 } else { r.vgpr() << 24 };
        let data = if r.one_in(3) { 0 } else { r.vgpr() << 8 };
        let data1 = if r.one_in(2) { 0 } else { r.vgpr() << 16 };
        let offset = if r.one_in(3) { 0 } else { r.next() & 0xffff };
        vec![
            0xd800_0000 | op << 17 | r.rarely(1) << 25 | r.rarely(1) << 16 | offset,
            fields | data | data1 | if r.one_in(4) { 0 } else { r.vgpr() },
        ]
    }),
    ("flat", 128, |op, r| flat(op, 0, r)),
    ("scratch", 128, |op, r| flat(op, 1, r)),
    ("global", 128, |op, r| flat(op, 2, r)),
    ("mubuf", 128, |op, r| {
        let w = r.next() & 0x3fff | r.rarely(0xf) << 14;
        vec![0xe000_0000 | op << 18 | w, buffer(r)]
    }),
    ("mtbuf", 16, |op, r| {
        let w = r.next() & 0x3fff | r.rarely(1) << 14 | r.below(128) << 19;
        vec![0xe800_0000 | op << 15 | w, buffer(r) | r.rarely(3) << 21]
    }),
];

fn vop3p(op: u32, r: &mut Rng) -> Vec<u32> {
    let hi = if r.one_in(2) { 7 } else { r.next() & 7 };
    let w = r.rarely(7) << 8 | r.rarely(7) << 11 | (hi >> 2) << 14 | r.rarely(1) << 15;
    let w1 = r.rarely(7) << 29 | (hi & 3) << 27 | r.operand() << 18;
    let src = r.operand() << 9 | r.operand();
    vec![0xd380_0000 | op << 16 | w | r.vgpr(), w1 | src]
}

fn dpp(r: &mut Rng) -> u32 {
    const CONTROLS: [u32; 10] =
        [0x00, 0xe4, 0x101, 0x11f, 0x130, 0x13c, 0x140, 0x142, 0x143, 0x155];
    let ctrl = if r.one_in(2) { CONTROLS[r.below(10) as usize] } else { r.below(0x1ff) };
    let masks = if r.one_in(2) { 0xff } else { r.next() & 0xff };
    masks << 24 | r.rarely(15) << 20 | r.rarely(1) << 19 | ctrl << 8 | r.vgpr()
}

fn sdwa(r: &mut Rng) -> u32 {
    let w = r.below(7) << 24 | r.below(7) << 16 | r.below(7) << 8 | r.below(3) << 11;
    let signs = r.rarely(7) << 27 | r.rarely(7) << 19 | r.rarely(7) << 13;
    let scalar = r.rarely(1) << 31 | r.rarely(1) << 23;
    w | signs | scalar | if r.one_in(4) { r.scalar_operand() } else { r.vgpr() }
}

fn mai(r: &mut Rng) -> (u32, u32) {
    let src2 = if r.one_in(4) { 128 + r.below(81) } else { 256 + r.vgpr() };
    let codes = (256 + r.vgpr()) << 9 | (256 + r.vgpr());
    let w = r.rarely(1) << 15 | r.rarely(15) << 11 | r.rarely(7) << 8 | r.vgpr();
    (w, r.rarely(7) << 29 | r.rarely(3) << 27 | src2 << 18 | codes)
}

fn flat(op: u32, segment: u32, r: &mut Rng) -> Vec<u32> {
    let saddr = if r.one_in(2) { if segment == 0 { 0 } else { 0x7f } } else { r.sgpr() };
    let flags = r.rarely(3) << 16
        | r.rarely(1) << 25
        | r.rarely(0x1fff)
        | if segment == 1 { r.next() & 1 } else { r.rarely(1) } << 13;
    let vdst = if r.one_in(3) { 0 } else { r.vgpr() };
    let data = if r.one_in(3) { 0 } else { r.vgpr() };
    vec![
        0xdc00_0000 | op << 18 | segment << 14 | flags,
        vdst << 24 | r.rarely(1) << 23 | saddr << 16 | data << 8 | r.vgpr(),
    ]
}

fn buffer(r: &mut Rng) -> u32 {
    let soffset = if r.one_in(3) { 128 } else { r.scalar_operand() };
    let zero = r.one_in(4);
    let vaddr = if zero { 0 } else { r.vgpr() };
    soffset << 24 | r.rarely(1) << 23 | r.below(25) << 16 | r.vgpr() << 8 | vaddr
}

/// Whether a vector register group starts at an odd register.
fn has_odd_group(text: &str) -> bool {
    ["v[", "a["].iter().flat_map(|open| text.split(open).skip(1)).any(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        rest[digits.len()..].starts_with(':') && digits.parse().is_ok_and(|n: u32| n % 2 == 1)
    })
}

/// Cases per opcode and target.
const ROUNDS: usize = 12;

#[test]
fn every_encoding_disassembles_as_llvm_does() {
    if !tools::available(&[tools::MC, tools::OBJDUMP]) {
        return;
    }
    let dir = tools::scratch("disasm_encodings");
    let mut report = Vec::new();
    for arch in Arch::ALL {
        for &(name, opcodes, generate) in ENCODINGS {
            let mut rng = Rng(0x9e37_79b9_7f4a_7c15);
            let cases: Vec<Vec<u32>> = (0..opcodes)
                .flat_map(|op| std::iter::repeat_n(op, ROUNDS))
                .map(|op| generate(op, &mut rng))
                .collect();
            let bytes: Vec<u8> = cases
                .iter()
                .flat_map(|case| case.iter().copied().chain(std::iter::repeat(S_NOP)).take(SLOT))
                .flat_map(u32::to_le_bytes)
                .collect();
            let theirs: BTreeMap<u64, String> = tools::objdump_bytes(&dir, &bytes, arch)
                .into_iter()
                .map(|d| (d.address, d.text))
                .collect();
            for (i, case) in cases.iter().enumerate() {
                let at = i * SLOT * 4;
                let theirs = theirs.get(&(at as u64)).filter(|t| !t.starts_with(".long"));
                let ours = decode(&bytes[at..], arch).ok().map(|inst| disassemble(&inst));
                // LLVM prints some instructions that it says are invalid, names a register that
                // these targets do not have, and misses some misaligned register groups.
                if theirs
                    .is_some_and(|t| t.contains("/*") || t.contains("null") || has_odd_group(t))
                {
                    continue;
                }
                // It lacks one accumulation-register form.
                if ours.as_ref().is_some_and(|t| t.starts_with("global_atomic_add_f32 a")) {
                    continue;
                }
                if ours.as_ref() != theirs {
                    report.push(format!("{arch} {name} {case:08x?}: {ours:?}, LLVM {theirs:?}"));
                }
            }
        }
    }
    assert!(report.is_empty(), "{} differences:\n{}", report.len(), report.join("\n"));
}

#[test]
fn every_swizzle_pattern_has_the_name_that_llvm_gives_it() {
    if !tools::available(&[tools::MC, tools::OBJDUMP]) {
        return;
    }
    let dir = tools::scratch("disasm_swizzles");
    // ds_swizzle_b32 v12, v2
    let words = (0..=0xffffu32).flat_map(|offset| [0xd87a_0000 | offset, 0x0c00_0002]);
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    for (i, theirs) in tools::objdump_bytes(&dir, &bytes, Arch::Gfx942).iter().enumerate() {
        let inst = decode(&bytes[8 * i..], Arch::Gfx942).unwrap();
        assert_eq!(disassemble(&inst), theirs.text);
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_decode_or_are_refused(bytes in proptest::collection::vec(0u8.., 0..24)) {
        for arch in Arch::ALL {
            if let Ok(inst) = decode(&bytes, arch) {
                proptest::prop_assert!(usize::from(inst.size) <= bytes.len());
                proptest::prop_assert!(!disassemble(&inst).is_empty());
                cdna_sim::isa::regs(&inst);
                cdna_sim::isa::class(&inst, arch);
            }
            let lines = cdna_sim::isa::listing(&bytes, 0, arch);
            let covered: usize = lines.iter().map(|line| 4 * line.words.len()).sum();
            proptest::prop_assert_eq!(covered, bytes.len() / 4 * 4);
        }
    }
}
