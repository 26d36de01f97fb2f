//! The library in the hands of programs that know nothing of the simulator: one in C, linked against
//! it, and one in Python, which opens it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Folder of the library that cargo built beside this test.
fn library_folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let mut folders = test.ancestors().skip(1).take(2);
    folders.find(|folder| folder.join("libamdhip64.so").is_file()).unwrap().to_owned()
}

/// Whether `tools` are on the path. If not, the calling test should return: this prints why, or fails
/// where `CHUNKTUNE_REQUIRE_TOOLS=1` says that they must be there.
fn available(tools: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = |tool: &&&str| std::env::split_paths(&path).any(|dir| dir.join(tool).is_file());
    let missing: Vec<&&str> = tools.iter().filter(|tool| !found(tool)).collect();
    let required = std::env::var_os("CHUNKTUNE_REQUIRE_TOOLS").is_some_and(|v| v == "1");
    assert!(missing.is_empty() || !required, "CHUNKTUNE_REQUIRE_TOOLS=1, but no {missing:?}");
    if !missing.is_empty() {
        println!("skipped: there is no {missing:?}");
    }
    missing.is_empty()
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn run(command: &mut Command) -> (String, String) {
    let output = output(command);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}{err}", output.status);
    (out, err)
}

/// The C program `name`, compiled and linked against the library.
fn program(name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    run(Command::new("clang-22")
        .args(["-std=c99", "-Wall", "-Werror", "-o"])
        .args([&program, &source(&format!("{name}.c"))])
        .arg(format!("-L{}", library_folder().display()))
        .arg("-lamdhip64"));
    program
}

/// The kernel of the programs, compiled for `arch`.
fn module(name: &str, arch: &str) -> PathBuf {
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}_{arch}.hsaco"));
    run(Command::new("clang-22")
        .args(["-x", "hip", &format!("--offload-arch={arch}"), "-nogpulib", "-nogpuinc"])
        .args(["--cuda-device-only", "--no-gpu-bundle-output", "-O3", "-o"])
        .args([&object, &source("saxpy.hip")]));
    object
}

#[test]
fn a_c_program_runs_a_kernel_on_the_device_its_module_is_for() {
    if !available(&["clang-22"]) {
        return;
    }
    let (program, folder) = (program("saxpy"), library_folder());
    for arch in ["gfx942", "gfx950"] {
        let module = module("c", arch);
        let mut command = Command::new(&program);
        let (out, err) = run(command.arg(&module).env("LD_LIBRARY_PATH", &folder));
        let lines: Vec<&str> = out.lines().collect();
        assert!(lines[0].starts_with("device: "), "{out}");
        assert_eq!(lines[1..], ["right: 1000", "timed: yes", "managed: hipErrorNotSupported"]);
        assert_eq!(err, "cdna-sim: hipMallocManaged is not supported\n");
    }
}

/// What comes of each call, as `tour.c` prints it. Names of the HIP documentation's errors; a kernel of
/// 256 threads a workgroup with few registers fills the 32 waves of a compute unit with 8 workgroups.
#[test]
fn a_c_program_finds_what_it_expects_of_streams_events_copies_and_mistakes() {
    if !available(&["clang-22"]) {
        return;
    }
    let (program, folder) = (program("tour"), library_folder());
    for (device, arch, units) in [(0, "gfx942", 304), (1, "gfx950", 256)] {
        let mut command = Command::new(&program);
        let command = command.arg(module("tour", arch)).arg(device.to_string());
        let (out, err) = run(command.env("LD_LIBRARY_PATH", &folder));
        let lines: Vec<&str> = out.lines().collect();
        let facts = [
            format!("arch: {arch}"),
            "threads: 1024".to_owned(),
            format!("blocks: 8, potential: {} of 256", 8 * units),
            "right: 4096, timed: 1, called back: 1".to_owned(),
            "across: 24570, filled: 1".to_owned(),
            "pitch: 256, rows: abcd mnop".to_owned(),
            "taken: 64 GiB".to_owned(),
        ];
        for fact in facts {
            assert!(lines.contains(&fact.as_str()), "{fact}\n{out}");
        }
        let launch = "hipModuleLaunchKernel(f, 1, 1, 1,";
        let outcomes = [
            ("hipModuleLoadData(&none, image)", "InvalidImage"),
            ("hipModuleGetFunction(&g, second, \"nosuch\")", "NotFound"),
            ("hipFuncGetAttribute(&value, 0, g)", "InvalidHandle"),
            ("hipEventElapsedTime(&ms, start, never)", "InvalidHandle"),
            ("hipMalloc((void**)&rows, total)", "OutOfMemory"),
            ("hipFree(z)", "InvalidValue"),
            ("hipMemcpy(x, host, N * sizeof *x + 1, HostToDevice)", "InvalidValue"),
            ("hipMemcpy(host, x, 4, 9)", "InvalidMemcpyDirection"),
            (&format!("{launch} 2048, 1, 1, 0, NULL, params, NULL)"), "InvalidConfiguration"),
            (&format!("{launch} 64, 1, 1, 1 << 20, NULL, params, NULL)"), "InvalidConfiguration"),
            (&format!("{launch} 64, 1, 1, 0, NULL, NULL, NULL)"), "InvalidValue"),
            ("hipPeekAtLastError()", "IllegalAddress"),
            ("hipSetDevice(devices)", "InvalidDevice"),
            ("hipStreamSynchronize(start)", "InvalidHandle"),
            ("hipGraphInstantiate(NULL, NULL, NULL, NULL, 0)", "NotSupported"),
            ("hipHostFree(host)", "InvalidValue"),
            ("hipStreamDestroy(one)", "InvalidHandle"),
        ];
        for (call, error) in outcomes {
            let line = format!("{call}: hipError{error}");
            assert!(lines.contains(&line.as_str()), "{line}\n{out}");
        }
        // A read error is forgotten, and the device works on after a fault.
        let forgotten = "hipGetLastError() == 700 ? hipGetLastError() : 1: hipSuccess";
        let again = format!("{launch} 64, 1, 1, 0, NULL, params, NULL): hipSuccess");
        assert!(lines.contains(&forgotten) && lines.contains(&again.as_str()), "{out}");
        let named = ["hipGraphInstantiate", "hipMemAdvise"];
        let expected = named.map(|name| format!("cdna-sim: {name} is not supported\n"));
        assert_eq!(err, expected.concat());
    }
}

#[test]
fn a_python_script_runs_a_kernel_through_ctypes() {
    if !available(&["clang-22", "python3"]) {
        return;
    }
    let library = library_folder().join("libamdhip64.so");
    let (out, err) = run(Command::new("python3")
        .arg(source("saxpy.py"))
        .args([&library, &module("python", "gfx950")]));
    assert_eq!(out, "right: 1000\ngraph: hipErrorNotSupported\n");
    assert_eq!(err, "cdna-sim: hipGraphCreate is not supported\n");
}
