//! External tools that some tests compare against.

use std::path::{Path, PathBuf};
use std::process::Command;

use cdna_sim::isa::Arch;

/// Assembler, used to wrap bytes into an object file.
pub const MC: &str = "llvm-mc-22";
/// Disassembler, the reference.
pub const OBJDUMP: &str = "llvm-objdump-22";

/// HIP compiler.
pub const CLANG: &str = "clang-22";

/// Whether all `tools` are on the path. If not, the calling test should return: this prints why,
/// or fails where `CHUNKTUNE_REQUIRE_TOOLS=1` says that they must be there.
pub fn available(tools: &[&str]) -> bool {
    let missing: Vec<&str> = tools.iter().copied().filter(|tool| !on_path(tool)).collect();
    report_missing(&missing.join(", "))
}

/// Reports `missing` (nothing if empty) as [`available`] does.
pub fn report_missing(missing: &str) -> bool {
    if missing.is_empty() {
        return true;
    }
    let required = std::env::var_os("CHUNKTUNE_REQUIRE_TOOLS").is_some_and(|v| v == "1");
    assert!(!required, "CHUNKTUNE_REQUIRE_TOOLS=1, but there is no {missing}");
    println!("skipped: there is no {missing}");
    false
}

fn on_path(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(tool).is_file())
}

/// A folder for the files of one test, emptied first.
pub fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// Runs a command, which must succeed, and returns its standard output.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        output.status.success(),
        "{command:?} failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// One instruction line of `llvm-objdump -d`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disassembled {
    /// Address.
    pub address: u64,
    /// The line without its leading tab.
    pub line: String,
    /// The instruction's text.
    pub text: String,
}

/// The instruction lines that `llvm-objdump -d` prints for an object file.
pub fn objdump(object: &Path, arch: Arch) -> Vec<Disassembled> {
    let mcpu = format!("--mcpu={arch}");
    let out = run(Command::new(OBJDUMP).args(["-d", "--section=.text", &mcpu]).arg(object));
    out.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Disassembled> {
    let line = line.strip_prefix('\t')?;
    let (text, rest) = line.rsplit_once("// ")?;
    let (address, _) = rest.split_once(':')?;
    Some(Disassembled {
        address: u64::from_str_radix(address, 16).ok()?,
        line: line.to_string(),
        text: text.trim_end().to_string(),
    })
}

/// Disassembles raw bytes with LLVM.
pub fn objdump_bytes(dir: &Path, bytes: &[u8], arch: Arch) -> Vec<Disassembled> {
    let (raw, source, object) = (dir.join("code.bin"), dir.join("code.s"), dir.join("code.o"));
    std::fs::write(&raw, bytes).unwrap();
    std::fs::write(&source, format!(".text\n.incbin \"{}\"\n", raw.display())).unwrap();
    let mcpu = format!("--mcpu={arch}");
    run(Command::new(MC)
        .args(["--triple=amdgcn-amd-amdhsa", &mcpu, "--filetype=obj", "-o"])
        .args([&object, &source]));
    objdump(&object, arch)
}
