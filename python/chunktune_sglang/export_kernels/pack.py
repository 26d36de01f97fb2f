"""Writes a kernel pack: `manifest.toml` and one code object per kernel.

The manifest is the one of chunktune's bundled kernels with a table `pack`, which says what the
kernels were made from, and per kernel its shape, its rows and how it is launched.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path

from .configs import ConfigFile
from .tiles import Kernel

SCHEMA = "chunktune/kernels/v1"
MANIFEST = "manifest.toml"


def write(
    folder: Path,
    arch: str,
    kernels: list[Kernel],
    configs: list[ConfigFile],
    versions: dict[str, str],
) -> Path:
    """Writes the pack and returns its manifest, which is written last."""
    (folder / arch).mkdir(parents=True, exist_ok=True)
    signatures: dict[str, tuple[tuple[str, str], ...]] = {}
    entries = []
    for kernel in kernels:
        _write(folder / arch / f"{kernel.id}.hsaco", kernel.built.image)
        arguments = kernel.built.arguments
        name = next((n for n, known in signatures.items() if known == arguments), None)
        if name is None:
            name = f"triton_{len(signatures)}"
            signatures[name] = arguments
        entries.append(_entry(kernel, arch, name))
    lines = [
        "# Kernels as a server deploys them, exported from AITER by chunktune_sglang.",
        f"schema = {_text(SCHEMA)}",
        "",
        "[pack]",
        f"arch = {_text(arch)}",
        *(f"{name} = {_text(value)}" for name, value in versions.items()),
    ]
    for source in {kernel.source.file: kernel.source for kernel in kernels}.values():
        lines += ["", "[[pack.source]]", f"file = {_text(source.file.name)}"]
        lines.append(f"sha256 = {_text(source.sha256)}")
    for config in configs:
        lines += ["", "[[pack.config]]", f"file = {_text(config.path.name)}"]
        lines.append(f"sha256 = {_text(config.sha256)}")
    for name, arguments in signatures.items():
        listed = ", ".join(_text(f"{argument}:{kind}") for argument, kind in arguments)
        lines += ["", f"[signature.{name}]", f"args = [{listed}]"]
    manifest = folder / MANIFEST
    _write(manifest, ("\n".join(lines + entries) + "\n").encode())
    return manifest


def _entry(kernel: Kernel, arch: str, signature: str) -> str:
    m, n, k = kernel.tile
    shape = kernel.shape
    rows = ", ".join(f"[{first}, {last}]" for first, last in kernel.rows)
    settings = {name: value for name, value in kernel.settings.items() if value is not None}
    return "\n".join(
        [
            "",
            "[[kernel]]",
            f"id = {_text(kernel.id)}",
            f"op = {_text(kernel.op)}",
            f"variant = {_text(kernel.variant)}",
            f"dtype = {_text(kernel.dtype)}",
            f"tile = {{ m = {m}, n = {n}, k = {{ {arch} = {k} }} }}",
            f"threads = {kernel.built.warps * 64}",
            f"file = {_text(kernel.id)}",
            f"symbol = {_text(kernel.built.symbol)}",
            f"signature = {_text(signature)}",
            f"archs = [{_text(arch)}]",
            "deployed = true",
            "[kernel.launch]",
            f"shape = {_text(shape.name)}",
            f"dims = {{ b = {shape.b}, n = {shape.n}, k = {shape.k} }}",
            f"rows = [{rows}]",
            f"picks = {_text(kernel.picks)}",
            f"grid = {_text(kernel.grid)}",
            f"lds = {kernel.built.lds}",
            f"head_major_out = {str(shape.head_major_out).lower()}",
            f"settings = {_text(json.dumps(settings, sort_keys=True))}",
            f"specialised = {_text(' '.join(kernel.built.specialised))}",
            f"sha256 = {_text(hashlib.sha256(kernel.built.image).hexdigest())}",
        ]
    )


def _text(value: str) -> str:
    # JSON strings are TOML basic strings, but for DEL and lone surrogates, which no name has.
    return json.dumps(value)


def _write(path: Path, data: bytes) -> None:
    """Writes a file so that a reader sees it whole or not at all."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    Path(temporary).chmod(0o644)
    Path(temporary).replace(path)
