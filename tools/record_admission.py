#!/usr/bin/env python3
"""Records decisions of SGLang's own prefill admission on a CPU, for `tune admit --oracle`.

Runs the unmodified `Scheduler.get_next_batch_to_run`, `PrefillAdder`, `PrefillBudget`, token
allocators and radix tree of an installed (or unzipped, through PYTHONPATH) sglang wheel over made-up
requests. Only the model forward and the result processing are replaced; of the latter the part that
moves KV is kept. `HIP` and the gfx95 gate of exact fill are set by hand, because there is no GPU.

    record_admission.py --out FILE.json            record the scenarios of `scenarios()`
    record_admission.py --out FILE.json --only retract swa_mixed ...   those of `more()` of these families
    record_admission.py --time FILE.json           replay a recording and print the time it takes
    record_admission.py --check FILE.json          replay a recording and compare every pass

Needs torch and what `sglang.srt.managers.scheduler` imports: orjson msgspec psutil pydantic pyzmq
setproctitle pybase64 pillow einops fastapi uvicorn uvloop aiohttp transformers prometheus-client
xxhash zstandard regex IPython python-multipart partial_json_parser scipy interegular cloudpickle
easydict requests tqdm torchvision apache-tvm-ffi dill sentencepiece compressed-tensors gguf openai.

Scenarios with `clamp` run under the hooks of the plugin in `python/`, which go around the real adder
as `chunktune_sglang.versions.HOOKS` says; their config is the table of the scenario.
"""

import argparse
import json
import logging
import random
import sys
import time
from array import array
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import torch

from sglang.srt.disaggregation.utils import DisaggregationMode
from sglang.srt.environ import envs
from sglang.srt.layers.attention.dsv4 import unified_kv_gate
from sglang.srt.managers import schedule_policy
from sglang.srt.managers.schedule_batch import Req, ScheduleBatch
from sglang.srt.managers.schedule_policy import AddReqResult, PrefillAdder, SchedulePolicy
from sglang.srt.managers.scheduler import Scheduler
from sglang.srt.managers.scheduler_components.dynamic_chunk_sizer import ChunkSizePredictor, DynamicChunkSizer
from sglang.srt.managers.scheduler_components.new_token_ratio_tracker import NewTokenRatioTracker
from sglang.srt.mem_cache.allocator.paged import PagedTokenToKVPoolAllocator
from sglang.srt.mem_cache.allocator.swa import SWATokenToKVPoolAllocator
from sglang.srt.mem_cache.allocator.token import TokenToKVPoolAllocator
from sglang.srt.mem_cache.base_prefix_cache import InsertParams
from sglang.srt.mem_cache.base_swa_memory_pool import BaseSWAKVPool
from sglang.srt.mem_cache.cache_init_params import CacheInitParams
from sglang.srt.mem_cache.common import checkpoint_kv_cache, release_kv_cache
from sglang.srt.mem_cache.memory_pool import ReqToTokenPool
from sglang.srt.mem_cache.radix_cache import RadixKey
from sglang.srt.mem_cache.unified_cache.component_type import ComponentType
from sglang.srt.mem_cache.unified_radix_cache import UnifiedRadixCache
from sglang.srt.runtime_context import get_context
from sglang.srt.sampling.sampling_params import SamplingParams
from sglang.srt.speculative.spec_info import SpeculativeAlgorithm

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from chunktune_sglang import hooks
from chunktune_sglang.sizer import Sizer

ROWS = 4096
COEF = dict(a=[2e-6, 1e-3, 5.0], b=[4e-7, 8e-3, 20.0])
SMOOTH = 0.75
VERDICT = {AddReqResult.CONTINUE: 0, AddReqResult.NO_TOKEN: 1, AddReqResult.OTHER: 2}
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


class Recorder:
    """The passes of one scheduler."""

    def __init__(self, scheduler, keep_running):
        self.scheduler, self.keep_running, self.passes, self.step = scheduler, keep_running, [], 0

    def adder_class(self):
        recorder = self

        class Recording(PrefillAdder):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                hooks.after_init_adder(None, self, *args, **kwargs)
                running = self.running_batch.reqs
                budget = self.memory_budget
                self.record = [
                    recorder.step,
                    len(running),
                    len(recorder.scheduler.waiting_queue),
                    budget._available_and_evictable(),
                    budget.total_offset,
                    self.new_token_ratio,
                    self.rem_chunk_tokens,
                    self.rem_input_tokens,
                    [],
                ]
                self.lengths = [
                    [len(r.origin_input_ids), len(r.output_ids), r.sampling_params.max_new_tokens]
                    for r in running
                ]
                recorder.adder = self

            def event(self, kind, req, verdict, prefix, admitted):
                extend = req.extend_end - prefix if admitted else 0
                cut = admitted and req.extend_end < len(req.full_untruncated_fill_ids)
                self.record[8].append(
                    [kind, int(req.rid), verdict, prefix, extend, int(cut), self.rem_chunk_tokens]
                )

            def add_chunked_req(self, req):
                prefix, before = req.prefix_len, len(self.can_run_list)
                left = super().add_chunked_req(req)
                admitted = len(self.can_run_list) > before
                self.event("C", req, 3 if left is None else 4, prefix, admitted)
                return left

            def add_one_req(self, req, has_chunked_req, truncation_align_size):
                prefix, before = req.prefix_len, len(self.can_run_list)
                verdict = hooks.around_add_one_req(
                    PrefillAdder.add_one_req, self, req, has_chunked_req, truncation_align_size
                )
                admitted = len(self.can_run_list) > before
                self.event("N", req, VERDICT[verdict], prefix, admitted)
                return verdict

        return Recording

    def close(self, full):
        adder = self.adder
        if adder is None:
            return
        self.adder = None
        budget = adder.memory_budget
        adder.record += [
            adder.rem_chunk_tokens,
            adder.rem_input_tokens,
            budget.total_offset,
            budget.current_offset,
            sum(req.extend_len for req in adder.can_run_list),
            int(full),
        ]
        if self.keep_running and adder.lengths:
            adder.record.append(adder.lengths)
        self.passes.append(adder.record)


def lengths(recording, name):
    return recording["prompt_sets"][name] if isinstance(name, str) else name


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
    config = SimpleNamespace(
        align=given["align"], page_size=s["page"], chunk_min=given["chunk_min"],
        max_context=given["max_context"], prefix_from=prefixes, chunk=chunks, exact_fill_force=False,
    )
    own = scheduler.dynamic_chunk_sizer
    cap = s["max_prefill"] if own else min(s["chunk"], s["max_prefill"])
    sizer = Sizer(config, cap, own, s.get("align") or 1)
    hooks.ACTIVE.installed = SimpleNamespace(sizer=sizer)
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


def finish(scheduler, batch):
    """The KV part of processing a batch's results; one token for every request that is through."""
    allocator, tree = scheduler.token_to_kv_pool_allocator, scheduler.tree_cache
    allocator.free_group_begin()
    prefill = batch.forward_mode.is_extend()
    decoding = set(batch.decoding_reqs or []) if prefill else set(batch.reqs)
    for req in batch.reqs:
        if req.inflight_middle_chunks > 0:
            req.inflight_middle_chunks -= 1
            continue
        req.output_ids.append(0)
        req.update_finish_state()
        if req.finished():
            release_kv_cache(req, tree, checkpoint=True)
        elif req not in decoding:
            checkpoint_kv_cache(req, tree)
    allocator.free_group_end()
    batch.input_ids = torch.zeros(len(batch.reqs), dtype=torch.int64)


def run(recording, s, most=20000, most_passes=None):
    """Runs scenario `s`; returns it with what was recorded."""
    scheduler, left_out = build(recording, s)
    recorder = Recorder(scheduler, not s["radix"] and s["ignore_eos"])
    recorder.adder = None
    scheduler.get_prefill_adder_class = recorder.adder_class
    stuck = False
    while recorder.step < most:
        plan = scheduler.get_next_batch_to_run(
            running_batch=scheduler.running_batch, last_batch=scheduler.last_batch
        )
        scheduler.running_batch, batch = plan.running_batch, plan.batch_to_run
        recorder.close(scheduler.running_batch.batch_is_full)
        if batch:
            finish(scheduler, batch)
        else:
            stuck = bool(scheduler.waiting_queue)
            break
        scheduler.last_batch = batch
        recorder.step += 1
    if s.get("swa") and s["radix"] and scheduler.metrics_reporter.num_retracted_reqs:
        raise RuntimeError("SGLang retracts a request whose window is in the prefix cache")
    if most_passes and len(recorder.passes) > most_passes:
        raise RuntimeError("too many passes")
    done = dict(s, steps=recorder.step, stuck=int(stuck), passes=recorder.passes)
    if left_out:
        done["hits_not_preloaded"] = left_out
    return done


def base(fam, rng, page, **more):
    """A scenario with a server around `page` and tight enough to reach every verdict."""
    chunk = page * rng.choice([4, 8, 16, 32]) if page > 1 else rng.choice([64, 200, 512, 2048])
    count = rng.randint(4, 24)
    longest = rng.choice([chunk // 2, chunk * 2, chunk * 5]) + 2
    prompts = [rng.randint(1, longest) for _ in range(count)]
    hits = [0] * count
    if rng.random() < 0.5:
        hits = [rng.choice([0, p // 2 // page * page]) for p in prompts]
    new = rng.choice([1, 8, None])
    s = dict(
        fam=fam, exact=rng.randint(0, 1), page=page, chunk=chunk,
        max_prefill=rng.choice([chunk, chunk * 2, max(page, chunk // 2), 16384]),
        prompts=prompts, hits=hits if any(hits) else None,
        max_new=new or [rng.choice([1, 3, 10, 40]) for _ in prompts],
        ignore_eos=rng.randint(0, 1), radix=1, mixed=0, pmr=None, sizer=None,
        kv=(max(prompts) + rng.choice([300, 3000, 30000]) + 2 * page) // page * page,
    )
    s.update(more)
    return s


def scenarios(rng):
    """Scenarios for paths that the first recording does not reach."""
    pages = [1, 8, 64, 256]
    for i in range(50):
        page = pages[i % 4]
        s = base("align", rng, page)
        s["align"] = rng.choice([page, 2 * page, 3 * page, 96, 4 * page])
        s["mixed"] = int(rng.random() < 0.2)
        yield s
    for i in range(60):
        s = base("tile", rng, pages[i % 4])
        s["tile"] = dict(
            budget=rng.choice([1, 2, 4, 8, 20, 64]), mode=rng.choice(["compact", "legacy"]),
            block_m=rng.choice([32, 64, 128]),
        )
        s["radix"] = rng.randint(0, 1)
        if not s["radix"]:
            s["hits"] = None
        yield s
    for i in range(50):
        page = pages[i % 4]
        s = base("replay", rng, page, replay=1)
        s["hits"] = [rng.choice([0, (p - 1) // page * page, p // 3 // page * page]) for p in s["prompts"]]
        yield s
    for i in range(30):
        yield base("rows", rng, pages[i % 4], max_running=rng.randint(1, 6))
    for i in range(80):
        page = pages[i % 4]
        s = base("swa", rng, page, radix=0, hits=None)
        window = rng.choice([page, 128, 512, 3 * page + 1])
        least = 2 * (window + s["chunk"]) + 4 * page
        s["swa"] = dict(window=window, size=(window + rng.randint(s["chunk"] // 4, 2 * least)) // page * page + page, ring=None)
        yield s
    for i in range(60):
        page = pages[i % 4]
        s = base("ring", rng, page, radix=0, hits=None, max_running=rng.randint(2, 8))
        window = rng.choice([page, 128, 512])
        s["swa"] = dict(window=window, size=page, ring=window + rng.choice([0, 1, page]))
        yield s
    for i in range(60):
        page = pages[1 + i % 3]
        s = base("ring_radix", rng, page, max_running=rng.randint(24, 64))
        window = rng.choice([page, 128, 256])
        # Rings for more tokens than a pass takes, so that no prefix is evicted for them.
        ring = max(window, (s["chunk"] + 24 * page) // 4) + page
        s["swa"] = dict(window=window, size=page, ring=ring)
        yield s


def clamped(rng):
    """Scenarios under the plugin: a falling table, cached prefixes, decode rows, replayed rows."""
    pages = [1, 8, 64, 256]
    for i in range(240):
        page = pages[i % 4]
        s = base("clamp", rng, page)
        most = max(s["prompts"]) + 1
        count = rng.randint(1, 8)
        starts = sorted(rng.sample(range(1, most + count), count))
        align = page * rng.choice([1, 1, 2])
        chunks = [max(s["chunk"] * rng.randint(1, 40) // 20 // align, 1) * align for _ in range(count + 1)]
        chunks.sort(reverse=True)
        least = chunks[-1] if rng.random() < 0.5 else align
        s["clamp"] = dict(
            align=align, chunk_min=least, max_context=rng.choice([most, most * 3 // 4]),
            table=list(zip([0, *starts], chunks)),
        )
        s["hits"] = [rng.choice([0, (p - 1) // page * page, p // 2 // page * page]) for p in s["prompts"]]
        s["kv"] += sum(s["hits"]) // page * page
        kind = i // 4 % 6
        if kind == 1:
            s.update(mixed=1, max_new=[rng.choice([1, 3, 10, 40]) for _ in s["prompts"]])
        elif kind == 2:
            s["replay"] = 1
        elif kind == 3:
            s.update(radix=0, hits=None)
        elif kind == 4:
            s["align"] = page * rng.choice([1, 2, 3])
        elif kind == 5:
            s.update(mixed=1, pmr=rng.choice([None, 2, 5]), max_running=rng.randint(2, 9))
        yield s


def table(s, rng, count):
    """A falling table of the plugin for scenario `s`."""
    page, most = s["page"], max(s["prompts"]) + 1
    starts = sorted(rng.sample(range(1, most + count), count))
    align = page * rng.choice([1, 1, 2])
    chunks = [max(s["chunk"] * rng.randint(1, 40) // 20 // align, 1) * align for _ in range(count + 1)]
    chunks.sort(reverse=True)
    least = chunks[-1] if rng.random() < 0.5 else align
    return dict(
        align=align, chunk_min=least, max_context=rng.choice([most, most * 3 // 4]),
        table=list(zip([0, *starts], chunks)),
    )


def swa_pool(s, rng):
    """A paged sliding-window pool from too small to ample."""
    page, window = s["page"], rng.choice([s["page"], 128, 512, 3 * s["page"] + 1])
    least = 2 * (window + s["chunk"]) + 4 * page
    size = (window + rng.randint(s["chunk"] // 4, 2 * least)) // page * page + page
    return dict(window=window, size=size, ring=None)


def more(rng):
    """Retraction, windows with decode rows in prefills and with a prefix cache, and the plugin beside
    windows and beside SGLang's own sizer."""
    pages = [1, 8, 64, 256]
    for i in range(72):
        page = pages[i % 3]
        s = base("retract", rng, page)
        s["chunk"] = page * rng.choice([4, 16]) if page > 1 else rng.choice([64, 256])
        s["prompts"] = [rng.randint(1, 150) for _ in range(rng.randint(4, 12))]
        s["max_new"] = [rng.choice([30, 100, 250]) for _ in s["prompts"]]
        longest = max(p + n for p, n in zip(s["prompts"], s["max_new"]))
        s["kv"] = (longest + 2 * page + rng.choice([60, 200, 500])) // page * page + page
        s.update(ignore_eos=0, radix=i // 3 % 2, mixed=i // 6 % 2, hits=None, max_prefill=16384)
        if i % 12 == 0:
            s["max_running"] = rng.randint(2, 4)
        yield s
    for i in range(60):
        s = base("swa_mixed", rng, pages[i % 4], radix=0, hits=None, mixed=1)
        s["max_new"] = [rng.choice([1, 3, 10, 40, 200]) for _ in s["prompts"]]
        s["swa"] = swa_pool(s, rng)
        yield s
    for i in range(40):
        page = pages[i % 4]
        s = base("ring_mixed", rng, page, radix=0, hits=None, mixed=1, max_running=rng.randint(2, 8))
        s["max_new"] = [rng.choice([1, 3, 10, 40]) for _ in s["prompts"]]
        s["swa"] = dict(window=rng.choice([page, 128, 512]), size=page, ring=512 + rng.choice([0, 1, page]))
        yield s
    for i in range(60):
        page = pages[i % 4]
        s = base("clamp_swa", rng, page, radix=0, hits=None)
        s["swa"] = swa_pool(s, rng)
        if i // 4 % 3 == 0:
            s["max_running"] = rng.randint(2, 8)
            s["swa"]["ring"] = s["swa"]["window"] + page
        elif i // 4 % 3 == 1:
            s.update(mixed=1, max_new=[rng.choice([1, 3, 10, 40]) for _ in s["prompts"]])
        s["clamp"] = table(s, rng, rng.randint(1, 8))
        yield s
    for i in range(48):
        page = pages[i % 4]
        s = base("clamp_own", rng, page, context_len=1 << 20, sizer="ab"[i // 4 % 2])
        s["prompts"] = [p * 3 for p in s["prompts"]]
        s["max_prefill"] = s["chunk"] * rng.choice([1, 2, 4])
        s["kv"] = s["kv"] * 3 // page * page
        s["hits"] = [rng.choice([0, p // 2 // page * page]) for p in s["prompts"]]
        s["kv"] += sum(s["hits"])
        s["clamp"] = table(s, rng, rng.randint(1, 8))
        yield s
    for i in range(80):
        page = pages[i % 4]
        s = base("swa_radix", rng, page, hits=None)
        s["swa"] = swa_pool(s, rng)
        yield s


def exact_fill_gate():
    """Whether the real adder fills exactly: [switch, dllm, mamba, prefix sharing, fills]."""
    global EXACT
    rows = []
    for case in range(16):
        switch, dllm, mamba, sharing = (case >> bit & 1 for bit in range(4))
        EXACT = bool(switch)
        tree = SimpleNamespace(
            supports_mamba=lambda: bool(mamba), supports_prefix_sharing=lambda: bool(sharing)
        )
        config = SimpleNamespace(
            block_size=32, max_running_requests=4, requires_separate_context_encoding=False
        )
        allocator = TokenToKVPoolAllocator(64, torch.float16, "cpu", None, False)
        adder = PrefillAdder(1, tree, allocator, None, 0.7, 64, 64, dllm_config=config if dllm else None)
        rows.append([switch, dllm, mamba, sharing, int(adder.exact_chunk_fill)])
    return rows


def record(path, seed, only=None, most_passes=None):
    """Records `scenarios()`, or where these are asked for `clamped()` or families of `more()`; those
    in which the real code gives up are left out and counted."""
    rng = random.Random(seed)
    done, dropped = [], {}
    sizers = dict(coef=COEF, smooth_factor=SMOOTH)
    chosen = {s["fam"] for s in more(random.Random(seed))}.intersection(only or [])
    for s in clamped(rng) if only == ["clamp"] else more(rng) if chosen else scenarios(rng):
        if only and s["fam"] not in only:
            continue
        try:
            done.append(dict(run(dict(prompt_sets={}, meta=sizers), s, most_passes=most_passes), id=len(done)))
        except (RuntimeError, AssertionError, AttributeError, TypeError, ValueError) as error:
            reason = str(error).strip().splitlines()[0][:100] if str(error) else type(error).__name__
            dropped[s["fam"] + ": " + reason] = dropped.get(s["fam"] + ": " + reason, 0) + 1
    fields = "step n_running n_waiting pool run_off ratio rem_chunk0 rem_input0 events rem_chunk rem_input"
    fields += " total_offset current_offset sum_extend batch_is_full running(optional)"
    meta = dict(
        sglang=version("sglang"), torch=torch.__version__, seed=seed, pass_fields=fields.split(),
        event_fields="kind id verdict prefix_len extend_len is_chunked rem_chunk_after".split(),
        dropped=dropped, exact_fill_gate=exact_fill_gate(), **(sizers if chosen else {}),
    )
    with open(path, "w") as out:
        json.dump(dict(meta=meta, prompt_sets={}, scenarios=done), out, separators=(",", ":"))
        out.write("\n")
    print(len(done), "scenarios,", sum(len(s["passes"]) for s in done), "passes")
    for reason, count in dropped.items():
        print("left out", count, reason)


def check(path, limit):
    recording = json.load(open(path))
    passes = different = 0
    for s in recording["scenarios"][:limit]:
        if s.get("sizer"):
            continue
        done = run(recording, s)
        for old, new in zip(s["passes"], done["passes"]):
            passes += 1
            old, new = ([*row[:5], round(row[5], 12), *row[6:]] for row in (old, new))
            # Tables and lists of lengths come back from JSON as lists.
            if old != json.loads(json.dumps(new)):
                different += 1
                print("scenario", s["id"], s["fam"], "\n ", old, "\n ", new)
                break
        if len(s["passes"]) != len(done["passes"]) or s["steps"] != done["steps"]:
            different += 1
            print("scenario", s["id"], s["fam"], len(s["passes"]), len(done["passes"]), s["steps"], done["steps"])
    print(passes, "passes,", different, "scenarios differ")
    return different


def clock(path, every):
    """CPU time of the real code over every so many scenarios of a recording."""
    recording = json.load(open(path))
    loop = decide = steps = passes = 0
    chosen = [s for s in recording["scenarios"] if not s.get("sizer")][::every]
    for s in chosen:
        scheduler, _ = build(recording, s)
        start = time.process_time()
        for _ in range(s["steps"]):
            before = time.process_time()
            plan = scheduler.get_next_batch_to_run(
                running_batch=scheduler.running_batch, last_batch=scheduler.last_batch
            )
            decide += time.process_time() - before
            scheduler.running_batch, batch = plan.running_batch, plan.batch_to_run
            finish(scheduler, batch)
            scheduler.last_batch = batch
        loop += time.process_time() - start
        steps += s["steps"]
        passes += len(s["passes"])
    print(f"{len(chosen)} scenarios, {passes} passes, {steps} steps")
    print(f"CPU: {loop:.2f} s in the loop, of them {decide:.2f} s in get_next_batch_to_run")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", metavar="FILE.json")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", metavar="FAMILY")
    parser.add_argument("--passes", type=int, help="leave out scenarios with more passes")
    parser.add_argument("--check", metavar="FILE.json")
    parser.add_argument("--time", metavar="FILE.json")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--limit", type=int, default=None)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    get_context().override_server_args(device="cpu", pp_max_micro_batch_size=ROWS).install()
    if arguments.out:
        record(arguments.out, arguments.seed, arguments.only, arguments.passes)
    if arguments.time:
        clock(arguments.time, arguments.every)
    if arguments.check:
        sys.exit(check(arguments.check, arguments.limit) > 0)


if __name__ == "__main__":
    main()
