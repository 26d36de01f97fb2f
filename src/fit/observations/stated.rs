//! Chunks that died without a record of the memory that there was.
//!
//! In go observations, and the free memory and guard that were stated for the server; out come the
//! same rows, which now bound the peak from below, and sentences on which they are.

use super::{LMeans, Observation};
use crate::profile::Outcome;
use crate::units::Bytes;

/// Most lines named in one sentence.
const NAMED: usize = 8;

/// What was stated for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    /// Free memory before a chunk.
    pub free: Bytes,
    /// Bytes at which the guard fires.
    pub guard: Bytes,
}

/// Takes what was stated as the free memory of chunks that died and have neither a peak nor a limit
/// of their own. A chunk that passed keeps what it has: to take more than was recorded would bound
/// its peak from above, and make a plan bolder than its evidence. Rows of several systems stay as they
/// are: what is stated is true of one server.
pub fn state(rows: &mut [Observation], stated: Stated) {
    if rows.windows(2).any(|pair| pair[0].system() != pair[1].system()) {
        return;
    }
    for row in rows.iter_mut().filter(|row| row.died() && row.knows_no_memory()) {
        row.free = Some(stated.free);
        row.guard = row.guard.or(Some(stated.guard));
        row.stated = true;
    }
}

/// What was taken from flags, and what says nothing for want of it, by line.
pub fn remarks(rows: &[Observation], l_means: LMeans) -> Vec<String> {
    let mut out = Vec::new();
    let taken = rows.iter().filter(|row| row.stated && row.memory_row(l_means).is_some());
    if let Some((first, lines)) = named(taken) {
        let free = first.free.unwrap_or_default();
        out.push(format!(
            "The memory that there was is not recorded in {lines}: the {free} of --free-bytes were \
             taken, less the guard where one fired. A column `free` or `limit` is better evidence."
        ));
    }
    let mute = rows.iter().filter(|row| {
        (row.died() || row.outcome == Some(Outcome::Ok) && row.tok_s.or(row.time_us).is_none())
            && row.memory_row(l_means).is_none()
    });
    if let Some((_, lines)) = named(mute) {
        out.push(format!(
            "Nothing is learned from {lines}: an outcome tells of memory only beside T, L and a \
             `peak`, or the `free` memory or `limit` that there was. --free-bytes says it for oom and \
             guard, where all rows are of one system."
        ));
    }
    out
}

/// The first of some rows, and the lines of all in words.
fn named<'a>(mut rows: impl Iterator<Item = &'a Observation>) -> Option<(&'a Observation, String)> {
    let first = rows.next()?;
    let lines: Vec<u64> = std::iter::once(first.line).chain(rows.map(|row| row.line)).collect();
    let shown: Vec<String> = lines.iter().take(NAMED).map(u64::to_string).collect();
    let more = match lines.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let noun = if lines.len() == 1 { "line" } else { "lines" };
    Some((first, format!("{noun} {}{more}", shown.join(", "))))
}

impl Observation {
    fn died(&self) -> bool {
        matches!(self.outcome, Some(Outcome::Oom | Outcome::Guard))
    }

    fn knows_no_memory(&self) -> bool {
        self.peak.is_none() && self.limit.is_none() && self.free.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::memory::Seen;
    use crate::fit::observations::read_csv;

    /// Out of memory is reached when all 4.75 GB are used; the guard of 1.5 GB fires at 3.25 GB, one
    /// of 2 GB at 2.75 GB.
    #[test]
    fn a_chunk_that_died_used_at_least_what_was_stated_to_be_free() {
        let text = "T,L,peak,free,guard,outcome\n2048,100000,,,,oom\n2048,100000,,,,guard\n\
                    2048,100000,,,2 GB,guard\n2048,90000,,,,ok\n2048,100000,2 GB,,,guard\n\
                    2048,100000,,3 GB,,oom\n";
        let mut rows = read_csv(text).unwrap().rows;
        state(&mut rows, Stated { free: Bytes(4_750_000_000), guard: Bytes(1_500_000_000) });
        let seen: Vec<Option<Seen>> =
            rows.iter().map(|row| Some(row.memory_row(LMeans::Context)?.seen)).collect();
        let least = |bytes| Some(Seen::AtLeast(bytes));
        assert_eq!(
            seen,
            [least(4.75e9), least(3.25e9), least(2.75e9), None, least(2e9), least(3e9)]
        );
        let said = remarks(&rows, LMeans::Context);
        assert!(said[0].contains("lines 2, 3, 4: the 4.75 GB of --free-bytes"), "{said:?}");
        assert!(said[1].contains("learned from line 5:"), "{said:?}");
    }

    #[test]
    fn what_is_stated_for_one_server_is_not_taken_for_others() {
        let text = "device,T,L,outcome\nA,2048,100000,oom\nB,2048,100000,oom\n";
        let mut rows = read_csv(text).unwrap().rows;
        state(&mut rows, Stated { free: Bytes(4_750_000_000), guard: Bytes(1_500_000_000) });
        assert!(rows.iter().all(|row| row.memory_row(LMeans::Context).is_none()));
    }

    #[test]
    fn without_a_statement_the_rows_are_named() {
        let rows = read_csv("T,L,outcome\n2048,100000,oom\n1024,100000,guard\n").unwrap().rows;
        let said = remarks(&rows, LMeans::Context);
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("lines 2, 3: ") && said[0].contains("--free-bytes"), "{said:?}");
    }
}
