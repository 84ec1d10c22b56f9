# SPDX-License-Identifier: Apache-2.0
"""Arrays of any kind: what they are, and new ones like them."""
from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Protocol, Sequence, Tuple, TypeVar, Union

from . import _cuda, _dlpack
from ._cuda import HOST

LEGACY_STREAM = 1  # the number of the default stream in both protocols

# Names of types that `autotune` spells otherwise: those of frameworks, and of DLPack (_dlpack.py).
_NAMES = {"float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "float8_e8m0fnu": "e8m0",
          "float4_e2m1fn_x2": "e2m1", "e4m3_1": "e4m3", "e5m2_1": "e5m2",
          "e8m0_1": "e8m0", "bool": "u8", "b1": "u8"}
_LETTERS = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}


class _SpeaksDlpack(Protocol):
    @property
    def __dlpack__(self) -> Any: ...


class _HasInterface(Protocol):
    @property
    def __cuda_array_interface__(self) -> Any: ...


# What calls take, and give back.
Array = TypeVar("Array", bound=Union[_SpeaksDlpack, _HasInterface])


def type_name(kind: Any) -> str:
    """A type as `autotune` spells it. Takes types of frameworks, and what a View has. Others keep their name."""
    name = str(getattr(kind, "name", None) or getattr(kind, "__name__", None) or kind).rpartition(".")[2]
    bits, size = re.fullmatch(r"(b?float|u?int|complex)(\d+)", name), re.fullmatch(r"(bf|[fiuc])(\d+)", name)
    return _NAMES.get(name) or (_LETTERS[bits[1]] + bits[2] if bits else
                                f"{size[1]}{8 * int(size[2])}" if size else name)


def place_of(device: int) -> str:
    return "in host memory" if device == HOST else f"on device {device}"


@dataclass(frozen=True)
class View:
    """An array in a device's memory, or in the host's. Strides are in elements; None: dense."""
    pointer: int
    shape: Tuple[int, ...]
    strides: Optional[Tuple[int, ...]]
    itemsize: int
    device: int
    type: str = ""                  # as in __cuda_array_interface__ without the byte order; "": unknown
    readonly: bool = False
    stream: Optional[int] = None    # the one whose work the array's reader waits for
    keeps: Any = None               # what has to live as long as the view

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def is_dense(self) -> bool:
        return self.has_strides(dense(self.shape))

    def steps(self) -> List[Tuple[int, int]]:
        """Of the axes with several elements: the bytes from one to the next, and how many there are."""
        return [(stride * self.itemsize, extent) for stride, extent
                in zip(self.strides or dense(self.shape), self.shape) if extent > 1]

    def has_strides(self, strides: Sequence[int]) -> bool:
        """Strides of axes with one element do not matter."""
        return all(extent == 1 or found == wanted
                   for extent, found, wanted in zip(self.shape, self.strides or dense(self.shape), strides))


def stream_number(stream: Any) -> int:
    """A stream of any kind: a number, __cuda_stream__, or one of PyTorch, CuPy or Numba."""
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    for name in ("cuda_stream", "ptr", "handle"):
        if hasattr(stream, name):
            number = getattr(stream, name)
            return int(getattr(number, "value", number) or 0)
    raise TypeError(f"{type(stream).__name__} is no stream: neither a number nor one with __cuda_stream__")


def dense(shape: Sequence[int]) -> Tuple[int, ...]:
    """The strides of a dense array."""
    strides, stride = [], 1
    for extent in reversed(shape):
        strides.append(stride)
        stride *= extent
    return tuple(reversed(strides))


def room_of(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from an array's first to its last."""
    return 1 + sum((extent - 1) * abs(stride) for extent, stride in zip(shape, strides))


def _extent(view: View, steps: Sequence[Tuple[int, int]]) -> Tuple[int, int]:
    """Where the elements begin that these steps lead to, and how many bytes they and their gaps have."""
    begin = view.pointer + sum((count - 1) * step for step, count in steps if step < 0)
    return begin, view.itemsize + sum((count - 1) * abs(step) for step, count in steps)


def overlap(one: View, other: View) -> bool:
    """Do they share memory? False where one ends before the other begins, and where they interleave: modulo a stride
    that all larger ones are multiples of, their inner axes are apart. Rarer ways to interleave count as an overlap."""
    if not one.size or not other.size:
        return False
    steps = one.steps(), other.steps()
    (begin, size), (begin2, size2) = _extent(one, steps[0]), _extent(other, steps[1])
    if begin + size <= begin2 or begin2 + size2 <= begin:
        return False
    for period in {abs(step) for step, _ in (*steps[0], *steps[1]) if step}:
        (begin, size), (begin2, size2) = (_extent(view, [step for step in its if step[0] % period])
                                          for view, its in zip((one, other), steps))
        if size <= (begin2 - begin) % period <= period - size2:
            return False
    return True


def view_interface(x: Any) -> View:
    """__cuda_array_interface__
    (https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html)"""
    given = x.__cuda_array_interface__
    (pointer, readonly), shape, kind = given["data"], tuple(given["shape"]), given["typestr"]
    itemsize, strides = int(kind[2:]), given.get("strides")
    if given.get("mask") is not None:
        raise TypeError("arrays with a mask are not supported")
    if strides is not None:
        if any(stride % itemsize for stride in strides):
            raise TypeError("strides have to be multiples of an element")
        strides = tuple(stride // itemsize for stride in strides)
    device = _cuda.device_of(pointer) if pointer else 0
    return View(pointer or 0, shape, strides, itemsize, device, kind[1:], bool(readonly), given.get("stream"))


def view_dlpack(x: Any, stream: int) -> View:
    """`stream` is where the array will be read: what made the array comes before."""
    kind, _ = x.__dlpack_device__()
    if int(kind) not in (_dlpack.CUDA, _dlpack.CUDA_MANAGED):
        raise TypeError(f"the array is not in a CUDA device's memory (DLPack's device type {int(kind)})")
    capsule = x.__dlpack__(stream=stream or LEGACY_STREAM)
    return View(*_dlpack.read(capsule), keeps=capsule)


class Kind:
    """Arrays of unknown origin. They need `out`, unless they name a namespace of the array API."""

    def view(self, x: Any, stream: Optional[int]) -> View:
        if hasattr(x, "__cuda_array_interface__"):
            return view_interface(x)
        if hasattr(x, "__dlpack__"):
            return view_dlpack(x, stream or 0)
        raise TypeError(f"{type(x).__name__} has neither __dlpack__ nor __cuda_array_interface__")

    def stream(self, view: View) -> int:
        """The current stream."""
        return view.stream or 0

    def empty(self, x: Any, shape: Tuple[int, ...], dtype: Any, stream: Optional[int],
              strides: Optional[Sequence[int]] = None) -> Any:
        """A new array like x, of this type. Strides are in elements; None: dense."""
        if not hasattr(x, "__array_namespace__") or strides:
            raise TypeError(f"cannot make an array of type {type(x).__name__}{' with gaps' if strides else ''}: give "
                            "`out`")
        namespace = x.__array_namespace__()
        if isinstance(dtype, str):
            dtype = getattr(namespace, dtype, dtype)
        return namespace.empty(shape, dtype=dtype, device=x.device)

    def finish(self, stream: int) -> None:
        """Called when the work is in the stream."""

    def key(self, x: Any, dims: Optional[Tuple[int, ...]]) -> Any:
        """Arrays with this key take the same plan to a new array in the current stream; None: that is not known."""
        return None

    def run(self, x: Any, plan: Any, shape: Tuple[int, ...]) -> Any:
        """Execute the plan into a new array."""
        raise NotImplementedError


class CuPy(Kind):
    def key(self, x: Any, dims: Optional[Tuple[int, ...]]) -> Any:
        data = x.data
        if data.device_id != sys.modules["cupy"].cuda.runtime.getDevice():
            return None
        return x.shape, x.strides, x.dtype, dims, data.device_id, data.ptr & 15

    def run(self, x: Any, plan: Any, shape: Tuple[int, ...]) -> Any:
        cupy = sys.modules["cupy"]
        result = cupy.ndarray(shape, x.dtype)
        plan.execute(result.data.ptr, x.data.ptr, cupy.cuda.get_current_stream().ptr)
        return result

    def view(self, x: Any, stream: Optional[int]) -> View:
        if any(stride % x.itemsize for stride in x.strides):
            raise TypeError("strides have to be multiples of an element")
        strides = tuple(stride // x.itemsize for stride in x.strides)
        return View(x.data.ptr, x.shape, strides, x.itemsize, x.device.id, x.dtype.str[1:])

    def stream(self, view: View) -> int:
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)

    def empty(self, x: Any, shape: Tuple[int, ...], dtype: Any, stream: Optional[int],
              strides: Optional[Sequence[int]] = None) -> Any:
        cupy = sys.modules["cupy"]
        if stream is not None:
            with cupy.cuda.ExternalStream(stream):  # the memory pool knows by this when it may be used again
                return self.empty(x, shape, dtype, None, strides)
        if strides is None:
            return cupy.empty(shape, dtype)
        room = cupy.empty(room_of(shape, strides), dtype)
        return cupy.ndarray(shape, dtype, room.data, tuple(stride * room.itemsize for stride in strides))


class Numba(Kind):
    def empty(self, x: Any, shape: Tuple[int, ...], dtype: Any, stream: Optional[int],
              strides: Optional[Sequence[int]] = None) -> Any:
        size = sys.modules["numpy"].dtype(dtype).itemsize
        in_bytes = None if strides is None else tuple(stride * size for stride in strides)
        return sys.modules["numba.cuda"].device_array(shape, dtype, in_bytes)


class Jax(Kind):
    """Where XLA does not take the callback of _jax.py. All is awaited, before and after, because JAX shows no
    streams."""

    def view(self, x: Any, stream: Optional[int]) -> View:
        jax = sys.modules["jax"]
        if isinstance(x, jax.core.Tracer):
            raise TypeError("within jax.jit there are no arrays: call this outside")
        x.block_until_ready()
        return View(*_dlpack.read(x.__dlpack__()))

    def empty(self, x: Any, shape: Tuple[int, ...], dtype: Any, stream: Optional[int],
              strides: Optional[Sequence[int]] = None) -> Any:
        jax = sys.modules["jax"]
        assert strides is None  # JAX's arrays are dense
        if not hasattr(jax.lax, "empty"):  # which, unlike jax.numpy.empty, fills nothing
            return jax.numpy.empty(shape, dtype, device=x.sharding)
        with jax.default_device(x.device):
            return jax.lax.empty(shape, dtype)

    def finish(self, stream: int) -> None:
        _cuda.synchronize(stream)


class NumPy(Kind):
    def view(self, x: Any, stream: Optional[int]) -> View:
        if any(stride % x.itemsize for stride in x.strides):
            raise TypeError("strides have to be multiples of an element")
        pointer, readonly = x.__array_interface__["data"]
        strides = tuple(stride // x.itemsize for stride in x.strides)
        return View(pointer, x.shape, strides, x.itemsize, HOST, x.dtype.str[1:], readonly)

    def empty(self, x: Any, shape: Tuple[int, ...], dtype: Any, stream: Optional[int],
              strides: Optional[Sequence[int]] = None) -> Any:
        assert strides is None  # for results as they lie, which need a GPU
        return sys.modules["numpy"].empty(shape, dtype)


class PyTorch(Kind):
    """Beside arrays of other kinds, and in transpose_. Otherwise _torch.py has them."""

    def view(self, x: Any, stream: Optional[int]) -> View:
        from . import _torch
        return _torch._view(x)


# By the first part of the type's module.
KINDS: Dict[str, Kind] = {"cupy": CuPy(), "numba": Numba(), "numba_cuda": Numba(), "jax": Jax(), "jaxlib": Jax(),
                          "numpy": NumPy(), "torch": PyTorch()}
_OTHER = Kind()


def kind_of(x: Any) -> Kind:
    for base in type(x).__mro__:
        kind = KINDS.get(base.__module__.partition(".")[0])
        if kind:
            return kind
    return _OTHER
