//! Whole code objects against `llvm-objdump -d`, line by line: the prebuilt kernels, and kernels
//! compiled here to use as much of the instruction set as the compiler will emit.

use std::path::{Path, PathBuf};
use std::process::Command;

use cdna_sim::isa::{Arch, listing};
use object::{Object, ObjectSection, ObjectSymbol};

use crate::tools;

/// Compares our listing of an object's text with LLVM's; returns the number of lines.
fn compare(object: &Path, arch: Arch) -> usize {
    let bytes = std::fs::read(object).unwrap();
    let elf = object::File::parse(bytes.as_slice()).unwrap();
    let text = elf.section_by_name(".text").unwrap();
    let mut symbols: Vec<(u64, String)> = elf
        .symbols()
        .filter(|s| s.section_index() == Some(text.index()) && s.is_definition())
        .map(|s| (s.address(), s.name().unwrap().to_string()))
        .collect();
    symbols.sort();
    let name = |address: u64| {
        let (at, name) = symbols.iter().rev().find(|s| s.0 <= address)?;
        Some(if address == *at { name.clone() } else { format!("{name}+{:#x}", address - at) })
    };
    let ours: Vec<String> = listing(text.data().unwrap(), text.address(), arch)
        .iter()
        .map(|line| line.render(name))
        .collect();
    let theirs = tools::objdump(object, arch);
    for (i, theirs) in theirs.iter().enumerate() {
        let ours = ours.get(i).map_or("(end)", String::as_str);
        assert_eq!(ours, theirs.line, "{}, instruction {i}", object.display());
    }
    assert_eq!(ours.len(), theirs.len(), "{}", object.display());
    theirs.len()
}

/// The code objects below a folder, with the target that their folder is named after.
fn prebuilt() -> Vec<(PathBuf, Arch)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/prebuilt");
    let mut found = Vec::new();
    for arch in Arch::ALL {
        let Ok(entries) = std::fs::read_dir(root.join(arch.name())) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "hsaco") {
                found.push((path, arch));
            }
        }
    }
    found
}

#[test]
fn prebuilt_kernels_disassemble_as_llvm_does() {
    if !tools::available(&[tools::OBJDUMP]) {
        return;
    }
    let objects = prebuilt();
    assert!(!objects.is_empty(), "no code objects in kernels/prebuilt");
    for (path, arch) in objects {
        let lines = compare(&path, arch);
        assert!(lines > 0, "{} is empty", path.display());
    }
}

/// Sources of the kernels compiled here.
fn kernel_source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/kernels").join(name)
}

#[test]
fn freshly_compiled_kernels_disassemble_as_llvm_does() {
    if !tools::available(&[tools::OBJDUMP, tools::CLANG]) {
        return;
    }
    let dir = tools::scratch("disasm_compiled");
    for arch in Arch::ALL {
        for name in ["vector", "matrix"] {
            for optimisation in ["-O0", "-O3"] {
                let object = dir.join(format!("{name}.{arch}{optimisation}.hsaco"));
                tools::run(
                    Command::new(tools::CLANG)
                        .args(["-x", "hip", "-nogpulib", "-nogpuinc", "--cuda-device-only"])
                        .args(["--no-gpu-bundle-output", "-mcode-object-version=5", optimisation])
                        .arg(format!("--offload-arch={arch}"))
                        .arg(kernel_source(&format!("{name}.hip")))
                        .arg("-o")
                        .arg(&object),
                );
                assert!(compare(&object, arch) > 500);
            }
        }
    }
}

#[test]
fn triton_kernels_disassemble_as_llvm_does() {
    let has_triton = || {
        let import = Command::new("python3").args(["-c", "import triton"]).output();
        let found = import.is_ok_and(|output| output.status.success());
        tools::report_missing(if found { "" } else { "Python package triton" })
    };
    if !tools::available(&[tools::OBJDUMP, "python3"]) || !has_triton() {
        return;
    }
    let dir = tools::scratch("disasm_triton");
    for arch in Arch::ALL {
        tools::run(
            Command::new("python3")
                .env("TRITON_CACHE_DIR", dir.join("cache"))
                .arg(kernel_source("triton_kernels.py"))
                .args([arch.name()])
                .arg(&dir),
        );
    }
    let mut compared = 0;
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for arch in Arch::ALL {
            if name.ends_with(&format!("{arch}.hsaco")) {
                compare(&path, arch);
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 7, "3 kernels for gfx942 and 4 for gfx950");
}
