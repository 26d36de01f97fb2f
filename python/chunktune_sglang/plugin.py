"""Entry point of the group ``sglang.srt.plugins``: SGLang calls `register` in every process."""

from __future__ import annotations


def register() -> None:
    """Registers the hooks with SGLang, which applies them after all plugins were loaded."""
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType

    from .registry import register as register_hooks

    register_hooks(HookRegistry, HookType)
