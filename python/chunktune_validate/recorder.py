"""Records what `kernel[grid](...)` would launch, and compiles it for a GPU that is not there.

Arguments are specialised exactly as Triton does it for a real launch: the same binder, the same
options, the same target. The hook sits where Triton's JIT would ask the driver for a device.
"""

import dataclasses
import hashlib

import triton
from triton._utils import find_paths_if, get_iterable_path
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend
from triton.runtime import driver, jit

from chunktune_validate.shapes import Tensor

_SCALARS = {
    "i1": ("i8", int), "i8": ("i8", int), "i16": ("i16", int), "i32": ("i32", int), "i64": ("i64", int),
    "u1": ("i8", int), "u8": ("i8", int), "u16": ("i16", int), "u32": ("i32", int), "u64": ("i64", int),
    "fp32": ("f32", float), "fp64": ("f64", float),
}


# What Triton's launch adds to the caller's options, where a version knows them.
_LAUNCH_OPTIONS = {"debug": False, "instrumentation_mode": "", "fpsan_homomorphic_casts": False}


class _Driver:
    """A driver that only knows its target."""

    def __init__(self, target):
        self.target = target

    def get_current_target(self):
        return self.target

    def get_current_device(self):
        return 0

    def get_current_stream(self, _device):
        return 0

    def get_device_interface(self):
        raise RuntimeError("there is no device")

    def is_active(self):
        return True


class Recorder:
    """Takes the place of kernel launches while it is installed."""

    def __init__(self, arch, folder):
        self.target = GPUTarget("hip", arch, 64)
        self.backend = make_backend(self.target)
        self.folder = folder
        self.launches, self.buffers = [], []
        self._storages, self._binders, self._compiled = {}, {}, {}

    def install(self):
        """Replaces Triton's launch with the recording."""
        driver.set_active(_Driver(self.target))
        recorder = self

        def run(kernel, *args, grid, warmup, **kwargs):
            recorder.record(kernel, grid, args, kwargs)

        jit.JITFunction.run = run

    def take(self):
        """What was launched since the last call: launches and the buffers they use."""
        taken = self.launches, self.buffers
        self.launches, self.buffers, self._storages = [], [], {}
        return taken

    def record(self, kernel, grid, args, kwargs):
        """Notes one launch and compiles its kernel unless that has been done."""
        known = {field.name for field in dataclasses.fields(self.backend.parse_options({}))}
        kwargs = {name: value for name, value in _LAUNCH_OPTIONS.items() if name in known} | kwargs
        if kernel not in self._binders:
            self._binders[kernel] = jit.create_function_from_signature(
                kernel.signature, kernel.params, self.backend
            )
        bound, specialization, options = self._binders[kernel](*args, **kwargs)
        options = self.backend.parse_options(kwargs)
        signature, constexprs, attrs = self._source(kernel, bound, specialization)
        key = (kernel, str(signature), str(constexprs), str(attrs), str(options))
        if key not in self._compiled:
            self._compiled[key] = self._compile(kernel, signature, constexprs, attrs, options)
        code = self._compiled[key]
        grid = grid(bound) if callable(grid) else grid
        grid = [int(n) for n in grid] + [1] * (3 - len(grid))
        types = [(name, ty) for name, ty in signature.items() if ty != "constexpr"]
        arguments = [self._argument(ty, bound[name]) for name, ty in types]
        # Global and profiler scratch, which these kernels do not use.
        arguments += [{"null": True}, {"null": True}]
        self.launches.append({**code, "grid": grid, "arguments": arguments})

    def _source(self, kernel, bound, specialization):
        """Types, constants and attributes of the arguments."""
        types = [entry[0] for entry in specialization]
        signature = dict(zip([param.name for param in kernel.params], types))
        values = list(bound.values())
        constants = find_paths_if(types, lambda _, ty: ty == "constexpr")
        constexprs = {path: get_iterable_path(values, path) for path in constants}
        described = ["" if entry[0] == "constexpr" else entry[1] for entry in specialization]
        paths = find_paths_if(described, lambda _, text: isinstance(text, str))
        attrs = {path: self.backend.parse_attr(get_iterable_path(described, path)) for path in paths}
        return signature, constexprs, attrs

    def _compile(self, kernel, signature, constexprs, attrs, options):
        source = ASTSource(kernel, signature, constexprs, attrs)
        compiled = triton.compile(source, target=self.target, options=options.__dict__)
        image = compiled.asm["hsaco"]
        name = f"{hashlib.sha256(image).hexdigest()[:16]}.hsaco"
        (self.folder / name).write_bytes(image)
        meta = compiled.metadata
        return {
            "object": name,
            "kernel": meta.name,
            "block": [meta.num_warps * meta.warp_size, 1, 1],
            "shared": meta.shared,
        }

    def _argument(self, ty, value):
        if ty.startswith("*"):
            return {"null": True} if value is None else self._pointer(value)
        name, cast = _SCALARS[ty]
        return {name: cast(value)}

    def _pointer(self, tensor: Tensor):
        storage = tensor.untyped_storage()
        if storage not in self._storages:
            self._storages[storage] = len(self.buffers)
            buffer = {"bytes": storage.size()}
            if storage.values is not None:
                buffer["i32"] = storage.values
            self.buffers.append(buffer)
        return {"buffer": self._storages[storage], "offset": tensor.data_ptr() - storage.address}
