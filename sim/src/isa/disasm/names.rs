//! Symbolic names of encoded fields: wait counters, hardware registers, messages, buffer formats
//! and lane swizzles.

/// `s_waitcnt` counters. A counter at its maximum is not waited for and not printed, unless all
/// are.
pub fn waitcnt(simm: u16) -> String {
    let vmcnt = simm & 15 | simm >> 10 & 0x30;
    let expcnt = simm >> 4 & 7;
    let lgkmcnt = simm >> 8 & 15;
    let counters = [("vmcnt", vmcnt, 63), ("expcnt", expcnt, 7), ("lgkmcnt", lgkmcnt, 15)];
    let all = counters.iter().all(|&(_, value, max)| value == max);
    counters
        .iter()
        .filter(|&&(_, value, max)| all || value != max)
        .map(|(name, value, _)| format!("{name}({value})"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// A field of a hardware register: id, first bit, width.
pub fn hwreg(simm: u16) -> String {
    let (id, offset, width) = (simm & 0x3f, simm >> 6 & 0x1f, (simm >> 11) + 1);
    let name = HWREGS
        .iter()
        .find(|r| r.0 == id)
        .map_or_else(|| id.to_string(), |r| format!("HW_REG_{}", r.1));
    if (offset, width) == (0, 32) {
        format!("hwreg({name})")
    } else {
        format!("hwreg({name}, {offset}, {width})")
    }
}

/// Hardware registers by id.
static HWREGS: &[(u16, &str)] = &[
    (1, "MODE"),
    (2, "STATUS"),
    (3, "TRAPSTS"),
    (4, "HW_ID"),
    (5, "GPR_ALLOC"),
    (6, "LDS_ALLOC"),
    (7, "IB_STS"),
    (15, "SH_MEM_BASES"),
    (16, "TBA_LO"),
    (17, "TBA_HI"),
    (18, "TMA_LO"),
    (19, "TMA_HI"),
    (20, "XCC_ID"),
    (21, "SQ_PERF_SNAPSHOT_DATA"),
    (22, "SQ_PERF_SNAPSHOT_DATA1"),
    (23, "SQ_PERF_SNAPSHOT_PC_LO"),
    (24, "SQ_PERF_SNAPSHOT_PC_HI"),
];

/// A message: id, operation, stream.
pub fn sendmsg(simm: u16) -> String {
    let (id, op, stream) = (simm & 15, simm >> 4 & 7, simm >> 8 & 3);
    let plain = if simm == id | op << 4 | stream << 8 {
        format!("sendmsg({id}, {op}, {stream})")
    } else {
        simm.to_string()
    };
    let Some((_, name)) = MESSAGES.iter().find(|m| m.0 == id) else {
        return plain;
    };
    match id {
        2 | 3 => match (GS_OPS.get(usize::from(op)), op) {
            (Some(gs), 1..) => format!("sendmsg({name}, {gs}, {stream})"),
            (Some(gs), 0) if id == 3 && stream == 0 => format!("sendmsg({name}, {gs})"),
            _ => plain,
        },
        15 => match SYSTEM_OPS.iter().find(|o| o.0 == op) {
            Some((_, sys)) if stream == 0 => format!("sendmsg({name}, {sys})"),
            _ => plain,
        },
        _ if op == 0 && stream == 0 => format!("sendmsg({name})"),
        _ => plain,
    }
}

/// Messages by id.
static MESSAGES: &[(u16, &str)] = &[
    (1, "MSG_INTERRUPT"),
    (2, "MSG_GS"),
    (3, "MSG_GS_DONE"),
    (4, "MSG_SAVEWAVE"),
    (5, "MSG_STALL_WAVE_GEN"),
    (6, "MSG_HALT_WAVES"),
    (7, "MSG_ORDERED_PS_DONE"),
    (8, "MSG_EARLY_PRIM_DEALLOC"),
    (9, "MSG_GS_ALLOC_REQ"),
    (10, "MSG_GET_DOORBELL"),
    (15, "MSG_SYSMSG"),
];

/// Operations of the geometry messages.
static GS_OPS: [&str; 4] = ["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"];

/// Operations of the system message.
static SYSTEM_OPS: &[(u16, &str)] =
    &[(1, "SYSMSG_OP_ECC_ERR_INTERRUPT"), (2, "SYSMSG_OP_REG_RD"), (4, "SYSMSG_OP_TTRACE_PC")];

/// The lane pattern of `ds_swizzle_b32`.
pub fn swizzle(offset: u16) -> String {
    if offset & 0xff00 == 0x8000 {
        let lane = |i: u16| offset >> (2 * i) & 3;
        return format!("swizzle(QUAD_PERM,{},{},{},{})", lane(0), lane(1), lane(2), lane(3));
    }
    match offset {
        0x8000..0xc000 => return offset.to_string(),
        0xc000..0xe000 => {
            let (direction, size) = (offset >> 10 & 1, offset >> 5 & 31);
            return format!("swizzle(ROTATE,{direction},{size})");
        }
        0xe000.. => return format!("swizzle(FFT,{})", offset & 31),
        _ => {}
    }
    let (and, or, xor) = (offset & 31, offset >> 5 & 31, offset >> 10 & 31);
    match (and, or, xor) {
        (31, 0, x) if x.is_power_of_two() && x > 0 => format!("swizzle(SWAP,{x})"),
        (31, 0, x) if x > 0 && (x + 1).is_power_of_two() => format!("swizzle(REVERSE,{})", x + 1),
        (a, o, 0) if group_of(a).is_some_and(|size| o < size) => {
            format!("swizzle(BROADCAST,{},{o})", 32 - a)
        }
        _ => {
            let bit = |i: u16| match (and >> i & 1, or >> i & 1, xor >> i & 1) {
                (0, 0, 0) => '0',
                (0, 0, _) => '1',
                (0, _, 0) => '1',
                (0, _, _) => '0',
                (_, 0, 0) => 'p',
                (_, 0, _) => 'i',
                (_, _, 0) => '1',
                _ => '0',
            };
            let mask: String = (0..5).rev().map(bit).collect();
            format!("swizzle(BITMASK_PERM,\"{mask}\")")
        }
    }
}

/// The group size that an AND mask keeps lanes within, if it keeps the upper bits.
fn group_of(and: u16) -> Option<u16> {
    let size = 32 - and;
    (size.is_power_of_two() && size > 1).then_some(size)
}

/// The data and number format of a typed buffer operation; the default one has no text.
pub fn buffer_format(format: u8) -> Option<String> {
    let (dfmt, nfmt) = (format & 15, format >> 4);
    match (dfmt, nfmt) {
        (1, 0) => None,
        (d, 0) => Some(format!("[BUF_DATA_FORMAT_{}]", DATA_FORMATS[usize::from(d)])),
        (1, n) => Some(format!("[BUF_NUM_FORMAT_{}]", NUM_FORMATS[usize::from(n & 7)])),
        (d, n) => Some(format!(
            "[BUF_DATA_FORMAT_{},BUF_NUM_FORMAT_{}]",
            DATA_FORMATS[usize::from(d)],
            NUM_FORMATS[usize::from(n & 7)]
        )),
    }
}

/// Data formats by code.
static DATA_FORMATS: [&str; 16] = [
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
    "RESERVED_15",
];

/// Number formats by code.
static NUM_FORMATS: [&str; 8] =
    ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"];
