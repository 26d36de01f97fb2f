"""Compiles a Triton kernel (or "all") for a target and writes <name>.hsaco and <name>.json (kernel
symbol, threads, LDS bytes) into a folder: python kernels.py gfx950 softmax FOLDER."""

import json
import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def matmul(a, b, c, M, N, K, sam, sbk, scm,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C[M,N] = A[M,K] * B[K,N], bf16 in and out, with masks in all three dimensions."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        at = tl.load(a + rm[:, None] * sam + (k + rk)[None, :],
                     mask=(rm[:, None] < M) & ((k + rk)[None, :] < K), other=0.0)
        bt = tl.load(b + (k + rk)[:, None] * sbk + rn[None, :],
                     mask=((k + rk)[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(at, bt, acc)
    tl.store(c + rm[:, None] * scm + rn[None, :], acc.to(tl.bfloat16),
             mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def softmax(x, y, cols, stride, BLOCK: tl.constexpr):
    """Softmax of each row, f32."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + at, mask=at < cols, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * stride + at, e / tl.sum(e, axis=0), mask=at < cols)


@triton.jit
def wrapped_copy(src, dst, n, period, BLOCK: tl.constexpr):
    """dst[i] = src[(i * 3 + 5) mod period] for i < n, in 64-bit arithmetic."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
    tl.store(dst + i, tl.load(src + (i * 3 + 5) % period, mask=i < n, other=0), mask=i < n)


@triton.jit
def fp8_matmul(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = A[BM,K] * B[BN,K]^T of one tile: fp8 in (e4m3, of the kind the target has), f32 out."""
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        at = tl.load(a + rm[:, None] * K + k + rk[None, :])
        bt = tl.load(b + rn[None, :] * K + k + rk[:, None])
        acc = tl.dot(at, bt, acc)
    tl.store(c + rm[:, None] * BN + rn[None, :], acc)


@triton.jit
def scaled_matmul(a, sa, b, sb, c, BM: tl.constexpr, BN: tl.constexpr, K: tl.constexpr):
    """C = A * B^T of one tile: fp4 (e2m1, two to a byte) with one e8m0 scale per 32."""
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, K // 2)
    rs = tl.arange(0, K // 32)
    at = tl.load(a + rm[:, None] * (K // 2) + rk[None, :])
    bt = tl.load(b + rn[None, :] * (K // 2) + rk[:, None])
    ascale = tl.load(sa + rm[:, None] * (K // 32) + rs[None, :])
    bscale = tl.load(sb + rn[:, None] * (K // 32) + rs[None, :])
    acc = tl.dot_scaled(at, ascale, "e2m1", bt, bscale, "e2m1")
    tl.store(c + rm[:, None] * BN + rn[None, :], acc)


def sources(arch):
    fp8 = "*fp8e4nv" if arch == "gfx950" else "*fp8e4b8"
    tile = {"BM": 64, "BN": 64, "BK": 64}
    yield matmul, {"a": "*bf16", "b": "*bf16", "c": "*bf16", "M": "i32", "N": "i32", "K": "i32",
                   "sam": "i32", "sbk": "i32", "scm": "i32"}, tile
    yield softmax, {"x": "*fp32", "y": "*fp32", "cols": "i32", "stride": "i32"}, {"BLOCK": 1024}
    yield wrapped_copy, {"src": "*i32", "dst": "*i32", "n": "i64", "period": "i64"}, {"BLOCK": 256}
    yield fp8_matmul, {"a": fp8, "b": fp8, "c": "*fp32", "K": "i32"}, {"BM": 64, "BN": 64, "BK": 64}
    yield scaled_matmul, {"a": "*u8", "sa": "*u8", "b": "*u8", "sb": "*u8", "c": "*fp32"}, \
        {"BM": 64, "BN": 64, "K": 256}


def main(arch, wanted, folder):
    folder = pathlib.Path(folder)
    for kernel, arguments, constants in sources(arch):
        if wanted not in (kernel.__name__, "all"):
            continue
        signature = dict(arguments, **{name: "constexpr" for name in constants})
        source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
        compiled = triton.compile(source, target=GPUTarget("hip", arch, 64))
        name = kernel.__name__
        (folder / f"{name}.hsaco").write_bytes(compiled.asm["hsaco"])
        metadata = compiled.metadata
        (folder / f"{name}.json").write_text(json.dumps({
            "symbol": metadata.name,
            "threads": metadata.num_warps * 64,
            "lds": metadata.shared,
        }))


if __name__ == "__main__":
    main(*sys.argv[1:])
