"""A plain matrix product with the interface of AITER's wrapper of that name, for tests."""

import torch
import triton
import triton.language as tl


@triton.jit
def _product(a, b, c, m, n, k, stride_a, stride_b, stride_c, TILE: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    depth = tl.arange(0, DEPTH)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for first in range(0, k, DEPTH):
        left = tl.load(a + (rows % m)[:, None] * stride_a + (first + depth)[None, :])
        right = tl.load(b + (columns % n)[None, :] * stride_b + (first + depth)[:, None])
        total = tl.dot(left, right, acc=total)
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(c + rows[:, None] * stride_c + columns[None, :], total.to(tl.bfloat16), mask=inside)


def gemm_a16w16(x, w, bias=None, dtype=torch.bfloat16):
    """`x[M, K]` times the transpose of `w[N, K]`."""
    (m, k), n = x.shape, w.shape[0]
    y = torch.empty((m, n), dtype=dtype, device=x.device)
    grid = lambda meta: (triton.cdiv(m, meta["TILE"]), triton.cdiv(n, meta["TILE"]))
    _product[grid](x, w, y, m, n, k, x.stride(0), w.stride(0), y.stride(0), TILE=64, DEPTH=64)
    return y
