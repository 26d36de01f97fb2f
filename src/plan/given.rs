//! A plan from a BUDGET given as a number, with no profile behind it.
//!
//! In go `BUDGET` (token^2) and the server's limits; out comes the note's schedule as a [`Plan`],
//! so that `sizer.json` can be written for a figure that somebody measured elsewhere. Such a plan
//! is never validated.

use std::collections::BTreeMap;

use super::{Budget, ChunkRange, Plan, PlanError, Schedule, Status, UNVALIDATED_C, Usable, decide};
use crate::model::Layout;
use crate::options::ServerLimits;
use crate::units::Bytes;

/// Memory path of a plan from a number.
pub const GIVEN: &str = "given";

/// The note's formula at `budget`; chunks are multiples of the page.
///
/// # Errors
/// A budget of zero or of less than the smallest chunk takes alone, limits that leave no chunk length, or a budget whose bytes overflow.
pub fn plan_of_budget(
    budget: u64,
    limits: &ServerLimits,
    layout: Layout,
    context_length: Option<u64>,
) -> Result<Plan, PlanError> {
    let range = ChunkRange::new(limits.chunk_min.0, limits.chunk_max.0, limits.page_size.0)?;
    let schedule = Schedule::of_budget(range, context_length, budget)?;
    // A chunk sees at least its own rows.
    if range.min.checked_mul(range.min).is_none_or(|own| own > budget) {
        return Err(PlanError::BudgetTooSmall { budget, chunk_min: range.min });
    }
    // What the budget stands for in bytes at the c that a plan without a profile assumes.
    let usable_bytes =
        budget.checked_mul(UNVALIDATED_C as u64).ok_or(PlanError::BudgetTooLarge { budget })?;
    let static_chunk = schedule.table.first().map_or(range.min, |(_, chunk)| *chunk);
    let free = usable_bytes.saturating_add(limits.guard.0).saturating_add(limits.margin.0);
    Ok(Plan {
        status: Status::Unvalidated,
        memory_path: GIVEN.to_owned(),
        ratio: 1,
        usable: Usable {
            free: Bytes(free),
            assumed: true,
            observed: false,
            guard: limits.guard,
            margin: limits.margin,
        },
        budget: Budget {
            usable_bytes,
            m0_bytes: 0,
            fitted_c_point: UNVALIDATED_C,
            fitted_c_95: UNVALIDATED_C,
            c_point: UNVALIDATED_C,
            c_95: UNVALIDATED_C,
            floor: None,
            budget_point: Some(budget),
            budget_95: Some(budget),
            largest_block: None,
        },
        page_size: limits.page_size.0,
        formula: Some(schedule.clone()),
        time: None,
        schedule,
        static_chunk,
        alignment: decide(&[], ""),
        score_budgets: BTreeMap::new(),
        layout,
        statements: vec![format!(
            "BUDGET was given as a number; it stands for {} at c = {UNVALIDATED_C} B.",
            Bytes(usable_bytes)
        )],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::testing::limits;

    #[test]
    fn a_given_budget_makes_the_notes_schedule_unvalidated() {
        let limits = ServerLimits { guard: Bytes(0), margin: Bytes(0), ..limits() };
        let layout = Layout { tp: 1, dp: 1, cp: 1 };
        let plan = plan_of_budget(200_000_000, &limits, layout, None).unwrap();
        assert_eq!(plan.status, Status::Unvalidated);
        assert_eq!(plan.schedule.at(97_656), Some(2048));
        // 2.0e8 * 14 = 2.8e9.
        assert_eq!(plan.budget.usable_bytes, 2_800_000_000);
        // 256 rows over their own 256 keys.
        assert!(plan_of_budget(256 * 256, &limits, layout, None).is_ok());
        let small = plan_of_budget(256 * 256 - 1, &limits, layout, None).unwrap_err();
        assert_eq!(small, PlanError::BudgetTooSmall { budget: 65_535, chunk_min: 256 });
        let overflow = plan_of_budget(u64::MAX / 2, &limits, layout, None);
        assert!(matches!(overflow, Err(PlanError::BudgetTooLarge { .. })));
    }
}
