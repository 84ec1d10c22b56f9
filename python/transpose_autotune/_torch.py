# SPDX-License-Identifier: Apache-2.0
"""PyTorch: a short way for plain tensors, and a custom operator for autograd, torch.compile and its like."""
# Calls that repeat are to cost no more than PyTorch's own: hence the two tables, and PyTorch's private names for
# the current device and stream, where it has them.
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

import torch

if not hasattr(torch.library, "custom_op"):
    raise ImportError(f"PyTorch 2.4 or newer is needed, and this is {torch.__version__}")

from ._arrays import View, stream_number
from ._calls import check_out, plan_for, problem_of, start
from ._objects import Plan, normalized, swap_last
from ._operands import MOVE, Operands, step_of

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_OPERANDS = Operands._fields  # torch.compile of PyTorch 2.6 does not iterate over the member

# Per tensor without `out`: the plan, and the result's shape.
_new: Dict[Any, Tuple[Plan, Tuple[int, ...]]] = {}
_swaps = {rank: swap_last(rank) for rank in range(2, 25)}


def forget() -> None:
    """The plans are to be chosen anew."""
    _new.clear()


def _usual_stream(device: int) -> int:
    return int(torch.cuda.current_stream(device).cuda_stream)


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


def _permute_new(x: Any, dims: Tuple[int, ...]) -> Any:
    """A new tensor of the same type, in the current stream. The tensor is on the current device."""
    pointer, device = x.data_ptr(), x.get_device()
    key = (x.shape, x.stride(), dims, x.dtype, device, pointer & 15)
    known = _new.get(key)
    if known is None:
        return _permute_first(x, dims, key)
    plan, shape = known
    out = torch.empty(shape, dtype=x.dtype, device=x.device)
    plan.execute(out.data_ptr(), pointer, _current_stream(device))
    return out


def _permute_first(x: Any, dims: Tuple[int, ...], key: Any) -> Any:
    """The same for a key that is not known."""
    out = _new_like(x, dims, None)
    plan = _permute_into(x, dims, out, MOVE)
    if plan and out.data_ptr() % 16 == 0:  # as PyTorch's allocator always has it
        _new[key] = plan, tuple(out.shape)
    return out


def _new_like(x: Any, dims: Tuple[int, ...], dtype: Any) -> Any:
    return torch.empty(tuple(x.shape[dim] for dim in dims), dtype=dtype or x.dtype, device=x.device)


def _permute_into(x: Any, dims: Tuple[int, ...], out: Any, given: Operands) -> Optional[Plan]:
    """Returns the plan; None: the next tensor like this needs more than a plan."""
    if not isinstance(out, torch.Tensor) or not out.is_cuda:
        raise TypeError("out has to be a tensor on a GPU too")
    if x.numel() == 0:
        check_out(_view(x), _view(out), tuple(x.shape[dim] for dim in dims), given.dtype)
        return None
    expanded = 0 in x.stride() and x.numel() > 1
    source, target = _view(x.contiguous() if expanded else x), _view(out)
    check_out(source, target, tuple(source.shape[dim] for dim in dims), given.dtype)
    stream = _current_stream(source.device)
    step = None if given is MOVE else step_of(source.type, target.type, given.operations(len(dims)))
    plan = plan_for(problem_of(source, target, dims, step), source.device, stream)
    start(plan, source, target, stream, given, _view_operand)
    return None if expanded else plan


def _view_operand(x: Any) -> View:
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{type(x).__name__} is neither a number nor a tensor")
    return _view(x)


def _permute_here(x: Any, dims: Tuple[int, ...], out: Any, given: Operands = MOVE) -> Any:
    if x.get_device() < 0:
        raise TypeError(f"the tensor is on {x.device}, and not on a GPU")
    if x.is_conj() or x.is_neg():  # what the memory holds is not what the tensor is
        x = x.resolve_conj().resolve_neg()
    if x.get_device() != _current_device():
        with torch.cuda.device(x.get_device()):
            return _permute_here(x, dims, out, given)
    if out is None and given is MOVE:
        return _permute_new(x, dims)
    if out is None:
        out = _new_like(x, dims, given.dtype)
    _permute_into(x, dims, out, given)
    return out


def permute(x: Any, dims: Optional[Sequence[int]], out: Any, stream: Any, given: Operands = MOVE) -> Any:
    """permute, or for dims=None transpose, of a PyTorch tensor."""
    permutation = _dims(dims, x.dim())
    if given is not MOVE:
        for name in _OPERANDS:
            value = getattr(given, name)
            if isinstance(value, torch.Tensor) and value.requires_grad:
                raise TypeError(f"{name} gets no gradient: detach it")
    if torch.compiler.is_compiling() or type(x) not in _PLAIN or not x.is_cuda or (
            x.requires_grad and torch.is_grad_enabled()):
        if out is not None or stream is not None or given.alpha is not None or given.beta is not None:
            raise TypeError("`out`, `stream`, `alpha`, `beta` and `other` are for plain tensors on a GPU, outside of "
                            "compiled functions and without gradients")
        scale = given.scale
        numbers = (None, scale) if isinstance(scale, torch.Tensor) else (None if scale is None else float(scale), None)
        return operator(x, list(permutation), given.dtype, *numbers, given.channel_scale, given.channel_shift,
                        given.channel_axis)
    if stream is None:
        return _permute_here(x, permutation, out, given)
    if not isinstance(stream, torch.cuda.Stream):
        number = stream_number(stream)
        stream = torch.cuda.ExternalStream(number, x.device) if number else torch.cuda.default_stream(x.device)
    with torch.cuda.stream(stream):
        return _permute_here(x, permutation, out, given)


# ---- the operator ----

# Its scale is a number, or a tensor of one.
_SCHEMA = ("(Tensor x, int[] dims, ScalarType? dtype=None, float? scale=None, Tensor? scale_at=None, "
           "Tensor? channel_scale=None, Tensor? channel_shift=None, int channel_axis=-1) -> Tensor")


def _run_operator(x: Any, dims: Sequence[int], dtype: Any = None, scale: Any = None, scale_at: Any = None,
                  *channels: Any) -> Any:
    given = Operands(dtype, scale if scale_at is None else scale_at, None, None, None, *channels)
    if not given.operations(x.dim()) and dtype is None:
        given = MOVE
    return _permute_here(x.detach(), normalized(dims, x.dim()), None, given)


def _fake(x: Any, dims: Sequence[int], dtype: Any = None, *_: Any) -> Any:
    return x.new_empty([x.shape[dim] for dim in normalized(dims, x.dim())], dtype=dtype or x.dtype)


def _keep(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
    x, dims, _, ctx.scale, scale_at, channel_scale, _, channel_axis = inputs
    ctx.dims, ctx.dtype = normalized(dims, x.dim()), x.dtype
    ctx.channel_axis = channel_axis % x.dim() if x.dim() else 0
    ctx.save_for_backward(scale_at, channel_scale)


def _backward(ctx: Any, gradient: Any) -> Tuple[Any, ...]:
    inverse = [0] * len(ctx.dims)
    for i, dim in enumerate(ctx.dims):
        inverse[dim] = i
    dtype = None if ctx.dtype == gradient.dtype else ctx.dtype
    scale_at, channel_scale = ctx.saved_tensors
    axis = -1 if channel_scale is None else ctx.dims.index(ctx.channel_axis)
    of_x = operator(gradient, inverse, dtype, ctx.scale, scale_at, channel_scale, None, axis)
    return (of_x, *[None] * 7)


operator: Any = torch.library.custom_op("transpose_autotune::permute", _run_operator, mutates_args=(), schema=_SCHEMA)
operator.register_fake(_fake)
operator.register_autograd(_backward, setup_context=_keep)
