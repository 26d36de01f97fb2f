"""Compiles one kernel for one tile, specialised as a launch by the server would be.

Triton compiles again for every kind of argument: integers that are 1 become constants, integers
and pointers that are multiples of 16 are known to be, and tensors below 2 GiB get 32-bit offsets.
`compile_kernel` does the same from the values that a launch would have.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from .problem import ExportError
from .source import Source


@dataclass(frozen=True)
class Parameter:
    """A runtime argument: its name in the manifest, type for Triton and value at a launch."""

    name: str
    type: str
    """Such as `*bf16` or `i32`."""
    value: int | None = None
    """Of an integer; None for a pointer."""


@dataclass(frozen=True)
class Built:
    """A compiled kernel."""

    image: bytes
    symbol: str
    warps: int
    lds: int
    """Dynamic LDS of a launch, bytes."""
    arguments: tuple[tuple[str, str], ...]
    """Name and type for the manifest, in the order of the kernel."""
    specialised: tuple[str, ...]
    """What Triton was told of the arguments."""


def compile_kernel(
    source: Source,
    arch: str,
    parameters: dict[str, Parameter | None],
    constants: dict[str, Any],
    options: dict[str, Any],
) -> Built:
    """Compiles a kernel. `parameters` are its arguments by the kernel's own names (None: absent)."""
    import triton
    from triton.backends.amd.compiler import HIPOptions
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    known = {each.name for each in dataclasses.fields(HIPOptions)}
    foreign = sorted(set(options) - known)
    if foreign:
        raise ExportError(
            f"triton {triton.__version__} knows no option {', '.join(foreign)} "
            f"(nor is it a parameter of {source.name})"
        )
    signature: dict[str, str] = {}
    fixed: dict[Any, Any] = {}
    attributes: dict[tuple[int], list[list[Any]]] = {}
    arguments: list[tuple[str, str]] = []
    said: list[str] = []
    for index, each in enumerate(source.fn.params):
        name = each.name
        if name in constants:
            signature[name] = "constexpr"
            fixed[name] = constants[name]
            continue
        if name not in parameters:
            raise ExportError(f"{source.file}: parameter {name} of {source.name} is not known")
        given = parameters[name]
        if given is None or (given.value == 1 and not each.do_not_specialize):
            signature[name] = "constexpr"
            fixed[name] = None if given is None else 1
            said.append(f"{name}={fixed[name]}")
            continue
        signature[name] = given.type
        arguments.append((given.name, _manifest_type(given.type)))
        facts = _facts(each, given)
        if facts:
            attributes[index,] = facts
            said.append(f"{name}%16" if len(facts) == 1 else f"{name}%16<2GiB")
    compiled = triton.compile(
        ASTSource(source.fn, signature, fixed, attributes),
        target=GPUTarget("hip", arch, 64),
        options=options,
    )
    metadata = compiled.metadata
    # Triton appends pointers to its global scratch and profile scratch, unused and null here.
    arguments += [("scratch", "ptr"), ("profile_scratch", "ptr")]
    for unused in ("global_scratch_size", "profile_scratch_size"):
        if getattr(metadata, unused, 0):
            raise ExportError(f"{source.name} wants {unused} of {getattr(metadata, unused)} bytes")
    return Built(
        compiled.asm["hsaco"],
        metadata.name,
        metadata.num_warps,
        metadata.shared,
        tuple(arguments),
        tuple(said),
    )


def _facts(each: Any, given: Parameter) -> list[list[Any]]:
    if given.value is None:
        return [["tt.divisibility", 16], ["tt.pointer_range", 32]]
    free = each.do_not_specialize or each.do_not_specialize_on_alignment
    return [["tt.divisibility", 16]] if given.value % 16 == 0 and not free else []


def _manifest_type(kind: str) -> str:
    if kind.startswith("*"):
        return "ptr"
    if kind in ("i32", "i64", "u32", "u64"):
        return kind
    raise ExportError(f"arguments of type {kind} have no place in a manifest")
