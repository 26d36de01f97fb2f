"""From a row of the timings to the call of AITER's wrapper that was timed.

One function a kernel family: it makes the tensors of the row's shape and calls the wrapper, which
picks its tuned configuration and launches (that is, records) its kernels.
"""

import random

from chunktune_validate import shapes

_D = shapes.DTYPES
_AITER = "aiter Triton "


class Unsupported(Exception):
    """The row cannot be reproduced; says why."""


def _tensor(*shape, dtype="bfloat16"):
    return shapes.Tensor(shape, _D[dtype])


def _ceil(a, b):
    return -(-a // b)


def _fp8(row):
    return "float8_e4m3fnuz" if row.arch == "gfx942" else "float8_e4m3fn"


def _a16w16(row, aiter):
    bias = _tensor(row.n) if "bias=True" in row.notes else None
    aiter.wrapper("gemm_a16w16")(_tensor(row.m, row.k), _tensor(row.n, row.k), bias=bias, dtype=_D["bfloat16"])


def _blockscale_scales(row):
    groups = _ceil(row.k, 128)
    return _tensor(row.m, groups, dtype="float32"), _tensor(_ceil(row.n, 128), groups, dtype="float32")


def _a8w8_blockscale(row, aiter):
    x, w = _tensor(row.m, row.k, dtype=_fp8(row)), _tensor(row.n, row.k, dtype=_fp8(row))
    aiter.wrapper("gemm_a8w8_blockscale")(x, w, *_blockscale_scales(row), dtype=_D["bfloat16"])


def _a8w8_blockscale_preshuffle(row, aiter):
    x = _tensor(row.m, row.k, dtype=_fp8(row))
    w = _tensor(row.n // 16, row.k * 16, dtype=_fp8(row))
    aiter.wrapper("gemm_a8w8_blockscale_preshuffle")(x, w, *_blockscale_scales(row), dtype=_D["bfloat16"])


def _batched_a8w8(row, aiter):
    b, m, n, k = row.b, row.m, row.n, row.k
    aiter.wrapper("batched_gemm_a8w8")(
        _tensor(b, m, k, dtype="int8"),
        _tensor(b, n, k, dtype="int8"),
        _tensor(b, m, 1, dtype="float32"),
        _tensor(b, 1, n, dtype="float32"),
        bias=_tensor(b, 1, n),
        dtype=_D["bfloat16"],
    )


# The tile that the row with the pair of even and ragged M names; AITER's table has it for small M only.
_ABSORB_TILE = {
    "BLOCK_SIZE_M": 64,
    "BLOCK_SIZE_N": 256,
    "GROUP_SIZE_M": 1,
    "num_warps": 4,
    "num_stages": 2,
    "waves_per_eu": 1,
    "matrix_instr_nonkdim": 16,
    "cache_modifier": ".cg",
}
_PREQUANT = "batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant"


def _batched_prequant(row, aiter):
    b, m, n, k = row.b, row.m, row.n, row.k
    deployed = row.config.startswith("64x256")
    weights = _tensor(b, n, k, dtype=_fp8(row))
    scale = _tensor(1, dtype="float32")
    wrapper = aiter.wrapper(_PREQUANT)
    if deployed:
        # As SGLang calls it: rows outermost on both sides.
        wrapper(
            _tensor(m, b, k),
            weights,
            scale,
            group_size=128,
            dtype=_D["bfloat16"],
            transpose_bm=True,
            transpose_bm_in=True,
            config=dict(_ABSORB_TILE),
        )
    else:
        wrapper(_tensor(b, m, k), weights, scale, group_size=128, dtype=_D["bfloat16"])


def _fp4(rows, k, batch=()):
    return (
        _tensor(*batch, rows, k // 2, dtype="uint8"),
        _tensor(*batch, rows, k // 32, dtype="uint8"),
    )


def _afp4wfp4(row, aiter):
    (x, x_scale), (w, w_scale) = _fp4(row.m, row.k), _fp4(row.n, row.k)
    aiter.wrapper("gemm_afp4wfp4")(x, w, x_scale, w_scale, dtype=_D["bfloat16"])


def _batched_afp4wfp4(row, aiter):
    (x, x_scale), (w, w_scale) = _fp4(row.m, row.k, [row.b]), _fp4(row.n, row.k, [row.b])
    y = _tensor(row.b, row.m, row.n)
    aiter.wrapper("batched_gemm_afp4wfp4")(x, w, x_scale, w_scale, dtype=_D["bfloat16"], y=y)


def _batched_bf16(row, aiter):
    aiter.wrapper("batched_gemm_bf16")(
        _tensor(row.b, row.m, row.k), _tensor(row.b, row.n, row.k), dtype=_D["bfloat16"]
    )


def _moe_sort(row, aiter):
    """The scales of quantized tokens, sorted by expert.

    The commit that prints these times changes two kernels; "stage1" and the list of sizes are those of
    its test of the sorting alone (op_tests/test_moe_sorting_mxfp4.py), which times `moe_mxfp4_sort` on
    random choices of experts. Each expert's tokens are padded to whole blocks of 32.
    """
    experts, topk, block = 256, 8, 32
    tokens, columns = row.n_of("M"), row.n_of("N")
    choice = random.Random(0)
    per_expert = [[] for _ in range(experts)]
    for token in range(tokens):
        for slot, expert in enumerate(choice.sample(range(experts), topk)):
            per_expert[expert].append(slot << 24 | token)
    nobody = topk << 24 | tokens
    ids = []
    for members in per_expert:
        ids += members + [nobody] * (-len(members) % block)
    valid = len(ids)
    ids += [nobody] * (tokens * topk + experts * block - topk - valid)
    sorted_ids = shapes.Tensor([len(ids)], _D["int32"], values=ids)
    num_valid = shapes.Tensor([2], _D["int32"], values=[valid, tokens])
    scales = _tensor(tokens, columns // 32, dtype="uint8")
    aiter.wrapper("moe_mxfp4_sort")(scales, sorted_ids, num_valid, tokens, block)


def _rmsnorm(row, aiter):
    rows, columns = row.n_of("M"), row.n_of("N")
    aiter.wrapper("rms_norm")(
        _tensor(rows, columns, dtype="float16"), _tensor(columns, dtype="float16"), 1e-6
    )


_FAMILIES = {
    "gemm_a16w16": _a16w16,
    "gemm_a8w8_blockscale": _a8w8_blockscale,
    "gemm_a8w8_blockscale_preshuffle": _a8w8_blockscale_preshuffle,
    "batched_gemm_a8w8": _batched_a8w8,
    _PREQUANT: _batched_prequant,
    "gemm_afp4wfp4": _afp4wfp4,
    "batched_gemm_afp4wfp4": _batched_afp4wfp4,
    "batched_gemm_bf16 (A16W16)": _batched_bf16,
    "fused_dynamic_mxfp4_quant_moe_sort": _moe_sort,
    "rmsnorm fwd": _rmsnorm,
}


def family(row):
    """The function for a row; `Unsupported` says why there is none."""
    if row.arch not in ("gfx942", "gfx950"):
        raise Unsupported(f"the target is not stated ({row.arch})")
    if row.kernel.startswith(_AITER):
        name = row.kernel[len(_AITER) :]
        if name in _FAMILIES:
            return _FAMILIES[name]
        raise Unsupported(f"how AITER's wrapper of {name} was called is not published")
    if "CK" in row.kernel:
        raise Unsupported("a C++ template kernel (composable_kernel); needs hipcc and ROCm's headers")
    if "hipcc" in row.compiler:
        raise Unsupported("a HIP C++ kernel outside AITER's Triton kernels; needs hipcc and its sources")
    raise Unsupported("not one of AITER's kernels; its sources are not in the AITER tree")


def call(row, aiter):
    """Makes the row's call."""
    family(row)(row, aiter)
