use std::path::PathBuf;

use super::*;
use crate::hip::Hip;

const PROBE: &[u8] = include_bytes!("../../sim/tests/data/probe.gfx950.hsaco");

/// An .npy file as NumPy's format description lays it out: magic, version 1.0, header length, the
/// header padded so that data starts at a multiple of 64, data.
fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

struct Folder {
    dir: tempfile::TempDir,
    device: Device,
}

impl Folder {
    fn new() -> Self {
        let folder = Folder {
            dir: tempfile::tempdir().unwrap(),
            device: Hip::simulator().unwrap().device(1).unwrap(),
        };
        folder.put("probe.hsaco", PROBE);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    fn run(&self, kernel: &str, grid: u32, block: u32, spec: &str) -> Result<Report, RunError> {
        self.put("spec.json", spec.as_bytes());
        let request = Request {
            file: self.path("probe.hsaco"),
            kernel: kernel.to_owned(),
            launch: Launch { grid: [grid, 1, 1], block: [block, 1, 1], lds: 4096 },
            args: Some(self.path("spec.json")),
            timing: true,
        };
        run(&self.device, &request)
    }

    fn message(&self, kernel: &str, spec: &str) -> String {
        self.run(kernel, 1, 64, spec).unwrap_err().to_string()
    }
}

#[test]
fn a_kernel_reads_and_writes_array_files() {
    let folder = Folder::new();
    let input: Vec<u8> = (0..128u32).flat_map(u32::to_le_bytes).collect();
    folder.put("in.npy", &npy("<u4", "False", "(2, 64)", &input));
    let spec = r#"[{"buffer_inout": "in.npy", "out": "out.npy"},
                   {"buffer_out": "sum.npy", "dtype": "u32", "shape": [3], "offset_bytes": 4},
                   {"u32": 64}]"#;
    let report = folder.run("reverse", 2, 64, spec).unwrap();
    assert_eq!(report.outputs, [folder.path("out.npy"), folder.path("sum.npy")]);
    assert_eq!((report.lds, report.simulated), (8192, true));
    let reversed: Vec<u8> =
        (0..64u32).rev().chain((64..128).rev()).flat_map(u32::to_le_bytes).collect();
    let written = std::fs::read(folder.path("out.npy")).unwrap();
    assert!(written.ends_with(&reversed));
    let array = Array::read(&folder.path("out.npy")).unwrap();
    assert_eq!((array.dtype, array.shape, array.data), (Dtype::U32, vec![2, 64], reversed));
    // 0 + .. + 63 = 2016, and 64 more for each of 64 elements.
    let sums: Vec<u8> = [0u32, 2016, 6112].into_iter().flat_map(u32::to_le_bytes).collect();
    assert_eq!(Array::read(&folder.path("sum.npy")).unwrap().data, sums);
    assert_eq!(Array::read(&folder.path("in.npy")).unwrap().data, input);
    let stats = report.stats.unwrap();
    assert_eq!((stats.launches, stats.workgroups_run), (1, 2));
    assert_eq!(stats.classes.values().sum::<u64>(), stats.instructions);
    assert!(report.time_us.is_some_and(|us| us > 0.0));
}

#[test]
fn arguments_that_contradict_the_metadata_are_refused_before_anything_runs() {
    let folder = Folder::new();
    folder.put("a.npy", &npy("<u4", "False", "(64,)", &[0; 256]));
    let [a, sum] = [r#"{"buffer": "a.npy"}"#, r#"{"null": true}"#];
    let with = |last: &str| folder.message("reverse", &format!("[{a}, {sum}, {last}]"));
    assert_eq!(
        folder.message("reverse", &format!("[{a}]")),
        "kernel reverse: it takes 3 arguments, but 1 are given; it takes pointer, pointer, 4 bytes"
    );
    assert_eq!(
        with(r#"{"u64": 1}"#),
        "kernel reverse: argument 2 (threads) has 4 bytes, but the u64 given has 8"
            .replace(" (threads)", &arg_name("reverse", 2))
    );
    assert!(with(r#"{"null": true}"#).contains("is a value of 4 bytes, but a pointer is given"));
    let scalar = folder.message("reverse", &format!(r#"[{{"u64": 0}}, {sum}, {{"u32": 1}}]"#));
    assert!(scalar.contains("is a pointer, but a u64 is given"), "{scalar}");
    let offset = |n| {
        let first = format!(r#"{{"buffer": "a.npy", "offset_bytes": {n}}}"#);
        folder.message("reverse", &format!(r#"[{first}, {sum}, {{"u32": 1}}]"#))
    };
    assert!(offset("260").contains("is 260, but the buffer has 256 bytes"));
    assert!(offset("2").contains("no multiple of the 4-byte elements"));
    assert!(folder.message("nothing", "[]").contains("no kernel nothing; the code object has ids"));
}

/// The name in the metadata, as the message shows it.
fn arg_name(kernel: &str, index: usize) -> String {
    let object = cdna_sim::code_object::CodeObject::parse(PROBE, None).unwrap();
    let name = object.kernel(kernel).unwrap().explicit_args().nth(index).unwrap().name.clone();
    name.map_or(String::new(), |n| format!(" ({n})"))
}

#[test]
fn a_malformed_argument_list_is_refused_with_the_argument_and_the_field() {
    let folder = Folder::new();
    folder.put("a", b"an input");
    for (spec, part) in [
        ("{", "not JSON"),
        ("{}", "expected a JSON list"),
        ("[1]", "argument 0: expected an object"),
        (r#"[{"f8": 1}]"#, "unknown kind \"f8\""),
        (r#"[{"i8": 128}]"#, "128 is no i8"),
        (r#"[{"u32": -1}]"#, "-1 is no u32"),
        (r#"[{"u64": 18446744073709551616}]"#, "is no u64"),
        (r#"[{"i32": 1.5}]"#, "1.5 is no i32"),
        (r#"[{"f32": 1e39}]"#, "is no f32"),
        (r#"[{"f16": 65520}]"#, "65520 is no f16"),
        (r#"[{"bool": 1}]"#, "1 is no bool"),
        (r#"[{"null": false}]"#, "\"null\" must be true"),
        (r#"[{"buffer": 3}]"#, "\"buffer\" must be a file name"),
        (r#"[{"buffer": "a", "dtype": "f32"}]"#, "misplaced field \"dtype\""),
        (r#"[{"buffer_inout": "a"}]"#, "buffer_inout needs \"out\""),
        (r#"[{"buffer_out": "a", "shape": [1]}]"#, "buffer_out needs \"dtype\""),
        (r#"[{"buffer_out": "a", "dtype": "f8", "shape": [1]}]"#, "\"dtype\" must be one of bool"),
        (r#"[{"buffer_out": "a", "dtype": "f32", "shape": [-1]}]"#, "\"shape\" must be a list"),
        (r#"[{"buffer": "a", "offset_bytes": -4}]"#, "\"offset_bytes\" must be a whole number"),
        (r#"[{"i32": 1, "u32": 1}]"#, "expected one of"),
        (r#"[{"null": true}, {"u32": 1, "u32": 2}]"#, "argument 1: field \"u32\" is given twice"),
        (r#"[{"buffer": "a"}, {"buffer_out": "a", "dtype": "f32", "shape": [1]}]"#, "argument 1: "),
        (
            r#"[{"buffer": "a"}, {"buffer_out": "./a", "dtype": "f32", "shape": [1]}]"#,
            "would replace the input of argument 0",
        ),
        (r#"[{"buffer_inout": "a", "out": "a"}]"#, "would replace the input of argument 0"),
        (
            r#"[{"buffer_inout": "b", "out": "a2"},
                {"buffer_out": "a2", "dtype": "f32", "shape": [1]}]"#,
            "arguments 0 and 1 both write",
        ),
    ] {
        let message = folder.message("spin", spec);
        assert!(message.contains(part), "{spec}: {message}");
        assert!(message.contains("spec.json"), "{message}");
    }
    let long = format!(r#"[{{"u32": "{}"}}]"#, "x".repeat(100_000));
    assert!(folder.message("spin", &long).len() < 400);
    let huge = r#"[{"buffer_out": "c", "dtype": "f64", "shape": [4294967296, 4294967296]}]"#;
    assert!(folder.message("spin", huge).contains("takes more than 4 GiB"));
}

#[test]
fn unusable_array_files_are_refused_by_name() {
    let folder = Folder::new();
    let message = |file: &[u8]| {
        folder.put("x.npy", file);
        let text = folder.message("spin", r#"[{"buffer": "x.npy"}]"#);
        assert!(text.contains("x.npy: "), "{text}");
        text
    };
    assert!(message(b"PK\x03\x04").contains("not an .npy file"));
    let long = npy(&"<f4".repeat(10_000), "False", "(1,)", &[0; 4]);
    assert!(message(&long).len() < 600);
    assert!(message(&npy("<u4", "False", "(4,)", &[0; 12])).contains("holds 12 bytes of data"));
    assert!(message(&npy(">f4", "False", "(1,)", &[0; 4])).contains("big-endian"));
    assert!(message(&npy("<f4", "True", "(2, 2)", &[0; 16])).contains("Fortran order"));
    assert!(message(&npy("<c8", "False", "(1,)", &[0; 8])).contains("not supported"));
    let missing = folder.message("spin", r#"[{"buffer": "missing.npy"}]"#);
    assert!(missing.contains("missing.npy"), "{missing}");
}

#[test]
fn a_fault_leaves_the_output_files_alone() {
    let folder = Folder::new();
    folder.put("out.npy", b"precious");
    let spec = r#"[{"buffer_out": "out.npy", "dtype": "u8", "shape": [8]},
                   {"u32": 0}, {"u32": 3}, {"u64": 8}]"#;
    let error = folder.run("stray", 1, 64, spec).unwrap_err().to_string();
    assert!(error.contains("hipErrorIllegalAddress") && error.contains("lane 3"), "{error}");
    assert_eq!(std::fs::read(folder.path("out.npy")).unwrap(), b"precious");
}

/// 1.0 is 0x3f80 in bf16 and 0x3c00 in f16.
#[test]
fn scalars_become_their_little_endian_bytes() {
    let folder = Folder::new();
    folder.put(
        "s.json",
        br#"[{"bf16": 1}, {"f16": 1.0}, {"i16": -2}, {"bool": true}, {"f64": "-inf"}, {"f32": 0.5},
            {"u64": 18446744073709551615}]"#,
    );
    let bytes: Vec<_> = Spec::read(&folder.path("s.json"))
        .unwrap()
        .arguments
        .into_iter()
        .map(|argument| match argument {
            Argument::Scalar { bytes, .. } => bytes,
            other => panic!("{other:?}"),
        })
        .collect();
    let expected: [&[u8]; 7] = [
        &[0x80, 0x3f],
        &[0x00, 0x3c],
        &[0xfe, 0xff],
        &[1],
        &[0, 0, 0, 0, 0, 0, 0xf0, 0xff],
        &[0, 0, 0, 0x3f],
        &[0xff; 8],
    ];
    assert_eq!(bytes, expected);
}

#[test]
fn every_element_type_survives_a_round_trip() {
    let folder = Folder::new();
    for (name, data) in [
        ("bool", vec![0, 1, 1, 0]),
        ("i8", vec![0xff, 2, 3, 4]),
        ("u16", vec![1, 2, 3, 4]),
        ("f16", vec![0x00, 0x3c, 0x00, 0xc0]),
        ("f32", vec![0, 0, 0x80, 0x3f]),
        ("i64", vec![0xfe; 8]),
    ] {
        let dtype = Dtype::parse(name).unwrap();
        let shape = vec![data.len() as u64 / dtype.bytes()];
        let array = Array { dtype, shape, data };
        array.write(&folder.path("a.npy")).unwrap();
        assert_eq!(Array::read(&folder.path("a.npy")).unwrap(), array, "{name}");
    }
}

/// 0xffffffff is no instruction.
#[test]
fn code_that_cannot_be_executed_is_a_bad_file_and_not_a_failure_of_the_tool() {
    let folder = Folder::new();
    let object = cdna_sim::code_object::CodeObject::parse(PROBE, None).unwrap();
    let code = object.code();
    let at = PROBE.windows(code.len()).position(|bytes| bytes == code).unwrap();
    let (_, start) = object.functions.iter().find(|(name, _)| name == "reverse").unwrap();
    // Behind the first instruction of the kernel, which is looked at before anything runs.
    let second = at + (start - object.text.addr) as usize + 8;
    let mut damaged = PROBE.to_vec();
    damaged[second..second + 64].fill(0xff);
    folder.put("probe.hsaco", &damaged);
    let spec = r#"[{"buffer_out": "out.npy", "dtype": "u32", "shape": [64]}, {"null": true},
                   {"u32": 64}]"#;
    let error = folder.run("reverse", 1, 64, spec).unwrap_err();
    let error = crate::error::Error::from(error);
    assert_eq!(error.exit, crate::error::Exit::Format, "{error}");
    assert!(error.message.contains("0xffffffff"), "{error}");
}
