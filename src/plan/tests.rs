use super::*;
use crate::fit::{fit_of_observations, fit_profile, observations};
use crate::options::testing::limits;
use crate::profile::testing::{Truth, profile};
use crate::units::Tokens;

fn request() -> Request {
    Request {
        limits: limits(),
        device_free: None,
        layout: Layout { tp: 4, dp: 1, cp: 1 },
        context_length: Some(1 << 20),
        memory_path: None,
    }
}

fn boots() -> Fit {
    let text = include_str!("../../profiles/field/boots.csv");
    let rows = observations::read_csv(text).unwrap().rows;
    fit_of_observations(&rows, Vec::new(), observations::LMeans::Context)
}

#[test]
fn the_boots_give_two_budgets_and_a_validated_plan() {
    let plan = plan(&boots(), &request()).unwrap();
    assert_eq!(plan.status, Status::Validated);
    // 2.75e9 / 13.58 = 2.025e8 and 2.75e9 / 15.70 = 1.752e8
    let (point, bound) = (plan.budget.budget_point.unwrap(), plan.budget.budget_95.unwrap());
    assert!((201_500_000..203_500_000).contains(&point), "{point}");
    assert!((174_000_000..176_500_000).contains(&bound), "{bound}");
    assert_eq!(plan.budget.floor, None);
}

#[test]
fn the_fitted_sizer_keeps_the_end_of_every_chunk_under_the_frontier() {
    let fit = boots();
    let plan = plan(&fit, &request()).unwrap();
    let formula = plan.formula.as_ref().unwrap();
    let memory = fit.observed().unwrap();
    for prefix in [0, 1, 4096, 50_000, 84_000, 100_000, 200_000, 400_000, 600_000] {
        let chunk = plan.schedule.at(prefix).unwrap();
        let peak = memory.peak_at(chunk, prefix + chunk, plan.budget.c_95);
        assert!(peak <= 2.75e9, "prefix {prefix}: {peak}");
        assert!(chunk <= formula.at(prefix).unwrap());
        // The next larger chunk would not have fitted.
        if chunk < 2048 {
            assert!(memory.peak_at(chunk + 256, prefix + chunk + 256, plan.budget.c_95) > 2.75e9);
        }
    }
    assert!(plan.schedule.max_context < formula.max_context);
}

#[test]
fn bundled_pipelines_alone_are_unvalidated_with_c_of_at_least_14() {
    let fit = fit_profile(&profile(Truth::default()));
    for path in ["dense", "fp8"] {
        let request = Request { memory_path: Some(path.into()), ..request() };
        let plan = plan(&fit, &request).unwrap();
        assert_eq!(plan.status, Status::Unvalidated);
        assert_eq!((plan.budget.c_point, plan.budget.c_95), (14.0, 14.0));
        assert!(plan.budget.fitted_c_point < 10.0);
        assert!(plan.statements.iter().any(|s| s.contains("until the engine's own peaks")));
    }
    let larger = fit_profile(&profile(Truth { c: 20, ..Truth::default() }));
    let request = Request { memory_path: Some("dense".into()), ..request() };
    assert!((plan(&larger, &request).unwrap().budget.c_95 - 20.0).abs() < 0.05);
}

#[test]
fn bounded_paths_have_no_budget_and_reach_the_whole_context() {
    let fit = fit_profile(&profile(Truth::default()));
    for path in ["row_pooled", "key_blocked"] {
        let request = Request { memory_path: Some(path.into()), ..request() };
        let plan = plan(&fit, &request).unwrap();
        assert_eq!(plan.budget.budget_95, None);
        assert_eq!(plan.schedule.max_context, 1 << 20);
        assert_eq!(plan.schedule.at(1 << 20), Some(2048));
        assert_eq!(plan.score_budgets.len(), usize::from(path == "row_pooled"));
    }
}

#[test]
fn the_models_own_path_decides_unless_another_is_asked_for() {
    let fit = fit_profile(&profile(Truth::default()));
    assert_eq!(plan(&fit, &request()).unwrap().memory_path, "fp8");
    let unknown = Request { memory_path: Some("sparse".into()), ..request() };
    let message = plan(&fit, &unknown).unwrap_err().to_string();
    assert!(message.contains("`sparse`") && message.contains("row_pooled"), "{message}");
    let observed = Fit { memory: [fit.memory.clone(), boots().memory].concat(), ..fit };
    assert_eq!(plan(&observed, &request()).unwrap().memory_path, "observed");
}

#[test]
fn observations_validate_a_plan_only_for_the_device_they_name() {
    let fit = fit_profile(&profile(Truth::default()));
    let with = |device: &str| {
        let mut memory = boots().memory;
        memory[0].observed_on = Some(device.to_owned());
        plan(&Fit { memory, arch: "gfx950".into(), ..fit.clone() }, &request()).unwrap()
    };
    assert_eq!(with("8x MI355X TP8").status, Status::Validated);
    let elsewhere = with("unified-memory head node");
    assert_eq!(elsewhere.status, Status::Unvalidated);
    assert!(elsewhere.budget.c_point >= 14.0, "{:?}", elsewhere.budget);
    assert!(elsewhere.statements.iter().any(|s| s.contains("head node")));
}

#[test]
fn a_gain_aligns_chunks_to_page_and_tile() {
    let fit = fit_profile(&profile(Truth { gain: 2.0, ..Truth::default() }));
    let mut request = request();
    request.limits.page_size = Tokens(48);
    request.limits.chunk_min = Tokens(48);
    request.limits.chunk_max = Tokens(1920);
    // lcm(48, 64) = 192.
    assert_eq!(plan(&fit, &request).unwrap().schedule.range.align, 192);
    let level = fit_profile(&profile(Truth { gain: 0.99, ..Truth::default() }));
    assert_eq!(plan(&level, &request).unwrap().schedule.range.align, 48);
}

#[test]
fn context_parallel_ranks_take_their_share_of_the_rows() {
    let fit = boots();
    let one = plan(&fit, &request()).unwrap();
    let three =
        plan(&fit, &Request { layout: Layout { tp: 3, dp: 1, cp: 3 }, ..request() }).unwrap();
    let ratio = three.schedule.max_context as f64 / one.schedule.max_context as f64;
    assert!(ratio > 1.5, "{ratio}");
    assert!(three.schedule.at(250_000).unwrap() >= 2 * one.schedule.at(250_000).unwrap());
}

#[test]
fn limits_that_leave_nothing_are_named() {
    let mut request = request();
    request.limits.free_bytes = Some(Bytes(1_900_000_000));
    assert!(matches!(plan(&boots(), &request), Err(PlanError::NoMemory { .. })));
    request.limits.free_bytes = Some(Bytes(2_000_100_000));
    let message = plan(&boots(), &request).unwrap_err().to_string();
    assert!(message.contains("even a chunk of 256 tokens"), "{message}");
}

#[test]
fn an_unknown_free_memory_is_assumed_and_said() {
    let mut request = request();
    request.limits.free_bytes = None;
    let mut silent = boots();
    silent.memory[0].free_observed = None;
    let plan = plan(&silent, &request).unwrap();
    assert!(plan.usable.assumed);
    assert_eq!(plan.budget.usable_bytes, 3_000_000_000);
    assert!(plan.statements.iter().any(|s| s.contains("5.00 GB was assumed")));
    // The rows of the note report 4.9 GB.
    let plan = super::plan(&boots(), &request).unwrap();
    assert!(plan.usable.observed && !plan.usable.assumed);
    assert_eq!(plan.budget.usable_bytes, 2_900_000_000);
    let told = Request { device_free: Some(Bytes(4_000_000_000)), ..request };
    assert_eq!(super::plan(&boots(), &told).unwrap().budget.usable_bytes, 2_000_000_000);
}
