//! The `llvm-mca` baseline: static cycles of a kernel's basic blocks, times how often waves execute
//! them, spread evenly over all SIMDs. It knows nothing of memory, caches or occupancy.

use std::collections::HashMap;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use cdna_sim::arch::ArchParams;
use cdna_sim::exec::Program;
use cdna_sim::isa::{Class, class, disassemble};

/// Clocks of one cycle of LLVM's scheduling model: the issue slot of a wave.
const CLK_PER_CYCLE: f64 = 4.0;

/// Longest wait for one kernel. The tool takes seconds for the largest on an idle machine, and never
/// ends on some blocks (seen with LLVM 22.1 on gfx950).
const PATIENCE: Duration = Duration::from_secs(120);

/// Block cycles by kernel, worked out once each.
#[derive(Debug)]
pub struct Mca {
    program: String,
    blocks: Mutex<HashMap<String, Option<Vec<Block>>>>,
}

/// A basic block: its first instruction, and its cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    first: usize,
    cycles: f64,
}

impl Mca {
    /// The tool of LLVM 22, or the unversioned one; none where neither runs.
    pub fn find() -> Option<Self> {
        let runs = |name: &&str| {
            let mut probe = Command::new(name);
            probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            probe.status().is_ok_and(|status| status.success())
        };
        let name = ["llvm-mca-22", "llvm-mca"].into_iter().find(runs)?;
        Some(Mca { program: name.to_owned(), blocks: Mutex::default() })
    }

    /// Microseconds of a grid whose instructions were executed `counts` times by `run` of its
    /// `workgroups` workgroups. `key` names the kernel. None where the tool rejects a block or does not end.
    pub fn time_us(
        &self,
        p: &ArchParams,
        key: &str,
        program: &Program,
        counts: &[u64],
        scale: f64,
    ) -> Option<f64> {
        let known = self.blocks.lock().ok()?.get(key).cloned();
        let blocks = match known {
            Some(blocks) => blocks,
            None => {
                let blocks = self.measure(program, counts);
                self.blocks.lock().ok()?.insert(key.to_owned(), blocks.clone());
                blocks
            }
        }?;
        let cycles: f64 = blocks
            .iter()
            .map(|b| b.cycles * counts.get(b.first).copied().unwrap_or(0) as f64)
            .sum();
        let simds = f64::from(p.device.compute_units * p.device.simds_per_cu);
        Some(cycles * scale * CLK_PER_CYCLE / simds / p.clock.nominal)
    }

    /// Cycles of every block that was executed.
    fn measure(&self, program: &Program, counts: &[u64]) -> Option<Vec<Block>> {
        let executed: Vec<Vec<usize>> = blocks(program)
            .into_iter()
            .filter(|b| counts.get(b[0]).is_some_and(|&n| n > 0))
            .collect();
        let mut source = String::new();
        for block in &executed {
            // Marks that begin otherwise than with a hash are read twice.
            source.push_str("# LLVM-MCA-BEGIN\n");
            for &i in block {
                let inst = program.insts.get(i)?;
                // A jump's target means nothing outside the kernel and costs nothing by itself.
                if !matches!(class(inst, program.arch), Class::Branch) {
                    source.push_str(&format!("\t{}\n", disassemble(inst)));
                }
            }
            source.push_str("\ts_nop 0\n# LLVM-MCA-END\n");
        }
        let words = self.run(program.arch.name(), &source)?;
        let totals: Vec<f64> = words
            .lines()
            .filter_map(|line| line.strip_prefix("Total Cycles:")?.trim().parse().ok())
            .collect();
        if totals.len() != executed.len() {
            return None;
        }
        Some(executed.iter().zip(totals).map(|(b, cycles)| Block { first: b[0], cycles }).collect())
    }

    fn run(&self, arch: &str, source: &str) -> Option<String> {
        let mut file = tempfile::NamedTempFile::new().ok()?;
        file.write_all(source.as_bytes()).ok()?;
        // Into a file: a pipe would fill up while nobody reads it.
        let words = tempfile::NamedTempFile::new().ok()?;
        let mut command = Command::new(&self.program);
        command.args(["-mtriple=amdgcn-amd-amdhsa", &format!("-mcpu={arch}"), "-iterations=1"]);
        command.args(["-instruction-info=0", "-resource-pressure=0"]).arg(file.path());
        command.stdout(words.reopen().ok()?).stderr(Stdio::null());
        let ended = ended_well(command.spawn().ok()?, PATIENCE);
        ended.then(|| std::fs::read_to_string(words.path()).ok())?
    }
}

/// Waits for `child`; one that runs longer than `patience` is killed and has not ended well.
fn ended_well(mut child: Child, patience: Duration) -> bool {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if start.elapsed() < patience => thread::sleep(Duration::from_millis(5)),
            _ => {
                // It may have ended meanwhile: either way nothing of it is left.
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

/// Instruction indices of the basic blocks: one ends with a branch or before a branch target.
fn blocks(program: &Program) -> Vec<Vec<usize>> {
    let mut starts: Vec<bool> = vec![false; program.insts.len() + 1];
    for (i, inst) in program.insts.iter().enumerate() {
        if matches!(class(inst, program.arch), Class::Branch) {
            starts[i + 1] = true;
            let next = program.addr[i].wrapping_add(u64::from(inst.size));
            let target = next.wrapping_add_signed(i64::from(inst.imm as i16) * 4);
            if let Some(t) = program.index_of(target) {
                starts[t] = true;
            }
        }
    }
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    for (i, &start) in starts.iter().enumerate().take(program.insts.len()) {
        match blocks.last_mut() {
            Some(block) if !start => block.push(i),
            _ => blocks.push(vec![i]),
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_never_ends_is_given_up_and_one_that_fails_has_not_ended_well() {
        let start = |words: &[&str]| Command::new(words[0]).args(&words[1..]).spawn().unwrap();
        assert!(!ended_well(start(&["sleep", "600"]), Duration::from_millis(20)));
        assert!(!ended_well(start(&["false"]), PATIENCE));
        assert!(ended_well(start(&["true"]), PATIENCE));
    }
}
