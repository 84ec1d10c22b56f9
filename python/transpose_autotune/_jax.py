# SPDX-License-Identifier: Apache-2.0
"""JAX: a call that XLA makes in its own stream, so that jax.jit, gradients and asynchronous dispatch work.

XLA calls a function of its C interface (xla/ffi/api/c_api.h in jaxlib's headers), which is a ctypes callback here.
Other versions of the interface than those tested have other structs. With them, JAX's arrays take a slower way."""
import ctypes
import functools
import os
import re
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any, Dict, Optional, Sequence, Tuple

import jax
import jax.ffi
import numpy
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _cuda, _host
from ._arrays import View
from ._calls import execute, plan_for, problem_of
from ._objects import At, normalized
from ._operands import Expected, Operands, computed_in, expected_operands, step_of

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


def _view(buffer: Any, itemsize: int) -> View:
    return View(buffer.data, tuple(buffer.dims[:buffer.rank]), None, itemsize, 0)


def _execute(frame: Any) -> None:
    source, *others = (frame.arguments.items[i][0] for i in range(frame.arguments.size))
    target, *outputs = (frame.results.items[i][0] for i in range(frame.results.size))
    itemsize, step, names, dims = _read_numbers(frame.attributes.items[0][0])
    stream = _stream_of(frame)
    places = {name: At(buffer.data) for name, buffer in zip(names, (*others, *outputs))}
    problem = problem_of(_view(source, itemsize), _view(target, itemsize), dims, step, places.get("dst2", 0))
    execute(plan_for(problem, _cuda.device_of(source.data), stream), target.data, source.data, stream, places)


# The one attribute of the call: the size of an element, which buffers there are after source and destination (bits),
# the step's text with its length before it, the axes.

# Operands, then further results: sums are a result where they are asked for.
_BUFFERS = (*(name for name in Operands._fields if name != "sums"),
            "dst2", "largest", "block_scales", "block_scales2", "sums")


def _write_numbers(itemsize: int, step: Optional[str], names: Sequence[str], dims: Sequence[int]) -> Any:
    letters, bits = (step or "").encode(), sum(1 << _BUFFERS.index(name) for name in names)
    return numpy.array([itemsize, bits, len(letters), *letters, *dims], numpy.int64)


def _read_numbers(given: Any) -> Tuple[int, Optional[str], Sequence[str], Tuple[int, ...]]:
    itemsize, bits, length, *rest = given.data[:given.size]
    names = [name for i, name in enumerate(_BUFFERS) if bits >> i & 1]
    return itemsize, bytes(rest[:length]).decode() or None, names, tuple(rest[length:])


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


# ---- what JAX calls: moves ----

# A permutation is linear, and so is its transpose. What JAX has to know of it are an operation and its rules. On other
# platforms than CUDA, as on a host where a program is tested, it is JAX's own transpose.

move = Primitive("transpose_autotune_move")


def _inverse(dims: Sequence[int]) -> Tuple[int, ...]:
    return tuple(sorted(range(len(dims)), key=dims.__getitem__))


def _move_batch(arrays: Any, axes: Any, *, permutation: Tuple[int, ...]) -> Tuple[Any, int]:
    """The batch becomes the first axis of the result."""
    (x,), (axis,) = arrays, axes
    return move.bind(x, permutation=(axis, *(dim + (dim >= axis) for dim in permutation))), 0


def _move_by_call(x: Any, *, permutation: Tuple[int, ...]) -> Any:
    shape = tuple(x.shape[dim] for dim in permutation)
    if x.size == 0:
        return jax.numpy.zeros(shape, x.dtype)
    call = jax.ffi.ffi_call(TARGET, jax.ShapeDtypeStruct(shape, x.dtype))
    return call(x, numbers=_write_numbers(x.dtype.itemsize, None, (), permutation))


def _move_plainly(x: Any, *, permutation: Tuple[int, ...]) -> Any:
    return jax.numpy.transpose(x, permutation)


lower_call, lower_plainly = (mlir.lower_fun(function, multiple_results=False)
                             for function in (_move_by_call, _move_plainly))
_compiled_move = jax.jit(lambda x, permutation: move.bind(x, permutation=permutation), static_argnums=1)

move.def_impl(lambda x, *, permutation: _compiled_move(x, permutation))
move.def_effectful_abstract_eval(jax.lax.transpose_p.abstract_eval)
ad.deflinear2(move, lambda gradient, _, *, permutation: [move.bind(gradient, permutation=_inverse(permutation))])
batching.primitive_batchers[move] = _move_batch
mlir.register_lowering(move, lower_plainly)
mlir.register_lowering(move, lower_call, platform="cuda")


# ---- what JAX calls: steps ----

# Operands are in a dictionary, whose values JAX traces, and whose keys it keeps as constants.

def _dtype(name: str) -> Any:
    """A type to compute in, as `autotune` spells it."""
    return numpy.dtype({"f": "float", "c": "complex"}[name[0]] + name[1:])


def _named(name: str) -> Any:
    """JAX's type of this name; bytes, where it lacks the type of scales."""
    return numpy.dtype(getattr(jax.numpy, name, numpy.uint8))


def _view_of(shape: Tuple[int, ...], dtype: Any) -> View:
    """What is known of an array while a function is traced."""
    return View(0, shape, None, dtype.itemsize, 0, dtype.name)


def _read_operand(name: str, value: Any, expected: Expected) -> Any:
    """An operand as the kernel reads it: an array of a fixed type and shape."""
    array = jax.numpy.asarray(value)
    if name != "other":
        dtype = _dtype(expected.type)
        if jax.numpy.iscomplexobj(array) and dtype.kind != "c":
            raise TypeError(f"{name} has an imaginary part, and the step takes a real number")
        array = array.astype(dtype)
    expected.check(name, _view_of(array.shape, array.dtype), 0)
    return array.reshape(expected.shape)


def _plainly(x: Any, operands: Dict[str, Any], dims: Tuple[int, ...], dtype: Any, axis: int) -> Any:
    """What _compute does, by JAX alone and without its roundings: of this, JAX knows the gradients."""
    wide, of_axis = _dtype(computed_in(x.dtype, dtype)), [-1 if i == axis else 1 for i in range(x.ndim)]
    result = x.astype(wide)
    for name in "scale", "alpha":
        result = result * operands.get(name, 1)
    if "channel_scale" in operands:
        result = result * operands["channel_scale"].reshape(of_axis)
    if "channel_shift" in operands:
        result = result + operands["channel_shift"].reshape(of_axis)
    result = result.transpose(dims)
    if "other" in operands:
        result = result + operands["beta"] * operands["other"].astype(wide)
    return result.astype(dtype)


# What is asked of a call is in Operands too, without the operands' values. It is a constant, with the result's type.

@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def _compute(x: Any, operands: Dict[str, Any], dims: Tuple[int, ...], asked: Operands) -> Any:
    """The call. Returns all results."""
    shapes = asked.shapes([x.shape[dim] for dim in dims], x.shape)
    results = {name: jax.ShapeDtypeStruct(tuple(shapes[name]), dtype)
               for name, dtype in asked.results(x.dtype, _named).items()}
    if x.size == 0:
        return tuple(jax.numpy.zeros(result.shape, result.dtype) for result in results.values())
    names = [name for name in _BUFFERS if name in operands or name in results]
    step = step_of(x.dtype, asked.dtype, asked._replace(**operands), x.ndim)
    call = jax.ffi.ffi_call(TARGET, tuple(results.values()), vmap_method="sequential")
    return tuple(call(x, *(operands[name] for name in names if name in operands),
                      numbers=_write_numbers(x.dtype.itemsize, step, names, dims)))


def _forward(x: Any, operands: Dict[str, Any], dims: Tuple[int, ...], asked: Operands) -> Tuple[Any, Any]:
    """Without operands, and for blocks, the gradient needs no more of x than its shape."""
    kept = x if operands and asked.blocks is None else jax.numpy.zeros((0, *x.shape), x.dtype)
    return _compute(x, operands, dims, asked), (kept, operands)


def _backward(dims: Tuple[int, ...], asked: Operands, kept: Any, gradients: Any) -> Tuple[Any, Any]:
    """Only the first result has a gradient."""
    x, operands = kept
    of_x, of_operands, axis, gradient = None, {}, asked.channel_axis, gradients[0]
    if asked.blocks is not None:
        return jax.numpy.zeros(x.shape[1:], x.dtype), jax.tree.map(jax.numpy.zeros_like, operands)
    if jax.numpy.issubdtype(x.dtype, jax.numpy.inexact):  # integers have no gradient
        factors = {name: operands[name] for name in ("scale", "alpha", "channel_scale") if name in operands}
        back = Operands(dtype=x.dtype, channel_axis=dims.index(axis) if dims else 0)
        of_x = _compute(gradient, factors, _inverse(dims), back)[0]
    if operands:
        of_operands = jax.vjp(lambda given: _plainly(x, given, dims, asked.dtype, axis), operands)[1](gradient)[0]
    return of_x, of_operands


_compute.defvjp(_forward, _backward)
_compiled = jax.jit(_compute, static_argnums=(2, 3))


def is_on_host(x: Any) -> bool:
    return not isinstance(x, jax.core.Tracer) and any(device.platform == HOST for device in x.devices())


def permute(x: Any, dims: Sequence[int], given: Operands) -> Any:
    """permute of a JAX array, or of a tracer within jax.jit."""
    permutation, dtype = normalized(dims, x.ndim), x.dtype if given.dtype is None else jax.numpy.dtype(given.dtype)
    if given.is_move:
        return _compiled_move(x, permutation)
    if is_on_host(x):
        _host.check(None, given)
    given.operations(x.ndim)  # checks the axis of the channels
    given.check_blocks(permutation)
    shape = tuple(x.shape[dim] for dim in permutation)
    expected = expected_operands(given, _view_of(x.shape, x.dtype), _view_of(shape, dtype))
    operands = {name: _read_operand(name, getattr(given, name), one) for name, one in expected.items()}
    both = given.both if given.both is None or given.both is True else jax.numpy.dtype(given.both)
    asked = Operands(dtype=dtype, both=both, amax=given.amax, blocks=given.blocks, scales=given.scales,
                     layout=given.layout, sums=given.sums,
                     channel_axis=given.channel_axis % x.ndim if given.has_channels else 0)
    results = _compiled(x, operands, permutation, asked)
    return results if len(results) > 1 else results[0]
