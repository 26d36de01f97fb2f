//! A launch made of raw instruction words, for tests.

use crate::arch::ArchParams;
use crate::exec::{Flow, Lanes, Program, WAVE, Wave};
use crate::fault::{Fault, FaultKind};
use crate::isa::{self, Arch};
use crate::launch::Executed;
use crate::memory::AddressSpace;
use crate::timing::{Grid, Resources, Timing, simulate};

/// Device address that the code is decoded for.
const CODE: u64 = 0x10_0000;

/// v_add_f32_e32 v1, v2, v3
pub const V_ADD: &[u32] = &[0x0202_0702];
/// v_exp_f32_e32 v1, v2
pub const V_EXP: &[u32] = &[0x7e02_4102];
/// v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[10:11]
pub const V_PK_FMA: &[u32] = &[0xd3b0_4004, 0x1c2a_1106];
/// v_mfma_f32_16x16x16_f16 v[16:19], v[4:5], v[6:7], v[16:19]
pub const MFMA_16X16X16: &[u32] = &[0xd3cd_0010, 0x0442_0d04];
/// v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[6:7], v[16:31]
pub const MFMA_32X32X8: &[u32] = &[0xd3cc_0010, 0x0442_0d04];
/// v_mfma_f32_16x16x4_f32 v[16:19], v4, v6, v[16:19]
pub const MFMA_F32_16X16X4: &[u32] = &[0xd3c5_0010, 0x0442_0d04];
/// v_mfma_f32_16x16x32_f16 v[32:35], v[4:7], v[8:11], v[32:35] (gfx950)
pub const MFMA_16X16X32: &[u32] = &[0xd3d4_0020, 0x0482_1104];
/// v_mfma_f32_16x16x128_f8f6f4 v[32:35], v[4:11], v[12:19], v[32:35] (gfx950)
pub const MFMA_FP8: &[u32] = &[0xd3ad_0020, 0x0482_1904];
/// v_mfma_f32_16x16x128_f8f6f4 v[32:35], v[4:7], v[12:15], v[32:35] cbsz:4 blgp:4 (gfx950)
pub const MFMA_FP4: &[u32] = &[0xd3ad_0420, 0x8482_1904];
/// s_nop 3
pub const S_NOP_3: &[u32] = &[0xbf80_0003];
/// s_add_u32 s10, s10, s10
pub const S_ADD: &[u32] = &[0x800a_0a0a];
/// s_waitcnt vmcnt(0)
pub const WAIT_VM: &[u32] = &[0xbf8c_0f70];
/// s_waitcnt lgkmcnt(0)
pub const WAIT_LGKM: &[u32] = &[0xbf8c_c07f];
/// s_barrier
pub const BARRIER: &[u32] = &[0xbf8a_0000];
/// s_endpgm
pub const END: &[u32] = &[0xbf81_0000];
/// ds_read_b128 v[8:11], v1
pub const DS_READ_B128: &[u32] = &[0xd9fe_0000, 0x0800_0001];
/// ds_read_b32 v8, v1
pub const DS_READ_B32: &[u32] = &[0xd86c_0000, 0x0800_0001];
/// global_load_dword v8, v1, s[0:1]
pub const LOAD: &[u32] = &[0xdc50_8000, 0x0800_0001];
/// global_load_dwordx2 v[2:3], v[2:3], off
pub const CHASE: &[u32] = &[0xdc54_8000, 0x027f_0002];
/// global_store_short v1, v8, s[2:3]
pub const STORE_SHORT: &[u32] = &[0xdc68_8000, 0x0002_0801];
/// global_atomic_add v1, v8, s[0:1]
pub const ATOMIC_ADD: &[u32] = &[0xdd08_8000, 0x0000_0801];
/// s_load_dwordx2 s[8:9], s[0:1], 0x0
pub const S_LOAD: &[u32] = &[0xc006_0200, 0];

/// A launch: code, what its registers start with, and its size.
pub struct Bench {
    program: Program,
    /// Device memory.
    pub memory: AddressSpace,
    /// Workgroups.
    pub groups: [u32; 3],
    /// Registers, LDS and threads.
    pub resources: Resources,
    /// Value of v1 by thread of the workgroup.
    pub v1: fn(u32) -> u32,
    /// s[0:1], s[2:3] and v[2:3] of every lane; s4 is the workgroup, v0 the thread.
    pub pointers: [u64; 3],
}

impl Bench {
    /// One workgroup of one wave that runs `code` and ends.
    pub fn new(arch: Arch, code: &[&[u32]]) -> Self {
        let words = code.iter().copied().chain([END]).flatten();
        let bytes: Vec<u8> = words.flat_map(|w| w.to_le_bytes()).collect();
        Bench {
            program: isa::decode_text(&bytes, CODE, arch),
            memory: AddressSpace::new(64 << 30),
            groups: [1, 1, 1],
            resources: Resources { vgprs: 64, agprs: 0, sgprs: 32, lds: 0, threads: 64 },
            v1: |thread| 4 * thread,
            pointers: [0; 3],
        }
    }

    pub fn time(&self) -> Timing {
        simulate(self.params(), self).unwrap()
    }

    pub fn params(&self) -> &'static ArchParams {
        ArchParams::load(self.program.arch).unwrap()
    }

    fn wave(&self, id: u64, n: u32) -> Wave {
        let mut wave = Wave::new(64, 0, 0);
        wave.id = n;
        wave.set_exec(u64::MAX);
        wave.set_sgpr64(0, self.pointers[0]);
        wave.set_sgpr64(2, self.pointers[1]);
        wave.sgpr[4] = id as u32;
        let lanes = |value: &dyn Fn(u32) -> u32| {
            let mut lanes = Lanes::ZERO;
            for (lane, v) in (0..).zip(&mut lanes.0) {
                *v = value(n * WAVE as u32 + lane);
            }
            lanes
        };
        wave.vgpr[0] = lanes(&|thread| thread);
        wave.vgpr[1] = lanes(&self.v1);
        wave.vgpr[2] = lanes(&|_| self.pointers[2] as u32);
        wave.vgpr[3] = lanes(&|_| (self.pointers[2] >> 32) as u32);
        wave
    }
}

impl Grid for Bench {
    fn program(&self) -> &Program {
        &self.program
    }

    fn memory(&self) -> &AddressSpace {
        &self.memory
    }

    fn groups(&self) -> [u32; 3] {
        self.groups
    }

    fn resources(&self) -> Resources {
        self.resources
    }

    fn waves(&self, id: u64) -> Vec<Wave> {
        (0..self.resources.threads / WAVE as u32).map(|n| self.wave(id, n)).collect()
    }

    fn first_wave(&self, id: u64) -> Wave {
        self.wave(id, 0)
    }

    fn execute(&self, id: u64) -> Result<Executed, Fault> {
        let mut lds = vec![0; self.resources.lds as usize];
        let mut done = Executed::none(self.program.insts.len());
        done.workgroups = 1;
        for mut wave in self.waves(id) {
            let mut ctx = crate::exec::Ctx {
                program: &self.program,
                mem: &self.memory,
                lds: &mut lds,
                access: Default::default(),
                clock: 0,
            };
            loop {
                let pc = wave.pc;
                done.counts[pc] += 1;
                match crate::exec::step(&mut wave, &mut ctx) {
                    Ok(Flow::End) => break,
                    Ok(_) => {}
                    Err(kind) => return Err(self.fault(kind, id, wave.id, pc)),
                }
            }
        }
        Ok(done)
    }

    fn fault(&self, kind: FaultKind, id: u64, wave: u32, pc: usize) -> Fault {
        let inst = self.program.insts.get(pc).map_or("", |i| i.op.info().name);
        Fault {
            kind,
            kernel: "bench".into(),
            pc: pc as u64,
            inst: inst.into(),
            workgroup: [id as u32, 0, 0],
            wave,
        }
    }
}

/// `code` repeated `n` times.
pub fn repeat<'a>(code: &[&'a [u32]], n: usize) -> Vec<&'a [u32]> {
    code.iter().copied().cycle().take(code.len() * n).collect()
}

/// Clocks that each of many repetitions of `code` takes in one wave (or, with `threads`, in each
/// wave of one workgroup), without what the launch costs.
pub fn clk_each(arch: Arch, code: &[&[u32]], setup: impl Fn(&mut Bench)) -> f64 {
    let run = |n: usize| {
        let mut bench = Bench::new(arch, &repeat(code, n));
        setup(&mut bench);
        bench.time().cycles as f64
    };
    (run(192) - run(64)) / 128.0
}
