"""Loads a Triton kernel of AITER by itself.

In goes the folder of AITER and the file of a kernel; out comes the `@triton.jit` function with its
heuristics. Of AITER only Triton device code is executed (`_triton_kernels`, `utils/_triton`); all
else that the file imports, torch included, is replaced by empty modules.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .problem import ExportError

_DEVICE_CODE = ("ops/triton/_triton_kernels/", "ops/triton/utils/_triton/")
_HOST_CODE = ("arch_info",)
"""Modules among the device code that ask for a GPU when they are imported."""


@dataclass(frozen=True)
class Source:
    """A kernel as it is in AITER."""

    file: Path
    sha256: str
    name: str
    fn: Any
    """Triton's `JITFunction`."""
    heuristics: dict[str, Callable[[dict[str, Any]], Any]]


def find_aiter(given: Path | None) -> Path:
    """The package folder of AITER: below `given`, or where Python would import it from."""
    if given is not None:
        for folder in (given, given / "aiter"):
            if (folder / "ops/triton").is_dir():
                return folder
        raise ExportError(f"{given}: holds no aiter/ops/triton")
    spec = importlib.util.find_spec("aiter")
    if spec is None or not spec.submodule_search_locations:
        raise ExportError("aiter is not installed here; name its folder with --aiter")
    return Path(next(iter(spec.submodule_search_locations)))


def version_of(aiter: Path) -> str:
    """Release of an AITER that was installed as a package; else `unknown`."""
    found = sorted(aiter.parent.glob("amd_aiter-*.dist-info"))
    if found:
        return found[-1].name.removesuffix(".dist-info").split("-", 1)[1]
    return "unknown"


def load(aiter: Path, name: str, function: str) -> Source:
    """Loads function `function` from the file `name`.py, wherever this release keeps it."""
    files = sorted((aiter / "ops/triton/_triton_kernels").rglob(f"{name}.py"))
    if not files:
        raise ExportError(f"{aiter}: this AITER has no _triton_kernels/**/{name}.py")
    file = files[0]
    module_name = ".".join(("aiter", *file.relative_to(aiter).with_suffix("").parts))
    finder = _Finder(aiter)
    sys.meta_path.insert(0, finder)
    before = set(sys.modules)
    try:
        module = importlib.import_module(module_name)
    except ExportError:
        raise
    except Exception as error:
        raise ExportError(f"{file}: cannot be loaded: {type(error).__name__}: {error}") from error
    finally:
        sys.meta_path.remove(finder)
        for added in set(sys.modules) - before:
            if added.split(".")[0] in ("aiter", "torch"):
                del sys.modules[added]
    kernel = getattr(module, function, None)
    if kernel is None:
        raise ExportError(f"{file}: has no function {function}")
    heuristics: dict[str, Any] = {}
    while not hasattr(kernel, "params"):
        if not hasattr(kernel, "values") or not hasattr(kernel, "fn"):
            raise ExportError(f"{file}: {function} is wrapped in {type(kernel).__name__}")
        heuristics |= kernel.values
        kernel = kernel.fn
    return Source(file, hashlib.sha256(file.read_bytes()).hexdigest(), function, kernel, heuristics)


class _Empty(types.ModuleType):
    """A module whose every name is a function that does nothing, and a submodule."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, aiter: Path) -> None:
        self._aiter = aiter

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        top, _, below = fullname.partition(".")
        if top == "torch" and importlib.machinery.PathFinder.find_spec("torch") is None:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        if top != "aiter":
            return None
        relative = below.replace(".", "/")
        file = self._aiter / f"{relative}.py"
        device = relative.startswith(_DEVICE_CODE) and not relative.endswith(_HOST_CODE)
        if device and file.is_file():
            return importlib.util.spec_from_file_location(fullname, file)
        spec = importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        spec.submodule_search_locations = [str(self._aiter / relative)]
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Empty(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to run: the module is empty."""
