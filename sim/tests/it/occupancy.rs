//! Occupancy against what LLVM prints for the same kernels.

use std::path::Path;
use std::process::Command;

use cdna_sim::arch::ArchParams;
use cdna_sim::code_object::CodeObject;
use cdna_sim::isa::Arch;
use cdna_sim::timing::{Resources, occupancy};

use crate::tools;

const CLANG: &str = "clang-22";

/// Kernel names and their occupancy in the remarks of `-Rpass-analysis=kernel-resource-usage`.
fn remarks(text: &str) -> Vec<(String, u32)> {
    let field = |line: &str, name: &str| {
        let value = line.split_once(name)?.1;
        Some(value.split_whitespace().next()?.to_owned())
    };
    let mut kernel = String::new();
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(name) = field(line, "Function Name: ") {
            kernel = name;
        } else if let Some(waves) = field(line, "Occupancy [waves/SIMD]: ") {
            found.push((kernel.clone(), waves.parse().unwrap()));
        }
    }
    found
}

/// Registers, LDS and workgroup size decide the same residency as LLVM's own computation, for every
/// kernel of two files on both targets.
#[test]
fn occupancy_equals_the_one_that_llvm_prints() {
    if !tools::available(&[CLANG]) {
        return;
    }
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels");
    let dir = tools::scratch("occupancy");
    let mut seen = std::collections::BTreeSet::new();
    for arch in Arch::ALL {
        for file in ["absorb_bmm", "indexer_select"] {
            let object = dir.join(format!("{file}.hsaco"));
            let output = Command::new(CLANG)
                .args(["-x", "hip", "-std=c++17", "-O3", "-nogpulib", "-nogpuinc"])
                .args(["--cuda-device-only", "--no-gpu-bundle-output", "-mcode-object-version=5"])
                .args(["-Rpass-analysis=kernel-resource-usage"])
                .arg(format!("--offload-arch={arch}"))
                .arg(kernels.join(format!("{file}.hip")))
                .arg("-o")
                .arg(&object)
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{text}");
            let bytes = std::fs::read(&object).unwrap();
            let object = CodeObject::parse(&bytes, Some(arch)).unwrap();
            let expected = remarks(&text);
            assert_eq!(expected.len(), object.kernels.len());
            for (name, waves) in expected {
                let kernel = object.kernel(&name).unwrap();
                let total = kernel.descriptor.vgprs();
                let vgprs = kernel.descriptor.acc_offset().min(total);
                let resources = Resources {
                    vgprs,
                    agprs: total - vgprs,
                    sgprs: kernel.sgpr_count,
                    lds: kernel.lds_size,
                    threads: kernel.max_workgroup,
                };
                let ours = occupancy(ArchParams::load(arch).unwrap(), &resources);
                assert_eq!(ours.waves_per_simd, waves, "{name} for {arch}: {resources:?}");
                seen.insert(waves);
            }
        }
    }
    assert!(seen.len() >= 3, "only these occupancies were compared: {seen:?}");
}
