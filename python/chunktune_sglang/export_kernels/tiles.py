"""The kernels of one shape: one per tile that some M runs, twice where it has an even variant.

AITER takes the even variant (`EVEN_MN`) where M and N are multiples of the tile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .build import Built
from .configs import Bucket
from .source import Source

LARGE_M = 16384
"""Rows of a full chunk: what the specialisation of strides is taken from."""


@dataclass(frozen=True)
class Shape:
    """A matrix product of a model: per head [M, k] x [n, k]."""

    name: str
    b: int
    n: int
    k: int
    head_major_out: bool = False
    """Whether the result is [b, M, n]; else [M, b, n]."""


@dataclass(frozen=True)
class Kernel:
    """A compiled kernel with what the manifest says of it."""

    id: str
    op: str
    variant: str
    dtype: str
    shape: Shape
    tile: tuple[int, int, int]
    rows: tuple[tuple[int, int], ...]
    picks: str
    """`even`: where the tile divides M and N; `ragged`: elsewhere; `all`: at every M."""
    grid: str
    """Order of the workgroups, as the manifest names it."""
    built: Built
    settings: dict[str, Any]
    source: Source


@dataclass(frozen=True)
class Family:
    """What tells the kernels of one operation from those of another."""

    op: str
    dtype: str
    grid: str
    depth: Callable[[dict[str, Any]], int]
    """BLOCK_SIZE_K of a tile's settings."""
    build: Callable[[Source, str, Shape, dict[str, Any], bool], Built]
    """Compiles a kernel for an architecture, a shape, settings and a variant (even or not)."""


def of_shape(
    family: Family, source: Source, arch: str, shape: Shape, buckets: list[Bucket]
) -> Iterator[Kernel]:
    """Compiles the kernels of a shape."""
    groups: list[tuple[dict[str, Any], list[tuple[int, int]]]] = []
    for bucket in buckets:
        same = next((rows for settings, rows in groups if settings == bucket.settings), None)
        if same is None:
            groups.append((bucket.settings, [(bucket.first, bucket.last)]))
        else:
            same.append((bucket.first, bucket.last))
    has_even = any(each.name == "EVEN_MN" for each in source.fn.params)
    taken: set[str] = set()
    for settings, rows in groups:
        tile = (settings["BLOCK_SIZE_M"], settings["BLOCK_SIZE_N"], family.depth(settings))
        stem = f"aiter_{family.op}_{shape.name}"
        if f"{stem}_{tile[0]}x{tile[1]}" in taken:
            stem += f"_{len(taken)}"
        stem += f"_{tile[0]}x{tile[1]}"
        taken.add(stem)
        variants = [("ragged_wrap", False, "ragged" if has_even else "all")]
        if has_even and shape.n % tile[1] == 0:
            variants.insert(0, ("even", True, "even"))
        for variant, even, picks in variants:
            yield Kernel(
                id=f"{stem}_{variant}",
                op=family.op,
                variant=variant,
                dtype=family.dtype,
                shape=shape,
                tile=tile,
                rows=tuple(rows),
                picks=picks,
                grid=family.grid,
                built=family.build(source, arch, shape, settings, even),
                settings=settings,
                source=source,
            )


def split(
    source: Source, settings: dict[str, Any], fixed: dict[str, Any], sizes: dict[str, int]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Constants and compiler options of a kernel, from a tile's settings and what is `fixed`.

    The kernel's own heuristics are asked with `sizes` for what nobody fixed.
    """
    names = {each.name for each in source.fn.params}
    all_of_them = fixed | {key: value for key, value in settings.items() if key not in fixed}
    for name, rule in source.heuristics.items():
        if name not in fixed:
            all_of_them[name] = rule(sizes | all_of_them)
    constants = {name: value for name, value in all_of_them.items() if name in names}
    options = {
        name: value
        for name, value in settings.items()
        if name not in names and name not in fixed and value is not None
    }
    return constants, options
