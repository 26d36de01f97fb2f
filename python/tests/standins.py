"""Stand-ins for modules that are not installed: importable, and good for nothing else.

They let SGLang's scheduler be imported without torch and without the other packages it needs. Any
attribute of such a module is a class that can be called, subclassed, subscripted or used as a
decorator that changes nothing.
"""

from __future__ import annotations

import abc
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any


class _Meta(abc.ABCMeta):
    """The operations that module-level code asks of classes."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _standin(f"{cls.__qualname__}.{name}")

    def __getitem__(cls, key: object) -> Any:
        return cls

    def __or__(cls, other: object) -> Any:
        return cls

    __ror__ = __or__

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __bool__(cls) -> bool:
        return False

    def __lt__(cls, other: object) -> bool:
        return False

    __le__ = __gt__ = __ge__ = __lt__


class StandIn(metaclass=_Meta):
    """Instance of whatever is not there."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        decorated = (
            len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type))
        )
        return args[0] if decorated and cls.__module__ == "standin" else object.__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__dict__.update(kwargs)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _standin(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        decorated = len(args) == 1 and isinstance(args[0], (types.FunctionType, type))
        return args[0] if decorated else self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *args: object) -> None:
        return None


def _standin(name: str) -> Any:
    return _Meta(name.rsplit(".", 1)[-1], (StandIn,), {"__module__": "standin"})


class _Module(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = _standin(name)
        setattr(self, name, value)
        return value


class StandInFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands in for every module that is neither of the standard library nor named as real."""

    def __init__(self, real: Sequence[str]) -> None:
        """`real` names modules; a trailing ``.*`` takes in all below."""
        self._real = {name for name in real if not name.endswith(".*")}
        self._below = tuple(name[:-1] for name in real if name.endswith(".*"))

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        top = name.split(".")[0]
        if top in sys.stdlib_module_names or name in self._real or name.startswith(self._below):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__version__ = "0"
