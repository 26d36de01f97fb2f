"""A host tier behind the radix tree: prefixes that only the host holds, and what copies them back.

The tree is the real one: it matches, locks, evicts for and commits a load. Only the controller that
would move KV between the devices is stood in for: it takes slots from the real allocator and is done
at once, and it backs nothing up.
"""

from types import SimpleNamespace

import torch

from sglang.srt.mem_cache.radix_cache import RadixKey

DONE = SimpleNamespace(query=lambda: True, synchronize=lambda: None, record=lambda *_: None)


class Controller:
    """What the tree asks of the controller of its host tier."""

    write_policy = "write_through"
    enable_storage = False
    pp_prefetch_command_group = None

    def __init__(self, allocator):
        self.allocator = getattr(allocator, "full_attn_allocator", allocator)
        self.loading, self.ack_load_queue, self.ack_write_queue = [], [], []

    def load(self, host_indices, node_id=-1, extra_pools=None):
        slots = self.allocator.alloc(len(host_indices))
        if slots is not None:
            self.loading.append(node_id)
        return slots

    def start_loading(self):
        if not self.loading:
            return -1
        self.ack_load_queue.append(
            SimpleNamespace(start_event=DONE, finish_event=DONE, node_ids=self.loading)
        )
        self.loading = []
        return 0

    def start_writing(self):
        pass


def attach(tree, allocator):
    """Gives the tree a host tier that holds nothing yet."""
    tree.cache_controller = Controller(allocator)
    tree.tree_core.set_hicache_enabled()
    tree.load_back_threshold = 10
    tree.write_through_threshold = 1 << 30


def hold(tree, ids, tokens):
    """Lets the host hold the first `tokens` of a prompt, those on the device among them."""
    key = RadixKey(ids[:tokens])
    pages = tokens // tree.page_size
    tree.tree_core.insert_host(
        tree.tree_core.root_node.id, key, torch.arange(tokens), [str(page) for page in range(pages)]
    )
