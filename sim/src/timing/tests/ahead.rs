//! Instructions that execute before they issue, and walks that leave instructions out: nobody sees it.

use std::ops::ControlFlow;

use super::bench::*;
use crate::fault::FaultKind;
use crate::isa::Arch::Gfx950;
use crate::timing::prober::Prober;
use crate::timing::{TimingError, simulate};

/// s_memtime s[8:9] and s[10:11]
const CLOCKS: [&[u32]; 2] = [&[0xc090_0200, 0], &[0xc090_0280, 0]];
/// s_sub_u32 s12, s10, s8; v_mov_b32 v8, s12
const DIFFERENCE: &[u32] = &[0x808c_080a, 0x7e10_020c];
/// global_store_dword v1, v8, s[2:3]
const STORE: &[u32] = &[0xdc70_8000, 0x0002_0801];
/// s_getreg_b32 s5, hwreg(HW_REG_GPR_ALLOC), which is not there
const BAD_GETREG: &[u32] = &[0xb885_f805];

/// Between two readings of the clock: the first has to arrive, then `adds` vector additions of 4 clk.
#[test]
fn the_clock_is_read_when_its_turn_to_issue_comes() {
    let difference = |adds| {
        let adds = repeat(&[V_ADD], adds);
        let code = [&[CLOCKS[0], WAIT_LGKM], &adds[..], &[CLOCKS[1], WAIT_LGKM, DIFFERENCE, STORE]];
        let mut bench = Bench::new(Gfx950, &code.concat());
        let buffer = bench.memory.alloc(4096).unwrap();
        bench.pointers[1] = buffer;
        bench.time();
        let mut word = [0; 4];
        assert!(bench.memory.read(buffer, &mut word));
        u32::from_le_bytes(word)
    };
    assert_eq!(difference(25) - difference(5), 20 * 4);
}

/// Instruction 5 faults. It follows four that execute together with the first of them.
#[test]
fn a_fault_is_that_of_its_own_instruction() {
    let bench = Bench::new(Gfx950, &[V_ADD, V_ADD, S_ADD, WAIT_VM, V_ADD, BAD_GETREG, V_ADD]);
    let error = simulate(bench.params(), &bench).unwrap_err();
    let TimingError::Fault(fault) = error else { panic!("{error}") };
    assert_eq!((fault.pc, fault.wave), (5, 0));
    assert!(matches!(fault.kind, FaultKind::Unimplemented { .. }), "{}", fault.kind);
}

/// v5 = 128 * s4 + v1, loaded from; v9 = v8 * v8; unless s4 is 3, v5 += v1; loaded from; v9 stored.
const LOADS: &[&[u32]] = &[
    &[0x8e05_8704, 0x680a_0205],
    &[0xdc50_8000, 0x0800_0005],
    &[0x0a12_1108],
    &[0xbf06_8304, 0xbf85_0001],
    &[0x680a_0305],
    &[0xdc50_8000, 0x0800_0005],
    STORE_SHORT,
];

/// Walks `ids` and returns, for each, the instructions and the sums of the addresses of the loads.
fn walks(prober: &mut Prober<'_, Bench>, ids: &[u64]) -> Vec<(Vec<usize>, Vec<u64>)> {
    let mut walk = |&id: &u64| {
        let (mut path, mut sums) = (Vec::new(), Vec::new());
        prober.walk(id, 100, |pc, load| {
            path.push(pc);
            sums.extend(load.map(|access| access.addr.iter().sum::<u64>()));
            ControlFlow::Continue(())
        });
        (path, sums)
    };
    ids.iter().map(&mut walk).collect()
}

#[test]
fn a_walk_along_the_trail_of_another_sees_the_same_as_one_alone() {
    let mut bench = Bench::new(Gfx950, LOADS);
    let buffer = bench.memory.alloc(1 << 20).unwrap();
    bench.pointers[0] = buffer;
    let ids = [0, 1, 3, 2, 3, 7];
    let together = walks(&mut Prober::new(bench.params(), &bench), &ids);
    for (&id, seen) in ids.iter().zip(&together) {
        let alone = walks(&mut Prober::new(bench.params(), &bench), &[id]);
        assert_eq!(seen, &alone[0], "workgroup {id}");
        // 64 lanes at 128 * id + 4 * lane, and then 4 * lane further, but not of workgroup 3.
        let first = 64 * (buffer + 128 * id) + 4 * 2016;
        let second = if id == 3 { first } else { first + 4 * 2016 };
        assert_eq!(seen.1, [first, second]);
        assert_eq!(seen.0.len(), if id == 3 { 7 } else { 8 });
    }
}
