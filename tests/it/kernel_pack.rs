//! Kernel packs: Triton kernels exported by the Python package, run on the simulator. The kernels
//! are our own under AITER's names (`python/tests/own`), so that no release of AITER is needed.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::command::run;
use crate::python::python;
use crate::tools;

/// Exports the prefill kernels of GLM-5.2's w_kc and of a small GEMM into `dir`; whether there is a Triton to do so.
fn export(dir: &Path, arch: &str) -> bool {
    let Some(mut probe) = python() else { return false };
    if !probe.args(["-c", "import triton"]).output().unwrap().status.success() {
        tools::report_missing("Python package triton");
        return false;
    }
    let mut command = python().unwrap();
    command.args(["-W", "ignore", "-m", "chunktune_sglang.export_kernels", "--arch", arch]);
    command.args(["--aiter", "tests/own", "--shape", "w_kc:16:512:192", "--rows-from", "257"]);
    command.args(["--gemm", "small:1:192:96"]);
    command.arg("--out").arg(dir.join("pack")).env("TRITON_CACHE_DIR", dir.join("cache"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

/// Both variants, on both targets with their formats of fp8.
#[test]
fn exported_triton_kernels_equal_the_reference_on_the_simulator() {
    for arch in ["gfx942", "gfx950"] {
        let dir = tempfile::tempdir().unwrap();
        if !export(dir.path(), arch) {
            return;
        }
        let arguments = ["kernel", "check", "--arch", arch, "--kernels", "pack", "--json"];
        let finished = run(dir.path(), &arguments);
        assert_eq!(finished.status, 0, "{}{}", finished.stdout, finished.stderr);
        let reports: Value = serde_json::from_str(&finished.stdout).unwrap();
        let findings = reports[0]["findings"].as_array().unwrap();
        for variant in ["even", "ragged_wrap"] {
            for stem in ["aiter_absorb_bmm_w_kc_32x128", "aiter_gemm_small_64x64"] {
                let id = format!("{stem}_{variant}");
                assert!(findings.iter().any(|f| f["subject"] == id.as_str()), "{id}");
            }
        }
    }
}

/// At the shape that the pack was made for: 16 heads of 512 rows in tiles of 32, and 512 columns in
/// tiles of 128. The engine does not run the even kernel where 32 does not divide M.
#[test]
fn the_kernels_of_a_pack_are_profiled_beside_bundled_ones() {
    let dir = tempfile::tempdir().unwrap();
    if !export(dir.path(), "gfx950") {
        return;
    }
    let (even, bundled) = ("aiter_absorb_bmm_w_kc_32x128_even", "absorb_bmm_32x128_even");
    let pack = ["--kernels", "pack", "--json"];
    let finished =
        run(dir.path(), &[&["kernel", "profile", even, bundled, "--m", "512"], &pack[..]].concat());
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    let profiles: Vec<Value> = serde_json::from_str(&finished.stdout).unwrap();
    for (profile, kernel) in profiles.iter().zip([even, bundled]) {
        assert_eq!(profile["kernel"], kernel);
        assert_eq!(profile["shape"], "b=16 m=512 n=512 k=192");
        assert_eq!(profile["workgroups"], 16 * (512 / 32) * (512 / 128));
    }
    let finished =
        run(dir.path(), &[&["kernel", "profile", even, "--m", "500"], &pack[..]].concat());
    assert_eq!(finished.status, 2);
    assert!(finished.stderr.contains("does not take"), "{}", finished.stderr);
}

#[test]
fn a_pack_is_measured_by_m_and_its_pairs_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    if !export(dir.path(), "gfx950") {
        return;
    }
    let quick = ["--device", "gfx950", "--grid", "quick", "--kernels", "pack", "--out", "a"];
    let finished = run(dir.path(), &[&quick[..], &["--engine", "simulate"]].concat());
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert!(finished.stdout.contains("32 rows: w_kc"), "{}", finished.stdout);

    let provenance: Value =
        serde_json::from_slice(&fs::read(dir.path().join("a/provenance.json")).unwrap()).unwrap();
    let notes = provenance["notes"].to_string();
    assert!(notes.contains("BATCHED_GEMM-A8W8") && notes.contains("triton"), "{notes}");
    let journal = fs::read_to_string(dir.path().join("a/journal.jsonl")).unwrap();
    let rows = |variant: &str| -> Vec<u64> {
        let name = format!("aiter_absorb_bmm_w_kc_32x128_{variant}/w_kc/M=");
        let tail = |line: &str| line.split_once(&name)?.1.split('"').next()?.parse().ok();
        journal.lines().filter_map(tail).collect()
    };
    // AITER takes the even kernel where 32 divides M, and only there.
    assert!(rows("even").contains(&16_384) && rows("even").iter().all(|m| m % 32 == 0));
    assert!(rows("ragged_wrap").contains(&16_368));
    assert!(rows("ragged_wrap").iter().all(|m| m % 32 != 0));

    // A launch of half the workgroups would halve the time and compute half.
    let manifest = dir.path().join("pack/manifest.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("tile = { m = 32", "tile = { m = 64")).unwrap();
    let other = ["--out", "b", "--engine", "simulate"];
    run(dir.path(), &[&quick[..6], &other].concat())
        .fails_with(6, &["aiter_absorb_bmm_w_kc", "differs from its reference", "kernel check"]);
    assert!(!dir.path().join("b").exists());

    let finished = run(dir.path(), &["compare", "a", "a", "--json"]);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    let comparison: Value = serde_json::from_str(&finished.stdout).unwrap();
    let gains = comparison["gains"].as_array().unwrap();
    let pair = gains.iter().find(|g| g["kernel"] == "aiter_absorb_bmm_w_kc_32x128").unwrap();
    assert_eq!((&pair["deployed"], &pair["tile"]), (&Value::Bool(true), &"32x128".into()));
    let side = &pair["sides"][0];
    assert_eq!((side["m"].as_u64(), side["even_m"].as_u64()), (Some(16_368), Some(16_384)));
    // The ragged kernel wraps offsets and masks stores: it executes more for fewer rows.
    let counts = side["instruction_counts"].as_array().unwrap();
    assert!(counts[0].as_u64() > counts[1].as_u64(), "{counts:?}");
}

const PACK: &str = r#"
schema = "chunktune/kernels/v1"
[pack]
arch = "gfx950"
triton = "3.9.0"
aiter = "unknown"
source = []
[signature.s]
args = ["x:ptr"]
[[kernel]]
id = "own_even"
op = "absorb_bmm"
variant = "even"
dtype = "fp8"
tile = { m = 32, n = 128, k = { gfx950 = 128 } }
threads = 256
file = "own_even"
symbol = "own"
signature = "s"
archs = ["gfx950"]
deployed = true
[kernel.launch]
shape = "w_kc"
dims = { b = 16, n = 512, k = 192 }
rows = [[257, 2147483647]]
picks = "even"
grid = "b_mn"
lds = 0
head_major_out = true
settings = "{}"
specialised = ""
"#;

#[test]
fn a_damaged_pack_is_refused_with_file_and_field() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("pack");
    fs::create_dir(&folder).unwrap();
    let refused = |text: Option<&str>, words: &[&str]| {
        if let Some(text) = text {
            fs::write(folder.join("manifest.toml"), text).unwrap();
        }
        let quick = ["--device", "gfx950", "--grid", "quick", "--kernels", "pack", "--out", "a"];
        let finished = run(dir.path(), &quick);
        assert_eq!(finished.status, 4, "{}", finished.stderr);
        for word in [&["pack/"], words].concat() {
            assert!(finished.stderr.contains(word), "{word}\n{}", finished.stderr);
        }
        assert!(!dir.path().join("a").exists());
    };
    refused(None, &["manifest.toml", "reading"]);
    refused(Some("schema = 1"), &["manifest.toml", "not readable as kernel pack"]);
    refused(Some(PACK), &["own_even", "gfx950/own_even.hsaco is missing"]);
    let elsewhere = PACK.replacen("gfx950", "gfx942", 1);
    fs::create_dir(folder.join("gfx950")).unwrap();
    fs::write(folder.join("gfx950/own_even.hsaco"), b"no object").unwrap();
    refused(Some(&elsewhere), &["pack.arch", "expected gfx950, found gfx942"]);
    let of_another = PACK.replace("gfx950", "gfx942");
    refused(Some(&of_another), &["manifest.toml", "expected gfx950, found gfx942"]);
    refused(Some(PACK), &["gfx950/own_even.hsaco", "code object", "no ELF header"]);
    // A whole object of our own, cut short, and one without that kernel.
    let whole = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/sim/tests/data/probe.gfx950.hsaco"))
        .unwrap();
    fs::write(folder.join("gfx950/own_even.hsaco"), &whole[..whole.len() / 2]).unwrap();
    refused(Some(PACK), &["gfx950/own_even.hsaco", "code object"]);
    fs::write(folder.join("gfx950/own_even.hsaco"), &whole).unwrap();
    refused(Some(PACK), &["gfx950/own_even.hsaco", "own"]);
    refused(Some(&PACK.replace("[[257, 2147483647]]", "[]")), &["launch.rows"]);
    refused(Some(&PACK.replace("lds = 0", "lds = 999999")), &["launch.lds", "163840"]);
    for (field, other, words) in [
        ("n = 512", "n = 512000000000", "launch.dims: are 16, 512000000000, 192"),
        ("b = 16", "b = 18446744073709551615", "launch.dims"),
        ("257, 2", "5000000, 2", "launch.rows: start at 5000000"),
        ("\"fp8\"", "\"fp3\"", "kernel own_even: dtype: is fp3; expected fp8"),
        ("\"even\"\ndtype", "\"odd\"\ndtype", "kernel own_even: variant: is odd"),
        ("tile = { m = 32, n = 128, k = { gfx950 = 128 } }\n", "", "kernel own_even: tile"),
    ] {
        assert!(PACK.contains(field), "{field}");
        refused(Some(&PACK.replace(field, other)), &[words]);
    }
    let hashed = |hash: &str| PACK.replace("lds = 0", &format!("lds = 0\nsha256 = \"{hash}\""));
    refused(Some(&hashed("00")), &["launch.sha256", "expected 00", "gfx950/own_even.hsaco"]);
    let whole_hash = chunktune::files::sha256_hex(&whole);
    refused(Some(&hashed(&whole_hash)), &["gfx950/own_even.hsaco", "code object has no kernel"]);
    // Without --arch the pack's own target is read, and its fault is told, not that of another.
    let finished = run(dir.path(), &["kernel", "variants", "pack"]);
    finished.fails_with(4, &["gfx950/own_even.hsaco", "code object has no kernel"]);
    let outside = PACK.replace("file = \"own_even\"", "file = \"../own_even\"");
    refused(Some(&outside), &["is missing"]);
}
