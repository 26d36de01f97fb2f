"""The functions that go around those of SGLang; `versions.HOOKS` says which around which.

They are thin: what is in force is in `ACTIVE`, one per process like the scheduler itself, and
while it is empty every hook is SGLang's own behaviour.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from . import install, request, tail
from .config import ConfigError
from .sizer import Sizer

logger = logging.getLogger(__name__)


class _Active:
    """What is in force in this process."""

    def __init__(self) -> None:
        self.installed: install.Installed | None = None
        self.scheduler: Any = None
        self.missing: list[str] = []
        """Hooks that did not take."""

    def waiting(self) -> int:
        """Requests that wait for their first pass."""
        return len(getattr(self.scheduler, "waiting_queue", ()))


ACTIVE = _Active()


class _MethodPredictor:
    """SGLang's sizer of the versions that have it as a method of the scheduler."""

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        self.call: Callable[..., int | None] | None = None

    def predict(self, history_len: int) -> int | None:
        return self.call(self._scheduler, history_len) if self.call is not None else None


def after_init_sizer(result: Any, scheduler: Any) -> None:
    """From 0.5.20 on: puts our sizer where SGLang puts its own."""
    own = scheduler.dynamic_chunk_sizer
    if isinstance(own, Sizer):
        return
    if _install(scheduler, own):
        scheduler.dynamic_chunk_sizer = ACTIVE.installed.sizer


def after_init_chunked(result: Any, scheduler: Any) -> None:
    """Until 0.5.19: switches the asking for a dynamic size on."""
    if getattr(scheduler, "chunktune_sizer", None) is not None:
        return
    own = _MethodPredictor(scheduler) if scheduler.enable_dynamic_chunking else None
    if _install(scheduler, own):
        scheduler.chunktune_sizer = ACTIVE.installed.sizer
        scheduler.enable_dynamic_chunking = True


def around_predict(original: Callable[..., int | None], scheduler: Any, history_len: int) -> Any:
    """Until 0.5.19: answers for the scheduler."""
    sizer = getattr(scheduler, "chunktune_sizer", None)
    if sizer is None:
        return original(scheduler, history_len)
    if sizer.own is not None:
        sizer.own.call = original
    return sizer.predict(history_len)


def after_init_scheduler(result: Any, scheduler: Any, *args: Any, **kwargs: Any) -> None:
    """Cuts the chunks to the alignment of truncated chunks, which is known only now."""
    installed = ACTIVE.installed
    truncation = getattr(scheduler, "truncation_align_size", None)
    if installed is None or not truncation or truncation == 1:
        return
    old = installed.sizer
    try:
        sizer = Sizer(old.config, installed.cap, old.own, truncation)
    except ConfigError as error:
        # The alignment and the config are the same on every rank, so all of them come here.
        logger.error("chunktune: config withdrawn: %s", error)
        sizer = None
        ACTIVE.installed = None
    else:
        installed.sizer = sizer
        logger.info(
            "chunktune: chunks cut to the truncation alignment %d: %d at prefix 0, %d at %d",
            truncation,
            sizer.chunk(0),
            sizer.chunk(sizer.max_context),
            sizer.max_context,
        )
    if getattr(scheduler, "chunktune_sizer", None) is old:
        scheduler.chunktune_sizer = sizer
        scheduler.enable_dynamic_chunking = sizer is not None or old.own is not None
    elif getattr(scheduler, "dynamic_chunk_sizer", None) is old:
        scheduler.dynamic_chunk_sizer = sizer or old.own


def after_init_adder(result: Any, adder: Any, *args: Any, **kwargs: Any) -> None:
    """Notes the rows that decoding requests put into a mixed pass before any admission.

    A small chunk may be less than those rows; a page is then left, so that the request which is
    being continued gets on.
    """
    if ACTIVE.installed is None or adder.rem_chunk_tokens is None:
        return
    given = kwargs["rem_chunk_tokens"] if "rem_chunk_tokens" in kwargs else args[6]
    adder.chunktune_pass = tail.Pass(given - adder.rem_chunk_tokens, ACTIVE.waiting())
    adder.rem_chunk_tokens = max(adder.rem_chunk_tokens, adder.page_size)


def around_add_chunked_req(original: Callable[..., Any], adder: Any, req: Any) -> Any:
    """Sets the chunk budget so that the prompt that goes on does not end in a tiny chunk.

    Only where nothing waits: rows of other requests fill up the last chunk otherwise.
    """
    installed, state = ACTIVE.installed, getattr(adder, "chunktune_pass", None)
    if installed is None or state is None or adder.dllm_config is not None:
        return original(adder, req)
    rows = tail.of_continued(installed.sizer, adder, req, state)
    if rows is not None:
        adder.rem_chunk_tokens = rows
    left = original(adder, req)
    state.continued = bool(adder.can_run_list)
    return left


def around_add_one_req(original: Callable[..., Any], adder: Any, req: Any, *args: Any, **kw: Any):
    """Lowers the chunk budget to the frontier at the request's prefix, less the rows admitted.

    An admitted request keeps it lowered for the rest of the pass: the score buffers are as wide
    as the longest context of the pass, so all its rows must fit there. The budget is then spent
    when a request was cut, so a pass never leaves two unfinished requests. Where nothing waits
    behind the request, the budget is such that it does not end in a tiny chunk.
    """
    installed, state = ACTIVE.installed, getattr(adder, "chunktune_pass", None)
    before = adder.rem_chunk_tokens
    if installed is None or state is None or before is None or adder.dllm_config is not None:
        return original(adder, req, *args, **kw)
    admitted = len(adder.can_run_list)
    rows = state.rows(adder)
    prefix = request.prefix(req) + req.host_hit_length
    allowed = installed.sizer.chunk(prefix) - rows
    if not admitted:
        allowed = max(allowed, adder.page_size)
    if allowed < before and allowed <= 0:
        return _stop()
    limit = min(allowed, before)
    if not install.tail_missing(ACTIVE.missing):
        align = kw["truncation_align_size"] if "truncation_align_size" in kw else args[1]
        ending = tail.of_new(installed.sizer, adder, req, state, limit, align)
        limit = limit if ending is None else ending
    adder.rem_chunk_tokens = limit
    try:
        return original(adder, req, *args, **kw)
    finally:
        if len(adder.can_run_list) == admitted:
            adder.rem_chunk_tokens = before


def around_exact_fill(original: Callable[[], bool]) -> bool:
    """Exact chunk fill where upstream gates it out and the config forces it."""
    return original() or _forced()


def _install(scheduler: Any, own: Any) -> bool:
    ACTIVE.installed = install.install(scheduler, own, ACTIVE.missing)
    ACTIVE.scheduler = scheduler
    if ACTIVE.installed is None:
        return False
    logger.info(install.describe(ACTIVE.installed, scheduler, _exact_fill()))
    return True


def _forced() -> bool:
    """Forced by the config; a user who switched exact fill off by hand is obeyed."""
    if ACTIVE.installed is None or not ACTIVE.installed.sizer.config.exact_fill_force:
        return False
    from sglang.srt.environ import envs

    return bool(envs.SGLANG_EXACT_CHUNK_FILL.get())


def _exact_fill() -> str:
    from sglang.srt.managers import schedule_policy

    gate = getattr(schedule_policy, "_use_exact_chunk_fill", None)
    if gate is None:
        return "not in this version"
    return ("on (forced)" if _forced() else "on") if gate() else "off"


def _stop() -> Any:
    """SGLang's verdict that ends the admissions of a pass, for reasons other than KV tokens."""
    from sglang.srt.managers.schedule_policy import AddReqResult

    return AddReqResult.OTHER
