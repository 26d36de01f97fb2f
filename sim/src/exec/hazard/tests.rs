//! Small sequences whose waits are missing or not, by the counter rules; and random walks over the
//! control flow of code objects made by clang, whose waits are complete on every path.

use super::*;
use crate::code_object::CodeObject;
use crate::exec::Program;
use crate::isa::{Enc, Mods, Operand, decode_text};

fn inst(op: Op, enc: Enc, dst: Operand, src: [Operand; 3]) -> Footprint {
    let inst = Inst {
        op,
        enc,
        size: 8,
        dst,
        sdst: Operand::None,
        src,
        imm: 0,
        mods: Mods::default(),
        scale: None,
    };
    Footprint::of(&inst, Arch::Gfx942)
}

const NONE: Operand = Operand::None;
const V: fn(u16) -> Operand = Operand::Vgpr;
const S: fn(u16) -> Operand = Operand::Sgpr;

/// Loads v[dst:dst+1] from the address in v[0:1].
fn global_load(dst: u16) -> Footprint {
    inst(Op::GlobalLoadDwordx2, Enc::Global, V(dst), [V(0), NONE, NONE])
}

fn flat_load(dst: u16) -> Footprint {
    inst(Op::FlatLoadDword, Enc::Flat, V(dst), [V(0), NONE, NONE])
}

fn store(data: u16) -> Footprint {
    inst(Op::GlobalStoreDword, Enc::Global, NONE, [V(0), V(data), NONE])
}

fn lds_read(dst: u16) -> Footprint {
    inst(Op::DsReadB32, Enc::Ds, V(dst), [V(1), NONE, NONE])
}

fn scalar_load(dst: u16) -> Footprint {
    inst(Op::SLoadDwordx2, Enc::Smem, S(dst), [S(0), NONE, NONE])
}

fn mov(dst: u16, src: Operand) -> Footprint {
    inst(Op::VMovB32, Enc::Vop1, V(dst), [src, NONE, NONE])
}

fn waitcnt(vector: i32, lds: i32) -> Footprint {
    let imm = vector & 15 | (vector >> 4) << 14 | 7 << 4 | lds << 8;
    let mut inst = Inst {
        op: Op::SWaitcnt,
        enc: Enc::Sopp,
        size: 4,
        dst: NONE,
        sdst: NONE,
        src: [NONE; 3],
        imm: 0,
        mods: Mods::default(),
        scale: None,
    };
    inst.imm = imm;
    Footprint::of(&inst, Arch::Gfx942)
}

/// Register named by the first fault of a sequence.
fn fault(sequence: &[Footprint]) -> Option<String> {
    let mut tracker = Tracker::default();
    sequence.iter().find_map(|f| match tracker.check(f) {
        Err(FaultKind::UnmetWait { register }) => Some(register),
        Err(other) => panic!("{other}"),
        Ok(()) => None,
    })
}

fn found(register: &str) -> Option<String> {
    Some(register.to_owned())
}

const ALL: i32 = 63;

#[test]
fn a_loaded_register_may_not_be_read_or_overwritten_before_its_wait() {
    assert_eq!(fault(&[global_load(4), mov(9, V(5))]), found("v5"));
    assert_eq!(fault(&[global_load(4), mov(4, V(0))]), found("v4"));
    assert_eq!(fault(&[global_load(4), store(4)]), found("v4"));
    assert_eq!(fault(&[global_load(4), mov(6, V(3)), waitcnt(0, 15), mov(9, V(5))]), None);
    assert_eq!(fault(&[lds_read(4), waitcnt(0, 15), mov(9, V(4))]), found("v4"));
    assert_eq!(fault(&[scalar_load(20), mov(9, S(21))]), found("s21"));
    assert_eq!(fault(&[scalar_load(20), waitcnt(ALL, 0), mov(9, S(21))]), None);
    assert_eq!(fault(&[scalar_load(106), mov(9, S(107))]), found("vcc_hi"));
}

#[test]
fn vector_memory_and_lds_return_in_order() {
    let loads = [global_load(4), global_load(6), store(3)];
    let after = |wait, reg| fault(&[&loads[..], &[wait, mov(9, V(reg))]].concat());
    // The store counts as well: with two outstanding, only the first load is back.
    assert_eq!(after(waitcnt(2, 15), 4), None);
    assert_eq!(after(waitcnt(2, 15), 6), found("v6"));
    assert_eq!(after(waitcnt(1, 15), 6), None);
    let reads = [lds_read(4), lds_read(5)];
    let after = |wait, reg| fault(&[&reads[..], &[wait, mov(9, V(reg))]].concat());
    assert_eq!(after(waitcnt(ALL, 1), 4), None);
    assert_eq!(after(waitcnt(ALL, 1), 5), found("v5"));
    // Loads of one kind may follow each other into the same register.
    assert_eq!(fault(&[global_load(4), global_load(4)]), None);
    assert_eq!(fault(&[global_load(4), lds_read(4)]), found("v4"));
    // More than 15 outstanding need the high bits of vmcnt.
    let many: Vec<Footprint> = (0..20).map(|i| global_load(20 + 2 * i)).collect();
    let after = |wait, reg| fault(&[&many[..], &[wait, mov(9, V(reg))]].concat());
    assert_eq!(after(waitcnt(17, 15), 24), None);
    assert_eq!(after(waitcnt(17, 15), 26), found("v26"));
}

#[test]
fn scalar_loads_and_flat_operations_need_a_wait_for_zero() {
    let sequence = |wait| [scalar_load(20), lds_read(4), wait, mov(9, V(4))];
    assert_eq!(fault(&sequence(waitcnt(ALL, 1))), found("v4"));
    assert_eq!(fault(&sequence(waitcnt(ALL, 0))), None);
    let sequence = |wait| [flat_load(4), global_load(6), wait, mov(9, V(4))];
    assert_eq!(fault(&sequence(waitcnt(1, 0))), found("v4"));
    assert_eq!(fault(&sequence(waitcnt(0, 15))), found("v4"));
    assert_eq!(fault(&sequence(waitcnt(0, 0))), None);
}

/// Directory of the bundled kernels' code objects.
fn prebuilt(arch: Arch) -> Vec<(String, CodeObject)> {
    let dir = format!("{}/../kernels/prebuilt/{arch}", env!("CARGO_MANIFEST_DIR"));
    let mut objects: Vec<_> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let object = CodeObject::parse(&std::fs::read(&path).unwrap(), Some(arch)).unwrap();
            (path.display().to_string(), object)
        })
        .collect();
    objects.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(!objects.is_empty());
    objects
}

/// Walks `steps` instructions from `entry`, taking conditional branches at random; `keep` drops
/// instructions from the tracker's view.
fn walk(
    program: &Program,
    prints: &[Footprint],
    entry: usize,
    seed: &mut u64,
    keep: impl Fn(&Inst) -> bool,
) -> Result<usize, (usize, FaultKind)> {
    let mut tracker = Tracker::default();
    let mut pc = entry;
    for step in 0..4000 {
        let inst = &program.insts[pc];
        if keep(inst) {
            tracker.check(&prints[pc]).map_err(|fault| (pc, fault))?;
        }
        let name = inst.op.info().name;
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let jump = match inst.op {
            Op::SEndpgm | Op::SSetpcB64 | Op::SSwappcB64 | Op::STrap => return Ok(step),
            Op::SBranch => true,
            _ => name.starts_with("s_cbranch_") && *seed >> 63 == 1,
        };
        let next = program.addr[pc] + u64::from(inst.size);
        let target = if jump { next.wrapping_add_signed(4 * i64::from(inst.imm)) } else { next };
        pc = program.index_of(target).unwrap();
    }
    Ok(4000)
}

#[test]
fn code_by_clang_waits_for_everything_and_not_without_its_waits() {
    let mut walked = 0;
    for arch in Arch::ALL {
        for (file, object) in prebuilt(arch) {
            let program = decode_text(object.code(), object.text.addr, arch);
            let prints: Vec<_> = program.insts.iter().map(|i| Footprint::of(i, arch)).collect();
            for kernel in &object.kernels {
                let entry = program.index_of(kernel.entry).unwrap();
                let mut seed = 1;
                let mut caught = 0;
                for _ in 0..20 {
                    match walk(&program, &prints, entry, &mut seed, |_| true) {
                        Ok(steps) => walked += steps,
                        Err((pc, fault)) => panic!(
                            "{file} {} +{:#x} {}: {fault}",
                            kernel.name,
                            program.addr[pc] - kernel.entry,
                            program.insts[pc].op.info().name
                        ),
                    }
                    let blind = |inst: &Inst| inst.op != Op::SWaitcnt;
                    caught +=
                        usize::from(walk(&program, &prints, entry, &mut seed, blind).is_err());
                }
                assert_eq!(caught, 20, "{file} {}", kernel.name);
            }
        }
    }
    assert!(walked > 100_000, "{walked}");
}
