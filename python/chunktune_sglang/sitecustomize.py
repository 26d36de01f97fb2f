"""``python -m chunktune_sglang.sitecustomize DIR``: the plugin for SGLang without plugins.

Writes DIR/sitecustomize.py. With DIR in PYTHONPATH, every Python process of the server puts the
hooks around SGLang's functions as the modules are imported. A sitecustomize that was there before
still runs.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

MODULES = ("sglang.srt.managers.scheduler", "sglang.srt.managers.schedule_policy")

_TEMPLATE = '''\
"""Puts chunktune's hooks around SGLang as it is imported; then runs the next sitecustomize."""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
try:
    try:
        import chunktune_sglang.sitecustomize as _chunktune
    except ImportError:
        sys.path.append({package!r})
        import chunktune_sglang.sitecustomize as _chunktune
    _chunktune.activate()
except ImportError as _error:
    print("chunktune: cannot be loaded:", _error, file=sys.stderr)

_next = importlib.machinery.PathFinder.find_spec(
    "sitecustomize", [p for p in sys.path if os.path.abspath(p) != _HERE]
)
if _next is not None and _next.loader is not None:
    _next.loader.exec_module(importlib.util.module_from_spec(_next))
'''


class _Finder(importlib.abc.MetaPathFinder):
    """Lets the modules load as they would, and hooks them afterwards."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in MODULES:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _Loader(spec.loader)
                return spec
        return None


class _Loader(importlib.abc.Loader):
    def __init__(self, inner: importlib.abc.Loader) -> None:
        self._inner = inner

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._inner.exec_module(module)
        from .registry import patch

        patch(module.__name__)

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)


def activate() -> None:
    """Hooks SGLang's modules from now on as they are imported."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def write(folder: Path) -> Path:
    """Writes the sitecustomize into a folder, which is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "sitecustomize.py"
    file.write_text(_TEMPLATE.format(package=str(Path(__file__).resolve().parents[1])))
    return file


def main() -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m chunktune_sglang.sitecustomize")
    parser.add_argument("dir", type=Path, help="folder for sitecustomize.py")
    folder = parser.parse_args().dir
    try:
        file = write(folder)
    except OSError as error:
        print(f"chunktune: {folder}: cannot be written: {error}", file=sys.stderr)
        return 7
    print(f"wrote {file}; start the server with PYTHONPATH={folder.resolve()}:$PYTHONPATH")
    return 0


if __name__ == "__main__":
    sys.exit(main())
