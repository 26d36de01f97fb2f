//! A plan beside other sizers, prompt by prompt.
//!
//! In go a plan's schedule, its memory frontier and its time, and peers by name; out come for every
//! prompt the predicted time, the chunks, the peak and whether the server survives it.

use serde::Serialize;

use super::baselines::{NeedsTimes, Peer, Server};
use super::optimise::least_time;
use super::reach::Reach;
use super::{EndsBy, Frontier, Plan, Schedule, UNVALIDATED_C, tail};
use crate::fit::Fit;
use crate::fit::latency::TimeModel;
use crate::units::Bytes;

/// Name of the row with the best sequence of chunks for each prompt.
pub const BEST: &str = "chunktune";
/// Name of the row with the table that the sizer serves.
pub const TABLE: &str = "chunktune table";
/// A prefix that no memory ends.
const ENDLESS: u64 = 1 << 40;

/// What becomes of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every chunk stays under the frontier, at the bound.
    Survives,
    /// The most likely peak stays above the guard, but a chunk passes the frontier.
    AtRisk,
    /// The most likely peak of a chunk leaves less than the guard, or the largest free block does
    /// not hold its scores.
    Crashes,
    /// The prompt is longer than the context, or past the largest prefix that can be served.
    Refused,
}

/// One prompt under one sizer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// Tokens of the prompt.
    pub length: u64,
    /// Predicted time of the whole prefill, microseconds; none where nothing was timed or it does
    /// not finish.
    pub time_us: Option<f64>,
    /// That time over the best sequence's.
    pub ratio: Option<f64>,
    /// Number of chunks.
    pub chunks: usize,
    /// Smallest and largest chunk, tokens.
    pub sizes: (u64, u64),
    /// Most likely peak of the worst chunk, bytes.
    pub peak_bytes: u64,
    /// 95% bound of that peak, bytes.
    pub peak_95_bytes: u64,
    /// What becomes of the server.
    pub verdict: Verdict,
    /// Prefix and length of the first chunk that decides the verdict.
    pub at: Option<(u64, u64)>,
}

/// One sizer over all prompts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Sizer.
    pub name: String,
    /// By prompt, in the order asked for.
    pub prompts: Vec<Score>,
    /// What a reader must know about it.
    pub note: Option<String>,
}

/// Where sizers are compared.
pub struct Arena<'a> {
    schedule: &'a Schedule,
    reach: Reach,
    /// Most likely peak and its bound, bytes.
    peak: Box<dyn Fn(u64, u64) -> (f64, f64) + 'a>,
    /// Whether the largest free block holds the scores.
    allocates: Box<dyn Fn(u64, u64) -> bool + 'a>,
    /// Bytes under the frontier.
    usable: f64,
    /// Bytes before the guard fires.
    hard: f64,
    time: Option<TimeModel>,
    page_size: u64,
    ratio: u32,
}

impl<'a> Arena<'a> {
    /// The arena of a plan made from a fit. Kernel times are those of `layers` layers.
    pub fn of_plan(plan: &'a Plan, fit: &'a Fit, layers: u64) -> Option<Self> {
        let memory = fit.memory_of(&plan.memory_path)?;
        let frontier = Frontier::new(memory, &plan.budget, plan.layout.cp);
        let time = plan.time.as_ref().map(|time| match time.chunk.deployed {
            true => time.chunk.model.clone(),
            false => time.chunk.model.clone().times(layers.max(1) as f64),
        });
        let hard = plan.usable.free.0.saturating_sub(plan.usable.guard.0);
        Some(Self {
            reach: reach(&plan.schedule, |chunk, limit| frontier.largest_prefix(chunk, limit)),
            schedule: &plan.schedule,
            peak: Box::new(move |t, l| (frontier.peak_point(t, l), frontier.peak_95(t, l))),
            allocates: Box::new(move |t, l| frontier.allocates(t, l)),
            usable: plan.budget.usable_bytes as f64,
            hard: hard as f64,
            time,
            page_size: plan.page_size,
            ratio: plan.ratio,
        })
    }

    /// The arena of a plan made from a BUDGET: memory is `c * T * L` at the assumed `c`, and nothing
    /// is timed.
    pub fn of_budget(plan: &'a Plan, budget: u64) -> Self {
        let peak = |t: u64, l: u64| UNVALIDATED_C * t as f64 * l as f64;
        let usable = UNVALIDATED_C * budget as f64;
        Self {
            reach: reach(&plan.schedule, |chunk, limit| Some((budget / chunk).min(limit))),
            schedule: &plan.schedule,
            peak: Box::new(move |t, l| (peak(t, l), peak(t, l))),
            allocates: Box::new(|_, _| true),
            usable,
            hard: usable,
            time: None,
            page_size: plan.page_size,
            ratio: plan.ratio,
        }
    }

    /// The plan and every peer on `prompts`.
    ///
    /// # Errors
    /// A peer that sizes by time where nothing was timed.
    pub fn contest(&self, peers: &[Peer], prompts: &[u64]) -> Result<Vec<Entry>, NeedsTimes> {
        let best: Vec<Option<Vec<u64>>> = prompts.iter().map(|p| self.best(*p)).collect();
        let table: Vec<Option<Vec<u64>>> =
            prompts.iter().map(|p| self.schedule.chunks_of(*p)).collect();
        let mut entries = vec![
            self.entry(BEST.to_owned(), prompts, &best, None),
            self.entry(TABLE.to_owned(), prompts, &table, None),
        ];
        let server = Server {
            time: self.time.as_ref(),
            chunk_max: self.schedule.range.max,
            page_size: self.page_size,
            ratio: self.ratio,
            furthest: prompts.iter().copied().max().unwrap_or(1),
        };
        for peer in peers {
            let (ready, refused) = peer.on(&server)?;
            let chunks: Vec<Option<Vec<u64>>> = prompts.iter().map(|p| ready.chunks(*p)).collect();
            let note = refused.map(|error| error.to_string());
            entries.push(self.entry(peer.to_string(), prompts, &chunks, note));
        }
        let least: Vec<Option<f64>> = entries[0].prompts.iter().map(|s| s.time_us).collect();
        for entry in &mut entries {
            for (score, least) in entry.prompts.iter_mut().zip(&least) {
                score.ratio = score.time_us.zip(*least).map(|(time, least)| time / least);
            }
        }
        Ok(entries)
    }

    /// The sequence with the least time, its tail settled; without times the table's.
    fn best(&self, length: u64) -> Option<Vec<u64>> {
        let chunks = match &self.time {
            Some(model) => least_time(model, &self.reach, 0, length)?.chunks,
            None => self.schedule.chunks_of(length)?,
        };
        // Without times fewer chunks are better.
        let time = |chunks: &[u64]| match &self.time {
            Some(model) => model.total_us(chunks, 0),
            None => chunks.len() as f64,
        };
        Some(tail::settle(&chunks, 0, &self.reach, time).0)
    }

    fn entry(
        &self,
        name: String,
        prompts: &[u64],
        chunks: &[Option<Vec<u64>>],
        note: Option<String>,
    ) -> Entry {
        let scores = prompts.iter().zip(chunks);
        Entry {
            name,
            prompts: scores
                .map(|(length, chunks)| self.score(*length, chunks.as_deref()))
                .collect(),
            note,
        }
    }

    fn score(&self, length: u64, chunks: Option<&[u64]>) -> Score {
        let mut score = Score {
            length,
            time_us: None,
            ratio: None,
            chunks: 0,
            sizes: (0, 0),
            peak_bytes: 0,
            peak_95_bytes: 0,
            verdict: Verdict::Refused,
            at: None,
        };
        // The server takes no such request, whatever sizes its chunks.
        let too_long = self.schedule.context_length.is_some_and(|context| length > context);
        let Some(chunks) = chunks.filter(|_| !too_long) else { return score };
        score.verdict = Verdict::Survives;
        score.chunks = chunks.len();
        score.sizes =
            (chunks.iter().copied().min().unwrap_or(0), chunks.iter().copied().max().unwrap_or(0));
        let mut prefix = 0;
        for &chunk in chunks {
            let (point, bound) = (self.peak)(chunk, prefix);
            score.peak_bytes = score.peak_bytes.max(point as u64);
            score.peak_95_bytes = score.peak_95_bytes.max(bound as u64);
            let verdict = match () {
                () if point > self.hard => Verdict::Crashes,
                () if !(self.allocates)(chunk, prefix) => Verdict::Crashes,
                () if bound > self.usable => Verdict::AtRisk,
                () => Verdict::Survives,
            };
            if verdict == Verdict::Crashes
                || (verdict == Verdict::AtRisk && score.verdict == Verdict::Survives)
            {
                score.verdict = verdict;
                score.at = Some((prefix, chunk));
            }
            if verdict == Verdict::Crashes {
                return score;
            }
            prefix += chunk;
        }
        score.time_us = self.time.as_ref().map(|model| model.total_us(chunks, 0));
        score
    }
}

impl Score {
    /// The verdict in words.
    pub fn sentence(&self) -> String {
        let place = |what: &str| match self.at {
            Some((prefix, chunk)) => format!("{what} at {prefix} (chunk of {chunk})"),
            None => what.to_owned(),
        };
        match self.verdict {
            Verdict::Survives => "survives".to_owned(),
            Verdict::AtRisk => place("at risk: over the frontier"),
            Verdict::Crashes => place("crashes"),
            Verdict::Refused => "refused: past the context or max_context".to_owned(),
        }
    }

    /// The peak as a size.
    pub fn peak(&self) -> Bytes {
        Bytes(self.peak_bytes)
    }
}

fn reach(schedule: &Schedule, largest_prefix: impl Fn(u64, u64) -> Option<u64>) -> Reach {
    let limit = match schedule.ends_by {
        EndsBy::Context => schedule.max_context,
        EndsBy::Memory => ENDLESS,
    };
    Reach::new(schedule.range, limit, |chunk| largest_prefix(chunk, limit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::fit_profile;
    use crate::model::Layout;
    use crate::options::testing::limits;
    use crate::plan::{Request, plan, plan_of_budget};
    use crate::profile::testing::{Truth, profile};

    const PROMPTS: [u64; 5] = [32_000, 128_000, 256_000, 500_000, 1_000_000];

    #[test]
    fn static_chunks_crash_where_the_note_says_and_the_schedule_goes_on() {
        let layout = Layout { tp: 1, dp: 1, cp: 1 };
        let plan = plan_of_budget(200_000_000, &limits(), layout, None).unwrap();
        let arena = Arena::of_budget(&plan, 200_000_000);
        let entries = arena
            .contest(&[Peer::Static(2048), Peer::Static(512), Peer::Trtllm(None)], &PROMPTS)
            .unwrap();
        let of = |name: &str| entries.iter().find(|e| e.name == name).unwrap();
        // 2048 * 97657 > 2e8: the first multiple of 2048 past that is 98304.
        let crash = &of("static:2048").prompts[1];
        assert_eq!((crash.verdict, crash.at), (Verdict::Crashes, Some((98_304, 2048))));
        assert_eq!(of("static:2048").prompts[0].verdict, Verdict::Survives);
        assert_eq!(of("trtllm").prompts[1].verdict, Verdict::Crashes);
        assert_eq!(of("static:512").prompts[2].verdict, Verdict::Survives);
        let own = &of(TABLE).prompts;
        assert!(own[..4].iter().all(|s| s.verdict == Verdict::Survives), "{own:?}");
        assert_eq!(own[4].verdict, Verdict::Refused);
        assert!(own[0].peak_bytes <= 2_800_000_000 && own[0].time_us.is_none());
        assert!(arena.contest(&[Peer::Sglang(None)], &PROMPTS).is_err());
    }

    #[test]
    fn nobody_who_survives_is_faster_than_the_best_sequence() {
        let fit = fit_profile(&profile(Truth::default()));
        let request = Request {
            limits: limits(),
            device_free: None,
            layout: Layout { tp: 4, dp: 1, cp: 1 },
            context_length: Some(1 << 20),
            memory_path: Some("dense".into()),
        };
        let plan = plan(&fit, &request).unwrap();
        let arena = Arena::of_plan(&plan, &fit, 61).unwrap();
        let peers: Vec<Peer> =
            ["static:256", "static:1024", "static:2048", "sglang", "atom", "trtllm"]
                .iter()
                .map(|p| p.parse().unwrap())
                .collect();
        let entries = arena.contest(&peers, &PROMPTS).unwrap();
        let mut crashed = 0;
        for entry in &entries[1..] {
            for score in &entry.prompts {
                crashed += u32::from(score.verdict == Verdict::Crashes);
                if score.verdict == Verdict::Survives {
                    assert!(score.ratio.unwrap() >= 1.0 - 1e-9, "{} {score:?}", entry.name);
                }
            }
        }
        assert!(crashed > 0);
        let best = &entries[0].prompts[1];
        assert!(best.peak_95_bytes <= 2_750_000_000 && best.time_us.unwrap() > 0.0);
    }
}
