"""Which tile runs at which number of rows, as SGLang and AITER choose it.

SGLang brings its own tile for the absorb GEMM up to `DECODE_ROWS` rows; above, and for other
kernels, AITER's JSON files decide. Out comes a list of `Bucket`: ranges of M with their settings.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .problem import ExportError

ROWS = (1 << 31) - 1
"""Largest M of the last bucket."""

DECODE_ROWS = 256
"""Rows up to which SGLang chooses (forward_mla_rocm.py of SGLang 0.5.23)."""

COMPUTE_UNITS = {"gfx942": 304, "gfx950": 256}
"""MI300X and MI355X, AMD data sheets."""

_DEVICES = {"gfx942": "MI300X", "gfx950": "MI350X"}
"""Names in the files of releases that do not use the architecture."""

_BOUNDS = (1, 4, 8, 16, 32, 48, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
"""Every bound that a release of AITER looks for; a table has some of them."""

_NAMED = (("small", 16), ("medium_M32", 32), ("medium_M64", 64), ("medium_M128", 128))


@dataclass(frozen=True)
class Bucket:
    """Settings that hold for `first..=last` rows."""

    first: int
    last: int
    settings: dict[str, Any] = field(hash=False)


@dataclass(frozen=True)
class ConfigFile:
    """A file of AITER that decided."""

    path: Path
    sha256: str


def of_aiter(
    folders: list[Path], arch: str, family: str, batch: int, n: int, k: int
) -> tuple[list[Bucket], ConfigFile]:
    """Buckets of one shape from the first file that AITER would find."""
    nested = f"{arch}/triton/gemm/{family.lower().replace('-', '_')}"
    special = (f"{family}-B={batch}-N={n}-K={k}", f"{family}-N={n}-K={k}")
    tried = []
    for folder in folders:
        names = [folder / nested / f"{name}.json" for name in special]
        names.append(folder / nested / "DEFAULT.json")
        for prefix in (arch, _DEVICES.get(arch, arch)):
            flat = [folder / "gemm" / f"{prefix}-{name}.json" for name in (*special, family)]
            names += flat + [folder / name.name for name in flat]
        for path in names:
            if path.is_file():
                return _buckets(path), _hashed(path)
        tried += [str(path) for path in names]
    raise ExportError(f"no tuned tiles of {family} for {arch}; looked for {', '.join(tried)}")


def with_sglang(
    aiter: list[Bucket], arch: str, heads: int, n: int, k_modifier: str = ".cg"
) -> list[Bucket]:
    """The buckets of the absorb GEMM: SGLang's choice up to `DECODE_ROWS`, then AITER's."""
    units = COMPUTE_UNITS.get(arch)
    if units is None:
        raise ExportError(f"the number of compute units of {arch} is not known")
    decode = [
        Bucket(m, m, _decode_settings(heads, m, n, units, k_modifier))
        for m in range(1, DECODE_ROWS + 1)
    ]
    above = [
        Bucket(max(bucket.first, DECODE_ROWS + 1), bucket.last, bucket.settings)
        for bucket in aiter
        if bucket.last > DECODE_ROWS
    ]
    return _merged(decode + above)


def _decode_settings(heads: int, m: int, n: int, units: int, modifier: str) -> dict[str, Any]:
    """SGLang's tile for few rows: narrow while the device is not full, then taller."""
    tiles = lambda size, block: -(-size // block)
    block_n = 128
    while block_n > 32 and 4 * heads * tiles(m, 16) * tiles(n, block_n) < 3 * units:
        block_n //= 2
    block_m = 16
    while block_m < 64 and heads * tiles(m, block_m) * tiles(n, block_n) > 2 * units:
        block_m *= 2
    groups = heads * tiles(m, block_m) * tiles(n, block_n)
    return {
        "BLOCK_SIZE_M": block_m,
        "BLOCK_SIZE_N": block_n,
        "GROUP_SIZE_M": 1,
        "num_warps": 4,
        "num_stages": 2,
        "waves_per_eu": max(1, tiles(groups, units)),
        "matrix_instr_nonkdim": 16,
        "cache_modifier": modifier,
    }


def _buckets(path: Path) -> list[Bucket]:
    try:
        table = json.loads(path.read_text())
    except ValueError as error:
        raise ExportError(f"{path}: not JSON: {error}") from None
    if not isinstance(table, dict):
        raise ExportError(f"{path}: expected an object of M_LEQ_x, M_GEQ_x and any")
    if "xlarge" in table:
        found = _by_name(table)
    else:
        unknown = [key for key in table if not _known(key)]
        if unknown:
            raise ExportError(f"{path}: {unknown[0]} is not a key that AITER looks for")
        found = _by_bound(table)
    for bucket in found:
        if not {"BLOCK_SIZE_M", "BLOCK_SIZE_N"} <= bucket.settings.keys():
            raise ExportError(f"{path}: M {bucket.first}: no BLOCK_SIZE_M or BLOCK_SIZE_N")
    return found


def _known(key: str) -> bool:
    bounds = {f"M_{way}_{bound}" for way in ("LEQ", "GEQ") for bound in _BOUNDS}
    return key == "any" or key in bounds


def _by_bound(table: dict[str, Any]) -> list[Bucket]:
    """The smallest M_LEQ that covers M, else the largest M_GEQ that M reaches, else any."""

    def choose(m: int) -> Any:
        for bound in _BOUNDS:
            if m <= bound and f"M_LEQ_{bound}" in table:
                return table[f"M_LEQ_{bound}"]
        for bound in reversed(_BOUNDS):
            if m >= bound and f"M_GEQ_{bound}" in table:
                return table[f"M_GEQ_{bound}"]
        return table.get("any")

    edges = sorted({1, *_BOUNDS, *(bound + 1 for bound in _BOUNDS), ROWS + 1})
    pieces = itertools.pairwise(edges)
    found = [Bucket(a, b - 1, choose(a)) for a, b in pieces]
    return _merged([bucket for bucket in found if bucket.settings is not None])


def _by_name(table: dict[str, Any]) -> list[Bucket]:
    """The names of older releases."""
    found, first = [], 1
    for name, last in (*_NAMED, ("large", 256), ("xlarge", ROWS)):
        if name in table:
            found.append(Bucket(first, last, table[name]))
        first = last + 1
    return _merged(found)


def _merged(buckets: list[Bucket]) -> list[Bucket]:
    """Neighbours with the same settings become one."""
    merged: list[Bucket] = []
    for bucket in buckets:
        last = merged[-1] if merged else None
        if last and last.settings == bucket.settings and last.last + 1 == bucket.first:
            merged[-1] = Bucket(last.first, bucket.last, last.settings)
        else:
            merged.append(bucket)
    return merged


def _hashed(path: Path) -> ConfigFile:
    return ConfigFile(path, hashlib.sha256(path.read_bytes()).hexdigest())
