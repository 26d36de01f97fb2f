//! Plans from field observations alone, one a system.
//!
//! In go the fits of a file of observations and the limits of the server at hand; out come the
//! usable memory, both budgets, the schedule, how likely each chunk is to stay under the guard, what
//! a change of the engine would buy and which chunk to measure next, or why there is no plan.

use serde::Serialize;

use super::decision::{Changes, SCORES, Variant, decisions};
use super::ledger::{Entry, Ledger, budget_of_block};
use super::{Budget, DEFAULT_CONTEXT, Frontier, PlanError, Request, Schedule, Usable, plan};
use crate::fit::Fit;
use crate::fit::memory::{Growth, MemoryFit, Proposal, propose};
use crate::fit::scores::{SIGNED_32, Scores, size_class};
use crate::model::Layout;
use crate::options::ServerLimits;

/// Prefixes at which chances and proposals are worked out, tokens.
const PREFIXES: [u64; 9] = [0, 8192, 16_384, 32_768, 65_536, 131_072, 262_144, 524_288, 1_048_576];
/// Chance of fitting that a proposed chunk must have.
const SAFE: f64 = 0.99;

/// What observations are planned for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Situation {
    /// Memory and chunk limits of the server.
    pub limits: ServerLimits,
    /// Parallel layout.
    pub layout: Layout,
    /// Longest context, tokens; none for [`DEFAULT_CONTEXT`], which is then said to be assumed.
    pub context: Option<u64>,
    /// What may be changed in the engine.
    pub changes: Changes,
    /// What holds memory on a rank.
    pub ledger: Ledger,
}

/// Chance that a chunk stays under the guard.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Chance {
    /// Chunk, tokens.
    pub t: u64,
    /// Prefix before it, tokens.
    pub l: u64,
    /// Most likely peak and its one-sided 95% bound, bytes.
    pub peak: f64,
    /// The bound.
    pub peak_95: f64,
    /// Probability of a peak of at most free less guard; 0 where no free block holds its scores.
    pub under_guard: f64,
}

/// The plan of one observed system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObservedPlan {
    /// Label of the system in the fit.
    pub path: String,
    /// Memory that a chunk may use.
    pub usable: Option<Usable>,
    /// `c` and BUDGET; none where the limits leave nothing.
    #[serde(flatten)]
    pub budget: Option<Budget>,
    /// Two-sided 95% interval of `c`.
    pub c_interval: (f64, f64),
    /// BUDGET that the largest free block leaves, token^2.
    pub budget_of_largest_block: Option<u64>,
    /// Chunk for every prefix.
    pub schedule: Option<Schedule>,
    /// Whether the context that ends the schedule was assumed.
    pub context_assumed: bool,
    /// `--chunked-prefill-size` for the first chunk: SGLang divides it by the attention groups.
    pub chunked_prefill_size: Option<u64>,
    /// Chances of staying under the guard.
    pub chances: Vec<Chance>,
    /// What a change would buy.
    pub decisions: Vec<Variant>,
    /// What holds the memory.
    pub ledger: Vec<Entry>,
    /// Chunk worth measuring next.
    pub next: Option<Proposal>,
    /// What else to know.
    pub notes: Vec<String>,
    /// Why there is no plan.
    pub error: Option<String>,
}

/// Plans for each system of `fit`.
pub fn plans_of_observations(fit: &Fit, situation: &Situation) -> Vec<ObservedPlan> {
    fit.memory
        .iter()
        .map(|memory| {
            let limits = ServerLimits {
                free_bytes: situation.limits.free_bytes.or(situation.ledger.free()),
                ..situation.limits
            };
            // Labels need not tell systems apart.
            let alone = Fit { memory: vec![memory.clone()], ..fit.clone() };
            let request = Request {
                limits,
                device_free: None,
                layout: situation.layout,
                context_length: situation.context,
                memory_path: Some(memory.path.clone()),
            };
            match plan(&alone, &request) {
                Ok(plan) => {
                    let static_chunk = plan.static_chunk;
                    planned(
                        memory,
                        situation,
                        plan.usable,
                        plan.budget,
                        plan.schedule,
                        static_chunk,
                    )
                }
                Err(error) => refused(memory, &error),
            }
        })
        .collect()
}

fn planned(
    memory: &MemoryFit,
    situation: &Situation,
    usable: Usable,
    budget: Budget,
    schedule: Schedule,
    static_chunk: u64,
) -> ObservedPlan {
    let frontier = Frontier::new(memory, &budget, situation.layout.cp);
    let guard = usable.free.0.saturating_sub(usable.guard.0) as f64;
    let context = situation.context.unwrap_or(DEFAULT_CONTEXT);
    let chance = |t: u64, l: u64| Chance {
        t,
        l,
        peak: frontier.peak_point(t, l),
        peak_95: frontier.peak_95(t, l),
        under_guard: match frontier.allocates(t, l) {
            true => frontier.chance_within(t, l, guard),
            false => 0.0,
        },
    };
    let lengths = lengths(&schedule);
    let prefixes = || PREFIXES.iter().copied().filter(|l| *l <= context);
    let mut chances: Vec<Chance> =
        lengths.iter().flat_map(|t| prefixes().map(|l| chance(*t, l))).collect();
    raise(&mut chances);
    let safe = chances.iter().filter(|chance| chance.under_guard >= SAFE);
    // The information of a fit is that of growth without a pool.
    let next = (memory.growth == Growth::Dense)
        .then(|| propose(memory, safe.map(|chance| (chance.t, chance.l))))
        .flatten();
    ObservedPlan {
        path: memory.path.clone(),
        c_interval: (memory.c.lo, memory.c.hi),
        budget_of_largest_block: budget_of_block(situation.limits.largest_block, memory.ratio),
        context_assumed: situation.context.is_none(),
        chunked_prefill_size: static_chunk.checked_mul(u64::from(situation.layout.dp.max(1))),
        chances,
        decisions: decisions(memory, &budget, schedule.range, context, &situation.changes),
        ledger: situation.ledger.entries(&usable),
        next,
        notes: notes(memory, situation, schedule.range.max, context),
        usable: Some(usable),
        budget: Some(budget),
        schedule: Some(schedule),
        error: None,
    }
}

/// Raises each chance to that of any larger chunk at no smaller a prefix: peaks do not fall as `T` or
/// `L` grows, so wherever the larger chunk stays under the guard the smaller one does. Where few peaks
/// are known the distributions of single peaks do not show that by themselves.
fn raise(chances: &mut [Chance]) {
    for i in 0..chances.len() {
        let Chance { t, l, .. } = chances[i];
        let larger = chances.iter().filter(|other| other.t >= t && other.l >= l);
        chances[i].under_guard = larger.map(|other| other.under_guard).fold(0.0, f64::max);
    }
}

/// Walls that are not about the sum of all bytes: offsets that wrap, blocks that are not reused.
fn notes(memory: &MemoryFit, situation: &Situation, rows: u64, context: u64) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(situation.ledger.missing().map(|flag| {
        format!("The total does not say what is free without the KV pool: give {flag}, 0 for none.")
    }));
    if !memory.grows() {
        return out;
    }
    let scores = Scores { ratio: u64::from(memory.ratio.max(1)), element: SCORES as u64, align: 1 };
    let rows = rows.div_ceil(u64::from(situation.layout.cp.max(1)));
    if let Some(wall) = scores.largest_context(rows, SIGNED_32 - 1).filter(|wall| *wall < context) {
        out.push(format!(
            "Beyond a context of {wall} tokens the fp32 scores of {rows} rows pass 2^31 bytes: cap \
             the rows there unless the kernel is known to use 64-bit offsets."
        ));
    }
    let tile = scores.bytes(rows, context).map(|b| b.min(situation.changes.copy_budget.0));
    if let (true, Some(class)) = (situation.ledger.unified, tile.and_then(size_class)) {
        out.push(format!(
            "On unified memory score buffers that grow with every chunk are never reused: allocate \
             them at a fixed width or in size classes, such as {}.",
            crate::units::Bytes(class)
        ));
    }
    out.push(
        "The model covers what a chunk allocates; what the allocator keeps between chunks is not in \
         it, so a fit proves no safety."
            .to_owned(),
    );
    out
}

/// At most four chunk lengths of a schedule's range, smallest first.
fn lengths(schedule: &Schedule) -> Vec<u64> {
    let range = schedule.range;
    let mut out = vec![range.max];
    let mut last = range.max;
    while out.len() < 4 && last > range.min {
        last = (last / 2 / range.align * range.align).max(range.min);
        out.push(last);
    }
    out.reverse();
    out
}

fn refused(memory: &MemoryFit, error: &PlanError) -> ObservedPlan {
    ObservedPlan {
        path: memory.path.clone(),
        usable: None,
        budget: None,
        c_interval: (memory.c.lo, memory.c.hi),
        budget_of_largest_block: None,
        schedule: None,
        context_assumed: false,
        chunked_prefill_size: None,
        chances: Vec::new(),
        decisions: Vec::new(),
        ledger: Vec::new(),
        next: None,
        notes: Vec::new(),
        error: Some(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::fit_of_observations;
    use crate::fit::observations::{LMeans, read_csv};
    use crate::options::testing::limits;
    use crate::units::Bytes;

    fn situation(free: u64) -> Situation {
        Situation {
            limits: ServerLimits { free_bytes: Some(Bytes(free)), ..limits() },
            layout: Layout { tp: 1, dp: 1, cp: 1 },
            context: None,
            changes: Changes::default(),
            ledger: Ledger::default(),
        }
    }

    fn boots() -> Fit {
        let text = include_str!("../../profiles/field/boots.csv");
        fit_of_observations(&read_csv(text).unwrap().rows, Vec::new(), LMeans::Context)
    }

    #[test]
    fn the_boots_print_both_budgets_under_their_names() {
        let plans = plans_of_observations(&boots(), &situation(4_750_000_000));
        let json = serde_json::to_value(&plans[0]).unwrap();
        // 2.75e9 / 13.58 = 2.02e8 and 2.75e9 / 15.70 = 1.75e8.
        assert!((2.01e8..2.04e8).contains(&json["budget_point"].as_f64().unwrap()));
        assert!((1.74e8..1.77e8).contains(&json["budget_95"].as_f64().unwrap()));
        assert!(json["c_interval"][0].as_f64().unwrap() < 13.3);
        assert!(json["c_interval"][1].as_f64().unwrap() > 13.3);
        assert!(plans[0].context_assumed);
    }

    #[test]
    fn chances_fall_with_the_prefix_and_the_proposal_is_safe() {
        let plan = plans_of_observations(&boots(), &situation(4_750_000_000)).remove(0);
        let of = |t: u64| plan.chances.iter().filter(move |c| c.t == t).map(|c| c.under_guard);
        assert!(of(2048).is_sorted_by(|a, b| a >= b));
        // 3.25 GB under the guard; 2048 rows took 2.97 GB at 100k, and a guard fired at 133k.
        let at = |l| plan.chances.iter().find(|c| (c.t, c.l) == (2048, l)).unwrap().under_guard;
        // Student's t with the three degrees of freedom of two peaks and a prior: heavy tails.
        assert!(at(65_536) > 0.98 && at(131_072) < 0.2 && at(1_048_576) < 1e-3);
        let next = plan.next.unwrap();
        assert!(next.error_then < 0.9 * next.error_now);
        let chance = plan.chances.iter().find(|c| (c.t, c.l) == (next.t, next.l)).unwrap();
        assert!(chance.under_guard >= SAFE, "{next:?}");
    }

    #[test]
    fn no_chunk_is_less_safe_than_a_larger_one_at_a_longer_prefix() {
        let text = "T,L,peak\n1024,100000,1.4GB\n2048,100000,2.8GB\n512,200000,1.43GB\n";
        let fit = fit_of_observations(&read_csv(text).unwrap().rows, Vec::new(), LMeans::Context);
        let plan = plans_of_observations(&fit, &situation(4_900_000_000)).remove(0);
        assert!(plan.chances.len() > 8);
        for small in &plan.chances {
            for large in plan.chances.iter().filter(|c| c.t >= small.t && c.l >= small.l) {
                assert!(small.under_guard >= large.under_guard, "{small:?} {large:?}");
            }
        }
    }

    #[test]
    fn two_ratios_of_one_system_have_a_plan_each() {
        let row = |t: u64, l: u64, ratio: u64, c: f64| {
            let peak = c * t as f64 * l.div_ceil(ratio) as f64;
            format!("mi355x,{t},{l},{ratio},{peak:.0}\n")
        };
        let mut text = "device,T,L,ratio,peak\n".to_owned();
        for (t, l) in [(1024, 50_000), (2048, 100_000), (512, 200_000), (2048, 60_000)] {
            text += &row(t, l, 1, 10.0);
            text += &row(t, l, 4, 80.0);
        }
        let fit = fit_of_observations(&read_csv(&text).unwrap().rows, Vec::new(), LMeans::Context);
        let plans = plans_of_observations(&fit, &situation(6_000_000_000));
        let point = |i: usize| plans[i].budget.unwrap().budget_point.unwrap() as f64;
        // 4e9 / 10 and 4 * 4e9 / 80.
        assert!((point(0) / 4e8 - 1.0).abs() < 0.01 && (point(1) / 2e8 - 1.0).abs() < 0.01);
        assert_ne!(plans[0].path, plans[1].path);
    }

    #[test]
    fn a_pool_beside_growth_is_not_in_the_budget() {
        let text: String = [4.2e6, 1.6e7, 4e7, 1e8, 2e8, 4e8, 6e8]
            .iter()
            .flat_map(|pairs: &f64| [512.0, 2048.0].map(|t| (t, pairs / t)))
            .map(|(t, l)| {
                let pairs = t * l;
                let peak = 2e8 + 5.0 * pairs + (8.0 * pairs).min(1.5e9);
                format!("mi355x,{t},{l:.0},{peak:.0}\n")
            })
            .collect();
        let text = format!("device,T,L,peak\n{text}");
        let fit = fit_of_observations(&read_csv(&text).unwrap().rows, Vec::new(), LMeans::Context);
        let plan = plans_of_observations(&fit, &situation(5_000_000_000)).remove(0);
        let memory = &fit.memory[0];
        assert_eq!(memory.growth, Growth::DenseAndPooled);
        // (3e9 - 0.2e9 - 1.5e9) / 5.
        let point = plan.budget.unwrap().budget_point.unwrap();
        assert!((point as f64 / 2.6e8 - 1.0).abs() < 0.05, "{point}");
        assert!(memory.peak(2048, point / 2048) <= 3.0e9 * 1.001);
        assert!(plan.next.is_none());
    }

    #[test]
    fn a_largest_block_is_in_the_budget() {
        let mut tight = situation(4_750_000_000);
        tight.limits.largest_block = Some(Bytes(400_000_000));
        let plan = plans_of_observations(&boots(), &tight).remove(0);
        // 400 MB / 4 B = 1e8, less than the 1.75e8 of the sum.
        let budget = plan.budget.unwrap();
        assert_eq!((budget.budget_point, budget.budget_95), (Some(100_000_000), Some(100_000_000)));
        assert_eq!(plan.decisions[0].budget_95, budget.budget_95);
    }

    #[test]
    fn attention_groups_multiply_the_flag_and_not_the_plan() {
        let mut four = situation(4_750_000_000);
        four.layout.dp = 4;
        let one = plans_of_observations(&boots(), &situation(4_750_000_000)).remove(0);
        let plan = plans_of_observations(&boots(), &four).remove(0);
        assert_eq!(plan.schedule, one.schedule);
        assert_eq!(plan.chunked_prefill_size.unwrap(), 4 * one.chunked_prefill_size.unwrap());
    }

    #[test]
    fn limits_that_leave_nothing_are_told_in_place_of_a_plan() {
        let plans = plans_of_observations(&boots(), &situation(2_000_100_000));
        assert!(plans[0].budget.is_none());
        assert!(plans[0].error.as_ref().unwrap().starts_with("even a chunk of 256"));
    }
}
