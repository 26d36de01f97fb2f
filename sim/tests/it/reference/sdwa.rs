//! Parts of registers as operands and destination (SDWA).

/// A part of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Byte(u8),
    Word(u8),
    Dword,
}

impl Part {
    /// First bit and number of bits.
    fn bits(self) -> (u32, u32) {
        match self {
            Part::Byte(n) => (8 * u32::from(n), 8),
            Part::Word(n) => (16 * u32::from(n), 16),
            Part::Dword => (0, 32),
        }
    }
}

/// What an instruction reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    pub src: [Part; 2],
    /// Sources whose sign is extended; bit i is about source i.
    pub extend: u8,
    pub dst: Part,
    /// What becomes of the rest of the destination: 0 zero, 1 the sign above and zero below, 2 kept.
    pub unused: u8,
}

impl Parts {
    /// The part of a register that source `i` is.
    pub(super) fn select(&self, register: u32, i: usize) -> u32 {
        let (first, count) = self.src[i].bits();
        let field = (u64::from(register) >> first) & ((1 << count) - 1);
        let negative = field >> (count - 1) & 1 == 1;
        let extended = self.extend >> i & 1 == 1 && negative;
        (if extended { field | u64::MAX << count } else { field }) as u32
    }

    /// Whether the whole result is written.
    pub(super) fn writes_all(&self) -> bool {
        self.dst == Part::Dword
    }

    /// The destination with the result in its part.
    pub(super) fn place(&self, result: u32, old: u32) -> u32 {
        let (first, count) = self.dst.bits();
        (0..32).fold(0, |register, bit| {
            let value = match bit {
                _ if bit >= first && bit < first + count => result >> (bit - first) & 1,
                _ if self.unused == 2 => old >> bit & 1,
                _ if self.unused == 1 && bit >= first + count => result >> (count - 1) & 1,
                _ => 0,
            };
            register | value << bit
        })
    }
}
