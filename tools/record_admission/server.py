"""A scheduler of SGLang with the requests of one scenario queued, on a CPU.

The unmodified `Scheduler.get_next_batch_to_run`, `PrefillAdder`, `PrefillBudget`, token allocators
and radix tree of an installed (or unzipped, through PYTHONPATH) sglang wheel. `HIP` and the gfx95 gate
of exact fill are set by hand, because there is no GPU.
"""

import sys
from array import array
from pathlib import Path
from types import SimpleNamespace

import host
import torch

from sglang.srt.disaggregation.utils import DisaggregationMode
from sglang.srt.environ import envs
from sglang.srt.layers.attention.dsv4 import unified_kv_gate
from sglang.srt.managers import schedule_policy
from sglang.srt.managers.schedule_batch import Req, ScheduleBatch
from sglang.srt.managers.schedule_policy import SchedulePolicy
from sglang.srt.managers.scheduler import Scheduler
from sglang.srt.managers.scheduler_components.dynamic_chunk_sizer import ChunkSizePredictor, DynamicChunkSizer
from sglang.srt.managers.scheduler_components.new_token_ratio_tracker import NewTokenRatioTracker
from sglang.srt.mem_cache.allocator.paged import PagedTokenToKVPoolAllocator
from sglang.srt.mem_cache.allocator.swa import SWATokenToKVPoolAllocator
from sglang.srt.mem_cache.allocator.token import TokenToKVPoolAllocator
from sglang.srt.mem_cache.base_prefix_cache import InsertParams
from sglang.srt.mem_cache.base_swa_memory_pool import BaseSWAKVPool
from sglang.srt.mem_cache.cache_init_params import CacheInitParams
from sglang.srt.mem_cache.memory_pool import ReqToTokenPool
from sglang.srt.mem_cache.radix_cache import RadixKey
from sglang.srt.mem_cache.unified_cache.component_type import ComponentType
from sglang.srt.mem_cache.unified_radix_cache import UnifiedRadixCache
from sglang.srt.runtime_context import get_context
from sglang.srt.sampling.sampling_params import SamplingParams
from sglang.srt.speculative.spec_info import SpeculativeAlgorithm

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from chunktune_sglang import hooks
from chunktune_sglang.install import Installed
from chunktune_sglang.sizer import Sizer

ROWS = 4096
EXACT = False
schedule_policy._use_exact_chunk_fill = lambda: EXACT
RING = False
unified_kv_gate.is_unified_kv_triton = lambda: RING


class WindowPool(BaseSWAKVPool):
    """A sliding-window KV pool without KV: the map from full to window indices is all that the
    allocator asks of it."""

    def __init__(self, ring):
        self.swa_req_ring_size = ring

    def register_mapping(self, full_to_swa_index_mapping):
        self.full_to_swa_index_mapping = full_to_swa_index_mapping

    def translate_loc_from_full_to_swa(self, kv_indices):
        return self.full_to_swa_index_mapping[kv_indices]


WindowPool.__abstractmethods__ = frozenset()


def lengths(recording, name):
    return recording["prompt_sets"][name] if isinstance(name, str) else name


def prepare():
    """Settings of the process that no scenario changes."""
    torch.set_num_threads(1)
    get_context().override_server_args(device="cpu", pp_max_micro_batch_size=ROWS).install()


def build(recording, s):
    """A scheduler with the requests of scenario `s` queued."""
    global EXACT, RING
    EXACT = bool(s["exact"])
    RING = bool(s.get("swa") and s["swa"]["ring"])
    page, kv = s["page"], s["kv"]
    prompts = lengths(recording, s["prompts"])
    max_new = s["max_new"]
    longest = max(p + (max_new if isinstance(max_new, int) else max_new[i]) for i, p in enumerate(prompts))
    slots = s.get("max_running") or min(ROWS, len(prompts) + 8)
    rows = ReqToTokenPool(slots, longest + 2 * page + 8, "cpu", False)
    swa = s.get("swa")
    if swa:
        pool = WindowPool(swa["ring"])
        allocator = SWATokenToKVPoolAllocator(
            kv, swa["size"], page, torch.float16, "cpu", pool, False, req_to_token_pool=rows
        )
    elif page == 1:
        allocator = TokenToKVPoolAllocator(kv, torch.float16, "cpu", None, False)
    else:
        allocator = PagedTokenToKVPoolAllocator(kv, page, torch.float16, "cpu", None, False)
    tree = UnifiedRadixCache(
        CacheInitParams(
            disable=not s["radix"],
            req_to_token_pool=rows,
            token_to_kv_pool_allocator=allocator,
            page_size=page,
            chunked_prefill_size=s["chunk"],
            sliding_window_size=swa and swa["window"],
            swa_gates_prefix_match=not (swa and swa["ring"]),
            tree_components=(ComponentType.FULL, ComponentType.SWA) if swa else (ComponentType.FULL,),
        )
    )
    get_context().config_bag("schedule")._set("prefill_max_requests", s["pmr"])
    get_context().config_bag("exec").features._set("enable_encoder_swa_bounded_replay", bool(s.get("replay")))
    tile = s.get("tile")
    schedule_policy._IS_HIP = bool(tile)
    schedule_policy.PREFILL_TILE_BUDGET = tile["budget"] if tile else 0
    schedule_policy.PREFILL_TILE_BUDGET_MODE = tile["mode"] if tile else "compact"
    scheduler = Scheduler.__new__(Scheduler)
    fill(scheduler, s, rows, allocator, tree)
    if s.get("sizer"):
        scheduler.dynamic_chunk_sizer = own_sizer(recording["meta"], s, scheduler)
    install_clamp(scheduler, s)
    ids = [array("q", range(1 + (i << 24), 1 + (i << 24) + p)) for i, p in enumerate(prompts)]
    preloaded = preload(recording, s, tree, allocator, ids)
    if s.get("host"):
        host.attach(tree, allocator)
        for i, tokens in enumerate(s["host"]):
            if tokens:
                host.hold(tree, ids[i], s["hits"][i] + tokens)
        scheduler.enable_hierarchical_cache = True
    for i, prompt in enumerate(ids):
        new = max_new if isinstance(max_new, int) else max_new[i]
        params = SamplingParams(temperature=0, max_new_tokens=new, ignore_eos=bool(s["ignore_eos"]))
        params.normalize(None)
        req = Req(rid=str(i), origin_input_text="", origin_input_ids=prompt, sampling_params=params, vocab_size=1 << 40)
        scheduler.waiting_queue.append(req)
    return scheduler, preloaded


def own_sizer(meta, s, scheduler):
    """SGLang's own sizer with coefficients of the recording in place of profiled ones."""
    sizer = DynamicChunkSizer.__new__(DynamicChunkSizer)
    sizer.predictor = ChunkSizePredictor()
    predictor = sizer.predictor
    a, b, c = meta["coef"][s["sizer"]]
    predictor.quadratic_coeff_a, predictor.linear_coeff_b, predictor.constant_coeff_c = a, b, c
    predictor.set_target_latency(s["chunk"])
    predictor.is_ready = True
    envs.SGLANG_DYNAMIC_CHUNKING_SMOOTH_FACTOR.set(meta["smooth_factor"])
    sizer.chunked_prefill_size, sizer.max_prefill_tokens = s["chunk"], s["max_prefill"]
    sizer.page_size, sizer.model_config, sizer.pp_rank = s["page"], scheduler.model_config, 0
    return sizer


def install_clamp(scheduler, s):
    """Puts the plugin in force with the table of the scenario, or takes it out."""
    hooks.ACTIVE.installed = None
    if not s.get("clamp"):
        return
    given = s["clamp"]
    prefixes, chunks = zip(*given["table"])
    frontier_from, frontier = zip(*(given["frontier"] or given["table"]))
    config = SimpleNamespace(
        align=given["align"], page_size=s["page"], chunk_min=given["chunk_min"],
        max_context=given["max_context"], prefix_from=prefixes, chunk=chunks, exact_fill_force=False,
        frontier_from=frontier_from, frontier=frontier, tail_fraction=given["tail_fraction"],
    )
    own = scheduler.dynamic_chunk_sizer
    cap = s["max_prefill"] if own else min(s["chunk"], s["max_prefill"])
    sizer = Sizer(config, cap, own, s.get("align") or 1)
    hooks.ACTIVE.installed = Installed(sizer, "", "", cap, [])
    hooks.ACTIVE.scheduler = scheduler
    scheduler.dynamic_chunk_sizer = sizer


def preload(recording, s, tree, allocator, ids):
    """Puts the cached prefixes into the tree; returns how many did not fit."""
    left_out, used = 0, 0
    cap = s["kv"] if s.get("fam") != "small" else int(s["kv"] * 0.8)
    for i, hit in enumerate(lengths(recording, s["hits"]) if s["hits"] else []):
        if not hit or not s["radix"]:
            continue
        if used + hit > cap or allocator.available_size() < hit:
            left_out += 1
            continue
        used += hit
        value = getattr(allocator, "full_attn_allocator", allocator).alloc(hit)
        tree.insert(InsertParams(key=RadixKey(ids[i][:hit]), value=value, prev_prefix_len=hit))
    return left_out


def fill(scheduler, s, rows, allocator, tree):
    """What `get_next_batch_to_run` reads of a scheduler."""
    for name in (
        "chunked_req _pending_chunked_abort_req dllm_config prefill_delayer min_free_slots_delayer "
        "lora_drainer dynamic_chunk_sizer decode_offload_manager hisparse_coordinator last_batch "
        "scheduler_stage_metrics"
    ).split():
        setattr(scheduler, name, None)
    for name in (
        "enable_hierarchical_cache enable_unified_cache_external_linker enable_lmcache "
        "enable_hicache_storage enable_hisparse require_mlp_sync enable_priority_preemption "
        "enable_priority_scheduling enable_lora enable_lora_overlap_loading enable_overlap "
        "enable_skip_finishing_decode enable_unified_memory use_ngram_embedding"
    ).split():
        setattr(scheduler, name, False)
    scheduler.prefill_decode_interval = scheduler._prefill_decode_interval_remaining = 0
    scheduler.prefill_decode_interval_min_bs = 0
    scheduler.priority_scheduling_preemption_threshold = scheduler.max_prefill_bs = 0
    scheduler.processed_tokens_counter = scheduler.forward_ct = 0
    scheduler.device, scheduler.page_size = "cpu", s["page"]
    scheduler.chunked_prefill_size, scheduler.max_prefill_tokens = s["chunk"], s["max_prefill"]
    scheduler.truncation_align_size = s.get("align")
    scheduler.is_hybrid_swa = bool(s.get("swa"))
    scheduler.is_mixed_chunk = bool(s["mixed"])
    scheduler.max_running_requests = rows.size
    scheduler.req_to_token_pool, scheduler.token_to_kv_pool_allocator = rows, allocator
    scheduler.tree_cache = tree
    scheduler.disaggregation_mode = DisaggregationMode.NULL
    scheduler.spec_algorithm = SpeculativeAlgorithm.NONE
    scheduler.model_config = SimpleNamespace(
        is_encoder_decoder=False, vocab_size=1 << 40, hf_config=None, context_len=s.get("context_len") or 1 << 20
    )
    scheduler.policy = SchedulePolicy("fcfs", tree, False, False, False)
    scheduler.new_token_ratio_tracker = NewTokenRatioTracker.from_config()
    scheduler.waiting_queue, scheduler.running_batch = [], ScheduleBatch(reqs=[], batch_is_full=False)
    scheduler.grammar_manager = SimpleNamespace(has_waiting_grammars=lambda: False)
    scheduler.beam_coordinator = SimpleNamespace(pending_member_rows=lambda batch: 0)
    scheduler.load_inquirer = SimpleNamespace(_get_num_pending_tokens=lambda **kwargs: 0)
    scheduler.metrics_reporter = SimpleNamespace(enable_metrics=False, num_retracted_reqs=0)
    scheduler.max_queued_requests = None
    scheduler.abort_on_priority_when_disabled = False
    same = lambda batch, **kwargs: batch
    scheduler.dp_attn_adapter = SimpleNamespace(
        maybe_prepare_mlp_sync_batch=same, maybe_convert_decode_to_extend=same
    )
    scheduler.ngram_embedding_manager = SimpleNamespace(prepare_for_forward=same)
    runner = SimpleNamespace(attn_backend=SimpleNamespace(), prefill_aware_swa=False)
    if s.get("tile"):
        runner.attn_backend.extend_attention_block_m = s["tile"]["block_m"]
    scheduler.tp_worker = SimpleNamespace(model_runner=runner)


