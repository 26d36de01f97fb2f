//! A cache of prompt blocks that forgets the least recently used first.
//!
//! In go the block ids of one prompt after another; out comes how many of its first blocks were
//! there. Every step costs constant time, and memory is bounded by the capacity.

use std::collections::HashMap;

const NONE: usize = usize::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    id: u64,
    older: usize,
    newer: usize,
}

/// The cache.
#[derive(Debug)]
pub(super) struct BlockCache {
    /// Blocks that it holds; none for any number.
    capacity: Option<usize>,
    places: HashMap<u64, usize>,
    entries: Vec<Entry>,
    oldest: usize,
    newest: usize,
}

impl BlockCache {
    /// An empty cache of `capacity` blocks.
    pub(super) fn new(capacity: Option<usize>) -> Self {
        Self { capacity, places: HashMap::new(), entries: Vec::new(), oldest: NONE, newest: NONE }
    }

    /// Leading blocks of a prompt that are cached. All its blocks are cached afterwards, the first
    /// as the most recently used: a prefix is worth more than what hangs on it.
    pub(super) fn take(&mut self, blocks: &[u64]) -> usize {
        let run = blocks.iter().take_while(|id| self.places.contains_key(id)).count();
        for &id in blocks.iter().rev() {
            self.touch(id);
        }
        run
    }

    fn touch(&mut self, id: u64) {
        if self.capacity == Some(0) {
            return;
        }
        let place = match self.places.get(&id) {
            Some(&place) => {
                self.unlink(place);
                place
            }
            None if self.capacity.is_some_and(|most| self.entries.len() >= most) => {
                let place = self.oldest;
                self.unlink(place);
                self.places.remove(&self.entries[place].id);
                self.entries[place].id = id;
                self.places.insert(id, place);
                place
            }
            None => {
                let place = self.entries.len();
                self.entries.push(Entry { id, older: NONE, newer: NONE });
                self.places.insert(id, place);
                place
            }
        };
        self.entries[place].older = self.newest;
        self.entries[place].newer = NONE;
        match self.newest {
            NONE => self.oldest = place,
            newest => self.entries[newest].newer = place,
        }
        self.newest = place;
    }

    fn unlink(&mut self, place: usize) {
        let Entry { older, newer, .. } = self.entries[place];
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer].older = older,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_run_ends_at_the_first_block_that_is_not_cached() {
        let mut cache = BlockCache::new(None);
        assert_eq!(cache.take(&[1, 2, 3]), 0);
        assert_eq!(cache.take(&[1, 2, 9, 3]), 2);
        assert_eq!(cache.take(&[2, 3]), 2);
        assert_eq!(cache.take(&[7]), 0);
    }

    #[test]
    fn the_least_recently_used_block_goes_first() {
        let mut cache = BlockCache::new(Some(3));
        cache.take(&[1, 2, 3]);
        // 3 was used before 2 and 1: block 4 takes its place, block 5 that of 2.
        cache.take(&[4]);
        assert_eq!(cache.take(&[1, 2, 3]), 2);
        let mut cache = BlockCache::new(Some(3));
        cache.take(&[1, 2, 3]);
        cache.take(&[4, 5]);
        assert_eq!(cache.take(&[1, 2]), 1);
        assert_eq!(BlockCache::new(Some(0)).take(&[1]), 0);
    }
}
