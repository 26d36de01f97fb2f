"""Command line of the exporter."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from . import absorb, pack, source
from .absorb import Shape
from .problem import ExportError

GLM_5_2_TP4 = (
    Shape("w_kc", 16, 512, 192, head_major_out=True),
    Shape("w_vc", 16, 256, 512, head_major_out=False),
)
"""Absorb GEMMs of GLM-5.2 at TP 4: 64 heads of 192 + 64 and 256 dimensions, kv_lora_rank 512."""


def shape(text: str) -> Shape:
    """A shape from `NAME:B:N:K`; `w_kc` writes its result head by head, as SGLang calls it."""
    found = re.fullmatch(r"(\w+):(\d+):(\d+):(\d+)", text)
    if not found or 0 in map(int, found.groups()[1:]):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME:B:N:K with positive numbers")
    name, b, n, k = found[1], int(found[2]), int(found[3]), int(found[4])
    return Shape(name, b, n, k, head_major_out=name == "w_kc")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m chunktune_sglang.export_kernels",
        description="Compiles the absorb GEMM of AITER for the tiles that SGLang and AITER choose.",
    )
    parser.add_argument("--arch", required=True, choices=("gfx942", "gfx950"))
    parser.add_argument("--out", required=True, type=Path, help="folder of the kernel pack")
    parser.add_argument("--aiter", type=Path, help="folder of AITER, when it is not installed")
    parser.add_argument(
        "--configs", type=Path, help="folder with JSON files that go before AITER's own"
    )
    parser.add_argument(
        "--shape",
        type=shape,
        action="append",
        metavar="NAME:B:N:K",
        help="heads, columns and depth of an absorb GEMM on one rank; default: GLM-5.2 at TP 4",
    )
    parser.add_argument(
        "--rows-from",
        type=int,
        default=1,
        metavar="M",
        help="leave out kernels that run at fewer rows only; 257 leaves the prefill of SGLang",
    )
    return parser.parse_args()


def main() -> int:
    """Exports; returns the exit status."""
    given = arguments()
    try:
        import triton

        aiter = source.find_aiter(given.aiter)
        folders = [given.configs] if given.configs else []
        folders.append(aiter / "ops/triton/configs")
        kernels, files, kernel = absorb.export(
            aiter, folders, given.arch, given.shape or list(GLM_5_2_TP4), given.rows_from
        )
        versions = {"triton": triton.__version__, "aiter": source.version_of(aiter)}
        manifest = pack.write(given.out, given.arch, kernels, files, kernel, versions)
    except ExportError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except ImportError as error:
        print(f"error: {error}: install triton to compile kernels", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {given.out}: cannot be written: {error}", file=sys.stderr)
        return 7
    print(f"AITER {versions['aiter']}, {kernel.file.name} ({kernel.sha256[:12]})")
    for file in files:
        print(f"tiles of {file.path.name} ({file.sha256[:12]})")
    if all(each.picks == "all" for each in kernels):
        print("this AITER has no EVEN_MN: it runs the same kernel at every M")
    for each in kernels:
        rows = ", ".join(f"{first}..{last}" for first, last in each.rows)
        print(f"  {each.id}: M {rows}; {each.built.warps} waves, {each.built.lds} B of LDS")
    print(f"wrote {manifest}; measure it with: tune --device {given.arch} --kernels {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
