//! Random straight-line programs, assembled by LLVM, run instruction by instruction by the simulator
//! and by the [`reference`](crate::reference), which must agree on every register after each.

mod generate;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::process::Command;

use cdna_sim::exec::{Ctx, Lanes, MemAccess, Wave, step};
use cdna_sim::fault::FaultKind;
use cdna_sim::isa::{Arch, decode, decode_text, disassemble};
use cdna_sim::memory::AddressSpace;

use crate::reference::{Instruction, Machine};
use crate::tools;
use generate::{Generator, Line, Program};

/// Programs for each target.
const PROGRAMS: usize = 5_500;

/// What happened on one target, by mnemonic.
#[derive(Default)]
struct Coverage {
    compared: BTreeMap<&'static str, u64>,
    not_implemented: BTreeSet<&'static str>,
    no_reference: BTreeSet<&'static str>,
    /// First disagreement.
    wrong: BTreeMap<&'static str, String>,
    programs: usize,
    instructions: u64,
    /// How many instructions used a feature of the encodings or the MODE register.
    kinds: BTreeMap<&'static str, u64>,
}

/// Features, and whether an instruction used them.
fn kinds(inst: &Instruction, mode: u32) -> [(&'static str, bool); 7] {
    let m = &inst.mods;
    [
        ("DPP", m.movement.is_some()),
        ("SDWA", m.parts.is_some()),
        ("op_sel", m.op_sel != 0),
        ("clamp", m.clamp),
        ("omod", m.omod != 0 && mode & 1 << 9 == 0 && mode & 0xa0 != 0xa0),
        ("directed rounding", mode & 15 != 0),
        ("denormals flushed", mode & 0xf0 != 0xf0),
    ]
}

#[test]
fn random_programs_do_what_the_isa_documents_say() {
    if !tools::available(&[tools::MC]) {
        return;
    }
    let [old, new] = [Arch::Gfx942, Arch::Gfx950].map(run);
    let mut implemented = BTreeSet::new();
    for (arch, coverage) in [(Arch::Gfx942, &old), (Arch::Gfx950, &new)] {
        println!(
            "{arch}: {} programs, {} instructions compared, {} operations; not implemented: {:?}",
            coverage.programs,
            coverage.instructions,
            coverage.compared.len(),
            coverage.not_implemented
        );
        println!("{arch}: {:?}", coverage.kinds);
        implemented.extend(coverage.compared.keys().copied());
        let wrong: Vec<&str> = coverage.wrong.values().map(String::as_str).collect();
        assert!(wrong.is_empty(), "{} operations differ:\n{}", wrong.len(), wrong.join("\n"));
        assert!(coverage.kinds.values().all(|&n| n >= 100), "{arch}: {:?}", coverage.kinds);
        assert!(coverage.no_reference.is_empty(), "no reference for {:?}", coverage.no_reference);
    }
    let all: BTreeSet<&str> = generate::names().collect();
    let missing: Vec<&&str> = all
        .iter()
        .filter(|name| !implemented.contains(*name))
        .filter(|name| !new.not_implemented.contains(*name))
        .collect();
    let compared = all.intersection(&implemented).count();
    println!("{compared} of {} operations compared; left: {missing:?}", all.len());
    assert!(old.programs + new.programs >= 10_000);
    assert!(missing.is_empty(), "never compared: {missing:?}");
}

fn run(arch: Arch) -> Coverage {
    let mut generator = Generator::new(arch);
    let programs: Vec<Program> = (0..PROGRAMS).map(|_| generator.program()).collect();
    let encodings = assemble(arch, &programs);
    let mut coverage = Coverage::default();
    for (program, encodings) in programs.iter().zip(encodings) {
        // What LLVM refuses (a second scalar register, overlapping tuples) is left out.
        let lines: Vec<(&Line, Vec<u8>)> =
            program.lines.iter().zip(encodings).filter_map(|(l, e)| e.map(|e| (l, e))).collect();
        if !lines.is_empty() {
            coverage.programs += 1;
            compare(arch, program.mode, &lines, &mut generator, &mut coverage);
        }
    }
    coverage
}

/// Encodings of all lines, `None` where LLVM has an objection.
fn assemble(arch: Arch, programs: &[Program]) -> Vec<Vec<Option<Vec<u8>>>> {
    let dir = tools::scratch(&format!("random_programs_{arch}"));
    let mut text = String::new();
    for (i, line) in programs.iter().flat_map(|program| &program.lines).enumerate() {
        writeln!(text, "L{i}:\n\t{}", line.text).unwrap();
    }
    let source = dir.join("programs.s");
    std::fs::write(&source, text).unwrap();
    let output = Command::new(tools::MC)
        .args(["--triple=amdgcn-amd-amdhsa", &format!("--mcpu={arch}"), "--show-encoding"])
        .arg(&source)
        .output()
        .unwrap();
    let mut found: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    let mut current = 0;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some(label) = line.strip_prefix('L').and_then(|l| l.strip_suffix(':')) {
            current = label.parse().unwrap();
        } else if let Some((_, rest)) = line.split_once("encoding: [") {
            let byte = |b: &str| u8::from_str_radix(b.trim_start_matches("0x"), 16).unwrap();
            found.insert(current, rest.trim_end_matches(']').split(',').map(byte).collect());
        }
    }
    let mut next = 0;
    programs
        .iter()
        .map(|program| {
            let first = next;
            next += program.lines.len();
            (first..next).map(|i| found.remove(&i)).collect()
        })
        .collect()
}

fn compare(
    arch: Arch,
    mode: u32,
    lines: &[(&Line, Vec<u8>)],
    generator: &mut Generator,
    coverage: &mut Coverage,
) {
    let bytes: Vec<u8> = lines.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
    let program = decode_text(&bytes, 0, arch);
    if let Some((line, _)) = lines.iter().find(|(_, bytes)| decode(bytes, arch).is_err()) {
        let report = format!("{arch}: {} is not decoded", line.text);
        coverage.wrong.entry(line.inst.name).or_insert(report);
        return;
    }
    let mut machine = generator.machine();
    let mut wave = Wave::new(Machine::ACC, machine.vgpr.len() - Machine::ACC, 0);
    machine.mode = mode;
    wave.mode = mode;
    wave.sgpr = machine.sgpr;
    wave.scc = machine.scc;
    wave.vgpr = machine.vgpr.iter().map(|r| Lanes(*r)).collect();
    let mem = AddressSpace::new(0);
    let mut ctx =
        Ctx { program: &program, mem: &mem, lds: &mut [], access: MemAccess::default(), clock: 0 };
    for (line, _) in lines {
        let inst = &line.inst;
        let decoded = program.insts.get(wave.pc).map(disassemble).unwrap_or_default();
        match step(&mut wave, &mut ctx) {
            Ok(_) => {}
            Err(FaultKind::Unimplemented { .. }) => {
                coverage.not_implemented.insert(inst.name);
                return;
            }
            Err(fault) => {
                coverage
                    .wrong
                    .entry(inst.name)
                    .or_insert(format!("{arch}: {}: {fault}", line.text));
                return;
            }
        }
        let before = machine.clone();
        let Some(loose) = machine.execute(inst) else {
            coverage.no_reference.insert(inst.name);
            return;
        };
        for loose in loose {
            let value = |registers: &dyn Fn(usize) -> u32| {
                loose.registers().rev().fold(0, |v, r| v << 32 | u64::from(registers(r)))
            };
            let expected = value(&|r| machine.vgpr[r][loose.lane]);
            let actual = value(&|r| wave.vgpr[r].0[loose.lane]);
            if loose.agrees(expected, actual) {
                loose
                    .registers()
                    .for_each(|r| machine.vgpr[r][loose.lane] = wave.vgpr[r].0[loose.lane]);
            }
        }
        if let Some(difference) = difference(&machine, &wave) {
            let operands = operands(&before, inst, &machine, &wave);
            let report = format!("{arch}: {} ({decoded}): {difference}; {operands}", line.text);
            coverage.wrong.entry(inst.name).or_insert(report);
            return;
        }
        *coverage.compared.entry(inst.name).or_default() += 1;
        coverage.instructions += 1;
        for (kind, used) in kinds(inst, machine.mode) {
            *coverage.kinds.entry(kind).or_default() += u64::from(used);
        }
    }
}

fn difference(machine: &Machine, wave: &Wave) -> Option<String> {
    if machine.scc != wave.scc {
        return Some(format!("scc is {}, not {}", wave.scc, machine.scc));
    }
    if let Some(n) = (0..128).find(|&n| machine.sgpr[n] != wave.sgpr[n]) {
        return Some(format!("s{n} is {:#x}, not {:#x}", wave.sgpr[n], machine.sgpr[n]));
    }
    let (r, expected) =
        machine.vgpr.iter().enumerate().find(|(r, expected)| **expected != wave.vgpr[*r].0)?;
    let lane = (0..64).find(|&lane| expected[lane] != wave.vgpr[r].0[lane])?;
    let (expected, actual) = (expected[lane], wave.vgpr[r].0[lane]);
    Some(format!("register {r} lane {lane} is {actual:#010x}, not {expected:#010x}"))
}

/// The values of the first lane that differs, for the report.
fn operands(before: &Machine, inst: &Instruction, after: &Machine, wave: &Wave) -> String {
    let lane = (0..64)
        .find(|&lane| (0..after.vgpr.len()).any(|r| after.vgpr[r][lane] != wave.vgpr[r].0[lane]))
        .unwrap_or(0);
    let sources = inst.src.iter().chain([&inst.dst]);
    let values: Vec<String> =
        sources.map(|&arg| format!("{arg:?} = {:#018x}", before.wide_operand(arg, lane))).collect();
    values.join(", ")
}
