"""A GEMM of our own under AITER's name and with AITER's parameters; see the absorb GEMM beside."""

import triton
import triton.language as tl


@triton.heuristics(
    {
        "EVEN_K": lambda args: args["K"] % args["BLOCK_SIZE_K"] == 0,
        "EVEN_MN": lambda args: (
            args["M"] % args["BLOCK_SIZE_M"] == 0 and args["N"] % args["BLOCK_SIZE_N"] == 0
        ),
    }
)
@triton.jit(do_not_specialize=["M", "N"])
def _gemm_a16_w16_kernel(
    a_ptr,
    b_ptr,
    bias_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_ck,
    stride_cm,
    stride_cn,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
    EVEN_K: tl.constexpr,
    EVEN_MN: tl.constexpr,
    cache_modifier: tl.constexpr,
):
    columns = tl.cdiv(N, BLOCK_SIZE_N)
    rows = tl.program_id(0) // columns * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    cols = tl.program_id(0) % columns * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    read_rows, read_cols = rows, cols
    if not EVEN_MN:
        read_rows, read_cols = rows % M, cols % N
    depth = tl.arange(0, BLOCK_SIZE_K)
    total = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), tl.float32)
    for k0 in range(0, K, BLOCK_SIZE_K):
        at = k0 + depth
        a = a_ptr + read_rows[:, None] * stride_am + at[None, :] * stride_ak
        b = b_ptr + at[:, None] * stride_bk + read_cols[None, :] * stride_bn
        if EVEN_K:
            total = tl.dot(tl.load(a), tl.load(b, cache_modifier=cache_modifier), total)
        else:
            left = tl.load(a, mask=at[None, :] < K, other=0.0)
            total = tl.dot(left, tl.load(b, mask=at[:, None] < K, other=0.0), total)
    to = c_ptr + rows[:, None] * stride_cm + cols[None, :] * stride_cn
    if EVEN_MN:
        tl.store(to, total.to(tl.bfloat16))
    else:
        tl.store(to, total.to(tl.bfloat16), mask=(rows[:, None] < M) & (cols[None, :] < N))
