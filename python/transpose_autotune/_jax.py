# SPDX-License-Identifier: Apache-2.0
"""JAX: a call that XLA makes in its own stream, so that jax.jit, gradients and asynchronous dispatch work.

XLA calls a function of its C interface (xla/ffi/api/c_api.h in jaxlib's headers), which is a ctypes callback here.
Other versions of the interface than those tested have other structs. With them, JAX's arrays take a slower way."""
import ctypes
import functools
import os
import re
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any, Optional, Sequence, Tuple

import jax
import jax.ffi
import numpy

from . import _cuda
from ._arrays import step_of, type_of_numbers
from ._calls import alignment, plan_for
from ._objects import At, Problem, normalized

TARGET = "transpose_autotune_permute"
VERSIONS = [(0, 2), (0, 3), (0, 4)]  # as tests/python/test_jax.py has seen them: JAX 0.9, 0.10 and 0.11
_METADATA, _INTERNAL = 1, 13    # XLA_FFI_Extension_Metadata, XLA_FFI_Error_Code_INTERNAL
HOST = "cpu"                    # JAX's name of the platform without a GPU


class _Extension(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("type", c_int), ("next", c_void_p)]


class _Version(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("major", c_int), ("minor", c_int)]


class _Metadata(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("version", _Version), ("traits", c_uint32)]


class _MetadataExtension(ctypes.Structure):
    _fields_ = [("base", _Extension), ("metadata", POINTER(_Metadata))]


class _Buffer(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("dtype", c_int), ("data", c_void_p),
                ("rank", c_int64), ("dims", POINTER(c_int64))]


class _Array(ctypes.Structure):
    _fields_ = [("dtype", c_int), ("size", c_size_t), ("data", POINTER(c_int64))]


class _Buffers(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("size", c_int64), ("types", c_void_p),
                ("items", POINTER(POINTER(_Buffer)))]


class _Attributes(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("size", c_int64), ("types", c_void_p),
                ("names", c_void_p), ("items", POINTER(POINTER(_Array)))]


class _ErrorArguments(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("message", c_char_p), ("code", c_int)]


class _StreamArguments(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("context", c_void_p), ("stream", c_void_p)]


class _Api(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("version", _Version), ("internal", c_void_p),
                ("create_error", CFUNCTYPE(c_void_p, POINTER(_ErrorArguments))), ("get_details", c_void_p),
                ("destroy_error", c_void_p), ("register", c_void_p),
                ("get_stream", CFUNCTYPE(c_void_p, POINTER(_StreamArguments)))]


class _CallFrame(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", POINTER(_Extension)), ("api", POINTER(_Api)),
                ("context", c_void_p), ("stage", c_int), ("arguments", _Buffers), ("results", _Buffers),
                ("attributes", _Attributes)]


# ---- what XLA calls ----

def _stream_of(frame: Any) -> int:
    asked = _StreamArguments(ctypes.sizeof(_StreamArguments), None, frame.context, None)
    if frame.api[0].get_stream(ctypes.byref(asked)):
        raise RuntimeError("XLA does not say which stream this is")
    return asked.stream or 0


def _describe(frame: Any) -> None:
    """XLA asks for the version of the interface."""
    version = frame.api[0].version
    metadata = ctypes.cast(frame.extension, POINTER(_MetadataExtension))[0].metadata[0]
    metadata.version.major, metadata.version.minor, metadata.traits = version.major, version.minor, 0


def _execute(frame: Any) -> None:
    source, target = frame.arguments.items[0][0], frame.results.items[0][0]
    itemsize, step, dims = _read_numbers(frame.attributes.items[0][0])
    problem = Problem(tuple(source.dims[:source.rank]), itemsize, dims,
                      align=alignment(source.data | target.data), step=step)
    stream = _stream_of(frame)
    plan = plan_for(problem, _cuda.device_of(source.data), stream)
    if frame.arguments.size > 1:
        plan.execute_with(target.data, source.data, stream, scale=At(frame.arguments.items[1][0].data))
    else:
        plan.execute(target.data, source.data, stream)


# The one attribute of the call: the size of an element, the step's text with its length before it, the axes.

def _write_numbers(itemsize: int, step: Optional[str], dims: Sequence[int]) -> Any:
    letters = (step or "").encode()
    return numpy.array([itemsize, len(letters), *letters, *dims], numpy.int64)


def _read_numbers(given: Any) -> Tuple[int, Optional[str], Tuple[int, ...]]:
    itemsize, length, *rest = given.data[:given.size]
    return itemsize, bytes(rest[:length]).decode() or None, tuple(rest[length:])


def _answer(address: int) -> Optional[int]:
    """The callback: takes a call frame, returns NULL or an error."""
    frame = _CallFrame.from_address(address)
    try:
        if frame.extension and frame.extension[0].type == _METADATA:
            _describe(frame)
        else:
            _execute(frame)
    except Exception as error:
        arguments = _ErrorArguments(ctypes.sizeof(_ErrorArguments), None, str(error).encode(), _INTERNAL)
        made: Optional[int] = frame.api[0].create_error(ctypes.byref(arguments))
        return made
    return None


_callback = CFUNCTYPE(c_void_p, c_void_p)(_answer)  # lives as long as XLA may call it


def _version() -> Tuple[int, int]:
    """Of the interface of this jaxlib."""
    with open(os.path.join(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h"), encoding="utf-8") as file:
        numbers = re.findall(r"#define XLA_FFI_API_M(?:AJ|IN)OR (\d+)", file.read())
    return int(numbers[0]), int(numbers[1])


def register(platform: str) -> bool:
    """Returns whether this JAX and its XLA take the callback."""
    try:
        if _version() not in VERSIONS:
            return False
        jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(_callback), platform=platform)
    except Exception:  # whatever another version of JAX may raise
        return False
    return True


is_registered = register("CUDA")


# ---- what JAX calls ----

def _plainly(x: Any, scale: Any, dims: Tuple[int, ...], dtype: Any) -> Any:
    """The same by JAX alone, but for the rounding."""
    result = jax.numpy.transpose(x, dims)
    return (result if scale is None else result * scale).astype(dtype)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def _linear(x: Any, scale: Any, dims: Tuple[int, ...], dtype: Any) -> Any:
    if x.size == 0 or x.ndim == 0:
        return _plainly(x, scale, dims, dtype)
    result = jax.ShapeDtypeStruct(tuple(x.shape[dim] for dim in dims), dtype)
    numbers = _write_numbers(x.dtype.itemsize, _step(x, dtype, scale), dims)
    return jax.ffi.ffi_call(TARGET, result)(*((x,) if scale is None else (x, scale)), numbers=numbers)


def _step(x: Any, dtype: Any, scale: Any) -> Optional[str]:
    return None if scale is None and dtype == x.dtype else step_of(x.dtype, dtype, "" if scale is None else ",scale")


def _forward(x: Any, scale: Any, dims: Tuple[int, ...], dtype: Any) -> Tuple[Any, Any]:
    return _linear(x, scale, dims, dtype), (x if scale is not None else jax.numpy.zeros(0, x.dtype), scale)


def _backward(dims: Tuple[int, ...], dtype: Any, kept: Any, gradient: Any) -> Tuple[Any, Any]:
    x, scale = kept
    of_x = _linear(gradient, scale, tuple(sorted(range(len(dims)), key=dims.__getitem__)), x.dtype)
    if scale is None:
        return of_x, None
    return of_x, jax.vjp(lambda number: _plainly(x, number, dims, dtype), scale)[1](gradient)[0]


_linear.defvjp(_forward, _backward)
_compiled = jax.jit(_linear, static_argnums=(2, 3))


def permute(x: Any, dims: Sequence[int], dtype: Any = None, scale: Any = None) -> Any:
    """permute of a JAX array, or of a tracer within jax.jit."""
    if not isinstance(x, jax.core.Tracer) and any(device.platform == HOST for device in x.devices()):
        raise TypeError("the array is not in a CUDA device's memory")
    dtype = x.dtype if dtype is None else jax.numpy.dtype(dtype)
    if scale is not None:
        kind = "float64" if type_of_numbers(_step(x, dtype, scale) or "") == "f64" else "float32"
        scale = jax.numpy.asarray(scale, kind).reshape(())
    return _compiled(x, scale, normalized(dims, x.ndim), dtype)
