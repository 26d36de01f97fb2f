"""AITER's Triton GEMM of bf16 matrices: names of its parameters, and how it is called.

Tiles that split K run a second kernel that adds the parts up; they are left out and said so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import configs, source
from .build import Built, Parameter, compile_kernel
from .configs import ConfigFile
from .problem import ExportError
from .tiles import LARGE_M, Family, Kernel, Shape, of_shape, split

FILE = "gemm_a16w16"
FUNCTION = "_gemm_a16_w16_kernel"
FAMILY = "GEMM-A16W16"


def export(
    aiter: Path, folders: list[Path], arch: str, shapes: list[Shape], rows_from: int
) -> tuple[list[Kernel], list[ConfigFile], list[str]]:
    """Compiles the kernels of every shape that some M from `rows_from` on runs.

    Answers with them, with the files that named their tiles and with what was left out.
    """
    kernel = source.load(aiter, FILE, FUNCTION)
    family = Family("gemm", "bf16", "mn", lambda settings: settings["BLOCK_SIZE_K"], _build)
    made: list[Kernel] = []
    files: list[ConfigFile] = []
    left_out: list[str] = []
    for shape in shapes:
        buckets, file = configs.of_aiter(folders, arch, FAMILY, 1, shape.n, shape.k)
        if file not in files:
            files.append(file)
        wanted = []
        for bucket in buckets:
            if bucket.last < rows_from:
                continue
            if bucket.settings.get("NUM_KSPLIT", 1) == 1:
                wanted.append(bucket)
            else:
                left_out.append(f"{shape.name} at M {bucket.first}..{bucket.last}: K is split")
        made += of_shape(family, kernel, arch, shape, wanted)
    return made, files, left_out


def _build(
    kernel: source.Source, arch: str, shape: Shape, settings: dict[str, Any], even: bool
) -> Built:
    if settings["BLOCK_SIZE_K"] > shape.k:
        raise ExportError(
            f"{shape.name}: a tile of depth {settings['BLOCK_SIZE_K']} over k {shape.k}"
        )
    m = LARGE_M if even else LARGE_M - 15
    fixed = {
        "EVEN_MN": even,
        "NUM_KSPLIT": 1,
        "SPLITK_BLOCK_SIZE": shape.k,
        "cache_modifier": settings.get("cache_modifier"),
        "activation": None,
        "use_activation": False,
        "ADD_BIAS": False,
        "SKIP_REDUCE": False,
        "kpack": 1,
    }
    constants, options = split(kernel, settings, fixed, {"M": m, "N": shape.n, "K": shape.k})
    n, k = shape.n, shape.k
    parameters: dict[str, Parameter | None] = {
        "a_ptr": Parameter("a", "*bf16"),
        "b_ptr": Parameter("b", "*bf16"),
        "c_ptr": Parameter("c", "*bf16"),
        "bias_ptr": None,
        "M": Parameter("m", "i32", m),
        "N": Parameter("n", "i32", n),
        "K": Parameter("k", "i32", k),
        "stride_am": Parameter("lda", "i32", k),
        "stride_ak": Parameter("a_stride_k", "i32", 1),
        "stride_bk": Parameter("b_stride_k", "i32", 1),
        "stride_bn": Parameter("ldb", "i32", k),
        "stride_ck": Parameter("zero", "i32", 0),
        "stride_cm": Parameter("ldc", "i32", n),
        "stride_cn": Parameter("c_stride_n", "i32", 1),
    }
    return compile_kernel(kernel, arch, parameters, constants, options)
