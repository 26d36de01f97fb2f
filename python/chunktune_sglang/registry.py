"""Puts the hooks around SGLang's functions, by SGLang's own registry or without one.

`register` is for versions with the plugin framework; `patch` is for those without and is called
as each module is imported. Both end in `check`, because a hook that failed is otherwise silent.
"""

from __future__ import annotations

import functools
import logging
import pkgutil
from collections.abc import Callable
from typing import Any

from . import agree, hooks, versions

logger = logging.getLogger(__name__)


def register(registry: Any, hook_type: Any) -> None:
    """Registers every hook of the installed version, and a check after they were applied."""
    chosen = _chosen()
    for hook in chosen:
        kind = getattr(hook_type, hook.kind.upper())
        registry.register(hook.target, getattr(hooks, hook.function), kind)
    # load_plugins applies the hooks once all plugins have registered theirs, and swallows errors.
    apply = registry.apply_hooks

    def apply_and_check() -> None:
        registry.apply_hooks = apply
        apply()
        check(chosen)

    registry.apply_hooks = apply_and_check


def patch(module: str) -> None:
    """Wraps the functions of one module that was just imported."""
    chosen = [hook for hook in _chosen() if hook.target.startswith(f"{module}.")]
    for hook in chosen:
        function = getattr(hooks, hook.function)
        path, name = hook.target.rsplit(".", 1)
        try:
            owner = pkgutil.resolve_name(path)
            original = getattr(owner, name)
        except AttributeError:
            continue  # `check` names it.
        if not took(original, function):
            setattr(owner, name, wrap(original, function, hook.kind))
    check(chosen)


def wrap(original: Callable[..., Any], hook: Callable[..., Any], kind: str) -> Callable[..., Any]:
    """`original` with a hook around or after it, as SGLang's registry wraps."""

    @functools.wraps(original)
    def around(*args: Any, **kwargs: Any) -> Any:
        return hook(original, *args, **kwargs)

    @functools.wraps(original)
    def after(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        changed = hook(result, *args, **kwargs)
        return result if changed is None else changed

    return around if kind == "around" else after


def check(chosen: list[versions.Hook]) -> None:
    """Notes and logs every hook that did not take; with CHUNKTUNE_STRICT=1 refuses to go on."""
    for hook in chosen:
        try:
            target = pkgutil.resolve_name(hook.target)
        except (ImportError, AttributeError) as error:
            found, why = False, f": {error}"
        else:
            found, why = took(target, getattr(hooks, hook.function)), ""
        if found:
            continue
        hooks.ACTIVE.missing.append(hook.target)
        logger.error("chunktune: SGLang did not take the hook of %s%s", hook.target, why)
        if agree.flag("CHUNKTUNE_STRICT"):
            raise RuntimeError(f"chunktune: no hook on {hook.target} (CHUNKTUNE_STRICT=1)")


def took(target: Any, hook: Callable[..., Any]) -> bool:
    """Whether a hook is among the wrappers of a function, followed through `__wrapped__`."""
    while hasattr(target, "__wrapped__"):
        cells = getattr(target, "__closure__", None) or ()
        if any(cell.cell_contents is hook for cell in cells):
            return True
        target = target.__wrapped__
    return False


def _chosen() -> list[versions.Hook]:
    running = versions.installed()
    chosen = versions.hooks_for(versions.parse(running))
    if not chosen:
        first = ".".join(map(str, versions.FIRST_SUPPORTED))
        why = f"SGLang {running} cannot size continued chunks; {first} is the first that can"
        if agree.flag("CHUNKTUNE_STRICT"):
            raise RuntimeError(f"chunktune: {why} (CHUNKTUNE_STRICT=1)")
        logger.error("chunktune: %s; SGLang runs as it would without chunktune", why)
    return chosen
