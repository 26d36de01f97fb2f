"""AITER's MLA absorb batched GEMM: names of its parameters, and how the server calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import configs, source
from .build import Built, Parameter, compile_kernel
from .configs import ConfigFile
from .problem import ExportError
from .tiles import LARGE_M, Family, Kernel, Shape, of_shape, split

FILE = "batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant"
FAMILY = "BATCHED_GEMM-A8W8-A_PER_TOKEN_GROUP_PREQUANT_W_PER_BATCHED_TENSOR_QUANT"
GROUP = 128
"""Values along K that share a scale; SGLang's call gives it as BLOCK_SIZE_K."""

_FP8 = {"gfx942": ("*fp8e4b8", 240.0), "gfx950": ("*fp8e4nv", 448.0)}


def export(
    aiter: Path, folders: list[Path], arch: str, shapes: list[Shape], rows_from: int
) -> tuple[list[Kernel], list[ConfigFile]]:
    """Compiles the kernels of every shape that some M from `rows_from` on runs.

    Answers with them and with the files that named their tiles.
    """
    kernel = source.load(aiter, FILE, f"_{FILE}_kernel")
    family = Family("absorb_bmm", "fp8", "b_mn", lambda settings: GROUP, _build)
    made: list[Kernel] = []
    files: list[ConfigFile] = []
    for shape in shapes:
        tuned, file = configs.of_aiter(folders, arch, FAMILY, shape.b, shape.n, shape.k)
        if file not in files:
            files.append(file)
        buckets = configs.with_sglang(tuned, arch, shape.b, shape.n)
        wanted = [bucket for bucket in buckets if bucket.last >= rows_from]
        made += of_shape(family, kernel, arch, shape, wanted)
    return made, files


def _build(
    kernel: source.Source, arch: str, shape: Shape, settings: dict[str, Any], even: bool
) -> Built:
    if arch not in _FP8:
        raise ExportError(f"the fp8 format of {arch} is not known")
    fp8, largest = _FP8[arch]
    # A ragged M is no multiple of 16 either, as a chunk that was not filled exactly may be.
    m = LARGE_M if even else LARGE_M - 15
    fixed = {
        "HAS_BIAS": False,
        "DTYPE_MAX": largest,
        "DTYPE_MIN": -largest,
        "BLOCK_SIZE_K": GROUP,
        "EVEN_MN": even,
        "kpack": 1,
    }
    sizes = {"M": m, "N": shape.n, "K": shape.k}
    constants, options = split(kernel, settings, fixed, sizes)
    names = {each.name for each in kernel.fn.params}
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
