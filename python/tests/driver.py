"""A real `Scheduler` of an imported wheel, with stand-ins for what surrounds it.

`SchedulerUnderTest` runs SGLang's own lines of `maybe_init_dynamic_chunk_sizer` or
`init_chunked_prefill`, `_get_new_batch_prefill_raw` and `PrefillAdder`; the radix cache, the KV
pool and the requests are the plain objects below.
"""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any, ClassVar

from sglang.srt.managers import schedule_policy
from sglang.srt.managers.scheduler import Scheduler

from .standins import StandIn

POOL_TOKENS = 1 << 24


class Request:
    """One request: `prompt` tokens of which `prefix` are cached, `host` more on the host.

    `shape` gives it the attributes of one version of SGLang, and no others.
    """

    def __init__(self, prompt: int, prefix: int = 0, host: int = 0) -> None:
        self.full_untruncated_fill_ids = self.origin_input_ids = self.fill_ids = range(prompt)
        self.output_ids: list[int] = []
        self.cached = prefix
        self.extend_end = prefix
        self.host_hit_length = host
        self.swa_host_hit_length = self.auxiliary_swa_host_hit_length = 0
        self.mamba_host_hit_length = self.storage_hit_length = self.host_loaded_length = 0
        self.sampling_params = SimpleNamespace(max_new_tokens=1, ignore_eos=False)
        self.kv = SimpleNamespace(holds_mamba=False, holds_kv=False, req_pool_idx=None)
        self.last_node = self.last_host_node = self.best_match_node = self
        self.retracted_stain = False
        self.mamba_pool_idx = self.lora_id = self.token_indices_to_pool = self.beam_group = None
        self.inflight_middle_chunks = self.is_chunked = self.cache_protected_len = 0
        self.time_stats = SimpleNamespace(forward_entry_time=1)
        self.cache_request_handle = self.storage_hit_start = self.host_hit_is_storage = None

    @property
    def rows(self) -> int:
        return self.extend_end - self.cached

    def init_next_round_input(self, tree_cache: Any = None) -> None:
        self.extend_end = len(self.full_untruncated_fill_ids)
        self.fill_ids = self.full_untruncated_fill_ids

    def needs_host_load_back(self) -> bool:
        return self.host_hit_length > 0

    def materialized_host_hit_len(self) -> int:
        return 0

    def fulfilled_storage_hit_len(self, prefix_len: int) -> int:
        return 0

    def finish_pass(self) -> None:
        """What the model runner would leave behind: the chunk is cached."""
        self.cached = self.extend_end


def shape(version: tuple[int, ...]) -> None:
    """Names the cached prefix and the rows of a request as one version of SGLang does."""
    if version >= (0, 5, 22):
        Request.prefix_len = property(
            lambda self: self.cached, lambda self, length: setattr(self, "cached", length)
        )
        Request.extend_len = property(lambda self: self.rows)
        return
    Request.prefix_indices = property(
        lambda self: range(self.cached),
        lambda self, indices: setattr(self, "cached", len(indices)),
    )
    schedule_policy.torch.cat = lambda parts: range(sum(map(len, parts)))
    if "set_extend_range" in inspect.getsource(schedule_policy.PrefillAdder):
        Request.extend_range = property(
            lambda self: SimpleNamespace(length=self.rows, end=self.extend_end)
        )
        Request.set_extend_range = lambda self, start, end: setattr(self, "extend_end", end)
    else:
        Request.extend_input_len = property(lambda self: self.rows)
        Request.set_extend_input_len = lambda self, length: setattr(
            self, "extend_end", self.cached + length
        )


class _Cache(StandIn):
    """A radix cache in which nothing can be evicted."""

    disable = False
    sliding_window_size = 1 << 30

    def evictable_size(self) -> int:
        return 0

    def full_evictable_size(self) -> int:
        return 0

    def supports_mamba(self) -> bool:
        return False

    def supports_swa(self) -> bool:
        return False

    def is_tree_cache(self) -> bool:
        return False

    def lock(self, node: Any) -> Any:
        return node

    def init_load_back(self, what: Any, length: int | None = None) -> Any:
        """Loads the whole host hit; the length or the indices of it, as the version has it."""
        request = what if isinstance(what, Request) else what.req
        found, request.host_hit_length = request.host_hit_length, 0
        return found if hasattr(Request, "prefix_len") else range(found), request


class _Pool(StandIn):
    """A KV pool that is never short."""

    def __init__(self, page_size: int) -> None:
        super().__init__()
        self.page_size = page_size

    def available_size(self) -> int:
        return POOL_TOKENS

    def request_slot_reserve(self, **kwargs: Any) -> int:
        return 0

    def create_prefill_budget(self, tree_cache: Any, num_mixed_decode_tokens: int) -> Any:
        from sglang.srt.mem_cache.prefill_budget import PrefillBudget

        return PrefillBudget(self, tree_cache, num_mixed_decode_tokens=num_mixed_decode_tokens)


class _Running(StandIn):
    """The decoding requests; only their number counts here."""

    def __init__(self, decoding: int) -> None:
        super().__init__()
        self.reqs = [Request(16, 16) for _ in range(decoding)]
        self.batch_is_full = False

    def is_empty(self) -> bool:
        return not self.reqs

    def batch_size(self) -> int:
        return len(self.reqs)


class SchedulerUnderTest(Scheduler):
    """SGLang's scheduler without its constructor; unknown attributes are stand-ins."""

    def __init__(
        self, *, page: int, chunk: int | None, max_prefill: int, world: Any = None
    ) -> None:
        self.page_size = page
        self.max_prefill_tokens = max_prefill
        self.tree_cache = _Cache()
        self.token_to_kv_pool_allocator = _Pool(page)
        self.waiting_queue: list[Request] = []
        self.truncation_align_size = None
        self.req_to_token_pool = SimpleNamespace()
        self.dllm_config = self.min_free_slots_delayer = None
        self.new_token_ratio = 0.5
        self.new_token_ratio_tracker = SimpleNamespace(current=0.5)
        self.world_group = world or SimpleNamespace(rank=0, ranks=[0], cpu_group=None)
        self.tp_size = self.pp_size = 1
        self.max_prefill_bs = self.priority_scheduling_preemption_threshold = 0
        self.server_args = SimpleNamespace(
            chunked_prefill_size=chunk,
            enable_dynamic_chunking=False,
            enable_mixed_chunk=False,
            prefill_max_requests=None,
            enable_flexkv=False,
        )
        self.model_config = SimpleNamespace(is_multimodal=False)
        self.policy = SimpleNamespace(
            calc_priority=lambda *args, **kwargs: None,
            shortest_prefill_chunk_limit=lambda *args: None,
        )
        serve(self.server_args)

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("__", "chunktune")):
            raise AttributeError(name)
        return StandIn()

    def get_num_allocatable_reqs(self, *args: Any, **kwargs: Any) -> int:
        return 1 << 20

    def start(self) -> None:
        """The part of the constructor that the plugin hooks."""
        self.init_chunked_prefill()
        if "maybe_init_dynamic_chunk_sizer" in vars(Scheduler):
            self.maybe_init_dynamic_chunk_sizer()

    def run_pass(self, decoding: int = 0) -> list[int]:
        """One scheduling pass; extend lengths of the requests in it, the continued one first."""
        running = _Running(decoding)
        self.running_batch = running
        self.is_mixed_chunk = decoding > 0
        admitted: list[Request] = []
        _Batches.record = admitted
        raw = self._get_new_batch_prefill_raw
        if raw.__code__.co_argcount == 3:
            raw(None, running)
        else:
            raw(None)
        lengths = [request.rows for request in admitted]
        for request in admitted:
            request.finish_pass()
        return lengths


class _Batches(StandIn):
    """`ScheduleBatch`, which only notes the requests of the batch."""

    record: ClassVar[list[Request]] = []

    @classmethod
    def init_new(cls, requests: list[Request], *args: Any, **kwargs: Any) -> Any:
        cls.record.extend(requests)
        return cls()


def serve(schedule: SimpleNamespace, pp_size: int = 1) -> None:
    """Gives SGLang's modules the configuration and the batch that they look up by name."""
    from sglang.srt.managers import scheduler

    scheduler.ScheduleBatch = _Batches
    features = SimpleNamespace(enable_encoder_swa_bounded_replay=False)
    for module in (scheduler, schedule_policy):
        module.get_schedule = lambda: SimpleNamespace(
            **vars(schedule),
            schedule_policy="fcfs",
            prefill_decode_interval=0,
            prefill_decode_interval_min_bs=0,
        )
        module.get_exec = lambda: SimpleNamespace(features=features)
        module.get_parallel = lambda: SimpleNamespace(pp_size=pp_size, world_group=None)
    schedule_policy.page_interleave_shard_size = lambda allocator: 1
    schedule_policy.split_cached_prefix_by_tier = lambda **kwargs: (kwargs["prefix_len"], 0, 0)
