//! What the tests of this folder share: running a few encoded instructions on a fresh wave.

use super::{Ctx, Flow, Lanes, MemAccess, Program, WAVE, Wave, run};
use crate::fault::FaultKind;
use crate::isa::{Arch, decode_text};
use crate::memory::AddressSpace;

/// Device address that test programs are loaded at.
pub(super) const BASE: u64 = 0x1000;

/// A wave with 64 registers of each kind, all lanes enabled and the usual mode: all denormals,
/// IEEE, DX10 clamp.
pub(super) fn wave() -> Wave {
    let mut wave = Wave::new(64, 64, 0);
    wave.set_exec(u64::MAX);
    wave.mode = 0x3f0;
    wave
}

/// The program that `words` encode.
pub(super) fn program(arch: Arch, words: &[u32]) -> Program {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    decode_text(&bytes, BASE, arch)
}

/// Runs `words` to their end, or to a barrier or `s_endpgm` in them.
pub(super) fn try_run(arch: Arch, words: &[u32], wave: &mut Wave) -> Result<Flow, FaultKind> {
    let program = program(arch, words);
    let mem = AddressSpace::new(1 << 20);
    let mut lds = [0; 64];
    let mut ctx =
        Ctx { program: &program, mem: &mem, lds: &mut lds, access: MemAccess::default(), clock: 0 };
    let mut flow = Flow::Next;
    // More than enough for any loop in a test.
    for _ in 0..10_000 {
        if wave.pc >= program.insts.len() || matches!(flow, Flow::End | Flow::Barrier) {
            break;
        }
        flow = run(wave, &mut ctx, 1)?.0;
    }
    Ok(flow)
}

/// As [`try_run`] on gfx950, where nothing may fail.
pub(super) fn execute(words: &[u32], wave: &mut Wave) -> Flow {
    match try_run(Arch::Gfx950, words, wave) {
        Ok(flow) => flow,
        Err(fault) => panic!("{fault}"),
    }
}

/// A register whose lanes are `f` of their number.
pub(super) fn lanes(f: impl FnMut(usize) -> u32) -> Lanes {
    Lanes(std::array::from_fn(f))
}

/// A register pair whose lanes are `f` of their number.
pub(super) fn pairs(mut f: impl FnMut(usize) -> u64) -> [Lanes; 2] {
    let values: [u64; WAVE] = std::array::from_fn(&mut f);
    [lanes(|i| values[i] as u32), lanes(|i| (values[i] >> 32) as u32)]
}

/// Lane `i` of a register pair.
pub(super) fn pair(wave: &Wave, register: usize, i: usize) -> u64 {
    u64::from(wave.vgpr[register].0[i]) | u64::from(wave.vgpr[register + 1].0[i]) << 32
}

/// A reproducible stream of 64-bit numbers (splitmix64).
pub(super) fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
