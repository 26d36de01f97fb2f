//! Plans from field observations alone, one a system.
//!
//! In go the fits of a file of observations and the limits of the server at hand; out come the
//! usable memory, both budgets and the schedule of each system, or why there is none.

use serde::Serialize;

use super::{Budget, PlanError, Request, Schedule, Usable, plan};
use crate::fit::Fit;
use crate::model::Layout;
use crate::options::ServerLimits;
use crate::units::Bytes;

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
    /// Chunk for every prefix.
    pub schedule: Option<Schedule>,
    /// Why there is no plan.
    pub error: Option<String>,
}

/// Plans for each system of `fit`.
pub fn plans_of_observations(fit: &Fit, limits: &ServerLimits) -> Vec<ObservedPlan> {
    fit.memory
        .iter()
        .map(|memory| {
            let request = Request {
                limits: *limits,
                device_free: None,
                layout: Layout { tp: 1, dp: 1, cp: 1 },
                context_length: None,
                memory_path: Some(memory.path.clone()),
            };
            let path = memory.path.clone();
            match plan(fit, &request) {
                Ok(plan) => ObservedPlan {
                    path,
                    usable: Some(plan.usable),
                    budget: Some(plan.budget),
                    schedule: Some(plan.schedule),
                    error: None,
                },
                Err(error) => refused(path, &error),
            }
        })
        .collect()
}

fn refused(path: String, error: &PlanError) -> ObservedPlan {
    ObservedPlan {
        path,
        usable: None,
        budget: None,
        schedule: None,
        error: Some(error.to_string()),
    }
}

impl ObservedPlan {
    /// The plan in words, one line each.
    pub fn lines(&self) -> Vec<String> {
        let (Some(usable), Some(budget), Some(schedule)) =
            (&self.usable, &self.budget, &self.schedule)
        else {
            return self.error.iter().map(|error| format!("  no plan: {error}")).collect();
        };
        let assumed = if usable.assumed { " assumed" } else { "" };
        let mut lines = vec![format!(
            "  usable {} = {}{assumed} free - {} guard - {} margin",
            Bytes(budget.usable_bytes),
            usable.free,
            usable.guard,
            usable.margin
        )];
        let figure = |budget: Option<u64>| match budget {
            Some(b) => format!("{:.3e} token^2", b as f64),
            None => "no limit on T*L".to_owned(),
        };
        lines.push(format!(
            "  budget_point {} (c {:.2} B), budget_95 {} (c {:.2} B)",
            figure(budget.budget_point),
            budget.c_point,
            figure(budget.budget_95),
            budget.c_95
        ));
        let steps: Vec<String> =
            schedule.table.iter().map(|(from, chunk)| format!("{chunk} from {from}")).collect();
        lines.push(format!(
            "  chunks: {}; largest prefix {}",
            steps.join(", "),
            schedule.max_context
        ));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::fit_of_observations;
    use crate::fit::observations::{LMeans, read_csv};
    use crate::units::Tokens;

    fn limits(free: u64) -> ServerLimits {
        ServerLimits {
            free_bytes: Some(Bytes(free)),
            guard: Bytes(1_500_000_000),
            margin: Bytes(500_000_000),
            chunk_min: Tokens(256),
            chunk_max: Tokens(2048),
            page_size: Tokens(256),
        }
    }

    fn boots() -> Fit {
        let text = include_str!("../../profiles/field/boots.csv");
        fit_of_observations(&read_csv(text).unwrap().rows, Vec::new(), LMeans::Context)
    }

    #[test]
    fn the_boots_print_both_budgets_under_their_names() {
        let plans = plans_of_observations(&boots(), &limits(4_750_000_000));
        let json = serde_json::to_value(&plans[0]).unwrap();
        // 2.75e9 / 13.58 = 2.02e8 and 2.75e9 / 15.70 = 1.75e8.
        assert!((2.01e8..2.04e8).contains(&json["budget_point"].as_f64().unwrap()));
        assert!((1.74e8..1.77e8).contains(&json["budget_95"].as_f64().unwrap()));
        let text = plans[0].lines().join("\n");
        assert!(text.contains("usable 2.75 GB") && text.contains("budget_95 1.75"), "{text}");
    }

    #[test]
    fn limits_that_leave_nothing_are_told_in_place_of_a_plan() {
        let plans = plans_of_observations(&boots(), &limits(2_000_100_000));
        assert!(plans[0].budget.is_none());
        assert!(plans[0].lines()[0].starts_with("  no plan: even a chunk of 256"));
    }
}
