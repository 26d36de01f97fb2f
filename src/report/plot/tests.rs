use super::*;
use crate::derive::{Options, derive};
use crate::model::Layout;
use crate::options::ServerLimits;
use crate::options::testing::limits;
use crate::plan::Request;
use crate::profile::testing::{Truth, profile};

fn derived(path: &str) -> (Profile, Derived) {
    let profile = profile(Truth::default());
    let request = Request {
        limits: ServerLimits { free_bytes: None, ..limits() },
        device_free: None,
        layout: Layout { tp: 4, dp: 1, cp: 1 },
        context_length: Some(1 << 20),
        memory_path: Some(path.to_owned()),
    };
    let derived = derive(&profile, &Options::new(request));
    (profile, derived)
}

#[test]
fn every_plot_carries_provenance_units_and_a_legend() {
    let (profile, derived) = derived("dense");
    let plots = all(&profile, &derived).unwrap();
    let files: Vec<&str> = plots.iter().map(|p| p.file.as_str()).collect();
    assert_eq!(files, ["memory.svg", "sawtooth-absorb_bmm.svg", "schedule.svg", "frontier.svg"]);
    for plot in &plots {
        assert!(plot.svg.contains("no GPU was used"), "{}", plot.file);
        assert!(plot.svg.contains("token") || plot.svg.contains("ns a row"), "{}", plot.file);
        assert!(plot.svg.starts_with("<svg") && plot.svg.trim_end().ends_with("</svg>"));
        assert!(!plot.svg.contains("NaN") && !plot.svg.contains("inf"), "{}", plot.file);
    }
    assert!(plots[0].svg.contains("BUDGET") && plots[0].svg.contains("usable 3 GB"));
}

#[test]
fn a_path_without_a_budget_draws_too() {
    let (profile, derived) = derived("key_blocked");
    let plots = all(&profile, &derived).unwrap();
    assert_eq!(plots.len(), 4);
    assert!(!plots[0].svg.contains("BUDGET"));
}

#[test]
fn two_profiles_draw_on_one_axis() {
    let row = Gain {
        label: "absorb_bmm w_kc 64x256".into(),
        wrap: [Some(2.0), Some(1.5)],
        buffer: [Some(1.05), None],
    };
    let svg = gains(&[row], ["gfx950", "gfx942"], "foot").unwrap();
    assert!(svg.contains("absorb_bmm w_kc 64x256") && svg.contains("gfx942: ragged_wrap"));
}
