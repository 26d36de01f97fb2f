//! Against recorded decisions of SGLang, and arithmetic that its documentation gives.

use super::oracle::Recording;
use super::scenario::Scenarios;
use super::*;

const RECORDED: &str = include_str!("../../../tests/data/sglang-0.5.23-admission.json");

fn settings(exact_fill: bool) -> Settings {
    Settings {
        page: 64,
        chunk: Some(16_384),
        max_prefill: 16_384,
        exact_fill,
        mixed: false,
        max_requests: None,
        max_running: None,
    }
}

fn request(id: usize, prompt: i64) -> Request {
    Request { id, prompt, max_new: 1, ignore_eos: false, cached: 0 }
}

/// First pass over 20 prompts of 8100 tokens.
fn first_pass(settings: &Settings) -> Pass {
    let pool = Pool::with_tree(1 << 20, settings.page, 20);
    let mut scheduler = Scheduler::new(settings, pool, None);
    (0..20).for_each(|id| scheduler.push(request(id, 8100)));
    assert_eq!(scheduler.step().unwrap(), Step::Prefill);
    scheduler.pass().unwrap().clone()
}

#[test]
fn every_recorded_decision_of_sglang_is_reproduced() {
    let found = Recording::parse(RECORDED).unwrap().compare();
    assert_eq!(found.mismatches, [""; 0]);
    assert_eq!(found.refused, [""; 0]);
    assert_eq!(found.counts, [("scenarios", 727), ("passes", 10_367), ("events", 25_652)]);
}

#[test]
fn page_rounding_leaks_56_tokens_of_a_16384_chunk_and_exact_fill_none() {
    // 8100 tokens are charged as 127 pages, 8128: two leave 128 of 16384, so the third gets 128
    // rows. 8100 + 8100 + 128 = 16328 rows run for 16384 charged.
    let rounded = first_pass(&settings(false));
    assert_eq!((rounded.rows, rounded.chunk_after), (16_328, Some(0)));
    // In rows, two leave 184.
    let exact = first_pass(&settings(true));
    assert_eq!((exact.rows, exact.chunk_after), (16_384, Some(0)));
    let extends = |pass: &Pass| pass.events.iter().map(|e| e.extend).collect::<Vec<_>>();
    assert_eq!(extends(&rounded), [8100, 8100, 128]);
    assert_eq!(extends(&exact), [8100, 8100, 184]);
}

#[test]
fn a_changed_recording_is_reported_with_scenario_pass_and_field() {
    let mut file: serde_json::Value = serde_json::from_str(RECORDED).unwrap();
    let scenarios = file["scenarios"].as_array_mut().unwrap();
    scenarios.truncate(2);
    let rows = &mut scenarios[1]["passes"][1][13];
    *rows = (rows.as_i64().unwrap() + 1).into();
    let id = scenarios[1]["id"].clone();
    let found = Recording::parse(&file.to_string()).unwrap().compare();
    assert_eq!(found.mismatches.len(), 1);
    let message = &found.mismatches[0];
    assert!(message.starts_with(&format!("scenario {id} ")), "{message}");
    assert!(message.contains("pass 1, sum_extend"), "{message}");
}

#[test]
fn a_path_that_was_never_recorded_is_refused_by_name() {
    let mut file: serde_json::Value = serde_json::from_str(RECORDED).unwrap();
    let scenarios = file["scenarios"].as_array_mut().unwrap();
    scenarios.truncate(2);
    scenarios[0]["hicache"] = 4096.into();
    scenarios[1]["hicache"] = 0.into();
    let found = Recording::parse(&file.to_string()).unwrap().compare();
    assert_eq!(found.counts[0], ("scenarios", 1));
    assert_eq!(found.refused.len(), 1);
    assert!(found.refused[0].contains("`hicache`: 4096"), "{}", found.refused[0]);
}

#[test]
fn figures_out_of_range_are_refused_with_their_field() {
    let file: Scenarios = serde_json::from_str(RECORDED).unwrap();
    let mut raw: serde_json::Value = serde_json::from_str(RECORDED).unwrap();
    let cases = [
        ("page", 0, "`page` is 0"),
        ("page", -64, "`page` is -64"),
        ("chunk", 0, "`chunk` is 0"),
        ("max_prefill", 0, "`max_prefill` is 0"),
        ("kv", 0, "`kv` is 0"),
        ("max_new", 0, "`max_new` is 0"),
        ("kv", i64::MAX, "`kv` is 9223372036854775807"),
        ("exact", 2, "`exact` is 2"),
    ];
    for (field, value, expected) in cases {
        let mut scenario = raw["scenarios"][0].take();
        raw["scenarios"][0] = scenario.clone();
        scenario[field] = value.into();
        let scenario: scenario::Scenario = serde_json::from_value(scenario).unwrap();
        let message = scenario.replay(&file).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    let mut scenario = raw["scenarios"][0].clone();
    (scenario["page"], scenario["chunk"]) = (256.into(), 128.into());
    let scenario: scenario::Scenario = serde_json::from_value(scenario).unwrap();
    let message = scenario.replay(&file).unwrap_err().to_string();
    assert!(message.contains("chunk of 128 tokens is smaller than the page of 256"), "{message}");
}

#[test]
fn decodes_that_outgrow_the_pool_are_an_error_and_not_a_guess() {
    let settings = Settings { page: 1, ..settings(false) };
    let mut scheduler = Scheduler::new(&settings, Pool::without_cache(100, 1), None);
    let decoding = |id| Request { max_new: 30, ..request(id, 1) };
    (0..3).for_each(|id| scheduler.push(decoding(id)));
    assert_eq!(scheduler.step().unwrap(), Step::Prefill);
    // 97 tokens are free and 0.7 * 3 * 29 = 60.9 are reserved: 36.1 are more than the 32 of one
    // more request. But four requests of 31 tokens do not fit into 100.
    scheduler.push(decoding(3));
    assert_eq!(scheduler.step().unwrap(), Step::Prefill);
    let failed = (0..30).find_map(|_| scheduler.step().err());
    assert!(matches!(failed, Some(AdmissionError::Retraction { .. })), "{failed:?}");
}
