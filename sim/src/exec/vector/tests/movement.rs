//! Instructions that move data between lanes.

use crate::exec::WAVE;
use crate::exec::testing::{execute, lanes, wave};

const OLD: u32 = 1000;

/// `v_mov_b32_dpp v1, v0` with the given control, on v0 = lane number and v1 = [`OLD`].
fn moved(dpp: u32, exec: u64) -> [u32; WAVE] {
    let mut wave = wave();
    wave.set_exec(exec);
    wave.vgpr[0] = lanes(|i| i as u32);
    wave.vgpr[1] = lanes(|_| OLD);
    execute(&[0x7e02_02fa, dpp], &mut wave);
    wave.vgpr[1].0
}

/// The second word of a DPP instruction on v0.
fn control(ctrl: u32, row_mask: u32, bank_mask: u32, bound_ctrl: bool) -> u32 {
    ctrl << 8 | bank_mask << 24 | row_mask << 28 | u32::from(bound_ctrl) << 19
}

#[test]
fn each_dpp_control_reads_the_lane_that_the_isa_document_names() {
    // For lanes 0-3, 15-17, 31-33, 47, 48, 62, 63; 1000 where the source is outside.
    let at = [0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 47, 48, 62, 63];
    let x = OLD;
    let table: &[(u32, [u32; 14])] = &[
        // quad_perm:[1,2,3,0]
        (0x39, [1, 2, 3, 0, 12, 17, 18, 28, 33, 34, 44, 49, 63, 60]),
        // row_shl:1
        (0x101, [1, 2, 3, 4, x, 17, 18, x, 33, 34, x, 49, 63, x]),
        // row_shl:15
        (0x10f, [15, x, x, x, x, 31, x, x, 47, x, x, 63, x, x]),
        // row_shr:1
        (0x111, [x, 0, 1, 2, 14, x, 16, 30, x, 32, 46, x, 61, 62]),
        // row_ror:4
        (0x124, [12, 13, 14, 15, 11, 28, 29, 27, 44, 45, 43, 60, 58, 59]),
        // wave_shl:1
        (0x130, [1, 2, 3, 4, 16, 17, 18, 32, 33, 34, 48, 49, 63, x]),
        // wave_rol:1
        (0x134, [1, 2, 3, 4, 16, 17, 18, 32, 33, 34, 48, 49, 63, 0]),
        // wave_shr:1
        (0x138, [x, 0, 1, 2, 14, 15, 16, 30, 31, 32, 46, 47, 61, 62]),
        // wave_ror:1
        (0x13c, [63, 0, 1, 2, 14, 15, 16, 30, 31, 32, 46, 47, 61, 62]),
        // row_mirror
        (0x140, [15, 14, 13, 12, 0, 31, 30, 16, 47, 46, 32, 63, 49, 48]),
        // row_half_mirror
        (0x141, [7, 6, 5, 4, 8, 23, 22, 24, 39, 38, 40, 55, 57, 56]),
        // row_bcast:15
        (0x142, [x, x, x, x, x, 15, 15, 15, 31, 31, 31, 47, 47, 47]),
        // row_bcast:31
        (0x143, [x, x, x, x, x, x, x, x, 31, 31, 31, 31, 31, 31]),
        // row_newbcast:3
        (0x153, [3, 3, 3, 3, 3, 19, 19, 19, 35, 35, 35, 51, 51, 51]),
    ];
    for (ctrl, want) in table {
        let got = moved(control(*ctrl, 15, 15, false), u64::MAX);
        assert_eq!(at.map(|i| got[i]), *want, "dpp_ctrl {ctrl:#x}");
        let zeroed = moved(control(*ctrl, 15, 15, true), u64::MAX);
        let want = want.map(|lane| if lane == OLD { 0 } else { lane });
        assert_eq!(at.map(|i| zeroed[i]), want, "dpp_ctrl {ctrl:#x} bound_ctrl:0");
    }
}

#[test]
fn row_and_bank_masks_keep_lanes_of_the_destination() {
    // row_newbcast:0 in rows 1 and 3, banks 0 and 2 only.
    let got = moved(control(0x150, 0b1010, 0b0101, false), u64::MAX);
    for (i, got) in got.into_iter().enumerate() {
        let written = i / 16 % 2 == 1 && i / 4 % 2 == 0;
        assert_eq!(got, if written { i as u32 & !15 } else { OLD }, "lane {i}");
    }
}

#[test]
fn a_disabled_lane_is_no_source() {
    // quad_perm:[0,0,2,2] with the even lanes of every other quad switched off.
    let exec = 0xffff_ffff_ffff_ff0a;
    let kept = moved(control(0xa0, 15, 15, false), exec);
    assert_eq!(kept[..8], [OLD; 8], "lanes 1 and 3 read 0 and 2, which are off");
    assert_eq!(kept[8..12], [8, 8, 10, 10]);
    let zeroed = moved(control(0xa0, 15, 15, true), exec);
    assert_eq!(zeroed[..4], [OLD, 0, OLD, 0]);
}

#[test]
fn a_dpp_instruction_on_its_own_source_reads_all_lanes_before_it_writes() {
    let mut wave = wave();
    wave.vgpr[0] = lanes(|i| 1 << (i % 16));
    // v_add_u32_dpp v0, v0, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
    execute(&[0x6800_00fa, control(0x111, 15, 15, true)], &mut wave);
    for i in 0..WAVE {
        let own = 1 << (i % 16);
        let neighbour = if i % 16 == 0 { 0 } else { 1 << (i % 16 - 1) };
        assert_eq!(wave.vgpr[0].0[i], own + neighbour, "lane {i}");
    }
}

#[test]
fn scalar_reads_take_the_first_active_or_the_named_lane() {
    let mut wave = wave();
    wave.vgpr[0] = lanes(|i| 100 + i as u32);
    wave.set_exec(0xff00);
    // v_readfirstlane_b32 s4, v0; v_readlane_b32 s5, v0, 37; v_writelane_b32 v1, s4, 5
    execute(&[0x7e08_0500, 0xd289_0005, 0x0001_4b00, 0xd28a_0001, 0x0001_0a04], &mut wave);
    assert_eq!(wave.sgpr[4], 108);
    assert_eq!(wave.sgpr[5], 137, "EXEC does not matter");
    assert_eq!(wave.vgpr[1].0[5], 108);
    assert_eq!(wave.vgpr[1].0[8], 0);
    wave.pc = 0;
    wave.set_exec(0);
    execute(&[0x7e08_0500], &mut wave);
    assert_eq!(wave.sgpr[4], 100, "with no lane active, lane 0");
}

#[test]
fn swaps_exchange_registers_rows_or_halves() {
    let mut wave = wave();
    for n in 2..8 {
        wave.vgpr[n] = lanes(|i| 100 * n as u32 + i as u32);
    }
    execute(
        &[
            0x7e04_a303, // v_swap_b32 v2, v3
            0x7e08_b305, // v_permlane16_swap_b32_e32 v4, v5
            0x7e0c_b507, // v_permlane32_swap_b32_e32 v6, v7
        ],
        &mut wave,
    );
    for i in 0..WAVE {
        let lane = i as u32;
        assert_eq!([wave.vgpr[2].0[i], wave.vgpr[3].0[i]], [300 + lane, 200 + lane]);
        // Odd rows of v4 (destination) trade places with even rows of v5 (source).
        let odd = i / 16 % 2 == 1;
        assert_eq!(wave.vgpr[4].0[i], if odd { 500 + lane - 16 } else { 400 + lane });
        assert_eq!(wave.vgpr[5].0[i], if odd { 500 + lane } else { 400 + lane + 16 });
        let upper = i >= 32;
        assert_eq!(wave.vgpr[6].0[i], if upper { 700 + lane - 32 } else { 600 + lane });
        assert_eq!(wave.vgpr[7].0[i], if upper { 700 + lane } else { 600 + lane + 32 });
    }
}

#[test]
fn a_register_beyond_the_allocation_is_a_fault_that_names_it() {
    let mut wave = wave();
    // v_mov_b32_e32 v200, v0
    let fault = crate::exec::testing::try_run(crate::isa::Arch::Gfx942, &[0x7f90_0300], &mut wave);
    // v200 of 128 registers in all.
    let register = "v200".to_owned();
    assert_eq!(fault, Err(crate::fault::FaultKind::NoRegister { register }));
}
