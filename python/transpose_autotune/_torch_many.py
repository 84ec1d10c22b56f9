# SPDX-License-Identifier: Apache-2.0
"""PyTorch: lists of tensors, and groups of rows. Plain tensors take a short way, as in _torch.py."""
from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch

from ._arrays import View, stream_number
from ._groups import MatrixList, Rows
from ._many import (as_lists, check_axes, dims_of, lists_of, many_on_host, part_of, ragged_on_host, ragged_results,
                    ragged_targets, run_many, run_ragged, start_list)
from ._operands import MOVE, Operands
from . import _torch
from ._torch import _conjugate, _dtype, _joined, _split

_Dims = Optional[Sequence[int]]


def _is_plain(tensors: Sequence[Any]) -> bool:
    """May the short way be taken, which knows neither subclasses nor gradients?"""
    return not torch.compiler.is_compiling() and all(
        type(x) in _torch._PLAIN and not x.is_meta and not (x.requires_grad and torch.is_grad_enabled()) for x in tensors)


def _check_numbers(given: Operands) -> None:
    numbers = given.scale, given.alpha, given.channel_scale, given.channel_shift
    if torch.is_grad_enabled() and any(isinstance(value, torch.Tensor) and value.requires_grad for value in numbers):
        raise TypeError("arrays of numbers have no gradient here: give them detached")


def _in_stream(x: Any, stream: Any) -> Any:
    """A context in which this stream, or for None any, is the current one."""
    if stream is not None and x.get_device() < 0:
        _torch.check_host(x, stream, MOVE)
    if stream is None or isinstance(stream, torch.cuda.Stream):
        return torch.cuda.stream(stream)
    number = stream_number(stream)
    external: Any = torch.cuda.ExternalStream
    return torch.cuda.stream(external(number, x.device) if number else torch.cuda.default_stream(x.device))


# ---- lists ----

def many(xs: List[Any], dims: _Dims, out: Any, stream: Any, given: Operands) -> Any:
    """transpose_many of PyTorch tensors."""
    _check_numbers(given)
    if not _is_plain(xs):
        _torch.refuse_places(out, stream)
        made = operator(xs, None if dims is None else list(dims), *_inputs(xs[0], given))
        return made if given.both is None else (made[:len(xs)], made[len(xs):])
    if stream is None:
        return _many_here(xs, dims, out, given)
    with _in_stream(xs[0], stream):
        return _many_here(xs, dims, out, given)


def _many_here(xs: List[Any], dims: _Dims, out: Any, given: Operands) -> Any:
    device = xs[0].get_device()
    if device < 0:
        _torch.check_host(xs[0], None, given)
        return many_on_host(xs, [_torch._view(x) for x in xs], [dims_of(dims, x.dim()) for x in xs], out, None, given)
    if device != _torch._current_device():
        with torch.cuda.device(device):
            return _many_here(xs, dims, out, given)
    xs = [x.resolve_conj().resolve_neg() if x.is_conj() or x.is_neg() else x for x in xs]
    if given.both is not None:
        xs = [x.contiguous() if _torch._is_expanded(x) else x for x in xs]
    permutations = [dims_of(dims, x.dim()) for x in xs]
    if out is not None:
        of_each = lists_of(out, given, len(xs))
        run_many([_torch._view(x) for x in xs], [tuple(map(_torch._view_operand, one)) for one in of_each], permutations,
                 _torch._current_stream(device), given, _torch._view_operand)
        return out
    results = [_torch._new_results(x, permutation, given) for x, permutation in zip(xs, permutations)]
    _run_new(xs, results, permutations, given)
    return as_lists(results, given)


def _run_new(xs: Sequence[Any], results: Sequence[Tuple[Any, ...]], permutations: Sequence[Tuple[int, ...]],
             given: Operands) -> None:
    """Start the launch into new tensors, which need no check."""
    kind, device, parts = xs[0].dtype, xs[0].get_device(), part_of(given)
    matrices = MatrixList(xs[0].element_size(), *(one.element_size() for one in results[0]))
    for i, (x, made, permutation) in enumerate(zip(xs, results, permutations)):
        if x.dtype != kind or x.get_device() != device or x.layout != torch.strided:
            raise TypeError(f"tensor {i} of the list has another type or layout than the first one, or is on another "
                            "device")
        matrices.add(parts(x.shape, x.stride(), made[0].stride(), permutation), x.data_ptr(),
                     *[one.data_ptr() for one in made])
    start_list(matrices, [x.shape for x in xs], _torch._view(xs[0]), _torch._view(results[0][0]),
               _torch._current_stream(device), given, _torch._view_operand)


def _inputs(x: Any, given: Operands) -> Tuple[Any, ...]:
    """What the operators get of the operands, for an x of this type."""
    return (given.dtype, *_split(given.scale), *_split(given.alpha), _torch._both_type(x, given), given.channel_scale,
            given.channel_shift, given.channel_axis)


def _taken(dtype: Any = None, scale: Any = None, scale_at: Any = None, alpha: Any = None, alpha_at: Any = None,
           both: Any = None, channel_scale: Any = None, channel_shift: Any = None, channel_axis: int = -1) -> Operands:
    return Operands(dtype=dtype, scale=_joined(scale, scale_at), alpha=_joined(alpha, alpha_at), both=both,
                    channel_scale=channel_scale, channel_shift=channel_shift, channel_axis=channel_axis)


def _all(results: Sequence[Tuple[Any, ...]]) -> List[Any]:
    """First all transposed results, then those that lie as the sources do."""
    return [result for one in zip(*results) for result in one]


def _run_operator(xs: List[Any], dims: _Dims, *inputs: Any) -> List[Any]:
    given = _taken(*inputs)
    results = _many_here([x.detach() for x in xs], dims, None, given)
    return results if given.both is None else [*results[0], *results[1]]


def _fake(xs: List[Any], dims: _Dims, *inputs: Any) -> List[Any]:
    return _all([_torch._new_results(x, dims_of(dims, x.dim()), _taken(*inputs)) for x in xs])


_INPUTS = ("xs", "dims", "dtype", "scale", "scale_at", "alpha", "alpha_at", "both", "channel_scale", "channel_shift",
           "channel_axis")


def _keep(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
    given = dict(zip(_INPUTS, inputs))
    xs, dims = given["xs"], given["dims"]
    ctx.dims, ctx.count, ctx.x_dtype = dims and dims_of(dims, xs[0].dim()), len(xs), xs[0].dtype
    ctx.numbers, ctx.channel_axis = (given.get("scale"), given.get("alpha")), given.get("channel_axis", -1)
    ctx.mark_non_differentiable(*output[len(xs):])
    ctx.save_for_backward(given.get("scale_at"), given.get("alpha_at"), given.get("channel_scale"))


def _backward(ctx: Any, gradients: Sequence[Any]) -> Tuple[Any, ...]:
    """Of the transposed results. Those that lie as the sources do have none. Their columns are the sources' rows."""
    *numbers, channel_scale = ctx.saved_tensors
    scale, alpha = map(_joined, ctx.numbers, numbers)
    dims = None if ctx.dims is None else sorted(range(len(ctx.dims)), key=ctx.dims.__getitem__)
    given = [one if channel_scale is None else one.contiguous() for one in gradients[:ctx.count]]
    found = operator(given, dims, None if ctx.x_dtype == given[0].dtype else ctx.x_dtype, *_split(scale),
                     *_split(_conjugate(alpha)), None, channel_scale, None, -3 - ctx.channel_axis)
    return (found, *[None] * (len(ctx.needs_input_grad) - 1))


# ---- groups of rows ----

def ragged(x: Any, offsets: Any, out: Any, stream: Any, rows: Rows, has_overflow: bool, given: Operands) -> Any:
    """transpose_ragged of a PyTorch tensor."""
    _check_numbers(given)
    if not _is_plain((x, offsets)):
        _torch.refuse_places(out, stream)
        made = ragged_operator(x, offsets, *rows, has_overflow, *_inputs(x, given))
        return made[0] if len(made) == 1 else tuple(made)
    with _in_stream(x, stream):
        results = _ragged_here(x, offsets, out, rows, has_overflow, given)
    return results if len(results) > 1 else results[0]


def _new_ragged(x: Any, offsets: Any, rows: Rows, has_overflow: bool, given: Operands) -> Tuple[Any, ...]:
    made, (count, cols) = [], x.shape
    for name, dtype in ragged_results(given, has_overflow, x.dtype, _dtype).items():
        if name == "dst2":
            made.append(x.new_empty_strided(x.shape, x.stride(), dtype=dtype))
        else:
            shape = () if name == "overflow" else rows.shape(count, cols, offsets.shape[0] - 1)
            made.append(x.new_empty(shape, dtype=dtype))
    return tuple(made)


def _ragged_here(x: Any, offsets: Any, out: Any, rows: Rows, has_overflow: bool, given: Operands) -> Tuple[Any, ...]:
    if x.get_device() < 0:
        _torch.check_host(x, None, given)
    check_axes(x, offsets)
    if x.get_device() >= 0 and x.get_device() != _torch._current_device():
        with torch.cuda.device(x.get_device()):
            return _ragged_here(x, offsets, out, rows, has_overflow, given)
    x = x.resolve_conj().resolve_neg()
    if _torch._is_expanded(x):
        x = x.contiguous()
    names = list(ragged_results(given, has_overflow, x.dtype, _dtype))
    results = _new_ragged(x, offsets, rows, has_overflow, given) if out is None else ragged_targets(out, names)
    targets: Dict[str, View] = dict(zip(names, map(_torch._view_operand, results)))
    views = _torch._view(x), _torch._view_operand(offsets)
    if x.get_device() < 0:
        ragged_on_host((x, views[0]), (offsets, views[1]), dict(zip(names, results)), targets, rows)
    else:
        run_ragged(*views, targets, rows, _torch._current_stream(x.get_device()), given, _torch._view_operand)
    return results


def _run_ragged(x: Any, offsets: Any, padding: int, stacked_rows: Any, most_rows: Any, has_overflow: bool,
                *inputs: Any) -> List[Any]:
    return list(_ragged_here(x.detach(), offsets, None, Rows(padding, stacked_rows, most_rows), has_overflow,
                             _taken(*inputs)))


def _fake_ragged(x: Any, offsets: Any, padding: int, stacked_rows: Any, most_rows: Any, has_overflow: bool,
                 *inputs: Any) -> List[Any]:
    return list(_new_ragged(x, offsets, Rows(padding, stacked_rows, most_rows), has_overflow, _taken(*inputs)))


# ---- the operators ----

_NUMBERS = ("ScalarType? dtype=None, Scalar? scale=None, Tensor? scale_at=None, Scalar? alpha=None, "
            "Tensor? alpha_at=None, ScalarType? both=None, Tensor? channel_scale=None, Tensor? channel_shift=None, "
            "int channel_axis=-1")

operator = _torch._register("many", f"(Tensor[] xs, int[]? dims, {_NUMBERS}) -> Tensor[]", _run_operator, _fake,
                            _backward, _keep)
# Without a gradient: PyTorch says so in the backward pass.
ragged_operator: Any = torch.library.custom_op(
    "transpose_autotune::ragged", _run_ragged, mutates_args=(), schema=(
        "(Tensor x, Tensor offsets, SymInt padding, SymInt? stacked_rows, SymInt? most_rows, "
        f"bool overflow, {_NUMBERS}) -> Tensor[]"))
ragged_operator.register_fake(_fake_ragged)
