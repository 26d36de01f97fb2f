use super::memory::Growth;
use super::observations::read_csv;
use super::*;
use crate::profile::testing::{Truth, profile};

#[test]
fn a_profile_gives_its_true_memory_gain_and_time() {
    let truth = Truth { c: 9, gain: 2.0, ..Truth::default() };
    let profile = profile(truth);
    let fit = fit_profile(&profile);
    assert_eq!(fit.profile_sha256.as_deref(), Some(profile.sha256()));
    assert!((fit.memory_of("dense").unwrap().c.point - 9.0).abs() < 0.01);
    assert!((fit.memory_of("fp8").unwrap().c.point - 5.0).abs() < 0.01);
    let pooled = fit.memory_of("row_pooled").unwrap();
    assert_eq!(pooled.growth, Growth::Pooled);
    assert!((pooled.pool_bytes.unwrap() / truth.pool as f64 - 1.0).abs() < 0.02);
    assert_eq!(fit.memory_of("key_blocked").unwrap().growth, Growth::Flat);
    // At M = 256*64 + 63 the 257th tile is nearly full: its partner is 16384, 63 rows away.
    let gain = fit.alignment[0].ragged().unwrap();
    assert!((gain.at.gain - 2.0).abs() < 0.02, "{:?}", gain.at);
    assert!(fit.alignment[0].block.as_ref().unwrap().manifest_agrees);
    assert!(fit.latency.iter().all(|l| l.worst_error < 1e-6));
    assert!(fit.remarks.is_empty());
}

#[test]
fn a_fit_reads_back_and_refuses_another_profile() {
    let dir = tempfile::tempdir().unwrap();
    let profile = profile(Truth::default());
    let fit = fit_profile(&profile);
    fit.write(dir.path()).unwrap();
    assert_eq!(Fit::read(dir.path(), profile.sha256()).unwrap(), fit);
    let message = Fit::read(dir.path(), "0123").unwrap_err().to_string();
    assert!(message.contains("fit.json") && message.contains("0123"), "{message}");
}

#[test]
fn observations_of_one_system_give_one_fit_and_of_many_one_each() {
    let boots = read_csv(include_str!("../../profiles/field/boots.csv")).unwrap();
    let (fits, errors) = fit_observations(&boots.rows, LMeans::Context);
    assert_eq!((fits.len(), errors.len()), (1, 0));
    assert_eq!(fits[0].path, OBSERVED);
    let cases = read_csv(include_str!("../../profiles/field/field_cases.csv")).unwrap();
    let (fits, _) = fit_observations(&cases.rows, LMeans::Context);
    // A06's one measured transient: 49.7e9 / (16384 * 300,000) = 10.1 B.
    let a06 = fits.iter().find(|f| f.path.contains("sglang#39187")).unwrap();
    assert!((a06.c.point - 10.1).abs() < 0.1, "{:?}", a06.c);
}
