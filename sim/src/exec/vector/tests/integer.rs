//! Integer instructions against wider arithmetic.

use crate::exec::testing::{execute, lanes, pair, pairs, random, wave};
use crate::exec::{Lanes, WAVE, Wave};
use crate::isa::reg;

/// A wave whose v0, v1, ... hold random bits.
fn random_wave(registers: usize, seed: u64) -> Wave {
    let mut next = random(seed);
    let mut wave = wave();
    for register in &mut wave.vgpr[..registers] {
        *register = lanes(|_| next() as u32);
    }
    wave
}

fn bit(mask: u64, i: usize) -> u64 {
    mask >> i & 1
}

#[test]
fn carry_chains_are_64_bit_arithmetic_in_every_lane() {
    for seed in 0..100 {
        let mut wave = random_wave(4, seed);
        execute(
            &[
                0x3208_0500, // v_add_co_u32_e32 v4, vcc, v0, v2
                0x380a_0701, // v_addc_co_u32_e32 v5, vcc, v1, v3, vcc
                0xd11a_0a06,
                0x0002_0500, // v_sub_co_u32_e64 v6, s[10:11], v0, v2
                0xd11d_0c07,
                0x002a_0701, // v_subb_co_u32_e64 v7, s[12:13], v1, v3, s[10:11]
                0xd1e8_0e08,
                0x0412_0500, // v_mad_u64_u32 v[8:9], s[14:15], v0, v2, v[4:5]
                0xd208_000a,
                0x0409_0700, // v_lshl_add_u64 v[10:11], v[0:1], 3, v[2:3]
                0xd286_000c,
                0x0002_0500, // v_mul_hi_u32 v12, v0, v2
                0xd287_000d,
                0x0002_0500, // v_mul_hi_i32 v13, v0, v2
                0xd285_000e,
                0x0002_0500, // v_mul_lo_u32 v14, v0, v2
                0xd1e9_1010,
                0x0412_0500, // v_mad_i64_i32 v[16:17], s[16:17], v0, v2, v[4:5]
            ],
            &mut wave,
        );
        for i in 0..WAVE {
            let (a, b) = (pair(&wave, 0, i), pair(&wave, 2, i));
            let sum = u128::from(a) + u128::from(b);
            assert_eq!(pair(&wave, 4, i), sum as u64);
            assert_eq!(bit(wave.vcc(), i), (sum >> 64) as u64);
            assert_eq!(pair(&wave, 6, i), a.wrapping_sub(b));
            assert_eq!(bit(wave.sgpr64(12), i), u64::from(b > a));
            let (x, y) = (a as u32, b as u32);
            let mad = u128::from(x) * u128::from(y) + u128::from(sum as u64);
            assert_eq!(pair(&wave, 8, i), mad as u64);
            assert_eq!(bit(wave.sgpr64(14), i), (mad >> 64) as u64);
            assert_eq!(pair(&wave, 10, i), (a << 3).wrapping_add(b));
            let product = u64::from(x) * u64::from(y);
            assert_eq!(wave.vgpr[12].0[i], (product >> 32) as u32);
            assert_eq!(wave.vgpr[14].0[i], product as u32);
            let signed = i128::from(x as i32) * i128::from(y as i32);
            assert_eq!(wave.vgpr[13].0[i], (signed >> 32) as u32);
            let mad = signed + i128::from(sum as u64 as i64);
            assert_eq!(pair(&wave, 16, i), mad as u64);
            assert_eq!(bit(wave.sgpr64(16), i), (mad >> 64) as u64 & 1);
        }
    }
}

#[test]
fn inactive_lanes_keep_their_registers_and_clear_their_flags() {
    let mut wave = random_wave(5, 7);
    let before = wave.clone();
    wave.set_exec(0xff00_ff00_0000_00f1);
    wave.set_sgpr64(reg::VCC, u64::MAX);
    wave.vgpr[0] = Lanes([u32::MAX; WAVE]);
    wave.vgpr[2] = Lanes([1; WAVE]);
    execute(&[0x3208_0500], &mut wave); // v_add_co_u32_e32 v4, vcc, v0, v2
    assert_eq!(wave.vcc(), 0xff00_ff00_0000_00f1);
    for i in 0..WAVE {
        let want = if bit(wave.exec(), i) == 1 { 0 } else { before.vgpr[4].0[i] };
        assert_eq!(wave.vgpr[4].0[i], want);
    }
}

#[test]
fn bit_operations_agree_with_loops_over_bits() {
    for seed in 0..20 {
        let mut wave = random_wave(3, 100 + seed);
        // Selectors of v_perm_b32 are 0 to 15.
        wave.vgpr[2].0.iter_mut().for_each(|x| *x &= 0x0f0f_0f0f);
        execute(
            &[
                0xd1ed_0004,
                0x040a_0300, // v_perm_b32 v4, v0, v1, v2
                0xd1ce_0005,
                0x0222_0300, // v_alignbit_b32 v5, v0, v1, 8
                0xd1cf_0006,
                0x0206_0300, // v_alignbyte_b32 v6, v0, v1, 1
                0xd1c8_0007,
                0x0221_0900, // v_bfe_u32 v7, v0, 4, 8
                0xd1c9_0008,
                0x0221_0900, // v_bfe_i32 v8, v0, 4, 8
                0xd1ca_0009,
                0x040a_0300, // v_bfi_b32 v9, v0, v1, v2
                0xd1d9_000a,
                0x040a_0300, // v_sad_u8 v10, v0, v1, v2
                0xd1d7_000b,
                0x040a_0300, // v_med3_i32 v11, v0, v1, v2
                0xd234_020c,
                0xd40a_0300, // v_bitop3_b32 v12, v0, v1, v2 bitop3:0x96
                0xd234_010d,
                0x5c0a_0300, // v_bitop3_b32 v13, v0, v1, v2 bitop3:0xca
                0xd28c_000e,
                0x0001_00c1, // v_mbcnt_lo_u32_b32 v14, -1, 0
                0xd28d_000e,
                0x0002_1cc1, // v_mbcnt_hi_u32_b32 v14, -1, v14
                0xd1f3_000f,
                0x040a_0300, // v_xad_u32 v15, v0, v1, v2
                0xd1ff_0010,
                0x040a_0300, // v_add3_u32 v16, v0, v1, v2
                0xd3a8_4011,
                0x1c0a_0300, // v_dot4_i32_i8 v17, v0, v1, v2
                0x7e24_5b00, // v_ffbh_u32_e32 v18, v0
                0x7e26_5d00, // v_ffbl_b32_e32 v19, v0
            ],
            &mut wave,
        );
        for i in 0..WAVE {
            let v = |n: usize| wave.vgpr[n].0[i];
            let (a, b, c) = (v(0), v(1), v(2));
            let bytes = [b.to_le_bytes(), a.to_le_bytes()].concat();
            let permuted = c.to_le_bytes().map(|select| match select {
                0..8 => bytes[usize::from(select)],
                8..12 if bytes[usize::from(select - 8) * 2 + 1] < 128 => 0,
                12 => 0,
                _ => 0xff,
            });
            assert_eq!(v(4), u32::from_le_bytes(permuted));
            assert_eq!(v(5), a << 24 | b >> 8);
            assert_eq!(v(6), a << 24 | b >> 8);
            assert_eq!(v(7), a / 16 % 256);
            assert_eq!(v(8), (a / 16) as u8 as i8 as u32);
            assert_eq!(v(9), (a & b) | (!a & c));
            let distance = |k: usize| u32::from(a.to_le_bytes()[k].abs_diff(b.to_le_bytes()[k]));
            assert_eq!(v(10), c + (0..4).map(distance).sum::<u32>());
            let mut sorted = [a as i32, b as i32, c as i32];
            sorted.sort_unstable();
            assert_eq!(v(11), sorted[1] as u32);
            assert_eq!(v(12), a ^ b ^ c);
            assert_eq!(v(13), (a & b) | (!a & c));
            assert_eq!(v(14), i as u32, "mbcnt of all ones counts the lanes below");
            assert_eq!(v(15), (a ^ b).wrapping_add(c));
            assert_eq!(v(16), a.wrapping_add(b).wrapping_add(c));
            let product = |k: usize| {
                i32::from(a.to_le_bytes()[k] as i8) * i32::from(b.to_le_bytes()[k] as i8)
            };
            assert_eq!(v(17), (0..4).map(product).sum::<i32>().wrapping_add(c as i32) as u32);
            assert_eq!(v(18), a.leading_zeros());
            assert_eq!(v(19), a.trailing_zeros());
        }
    }
}

#[test]
fn shifts_of_pairs_and_inline_constants_of_pairs_are_64_bits_wide() {
    let mut wave = wave();
    [wave.vgpr[0], wave.vgpr[1]] = pairs(|i| 0x8000_0001_0000_0003 + i as u64);
    execute(&[0xd28f_0004, 0x0002_0085], &mut wave); // v_lshlrev_b64 v[4:5], 5, v[0:1]
    assert_eq!(pair(&wave, 4, 9), 0x20_0000_0180);
    wave.pc = 0;
    execute(&[0xd291_0004, 0x0002_0085], &mut wave); // v_ashrrev_i64 v[4:5], 5, v[0:1]
    assert_eq!(pair(&wave, 4, 9), 0xfc00_0000_0800_0000);
    wave.pc = 0;
    execute(&[0x7e08_70f2], &mut wave); // v_mov_b64_e32 v[4:5], 1.0
    assert_eq!(pair(&wave, 4, 9), 1.0_f64.to_bits());
}

#[test]
fn clamp_saturates_integers() {
    let mut wave = wave();
    wave.vgpr[0] = Lanes([0xffff_fff0; WAVE]);
    wave.vgpr[1] = lanes(|i| i as u32);
    execute(&[0xd134_8004, 0x0002_0300], &mut wave); // v_add_u32_e64 v4, v0, v1 clamp
    for i in 0..WAVE {
        assert_eq!(wave.vgpr[4].0[i], 0xffff_fff0_u32.saturating_add(i as u32));
    }
}

#[test]
fn sdwa_selects_parts_of_sources_and_of_the_destination() {
    let mut wave = wave();
    wave.vgpr[0] = Lanes([0x1234_56f0; WAVE]);
    wave.vgpr[1] = Lanes([0xf0aa_bbcc; WAVE]);
    wave.vgpr[4] = Lanes([0x1111_1111; WAVE]);
    wave.vgpr[5] = Lanes([0x1111_1111; WAVE]);
    execute(
        &[
            // v_add_u32_sdwa v4, v0, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE
            //     src0_sel:WORD_1 src1_sel:BYTE_3
            0x6808_02f9,
            0x0305_1100,
            // v_add_u32_sdwa v5, v0, sext(v1) dst_sel:WORD_1 dst_unused:UNUSED_PAD
            //     src0_sel:BYTE_0 src1_sel:BYTE_3
            0x680a_02f9,
            0x0b00_0500,
        ],
        &mut wave,
    );
    // 0x1234 + 0xf0 = 0x1324, of which byte 0 goes to byte 1.
    assert_eq!(wave.vgpr[4].0[3], 0x1111_2411);
    // 0xf0 - 0x10 = 0xe0 to word 1, the rest zero.
    assert_eq!(wave.vgpr[5].0[3], 0x00e0_0000);
}

#[test]
fn accumulation_registers_are_a_second_file() {
    let mut wave = wave();
    wave.vgpr[0] = lanes(|i| 7 * i as u32);
    // v_accvgpr_write_b32 a3, v0; v_accvgpr_read_b32 v4, a3
    execute(&[0xd3d9_4003, 0x1800_0100, 0xd3d8_4004, 0x1800_0103], &mut wave);
    assert_eq!(wave.vgpr[wave.acc_base + 3], wave.vgpr[0]);
    assert_eq!(wave.vgpr[4], wave.vgpr[0]);
    assert_eq!(wave.vgpr[3], Lanes::ZERO);
}

#[test]
fn relative_indexing_moves_the_operands_that_m0_names() {
    let mut wave = wave();
    wave.vgpr[8] = Lanes([88; WAVE]);
    wave.vgpr[3] = Lanes([33; WAVE]);
    wave.sgpr[4] = 5;
    execute(
        &[
            0xbf11_0104, // s_set_gpr_idx_on s4, gpr_idx(SRC0)
            0x7e04_0303, // v_mov_b32_e32 v2, v3
            0xbf9c_0000, // s_set_gpr_idx_off
        ],
        &mut wave,
    );
    assert_eq!(wave.vgpr[2].0[0], 88, "v3 moved by 5");
    wave.pc = 0;
    execute(&[0xbf11_0804, 0x7e04_0303, 0xbf9c_0000], &mut wave); // gpr_idx(DST)
    assert_eq!(wave.vgpr[7].0[0], 33);
    assert_eq!(wave.mode, 0x3f0);
}
