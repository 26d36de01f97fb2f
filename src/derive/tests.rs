use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;
use crate::fit::observations::read_csv;
use crate::model::Layout;
use crate::options::ServerLimits;
use crate::options::testing::limits;
use crate::plan::Status;
use crate::profile::testing::{Truth, profile};
use crate::units::Bytes;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/sizer.json");
const JSON_SCHEMA: &str = include_str!("../../schemas/sizer-v1.schema.json");

fn request() -> Request {
    Request {
        limits: ServerLimits { free_bytes: Some(Bytes(5_000_000_000)), ..limits() },
        device_free: None,
        layout: Layout { tp: 4, dp: 1, cp: 1 },
        context_length: None,
        memory_path: None,
    }
}

#[test]
fn the_golden_sizer_is_what_a_budget_of_2e8_gives() {
    let sizer = sizer_of_budget(200_000_000, &request(), "gfx950", "deepseek-v4.1").unwrap();
    assert_eq!(Sizer::read(Path::new(GOLDEN)).unwrap(), sizer);
    let expected = [
        (50_000, Some(2048)),
        (97_656, Some(2048)),
        (100_000, Some(1792)),
        (195_312, Some(1024)),
        (195_313, Some(768)),
        (390_625, Some(512)),
        (781_250, Some(256)),
        (781_251, None),
    ];
    for (prefix, chunk) in expected {
        assert_eq!(sizer.predict(prefix), chunk, "prefix {prefix}");
    }
}

#[test]
fn the_json_schema_names_exactly_the_fields_of_a_sizer() {
    let schema: serde_json::Value = serde_json::from_str(JSON_SCHEMA).unwrap();
    let names = |value: &serde_json::Value| -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    let sizer: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(GOLDEN).unwrap()).unwrap();
    assert_eq!(names(&schema["properties"]), names(&sizer));
    let required: BTreeSet<String> = serde_json::from_value(schema["required"].clone()).unwrap();
    // Older files lack these.
    let optional = ["context_length", "frontier", "tail_fraction"].map(str::to_owned);
    let optional = BTreeSet::from(optional);
    assert_eq!(&required | &optional, names(&sizer));
    assert!(required.is_disjoint(&optional));
    let fill = &schema["properties"]["exact_fill"];
    assert_eq!(names(&fill["properties"]), names(&sizer["exact_fill"]));
}

#[test]
fn sizers_that_contradict_themselves_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sizer.json");
    let good = fs::read_to_string(GOLDEN).unwrap();
    let cases = [
        ("chunktune/sizer/v1", "chunktune/sizer/v2", "schema"),
        ("\"align\": 256", "\"align\": 100", "align"),
        ("\"context_length\": 781312", "\"context_length\": 781249", "context_length"),
        ("\"chunk_min\": 256", "\"chunk_min\": 4096", "chunk_min"),
        ("\"c_95\": 14.0", "\"c_95\": -1.0", "c_95"),
        ("\"tail_fraction\": 0.25", "\"tail_fraction\": 1.5", "tail_fraction"),
    ];
    for (from, to, field) in cases {
        assert!(good.contains(from), "{from}");
        fs::write(&path, good.replace(from, to)).unwrap();
        let message = Sizer::read(&path).unwrap_err().to_string();
        assert!(message.contains(&format!("`{field}`")), "{message}");
    }
    let mut unsorted = Sizer::read(Path::new(GOLDEN)).unwrap();
    unsorted.table.swap(0, 1);
    unsorted.write(dir.path()).unwrap();
    assert!(Sizer::read(&path).unwrap_err().to_string().contains("`table`"));
}

#[test]
fn every_derived_file_carries_the_hash_of_its_profile() {
    let dir = tempfile::tempdir().unwrap();
    let profile = profile(Truth::default());
    profile.write(dir.path()).unwrap();
    let written = derive(&profile, &Options::new(request())).write(dir.path(), &profile).unwrap();
    let names: BTreeSet<String> =
        written.iter().map(|p| p.strip_prefix(dir.path()).unwrap().display().to_string()).collect();
    for name in ["fit.json", "sizer.json", "tune.env", "report.html", "plots/memory.svg"] {
        assert!(names.contains(name), "{name} in {names:?}");
    }
    for path in &written {
        let text = fs::read_to_string(path).unwrap();
        let plot = path.extension().is_some_and(|e| e == "svg");
        let hash = if plot { &profile.sha256()[..12] } else { profile.sha256() };
        assert!(text.contains(hash), "{}", path.display());
    }
}

#[test]
fn bundled_pipelines_are_unvalidated_in_every_file() {
    let dir = tempfile::tempdir().unwrap();
    let profile = profile(Truth::default());
    let derived = derive(&profile, &Options::new(request()));
    derived.write(dir.path(), &profile).unwrap();
    let sizer = Sizer::read(&dir.path().join("sizer.json")).unwrap();
    assert_eq!((sizer.status, sizer.c_95), (Status::Unvalidated, 14.0));
    let env = fs::read_to_string(dir.path().join("tune.env")).unwrap();
    assert!(env.contains("# status: unvalidated") && env.contains("no GPU was used"));
    // Bundled kernels decide nothing: the switch is only mentioned, never set.
    assert!(!env.lines().any(|line| line.starts_with("SGLANG_EXACT_CHUNK_FILL")));
    assert!(report::summary(&profile, &derived).contains("unvalidated"));
}

#[test]
fn the_environment_file_holds_one_plain_variable_a_line() {
    let dir = tempfile::tempdir().unwrap();
    let profile = profile(Truth::default());
    let request = Request { memory_path: Some("row_pooled".into()), ..request() };
    derive(&profile, &Options::new(request)).write(dir.path(), &profile).unwrap();
    let env = fs::read_to_string(dir.path().join("tune.env")).unwrap();
    for line in env.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let (name, value) = line.split_once('=').unwrap();
        assert!(name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
        // Only the flags have spaces, and quotes for them.
        let plain = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        let plain = plain.filter(|_| name == emit::ARGS_VARIABLE).unwrap_or(value);
        assert!(!plain.is_empty() && !plain.contains(['"', '\'']), "{line}");
    }
    // 3 GB usable less m0 (1 MiB) and 8192 B for each of 2048 rows is 2982 MB: the 2 GiB default
    // pool fits.
    assert!(env.contains("\nSGLANG_DSV4_FP4_LOGITS_BUDGET_MB=2048\n"), "{env}");
    // The plan is in pages of 256, and SGLang gives this model pages of 64.
    assert!(env.contains("--chunked-prefill-size 2048") && env.contains("--page-size 64"));
}

#[test]
fn observations_of_the_deployed_engine_validate_the_plan_of_their_device() {
    let boots = include_str!("../../profiles/field/boots.csv");
    let sizer = |csv: &str| {
        let mut options = Options::new(request());
        options.observations = read_csv(csv).unwrap().rows;
        derive(&profile(Truth::default()), &options).sizer.unwrap()
    };
    let here = sizer(&boots.replace("unified-memory head node", "MI355X"));
    assert_eq!(here.status, Status::Validated);
    assert!((15.5..16.3).contains(&here.c_95), "{}", here.c_95);
    assert_eq!(sizer(boots).status, Status::Unvalidated);
}

#[test]
fn the_flag_is_for_all_attention_groups_and_the_plan_for_one() {
    let request = Request { layout: Layout { tp: 8, dp: 4, cp: 1 }, ..request() };
    let sizer = derive(&profile(Truth::default()), &Options::new(request)).sizer.unwrap();
    assert_eq!(sizer.static_chunk, 2048);
    let table = Table::load().unwrap();
    let context = Context {
        release: table.release("0.5.23".parse().unwrap()),
        headline: "",
        sizer_path: "sizer.json",
        exact_fill: "",
        ends_by: None,
    };
    let args = Deployment::new(&sizer, &context).args();
    assert_eq!(args[..2], ["--chunked-prefill-size", "8192"]);
}
