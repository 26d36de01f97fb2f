"""The chunk for every prefix, looked up in the table of a config.

`Sizer.predict` is what SGLang calls for every continued chunk; it costs one bisection. `chunk` is
the same table without the answer of SGLang's own sizer, for requests that are admitted anew, and
`ending` a chunk that does not leave a tiny one for the end of a prompt.
"""

from __future__ import annotations

import logging
import math
from bisect import bisect_right
from typing import Protocol

from .config import Config, ConfigError

logger = logging.getLogger(__name__)


class Predictor(Protocol):
    """A sizer of SGLang: tokens of the next chunk, or None to keep the static size."""

    def predict(self, history_len: int) -> int | None: ...


class Sizer:
    """Chunk sizes of a config under a cap; all lengths are tokens per rank."""

    __slots__ = (
        "_chunks",
        "_frontier",
        "_past",
        "_prefixes",
        "_said",
        "_unit",
        "config",
        "max_context",
        "own",
    )

    def __init__(
        self, config: Config, cap: int, own: Predictor | None = None, truncation: int = 1
    ) -> None:
        """`cap` is the largest chunk that the server allows.

        `own` is the sizer that SGLang installed itself: the smaller answer wins. `truncation` is
        the server's alignment of cut chunks, tokens. Raises `ConfigError` where a chunk would
        come to nothing under them.
        """
        self.config = config
        self.max_context = config.max_context
        self.own = own
        self._prefixes = config.prefix_from
        self._chunks = tuple(_under(config, chunk, cap, truncation) for chunk in config.chunk)
        self._frontier = tuple(_under(config, chunk, cap, truncation) for chunk in config.frontier)
        self._past = _under(config, config.chunk_min, cap, truncation)
        self._unit = math.lcm(config.align, truncation)
        self._said = False

    def chunk(self, prefix: int) -> int:
        """Largest chunk over `prefix` cached tokens; `chunk_min` past `max_context`."""
        if prefix > self.max_context:
            return self._past_context(prefix)
        return self._chunks[bisect_right(self._prefixes, prefix) - 1]

    def predict(self, history_len: int) -> int | None:
        """Tokens of the chunk that continues a request of `history_len` tokens."""
        if history_len > self.max_context:
            chunk = self._past_context(history_len)
        else:
            chunk = self._chunks[bisect_right(self._prefixes, history_len) - 1]
        if self.own is not None:
            own = self.own.predict(history_len)
            if own is not None and own < chunk:
                return own
        return chunk

    def ending(
        self, prefix: int, left: int, limit: int, *, budget: int, others: int, decoding: int
    ) -> int | None:
        """Rows to run in place of `limit`, so that a prompt does not end in a tiny chunk.

        `left` tokens of the prompt have not run. All of them run where the frontier and the
        `budget` of the pass hold them beside the `others` rows; else a first part of whole units,
        such that the pass after it, less its `decoding` rows, holds the rest. None where the end
        is no tiny chunk or cannot be mended.
        """
        tail, fraction = left - limit, self.config.tail_fraction
        if tail <= 0 or fraction <= 0:
            return None
        if tail >= self._past and tail >= fraction * limit:
            return None
        if tail > self._answer(prefix + limit) - decoding:
            return None
        if self.own is None and left <= min(self._most(prefix) - others, budget):
            return left
        unit = self._unit
        first = -(-max(-(-left // 2), self._past) // unit) * unit
        while first < limit and left - first > tail:
            after = max(self._answer(prefix + first) - decoding, 0)
            if left - first <= after:
                return first
            first = -(-(left - after) // unit) * unit
        return None

    def smallest(self) -> int:
        """The chunk that stays under the frontier at every prefix up to `max_context`."""
        return min(self._chunks)

    def _answer(self, prefix: int) -> int:
        """What a pass that goes on with a prompt at `prefix` may run."""
        if prefix <= self.max_context:
            return self.predict(prefix)
        own = None if self.own is None else self.own.predict(prefix)
        return self._past if own is None else min(own, self._past)

    def _most(self, prefix: int) -> int:
        """The largest chunk that fits over `prefix` cached tokens."""
        if prefix > self.max_context:
            return self._past
        return self._frontier[bisect_right(self.config.frontier_from, prefix) - 1]

    def _past_context(self, prefix: int) -> int:
        if not self._said:
            self._said = True
            logger.warning(
                "chunktune: a prefix of %d tokens is past max_context %d: chunks of %d from "
                "here on, without a guarantee that they fit",
                prefix,
                self.max_context,
                self._past,
            )
        return self._past


def _under(config: Config, chunk: int, cap: int, truncation: int) -> int:
    """`chunk` cut to `cap` and to `truncation`, on the alignment of the plan where possible."""
    if chunk <= cap and chunk % truncation == 0:
        return chunk
    for unit in (math.lcm(config.align, truncation), math.lcm(config.page_size, truncation)):
        if cut := min(chunk, cap) // unit * unit:
            return cut
    raise ConfigError(
        f"a chunk of {chunk} tokens under the server's cap of {cap}, page_size "
        f"{config.page_size} and truncation alignment {truncation} comes to nothing"
    )
