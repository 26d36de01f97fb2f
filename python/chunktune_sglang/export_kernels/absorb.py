"""AITER's MLA absorb batched GEMM: names of its parameters, shapes and variants.

One kernel per tile that some M runs, twice where it has `EVEN_MN`: AITER takes the even variant
where M and N are multiples of the tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import configs, source
from .build import Built, Parameter, compile_kernel
from .configs import Bucket, ConfigFile
from .problem import ExportError

FILE = "batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant"
FAMILY = "BATCHED_GEMM-A8W8-A_PER_TOKEN_GROUP_PREQUANT_W_PER_BATCHED_TENSOR_QUANT"
GROUP = 128
"""Values along K that share a scale; SGLang's call gives it as BLOCK_SIZE_K."""

_FP8 = {"gfx942": ("*fp8e4b8", 240.0), "gfx950": ("*fp8e4nv", 448.0)}
_LARGE_M = 16384
"""Rows of a full chunk: what the specialisation of strides is taken from."""


@dataclass(frozen=True)
class Shape:
    """An absorb GEMM of a model: per head [M, k] x [n, k]."""

    name: str
    b: int
    n: int
    k: int
    head_major_out: bool
    """Whether the result is [b, M, n]; else [M, b, n]."""


@dataclass(frozen=True)
class Kernel:
    """A compiled kernel with what the manifest says of it."""

    id: str
    variant: str
    shape: Shape
    tile: tuple[int, int, int]
    rows: tuple[tuple[int, int], ...]
    picks: str
    """`even`: where the tile divides M and N; `ragged`: elsewhere; `all`: at every M."""
    built: Built
    settings: dict[str, Any]


def export(
    aiter: Path, folders: list[Path], arch: str, shapes: list[Shape], rows_from: int
) -> tuple[list[Kernel], list[ConfigFile], source.Source]:
    """Compiles the kernels of every shape that some M from `rows_from` on runs.

    Answers with them and with the files that named their tiles.
    """
    kernel = source.load(aiter, FILE, f"_{FILE}_kernel")
    made: list[Kernel] = []
    files: list[ConfigFile] = []
    for shape in shapes:
        tuned, file = configs.of_aiter(folders, arch, FAMILY, shape.b, shape.n, shape.k)
        if file not in files:
            files.append(file)
        buckets = configs.with_sglang(tuned, arch, shape.b, shape.n)
        wanted = [bucket for bucket in buckets if bucket.last >= rows_from]
        made += _of_shape(kernel, arch, shape, wanted)
    return made, files, kernel


def _of_shape(
    kernel: source.Source, arch: str, shape: Shape, buckets: list[Bucket]
) -> Iterator[Kernel]:
    groups: list[tuple[dict[str, Any], list[tuple[int, int]]]] = []
    for bucket in buckets:
        same = next((rows for settings, rows in groups if settings == bucket.settings), None)
        if same is None:
            groups.append((bucket.settings, [(bucket.first, bucket.last)]))
        else:
            same.append((bucket.first, bucket.last))
    has_even = any(each.name == "EVEN_MN" for each in kernel.fn.params)
    taken: set[str] = set()
    for settings, rows in groups:
        tile = (settings["BLOCK_SIZE_M"], settings["BLOCK_SIZE_N"], GROUP)
        stem = f"aiter_absorb_bmm_{shape.name}"
        if f"{stem}_{tile[0]}x{tile[1]}" in taken:
            stem += f"_{len(taken)}"
        stem += f"_{tile[0]}x{tile[1]}"
        taken.add(stem)
        variants = [("ragged_wrap", False, "ragged" if has_even else "all")]
        if has_even and shape.n % tile[1] == 0:
            variants.insert(0, ("even", True, "even"))
        for variant, even, picks in variants:
            built = _build(kernel, arch, shape, settings, even)
            yield Kernel(
                f"{stem}_{variant}", variant, shape, tile, tuple(rows), picks, built, settings
            )


def _build(
    kernel: source.Source, arch: str, shape: Shape, settings: dict[str, Any], even: bool
) -> Built:
    if arch not in _FP8:
        raise ExportError(f"the fp8 format of {arch} is not known")
    fp8, largest = _FP8[arch]
    # A ragged M is no multiple of 16 either, as a chunk that was not filled exactly may be.
    m = _LARGE_M if even else _LARGE_M - 15
    names = {each.name for each in kernel.fn.params}
    fixed: dict[str, Any] = {
        "HAS_BIAS": False,
        "DTYPE_MAX": largest,
        "DTYPE_MIN": -largest,
        "BLOCK_SIZE_K": GROUP,
        "EVEN_MN": even,
        "kpack": 1,
    } | {key: value for key, value in settings.items() if key != "kpack"}
    for name, rule in kernel.heuristics.items():
        if name != "EVEN_MN":
            fixed[name] = rule({"M": m, "N": shape.n, "K": shape.k} | fixed)
    constants = {name: value for name, value in fixed.items() if name in names}
    options = {
        name: value for name, value in settings.items() if name not in names and name != "kpack"
    }
    return compile_kernel(kernel, arch, _parameters(names, fp8, shape, m), constants, options)


def _parameters(names: set[str], fp8: str, shape: Shape, m: int) -> dict[str, Parameter | None]:
    """AITER's names, with and without its `in_`, to ours and to the values of a launch."""
    b, n, k = shape.b, shape.n, shape.k
    out_b, out_m = (m * n, n) if shape.head_major_out else (n, b * n)
    strides = {
        "ab": ("x_stride_b", k),
        "am": ("x_stride_m", b * k),
        "ak": ("x_stride_k", 1),
        "bb": ("w_stride_b", n * k),
        "bk": ("w_stride_k", 1),
        "bn": ("w_stride_n", k),
        "cb": ("out_stride_b", out_b),
        "cm": ("out_stride_m", out_m),
        "cn": ("out_stride_n", 1),
        "biasb": ("zero", 0),
    }
    known: dict[str, Parameter | None] = {
        "a_ptr": Parameter("x", "*bf16"),
        "b_ptr": Parameter("w", fp8),
        "c_ptr": Parameter("out", "*bf16"),
        "b_scale_ptr": Parameter("w_scale", "*fp32"),
        "bias_ptr": None,
        "M": Parameter("m", "i32", m),
        "N": Parameter("n", "i32", n),
        "K": Parameter("k", "i32", k),
    }
    for prefix in ("stride_in_", "stride_"):
        for ending, (ours, value) in strides.items():
            known[prefix + ending] = Parameter(ours, "i32", value)
    return {name: value for name, value in known.items() if name in names}
