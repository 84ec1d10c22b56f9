# SPDX-License-Identifier: Apache-2.0
"""PyTorch: a short way for plain tensors, and a custom operator for autograd, torch.compile and its like."""
# Calls that repeat are to cost no more than PyTorch's own: hence the two tables, and PyTorch's private names for
# the current device and stream, where it has them.
import sys
from dataclasses import replace
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch
from torch.autograd import forward_ad

if not hasattr(torch.library, "custom_op"):
    raise ImportError(f"PyTorch 2.4 or newer is needed, and this is {torch.__version__}")

from . import _calls, _host
from ._arrays import View, dense, room_of, stream_number, type_name
from ._calls import check_out, results_of, run
from ._objects import Plan, normalized, swap_last
from ._operands import MOVE, Expected, Operands, computed_in

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_Execute = Callable[[int, int, int], None]
_OPERANDS = Operands._fields  # torch.compile of PyTorch 2.6 does not iterate over the member

# Of calls that repeat: how to execute the plan. Per tensor without `out`, with the result's shape; and per tensor and
# `out`, with the bytes from the first to the last element of each.
_new: Dict[Any, Tuple[_Execute, Tuple[int, ...]]] = {}
_given: Dict[Any, Tuple[_Execute, int, int]] = {}
_swaps = {rank: swap_last(rank) for rank in range(2, 25)}


def forget() -> None:
    """The plans are to be chosen anew."""
    _new.clear()
    _given.clear()


def _usual_stream(device: int) -> int:
    return int(torch.cuda.current_stream(device).cuda_stream)


def _usual_level() -> Optional[int]:
    return None


# Of transformations like torch.vmap: the innermost one, while a function runs in it.
_level: Callable[[], Optional[int]] = getattr(getattr(torch._C, "_functorch", None), "maybe_current_level", _usual_level)
_current_stream: Callable[[int], int] = getattr(torch._C, "_cuda_getCurrentRawStream", _usual_stream)
_current_device: Callable[[], int] = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)


def _view(x: Any) -> View:
    if x.layout != torch.strided:
        raise TypeError(f"tensors of layout {x.layout} are not supported")
    if x.is_conj() or x.is_neg():
        raise TypeError("out is a conjugate of other memory")
    return View(x.data_ptr(), tuple(x.shape), tuple(x.stride()), x.element_size(), x.get_device(), str(x.dtype), keeps=x)


def _dims(dims: Optional[Sequence[int]], rank: int) -> Tuple[int, ...]:
    return normalized(dims, rank) if dims is not None else _swaps.get(rank) or swap_last(rank)


def _again(x: Any, dims: Tuple[int, ...], out: Any) -> Any:
    """The result of a call that repeats, in the current stream; None: this one does not, or a plan alone is not enough."""
    pointer, device = x.data_ptr(), x.get_device()
    if device != _current_device() or x.is_conj() or x.is_neg():
        return None
    if out is None:
        known = _new.get((x.shape, x.stride(), dims, x.dtype, device, pointer & 15))
        if known is None:
            return None
        execute, shape = known
        out = x.new_empty(shape)
        execute(out.data_ptr(), pointer, _current_stream(device))
        return out
    if type(out) not in _PLAIN or out.is_conj() or out.is_neg():
        return None
    target = out.data_ptr()
    found = _given.get((x.shape, x.stride(), dims, x.dtype, device, pointer & 15,
                        out.shape, out.stride(), out.dtype, out.get_device(), target & 15))
    if found is None:
        return None
    execute, size, out_size = found
    if pointer - out_size < target < pointer + size:  # they may overlap
        return None
    execute(target, pointer, _current_stream(device))
    return out


def _remember(x: Any, dims: Tuple[int, ...], out: Any, is_new: bool, plan: Plan) -> None:
    """Calls like this one, which has taken the plan, repeat."""
    key = x.shape, x.stride(), dims, x.dtype, x.get_device(), x.data_ptr() & 15
    if not is_new:
        sizes = (room_of(one.shape, one.stride()) * one.element_size() for one in (x, out))
        _given[(*key, out.shape, out.stride(), out.dtype, out.get_device(), out.data_ptr() & 15)] = plan.execute, *sizes
    elif out.data_ptr() % 16 == 0:  # as PyTorch's allocator always has it
        _new[key] = plan.execute, tuple(out.shape)


def _is_expanded(x: Any) -> bool:
    """Do elements share memory? A dense copy then takes the tensor's place."""
    return 0 in x.stride() and x.numel() > 1


def _dtype(name: str) -> Any:
    """PyTorch's type of this name; bytes, where it lacks the type of scales."""
    return getattr(torch, name, torch.uint8)


def _new_results(x: Any, dims: Tuple[int, ...], given: Operands) -> Tuple[Any, ...]:
    made, shapes = [], given.shapes([x.shape[dim] for dim in dims], x.shape)
    for name, dtype in given.results(x.dtype, _dtype).items():
        if name == "dst2" and not _is_expanded(x):
            made.append(x.new_empty_strided(shapes[name], given.kept_strides(x.stride()), dtype=dtype))
        else:
            made.append(x.new_empty(shapes[name], dtype=dtype))
    for i, rows in _scale_rows(made, given).items():  # the caller gets the transpose of what lies in memory
        made[i] = made[i][..., :rows].mT
    return tuple(made)


def _scale_rows(results: Sequence[Any], given: Operands) -> Dict[int, Any]:
    """Which of the results are scales that lie by columns, and how many rows they have."""
    count = len(results) // 2 if given.scales_by_columns else 0  # a result has scales
    return {count + i: -(-results[i].shape[-2] // given.blocks[0]) for i in range(count)}


def _view_results(results: Sequence[Any], x: Any, dims: Tuple[int, ...], given: Operands) -> List[View]:
    """Scales are viewed as they lie in memory."""
    views = [_view(result) for result in results]
    for i, rows in _scale_rows(results, given).items():
        room = given.scale_room([x.shape[dim] for dim in dims] if 2 * i + bool(given.sums) == len(views) else x.shape)
        wanted = Expected((), type_name(views[i].type), (*room[:-2], rows, room[-2]), (*dense(room)[:-2], 1, room[-1]))
        wanted.check(f"out[{i}]", views[i], views[i].device)
        views[i] = replace(views[i], shape=room, strides=None)
    return views


def _permute_into(x: Any, dims: Tuple[int, ...], results: Tuple[Any, ...], given: Operands) -> Optional[Plan]:
    """Returns the plan; None: the next tensor like this needs more than a plan."""
    for result in results:
        if not isinstance(result, torch.Tensor):
            raise TypeError("out has to be a tensor too")
    expanded = _is_expanded(x)
    source = _view(x.contiguous() if expanded else x)
    targets, stream = _view_results(results, x, dims, given), _current_stream(source.device)
    rooms: List[Any] = []

    def scratch(count: int) -> int:
        rooms.append(x.new_zeros(count, dtype=torch.uint8))
        return int(rooms[0].data_ptr())

    plan = run(source, targets, dims, stream, given, _view_operand, scratch)
    return None if expanded else plan


def _view_operand(x: Any) -> View:
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{type(x).__name__} is neither a number nor a tensor")
    return _view(x)


def _permute_here(x: Any, dims: Tuple[int, ...], out: Any, given: Operands = MOVE) -> Any:
    if x.get_device() < 0:
        return _permute_on_host(x, dims, out, given)
    if given is MOVE:
        found = _again(x, dims, out)
        if found is not None:
            return found
    if x.is_conj() or x.is_neg():  # what the memory holds is not what the tensor is
        x = x.resolve_conj().resolve_neg()
    if x.get_device() != _current_device():
        with torch.cuda.device(x.get_device()):
            return _permute_here(x, dims, out, given)
    results = _new_results(x, dims, given) if out is None else results_of(out, given)
    plan = _permute_into(x, dims, results, given)
    if plan and given is MOVE:
        _remember(x, dims, results[0], out is None, plan)
    return results if len(results) > 1 else results[0]


def check_host(x: Any, stream: Any, given: Operands) -> None:
    """Raise unless the tensor is in host memory, and its elements are moved."""
    if x.device.type != "cpu":
        raise TypeError(f"the tensor is on {x.device}, and neither on a GPU nor in host memory")
    _host.check(stream, given)


def _permute_on_host(x: Any, dims: Tuple[int, ...], out: Any, given: Operands) -> Any:
    check_host(x, None, given)
    shape = tuple(x.shape[dim] for dim in dims)
    out = x.new_empty(shape) if out is None else out
    x = x.resolve_conj().resolve_neg()
    check_out(_view(x), _view_operand(out), shape, None)
    _host.permute(x, dims, out)
    return out


def permute(x: Any, dims: Optional[Sequence[int]], out: Any, stream: Any, given: Operands = MOVE) -> Any:
    """permute, or for dims=None transpose, of a PyTorch tensor."""
    permutation = _dims(dims, x.dim())
    if given is not MOVE:
        given.check_blocks(permutation)
    if torch.compiler.is_compiling() or type(x) not in _PLAIN or x.is_meta or _is_transformed() or \
            _wants_gradient(x, given):
        refuse_places(out, stream)
        if given is MOVE and not torch.compiler.is_compiling() and _is_transformed():
            return _Move.apply(x, permutation)
        if given.blocks is not None:
            made = operator_with_blocks(x, list(permutation), given.dtype, list(given.blocks), given.scales,
                                        given.layout, _both_type(x, given), given.tensor_amax, bool(given.sums))
            return tuple(made)
        inputs = (x, list(permutation), given.dtype, *_split(given.scale), *_split(given.alpha), *_split(given.beta),
                  given.other, given.channel_scale, given.channel_shift, given.channel_axis)
        if given.both is None and given.amax is None and not given.sums:
            return operator(*inputs)
        made = operator_with_outputs(*inputs, _both_type(x, given), given.amax, bool(given.sums))
        return tuple(one for one, wanted in zip(made, (True, given.both is not None, given.amax is not None, given.sums))
                     if wanted)
    if stream is None:
        return _permute_here(x, permutation, out, given)
    if x.get_device() < 0:
        check_host(x, stream, given)
    if not isinstance(stream, torch.cuda.Stream):
        number = stream_number(stream)
        stream = torch.cuda.ExternalStream(number, x.device) if number else torch.cuda.default_stream(x.device)
    with torch.cuda.stream(stream):
        return _permute_here(x, permutation, out, given)


def _is_transformed() -> bool:
    """Does a transformation run, or forward mode? Tensors may then lack memory, or have tangents."""
    return _level() is not None or forward_ad._current_level >= 0


def refuse_places(out: Any, stream: Any) -> None:
    if out is not None or stream is not None:
        raise TypeError("`out` and `stream` are for plain tensors with memory, outside of compiled functions and without "
                        "gradients")


def _both_type(x: Any, given: Operands) -> Any:
    """The type of the results as they lie; None: nobody wants them."""
    return (given.dtype or x.dtype) if given.both is True else given.both


def _wants_gradient(x: Any, given: Operands) -> bool:
    if not torch.is_grad_enabled():
        return False
    return x.requires_grad or given is not MOVE and any(
        isinstance(getattr(given, name), torch.Tensor) and getattr(given, name).requires_grad for name in _OPERANDS)


# ---- the operators ----

# Scale, alpha and beta are each a number, or a tensor of one. The second operator has all results. Those that nobody
# wants have no elements.
_SCHEMA = ("Tensor x, int[] dims, ScalarType? dtype=None, Scalar? scale=None, Tensor? scale_at=None, "
           "Scalar? alpha=None, Tensor? alpha_at=None, Scalar? beta=None, Tensor? beta_at=None, Tensor? other=None, "
           "Tensor? channel_scale=None, Tensor? channel_shift=None, int channel_axis=-1")
_SCHEMA_OF_OUTPUTS = (f"({_SCHEMA}, ScalarType? both=None, str? amax=None, bool sums=False) "
                      "-> (Tensor, Tensor, Tensor, Tensor)")
_INPUTS = ("x", "dims", "dtype", "scale", "scale_at", "alpha", "alpha_at", "beta", "beta_at", "other",
           "channel_scale", "channel_shift", "channel_axis", "both", "amax", "sums")
_WIDE = {"f32": torch.float32, "f64": torch.float64, "c64": torch.complex64, "c128": torch.complex128}


def _split(number: Any) -> Tuple[Any, Any]:
    """The two inputs for a number."""
    if number is None or isinstance(number, torch.Tensor):
        return None, number
    return number if isinstance(number, (int, float, complex)) else complex(number), None


def _joined(number: Any, tensor: Any) -> Any:
    """The number of two inputs."""
    return number if tensor is None else tensor


def _taken(x: Any, dtype: Any = None, scale: Any = None, scale_at: Any = None, alpha: Any = None, alpha_at: Any = None,
           beta: Any = None, beta_at: Any = None, other: Any = None, channel_scale: Any = None,
           channel_shift: Any = None, channel_axis: int = -1, both: Any = None, amax: Any = None,
           sums: bool = False) -> Operands:
    """The operands of inputs."""
    given = Operands(both, amax, dtype, _joined(scale, scale_at), _joined(alpha, alpha_at), _joined(beta, beta_at),
                     other, channel_scale, channel_shift, sums=sums or None, channel_axis=channel_axis)
    return given if dtype is not None or given.operations(x.dim()) else MOVE


def _run_operator(x: Any, dims: Sequence[int], *inputs: Any) -> Any:
    return _permute_here(x.detach(), normalized(dims, x.dim()), None, _taken(x, *inputs))


def _fake(x: Any, dims: Sequence[int], *inputs: Any) -> Any:
    return _new_results(x, normalized(dims, x.dim()), _taken(x, *inputs))[0]


def _all_outputs(x: Any, results: Tuple[Any, ...], given: Operands) -> Tuple[Any, ...]:
    found = dict(zip(given.results(x.dtype, _dtype), results))
    return tuple(found[name] if name in found else x.new_empty(0) for name in ("dst", "dst2", "largest", "sums"))


def _run_with_outputs(x: Any, dims: Sequence[int], *inputs: Any) -> Tuple[Any, ...]:
    results: Any = _run_operator(x, dims, *inputs)
    return _all_outputs(x, results if isinstance(results, tuple) else (results,), _taken(x, *inputs))


def _fake_with_outputs(x: Any, dims: Sequence[int], *inputs: Any) -> Tuple[Any, ...]:
    given = _taken(x, *inputs)
    return _all_outputs(x, _new_results(x, normalized(dims, x.dim()), given), given)


# What elements are multiplied by, where it is a tensor.
_FACTORS = ("scale_at", "alpha_at", "channel_scale")


def _needs(ctx: Any) -> Dict[str, bool]:
    """Which inputs need a gradient. PyTorch leaves out the last ones that have their default."""
    return dict(zip(_INPUTS, (*ctx.needs_input_grad, *[False] * len(_INPUTS))))


def _keep(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
    given, needs = dict(zip(_INPUTS, inputs)), _needs(ctx)
    x = given["x"]
    ctx.dims, ctx.x_dtype = normalized(given["dims"], x.dim()), x.dtype
    ctx.axis = given["channel_axis"] % x.dim() if x.dim() else 0
    ctx.numbers = given["scale"], given["alpha"], given["beta"]
    if isinstance(output, tuple):
        ctx.mark_non_differentiable(*output[1:])
        ctx.set_materialize_grads(False)
    ctx.save_for_backward(x if any(needs[name] for name in _FACTORS) else None,
                          given["other"] if needs["beta_at"] else None, given["beta_at"],
                          *(given[name] for name in _FACTORS), given["channel_shift"] if needs["channel_shift"] else None)


def _inverse(dims: Sequence[int]) -> Tuple[int, ...]:
    return tuple(sorted(range(len(dims)), key=dims.__getitem__))


def _conjugate(number: Any) -> Any:
    return torch.conj_physical(number) if isinstance(number, torch.Tensor) else number and number.conjugate()


def _summed(gradient: Any, shape: Tuple[int, ...], operand: Any) -> Any:
    """The gradient of an operand that had this shape beside other arrays. It may be real where they are complex."""
    part = gradient if operand.is_complex() or not gradient.is_complex() else gradient.real
    return part.sum_to_size(shape).to(operand.dtype).reshape(operand.shape)


def _backward(ctx: Any, gradient: Any, *_: Any) -> Tuple[Any, ...]:
    """Of the first result."""
    if gradient is None:
        return tuple([None] * len(ctx.needs_input_grad))
    x, other, beta_at, scale_at, alpha_at, channel_scale, channel_shift = ctx.saved_tensors
    scale, alpha, beta = map(_joined, ctx.numbers, (scale_at, alpha_at, beta_at))
    needs, found = _needs(ctx), dict.fromkeys(_INPUTS)
    inverse = _inverse(ctx.dims)
    if needs["x"]:
        axis = -1 if channel_scale is None else ctx.dims.index(ctx.axis)
        found["x"] = operator(gradient, list(inverse), None if ctx.x_dtype == gradient.dtype else ctx.x_dtype,
                              *_split(scale), *_split(_conjugate(alpha)), None, None, None, channel_scale, None, axis)

    wide = gradient.to(_WIDE[computed_in(str(ctx.x_dtype), str(gradient.dtype))])
    back = wide.permute(inverse)  # laid out as x
    channels = tuple(size if axis == ctx.axis else 1 for axis, size in enumerate(back.shape))
    factors = dict(zip(_FACTORS, ((scale, ()), (alpha, ()), (channel_scale, channels))))
    for name, (factor, shape) in factors.items():
        if needs[name]:
            product = x.to(wide.dtype)
            for other_name, (by, its_shape) in factors.items():
                if other_name != name and by is not None:
                    product = product * (by.reshape(its_shape) if isinstance(by, torch.Tensor) else by)
            found[name] = _summed(back * product.conj(), shape, factor)
    if needs["channel_shift"]:
        found["channel_shift"] = _summed(back, channels, channel_shift)
    if needs["beta_at"]:
        found["beta_at"] = _summed(wide * other.to(wide.dtype).conj(), (), beta)
    if needs["other"]:
        found["other"] = (wide * _conjugate(beta)).to(gradient.dtype)
    return tuple(found.values())[:len(ctx.needs_input_grad)]


class _Move(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    """The operator for elements as they are. What PyTorch's custom operators lack: forward mode."""

    @staticmethod
    def forward(x: Any, dims: Tuple[int, ...]) -> Any:
        return operator(x, list(dims))

    @staticmethod
    def setup_context(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
        ctx.dims = inputs[1]

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Tuple[Any, None]:
        return _Move.apply(gradient, _inverse(ctx.dims)), None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, _: Any) -> Any:
        return _Move.apply(tangent, ctx.dims)

    @staticmethod
    def vmap(info: Any, axes: Tuple[Any, ...], x: Any, dims: Tuple[int, ...]) -> Tuple[Any, int]:
        """The batch becomes the first axis of the result."""
        return _Move.apply(x, (axes[0], *(dim + (dim >= axes[0]) for dim in dims))), 0


# Of blocks. How many results there are follows from the arguments, so it is a list.
_SCHEMA_OF_BLOCKS = ("(Tensor x, int[] dims, ScalarType? dtype, int[2] blocks, str? scales=None, str? layout=None, "
                     "ScalarType? both=None, Tensor? tensor_amax=None, bool sums=False) -> Tensor[]")


def _blocks(dtype: Any, blocks: Sequence[int], scales: Any = None, layout: Any = None, both: Any = None,
            tensor_amax: Any = None, sums: bool = False) -> Operands:
    return Operands(dtype=dtype, blocks=tuple(blocks), scales=scales, layout=layout, both=both, tensor_amax=tensor_amax,
                    sums=sums or None)


def _run_with_blocks(x: Any, dims: Sequence[int], *inputs: Any) -> List[Any]:
    return list(_permute_here(x.detach(), normalized(dims, x.dim()), None, _blocks(*inputs)))


def _fake_with_blocks(x: Any, dims: Sequence[int], *inputs: Any) -> List[Any]:
    return list(_new_results(x, normalized(dims, x.dim()), _blocks(*inputs)))


def _keep_nothing(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
    ctx.mark_non_differentiable(*output)


def _no_gradient(ctx: Any, *_: Any) -> Tuple[Any, ...]:
    return tuple([None] * len(ctx.needs_input_grad))


def _register(name: str, schema: str, run_it: Callable[..., Any], fake: Callable[..., Any],
              backward: Callable[..., Any] = _backward, keep: Callable[..., Any] = _keep) -> Any:
    made: Any = torch.library.custom_op(f"transpose_autotune::{name}", run_it, mutates_args=(), schema=schema)
    made.register_fake(fake)
    made.register_autograd(backward, setup_context=keep)
    return made


operator = _register("permute", f"({_SCHEMA}) -> Tensor", _run_operator, _fake)
operator_with_outputs = _register("permute_with_outputs", _SCHEMA_OF_OUTPUTS, _run_with_outputs, _fake_with_outputs)
operator_with_blocks = _register("permute_with_blocks", _SCHEMA_OF_BLOCKS, _run_with_blocks, _fake_with_blocks,
                                 _no_gradient, _keep_nothing)

_calls.torch_calls = sys.modules[__name__]  # complete from here on
