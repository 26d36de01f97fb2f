//! The 64-byte kernel descriptor ("Kernel Descriptor" in LLVM's AMDGPU usage guide).

/// Fields of a kernel descriptor that a launch needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Static LDS bytes.
    pub group_size: u32,
    /// Private bytes per lane.
    pub private_size: u32,
    /// Kernarg bytes.
    pub kernarg_size: u32,
    /// Entry point relative to the descriptor.
    pub entry_offset: i64,
    rsrc1: u32,
    rsrc2: u32,
    rsrc3: u32,
    properties: u16,
    preload: u16,
}

impl Descriptor {
    /// Reads a descriptor; `None` if the slice is too short.
    pub fn parse(raw: &[u8]) -> Option<Self> {
        let u16_at = |at: usize| Some(u16::from_le_bytes(raw.get(at..at + 2)?.try_into().ok()?));
        let u32_at = |at: usize| Some(u32::from_le_bytes(raw.get(at..at + 4)?.try_into().ok()?));
        let entry_offset = i64::from_le_bytes(raw.get(16..24)?.try_into().ok()?);
        raw.get(..64)?;
        Some(Descriptor {
            group_size: u32_at(0)?,
            private_size: u32_at(4)?,
            kernarg_size: u32_at(8)?,
            entry_offset,
            rsrc3: u32_at(44)?,
            rsrc1: u32_at(48)?,
            rsrc2: u32_at(52)?,
            properties: u16_at(56)?,
            preload: u16_at(58)?,
        })
    }

    /// Registers allocated to a lane, accumulation registers included.
    pub fn vgprs(&self) -> u32 {
        ((self.rsrc1 & 0x3f) + 1) * 8
    }

    /// Index of the first accumulation register among them.
    pub fn acc_offset(&self) -> u32 {
        ((self.rsrc3 & 0x3f) + 1) * 4
    }

    /// Initial MODE: rounding and denormal modes, DX10 clamp, IEEE and the f16 overflow clamp.
    pub fn mode(&self) -> u32 {
        let bit = |from: u32, to: u32| (self.rsrc1 >> from & 1) << to;
        (self.rsrc1 >> 12 & 0xff) | bit(21, 8) | bit(23, 9) | bit(26, 23)
    }

    /// Whether the wave gets private memory.
    pub fn private_enabled(&self) -> bool {
        self.rsrc2 & 1 != 0
    }

    /// User SGPRs.
    pub fn user_sgprs(&self) -> u32 {
        self.rsrc2 >> 1 & 0x1f
    }

    /// Whether the workgroup id of a dimension is wanted.
    pub fn workgroup_id(&self, dimension: usize) -> bool {
        self.rsrc2 >> (7 + dimension as u32) & 1 != 0
    }

    /// Whether the workgroup info SGPR is wanted.
    pub fn workgroup_info(&self) -> bool {
        self.rsrc2 >> 10 & 1 != 0
    }

    /// Work-item id dimensions beyond x: 0, 1 or 2.
    pub fn work_item_dimensions(&self) -> u32 {
        self.rsrc2 >> 11 & 3
    }

    /// Whether the dispatch packet's address is wanted.
    pub fn dispatch_ptr(&self) -> bool {
        self.properties >> 1 & 1 != 0
    }

    /// Whether the queue's address is wanted.
    pub fn queue_ptr(&self) -> bool {
        self.properties >> 2 & 1 != 0
    }

    /// Whether the kernarg segment's address is wanted.
    pub fn kernarg_ptr(&self) -> bool {
        self.properties >> 3 & 1 != 0
    }

    /// Whether the dispatch id is wanted.
    pub fn dispatch_id(&self) -> bool {
        self.properties >> 4 & 1 != 0
    }

    /// Whether the private segment's size is wanted.
    pub fn private_segment_size(&self) -> bool {
        self.properties >> 6 & 1 != 0
    }

    /// What the descriptor asks for that these targets do not have.
    pub fn unsupported(&self) -> Option<&'static str> {
        if self.properties & 1 != 0 {
            Some("a private segment buffer (the target has architected flat scratch)")
        } else if self.properties >> 5 & 1 != 0 {
            Some("a flat scratch initialiser (the target has architected flat scratch)")
        } else if self.properties >> 10 & 1 != 0 {
            Some("wave32")
        } else if self.rsrc3 >> 16 & 1 != 0 {
            Some("threadgroup split mode")
        } else {
            None
        }
    }

    /// Kernarg dwords preloaded into user SGPRs: first dword and count.
    pub fn preload(&self) -> (u32, u32) {
        (u32::from(self.preload >> 7), u32::from(self.preload & 0x7f))
    }
}
