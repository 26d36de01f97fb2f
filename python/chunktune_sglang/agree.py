"""One config for all ranks: rank 0 of the world group reads it, every rank agrees or none does.

Each rank runs its own scheduler and all must build the same batches. `share` sends what rank 0
read to the others; `unanimous` collects one verdict per rank, so that a rank which cannot install
the config keeps the others from doing so. Both are collective: every rank must call them.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import Any

from .config import ConfigError

SIZER = "CHUNKTUNE_SIZER"

MAX_BYTES = 16 << 20
"""Largest file that is read: a thousand times a real one."""


@dataclass(frozen=True)
class Offer:
    """What rank 0 found. Plain values, so that it can be broadcast."""

    path: str | None
    """Of the file on rank 0; None where rank 0 was given none."""
    text: str | None
    error: str | None
    allow_unvalidated: bool
    strict: bool


@dataclass(frozen=True)
class World:
    """The world group as far as it is needed here."""

    rank: int
    ranks: tuple[int, ...]
    cpu_group: Any


def flag(name: str) -> bool:
    """Whether an environment variable is switched on."""
    return os.environ.get(name, "").strip().lower() in ("1", "true", "yes", "on")


def read_offer() -> Offer:
    """Reads the file that this process was given."""
    path = os.environ.get(SIZER) or None
    text = error = None
    if path is not None:
        try:
            text = _read(path)
        except (OSError, ValueError) as failure:
            error = f"{path}: cannot be read: {failure}"
    return Offer(path, text, error, flag("CHUNKTUNE_ALLOW_UNVALIDATED"), flag("CHUNKTUNE_STRICT"))


def _read(path: str) -> str:
    """Text of a regular file, byte for byte; a pipe or a device could keep the server waiting."""
    found = os.stat(path)
    if stat.S_ISDIR(found.st_mode):
        raise ValueError("it is a folder; name the sizer.json in it")
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("it is no regular file")
    if found.st_size > MAX_BYTES:
        raise ValueError(f"it has {found.st_size} bytes, more than any sizer")
    with open(path, "rb") as file:
        return file.read(MAX_BYTES).decode("utf-8")


def world_of(scheduler: Any) -> World:
    """The world group of a scheduler; a world of one where SGLang has not set any up."""
    group = getattr(scheduler, "world_group", None)
    if group is None:
        try:
            from sglang.srt.distributed import get_world_group

            group = get_world_group()
        except (ImportError, AssertionError):
            if max(getattr(scheduler, "tp_size", 1), getattr(scheduler, "pp_size", 1)) > 1:
                raise ConfigError("the world group of this scheduler is not known") from None
            return World(0, (0,), None)
    ranks = getattr(group, "ranks", None) or range(group.world_size)
    return World(group.rank, tuple(ranks), group.cpu_group)


def share(world: World) -> Offer:
    """What rank 0 read, on every rank."""
    offer = read_offer() if world.rank == world.ranks[0] else None
    return _broadcast(world, offer, world.ranks[0])


def unanimous(world: World, verdict: str | None) -> str | None:
    """The first complaint of any rank, in the order of the ranks, on every rank; None if none."""
    complaints = [_broadcast(world, verdict, source) for source in world.ranks]
    for rank, complaint in zip(world.ranks, complaints):
        if complaint is not None:
            return f"rank {rank}: {complaint}" if len(world.ranks) > 1 else complaint
    return None


def _broadcast(world: World, value: Any, source: int) -> Any:
    if len(world.ranks) == 1:
        return value
    from sglang.srt.utils import broadcast_pyobj

    data = [value] if world.rank == source else []
    return broadcast_pyobj(data, world.rank, world.cpu_group, src=source)[0]
