//! The KV pool of one rank: free tokens, what is cached and evictable, and what requests hold.
//!
//! In go a pool size and the steps of requests through it (match, lock, allocate, checkpoint,
//! release); out come the tokens that admission may count on. Evicts before it fails.

use super::seat::Seat;
use super::tree::Tree;
use super::window::FREE_INTERVAL;
use super::{AdmissionError, Request, Room, Window};

/// Tokens that are freed for each request that goes on when one is retracted
/// (`SGLANG_RETRACT_DECODE_STEPS`).
pub(super) const RETRACT_STEPS: i64 = 20;

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
    window: Option<Window>,
    /// Free tokens of the window's pool; beside a prefix cache the evictable ones too.
    window_free: i64,
    /// Whether SGLang would have evicted for want of rings, which is not modelled.
    window_short: bool,
    /// Whether the host holds prefixes too, beside which evictions are not modelled.
    host: bool,
    /// Whether SGLang would have evicted beside them.
    host_short: bool,
}

/// Fewer tokens than this are not copied from the host (`UnifiedRadixCache.load_back_threshold`).
const LEAST_LOAD: i64 = 10;

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

    /// A pool without prefix cache whose requests also hold sliding-window KV.
    pub fn with_window(tokens: i64, page: i64, window: Window) -> Self {
        let window_free = window.size / page * page;
        Self { window: Some(window), window_free, ..Self::without_cache(tokens, page) }
    }

    fn new(tokens: i64, page: i64, residency: Residency) -> Self {
        let free = tokens / page * page;
        Self {
            page,
            free,
            residency,
            window: None,
            window_free: 0,
            window_short: false,
            host: false,
            host_short: false,
        }
    }

    /// A pool with a radix tree whose requests also hold sliding-window KV. Window KV of pages goes
    /// into the tree too; rings stay with their requests.
    pub fn with_tree_and_window(tokens: i64, page: i64, requests: usize, window: Window) -> Self {
        let mut tree = Tree::new(page, requests);
        tree.cut_at_windows(window.length);
        let window_free = window.size / page * page;
        let pool = Self::new(tokens, page, Residency::Tree(tree));
        Self { window: Some(window), window_free, ..pool }
    }

    /// The sliding window, where there is one.
    pub fn window(&self) -> Option<Window> {
        self.window
    }

    /// Whether prefixes are cached at all.
    pub fn caches(&self) -> bool {
        !matches!(self.residency, Residency::Off)
    }

    /// Free and evictable tokens.
    pub fn room(&self) -> Room {
        let full = match &self.residency {
            Residency::Tree(tree) => self.free + tree.evictable(),
            Residency::Given | Residency::Off => self.free,
        };
        Room { full, window: self.window_free }
    }

    /// Puts a prefix of `tokens` of request `id` into the tree, as if an earlier request had left it
    /// there. False where there is no tree or the free tokens do not hold it.
    pub fn preload(&mut self, id: usize, tokens: i64) -> bool {
        let aligned = tokens / self.page * self.page;
        match &mut self.residency {
            Residency::Tree(tree) if aligned <= self.free => {
                self.free -= aligned;
                tree.insert(id, aligned, aligned, 0);
                true
            }
            _ => false,
        }
    }

    /// The same pool with a host tier that holds what requests name ([`Request::host`]).
    pub fn with_host(mut self) -> Self {
        self.host = true;
        self
    }

    /// Whether a step would have evicted beside the host tier.
    pub(super) fn host_short(&self) -> bool {
        self.host_short
    }

    /// Tokens behind the `cached` ones of a waiting request that only the host holds.
    pub(super) fn host_hit(&self, request: &Request, cached: i64) -> i64 {
        let limit = (request.tokens() - 1) / self.page * self.page;
        if self.host { (request.host.min(limit) - cached).max(0) } else { 0 }
    }

    /// Copies `tokens` behind the `cached` ones of request `id` from the host; says how many.
    pub(super) fn load(&mut self, id: usize, cached: i64, tokens: i64) -> i64 {
        let Residency::Tree(tree) = &mut self.residency else { return 0 };
        if tokens < LEAST_LOAD {
            return 0;
        }
        self.host_short |= tokens > self.free;
        self.free -= tokens;
        tree.insert(id, cached + tokens, cached + tokens, 0);
        tokens
    }

    /// Cached prefix of a waiting request, in whole pages; at least one token is left to run.
    pub(super) fn matched(&mut self, request: &Request) -> i64 {
        // A ring starts empty: the window in front of the first row runs again.
        let rerun = self.window.map_or(1, |window| window.length.max(1));
        let limit = request.tokens() - rerun;
        match &mut self.residency {
            Residency::Tree(tree) => tree.lookup(request.id, limit),
            Residency::Given => request.cached.min(limit) / self.page * self.page,
            Residency::Off => 0,
        }
    }

    /// Marks the cached prefix of a waiting request as used.
    pub(super) fn touch(&mut self, request: &Request) {
        if let Residency::Tree(tree) = &mut self.residency {
            let rerun = self.window.map_or(0, |window| window.length);
            tree.lookup(request.id, request.tokens() - rerun);
        }
    }

    /// Room that is left once the prefix of a request is locked.
    pub(super) fn room_beside(&self, id: usize, prefix: i64) -> Room {
        let locked = match &self.residency {
            Residency::Tree(tree) => tree.unlocked_within(id, prefix),
            Residency::Given => prefix,
            Residency::Off => 0,
        };
        let Room { full, window } = self.room();
        Room { full: full - locked, window }
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
        let rings = self.window.is_some_and(|window| window.ring.is_some());
        if let Residency::Tree(tree) = &mut self.residency {
            self.window_short |= rings && tokens > self.window_free;
            self.host_short |= self.host && tokens > self.free;
            while self.free < tokens {
                match tree.evict_one() {
                    Some(freed) => self.free += freed,
                    None => break,
                }
            }
        }
        let paged = self.window.is_some_and(|window| window.ring.is_none());
        self.free >= tokens && (!paged || self.window_free >= tokens)
    }

    /// Takes the pages that `seats` need to reach the ends of their chunks. SGLang evicts for one
    /// page a request more than it may need.
    ///
    /// # Errors
    /// The pool is too small.
    pub(super) fn grow<'s>(
        &mut self,
        seats: impl Iterator<Item = &'s mut Seat>,
    ) -> Result<(), AdmissionError> {
        let slack = if self.page > 1 { self.page } else { 0 };
        let (mut generous, mut pages) = (0, 0);
        for seat in seats {
            match self.window.and_then(|window| window.ring) {
                Some(ring) if seat.committed == 0 => self.window_free -= ring,
                None if !self.caches() => self.slide(seat, seat.prefix),
                _ => {}
            }
            generous += seat.end - seat.prefix + slack;
            pages += self.pages(seat.end) - self.pages(seat.prefix);
            seat.committed = seat.end;
            self.hold(seat);
        }
        self.make_room(generous);
        self.take(pages * self.page)
    }

    /// Takes one more token for each of `seats`.
    ///
    /// # Errors
    /// The pool is too small.
    pub(super) fn grow_by_one(&mut self, seats: &mut [Seat]) -> Result<(), AdmissionError> {
        let wanted = self.next_tokens(seats);
        if self.window.is_some() {
            seats.iter_mut().for_each(|seat| self.slide_decoding(seat));
        }
        self.make_room(seats.len() as i64 * self.page);
        for seat in seats {
            seat.committed += 1;
            seat.decoded += 1;
            self.hold(seat);
        }
        self.take(wanted)
    }

    /// Tokens that one more token for each of `seats` takes from the pool.
    pub(super) fn next_tokens(&self, seats: &[Seat]) -> i64 {
        if self.page == 1 {
            return seats.len() as i64;
        }
        seats.iter().filter(|seat| seat.committed % self.page == 0).count() as i64 * self.page
    }

    fn take(&mut self, tokens: i64) -> Result<(), AdmissionError> {
        let paged = self.window.is_some_and(|window| window.ring.is_none());
        if self.window_short {
            return Err(AdmissionError::OutOfRings);
        }
        // Beside a prefix cache the window's tokens were taken when they were held.
        let (paged, overdrawn) = (paged && !self.caches(), paged && self.window_free < 0);
        let free = if paged { self.free.min(self.window_free) } else { self.free };
        if overdrawn {
            return Err(AdmissionError::OutOfKv {
                wanted: tokens,
                free: tokens + self.window_free,
            });
        }
        if tokens > free {
            return Err(AdmissionError::OutOfKv { wanted: tokens, free });
        }
        self.free -= tokens;
        if paged {
            self.window_free -= tokens;
        }
        Ok(())
    }

    /// Frees what has left the window of a request that is at `length` tokens.
    fn slide(&mut self, seat: &mut Seat, length: i64) {
        let Some(window) = &self.window else { return };
        let behind = (length - window.length) / self.page * self.page;
        if length - window.length > seat.slid && behind > seat.slid {
            self.window_free += behind - seat.slid;
            seat.slid = behind;
        }
    }

    /// The same for a request that decodes: from its second step, and once enough has left.
    fn slide_decoding(&mut self, seat: &mut Seat) {
        let Some(window) = &self.window else { return };
        let length = seat.request.prompt + seat.output - 1;
        if seat.decoded >= 1 && length - window.length >= seat.slid + FREE_INTERVAL {
            if self.caches() {
                self.slide_cached(seat, length, 1);
            } else if window.ring.is_none() {
                self.slide(seat, length);
            }
        }
    }

    /// Moves on what a request with a prefix cache has let out of its window: a whole window, and
    /// the page that the next token falls into, stay.
    fn slide_cached(&mut self, seat: &mut Seat, length: i64, interval: i64) {
        let (Some(window), Residency::Tree(_)) = (&self.window, &self.residency) else { return };
        if length - window.length < seat.slid + interval {
            return;
        }
        let kept = (window.length.max(self.page) + self.page - 1) / self.page * self.page;
        seat.slid = seat.slid.max(seat.protected);
        seat.slid = seat.slid.max((length - kept) / self.page * self.page);
    }

    /// Pages of `tokens`.
    fn pages(&self, tokens: i64) -> i64 {
        (tokens + self.page - 1) / self.page
    }

    /// Hands the first `up_to` tokens of a running request to the tree, in whole pages.
    pub(super) fn checkpoint(&mut self, seat: &mut Seat, up_to: i64) {
        self.slide_cached(seat, up_to - 1, 1);
        self.hand_over(seat, up_to);
        self.hold(seat);
    }

    /// Brings up to date what a request keeps of a paged window's pool beside a prefix cache: the
    /// window in front of what it has cached, and all behind it. The rest
    /// can be evicted.
    fn hold(&mut self, seat: &mut Seat) {
        let paged = self.window.is_some_and(|window| window.ring.is_none());
        let Residency::Tree(tree) = &self.residency else { return };
        if !paged {
            return;
        }
        let kept = tree.window_within(seat.request.id, seat.locked);
        let own = self.pages(seat.committed) * self.page - seat.protected.max(seat.slid);
        let held = kept + own.max(0);
        self.window_free += seat.held - held;
        seat.held = held;
    }

    fn hand_over(&mut self, seat: &mut Seat, up_to: i64) {
        let Residency::Tree(tree) = &mut self.residency else {
            return;
        };
        let key = up_to / self.page * self.page;
        if up_to <= 0 {
            return;
        }
        let id = seat.request.id;
        self.free += tree.insert(id, key, seat.protected, seat.slid);
        // The prompt and the output become separate nodes, so that the output can go first.
        let prompt = seat.request.prompt / self.page * self.page;
        if self.window.is_none() && 0 < prompt && prompt < key {
            tree.insert(id, prompt, prompt, 0);
        }
        tree.unlock(id, seat.locked);
        tree.lock(id, key);
        seat.locked = key;
        seat.protected = key;
    }

    /// Gives back what a finished request holds; the tree keeps what it can.
    pub(super) fn release(&mut self, mut seat: Seat) {
        let owned = seat.committed;
        self.hand_over(&mut seat, owned);
        self.give_back(&seat);
    }

    /// Takes back all that a request holds, so that `others` can go on decoding: nothing of it is
    /// handed to the tree, and some tokens are freed for each of them.
    pub(super) fn retract(&mut self, seat: &Seat, others: usize) {
        self.give_back(seat);
        self.make_room(others as i64 * RETRACT_STEPS);
    }

    fn give_back(&mut self, seat: &Seat) {
        let owned = seat.committed;
        let pages = self.pages(owned) - seat.protected / self.page;
        self.free += pages * self.page;
        match self.window.map(|window| window.ring) {
            Some(Some(ring)) => self.window_free += ring,
            Some(None) if self.caches() => self.window_free += seat.held,
            Some(None) => self.window_free += self.pages(owned) * self.page - seat.slid,
            None => {}
        }
        self.unlock(seat.request.id, seat.locked);
    }
}
