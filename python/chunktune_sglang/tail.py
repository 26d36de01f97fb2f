"""The chunk budget with which a prompt does not end in a tiny chunk.

In go SGLang's adder, a request and the budget that it would get; out comes another budget, or None
to leave it. `Sizer.ending` decides on lengths; this module finds them the way that SGLang will
charge and cut them.
"""

from __future__ import annotations

import sys
from typing import Any

from . import request
from .sizer import Sizer


class Pass:
    """Rows of one pass. Requests are only ever appended to it, so each is counted once."""

    __slots__ = ("_rows", "_seen", "continued", "mixed", "waiting")

    def __init__(self, mixed: int, waiting: int) -> None:
        self.mixed = mixed
        """Rows of decoding requests."""
        self.waiting = waiting
        """Requests that wait at the start of the pass."""
        self.continued = False
        """Whether the pass goes on with a prompt."""
        self._rows = mixed
        self._seen = 0

    def rows(self, adder: Any) -> int:
        """Rows of the pass so far, replayed ones included."""
        admitted = adder.can_run_list
        for index in range(self._seen, len(admitted)):
            self._rows += request.rows(admitted[index])
        self._seen = len(admitted)
        return self._rows + getattr(adder, "log_replay_tokens", 0)

    def last(self, adder: Any) -> bool:
        """Whether the request that is tried now is the only one left of those that waited."""
        return self.waiting == len(adder.can_run_list) - self.continued + 1


def of_continued(sizer: Sizer, adder: Any, req: Any, state: Pass) -> int | None:
    """Budget of the prompt that a pass goes on with, which SGLang cuts to the budget itself."""
    limit = adder.rem_chunk_tokens
    if not limit or limit < 0 or state.waiting or getattr(adder, "chunked_req_limit", None):
        return None
    prefix = request.prefix(req)
    return sizer.ending(
        prefix,
        request.length(req) - prefix,
        limit,
        budget=sys.maxsize,
        others=state.mixed,
        decoding=state.mixed,
    )


def of_new(
    sizer: Sizer, adder: Any, req: Any, state: Pass, limit: int, align: int | None
) -> int | None:
    """Budget of a request that waited, where `limit` may cut it to multiples of `align`."""
    if not state.last(adder):
        return None
    prefix = request.prefix(req) + req.host_hit_length
    left = request.length(req) - prefix
    # Without a prefix cache, requests that run to a known end are cut to the token.
    known_end = req.sampling_params.ignore_eos and getattr(adder.tree_cache, "disable", True)
    exact = getattr(adder, "exact_chunk_fill", False)
    replayed = 0
    if not known_end and hasattr(adder, "_replay_len"):
        replayed = adder._replay_len(req, prefix)
    charged = 1 if known_end or exact else adder.page_size
    whole = -(-left // charged) * charged
    cut = limit - replayed
    if cut <= 0 or whole <= cut:
        return None
    if not known_end:
        if not exact:
            cut = cut // adder.page_size * adder.page_size
        if align is not None:
            cut = cut // align * align
        if not exact:
            cut = (prefix + cut) // adder.page_size * adder.page_size - prefix
    if cut <= 0:
        return None
    rows = sizer.ending(
        prefix,
        left,
        cut,
        budget=(adder.rem_chunk_tokens - replayed) // charged * charged,
        others=state.rows(adder) + replayed,
        decoding=state.mixed,
    )
    if rows is None:
        return None
    return replayed + (whole if rows == left else rows)
