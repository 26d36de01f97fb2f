//! The prefix cache of requests that share nothing with one another, as SGLang's radix tree keeps
//! it: one branch a request, cut into nodes, evicted node by node from the least recently used end.
//!
//! In go lookups, insertions, locks and evictions in tokens; out come cached lengths and the tokens
//! that each step frees. Only the order of accesses matters, so time is a counter, as in SGLang.

use std::collections::BTreeSet;

/// Steps of the clock between two accesses; one access ages a node by its distance to the leaf.
const TICK: u64 = 1 << 20;

/// One stretch of a cached prompt.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Tokens.
    len: i64,
    accessed: u64,
    locks: u32,
    /// Whether it came with its sliding-window KV.
    live: bool,
}

/// The cached tokens of one request, root first.
#[derive(Clone, Debug, Default)]
struct Branch {
    nodes: Vec<Node>,
    /// Key under which the last node waits for eviction.
    evictable_at: Option<u64>,
}

/// The cache.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    page: i64,
    clock: u64,
    branches: Vec<Branch>,
    leaves: BTreeSet<(u64, usize)>,
    evictable: i64,
    /// Length of a sliding window in whole pages, at which new leaves are cut.
    window: Option<i64>,
}

impl Tree {
    /// An empty cache in pages of `page` tokens, for requests with ids below `requests`.
    pub(super) fn new(page: i64, requests: usize) -> Self {
        Self {
            page,
            clock: 0,
            branches: vec![Branch::default(); requests],
            leaves: BTreeSet::new(),
            evictable: 0,
            window: None,
        }
    }

    /// Cuts new leaves one window of `tokens` from their end, and where a window began.
    pub(super) fn cut_at_windows(&mut self, tokens: i64) {
        self.window = Some((tokens + self.page - 1) / self.page * self.page);
    }

    /// Tokens that could be evicted.
    pub(super) fn evictable(&self) -> i64 {
        self.evictable
    }

    /// Cached prefix of request `id` among its first `limit` tokens, in whole pages. The nodes on
    /// the way count as used now; a node that is longer than the prefix is cut.
    pub(super) fn lookup(&mut self, id: usize, limit: i64) -> i64 {
        let key = limit / self.page * self.page;
        if key <= 0 {
            return 0;
        }
        let (mut matched, mut count) = (0, 0);
        while matched < key && count < self.branches[id].nodes.len() {
            let wanted = (key - matched).min(self.branches[id].nodes[count].len);
            if wanted < self.branches[id].nodes[count].len {
                self.split(id, count, wanted);
            }
            matched += wanted;
            count += 1;
        }
        let now = self.tick();
        for (depth, node) in self.branches[id].nodes[..count].iter_mut().rev().enumerate() {
            node.accessed = now.saturating_sub(depth as u64);
        }
        self.settle(id);
        matched
    }

    /// Caches the first `key` tokens (whole pages) of request `id`, which owns those from `owned` on
    /// and has let those before `slid` leave its window. Returns the tokens of its own that were
    /// cached already and are free again.
    pub(super) fn insert(&mut self, id: usize, key: i64, owned: i64, slid: i64) -> i64 {
        let (mut walked, mut index, mut duplicate) = (0, 0, 0);
        while walked < key && index < self.branches[id].nodes.len() {
            let now = self.tick();
            let node = &mut self.branches[id].nodes[index];
            node.accessed = now;
            let taken = (key - walked).min(node.len);
            if taken < node.len {
                self.split(id, index, taken);
            }
            duplicate += (walked + taken - owned.max(walked)).max(0);
            walked += taken;
            index += 1;
        }
        if walked < key {
            let accessed = self.tick();
            let live = slid < key;
            self.branches[id].nodes.push(Node { len: key - walked, accessed, locks: 0, live });
            self.evictable += key - walked;
            self.cut_new_leaf(id, walked, key, slid);
        }
        self.settle(id);
        duplicate
    }

    /// Tokens that locking the first `depth` tokens of request `id` would keep from eviction.
    pub(super) fn unlocked_within(&self, id: usize, depth: i64) -> i64 {
        let within = self.count_within(id, depth);
        self.branches[id].nodes[..within].iter().filter(|n| n.locks == 0).map(|n| n.len).sum()
    }

    /// Locks the first `depth` tokens of request `id`, a boundary between nodes.
    pub(super) fn lock(&mut self, id: usize, depth: i64) {
        self.evictable -= self.unlocked_within(id, depth);
        let within = self.count_within(id, depth);
        self.branches[id].nodes[..within].iter_mut().for_each(|node| node.locks += 1);
        self.settle(id);
    }

    /// Sliding-window KV that a lock of the first `depth` tokens of request `id` keeps: whole nodes
    /// from the end until they cover the window.
    pub(super) fn window_within(&self, id: usize, depth: i64) -> i64 {
        let window = self.window.unwrap_or_default();
        let (mut covered, mut kept) = (0, 0);
        for node in self.branches[id].nodes[..self.count_within(id, depth)].iter().rev() {
            if covered >= window {
                break;
            }
            covered += node.len;
            kept += if node.live { node.len } else { 0 };
        }
        kept
    }

    /// Takes one lock of the first `depth` tokens of request `id` back.
    pub(super) fn unlock(&mut self, id: usize, depth: i64) {
        let within = self.count_within(id, depth);
        let nodes = &mut self.branches[id].nodes[..within];
        nodes.iter_mut().for_each(|node| node.locks = node.locks.saturating_sub(1));
        self.evictable += self.unlocked_within(id, depth);
        self.settle(id);
    }

    /// Evicts the least recently used node that nothing hangs on or holds; returns its tokens.
    pub(super) fn evict_one(&mut self) -> Option<i64> {
        let (_, id) = self.leaves.pop_first()?;
        self.branches[id].evictable_at = None;
        let freed = self.branches[id].nodes.pop()?.len;
        self.evictable -= freed;
        self.settle(id);
        Some(freed)
    }

    /// Cuts the last node, which holds the tokens from `start` to `end`.
    fn cut_new_leaf(&mut self, id: usize, start: i64, end: i64, slid: i64) {
        let Some(window) = self.window.filter(|_| slid < end) else { return };
        let mut live = start;
        if start < slid {
            let last = self.branches[id].nodes.len() - 1;
            self.split(id, last, slid - start);
            self.branches[id].nodes[last].live = false;
            live = slid;
        }
        if end - live > window {
            self.split(id, self.branches[id].nodes.len() - 1, end - live - window);
        }
    }

    fn count_within(&self, id: usize, depth: i64) -> usize {
        let mut end = 0;
        let fits = |node: &&Node| {
            end += node.len;
            end <= depth
        };
        self.branches[id].nodes.iter().take_while(fits).count()
    }

    /// Cuts node `index` after `len` tokens. The front part is older than the rest, which counts as
    /// used by the cut.
    fn split(&mut self, id: usize, index: usize, len: i64) {
        let (front, back) = (self.tick(), self.tick());
        let nodes = &mut self.branches[id].nodes;
        nodes[index].len -= len;
        nodes[index].accessed = back;
        let Node { locks, live, .. } = nodes[index];
        nodes.insert(index, Node { len, accessed: front, locks, live });
    }

    fn tick(&mut self) -> u64 {
        self.clock += TICK;
        self.clock
    }

    /// Brings the eviction queue up to date with the last node of a branch.
    fn settle(&mut self, id: usize) {
        let branch = &mut self.branches[id];
        let due = branch.nodes.last().filter(|node| node.locks == 0).map(|node| node.accessed);
        if due == branch.evictable_at {
            return;
        }
        if let Some(old) = branch.evictable_at {
            self.leaves.remove(&(old, id));
        }
        if let Some(new) = due {
            self.leaves.insert((new, id));
        }
        branch.evictable_at = due;
    }
}
