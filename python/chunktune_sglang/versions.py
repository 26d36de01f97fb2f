"""What each version of SGLang offers to hook, as data.

`hooks_for` answers with the rows of `HOOKS` that hold for a version. Ranges are half-open; builds
between releases count as the release that they precede or carry, by their numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Version = tuple[int, ...]

FIRST_SUPPORTED: Version = (0, 5, 8)
"""The first release whose scheduler asks anything for the size of a continued chunk."""


@dataclass(frozen=True)
class Hook:
    """A function of SGLang, and the function of `chunktune_sglang.hooks` that goes around it."""

    target: str
    """Dotted path, as SGLang's `HookRegistry` takes it."""
    kind: str
    """`after` or `around`, names of SGLang's `HookType`."""
    function: str
    since: Version
    until: Version | None = None
    """First version without it."""


_SCHEDULER = "sglang.srt.managers.scheduler.Scheduler"
_ADDER = "sglang.srt.managers.schedule_policy.PrefillAdder"

HOOKS = (
    # Until 0.5.19 the sizer is a method of the scheduler, switched on by a flag of the instance.
    Hook(
        f"{_SCHEDULER}.init_chunked_prefill", "after", "after_init_chunked", (0, 5, 8), (0, 5, 20)
    ),
    Hook(
        f"{_SCHEDULER}.predict_next_chunk_size", "around", "around_predict", (0, 5, 8), (0, 5, 20)
    ),
    # From 0.5.20 on it is an object with `predict`.
    Hook(f"{_SCHEDULER}.maybe_init_dynamic_chunk_sizer", "after", "after_init_sizer", (0, 5, 20)),
    Hook(f"{_SCHEDULER}.__init__", "after", "after_init_scheduler", (0, 5, 8)),
    Hook(f"{_ADDER}.__init__", "after", "after_init_adder", (0, 5, 8)),
    Hook(f"{_ADDER}.add_chunked_req", "around", "around_add_chunked_req", (0, 5, 8)),
    Hook(f"{_ADDER}.add_one_req", "around", "around_add_one_req", (0, 5, 8)),
    Hook(
        "sglang.srt.managers.schedule_policy._use_exact_chunk_fill",
        "around",
        "around_exact_fill",
        (0, 5, 20),
    ),
)


def parse(version: str) -> Version:
    """The numbers of a version; a build without a release counts as newer than all of them."""
    numbers = re.match(r"\d+(?:\.\d+)*", version)
    found = tuple(int(part) for part in numbers.group().split(".")) if numbers else ()
    return found if any(found) else (10**6,)


def holds(version: Version, since: Version, until: Version | None) -> bool:
    """Whether `version` lies in the half-open range."""
    return since <= version and (until is None or version < until)


def hooks_for(version: Version) -> list[Hook]:
    """The hooks that a version has; none before `FIRST_SUPPORTED`."""
    return [hook for hook in HOOKS if holds(version, hook.since, hook.until)]


def installed() -> str:
    """Version of the SGLang that is imported here."""
    from sglang.version import __version__

    return str(__version__)
