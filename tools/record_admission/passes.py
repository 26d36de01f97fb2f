"""Runs one scenario and notes every pass of the real scheduler.

Only the model forward and the result processing are replaced; of the latter the part that moves KV
is kept. Loop order is that of `event_loop_normal`. Under a `clamp`, the hooks of the plugin in
`python/` go around the real adder as `chunktune_sglang.versions.HOOKS` says.
"""

import torch

import server
from server import hooks
from sglang.srt.managers.schedule_policy import AddReqResult, PrefillAdder
from sglang.srt.mem_cache.common import checkpoint_kv_cache, release_kv_cache

VERDICT = {AddReqResult.CONTINUE: 0, AddReqResult.NO_TOKEN: 1, AddReqResult.OTHER: 2}
FIELDS = (
    "step n_running n_waiting pool run_off ratio rem_chunk0 rem_input0 events rem_chunk rem_input "
    "total_offset current_offset sum_extend batch_is_full running(optional)"
).split()
EVENT_FIELDS = "kind id verdict prefix_len extend_len is_chunked rem_chunk_after".split()


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
                # What the host held is behind the prefix now.
                prefix = req.prefix_len if admitted else prefix
                extend = req.extend_end - prefix if admitted else 0
                cut = admitted and req.extend_end < len(req.full_untruncated_fill_ids)
                self.record[8].append(
                    [kind, int(req.rid), verdict, prefix, extend, int(cut), self.rem_chunk_tokens]
                )

            def add_chunked_req(self, req):
                prefix, before = req.prefix_len, len(self.can_run_list)
                left = hooks.around_add_chunked_req(PrefillAdder.add_chunked_req, self, req)
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
    """Runs scenario `s`; returns it with what was recorded. Raises where the real code gives up."""
    scheduler, left_out = server.build(recording, s)
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
        if most_passes and len(recorder.passes) > most_passes:
            raise RuntimeError("too many passes")
        if batch:
            finish(scheduler, batch)
        else:
            stuck = bool(scheduler.waiting_queue)
            break
        scheduler.last_batch = batch
        recorder.step += 1
    if s.get("swa") and s["radix"] and scheduler.metrics_reporter.num_retracted_reqs:
        raise RuntimeError("SGLang retracts a request whose window is in the prefix cache")
    done = dict(s, steps=recorder.step, stuck=int(stuck), passes=recorder.passes)
    if left_out:
        done["hits_not_preloaded"] = left_out
    return done


