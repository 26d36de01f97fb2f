//! Measuring in a child process, so that a kernel that faults, hangs or takes the HIP runtime down
//! costs its own point and nothing else. Groups of cases go to the child as JSON lines, finished
//! points come back the same way; a child that dies or falls silent is killed and replaced, and the
//! case it was running gets a typed point.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::grid::Case;
use crate::profile::Point;

/// How often the wish to stop is looked at.
const POLL: Duration = Duration::from_millis(50);

/// What the child says, one JSON line each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The device is open.
    Ready,
    /// Case of that index in the group is about to run.
    Started(usize),
    /// It finished.
    Finished(usize, Box<Point>),
    /// All of the group did.
    Done,
}

/// How a child was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It said nothing for this long.
    Silent(Duration),
    /// It ended by itself; the status in words.
    Died(String),
}

/// Why measuring had to end.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError<E> {
    /// No child could be started.
    #[error("the measuring process cannot be started: {0}")]
    Spawn(std::io::Error),
    /// Children end before they have opened the device.
    #[error("the measuring process ended before it had opened the device ({0})")]
    NotReady(String),
    /// The finished point could not be kept.
    #[error("{0}")]
    Keep(E),
}

/// Runs groups in a child that is replaced when it is lost.
pub struct Supervisor<S> {
    spawn: S,
    silence: Duration,
    child: Option<Running>,
}

struct Running {
    child: Child,
    stdin: ChildStdin,
    messages: Receiver<Message>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already; there is nothing to do about a child that cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Next event of a child.
enum Event {
    Message(Message),
    Lost(Loss),
    Stopped,
}

impl<S: FnMut() -> Command> Supervisor<S> {
    /// A supervisor of children made by `spawn`, each given up after `silence` without a word.
    pub fn new(spawn: S, silence: Duration) -> Self {
        Self { spawn, silence, child: None }
    }

    /// Measures a group. `keep` takes every finished point, `lost` makes the point of a case whose
    /// child was lost. Returns early, with what was finished kept, when `stop` is raised.
    ///
    /// # Errors
    /// When no child can be started or a point cannot be kept.
    pub fn run<E>(
        &mut self,
        group: &[Case],
        stop: &AtomicBool,
        mut keep: impl FnMut(&Case, Point) -> Result<(), E>,
        lost: impl Fn(&Case, &Loss) -> Point,
    ) -> Result<(), WorkerError<E>> {
        let mut open: BTreeMap<usize, &Case> = group.iter().enumerate().collect();
        let silence = self.silence;
        while !open.is_empty() && !stop.load(Ordering::Relaxed) {
            let order: Vec<usize> = open.keys().copied().collect();
            let Some(running) = self.ready(stop)? else { return Ok(()) };
            let request: Vec<&Case> = open.values().copied().collect();
            // A child that cannot be written to is found dead below.
            let _ = running.send(&request);
            let mut current = order[0];
            loop {
                match running.next(silence, stop) {
                    Event::Message(Message::Ready) => {}
                    Event::Message(Message::Started(index)) => {
                        current = order.get(index).copied().unwrap_or(current);
                    }
                    Event::Message(Message::Finished(index, point)) => {
                        if let Some(case) = order.get(index).and_then(|i| open.remove(i)) {
                            keep(case, *point).map_err(WorkerError::Keep)?;
                        }
                    }
                    Event::Message(Message::Done) => break,
                    Event::Stopped => {
                        self.child = None;
                        return Ok(());
                    }
                    Event::Lost(loss) => {
                        self.child = None;
                        if let Some(case) = open.remove(&current) {
                            keep(case, lost(case, &loss)).map_err(WorkerError::Keep)?;
                        }
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// The child, started if there is none; none when `stop` was raised meanwhile.
    fn ready<E>(&mut self, stop: &AtomicBool) -> Result<Option<&mut Running>, WorkerError<E>> {
        if self.child.is_none() {
            let mut running = Running::start((self.spawn)()).map_err(WorkerError::Spawn)?;
            match running.next(self.silence, stop) {
                Event::Message(_) => {}
                Event::Stopped => return Ok(None),
                Event::Lost(Loss::Died(how)) => return Err(WorkerError::NotReady(how)),
                Event::Lost(Loss::Silent(time)) => {
                    let how = format!("silent for {} s", time.as_secs());
                    return Err(WorkerError::NotReady(how));
                }
            }
            self.child = Some(running);
        }
        Ok(self.child.as_mut())
    }
}

impl Running {
    /// Starts the child in a process group of its own: Ctrl-C is the parent's to handle.
    fn start(mut command: Command) -> std::io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut child = command.spawn()?;
        let missing = || std::io::Error::other("the child has no pipes");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let sent = match serde_json::from_str(&line) {
                    Ok(message) => sender.send(message),
                    Err(_) => {
                        // HIP runtimes print diagnostics on stdout. A stderr that cannot be written
                        // must not end the run.
                        let _ = writeln!(anstream::stderr(), "{line}");
                        Ok(())
                    }
                };
                if sent.is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, stdin, messages })
    }

    fn send(&mut self, group: &[&Case]) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(group)?;
        line.push(b'\n');
        self.stdin.write_all(&line)?;
        self.stdin.flush()
    }

    fn next(&mut self, silence: Duration, stop: &AtomicBool) -> Event {
        let since = Instant::now();
        loop {
            match self.messages.recv_timeout(POLL) {
                Ok(message) => return Event::Message(message),
                Err(RecvTimeoutError::Disconnected) => return Event::Lost(Loss::Died(self.end())),
                Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                    return Event::Stopped;
                }
                Err(RecvTimeoutError::Timeout) if since.elapsed() >= silence => {
                    return Event::Lost(Loss::Silent(silence));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Status of a child whose output has ended.
    fn end(&mut self) -> String {
        match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }
    }
}

/// The child's side: reads groups from `input`, runs each through `measure` and writes messages to
/// `output` until the input ends or `measure` says that the device cannot be used any more.
///
/// # Errors
/// When the parent is gone or talks nonsense.
pub fn serve(
    input: impl BufRead,
    mut output: impl Write,
    mut measure: impl FnMut(&[Case], &mut dyn FnMut(Message)) -> bool,
) -> std::io::Result<()> {
    let mut say = |message: &Message| {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()
    };
    say(&Message::Ready)?;
    for line in input.lines() {
        let group: Vec<Case> = serde_json::from_str(&line?)?;
        let mut result = Ok(());
        let usable = measure(&group, &mut |message| {
            if result.is_ok() {
                result = say(&message);
            }
        });
        result?;
        if !usable {
            return Ok(());
        }
        say(&Message::Done)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Work;
    use crate::model::MatrixShape;
    use crate::profile::{Op, Outcome};

    fn case(m: u64) -> Case {
        let shape = MatrixShape { name: "w_kc".into(), b: 16, n: 512, k: 192 };
        let work = Work::Matrix { kernel: "absorb".into(), shape, m };
        Case { name: format!("M={m}"), work }
    }

    fn point(outcome: Outcome) -> Point {
        Point { outcome, ..Point::new(Op::AbsorbBmm, "absorb", "even", "w_kc", "fp8") }
    }

    /// A child that is a shell script; `$done` prints that case `$i` started and finished.
    fn script(text: &str) -> impl FnMut() -> Command {
        let finished = serde_json::to_string(&point(Outcome::Ok)).unwrap();
        let prelude = format!(
            r#"finish() {{ echo "{{\"started\":$1}}"; printf '{{"finished":[%s,%s]}}\n' $1 '{finished}'; }}"#
        );
        let text = format!("{prelude}\n{text}");
        move || {
            let mut command = Command::new("/bin/sh");
            command.arg("-c").arg(&text);
            command
        }
    }

    /// Outcomes by case name, in the order in which they were kept.
    fn measure(
        spawn: impl FnMut() -> Command,
        cases: &[Case],
    ) -> Result<Vec<(String, Outcome)>, WorkerError<std::convert::Infallible>> {
        let mut kept = Vec::new();
        let mut supervisor = Supervisor::new(spawn, Duration::from_millis(400));
        let keep = |case: &Case, point: Point| {
            kept.push((case.name.clone(), point.outcome));
            Ok(())
        };
        let lost = |_: &Case, loss: &Loss| match loss {
            Loss::Silent(_) => point(Outcome::Hang),
            Loss::Died(_) => point(Outcome::Fault),
        };
        supervisor.run(cases, &AtomicBool::new(false), keep, lost)?;
        Ok(kept)
    }

    fn outcomes(list: &[(&str, Outcome)]) -> Vec<(String, Outcome)> {
        list.iter().map(|(name, outcome)| ((*name).to_string(), *outcome)).collect()
    }

    #[test]
    fn finished_points_are_kept_and_foreign_lines_are_passed_over() {
        let child = script(r#"echo '"ready"'; read group; echo hello; finish 0; echo '"done"'"#);
        let kept = measure(child, &[case(1)]).unwrap();
        assert_eq!(kept, outcomes(&[("M=1", Outcome::Ok)]));
    }

    /// The child finishes the first of three cases, is lost in the second, and its successor is
    /// sent the third alone.
    fn lost_in_the_second(how: &str) -> Vec<(String, Outcome)> {
        let cases = [case(1), case(2), case(3)];
        let text = format!(
            r#"echo '"ready"'; read group
               case "$group" in *M=1*) finish 0; echo '{{"started":1}}'; {how};; esac
               finish 0; echo '"done"'"#
        );
        measure(script(&text), &cases).unwrap()
    }

    #[test]
    fn a_silent_child_costs_only_the_case_it_was_running() {
        let expected = [("M=1", Outcome::Ok), ("M=2", Outcome::Hang), ("M=3", Outcome::Ok)];
        assert_eq!(lost_in_the_second("exec sleep 600"), outcomes(&expected));
    }

    #[test]
    fn a_child_that_is_killed_costs_only_the_case_it_was_running() {
        let expected = [("M=1", Outcome::Ok), ("M=2", Outcome::Fault), ("M=3", Outcome::Ok)];
        assert_eq!(lost_in_the_second("kill -9 $$"), outcomes(&expected));
    }

    #[test]
    fn a_child_that_never_opens_the_device_ends_the_run_with_its_status() {
        let error = measure(script("exit 3"), &[case(1)]).unwrap_err();
        assert!(error.to_string().contains("exit status: 3"), "{error}");
    }

    #[test]
    fn the_wish_to_stop_ends_a_hanging_child_at_once() {
        let mut supervisor =
            Supervisor::new(script(r#"echo '"ready"'; exec sleep 600"#), Duration::from_secs(600));
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                stop.store(true, Ordering::Relaxed);
            });
            let keep = |_: &Case, _: Point| Err("nothing finishes");
            let lost = |_: &Case, _: &Loss| point(Outcome::Hang);
            supervisor.run(&[case(1)], &stop, keep, lost).unwrap();
        });
    }

    #[test]
    fn the_childs_side_answers_each_group_and_ends_with_its_input() {
        let groups = [vec![case(1), case(2)], vec![case(3)]];
        let input: Vec<String> =
            groups.iter().map(|group| serde_json::to_string(group).unwrap()).collect();
        let mut output = Vec::new();
        serve(input.join("\n").as_bytes(), &mut output, |group, say| {
            (0..group.len()).for_each(|i| say(Message::Started(i)));
            true
        })
        .unwrap();
        let text = String::from_utf8(output).unwrap();
        let expected = [
            "\"ready\"",
            "{\"started\":0}",
            "{\"started\":1}",
            "\"done\"",
            "{\"started\":0}",
            "\"done\"",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
