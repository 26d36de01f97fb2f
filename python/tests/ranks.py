"""Two ranks of one world group, for SGLang's real `broadcast_pyobj` without torch.

The function is taken from the wheel as it is; torch's tensors and `torch.distributed.broadcast`
are replaced by byte strings that go through a pair of pipes.
"""

from __future__ import annotations

import ast
import os
import pickle
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class _Tensor:
    """Bytes that `broadcast` overwrites in place."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def to(self, device: object) -> _Tensor:
        return self

    def cpu(self) -> _Tensor:
        return self

    def numpy(self) -> bytes:
        return self.data

    def item(self) -> int:
        return struct.unpack("<q", self.data)[0]


def connect(rank: int, read: int, write: int) -> SimpleNamespace:
    """Gives `sglang.srt.utils` its `broadcast_pyobj`; returns the world group of this rank."""
    import sglang.srt.utils

    def broadcast(tensor: _Tensor, src: int, group: object) -> None:
        assert group == "cpu"
        if rank == src:
            os.write(write, struct.pack("<q", len(tensor.data)) + tensor.data)
        else:
            (length,) = struct.unpack("<q", _exactly(read, 8))
            tensor.data = _exactly(read, length)

    torch = SimpleNamespace(
        long=None,
        uint8=None,
        device=lambda name: name,
        cuda=SimpleNamespace(is_available=lambda: False),
        tensor=lambda values, **kwargs: _Tensor(struct.pack("<q", values[0])),
        empty=lambda size, **kwargs: _Tensor(bytes(size)),
        ByteTensor=lambda data: _Tensor(bytes(data)),
    )
    names = {
        "torch": torch,
        "dist": SimpleNamespace(broadcast=broadcast),
        "np": SimpleNamespace(frombuffer=lambda data, dtype: data, uint8=None),
        "pickle": pickle,
        "is_musa": lambda: False,
    }
    sglang.srt.utils.broadcast_pyobj = _function("broadcast_pyobj", names)
    return SimpleNamespace(rank=rank, ranks=[0, 1], world_size=2, cpu_group="cpu")


def _function(name: str, names: dict[str, Any]) -> Any:
    """One function of `sglang/srt/utils/common.py`, without its annotations."""
    import sglang

    source = (Path(sglang.__path__[0]) / "srt/utils/common.py").read_text()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            for argument in node.args.args:
                argument.annotation = None
            exec(compile(ast.Module([node], []), name, "exec"), names)  # noqa: S102
            return names[name]
    raise AssertionError(f"the wheel has no {name}")


def _exactly(descriptor: int, length: int) -> bytes:
    data = b""
    while len(data) < length:
        part = os.read(descriptor, length - len(data))
        assert part, "the other rank is gone"
        data += part
    return data
