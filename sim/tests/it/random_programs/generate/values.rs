//! Random registers to run programs on: values of all kinds, special ones among them.

use cdna_sim::isa::Arch;

use super::Generator;
use crate::reference::Machine;

impl Generator {
    /// A machine with registers full of values of all kinds.
    pub fn machine(&mut self) -> Machine {
        let mut machine = Machine {
            sgpr: [0; 128],
            scc: self.one_in(2),
            vgpr: vec![[0; 64]; 2 * Machine::ACC],
            fnuz: self.arch == Arch::Gfx942,
            mode: 0,
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

    pub(super) fn value(&mut self, kind: u32) -> u32 {
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
}
