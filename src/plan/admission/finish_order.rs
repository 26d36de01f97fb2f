//! The other gate of SGLang: without prefix cache, requests that run to a known end are admitted if
//! the KV lasts through all of their ends, the nearest first.
//!
//! In go the tokens that each request still emits and those that it holds; out comes yes or no.

/// Tokens kept for each request that is still running at a step.
const RESERVE: f64 = 1.0;

/// Requests in the order of their ends.
#[derive(Clone, Debug, Default)]
pub(super) struct FinishOrder {
    /// `(tokens left, tokens held)`; nothing before the first request was tried.
    states: Option<Vec<(f64, i64)>>,
}

impl FinishOrder {
    /// Adds a candidate, the first time with the others that are there already.
    pub(super) fn add(&mut self, candidate: (f64, i64), others: impl Iterator<Item = (f64, i64)>) {
        let lasts = |state: &(f64, i64)| state.0 > 0.0;
        match &mut self.states {
            None => {
                let all = std::iter::once(candidate).chain(others);
                let mut states: Vec<_> = all.filter(lasts).collect();
                states.sort_by(|a, b| a.0.total_cmp(&b.0));
                self.states = Some(states);
            }
            Some(states) if lasts(&candidate) => {
                // SGLang's search ends on the last request, so one that outlasts all of them goes
                // before the last.
                let found = states.iter().position(|state| candidate.0 <= state.0);
                states.insert(found.unwrap_or(states.len().saturating_sub(1)), candidate);
            }
            Some(_) => {}
        }
    }

    /// Whether `free` tokens last until the end of every request.
    pub(super) fn lasts(&self, free: f64) -> bool {
        let states = self.states.as_deref().unwrap_or_default();
        let mut freed = 0;
        states.iter().enumerate().all(|(i, (left, held))| {
            let running = (states.len() - i) as f64;
            let least = free + freed as f64 - left * running;
            freed += held;
            least > RESERVE * running
        })
    }
}
