"""When the real adder charges compute budgets in rows."""

from types import SimpleNamespace

import torch

import server
from sglang.srt.managers.schedule_policy import PrefillAdder
from sglang.srt.mem_cache.allocator.token import TokenToKVPoolAllocator


def rows():
    """One row a case: [switch, dllm, mamba, prefix sharing, fills exactly]."""
    found = []
    for case in range(16):
        switch, dllm, mamba, sharing = (case >> bit & 1 for bit in range(4))
        server.EXACT = bool(switch)
        tree = SimpleNamespace(
            supports_mamba=lambda mamba=mamba: bool(mamba),
            supports_prefix_sharing=lambda sharing=sharing: bool(sharing),
        )
        config = SimpleNamespace(
            block_size=32, max_running_requests=4, requires_separate_context_encoding=False
        )
        allocator = TokenToKVPoolAllocator(64, torch.float16, "cpu", None, False)
        adder = PrefillAdder(1, tree, allocator, None, 0.7, 64, 64, dllm_config=config if dllm else None)
        found.append([switch, dllm, mamba, sharing, int(adder.exact_chunk_fill)])
    return found
