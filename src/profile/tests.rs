use std::fs;

use super::testing::{Truth, absorb, points, profile, provenance};
use super::*;

#[test]
fn a_written_profile_reads_back_equal() {
    let dir = tempfile::tempdir().unwrap();
    let mut all = points(Truth::default());
    all[0].outcome = Outcome::Oom;
    all[0].message = Some("hipMalloc: out of memory".into());
    all[0].time_us = None;
    let written = Profile::new(all, provenance("gfx950", "MI355X")).unwrap();
    written.write(dir.path()).unwrap();
    for path in [dir.path().to_owned(), dir.path().join(PROFILE_FILE)] {
        let read = Profile::read(&path).unwrap();
        assert_eq!(read.points(), written.points());
        assert_eq!(read.provenance(), written.provenance());
        assert_eq!(read.sha256(), written.sha256());
    }
}

#[test]
fn the_hash_is_that_of_the_file_and_depends_on_points_and_engine() {
    let dir = tempfile::tempdir().unwrap();
    let one = profile(Truth::default());
    one.write(dir.path()).unwrap();
    let bytes = fs::read(dir.path().join(PROFILE_FILE)).unwrap();
    assert_eq!(one.sha256(), files::sha256_hex(&bytes));
    assert_eq!(one.sha256(), profile(Truth::default()).sha256());
    assert_ne!(one.sha256(), profile(Truth { c: 10, ..Truth::default() }).sha256());
    let other = Profile::new(points(Truth::default()), provenance("gfx942", "MI300X")).unwrap();
    assert_ne!(one.sha256(), other.sha256());
}

#[test]
fn a_changed_truncated_or_missing_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    profile(Truth::default()).write(dir.path()).unwrap();
    let table = dir.path().join(PROFILE_FILE);
    let bytes = fs::read(&table).unwrap();
    for damaged in [&bytes[..bytes.len() / 2], &bytes[..0], b"PAR1"] {
        fs::write(&table, damaged).unwrap();
        let message = Profile::read(dir.path()).unwrap_err().to_string();
        assert!(message.contains("profile_sha256"), "{message}");
    }
    fs::remove_file(&table).unwrap();
    assert!(matches!(Profile::read(dir.path()), Err(FileError::Io { .. })));
}

#[test]
fn provenance_that_claims_another_engine_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    profile(Truth::default()).write(dir.path()).unwrap();
    let path = dir.path().join(PROVENANCE_FILE);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"simulated\"", "\"hardware\"")).unwrap();
    let message = Profile::read(dir.path()).unwrap_err().to_string();
    assert!(message.contains("engine=simulated"), "{message}");
}

#[test]
fn a_file_of_another_schema_or_without_parquet_magic_is_refused() {
    let path = Path::new("p.parquet");
    let error = columns::decode(path, b"not parquet at all").unwrap_err();
    assert!(matches!(error, FileError::Malformed { .. }), "{error}");
    let mut bytes = columns::encode(path, &[absorb("even", 64, 64, 1.0, 1)], "s").unwrap();
    let at = bytes.windows(SCHEMA.len()).position(|w| w == SCHEMA.as_bytes()).unwrap();
    bytes[at + SCHEMA.len() - 1] = b'9';
    let message = columns::decode(path, &bytes).unwrap_err().to_string();
    assert!(message.contains("expected `chunktune/profile/v1`"), "{message}");
}

#[test]
fn every_field_of_a_point_has_a_documented_column() {
    let value = serde_json::to_value(absorb("even", 64, 64, 1.0, 1)).unwrap();
    let fields: std::collections::BTreeSet<_> =
        value.as_object().unwrap().keys().cloned().collect();
    let columns = COLUMNS.iter().map(|c| c.name.to_owned()).collect();
    assert_eq!(fields, columns);
    assert!(COLUMNS.iter().all(|c| !c.meaning.is_empty() && !c.unit.is_empty()));
}
