//! The same launch always gives the same results and the same time, on any number of host threads.

use cdna_sim::device::Mode;
use cdna_sim::isa::Arch;

use crate::bundled::{Case, absorb, indexer};

fn check(case: &Case, launches: usize) {
    let run = |threads| (case.launch(Mode::Full, threads), case.take_output());
    let first = run(1);
    assert!(first.0.cycles.is_some_and(|cycles| cycles > 0));
    assert!(first.1.iter().any(|&byte| byte != 0), "{} wrote nothing", case.name);
    for launch in 1..launches {
        assert!(run(1 + launch % 2) == first, "{}: launch {launch} differs", case.name);
    }
}

/// Four workgroups, of which one is timed: both threads have work.
#[test]
fn a_hundred_launches_on_one_and_two_threads_agree_on_results_and_cycles() {
    check(&absorb(Arch::Gfx950, "absorb_bmm_64x256_ragged_wrap", 1, 70), 100);
    check(&absorb(Arch::Gfx942, "absorb_bmm_64x256_ragged_wrap", 1, 70), 10);
    check(&indexer(Arch::Gfx950, false, 32), 4);
}
