"""Finds and imports AITER's Triton wrappers in a source tree that is not installed.

Packages are opened without running their `__init__`, which would build C++ extensions; what lies
outside `aiter.ops.triton` is inert.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import re
import sys

from chunktune_validate.shapes import InertModule

_TRITON = "aiter.ops.triton"
# Triton kernels that AITER keeps elsewhere.
ELSEWHERE = "aiter/utility/fp4_utils.py"
_INERT = ("einops", "pandas", "yaml", "psutil")


class _Package(InertModule):
    """A package that was not run: its modules are real, everything else in it is inert."""

    def __getattr__(self, name):
        if not name.startswith("__") and importlib.util.find_spec(f"{self.__name__}.{name}").loader.__class__ is not _Finder:
            return importlib.import_module(f"{self.__name__}.{name}")
        return super().__getattr__(name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, root):
        self.root = root

    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top == "torch" or (top in _INERT and not _installed(name)):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if top != "aiter":
            return None
        place = self.root.joinpath(*name.split("."))
        real = name == _TRITON or name.startswith(_TRITON + ".") or name == _module(ELSEWHERE)
        if real and place.with_suffix(".py").is_file():
            return importlib.util.spec_from_file_location(name, place.with_suffix(".py"))
        spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
        if place.is_dir():
            spec.submodule_search_locations = [str(place)]
        return spec

    def create_module(self, spec):
        return _Package(spec.name) if spec.submodule_search_locations else InertModule(spec.name)

    def exec_module(self, module):
        if module.__spec__.submodule_search_locations:
            module.__path__ = module.__spec__.submodule_search_locations


def _module(path):
    return path.removesuffix(".py").replace("/", ".")


def _installed(name):
    try:
        return importlib.machinery.PathFinder.find_spec(name.split(".")[0]) is not None
    except (ImportError, ValueError):
        return False


class Aiter:
    """A source tree."""

    def __init__(self, root):
        self.root = root
        self.triton = root / "aiter" / "ops" / "triton"
        sys.meta_path.insert(0, _Finder(root))

    def wrapper(self, name):
        """The Python function `name` that launches a kernel; `LookupError` where there is none."""
        pattern = re.compile(rf"^def {re.escape(name)}\(", re.MULTILINE)
        for path in [*sorted(self.triton.rglob("*.py")), self.root / ELSEWHERE]:
            parts = path.relative_to(self.root).parts
            if any(part.startswith("_") or part in ("gluon", "tune") for part in parts) or not path.is_file():
                continue
            if pattern.search(path.read_text(errors="replace")):
                module = _module("/".join(parts))
                return getattr(importlib.import_module(module), name)
        raise LookupError(f"this AITER has no {name}")
