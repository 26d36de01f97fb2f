"""A stand-in for torch that knows shapes, strides and element types, and no values.

It has what AITER's wrappers use between their arguments and the kernel launch. Whatever else they
import from torch resolves to an inert object, and fails only when its value is needed.
"""

import importlib
import re
import sys
import types

_NEXT_ADDRESS = [1 << 32]
_ALIGN = 1 << 12


class Dtype:
    """An element type."""

    def __init__(self, name, itemsize, floating, largest=None):
        self.name, self.itemsize, self.is_floating_point, self.largest = name, itemsize, floating, largest
        self.is_complex = False

    def __repr__(self):
        return f"torch.{self.name}"

    __str__ = __repr__


DTYPES = {
    d.name: d
    for d in [
        Dtype("float64", 8, True, 1.7976931348623157e308),
        Dtype("float32", 4, True, 3.4028234663852886e38),
        Dtype("float16", 2, True, 65504.0),
        Dtype("bfloat16", 2, True, 3.3895313892515355e38),
        Dtype("float8_e4m3fn", 1, True, 448.0),
        Dtype("float8_e4m3fnuz", 1, True, 240.0),
        Dtype("float8_e5m2", 1, True, 57344.0),
        Dtype("float8_e5m2fnuz", 1, True, 57344.0),
        Dtype("float8_e8m0fnu", 1, True),
        Dtype("float4_e2m1fn_x2", 1, True, 6.0),
        Dtype("int64", 8, False, (1 << 63) - 1),
        Dtype("int32", 4, False, (1 << 31) - 1),
        Dtype("int16", 2, False, (1 << 15) - 1),
        Dtype("int8", 1, False, 127),
        Dtype("uint8", 1, False, 255),
        Dtype("uint16", 2, False, (1 << 16) - 1),
        Dtype("uint32", 4, False, (1 << 32) - 1),
        Dtype("bool", 1, False, 1),
    ]
}
_ALIASES = {"float": "float32", "half": "float16", "double": "float64", "int": "int32", "long": "int64"}


class Storage:
    """Device memory behind tensors: an address, a size, and integers to start with if they matter."""

    def __init__(self, nbytes, values=None):
        self.nbytes_, self.values = nbytes, values
        self.address = _NEXT_ADDRESS[0]
        _NEXT_ADDRESS[0] += (nbytes + 2 * _ALIGN) // _ALIGN * _ALIGN

    def size(self):
        return self.nbytes_

    nbytes = size

    def data_ptr(self):
        return self.address


class Device:
    """The device of every tensor."""

    type, index = "cuda", 0

    def __init__(self, *_):
        pass

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


def _contiguous(shape):
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def _product(shape):
    result = 1
    for n in shape:
        result *= n
    return result


class Size(tuple):
    """A shape."""

    def numel(self):
        return _product(self)


class Tensor:
    """A view of a storage."""

    is_cuda = True
    requires_grad = False
    grad = None
    is_sparse = False

    def __init__(self, shape, dtype, strides=None, storage=None, offset=0, values=None):
        self.shape = Size(int(n) for n in shape)
        self.dtype = dtype
        self._strides = tuple(strides) if strides is not None else _contiguous(self.shape)
        self._storage = storage or Storage(_product(self.shape) * dtype.itemsize, values)
        self._offset = offset
        self.device = Device()

    def _view(self, shape, strides, offset=0, dtype=None):
        return Tensor(shape, dtype or self.dtype, strides, self._storage, self._offset + offset)

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def stride(self, dim=None):
        return self._strides if dim is None else self._strides[dim]

    def dim(self):
        return len(self.shape)

    @property
    def ndim(self):
        return len(self.shape)

    def numel(self):
        return _product(self.shape)

    nelement = numel

    def element_size(self):
        return self.dtype.itemsize

    def __len__(self):
        return self.shape[0]

    def data_ptr(self):
        return self._storage.address + self._offset

    def untyped_storage(self):
        return self._storage

    def is_floating_point(self):
        return self.dtype.is_floating_point

    def is_contiguous(self, *_, **__):
        dense = [(n, s) for n, s in zip(self.shape, self._strides) if n != 1]
        wanted = _contiguous([n for n, _ in dense])
        return all(s == w for (_, s), w in zip(dense, wanted))

    def contiguous(self, *_, **__):
        return self if self.is_contiguous() else Tensor(self.shape, self.dtype)

    def clone(self, *_, **__):
        return Tensor(self.shape, self.dtype)

    def detach(self):
        return self

    def transpose(self, a, b):
        shape, strides = list(self.shape), list(self._strides)
        shape[a], shape[b] = shape[b], shape[a]
        strides[a], strides[b] = strides[b], strides[a]
        return self._view(shape, strides)

    def permute(self, *dims):
        dims = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
        return self._view([self.shape[d] for d in dims], [self._strides[d] for d in dims])

    def t(self):
        return self.transpose(0, 1)

    T = property(t)
    mT = property(lambda self: self.transpose(-2, -1))

    def view(self, *shape):
        if any(isinstance(part, Inert) for part in shape):
            # An element type of AITER's own, for the caller of the wrapper.
            return self
        if len(shape) == 1 and isinstance(shape[0], Dtype):
            dtype = shape[0]
            if dtype.itemsize != self.dtype.itemsize:
                raise NotImplementedError("view as an element type of another size")
            return self._view(self.shape, self._strides, dtype=dtype)
        shape = list(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else list(shape)
        if -1 in shape:
            known = _product(n for n in shape if n != -1)
            shape[shape.index(-1)] = self.numel() // max(known, 1)
        if _product(shape) != self.numel():
            raise ValueError(f"{tuple(self.shape)} cannot be seen as {tuple(shape)}")
        if not self.is_contiguous():
            return Tensor(shape, self.dtype)
        return self._view(shape, _contiguous(shape))

    reshape = view

    def view_as(self, other):
        return self.view(other.shape)

    def flatten(self, *_):
        return self.view(-1)

    def unsqueeze(self, dim):
        dim = dim if dim >= 0 else dim + self.dim() + 1
        shape, strides = list(self.shape), list(self._strides)
        step = shape[dim] * strides[dim] if dim < len(shape) else 1
        shape.insert(dim, 1)
        strides.insert(dim, step)
        return self._view(shape, strides)

    def squeeze(self, dim=None):
        keep = [i for i, n in enumerate(self.shape) if not (n == 1 and dim in (None, i, i - self.dim()))]
        return self._view([self.shape[i] for i in keep], [self._strides[i] for i in keep])

    def expand(self, *shape):
        strides = [0 if n == 1 != m else s for n, m, s in zip(self.shape, shape, self._strides)]
        return self._view([n if m == -1 else m for n, m in zip(self.shape, shape)], strides)

    def to(self, *args, **kwargs):
        wanted = [a for a in (*args, *kwargs.values()) if isinstance(a, Dtype)]
        same = not wanted or wanted[0] is self.dtype
        return self if same else Tensor(self.shape, wanted[0])

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        shape, strides, offset, dim = [], [], 0, 0
        for i in index:
            if isinstance(i, int):
                offset += (i % self.shape[dim]) * self._strides[dim]
            elif isinstance(i, slice):
                start, stop, step = i.indices(self.shape[dim])
                offset += start * self._strides[dim]
                shape.append(max(0, (stop - start + step - 1) // step))
                strides.append(self._strides[dim] * step)
            else:
                raise NotImplementedError("a tensor indexed by values")
            dim += 1
        shape += self.shape[dim:]
        strides += self._strides[dim:]
        return self._view(shape, strides, offset * self.dtype.itemsize)

    def _same(self, *_, **__):
        return self

    zero_ = fill_ = copy_ = cuda = _same

    def new_empty(self, *shape, dtype=None, **_):
        return _empty(*shape, dtype=dtype or self.dtype)

    new_zeros = new_empty


def _shape(args):
    return list(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else list(args)


def _empty(*shape, dtype=None, **_):
    return Tensor(_shape(shape), dtype or DTYPES["float32"])


def _empty_like(tensor, dtype=None, **_):
    return Tensor(tensor.shape, dtype or tensor.dtype)


def _full(shape, _value, dtype=None, **_):
    return Tensor(shape, dtype or DTYPES["float32"])


def _arange(end, *_, dtype=None, **__):
    return Tensor([end], dtype or DTYPES["int64"], values=list(range(end)))


class _Limits:
    def __init__(self, dtype):
        if dtype.largest is None:
            raise NotImplementedError(f"limits of {dtype}")
        self.max = dtype.largest
        self.min = -dtype.largest if dtype.is_floating_point else -dtype.largest - 1


class Inert:
    """Something that is imported, decorated with or subclassed, but whose value never matters."""

    def __init__(self, *_, **__):
        pass

    def __call__(self, *args, **kwargs):
        # As a decorator it leaves its function alone.
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Inert()

    def __getitem__(self, _):
        return self

    def __or__(self, _):
        return self

    __ror__ = __or__

    def __mro_entries__(self, _):
        return (object,)

    def __bool__(self):
        return False


class InertModule(types.ModuleType):
    """A module all of whose contents are inert."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Inert()


class _Function:
    """An autograd function, forward only."""

    @classmethod
    def apply(cls, *args):
        return cls.forward(Inert(), *args)


class _Version(tuple):
    """Enough of `packaging.version.Version` to compare releases."""

    def __new__(cls, text):
        return super().__new__(cls, (int(n) for n in re.findall(r"\d+", text)[:3]))


def install():
    """Makes `import torch` give the stand-in; returns it."""
    torch = InertModule("torch")
    for name, dtype in DTYPES.items():
        setattr(torch, name, dtype)
    for name, target in _ALIASES.items():
        setattr(torch, name, DTYPES[target])
    torch.__version__ = "2.8.0"
    torch.Tensor, torch.dtype, torch.device, torch.Size = Tensor, Dtype, Device, Size
    torch.empty = torch.zeros = torch.ones = _empty
    torch.empty_like = torch.zeros_like = torch.ones_like = _empty_like
    torch.full, torch.arange = _full, _arange
    torch.finfo = torch.iinfo = _Limits
    torch.autograd = InertModule("torch.autograd")
    torch.autograd.Function = _Function
    torch.is_floating_point = lambda t: t.dtype.is_floating_point
    torch.transpose = lambda t, a, b: t.transpose(a, b)
    sys.modules["torch"] = torch
    try:
        importlib.import_module("packaging.version")
    except ImportError:
        version = types.ModuleType("packaging.version")
        version.Version, version.parse = _Version, _Version
        sys.modules["packaging"] = types.ModuleType("packaging")
        sys.modules["packaging.version"] = sys.modules["packaging"].version = version
    return torch
