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

/// Tags, ages and payloads of one cache. Ways fill up in order and stay full.
#[derive(Clone, Debug)]
pub struct Cache {
    sets: u64,
    ways: usize,
    tags: Vec<u64>,
    /// When each way was used last, above its number in the set.
    used: Vec<u64>,
    /// A byte of each tag, [`MARKS`] of them in a word: what a search looks at first.
    marks: Vec<u64>,
    /// Ways in use of each set.
    filled: Vec<u32>,
    entries: Vec<Entry>,
    clock: u64,
    /// Where lines were found last, by a few bits of their number.
    hints: [u32; HINTS],
}

/// Lines whose place is remembered, so that finding them again does not take a search of their set.
const HINTS: usize = 256;

/// Marks in a word.
const MARKS: usize = 8;

/// Most ways of a set: their numbers take the lower bits of [`Cache::used`].
const WAYS: u64 = 1 << 16;

impl Cache {
    /// A cache of `lines` lines, `ways` a set (fewer where it has fewer lines).
    pub fn new(lines: u64, ways: u32) -> Self {
        let tags = Self::tags(lines, ways);
        Cache { entries: vec![Entry::default(); tags.tags.len()], ..tags }
    }

    /// A cache of which only the tags matter: it has no entries.
    pub fn tags(lines: u64, ways: u32) -> Self {
        let ways = u64::from(ways).min(lines).clamp(1, WAYS);
        let sets = (lines / ways).max(1);
        let of_each_set = |n: u64| usize::try_from(sets * n).unwrap_or(0);
        let n = of_each_set(ways);
        Cache {
            sets,
            ways: ways as usize,
            tags: vec![EMPTY; n],
            used: vec![0; n],
            marks: vec![0; of_each_set(ways.div_ceil(MARKS as u64))],
            filled: vec![0; of_each_set(1)],
            entries: Vec::new(),
            clock: 0,
            hints: [0; HINTS],
        }
    }

    /// Looks `line` up and, where it is absent, puts it in the place of the least recently used.
    #[inline]
    pub fn touch(&mut self, line: u64) -> Lookup {
        self.clock += 1;
        let hint = (line ^ line >> 8 ^ line >> 44) as usize % HINTS;
        let likely = self.hints[hint] as usize;
        // The sets differ in their lines.
        if self.tags.get(likely) == Some(&line.wrapping_add(1)) {
            let used = &mut self.used[likely];
            *used = self.clock * WAYS + *used % WAYS;
            return Lookup::Hit(likely);
        }
        self.search(line, hint)
    }

    /// [`Cache::touch`] of a line that is not where `hint` says.
    fn search(&mut self, line: u64, hint: usize) -> Lookup {
        let wanted = line.wrapping_add(1);
        let set = self.set(line);
        let first = set * self.ways;
        let filled = self.filled[set] as usize;
        let words = self.ways.div_ceil(MARKS);
        let marks = &mut self.marks[set * words..][..words];
        let tags = &mut self.tags[first..][..self.ways];
        let used = &mut self.used[first..][..self.ways];
        let mark = mark(line);
        for (i, &word) in marks[..filled.div_ceil(MARKS)].iter().enumerate() {
            let mut same = zero_bytes(word ^ mark);
            while same != 0 {
                let way = i * MARKS + same.trailing_zeros() as usize / 8;
                if tags.get(way) == Some(&wanted) {
                    used[way] = self.clock * WAYS + way as u64;
                    self.hints[hint] = (first + way) as u32;
                    return Lookup::Hit(first + way);
                }
                same &= same - 1;
            }
        }
        let is_full = filled == self.ways;
        let way = if is_full {
            (least(used) % WAYS) as usize
        } else {
            self.filled[set] += 1;
            filled
        };
        let byte = 0xff << (8 * (way % MARKS));
        let word = &mut marks[way / MARKS];
        *word = *word & !byte | mark & byte;
        tags[way] = wanted;
        used[way] = self.clock * WAYS + way as u64;
        let place = first + way;
        self.hints[hint] = place as u32;
        if let Some(entry) = self.entries.get_mut(place) {
            *entry = Entry::default();
        }
        if is_full { Lookup::Replaced(place) } else { Lookup::Filled(place) }
    }

    fn set(&self, line: u64) -> usize {
        let folded = fold(line);
        // Most numbers are short, and dividing those is faster.
        match (u32::try_from(folded), u32::try_from(self.sets)) {
            (Ok(folded), Ok(sets)) => (folded % sets) as usize,
            _ => (folded % self.sets) as usize,
        }
    }

    /// Payload of an entry that [`Cache::touch`] returned, for caches that have them.
    pub fn entry(&mut self, index: usize) -> &mut Entry {
        &mut self.entries[index]
    }
}

/// The mark of a line, in every byte.
fn mark(line: u64) -> u64 {
    (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) * 0x0101_0101_0101_0101
}

/// The highest bit of each byte that is zero, and of some of those above one that is.
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080
}

/// The least of `values`, found in four strands.
fn least(values: &[u64]) -> u64 {
    let (fours, rest) = values.as_chunks::<4>();
    let mut least = [u64::MAX; 4];
    for four in fours {
        for (least, &value) in least.iter_mut().zip(four) {
            *least = value.min(*least);
        }
    }
    least.iter().chain(rest).copied().min().unwrap_or(0)
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

    /// Against a list of the lines of each set, most recently used first.
    #[test]
    fn many_lines_come_and_go_in_the_order_of_their_use() {
        for (lines, ways) in [(64, 16), (256, 64), (40, 5), (300, u32::MAX)] {
            let mut c = Cache::new(lines, ways);
            let (ways, sets) = (c.ways, c.sets);
            let mut expected = vec![Vec::new(); sets as usize];
            let mut state = 1u64;
            for _ in 0..20_000 {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                let line = (state >> 40) % (2 * lines);
                let set: &mut Vec<u64> = &mut expected[(fold(line) % sets) as usize];
                let found = set.iter().position(|&known| known == line);
                let full = set.len() == ways;
                match (c.touch(line), found) {
                    (Lookup::Hit(_), Some(at)) => drop(set.remove(at)),
                    (Lookup::Filled(_), None) if !full => {}
                    (Lookup::Replaced(_), None) if full => drop(set.pop()),
                    (seen, _) => panic!("{seen:?} where {found:?} of {} lines", set.len()),
                }
                set.insert(0, line);
            }
        }
    }
}
