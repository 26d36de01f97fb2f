"""Reads and checks ``sizer.json`` (schema ``chunktune/sizer/v1``).

In goes the text of the file, out comes a `Config` whose every value has been checked, or a
`ConfigError` that names the field and what was expected of it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

SCHEMA = "chunktune/sizer/v1"


class ConfigError(ValueError):
    """A config that cannot be used; the message says what is wrong and what to do."""


@dataclass(frozen=True)
class Config:
    """A checked sizer. Chunks, prefixes and pages are tokens per rank; budgets are bytes."""

    sha256: str
    """Of the bytes of the file, in hexadecimal."""
    profile_sha256: str
    status: str
    arch: str
    model: str
    sglang: str
    memory_path: str
    tp: int
    page_size: int
    align: int
    chunk_min: int
    chunk_max: int
    static_chunk: int
    max_context: int
    prefix_from: tuple[int, ...]
    """First prefix of each row of the table, ascending from 0."""
    chunk: tuple[int, ...]
    """Chunk of each row of the table."""
    frontier_from: tuple[int, ...]
    frontier: tuple[int, ...]
    """The largest chunk that fits, in the form of the table; the table itself in older files."""
    tail_fraction: float
    """A last chunk shorter than this share of the one before it is tiny; 0 leaves all as it is."""
    score_budgets: dict[str, int]
    exact_fill_force: bool


def parse(text: str, source: str) -> Config:
    """Checks the text of a sizer; `source` names it in errors."""
    try:
        raw = json.loads(text)
    except RecursionError:
        raise ConfigError(f"{source}: not a sizer: it is nested too deeply") from None
    except ValueError as error:
        raise ConfigError(f"{source}: not JSON: {error}") from None
    if not isinstance(raw, dict):
        raise ConfigError(f"{source}: expected a JSON object")
    if raw.get("schema") != SCHEMA:
        raise ConfigError(f"{source}: schema is {_shown(raw.get('schema'))}, expected {SCHEMA!r}")
    fields = _Fields(raw, source)
    status = fields.text("status")
    if status not in ("validated", "unvalidated"):
        raise ConfigError(
            f"{source}: status is {_shown(status)}, expected validated or unvalidated"
        )
    page, align = fields.count("page_size"), fields.count("align")
    chunk_min, chunk_max = fields.count("chunk_min"), fields.count("chunk_max")
    if align % page:
        raise ConfigError(f"{source}: align {align} is not a multiple of page_size {page}")
    if chunk_min > chunk_max:
        raise ConfigError(f"{source}: chunk_min {chunk_min} is above chunk_max {chunk_max}")
    if chunk_min % page:
        raise ConfigError(f"{source}: chunk_min {chunk_min} is not a multiple of page_size {page}")
    limits = (page, chunk_min, chunk_max)
    prefixes, chunks = _table(raw.get("table"), "table", source, limits)
    # Files of older versions have neither.
    frontier = (prefixes, chunks)
    if raw.get("frontier"):
        frontier = _table(raw["frontier"], "frontier", source, limits)
    tail = raw.get("tail_fraction", 0)
    if isinstance(tail, bool) or not isinstance(tail, (int, float)) or not 0 <= tail <= 1:
        raise ConfigError(f"{source}: tail_fraction is {_shown(tail)}, expected from 0 to 1")
    budgets = raw.get("score_budgets")
    if not isinstance(budgets, dict) or not all(map(_is_size, budgets.values())):
        raise ConfigError(f"{source}: score_budgets must map symbols to bytes")
    exact_fill = raw.get("exact_fill")
    if not isinstance(exact_fill, dict) or not isinstance(exact_fill.get("force"), bool):
        raise ConfigError(f"{source}: exact_fill.force must be true or false")
    return Config(
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        profile_sha256=fields.text("profile_sha256"),
        status=status,
        arch=fields.text("arch"),
        model=fields.text("model"),
        sglang=fields.text("sglang"),
        memory_path=fields.text("memory_path"),
        tp=fields.count("tp"),
        page_size=page,
        align=align,
        chunk_min=chunk_min,
        chunk_max=chunk_max,
        static_chunk=fields.count("static_chunk"),
        max_context=fields.size("max_context"),
        prefix_from=prefixes,
        chunk=chunks,
        frontier_from=frontier[0],
        frontier=frontier[1],
        tail_fraction=float(tail),
        score_budgets=dict(budgets),
        exact_fill_force=exact_fill["force"],
    )


class _Fields:
    """Typed access to the fields of one file."""

    def __init__(self, raw: dict[str, Any], source: str) -> None:
        self._raw = raw
        self._source = source

    def text(self, name: str) -> str:
        value = self._raw.get(name)
        if not isinstance(value, str) or not value.isprintable():
            raise ConfigError(
                f"{self._source}: {name} is {_shown(value)}, expected a string on one line"
            )
        return value

    def size(self, name: str) -> int:
        value = self._raw.get(name)
        if not _is_size(value):
            raise ConfigError(
                f"{self._source}: {name} is {_shown(value)}, expected an integer from 0 to 2^53"
            )
        return value

    def count(self, name: str) -> int:
        value = self.size(name)
        if value == 0:
            raise ConfigError(f"{self._source}: {name} is 0, expected at least 1")
        return value


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1 << 53


def _shown(value: object) -> str:
    """A value for one line of a log, whatever is in it."""
    text = ascii(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _table(
    raw: object, name: str, source: str, limits: tuple[int, int, int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    page, chunk_min, chunk_max = limits
    if not isinstance(raw, list) or not raw:
        raise ConfigError(f"{source}: {name} must be a list of [prefix_from, chunk]")
    prefixes: list[int] = []
    chunks: list[int] = []
    for index, row in enumerate(raw):
        where = f"{source}: {name}[{index}] is {_shown(row)}"
        if not isinstance(row, list) or len(row) != 2 or not all(map(_is_size, row)):
            raise ConfigError(f"{where}, expected [prefix_from, chunk]")
        prefix, chunk = row
        if prefix != 0 if not prefixes else prefix <= prefixes[-1]:
            raise ConfigError(f"{where}: prefixes must ascend from 0")
        if chunk % page or not chunk_min <= chunk <= chunk_max:
            raise ConfigError(
                f"{where}: a chunk must be a multiple of page_size {page} "
                f"from chunk_min {chunk_min} to chunk_max {chunk_max}"
            )
        prefixes.append(prefix)
        chunks.append(chunk)
    return tuple(prefixes), tuple(chunks)
