//! Takes samples of several cases in turns until each has converged, so that a clock that drifts
//! hits all of them alike. A stopwatch that times one run of one case goes in; the samples come
//! out, or the case that could not be run. No device here: tests script the stopwatch.

use std::time::{Duration, Instant};

use super::statistics::{Decision, StoppingRule};

/// Times one run of a case.
pub trait Stopwatch {
    /// Why a run failed.
    type Error;

    /// Runs case `case` once and returns its time in microseconds.
    ///
    /// # Errors
    /// When the run failed; no further case is timed then.
    fn time(&mut self, case: usize) -> Result<f64, Self::Error>;
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed<E> {
    /// Case that failed.
    pub case: usize,
    /// Why.
    pub error: E,
}

/// Samples of one case in the order they were taken, microseconds.
pub type Samples = Vec<f64>;

/// Samples `cases` cases in turns. The direction alternates, so that none always runs behind the
/// same neighbour; cases that have converged drop out. After `limit` a case has what it has.
///
/// # Errors
/// The first run that failed.
pub fn interleave<S: Stopwatch>(
    cases: usize,
    rule: &StoppingRule,
    limit: Duration,
    watch: &mut S,
) -> Result<Vec<Samples>, Failed<S::Error>> {
    let started = Instant::now();
    let mut samples = vec![Samples::new(); cases];
    let mut open: Vec<usize> = (0..cases).collect();
    while !open.is_empty() {
        for &case in &open {
            let time = watch.time(case).map_err(|error| Failed { case, error })?;
            samples[case].push(time);
        }
        let late = started.elapsed() > limit;
        open.retain(|&case| !late && rule.decide(&samples[case]) == Decision::Continue);
        open.reverse();
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::super::statistics::{drift, median};
    use super::*;

    /// Plays a time per run and remembers which case ran.
    struct Script<F> {
        time: F,
        runs: Vec<usize>,
    }

    impl<F: FnMut(usize, usize) -> Result<f64, &'static str>> Stopwatch for Script<F> {
        type Error = &'static str;

        fn time(&mut self, case: usize) -> Result<f64, &'static str> {
            let run = self.runs.len();
            self.runs.push(case);
            (self.time)(case, run)
        }
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn cases_take_turns_and_the_direction_alternates() {
        let mut script = Script { time: |_, _| Ok(1.0), runs: Vec::new() };
        let rule = StoppingRule { min_samples: 2, ..StoppingRule::default() };
        let samples = interleave(3, &rule, MINUTE, &mut script).unwrap();
        assert_eq!(script.runs, [0, 1, 2, 2, 1, 0]);
        assert_eq!(samples, vec![vec![1.0, 1.0]; 3]);
    }

    #[test]
    fn a_noisy_case_goes_on_after_a_steady_one_has_converged() {
        let noisy = |case: usize, run: usize| {
            let wobble = (run as f64 * 0.618_033_988_749_894_9).fract();
            Ok(if case == 1 { 100.0 + 40.0 * wobble } else { 50.0 })
        };
        let mut script = Script { time: noisy, runs: Vec::new() };
        let rule = StoppingRule { max_samples: 40, ..StoppingRule::default() };
        let samples = interleave(2, &rule, MINUTE, &mut script).unwrap();
        assert_eq!((samples[0].len(), samples[1].len()), (10, 40));
    }

    #[test]
    fn the_ratio_of_interleaved_cases_survives_a_drifting_clock() {
        let drifting = |case: usize, run: usize| {
            let slow = 1.0 + 0.002 * run as f64;
            Ok(if case == 1 { 200.0 } else { 100.0 } * slow)
        };
        let mut script = Script { time: drifting, runs: Vec::new() };
        let rule = StoppingRule { max_samples: 60, ..StoppingRule::default() };
        let samples = interleave(2, &rule, MINUTE, &mut script).unwrap();
        assert!(drift(&samples[0]).is_some(), "a clock this slow is noticed");
        let ratio = median(&samples[1]).unwrap() / median(&samples[0]).unwrap();
        assert!((ratio - 2.0).abs() < 0.005, "{ratio}");
    }

    #[test]
    fn a_run_that_fails_names_its_case() {
        let failing = |case: usize, run: usize| {
            if case == 1 && run > 4 { Err("memory fault") } else { Ok(1.0) }
        };
        let mut script = Script { time: failing, runs: Vec::new() };
        let failed = interleave(2, &StoppingRule::default(), MINUTE, &mut script).unwrap_err();
        assert_eq!(failed, Failed { case: 1, error: "memory fault" });
    }

    #[test]
    fn time_that_runs_out_ends_with_the_samples_at_hand() {
        let mut script = Script { time: |_, run| Ok(run as f64), runs: Vec::new() };
        let samples = interleave(1, &StoppingRule::default(), Duration::ZERO, &mut script).unwrap();
        assert_eq!(samples, vec![vec![0.0]]);
    }
}
