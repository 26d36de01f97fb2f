"""Command line of the exporter."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from . import absorb, gemm, pack, source
from .problem import ExportError
from .tiles import Shape

GLM_5_2_TP4 = (
    Shape("w_kc", 16, 512, 192, head_major_out=True),
    Shape("w_vc", 16, 256, 512, head_major_out=False),
)
"""Absorb GEMMs of GLM-5.2 at TP 4: 64 heads of 192 + 64 and 256 dimensions, kv_lora_rank 512."""


GLM_5_2_O_PROJ = Shape("o_proj", 1, 6144, 4096)
"""Output projection of GLM-5.2 at TP 4: 16 heads of 256 to a hidden size of 6144."""


MAX_SIZE, MAX_WEIGHTS = 1 << 20, 1 << 30
"""What `tune` takes as sizes of a pack."""


def rows(text: str) -> int:
    """A number of rows."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MAX_SIZE:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of rows from 1 to {MAX_SIZE}")
    return int(text)


def shape(text: str) -> Shape:
    """A shape from `NAME:B:N:K`; `w_kc` writes its result head by head, as SGLang calls it."""
    found = re.fullmatch(r"(\w+):(\d+):(\d+):(\d+)", text)
    if not found or 0 in map(int, found.groups()[1:]):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME:B:N:K with positive numbers")
    name, b, n, k = found[1], int(found[2]), int(found[3]), int(found[4])
    if max(b, n, k) > MAX_SIZE or n * k > MAX_WEIGHTS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no shape of a rank: sizes are at most {MAX_SIZE}, N * K at most {MAX_WEIGHTS}"
        )
    return Shape(name, b, n, k, head_major_out=name == "w_kc")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m chunktune_sglang.export_kernels",
        description="Compiles AITER's Triton kernels for the tiles that SGLang and AITER choose.",
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
        "--gemm",
        type=shape,
        action="append",
        metavar="NAME:1:N:K",
        help="columns and depth of a bf16 GEMM on one rank; default: o_proj of GLM-5.2 at TP 4, "
        "unless --shape is given",
    )
    parser.add_argument(
        "--rows-from",
        type=rows,
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
        if given.configs and not given.configs.is_dir():
            raise ExportError(f"{given.configs}: no such folder; --configs names one of JSON files")
        folders = [given.configs] if given.configs else []
        folders.append(aiter / "ops/triton/configs")
        absorbs = given.shape or ([] if given.gemm else list(GLM_5_2_TP4))
        gemms = given.gemm or ([] if given.shape else [GLM_5_2_O_PROJ])
        kernels, files, left_out = [], [], []
        if absorbs:
            kernels, files = absorb.export(aiter, folders, given.arch, absorbs, given.rows_from)
        if gemms:
            more, tuned, left_out = gemm.export(aiter, folders, given.arch, gemms, given.rows_from)
            kernels, files = kernels + more, files + tuned
        versions = {"triton": triton.__version__, "aiter": source.version_of(aiter)}
        manifest = pack.write(given.out, given.arch, kernels, files, versions)
    except ExportError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except ImportError as error:
        print(f"error: {error}: install triton to compile kernels", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {given.out}: cannot be written: {error}", file=sys.stderr)
        return 7
    print(f"AITER {versions['aiter']}")
    for used in {each.source.file: each.source for each in kernels}.values():
        print(f"kernel {used.file.name} ({used.sha256[:12]})")
    if given.configs and not any(given.configs in file.path.parents for file in files):
        print(
            f"warning: nothing in {given.configs} is of these kernels and {given.arch}: "
            "tiles are AITER's own",
            file=sys.stderr,
        )
    for file in files:
        print(f"tiles of {file.path.name} ({file.sha256[:12]})")
    for same in sorted({each.source.file.name for each in kernels if each.picks == "all"}):
        print(f"{same} of this AITER has no EVEN_MN: the same kernel runs at every M")
    for what in left_out:
        print(f"left out: {what}")
    for each in kernels:
        rows = ", ".join(f"{first}..{last}" for first, last in each.rows)
        print(f"  {each.id}: M {rows}; {each.built.warps} waves, {each.built.lds} B of LDS")
    print(f"wrote {manifest}; measure it with: tune --device {given.arch} --kernels {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
