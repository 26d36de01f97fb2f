"""Runs scenarios inside a process that has imported the scheduler of one wheel.

``python -m tests.inside FOLDER SCENARIO JSON`` prints the result as JSON; the log goes to standard
error. ``python -m tests.inside FOLDER serve`` takes many. What is real and what is stood in for is
said in `tests.wheel`.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from . import wheel

logger = logging.getLogger(__name__)

ARCH = "gfx950"


def load() -> None:
    """Loads the plugin as SGLang does, or has the sitecustomize loaded at the start do it."""
    try:
        from sglang.srt.plugins import load_plugins
    except ImportError:
        return
    load_plugins()


def scheduler(chunk: int | None = 2048, page: int = 256, **kwargs: Any) -> Any:
    """A started scheduler of the wheel."""
    from chunktune_sglang import versions

    from . import driver

    driver.shape(versions.parse(versions.installed()))
    made = driver.SchedulerUnderTest(
        page=page, chunk=chunk, max_prefill=kwargs.pop("max_prefill", 16384), **kwargs
    )
    made.start()
    return made


def sizer_of(made: Any) -> Any:
    """What answers for the scheduler, whichever way this version asks."""
    return vars(made).get("dynamic_chunk_sizer") or vars(made).get("chunktune_sizer")


def hooks(_: Any) -> Any:
    """Hooks that took, and those that did not."""
    from pkgutil import resolve_name

    from sglang.srt.managers import scheduler as _imported  # noqa: F401

    from chunktune_sglang import hooks, registry, versions

    chosen = versions.hooks_for(versions.parse(versions.installed()))
    took = [
        hook.target
        for hook in chosen
        if registry.took(resolve_name(hook.target), getattr(hooks, hook.function))
    ]
    return {"took": took, "all": [hook.target for hook in chosen], "missing": hooks.ACTIVE.missing}


def passes(queue: list[list[int]]) -> Any:
    """Rows of every pass until the queue, of [prompt, prefix, host hit], is empty."""
    from .driver import Request

    made = scheduler()
    made.waiting_queue = [Request(*each) for each in queue]
    rows = []
    while made.waiting_queue or made.chunked_req is not None:
        rows.append(made.run_pass())
    return {"rows": rows, "sizer": sizer_of(made) is not None}


def mixed(decoding: int) -> Any:
    """Passes over a long prefix, each with `decoding` rows of running requests."""
    from .driver import Request

    made = scheduler()
    made.waiting_queue = [Request(600_000, 599_040)]
    return [made.run_pass(decoding) for _ in range(3)]


def mixed_end(decoding: int) -> Any:
    """A prompt of 1900 tokens beside `decoding` rows of running requests."""
    from .driver import Request

    made = scheduler()
    made.waiting_queue = [Request(1900)]
    return [made.run_pass(decoding) for _ in range(2)]


def without_tail_hook(queue: list[list[int]]) -> Any:
    """Passes in a process whose hook on continued chunks did not take."""
    from sglang.srt.managers.schedule_policy import PrefillAdder

    from chunktune_sglang import hooks

    PrefillAdder.add_chunked_req = PrefillAdder.add_chunked_req.__wrapped__
    hooks.ACTIVE.missing = [f"{PrefillAdder.__module__}.PrefillAdder.add_chunked_req"]
    return passes(queue)


def predictions(given: dict[str, Any]) -> Any:
    """Answers for some prefixes of a scheduler with the given limits."""
    made = scheduler(given["chunk"], max_prefill=given["max_prefill"])
    return [sizer_of(made).predict(prefix) for prefix in given["prefixes"]]


def state(_: Any) -> Any:
    """Whether a sizer is in force, and whether a pass runs as without one."""
    from chunktune_sglang import hooks

    from .driver import Request

    made = scheduler()
    made.waiting_queue = [Request(300_000, 299_008)]
    installed = hooks.ACTIVE.installed
    return {
        "installed": installed is not None,
        "sizer": sizer_of(made) is not None,
        "sha256": installed.sizer.config.sha256 if installed else None,
        "rows": made.run_pass(),
    }


def chunking_off(_: Any) -> Any:
    """A server without chunked prefill."""
    return {"sizer": sizer_of(scheduler(chunk=None)) is not None}


def other_page(_: Any) -> Any:
    """A server with another page size."""
    return {"sizer": sizer_of(scheduler(page=64)) is not None}


def own_sizer(prefixes: list[int]) -> Any:
    """Pipeline parallel: SGLang's own `DynamicChunkSizer` with known coefficients stays on."""
    from sglang.srt.environ import envs
    from sglang.srt.managers import scheduler as module
    from sglang.srt.managers.scheduler_components import dynamic_chunk_sizer

    from . import driver

    class Fitted(dynamic_chunk_sizer.DynamicChunkSizer):
        def profile_and_fit(self) -> bool:
            self.predictor.quadratic_coeff_a = 1e-6
            self.predictor.linear_coeff_b = 1e-2
            self.predictor.set_target_latency(self.chunked_prefill_size)
            self.predictor.is_ready = True
            return True

    module.DynamicChunkSizer = Fitted
    envs.SGLANG_DYNAMIC_CHUNKING_SMOOTH_FACTOR.set(1.0)
    made = driver.SchedulerUnderTest(page=256, chunk=2048, max_prefill=16384)
    made.model_config.context_len = 1 << 20
    made.tp_worker = SimpleNamespace(model_runner=None)
    made.server_args.enable_dynamic_chunking = True
    driver.serve(made.server_args, pp_size=2)
    made.start()
    sizer = made.dynamic_chunk_sizer
    return {
        "own": [sizer.own.predict(prefix) for prefix in prefixes],
        "both": [sizer.predict(prefix) for prefix in prefixes],
        "table": [sizer.chunk(prefix) for prefix in prefixes],
    }


def exact_fill(_: Any) -> Any:
    """Whether the gate opens, and a pass of three prompts of 900 tokens."""
    from sglang.srt.managers import schedule_policy

    from .driver import Request

    schedule_policy.is_gfx95_supported = lambda: False
    made = scheduler()
    made.waiting_queue = [Request(900) for _ in range(3)]
    return {"gate": schedule_policy._use_exact_chunk_fill(), "rows": made.run_pass()}


def budgets(_: Any) -> Any:
    """Constants of loaded modules after the start."""
    from types import ModuleType

    from chunktune_sglang import knobs, versions

    version = versions.parse(versions.installed())
    for knob in knobs.KNOBS:
        if knob.kind == "constant" and knobs.rows(knob.name, version):
            module = sys.modules.setdefault(knob.module, ModuleType(knob.module))
            setattr(module, knob.name, 1 << 30)
    scheduler()
    from chunktune_sglang import hooks

    return {
        "constants": {
            knob.name: getattr(sys.modules[knob.module], knob.name)
            for knob in knobs.KNOBS
            if knob.kind == "constant" and knobs.rows(knob.name, version)
        },
        "said": hooks.ACTIVE.installed.budgets if hooks.ACTIVE.installed else None,
    }


def truncation(align: int) -> Any:
    """Chunks after the constructor found an alignment of truncated chunks."""
    from chunktune_sglang import hooks

    made = scheduler()
    made.truncation_align_size = align
    hooks.after_init_scheduler(None, made)
    sizer = sizer_of(made)
    return [sizer.predict(prefix) for prefix in (0, 100_000)] if sizer else None


def rank(given: dict[str, int]) -> Any:
    """One of two ranks; the ranks talk through the file descriptors `read` and `write`."""
    from . import ranks

    world = ranks.connect(given["rank"], given["read"], given["write"])
    made = scheduler(world=world)
    sizer = sizer_of(made)
    return {"sha256": sizer.config.sha256 if sizer else None}


def serve() -> None:
    """Runs the jobs that come in as lines of JSON, each in a fork of this process."""
    from sglang.srt.managers import scheduler as _imported  # noqa: F401

    for line in sys.stdin:
        job = json.loads(line)
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as log:
            child = os.fork()
            if child == 0:
                os.dup2(log.fileno(), 2)
                os.environ.update(job["env"])
                try:
                    json.dump(globals()[job["scenario"]](job["argument"]), out)
                    out.flush()
                except BaseException:
                    logger.exception("the scenario failed")
                os._exit(0)
            os.waitpid(child, 0)
            out.seek(0)
            log.seek(0)
            text = out.read()
            result = json.loads(text) if text else None
            print(json.dumps({"result": result, "log": log.read()}), flush=True)


def main() -> int:
    """Command line; returns the exit status."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    wheel.load(Path(sys.argv[1]), os.environ.get("TEST_ARCH", ARCH))
    load()
    if sys.argv[2:] == ["serve"]:
        serve()
    else:
        print(json.dumps(globals()[sys.argv[2]](json.loads(sys.argv[3]))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
