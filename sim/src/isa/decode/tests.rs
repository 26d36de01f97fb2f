//! Decoding of single instructions whose encodings were made with llvm-mc 22.

use super::*;
use crate::isa::{SdwaSel, reg};

fn decode_words(words: &[u32], arch: Arch) -> Result<Inst, DecodeError> {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    decode(&bytes, arch)
}

#[test]
fn carry_operations_in_e32_name_vcc() {
    // v_addc_co_u32_e32 v1, vcc, v2, v3, vcc
    let inst = decode_words(&[0x3802_0702], Arch::Gfx942).unwrap();
    assert_eq!(inst.op, Op::VAddcCoU32);
    assert_eq!(inst.dst, Operand::Vgpr(1));
    assert_eq!(inst.sdst, Operand::Sgpr(reg::VCC));
    assert_eq!(inst.src, [Operand::Vgpr(2), Operand::Vgpr(3), Operand::Sgpr(reg::VCC)]);
}

#[test]
fn a_literal_follows_its_instruction() {
    // v_or_b32_e32 v1, 0x12345678, v1
    let inst = decode_words(&[0x2802_02ff, 0x1234_5678], Arch::Gfx950).unwrap();
    assert_eq!((inst.op, inst.size), (Op::VOrB32, 8));
    assert_eq!(inst.src[0], Operand::Literal(0x1234_5678));
    assert_eq!(decode_words(&[0x2802_02ff], Arch::Gfx950), Err(DecodeError::Truncated));
}

#[test]
fn the_scale_prefix_counts_only_where_it_is_there() {
    // v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[0:7], v[8:15], a[0:3], after a s_nop pair.
    let unscaled = [0xd3ad_8000, 0x0402_1100];
    let inst = decode_words(&unscaled, Arch::Gfx950).unwrap();
    assert_eq!((inst.op, inst.enc, inst.size), (Op::VMfmaF3216x16x128F8f6f4, Enc::Mai, 8));
    assert_eq!(inst.dst, Operand::Agpr(0));
    let scaled = [0xd3ac_0000, 0x0002_1110, unscaled[0] | 0x800, unscaled[1]];
    let inst = decode_words(&scaled, Arch::Gfx950).unwrap();
    assert_eq!((inst.enc, inst.size), (Enc::MaiScale, 16));
    assert!(decode_words(&scaled, Arch::Gfx942).is_err());
}

#[test]
fn xf32_is_gone_on_gfx950() {
    // v_mfma_f32_16x16x8_xf32 v[0:3], v[4:5], v[14:15], v[32:35]
    let words = [0xd3be_0000, 0x0482_1d04];
    assert!(decode_words(&words, Arch::Gfx942).is_ok());
    assert_eq!(
        decode_words(&words, Arch::Gfx950),
        Err(DecodeError::NotOnArch { arch: Arch::Gfx950, op: Op::VMfmaF3216x16x8Xf32 })
    );
}

#[test]
fn sdwa_selects_parts_of_registers() {
    // v_add_u32_sdwa v1, v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1
    let inst = decode_words(&[0x6802_06f9, 0x0501_0602], Arch::Gfx942).unwrap();
    let sdwa = inst.mods.sdwa.unwrap();
    assert_eq!(sdwa.src_sel, [SdwaSel::Byte1, SdwaSel::Word1]);
    assert_eq!(sdwa.dst_sel, SdwaSel::Dword);
    assert_eq!(inst.src[..2], [Operand::Vgpr(2), Operand::Vgpr(3)]);
}

#[test]
fn a_run_of_undecodable_dwords_of_a_text_section_is_one_unknown_instruction() {
    // s_nop 0; padding; s_endpgm
    let words = [0xbf80_0000u32, 0xffff_fffe, 0xffff_ffff, 0xbf81_0000];
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let program = decode_text(&bytes, 0x1000, Arch::Gfx942);
    assert_eq!(program.index, [0, 1, u32::MAX, 2]);
    assert_eq!(program.addr, [0x1000, 0x1004, 0x100c]);
    assert_eq!((program.insts[1].op, program.insts[1].imm as u32), (Op::Unknown, 0xffff_fffe));
    assert_eq!(program.index_of(0x1008), None);
}
