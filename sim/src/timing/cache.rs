//! Set-associative tag store with least-recently-used replacement.
//!
//! Goes in: line numbers in access order. Comes out: whether each is present, and when the data of a
//! line that is still on its way arrives.

/// Marks an empty way: tags are line numbers plus one, so that fresh zeroed memory is an empty cache.
const EMPTY: u64 = 0;

/// What a lookup found, as an index for [`Cache::entry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The line is present (its data may still be on the way).
    Hit(usize),
    /// The line was absent; it now occupies this entry, whose payload is cleared.
    Filled(usize),
    /// As [`Lookup::Filled`], and another line had to go for it.
    Replaced(usize),
}

/// State of a present line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// When its data is there.
    pub ready: u64,
    /// Sectors written and not yet written back, one bit each.
    pub dirty: u32,
}

/// Tags, ages and payloads of one cache.
#[derive(Clone, Debug)]
pub struct Cache {
    sets: u64,
    ways: usize,
    tags: Vec<u64>,
    used: Vec<u64>,
    entries: Vec<Entry>,
    clock: u64,
    /// Where lines were found last, by a few bits of their number.
    hints: [u32; HINTS],
}

/// Lines whose place is remembered, so that finding them again does not take a search of their set.
const HINTS: usize = 256;

impl Cache {
    /// A cache of `lines` lines, `ways` a set (fewer where it has fewer lines).
    pub fn new(lines: u64, ways: u32) -> Self {
        let tags = Self::tags(lines, ways);
        Cache { entries: vec![Entry::default(); tags.tags.len()], ..tags }
    }

    /// A cache of which only the tags matter: it has no entries.
    pub fn tags(lines: u64, ways: u32) -> Self {
        let ways = u64::from(ways).min(lines).max(1);
        let sets = (lines / ways).max(1);
        let n = usize::try_from(sets * ways).unwrap_or(0);
        Cache {
            sets,
            ways: ways as usize,
            tags: vec![EMPTY; n],
            used: vec![0; n],
            entries: Vec::new(),
            clock: 0,
            hints: [0; HINTS],
        }
    }

    /// Looks `line` up and, where it is absent, puts it in the place of the least recently used.
    pub fn touch(&mut self, line: u64) -> Lookup {
        self.clock += 1;
        let wanted = line.wrapping_add(1);
        let hint = (line ^ line >> 8 ^ line >> 44) as usize % HINTS;
        let likely = self.hints[hint] as usize;
        // The sets differ in their lines.
        if self.tags.get(likely) == Some(&wanted) {
            self.used[likely] = self.clock;
            return Lookup::Hit(likely);
        }
        let first = (fold(line) % self.sets) as usize * self.ways;
        let set = first..first + self.ways;
        if let Some(way) = self.tags[set.clone()].iter().position(|&tag| tag == wanted) {
            self.used[first + way] = self.clock;
            self.hints[hint] = (first + way) as u32;
            return Lookup::Hit(first + way);
        }
        // Empty ways have never been used: the first of them comes before all others.
        let oldest = self.used[set].iter().enumerate().min_by_key(|(_, used)| **used);
        let victim = first + oldest.map_or(0, |(way, _)| way);
        let empty = self.tags[victim] == EMPTY;
        self.tags[victim] = wanted;
        self.used[victim] = self.clock;
        self.hints[hint] = victim as u32;
        if let Some(entry) = self.entries.get_mut(victim) {
            *entry = Entry::default();
        }
        if empty { Lookup::Filled(victim) } else { Lookup::Replaced(victim) }
    }

    /// Payload of an entry that [`Cache::touch`] returned, for caches that have them.
    pub fn entry(&mut self, index: usize) -> &mut Entry {
        &mut self.entries[index]
    }
}

/// Folds the upper bits of a line number into the lower ones that choose the set, so that lines at a
/// power-of-two stride, such as the rows of a matrix, spread over all sets.
fn fold(line: u64) -> u64 {
    let line = line ^ line >> 4;
    let line = line ^ line >> 8;
    line ^ line >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(c: &mut Cache, line: u64) -> bool {
        matches!(c.touch(line), Lookup::Hit(_))
    }

    #[test]
    fn the_least_recently_used_line_is_replaced() {
        let mut c = Cache::new(2, 2);
        assert!(!hit(&mut c, 1));
        assert!(!hit(&mut c, 2));
        assert!(hit(&mut c, 1));
        assert!(!hit(&mut c, 3)); // replaces 2
        assert!(hit(&mut c, 1));
        assert!(!hit(&mut c, 2));
    }

    /// 8 lines in 4 sets of 2: lines 0, 4 and 8 share a set, line 1 does not.
    #[test]
    fn lines_compete_only_within_their_set() {
        let mut c = Cache::new(8, 2);
        for line in [0, 4, 1, 8] {
            assert!(!hit(&mut c, line));
        }
        assert!(!hit(&mut c, 0));
        assert!(hit(&mut c, 1));
    }

    /// 256 rows 64 lines apart, 256 lines in 4 sets of 64: by their low bits alone all rows would meet in
    /// one set and replace each other.
    #[test]
    fn rows_at_a_power_of_two_stride_fill_the_whole_cache() {
        let mut c = Cache::new(256, 64);
        let rows = |c: &mut Cache| (0..256).filter(|row| hit(c, 64 * row)).count();
        assert_eq!(rows(&mut c), 0);
        assert_eq!(rows(&mut c), 256);
    }

    #[test]
    fn a_filled_line_starts_clean() {
        let mut c = Cache::new(1, 1);
        let Lookup::Filled(i) = c.touch(7) else { panic!("present in an empty cache") };
        *c.entry(i) = Entry { ready: 9, dirty: 3 };
        assert_eq!(c.touch(7), Lookup::Hit(i));
        assert_eq!(c.touch(8), Lookup::Replaced(i));
        assert_eq!(*c.entry(i), Entry::default());
    }
}
