//! Operations on several lanes or on many registers of a lane at once.

use cdna_sim::isa::Ty;

use super::loose::Loose;
use super::vector::Exactness;
use super::{Arg, EXEC, Instruction, Machine, convert};

impl Machine {
    /// Operations that move values between lanes or to scalar registers.
    pub(super) fn crosses_lanes(&mut self, inst: &Instruction, name: &str) -> bool {
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
    pub(super) fn block(&mut self, inst: &Instruction, name: &str) -> Option<Vec<Loose>> {
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
