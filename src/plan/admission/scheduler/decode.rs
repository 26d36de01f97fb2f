//! Decode steps of the loop, and what SGLang does where the next one does not fit: it retracts.

use std::cmp::Reverse;

use super::super::pool::RETRACT_STEPS;
use super::super::seat::Seat;
use super::super::{AdmissionError, Request, Step};
use super::{FIRST_RATIO, Scheduler};

/// Least share of the first one, and the decode steps on the way to it
/// (`SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR`, `SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS`).
const LEAST_RATIO_FACTOR: f64 = 0.14;
const RATIO_STEPS: f64 = 600.0;

impl Scheduler<'_> {
    /// Whether the next decode step of the running requests fits, after eviction.
    pub(super) fn decode_fits(&mut self) -> bool {
        let wanted = self.pool.next_tokens(&self.running);
        self.pool.make_room(wanted)
    }

    /// Sends running requests back into the queue, those with the least output first, until the next
    /// decode step of the others fits. They keep what they have emitted.
    fn retract(&mut self) -> Result<(), AdmissionError> {
        if self.pool.window().is_some() && self.pool.caches() {
            return Err(AdmissionError::WindowRetraction { step: self.step });
        }
        self.running.sort_by_key(|seat| Reverse((seat.output, -seat.request.prompt)));
        while let Some(seat) = self.running.pop() {
            if self.running.is_empty() {
                return Err(AdmissionError::Abort { step: self.step });
            }
            self.pool.retract(&seat, self.running.len());
            self.waiting.push_back(Request { emitted: seat.output, ..seat.request });
            self.retracted += 1;
            if self.decode_fits() {
                break;
            }
        }
        (self.full, self.pass.full) = (false, false);
        let sum = |of: fn(&Seat) -> i64| self.running.iter().map(of).sum::<i64>();
        let decoded = sum(|seat| seat.output + RETRACT_STEPS);
        self.ratio = (decoded as f64 / (sum(|seat| seat.request.max_new) + 1) as f64).min(1.0);
        Ok(())
    }

    /// Gives each decoded request its token; those that end leave.
    pub(super) fn emit(&mut self, seats: &mut Vec<Seat>) {
        let mut ended = false;
        seats.iter_mut().for_each(|seat| ended |= seat.emit());
        if ended {
            self.left = true;
            let pool = &mut self.pool;
            seats.retain(|seat| {
                let goes_on = seat.output < seat.request.max_new;
                if !goes_on {
                    pool.release(seat.clone());
                }
                goes_on
            });
        }
    }

    pub(super) fn decode(&mut self) -> Result<Step, AdmissionError> {
        if self.running.is_empty() {
            return Ok(Step::Idle);
        }
        if self.decode_fits() {
            let least = FIRST_RATIO * LEAST_RATIO_FACTOR;
            self.ratio = (self.ratio - (FIRST_RATIO - least) / RATIO_STEPS).max(least);
        } else {
            self.retract()?;
        }
        let mut decoding = std::mem::take(&mut self.running);
        self.pool.grow_by_one(&mut decoding)?;
        let rows = decoding.len();
        self.emit(&mut decoding);
        self.running = decoding;
        Ok(Step::Decode { rows })
    }
}
