"""The chunk for every prefix, looked up in the table of a config.

`Sizer.predict` is what SGLang calls for every continued chunk; it costs one bisection. `chunk` is
the same frontier without the answer of SGLang's own sizer, for requests that are admitted anew.
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

    __slots__ = ("_chunks", "_past", "_prefixes", "_said", "config", "max_context", "own")

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
        self._past = _under(config, config.chunk_min, cap, truncation)
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

    def smallest(self) -> int:
        """The chunk that stays under the frontier at every prefix up to `max_context`."""
        return min(self._chunks)

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
