"""An absorb GEMM of our own under AITER's name and with AITER's parameters.

It stands in for the deployed kernel in tests: the algorithm is the one of `kernels/absorb_bmm.hip`,
with an even variant and one that wraps row and column offsets and masks its stores.
"""

import triton
import triton.language as tl

# What a release of AITER imports beside Triton; the exporter puts nothing behind it.
from aiter.ops.triton.utils.gemm_config_utils import get_gemm_config  # noqa: F401


@triton.heuristics(
    {
        "EVEN_K": lambda args: args["K"] % args["BLOCK_SIZE_K"] == 0,
        "EVEN_MN": lambda args: (
            args["M"] % args["BLOCK_SIZE_M"] == 0 and args["N"] % args["BLOCK_SIZE_N"] == 0
        ),
    }
)
@triton.jit(do_not_specialize=["M", "N"])
def _batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    b_scale_ptr,
    bias_ptr,
    M,
    N,
    K,
    stride_in_ab,
    stride_in_am,
    stride_in_ak,
    stride_in_bb,
    stride_in_bk,
    stride_in_bn,
    stride_in_cb,
    stride_in_cm,
    stride_in_cn,
    stride_in_biasb,
    HAS_BIAS: tl.constexpr,
    DTYPE_MAX: tl.constexpr,
    DTYPE_MIN: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
    EVEN_K: tl.constexpr,
    EVEN_MN: tl.constexpr,
    cache_modifier: tl.constexpr,
):
    head = tl.program_id(0).to(tl.int64)
    columns = tl.cdiv(N, BLOCK_SIZE_N)
    row0 = (tl.program_id(1) // columns).to(tl.int64) * BLOCK_SIZE_M
    column0 = (tl.program_id(1) % columns).to(tl.int64) * BLOCK_SIZE_N
    rows = row0 + tl.arange(0, BLOCK_SIZE_M)
    cols = column0 + tl.arange(0, BLOCK_SIZE_N)
    read_rows, read_cols = rows, cols
    if not EVEN_MN:
        read_rows, read_cols = rows % M, cols % N
    depth = tl.arange(0, BLOCK_SIZE_K)
    x = a_ptr + head * stride_in_ab + read_rows[:, None] * stride_in_am.to(tl.int64)
    w = b_ptr + head * stride_in_bb + read_cols[None, :] * stride_in_bn.to(tl.int64)
    total = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), tl.float32)
    for k0 in range(0, K, BLOCK_SIZE_K):
        at = k0 + depth
        if EVEN_K:
            group = tl.load(x + at[None, :] * stride_in_ak)
            weights = tl.load(w + at[:, None] * stride_in_bk, cache_modifier=cache_modifier)
        else:
            group = tl.load(x + at[None, :] * stride_in_ak, mask=at[None, :] < K, other=0.0)
            weights = tl.load(w + at[:, None] * stride_in_bk, mask=at[:, None] < K, other=0.0)
        wide = group.to(tl.float32)
        scale = tl.maximum(tl.max(tl.abs(wide), axis=1), 1e-10)[:, None] * (1.0 / DTYPE_MAX)
        # By the reciprocal, as the deployed kernel does: a division rounds ties of fp8 otherwise.
        narrow = tl.clamp(wide * (1.0 / scale), DTYPE_MIN, DTYPE_MAX).to(b_ptr.dtype.element_ty)
        total += tl.dot(narrow, weights) * scale
    out = (total * tl.load(b_scale_ptr)).to(tl.bfloat16)
    to = c_ptr + head * stride_in_cb + rows[:, None] * stride_in_cm.to(tl.int64)
    to += cols[None, :] * stride_in_cn
    if EVEN_MN:
        tl.store(to, out)
    else:
        tl.store(to, out, mask=(rows[:, None] < M) & (cols[None, :] < N))
