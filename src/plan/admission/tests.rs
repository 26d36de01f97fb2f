//! Against recorded decisions of SGLang, and arithmetic that its documentation gives.

use super::oracle::Recording;
use super::scenario::Scenarios;
use super::*;
use crate::plan::{ChunkRange, Schedule};
use proptest::prelude::*;

const RECORDED: &str = include_str!("../../../tests/data/sglang-0.5.23-admission.json");
const PATHS: &str = include_str!("../../../tests/data/sglang-0.5.23-admission-paths.json");
const MORE: &str = include_str!("../../../tests/data/sglang-0.5.23-admission-more.json");
const HOST: &str = include_str!("../../../tests/data/sglang-0.5.23-admission-host.json");
const SIZER: &str = include_str!("../../../tests/data/sglang-0.5.23-sizer.json");
const CLAMPED: &str = include_str!("../../../tests/data/sglang-0.5.23-admission-clamped.json");

fn settings(exact_fill: bool) -> Settings {
    Settings::new(64, 16_384, exact_fill)
}

fn request(id: usize, prompt: i64) -> Request {
    Request { id, prompt, max_new: 1, ignore_eos: false, cached: 0, host: 0, emitted: 0 }
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
fn recorded_decisions_on_the_other_paths_are_reproduced() {
    let found = Recording::parse(PATHS).unwrap().compare();
    assert_eq!(found.mismatches, [""; 0]);
    assert_eq!(found.refused, [""; 0]);
    assert_eq!(found.counts, [("scenarios", 359), ("passes", 9787), ("events", 13_737)]);
    let families = |file: &Scenarios| -> std::collections::BTreeSet<String> {
        file.scenarios.iter().map(|scenario| scenario.fam.clone()).collect()
    };
    let file: Scenarios = serde_json::from_str(PATHS).unwrap();
    let recorded: Vec<String> = families(&file).into_iter().collect();
    assert_eq!(recorded, ["align", "replay", "ring", "ring_radix", "rows", "swa", "tile"]);
}

#[test]
fn recorded_decisions_under_the_plugins_clamp_are_reproduced() {
    let found = Recording::parse(CLAMPED).unwrap().compare();
    assert_eq!(found.mismatches, [""; 0]);
    assert_eq!(found.refused, [""; 0]);
    assert_eq!(found.counts, [("scenarios", 396), ("passes", 8403), ("events", 10_420)]);
}

#[test]
fn recorded_decisions_on_prefixes_that_the_host_holds_are_reproduced() {
    let found = Recording::parse(HOST).unwrap().compare();
    assert_eq!(found.mismatches, [""; 0]);
    assert_eq!(found.refused, [""; 0]);
    assert_eq!(found.counts[..2], [("scenarios", 144), ("passes", 2279)]);
    // The recording would prove nothing if the host's tokens made no difference.
    let mut file: serde_json::Value = serde_json::from_str(HOST).unwrap();
    for scenario in file["scenarios"].as_array_mut().unwrap() {
        scenario["host"] = serde_json::Value::Null;
    }
    let without = Recording::parse(&file.to_string()).unwrap().compare();
    assert!(without.mismatches.len() > 100, "{}", without.mismatches.len());
}

#[test]
fn recorded_retractions_windows_and_sizers_beside_the_plugin_are_reproduced() {
    let found = Recording::parse(MORE).unwrap().compare();
    assert_eq!(found.mismatches, [""; 0]);
    assert_eq!(found.refused, [""; 0]);
    let file: Scenarios = serde_json::from_str(MORE).unwrap();
    let mut families = std::collections::BTreeMap::new();
    for scenario in &file.scenarios {
        *families.entry(scenario.fam.as_str()).or_insert(0) += 1;
    }
    let expected = [
        ("clamp_own", 24),
        ("clamp_swa", 35),
        ("retract", 72),
        ("ring_mixed", 27),
        ("swa_mixed", 40),
        ("swa_radix", 64),
    ];
    assert_eq!(families.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn recorded_predictions_and_fits_of_sglangs_own_sizer_are_reproduced() {
    let found = Recording::parse(SIZER).unwrap().compare();
    assert_eq!(found.mismatches, [""; 0]);
    assert_eq!(found.refused, [""; 0]);
    // Two predictions, with the limit and without, for each of 40 lengths.
    assert_eq!(found.counts[..2], [("rows", 72), ("predictions", 72 * 40 * 2)]);
    assert!(found.counts[2].1 > 0);
}

#[test]
fn without_its_clamp_the_recorded_decisions_are_others() {
    // The recording would prove nothing if the table never bound.
    let mut file: serde_json::Value = serde_json::from_str(CLAMPED).unwrap();
    for scenario in file["scenarios"].as_array_mut().unwrap() {
        scenario["clamp"] = serde_json::Value::Null;
    }
    let found = Recording::parse(&file.to_string()).unwrap().compare();
    assert!(found.mismatches.len() > 180, "{}", found.mismatches.len());
}

#[test]
fn exact_fill_is_left_out_where_the_recorded_adder_leaves_it_out() {
    let file: serde_json::Value = serde_json::from_str(PATHS).unwrap();
    let gate: Vec<[u8; 5]> =
        serde_json::from_value(file["meta"]["exact_fill_gate"].clone()).unwrap();
    assert_eq!(gate.len(), 16);
    for [switch, diffusion, mamba, sharing, fills] in gate {
        let in_cache = mamba == 1 && sharing == 1;
        assert_eq!(u8::from(fills_exactly(switch == 1, diffusion == 1, in_cache)), fills);
    }
}

#[test]
fn cached_prefixes_beside_a_window_of_pages_are_refused() {
    let mut file: serde_json::Value = serde_json::from_str(PATHS).unwrap();
    let scenarios = file["scenarios"].as_array_mut().unwrap();
    let index = scenarios.iter().position(|scenario| scenario["fam"] == "swa").unwrap();
    let mut paged = scenarios.swap_remove(index);
    paged["radix"] = 1.into();
    let prompts = paged["prompts"].as_array().unwrap().len();
    paged["hits"] = vec![0; prompts].into();
    *scenarios = vec![paged];
    let found = Recording::parse(&file.to_string()).unwrap().compare();
    assert!(found.refused[0].contains("refused, not guessed"), "{:?}", found.refused);
}

/// A table that allows everything and leaves the ends of prompts as they are.
fn table() -> ChunkTable {
    ChunkTable {
        align: 64,
        chunk_min: 64,
        max_context: 1 << 30,
        table: vec![(0, 1 << 30)],
        frontier: Vec::new(),
        tail_fraction: 0.0,
        own: false,
    }
}

/// Rows of each request in every pass under a table; requests are (prompt, cached).
fn clamped(settings: &Settings, table: &ChunkTable, requests: &[(i64, i64)]) -> Vec<Vec<i64>> {
    let answer = |prefix: u64| Some(table.chunk(prefix));
    let pool = Pool::with_given_prefixes(1 << 30, settings.page);
    let mut scheduler = Scheduler::new(settings, pool, Some(&answer));
    scheduler.clamp(Some(table));
    for (id, &(prompt, cached)) in requests.iter().enumerate() {
        scheduler.push(Request { cached, ..request(id, prompt) });
    }
    let mut passes = Vec::new();
    while scheduler.step().unwrap() != Step::Idle {
        let pass = scheduler.pass().unwrap();
        passes.push(pass.events.iter().map(|event| event.extend).collect());
    }
    passes
}

/// Rows of each request in the first pass under a frontier of `long` rows from 4096 cached tokens on
/// and 16384 before; requests are (prompt, cached).
fn first_clamped(settings: &Settings, long: u64, requests: &[(i64, i64)]) -> Vec<i64> {
    let table = ChunkTable { table: vec![(0, 16_384), (4096, long)], ..table() };
    clamped(settings, &table, requests).swap_remove(0)
}

#[test]
fn the_frontier_at_a_cached_prefix_limits_the_rows_of_the_whole_pass() {
    // At a prefix of 4096 a pass may have 3000 rows: in pages of 64 they are 2944.
    assert_eq!(first_clamped(&settings(false), 3000, &[(8000, 4096)]), [2944]);
    // 1000 rows before leave 2000, in pages 1984.
    assert_eq!(first_clamped(&settings(false), 3000, &[(1000, 0), (8000, 4096)]), [1000, 1984]);
    // The budget stays lowered: 3000 - 100 rows, charged as 128, leave 2872 or 44 pages of 64.
    assert_eq!(first_clamped(&settings(false), 3000, &[(4196, 4096), (9000, 0)]), [100, 2816]);
    // With exact fill a cut request takes all that is left, so that none comes after it.
    let cut = [(8000, 4096), (9000, 0), (100, 0)];
    assert_eq!(first_clamped(&settings(true), 3000, &cut), [3000]);
    // A frontier of nothing still lets the first request have a page, and no other.
    assert_eq!(first_clamped(&settings(false), 0, &[(8000, 4096)]), [64]);
    assert_eq!(first_clamped(&settings(false), 0, &[(1000, 0), (8000, 4096)]), [1000, 0]);
    // 128 cached rows run again in front of each request. Beside the 100 + 128 of the first there are
    // 3000 - 228 - 128 = 2644 left, in pages 2624.
    let replayed = Settings { replay: true, ..settings(false) };
    let cached = [(1124, 1024), (8000, 4096)];
    assert_eq!(first_clamped(&replayed, 3000, &cached), [100, 2624]);
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
fn decodes_that_outgrow_the_pool_send_the_request_with_the_least_output_back() {
    let settings = Settings { page: 1, ..settings(false) };
    let mut scheduler = Scheduler::new(&settings, Pool::without_cache(100, 1), None);
    let decoding = |id| Request { max_new: 30, ..request(id, 1) };
    (0..3).for_each(|id| scheduler.push(decoding(id)));
    assert_eq!(scheduler.step().unwrap(), Step::Prefill);
    // 97 tokens are free and 0.7 * 3 * 29 = 60.9 are reserved: 36.1 are more than the 32 of one
    // more request. But four requests of 31 tokens do not fit into 100.
    scheduler.push(decoding(3));
    assert_eq!(scheduler.step().unwrap(), Step::Prefill);
    // After the first prefill three hold 1 token each, after the second four hold 4; each decode
    // takes 4 more, until 4 + 4 * 24 = 100 are taken. The fourth, which has one output less, goes.
    let mut steps = 0;
    while scheduler.retracted() == 0 {
        scheduler.step().unwrap();
        steps += 1;
    }
    assert_eq!((steps, scheduler.waiting()), (25, 1));
    let back = scheduler.next_waiting().unwrap();
    assert_eq!((back.id, back.emitted), (3, 25));
    while scheduler.step().unwrap() != Step::Idle {}
    assert_eq!((scheduler.waiting(), scheduler.retracted()), (0, 1));
}

/// Chunks of a prompt of its own under a table with the tail fraction of the plan.
fn alone(settings: &Settings, table: &ChunkTable, prompt: i64, cached: i64) -> Vec<i64> {
    clamped(settings, table, &[(prompt, cached)]).concat()
}

#[test]
fn a_prompt_that_would_end_in_a_tiny_chunk_ends_in_two_about_equal_ones() {
    let table = ChunkTable { table: vec![(0, 2048), (8192, 1024)], tail_fraction: 0.25, ..table() };
    let settings = Settings { chunk: Some(2048), ..settings(false) };
    // 4096 + 100: the last 2148 are 17 pages of 64, 1088, and 1060.
    assert_eq!(alone(&settings, &table, 4196, 0), [2048, 1088, 1060]);
    // The same of a request that waited: 2148 of its own.
    assert_eq!(alone(&settings, &table, 2148, 0), [1088, 1060]);
    // 512 are a quarter of 2048, 511 are less.
    assert_eq!(alone(&settings, &table, 2560, 0), [2048, 512]);
    assert_eq!(alone(&settings, &table, 2559, 0), [1280, 1279]);
    // After 7168 tokens 2048 fit and after 8192 and more 1024: 1280 + 1023 do, 1152 + 1151 do not.
    assert_eq!(alone(&settings, &table, 7168 + 2303, 7168), [1280, 1023]);
    // Rows of whole units, as the plan asks for.
    let tiles = ChunkTable { align: 256, ..table.clone() };
    assert_eq!(alone(&settings, &tiles, 2148, 0), [1280, 868]);
    // Nothing is mended where the file says so.
    let left = ChunkTable { tail_fraction: 0.0, ..table };
    assert_eq!(alone(&settings, &left, 4196, 0), [2048, 2048, 100]);
}

#[test]
fn a_tiny_last_chunk_joins_the_one_before_where_the_frontier_holds_both() {
    let frontier = vec![(0, 2048), (4096, 1088)];
    let table = ChunkTable { table: vec![(0, 1024)], frontier, tail_fraction: 0.25, ..table() };
    let settings = Settings { chunk: Some(2048), ..settings(false) };
    assert_eq!(alone(&settings, &table, 2148, 0), [1024, 1124]);
    assert_eq!(alone(&settings, &table, 1124, 0), [1124]);
    // After 4096 tokens 1088 rows fit, not 1124.
    assert_eq!(alone(&settings, &table, 5184, 4096), [1088]);
    assert_eq!(alone(&settings, &table, 5220, 4096), [576, 548]);
    // The server's own chunk bounds what its buffers hold.
    let small = Settings { chunk: Some(1024), ..settings };
    let on = table.on(&small, false).unwrap().unwrap();
    assert_eq!(alone(&small, &on, 1124, 0), [576, 548]);
}

#[test]
fn a_tiny_last_chunk_beside_rows_of_others_is_no_pass_of_its_own_and_stays() {
    let table = ChunkTable { table: vec![(0, 2048)], tail_fraction: 0.25, ..table() };
    let settings = Settings { chunk: Some(2048), ..settings(false) };
    // 4196 = 2 * 2048 + 100: the second request waits and fills up the pass of the last 100.
    let passes = clamped(&settings, &table, &[(4196, 0), (500, 0)]);
    assert_eq!(passes, [vec![2048], vec![2048], vec![100, 500]]);
    // Behind 500 rows, charged as 512, 1536 are left: 1600 are 832 and 768, not 1536 and 64.
    let passes = clamped(&settings, &table, &[(500, 0), (1600, 0)]);
    assert_eq!(passes, [vec![500, 832], vec![768]]);
}

/// A schedule whose chunks keep `budget` rows * keys at their own end, capped at `wanted` pages, and
/// the plugin's table of it.
fn planned(budget: u64, page: u64, most: u64, wanted: u64) -> Option<(Schedule, ChunkTable)> {
    let range = ChunkRange::new(page, most * page, page).ok()?;
    let last = |chunk: u64| (budget / chunk).checked_sub(chunk);
    let frontier = Schedule::of_frontier(range, Some(1 << 20), last).ok()?;
    let low = |&(from, chunk): &(u64, u64)| (from, chunk.min(wanted * page));
    let schedule = Schedule { table: frontier.table.iter().map(low).collect(), ..frontier };
    let table = ChunkTable {
        align: page,
        chunk_min: page,
        max_context: schedule.max_context,
        table: schedule.table.clone(),
        frontier: schedule.frontier.clone(),
        tail_fraction: schedule.tail_fraction,
        own: false,
    };
    Some((schedule, table))
}

proptest! {
    /// A prompt of its own runs in the chunks that the plan states.
    #[test]
    fn the_ledger_runs_a_lone_prompt_as_the_plan_says(
        budget in 200_000u64..100_000_000,
        page in 1u64..300,
        most in 1u64..30,
        wanted in 1u64..30,
        prompt in 1u64..100_000,
        exact in any::<bool>(),
    ) {
        let Some((schedule, table)) = planned(budget, page, most, wanted) else { return Ok(()) };
        let Some(chunks) = schedule.chunks_of(prompt) else { return Ok(()) };
        let settings = Settings::new(page as i64, schedule.table[0].1 as i64, exact);
        let table = table.on(&settings, false).unwrap().unwrap();
        let ran = alone(&settings, &table, prompt as i64, 0);
        let ran: Vec<u64> = ran.into_iter().map(|rows| rows as u64).collect();
        prop_assert_eq!(ran, chunks);
    }

    /// Whatever is queued and decodes: a pass keeps the budget at the end of its longest context, and
    /// every prompt runs once.
    #[test]
    fn passes_of_many_requests_keep_the_budget_and_lose_no_token(
        budget in 1_000_000u64..100_000_000,
        page in 8u64..300,
        most in 2u64..30,
        wanted in 2u64..30,
        requests in prop::collection::vec((1i64..20_000, 0i64..64, 1i64..40), 1..8),
        exact in any::<bool>(),
        mixed in any::<bool>(),
    ) {
        let Some((schedule, table)) = planned(budget, page, most, wanted) else { return Ok(()) };
        // Beside decode rows a page runs whatever the table says, so they have to fit it.
        prop_assume!(!mixed || schedule.smallest() >= 2 * page);
        prop_assume!(requests.iter().all(|(prompt, ..)| *prompt as u64 <= schedule.max_context));
        let page = page as i64;
        let chunk = schedule.table[0].1 as i64;
        let settings = Settings { mixed, ..Settings::new(page, chunk, exact) };
        let table = table.on(&settings, false).unwrap().unwrap();
        let answer = |prefix: u64| Some(table.chunk(prefix));
        let pool = Pool::with_given_prefixes(1 << 40, page);
        let mut scheduler = Scheduler::new(&settings, pool, Some(&answer));
        scheduler.clamp(Some(&table));
        for (id, &(prompt, cached, max_new)) in requests.iter().enumerate() {
            scheduler.push(Request { cached: cached * page, max_new, ..request(id, prompt) });
        }
        let mut ran = vec![0; requests.len()];
        while scheduler.step().unwrap() != Step::Idle {
            let Some(pass) = scheduler.pass() else { continue };
            let end = pass.events.iter().filter(|e| e.extend > 0).map(|e| e.prefix + e.extend);
            let keys = end.max().unwrap_or(0);
            let rows = pass.rows + pass.decode_rows as i64;
            prop_assert!(rows * keys <= budget as i64, "{} rows * {} keys", rows, keys);
            pass.events.iter().for_each(|event| ran[event.id] += event.extend);
        }
        for (&(prompt, cached, _), ran) in requests.iter().zip(ran) {
            prop_assert_eq!(ran, prompt - (cached * page).min(prompt - 1) / page * page);
        }
    }
}
