//! Measures cases on several host threads at once, which only a simulated device allows: its time
//! does not depend on what else the host does. Cases go in; finished points come out in the order
//! in which they finish, one at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use crate::grid::Case;
use crate::profile::Point;

/// Runs `cases` on `threads` threads. Each thread makes its own bench with `open` and measures with
/// `measure`; `keep` is called on this thread for every finished point. When `stop` is raised no
/// further case starts.
///
/// # Errors
/// The first error of `open` or `keep`; points finished until then have been kept.
pub fn run<B, E: Send>(
    cases: &[&Case],
    threads: usize,
    stop: &AtomicBool,
    open: impl Fn() -> Result<B, E> + Sync,
    measure: impl Fn(&mut B, &Case) -> Point + Sync,
    mut keep: impl FnMut(&Case, Point) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let halted = || stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
    let work = |finished: std::sync::mpsc::Sender<Result<(usize, Point), E>>| {
        let mut bench = match open() {
            Ok(bench) => bench,
            Err(error) => {
                // A receiver that is gone has seen an error already.
                let _ = finished.send(Err(error));
                return;
            }
        };
        while !halted() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(index) else { break };
            if finished.send(Ok((index, measure(&mut bench, case)))).is_err() {
                break;
            }
        }
    };
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..threads.clamp(1, cases.len().max(1)) {
            let sender = sender.clone();
            scope.spawn(|| work(sender));
        }
        drop(sender);
        for message in receiver {
            let kept = message.and_then(|(index, point)| keep(cases[index], point));
            if let Err(error) = kept {
                failed.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Work;
    use crate::model::MatrixShape;
    use crate::profile::Op;

    fn cases(n: u64) -> Vec<Case> {
        let shape = MatrixShape { name: "w_kc".into(), b: 16, n: 512, k: 192 };
        let work = |m| Work::Matrix { kernel: "absorb".into(), shape: shape.clone(), m };
        (1..=n).map(|m| Case { name: format!("M={m}"), work: work(m) }).collect()
    }

    fn point(case: &Case) -> Point {
        Point { message: Some(case.name.clone()), ..Point::new(Op::Gemm, "", "", "", "") }
    }

    #[test]
    fn every_case_is_measured_once_whatever_the_number_of_threads() {
        let cases = cases(50);
        let list: Vec<&Case> = cases.iter().collect();
        for threads in [1, 4, 100] {
            let mut kept = Vec::new();
            let keep = |case: &Case, point: Point| {
                assert_eq!(point.message.as_deref(), Some(case.name.as_str()));
                kept.push(case.name.clone());
                Ok::<(), String>(())
            };
            let stop = AtomicBool::new(false);
            run(&list, threads, &stop, || Ok(()), |(), case| point(case), keep).unwrap();
            kept.sort();
            let mut expected: Vec<String> = cases.iter().map(|case| case.name.clone()).collect();
            expected.sort();
            assert_eq!(kept, expected);
        }
    }

    #[test]
    fn stopping_starts_no_further_case() {
        let cases = cases(50);
        let list: Vec<&Case> = cases.iter().collect();
        let stop = AtomicBool::new(false);
        let mut kept = 0;
        let keep = |_: &Case, _: Point| {
            kept += 1;
            Ok::<(), String>(())
        };
        let measure = |(): &mut (), case: &Case| {
            stop.store(true, Ordering::Relaxed);
            point(case)
        };
        run(&list, 2, &stop, || Ok(()), measure, keep).unwrap();
        assert!((1..=2).contains(&kept), "{kept}");
    }

    #[test]
    fn a_point_that_cannot_be_kept_ends_the_run() {
        let cases = cases(50);
        let list: Vec<&Case> = cases.iter().collect();
        let keep = |_: &Case, _: Point| Err("disk full");
        let stop = AtomicBool::new(false);
        let result = run(&list, 2, &stop, || Ok(()), |(), case| point(case), keep);
        assert_eq!(result, Err("disk full"));
        let open = || Err::<(), _>("no device");
        let result = run(&list, 2, &stop, open, |(), case| point(case), |_, _| Ok(()));
        assert_eq!(result, Err("no device"));
    }
}
