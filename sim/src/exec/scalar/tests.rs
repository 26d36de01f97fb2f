//! Tests of scalar instructions from their encodings, against wider integers and hand-worked
//! values.

use crate::exec::testing::{BASE, execute, program, random, try_run, wave};
use crate::exec::{Flow, Wave};
use crate::fault::FaultKind;
use crate::isa::Arch;

fn wave_with(sgpr: &[u32]) -> Wave {
    let mut wave = wave();
    wave.sgpr[..sgpr.len()].copy_from_slice(sgpr);
    wave
}

#[test]
fn add_and_subtract_chains_are_64_bit_arithmetic() {
    let mut next = random(1);
    for _ in 0..1000 {
        let (a, b) = (next(), next() >> (next() % 64));
        let mut wave = wave();
        wave.set_sgpr64(0, a);
        wave.set_sgpr64(2, b);
        execute(
            &[
                0x8004_0200, // s_add_u32 s4, s0, s2
                0x8205_0301, // s_addc_u32 s5, s1, s3
            ],
            &mut wave,
        );
        let sum = u128::from(a) + u128::from(b);
        assert_eq!(wave.sgpr64(4), sum as u64);
        assert_eq!(wave.scc, sum >> 64 == 1);
        wave.pc = 0;
        execute(
            &[
                0x8086_0200, // s_sub_u32 s6, s0, s2
                0x8287_0301, // s_subb_u32 s7, s1, s3
                0x9608_0200, // s_mul_hi_u32 s8, s0, s2
                0x9689_0200, // s_mul_hi_i32 s9, s0, s2
                0x920a_0200, // s_mul_i32 s10, s0, s2
            ],
            &mut wave,
        );
        assert_eq!(wave.sgpr64(6), a.wrapping_sub(b));
        assert_eq!(wave.scc, b > a);
        let (x, y) = (wave.sgpr[0], wave.sgpr[2]);
        let product = u64::from(x) * u64::from(y);
        assert_eq!((wave.sgpr[8], wave.sgpr[10]), ((product >> 32) as u32, product as u32));
        let signed = i64::from(x as i32) * i64::from(y as i32);
        assert_eq!(wave.sgpr[9], (signed >> 32) as u32);
    }
}

#[test]
fn bit_fields_and_packing_take_the_bits_that_the_isa_document_says() {
    let mut wave = wave_with(&[0x8765_4f2c, 0xfedc_ba98]);
    execute(
        &[
            0x9284_ff00,
            0x0008_0004, // s_bfe_u32 s4, s0, 0x80004: 8 bits from bit 4
            0x9305_ff00,
            0x0008_0004, // s_bfe_i32 s5, s0, 0x80004
            0x9386_ff00,
            0x0030_0008, // s_bfe_u64 s[6:7], s[0:1], 0x300008: 48 bits from bit 8
            0x9408_ff00,
            0x0030_0008, // s_bfe_i64 s[8:9], s[0:1], 0x300008
            0x910a_8385, // s_bfm_b32 s10, 5, 3
            0x918c_84a8, // s_bfm_b64 s[12:13], 40, 4
            0xbe8e_3700, // s_bitreplicate_b64_b32 s[14:15], s0
            0x9910_0100, // s_pack_ll_b32_b16 s16, s0, s1
            0x9991_0100, // s_pack_lh_b32_b16 s17, s0, s1
            0x9a12_0100, // s_pack_hh_b32_b16 s18, s0, s1
        ],
        &mut wave,
    );
    assert_eq!(wave.sgpr[4], 0xf2);
    assert_eq!(wave.sgpr[5], 0xffff_fff2);
    assert_eq!(wave.sgpr64(6), 0xdcba_9887_654f);
    assert_eq!(wave.sgpr64(8), 0xffff_dcba_9887_654f);
    assert_eq!(wave.sgpr[10], 0b1111_1000);
    assert_eq!(wave.sgpr64(12), 0xfff_ffff_fff0);
    // 0x8 is 1000, doubled 11000000; and so on for each nibble.
    assert_eq!(wave.sgpr64(14), 0xc03f_3c33_30ff_0cf0);
    assert_eq!(wave.sgpr[16], 0xba98_4f2c);
    assert_eq!(wave.sgpr[17], 0xfedc_4f2c);
    assert_eq!(wave.sgpr[18], 0xfedc_8765);
}

#[test]
fn bit_searches_and_counts() {
    let mut wave = wave_with(&[0xfff0_2000, 0x1]);
    execute(
        &[
            0xbe93_1100, // s_ff1_i32_b64 s19, s[0:1]
            0xbe94_1200, // s_flbit_i32_b32 s20, s0
            0xbe95_1400, // s_flbit_i32 s21, s0
            0xbe96_0d00, // s_bcnt1_i32_b64 s22, s[0:1]
            0xbe97_0600, // s_wqm_b32 s23, s0
            0xbe98_2900, // s_quadmask_b64 s[24:25], s[0:1]
            0xbe9a_0800, // s_brev_b32 s26, s0
            0xbe9b_3000, // s_abs_i32 s27, s0
            0x951c_0100, // s_absdiff_i32 s28, s0, s1
            0x981d_0100, // s_lshl3_add_u32 s29, s0, s1
        ],
        &mut wave,
    );
    assert_eq!(wave.sgpr[19], 13);
    assert_eq!(wave.sgpr[20], 0);
    assert_eq!(wave.sgpr[21], 12, "bits 31 to 20 equal the sign");
    assert_eq!(wave.sgpr[22], 14);
    assert_eq!(wave.sgpr[23], 0xffff_f000 & !0xf_0000);
    assert_eq!(wave.sgpr64(24), 0b1_1110_1000);
    assert_eq!(wave.sgpr[26], 0x0004_0fff);
    assert_eq!(wave.sgpr[27], 0x000f_e000);
    assert_eq!(wave.sgpr[28], 0x000f_e001);
    assert_eq!(wave.sgpr[29], 0xff81_0001);
    assert!(wave.scc, "8 * 0xfff02000 + 1 does not fit 32 bits");
}

#[test]
fn saveexec_returns_the_old_mask_and_wrexec_the_new() {
    let mut wave = wave_with(&[0xff, 0, 0xf0, 0]);
    wave.set_exec(0xfff);
    execute(&[0xbe84_2000], &mut wave); // s_and_saveexec_b64 s[4:5], s[0:1]
    assert_eq!((wave.sgpr64(4), wave.exec(), wave.scc), (0xfff, 0xff, true));
    wave.pc = 0;
    execute(&[0xbe86_2402], &mut wave); // s_orn2_saveexec_b64 s[6:7], s[2:3]
    assert_eq!((wave.sgpr64(6), wave.exec()), (0xff, !0xf));
    wave.pc = 0;
    execute(&[0xbe88_3500], &mut wave); // s_andn1_wrexec_b64 s[8:9], s[0:1]
    assert_eq!((wave.sgpr64(8), wave.exec()), (!0xff, !0xff));
}

#[test]
fn comparisons_know_signs_and_widths_of_immediates() {
    let mut wave = wave_with(&[0xffff_fffe, 1]);
    execute(&[0xbf04_0100], &mut wave); // s_cmp_lt_i32 s0, s1
    assert!(wave.scc);
    wave.pc = 0;
    execute(&[0xbf08_0100, 0x8504_8281], &mut wave); // s_cmp_gt_u32 s0, s1; s_cselect_b32 s4, 1, 2
    assert!(wave.scc);
    assert_eq!(wave.sgpr[4], 1);
    wave.pc = 0;
    execute(&[0xb400_fffe], &mut wave); // s_cmpk_eq_u32 s0, 0xfffe
    assert!(!wave.scc, "zero-extended");
    wave.pc = 0;
    execute(&[0xb100_fffe], &mut wave); // s_cmpk_eq_i32 s0, 0xfffe
    assert!(wave.scc, "sign-extended");
    wave.pc = 0;
    // s_addk_i32 s0, 0x7fff; s_mulk_i32 s0, 0xfffe; s_movk_i32 s1, ...
    execute(&[0xb700_7fff, 0xb780_fffe], &mut wave);
    assert_eq!(wave.sgpr[0] as i32, (-2 + 0x7fff) * -2);
}

#[test]
fn a_backward_branch_loops_until_its_condition_fails() {
    let mut wave = wave_with(&[0, 0]);
    let flow = execute(
        &[
            0xbe80_0085, // s_mov_b32 s0, 5
            0x8001_0001, // s_add_u32 s1, s1, s0
            0x8080_8100, // s_sub_u32 s0, s0, 1
            0xbf07_8000, // s_cmp_lg_u32 s0, 0
            0xbf85_fffc, // s_cbranch_scc1 to the addition
            0xbf8a_0000, // s_barrier
        ],
        &mut wave,
    );
    assert_eq!(flow, Flow::Barrier);
    assert_eq!(wave.sgpr[1], 5 + 4 + 3 + 2 + 1);
    assert_eq!(wave.pc, 6);
}

#[test]
fn a_call_returns_to_the_instruction_after_it() {
    let mut wave = wave();
    let flow = execute(
        &[
            0xbe84_1c00, // s_getpc_b64 s[4:5]
            0x8004_9804, // s_add_u32 s4, s4, 24: from after s_getpc to s_mov_b32 s9
            0x8205_8005, // s_addc_u32 s5, s5, 0
            0xbe86_1e04, // s_swappc_b64 s[6:7], s[4:5]
            0xbe88_0081, // s_mov_b32 s8, 1
            0xbf81_0000, // s_endpgm
            0xbf80_0000, // s_nop 0
            0xbe89_0082, // s_mov_b32 s9, 2
            0xbe80_1d06, // s_setpc_b64 s[6:7]
        ],
        &mut wave,
    );
    assert_eq!(flow, Flow::End);
    assert_eq!(wave.sgpr64(4), BASE + 28);
    assert_eq!(wave.sgpr64(6), BASE + 16);
    assert_eq!((wave.sgpr[8], wave.sgpr[9]), (1, 2));
}

#[test]
fn jumps_out_of_the_program_and_traps_are_faults_that_keep_the_counter() {
    let mut wave = wave();
    // s_nop 0; s_branch 100
    let fault = try_run(Arch::Gfx942, &[0xbf80_0000, 0xbf82_0064], &mut wave);
    assert_eq!(fault, Err(FaultKind::BadJump { addr: BASE + 8 + 400 }));
    assert_eq!(wave.pc, 1);
    wave.pc = 0;
    let fault = try_run(Arch::Gfx942, &[0xbf92_0002], &mut wave); // s_trap 2
    assert_eq!(fault, Err(FaultKind::Trap { id: 2 }));
    wave.pc = 0;
    // s_setreg_imm32_b32 hwreg(HW_REG_GPR_ALLOC, 0, 1), 0
    let fault = try_run(Arch::Gfx942, &[0xba00_0005, 0], &mut wave);
    let text = "s_setreg_imm32_b32 of register 5".to_owned();
    assert_eq!(fault, Err(FaultKind::Unimplemented { text }));
}

#[test]
fn mode_fields_are_read_and_written_by_bit_range() {
    let mut wave = wave();
    execute(
        &[
            0xba00_0801,
            0x0000_0003, // s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3
            0xba00_0901,
            0x0000_0000, // s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
            0xb884_1901, // s_getreg_b32 s4, hwreg(HW_REG_MODE, 4, 4)
        ],
        &mut wave,
    );
    assert_eq!(wave.mode, 0x3c3);
    assert_eq!(wave.sgpr[4], 0xc);
}

#[test]
fn relative_moves_add_m0_to_the_register_number() {
    let mut wave = wave_with(&[10, 11, 12, 13]);
    wave.sgpr[124] = 2;
    execute(&[0xbe84_2a00], &mut wave); // s_movrels_b32 s4, s0
    assert_eq!(wave.sgpr[4], 12);
    wave.pc = 0;
    execute(&[0xbe84_2c00], &mut wave); // s_movreld_b32 s4, s0
    assert_eq!(wave.sgpr[6], 10);
}

/// `s_mov_b32 s0, 1`, then a word that is no instruction, then `s_endpgm`.
#[test]
fn running_into_what_is_no_instruction_is_a_fault_that_names_it() {
    for words in [&[0xbe80_0081, 0xffff_ffff, 0xbf81_0000][..], &[0xbe80_0081, 0xffff_ffff]] {
        let mut wave = wave();
        let fault = try_run(Arch::Gfx950, words, &mut wave).unwrap_err();
        let expected = FaultKind::UnknownInstruction { word: 0xffff_ffff, arch: Arch::Gfx950 };
        assert_eq!(fault, expected);
    }
    let program = program(Arch::Gfx950, &[0xffff_ffff]);
    assert_eq!(crate::isa::disassemble(&program.insts[0]), ".long 0xffffffff");
}
