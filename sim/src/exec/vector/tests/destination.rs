//! What of a destination register survives is what the lists of read registers say.

use crate::exec::testing::{random, wave};
use crate::exec::{Ctx, Lanes, MemAccess, Program, run};
use crate::isa::{Arch, Enc, File, Inst, Mods, Operand, Ty, op, regs};
use crate::memory::AddressSpace;

/// Every vector operation, with results to either half: where the old destination makes a difference, it
/// is among the registers that the instruction reads.
#[test]
fn a_destination_that_matters_is_read() {
    let mut random = random(5);
    let mut matters = 0;
    for (&op, op_sel) in op::ALL.iter().flat_map(|op| [(op, 0), (op, 8)]) {
        let name = op.info().name;
        // Results in scalar registers, and those of whole matrices.
        let others = ["v_mfma", "v_smfmac", "v_read"];
        let other = others.iter().any(|start| name.starts_with(start));
        if !name.starts_with("v_") || other || op.info().dst == Ty::Mask {
            continue;
        }
        let packed = ["v_pk_", "v_dot", "v_fma_mix"].iter().any(|start| name.starts_with(start));
        let inst = Inst {
            op,
            enc: if packed { Enc::Vop3p } else { Enc::Vop3 },
            size: 8,
            dst: Operand::Vgpr(50),
            sdst: Operand::None,
            src: [0, 8, 16].map(Operand::Vgpr),
            imm: 0,
            mods: Mods { op_sel, op_sel_hi: 7, ..Mods::default() },
            scale: None,
        };
        let program = Program::new(Arch::Gfx950, 0, 8, [(0, inst)]);
        let mut first = wave();
        for register in &mut first.vgpr[..50] {
            *register = Lanes(std::array::from_fn(|_| random() as u32));
        }
        let mut other = first.clone();
        other.vgpr[50..56].fill(Lanes([0xabcd_ef98; 64]));
        let mem = AddressSpace::new(0);
        let executed = [&mut first, &mut other].map(|wave| {
            let access = MemAccess::default();
            let mut ctx = Ctx { program: &program, mem: &mem, lds: &mut [], access, clock: 0 };
            run(wave, &mut ctx, 1).is_ok()
        });
        let writes = regs(&inst).writes;
        let written = writes.iter().filter(|range| range.file == File::Vgpr && range.first >= 50);
        let count = written.map(|range| usize::from(range.count)).sum::<usize>();
        if executed != [true; 2] || count == 0 {
            continue;
        }
        let same = first.vgpr[50..50 + count] == other.vgpr[50..50 + count];
        let read = regs(&inst).reads.iter().any(|r| r.file == File::Vgpr && r.first >= 50);
        assert!(same || read, "{name} op_sel {op_sel}");
        matters += usize::from(!same);
    }
    // Accumulating operations and those that write a part.
    assert!(matters > 60, "{matters}");
}
