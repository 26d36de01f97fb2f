//! The KV pool of one rank: free tokens, what is cached and evictable, and what requests hold.
//!
//! In go a pool size and the steps of requests through it (match, lock, allocate, checkpoint,
//! release); out come the tokens that admission may count on. Evicts before it fails.

use super::seat::Seat;
use super::tree::Tree;
use super::{AdmissionError, Request};

/// Where the cached prefixes of requests come from.
#[derive(Clone, Debug)]
enum Residency {
    /// SGLang's radix tree.
    Tree(Tree),
    /// Each request finds the prefix that it names and holds it while it runs.
    Given,
    /// Nothing is cached.
    Off,
}

/// A KV pool.
#[derive(Clone, Debug)]
pub struct Pool {
    page: i64,
    free: i64,
    residency: Residency,
}

impl Pool {
    /// A pool of `tokens`, rounded down to pages, with an empty radix tree for requests with ids
    /// below `requests`.
    pub fn with_tree(tokens: i64, page: i64, requests: usize) -> Self {
        Self::new(tokens, page, Residency::Tree(Tree::new(page, requests)))
    }

    /// A pool in which every request finds the prefix that it names ([`Request::cached`]). The
    /// prefix takes room while the request runs, as if it were shared with nobody.
    pub fn with_given_prefixes(tokens: i64, page: i64) -> Self {
        Self::new(tokens, page, Residency::Given)
    }

    /// A pool without prefix cache.
    pub fn without_cache(tokens: i64, page: i64) -> Self {
        Self::new(tokens, page, Residency::Off)
    }

    fn new(tokens: i64, page: i64, residency: Residency) -> Self {
        Self { page, free: tokens / page * page, residency }
    }

    /// Whether prefixes are cached at all.
    pub fn caches(&self) -> bool {
        !matches!(self.residency, Residency::Off)
    }

    /// Free and evictable tokens.
    pub fn room(&self) -> i64 {
        match &self.residency {
            Residency::Tree(tree) => self.free + tree.evictable(),
            Residency::Given | Residency::Off => self.free,
        }
    }

    /// Puts a prefix of `tokens` of request `id` into the tree, as if an earlier request had left it
    /// there. False where there is no tree or the free tokens do not hold it.
    pub fn preload(&mut self, id: usize, tokens: i64) -> bool {
        let aligned = tokens / self.page * self.page;
        match &mut self.residency {
            Residency::Tree(tree) if aligned <= self.free => {
                self.free -= aligned;
                tree.insert(id, aligned, aligned);
                true
            }
            _ => false,
        }
    }

    /// Cached prefix of a waiting request, in whole pages; at least one token is left to run.
    pub(super) fn matched(&mut self, request: &Request) -> i64 {
        let limit = request.prompt - 1;
        match &mut self.residency {
            Residency::Tree(tree) => tree.lookup(request.id, limit),
            Residency::Given => request.cached.min(limit) / self.page * self.page,
            Residency::Off => 0,
        }
    }

    /// Marks the cached prefix of a waiting request as used.
    pub(super) fn touch(&mut self, request: &Request) {
        if let Residency::Tree(tree) = &mut self.residency {
            tree.lookup(request.id, request.prompt);
        }
    }

    /// Room that is left once the prefix of a request is locked.
    pub(super) fn room_beside(&self, id: usize, prefix: i64) -> i64 {
        self.room()
            - match &self.residency {
                Residency::Tree(tree) => tree.unlocked_within(id, prefix),
                Residency::Given => prefix,
                Residency::Off => 0,
            }
    }

    /// Keeps the prefix of a request from eviction until it is released.
    pub(super) fn lock(&mut self, id: usize, prefix: i64) {
        match &mut self.residency {
            Residency::Tree(tree) => tree.lock(id, prefix),
            Residency::Given => self.free -= prefix,
            Residency::Off => {}
        }
    }

    fn unlock(&mut self, id: usize, prefix: i64) {
        match &mut self.residency {
            Residency::Tree(tree) => tree.unlock(id, prefix),
            Residency::Given => self.free += prefix,
            Residency::Off => {}
        }
    }

    /// Evicts until `tokens` are free or nothing evictable is left; says whether they are.
    pub(super) fn make_room(&mut self, tokens: i64) -> bool {
        if let Residency::Tree(tree) = &mut self.residency {
            while self.free < tokens {
                match tree.evict_one() {
                    Some(freed) => self.free += freed,
                    None => break,
                }
            }
        }
        self.free >= tokens
    }

    /// Takes the pages that `seats` need to grow each by its pair `(from, to)` of lengths. SGLang
    /// evicts for one page a request more than it may need.
    ///
    /// # Errors
    /// The pool is too small.
    pub(super) fn grow(
        &mut self,
        seats: impl Iterator<Item = (i64, i64)> + Clone,
    ) -> Result<(), AdmissionError> {
        let slack = if self.page > 1 { self.page } else { 0 };
        let generous: i64 = seats.clone().map(|(from, to)| to - from + slack).sum();
        self.make_room(generous);
        let pages = |tokens: i64| (tokens + self.page - 1) / self.page;
        let needed = seats.map(|(from, to)| pages(to) - pages(from)).sum::<i64>() * self.page;
        self.take(needed)
    }

    /// Takes one more token for every length in `committed`.
    ///
    /// # Errors
    /// The pool is too small.
    pub(super) fn grow_by_one(
        &mut self,
        committed: impl Iterator<Item = i64> + Clone,
    ) -> Result<(), AdmissionError> {
        self.make_room(committed.clone().count() as i64 * self.page);
        self.take(self.next_tokens(committed))
    }

    /// Tokens that one more token for every length in `committed` takes from the pool.
    pub(super) fn next_tokens(&self, committed: impl Iterator<Item = i64>) -> i64 {
        committed.filter(|length| length % self.page == 0).count() as i64 * self.page
    }

    fn take(&mut self, tokens: i64) -> Result<(), AdmissionError> {
        if tokens > self.free {
            return Err(AdmissionError::OutOfKv { wanted: tokens, free: self.free });
        }
        self.free -= tokens;
        Ok(())
    }

    /// Hands the first `up_to` tokens of a running request to the tree, in whole pages.
    pub(super) fn checkpoint(&mut self, seat: &mut Seat, up_to: i64) {
        let Residency::Tree(tree) = &mut self.residency else {
            return;
        };
        let key = up_to / self.page * self.page;
        if up_to <= 0 {
            return;
        }
        let id = seat.request.id;
        self.free += tree.insert(id, key, seat.protected);
        // The prompt and the output become separate nodes, so that the output can go first.
        let prompt = seat.request.prompt / self.page * self.page;
        if 0 < prompt && prompt < key {
            tree.insert(id, prompt, prompt);
        }
        tree.unlock(id, seat.locked);
        tree.lock(id, key);
        seat.locked = key;
        seat.protected = key;
    }

    /// Gives back what a finished request holds; the tree keeps what it can.
    pub(super) fn release(&mut self, mut seat: Seat) {
        let owned = seat.committed;
        self.checkpoint(&mut seat, owned);
        let pages = (owned + self.page - 1) / self.page - seat.protected / self.page;
        self.free += pages * self.page;
        self.unlock(seat.request.id, seat.locked);
    }
}
