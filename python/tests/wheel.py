"""The real scheduler of an SGLang wheel, imported without torch.

Real, run as they are in the wheel: `sglang.version`, `environ`, `plugins` with its `HookRegistry`
and `load_plugins`, `managers.scheduler`, `managers.scheduler_pp_mixin`, `managers.schedule_policy`
(`PrefillAdder`), `scheduler_components.dynamic_chunk_sizer` and `mem_cache.prefill_budget`.
Stood in for: torch, every other package, every other module of SGLang (model runner, radix cache,
allocators, `Req`, `ScheduleBatch`), and the `__init__` of the package, which patches transformers.
"""

from __future__ import annotations

import os
import sys
import types
import zipfile
from pathlib import Path
from types import SimpleNamespace

from .standins import StandInFinder

WHEELS = "CHUNKTUNE_SGLANG_WHEELS"
"""Environment variable that names the folder with the wheels."""

REAL = (
    "sglang",
    "sglang.version",
    "sglang._version",
    "sglang.srt",
    "sglang.srt.environ",
    "sglang.srt.plugins",
    "sglang.srt.plugins.*",
    "sglang.srt.managers",
    "sglang.srt.managers.scheduler",
    "sglang.srt.managers.scheduler_pp_mixin",
    "sglang.srt.managers.schedule_policy",
    "sglang.srt.managers.scheduler_components",
    "sglang.srt.managers.scheduler_components.dynamic_chunk_sizer",
    "sglang.srt.mem_cache",
    "sglang.srt.mem_cache.prefill_budget",
    "chunktune_sglang",
    "chunktune_sglang.*",
    "tests",
    "tests.*",
    "numpy",
    "numpy.*",
)


def find(version: str) -> Path | None:
    """The wheel of a version, or None where it was not downloaded."""
    folder = os.environ.get(WHEELS)
    found = sorted(Path(folder).glob(f"sglang-{version}-*.whl")) if folder else []
    return found[0] if found else None


def unpack(wheel: Path, into: Path) -> None:
    """Takes the sources of the real modules, and of `srt/utils`, out of a wheel."""
    folders = ("sglang/srt/managers/", "sglang/srt/plugins/", "sglang/srt/mem_cache/")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            few = name.count("/") <= 2 or name == "sglang/srt/utils/common.py"
            if name.endswith(".py") and (few or name.startswith(folders)):
                archive.extract(name, into)


def load(folder: Path, arch: str) -> None:
    """Makes `import sglang...` find the real modules in `folder`, on a device of `arch`."""
    package = types.ModuleType("sglang")
    package.__path__ = [str(folder / "sglang")]
    sys.modules["sglang"] = package
    sys.meta_path.insert(0, StandInFinder(REAL))
    import torch.cuda

    torch.cuda.is_available = lambda: True
    torch.cuda.current_device = lambda: 0
    torch.cuda.get_device_properties = lambda index: SimpleNamespace(
        gcnArchName=f"{arch}:sramecc+:xnack-"
    )
