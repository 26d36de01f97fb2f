"""Lengths of a request of SGLang, whatever its version calls them. All are tokens."""

from __future__ import annotations

from typing import Any


def prefix(req: Any) -> int:
    """Cached on the device."""
    length = getattr(req, "prefix_len", None)
    return len(req.prefix_indices) if length is None else length


def rows(req: Any) -> int:
    """Rows that an admitted request puts into the pass."""
    extend = getattr(req, "extend_len", None)
    if extend is None:
        span = getattr(req, "extend_range", None)
        extend = req.extend_input_len if span is None else span.length
    return extend


def length(req: Any) -> int:
    """What a prefill of it runs, from its first token on: the prompt and what it has emitted."""
    ids = getattr(req, "full_untruncated_fill_ids", None)
    return len(req.fill_ids if ids is None else ids)
