"""Compiles a few Triton kernels for a target and writes their code objects.

Usage: triton_kernels.py gfx950 OUT_DIR
"""
import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + (k + ks)[None, :], mask=(k + ks)[None, :] < K, other=0.0)
        y = tl.load(b + cols[None, :] * K + (k + ks)[:, None], mask=(k + ks)[:, None] < K, other=0.0)
        acc = tl.dot(x, y, acc)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c + rows[:, None] * N + cols[None, :], acc, mask=mask)


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0) * n
    v = tl.load(x + row + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def dot_scaled(a, sa, b, sb, c, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.arange(0, BM)
    n = tl.arange(0, BN)
    k = tl.arange(0, K // 2)
    s = tl.arange(0, K // 32)
    x = tl.load(a + m[:, None] * (K // 2) + k[None, :])
    y = tl.load(b + k[:, None] * BN + n[None, :])
    xs = tl.load(sa + m[:, None] * (K // 32) + s[None, :])
    ys = tl.load(sb + n[:, None] * (K // 32) + s[None, :])
    acc = tl.dot_scaled(x, xs, "e2m1", y, ys, "e2m1")
    tl.store(c + m[:, None] * BN + n[None, :], acc)


def kernels(arch):
    fp8 = "fp8e4nv" if arch == "gfx950" else "fp8e4b8"
    for dtype in ("bf16", fp8):
        signature = {"a": f"*{dtype}", "b": f"*{dtype}", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32"}
        yield f"matmul_{dtype}", matmul, signature, {"BM": 64, "BN": 64, "BK": 64}
    yield "softmax", softmax, {"x": "*fp32", "y": "*fp32", "n": "i32"}, {"BLOCK": 1024}
    if arch == "gfx950":
        signature = {"a": "*u8", "sa": "*u8", "b": "*u8", "sb": "*u8", "c": "*fp32"}
        yield "dot_scaled", dot_scaled, signature, {"K": 256, "BM": 64, "BN": 64}


def main():
    arch, out = sys.argv[1], Path(sys.argv[2])
    target = GPUTarget("hip", arch, 64)
    for name, kernel, signature, constants in kernels(arch):
        signature = signature | {key: "constexpr" for key in constants}
        source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
        compiled = triton.compile(source, target=target)
        (out / f"{name}.{arch}.hsaco").write_bytes(compiled.asm["hsaco"])


main()
