"""The byte budgets of SGLang's score buffers, as data, and how one is put into force.

Each version has other knobs and each bounds another tensor; a plan names the one that bounds the
buffers of its memory path (`score_budgets` of the sizer) and only that one is touched. What is
read at import belongs into the environment before the start, so it is only compared here.
"""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import dataclass

from .versions import Version, holds

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Knob:
    """One budget of one range of versions."""

    name: str
    """Environment variable or module constant."""
    kind: str
    """`env` or `constant`."""
    module: str
    """Module that reads the variable or holds the constant."""
    backend: str
    bounds: str
    """Tensor whose bytes it bounds."""
    bytes_per_element: int
    read: str
    """`import` or `call`: when SGLang reads the value."""
    since: Version
    until: Version | None = None
    unit: int = 1
    """Bytes that one unit of the value stands for."""
    in_force: tuple[str, int] | None = None
    """Where a variable ends up in the module: attribute, and bytes of one unit of it."""


_DSV4 = "sglang.srt.layers.attention.dsv4"

KNOBS = (
    Knob(
        "SGLANG_DSV4_FP4_LOGITS_BUDGET_MB",
        "env",
        "sglang.kernels.ops.attention.dsv4.fp4_indexer_hip",
        "hip",
        "pooled fp32 logits [rows, keys] of a prefill",
        4,
        "import",
        (0, 5, 20),
        unit=1 << 20,
        in_force=("_LOGITS_BUDGET_ELEMS", 4),
    ),
    Knob(
        "_CANDIDATE_SCORE_BUDGET_BYTES",
        "constant",
        f"{_DSV4}.low_ratio_backend_hip",
        "hip",
        "fp32 slice [rows, keys] of one selection of candidate blocks",
        4,
        "call",
        (0, 5, 22),
    ),
    Knob(
        "_DEEP_GEMM_SCORE_BUDGET_BYTES",
        "constant",
        f"{_DSV4}.v41_indexer.scoring",
        "deep_gemm",
        "fp32 logits tile [rows, keys]",
        4,
        "call",
        (0, 5, 21),
    ),
    Knob(
        "_TORCH_SCORE_BUDGET_BYTES",
        "constant",
        f"{_DSV4}.v41_indexer.scoring",
        "torch",
        "bf16 scores [rows, heads, keys] of one request",
        2,
        "call",
        (0, 5, 21),
    ),
    # Builds between the releases 0.5.20 and 0.5.21 have the torch budget under an older name, in
    # one of two modules.
    Knob(
        "_TORCH_INDEXER_SCORE_BUDGET_BYTES",
        "constant",
        "sglang.srt.layers.attention.deepseek_v4_backend",
        "torch",
        "bf16 scores [rows, heads, keys], and the fp32 slice [rows, keys] of the candidates",
        2,
        "call",
        (0, 5, 20),
        (0, 5, 22),
    ),
    Knob(
        "_TORCH_INDEXER_SCORE_BUDGET_BYTES",
        "constant",
        f"{_DSV4}.low_ratio_backend",
        "torch",
        "bf16 scores [rows, heads, keys], and the fp32 slice [rows, keys] of the candidates",
        2,
        "call",
        (0, 5, 20),
        (0, 5, 22),
    ),
)


def rows(name: str, version: Version) -> list[Knob]:
    """The rows of a knob that hold for a version."""
    return [knob for knob in KNOBS if knob.name == name and holds(version, knob.since, knob.until)]


def unknown(budgets: dict[str, int], version: Version) -> str | None:
    """Why the budgets cannot be put into force on this version, or None."""
    for name in budgets:
        if not rows(name, version):
            known = sorted({k.name for k in KNOBS if holds(version, k.since, k.until)})
            return (
                f"score_budgets names {name}, which this SGLang does not have "
                f"(it has {', '.join(known) or 'none'}); emit the config for this version"
            )
    return None


def apply(budgets: dict[str, int], version: Version) -> list[str]:
    """Puts every budget into force where that is possible; says what is in force for each."""
    said = []
    for name, wanted in budgets.items():
        for knob in rows(name, version):
            module = sys.modules.get(knob.module)
            if knob.kind == "env":
                said.append(_compare(knob, wanted, module))
            elif module is not None and hasattr(module, name):
                said.append(_set(knob, wanted))
        if not any(text.startswith(name) for text in said):
            said.append(f"{name} not set: {rows(name, version)[0].module} is not in use here")
    return said


def _compare(knob: Knob, wanted: int, module: object) -> str:
    """A variable that was read before we came: what is in force, and whether it is the plan's."""
    raw = os.environ.get(knob.name)
    where = "environment"
    found = None
    if knob.in_force is not None and hasattr(module, knob.in_force[0]):
        attribute, scale = knob.in_force
        found, where = getattr(module, attribute) * scale, f"{knob.module}.{attribute}"
    elif raw is not None and raw.strip().isdigit():
        found = int(raw) * knob.unit
    value = wanted // knob.unit
    if found is None:
        logger.warning(
            "chunktune: %s is not set; the plan counts on %s=%d (see tune.env)",
            knob.name,
            knob.name,
            value,
        )
        return f"{knob.name} at SGLang's default, planned {wanted}"
    if found > wanted:
        logger.error(
            "chunktune: %s is in force with %d bytes, the plan counts on %d: start the server "
            "with %s=%d (see tune.env); SGLang reads it at %s",
            knob.name,
            found,
            wanted,
            knob.name,
            value,
            knob.read,
        )
    return f"{knob.name} {found} bytes in force ({where}), planned {wanted}"


def _set(knob: Knob, wanted: int) -> str:
    """Sets a constant in its module and wherever SGLang imported it by name; reads it back."""
    for name, module in list(sys.modules.items()):
        if name.startswith("sglang.") and knob.name in vars(module):
            setattr(module, knob.name, wanted)
    found = getattr(sys.modules[knob.module], knob.name)
    return f"{knob.name} {found} bytes in force ({knob.backend}: {knob.bounds})"
