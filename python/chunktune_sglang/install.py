"""Installs a config into a scheduler, once all ranks agree on it.

`install` is called while a scheduler is constructed. It answers with what is in force, or None
with SGLang untouched and the reason in the log; with ``CHUNKTUNE_STRICT=1`` it raises instead.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Any

from . import agree, knobs, versions
from .config import Config, ConfigError, parse
from .sizer import Predictor, Sizer

logger = logging.getLogger(__name__)

ARCH = "CHUNKTUNE_DEVICE_ARCH"


@dataclass
class Installed:
    """What is in force in this process."""

    sizer: Sizer
    path: str
    arch: str
    cap: int
    """Largest chunk that the server allows, tokens per rank."""
    budgets: list[str]
    """What is in force for every score budget."""
    tails: str = "left as they are"
    """What becomes of tiny last chunks."""


class Refused(RuntimeError):
    """The config cannot be installed and the server must not start without it."""


def install(scheduler: Any, own: Predictor | None, missing: list[str]) -> Installed | None:
    """Reads, agrees and installs. `missing` names the hooks of this process that did not take.

    Collective: every rank calls it. `own` is the sizer that SGLang installed itself.
    """
    world = agree.world_of(scheduler)
    offer = agree.share(world)
    strict = offer.strict or agree.flag("CHUNKTUNE_STRICT")
    _compare_own_file(world, offer)
    if offer.path is None:
        if strict or os.environ.get(agree.SIZER):
            _refuse(f"rank 0 was given no config: set {agree.SIZER} for every rank", strict)
        return None
    installed, verdict = None, None
    try:
        installed = _prepare(scheduler, offer, own, missing)
    except ConfigError as error:
        verdict = str(error)
    # Whatever a rank meets here, the others must hear of it.
    except Exception as error:  # noqa: BLE001
        verdict = f"{type(error).__name__}: {error}"
    complaint = agree.unanimous(world, verdict)
    if complaint is not None or installed is None:
        _refuse(f"config of {offer.path} is not used: {complaint}", strict)
        return None
    if _clamp_missing(missing):
        _use_smaller_static(scheduler, installed.sizer)
    fraction = installed.sizer.config.tail_fraction
    if fraction and not tail_missing(missing):
        installed.tails = f"merged or balanced below {fraction:.0%} of the one before"
    installed.budgets = knobs.apply(
        installed.sizer.config.score_budgets, versions.parse(versions.installed())
    )
    return installed


def describe(installed: Installed, scheduler: Any, exact_fill: str) -> str:
    """The one line that says what is in force."""
    sizer, config = installed.sizer, installed.sizer.config
    static = scheduler.chunked_prefill_size
    own = "none" if sizer.own is None else "kept, the smaller answer wins"
    return (
        f"chunktune: config {config.sha256[:12]} ({installed.path}, profile "
        f"{config.profile_sha256[:12]}, {config.status}, {config.model}, memory path "
        f"{config.memory_path}) on {installed.arch}: chunk {sizer.chunk(0)} at prefix 0 down to "
        f"{sizer.chunk(config.max_context)} at {config.max_context}, page {config.page_size}, "
        f"align {config.align}; first chunk {min(static, sizer.chunk(0))} = "
        f"min(chunked_prefill_size {static}, table {config.chunk[0]}, cap {installed.cap}); "
        f"max_prefill_tokens {scheduler.max_prefill_tokens}; exact fill {exact_fill}; SGLang's "
        f"own sizer: {own}; last chunks: {installed.tails}; score budgets: "
        f"{'; '.join(installed.budgets) or 'none'}"
    )


def server_cap(scheduler: Any, own: Predictor | None) -> int:
    """Largest chunk that the server's limits allow, tokens.

    Buffers are sized by `chunked_prefill_size`, except where SGLang's own sizer is on, which
    sizes them by `max_prefill_tokens`.
    """
    static = scheduler.chunked_prefill_size
    if static is None:
        raise ConfigError("chunked prefill is off: set --chunked-prefill-size")
    if own is not None:
        return int(scheduler.max_prefill_tokens)
    return int(min(static, scheduler.max_prefill_tokens))


def _prepare(
    scheduler: Any, offer: agree.Offer, own: Predictor | None, missing: list[str]
) -> Installed:
    if offer.error is not None or offer.text is None or offer.path is None:
        raise ConfigError(offer.error or "no config")
    config = parse(offer.text, offer.path)
    if config.status != "validated" and not offer.allow_unvalidated:
        raise ConfigError(
            f"status is {config.status}: no memory of the deployed engine was observed; validate "
            "it with observations, or set CHUNKTUNE_ALLOW_UNVALIDATED=1 to take the risk"
        )
    arch = _device_arch()
    if config.arch != arch:
        raise ConfigError(
            f"made for {config.arch or 'no device'}, this device is {arch or 'not an AMD GPU'}"
        )
    if config.page_size != scheduler.page_size:
        raise ConfigError(
            f"made for page_size {config.page_size}, the server runs --page-size "
            f"{scheduler.page_size}"
        )
    needed = [name for name in missing if not (_clamp_missing([name]) or tail_missing([name]))]
    if needed:
        raise ConfigError(f"SGLang did not take the hook of {', '.join(needed)}")
    why = knobs.unknown(config.score_budgets, versions.parse(versions.installed()))
    if why is not None:
        raise ConfigError(why)
    _warn_of_differences(config, scheduler)
    cap = server_cap(scheduler, own)
    return Installed(Sizer(config, cap, own), offer.path, arch, cap, [])


def _device_arch() -> str:
    """Architecture of this rank's device, such as gfx950; empty where there is none."""
    assumed = os.environ.get(ARCH)
    if assumed:
        logger.warning("chunktune: device %s assumed by %s", assumed, ARCH)
        return assumed
    import torch

    if not torch.cuda.is_available():
        return ""
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    return str(getattr(properties, "gcnArchName", "")).split(":")[0]


def _warn_of_differences(config: Config, scheduler: Any) -> None:
    running = versions.installed()
    if config.sglang and config.sglang != running:
        logger.warning("chunktune: made for SGLang %s, this is %s", config.sglang, running)
    tp_size = getattr(scheduler, "tp_size", None)
    if isinstance(tp_size, int) and tp_size != config.tp:
        logger.warning("chunktune: made for tp %d, the server runs tp %d", config.tp, tp_size)


def _compare_own_file(world: agree.World, offer: agree.Offer) -> None:
    if world.rank == world.ranks[0]:
        return
    here = agree.read_offer()
    if here.path is not None and (here.text != offer.text or here.error is not None):
        logger.warning(
            "chunktune: rank %d was given another %s than rank 0; rank 0's counts",
            world.rank,
            here.path,
        )


def tail_missing(missing: list[str]) -> bool:
    """Whether the hook that mends the ends of prompts did not take: then they stay as they are."""
    return any(name.endswith(".PrefillAdder.add_chunked_req") for name in missing)


def _clamp_missing(missing: list[str]) -> bool:
    return any(".PrefillAdder." in name and not tail_missing([name]) for name in missing)


def _use_smaller_static(scheduler: Any, sizer: Sizer) -> None:
    """Without the clamp at admission the static chunk must fit at every prefix."""
    before, smaller = scheduler.chunked_prefill_size, sizer.smallest()
    if smaller >= before:
        return
    scheduler.chunked_prefill_size = smaller
    logger.warning(
        "chunktune: PrefillAdder could not be hooked, so a request may land on any cached prefix "
        "unclamped: the static chunk is lowered from %d to %d tokens, which costs %.1f times as "
        "many passes for the first chunks of requests",
        before,
        smaller,
        before / smaller,
    )


def _refuse(why: str, strict: bool) -> None:
    if strict:
        raise Refused(f"chunktune: {why} (CHUNKTUNE_STRICT=1)")
    logger.error("chunktune: %s; SGLang runs as it would without chunktune", why)
