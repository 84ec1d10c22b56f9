# SPDX-License-Identifier: Apache-2.0
"""transpose and permute, for arrays of any kind."""
from __future__ import annotations

import sys
import threading
from typing import Any, Callable, Dict, Optional, Sequence, Tuple, overload

from . import _cuda, _host
from ._arrays import Array, Jax, Kind, View, dense, kind_of, overlap, place_of, stream_number, type_name
from ._cuda import HOST
from ._library import AutotuneError, Status, library
from ._objects import AnyProfile, At, Plan, Problem, checked_dims, normalized, opened, set_default_profile, swap_last
from ._operands import MOVE, Operands, expected_operands, expected_outputs, step_of
from ._scratch import scratch_for, scratch_for_sums

_Key = Tuple[int, Any]
_plans: Dict[_Key, Any] = {}
_lock = threading.Lock()


def use(profile: AnyProfile) -> None:
    """Take kernels from this profile, or that at a path, from now on; None: from the search path. Plans are made anew,
    so do not call this while a stream is captured."""
    chosen = None if profile is None else opened(profile)
    with _lock:
        set_default_profile(chosen)
        _forget_plans()


def clear_plans() -> None:
    """Free the plans of earlier calls, and the kernels that only they used. Graphs may go on running what they have
    captured. This waits for the devices, so do not call it while a stream is captured."""
    with _lock:
        _forget_plans()
    library().autotune_clear()


def _forget_plans() -> None:
    _plans.clear()
    _known.clear()
    if torch_calls:
        torch_calls.forget()


def plan_for(problem: Problem, device: int, stream: int) -> Plan:
    """The plan for this problem, made at the first call."""
    plan: Plan = kept_plan((device, problem), stream, lambda: Plan(problem, device=device))
    return plan


def kept_plan(key: _Key, stream: int, make: Callable[[], Any]) -> Any:
    """The plan with this key, made at the first call and kept until clear_plans."""
    plan = _plans.get(key)
    if plan is None:
        with _lock:
            plan = _plans.get(key)
            if plan is None:
                if _cuda.is_capturing(stream):
                    raise AutotuneError(Status.INVALID, "this problem has no plan yet, and none can be made while a "
                                        "stream is captured: call this once before")
                plan = _plans[key] = make()
    return plan


def alignment(addresses: int) -> int:
    """Of addresses that were joined by `|`: the power of two that they are multiples of, at most 16."""
    return min(16, addresses & -addresses) or 16


def results_of(out: Any, given: Operands) -> Tuple[Any, ...]:
    """The caller's arrays for the results."""
    count = len(given.results(None, str))
    if count == 1:
        return (out,)
    if not isinstance(out, tuple) or len(out) != count:
        raise TypeError(f"out has to be a tuple of {count} arrays, as the results are")
    return out


def check_out(source: View, target: View, shape: Tuple[int, ...], dtype: Any) -> None:
    """The result's type is dtype, or for None that of the source."""
    if target.shape != shape:
        raise ValueError(f"out has shape {target.shape}, and the result has {shape}")
    if dtype is None:
        if source.itemsize != target.itemsize or (source.type and target.type and source.type != target.type):
            raise TypeError(f"out has elements of another type ({target.type} for {source.type}): give `dtype` to "
                            "cast")
    elif type_name(target.type) != type_name(dtype):
        raise TypeError(f"out has elements of type {target.type}, and dtype is {dtype}")
    if source.device != target.device:
        raise ValueError(f"out is {place_of(target.device)}, and the source {place_of(source.device)}")
    if target.readonly:
        raise ValueError("out is read-only")
    if source.pointer != target.pointer and overlap(source, target):
        raise ValueError("source and out overlap: give an array with other memory, or the source itself")


def check_outputs(source: View, targets: Sequence[View], shape: Tuple[int, ...], given: Operands) -> Dict[str, At]:
    """Check the results after the first, which has this shape. Returns their addresses, by the library's names."""
    outputs: Dict[str, At] = {}
    for i, (name, expected) in enumerate(expected_outputs(given, source, shape, targets[0].type).items(), 1):
        expected.check(f"out[{i}]", targets[i], source.device)
        if targets[i].readonly:
            raise ValueError(f"out[{i}] is read-only")
        if any(overlap(targets[i], other) for other in (source, *targets[:i])):
            raise ValueError(f"out[{i}] overlaps another array")
        outputs[name] = At(targets[i].pointer)
    return outputs


def run(source: View, targets: Sequence[View], dims: Tuple[int, ...], stream: int, given: Operands,
        view: Callable[[Any], View], scratch: Optional[Callable[[int], int]] = None) -> Optional[Plan]:
    """Check the results and start the work. `view` looks at the caller's arrays. `scratch` gets bytes that are 0, for
    sums. Returns the plan; None: there is nothing to move."""
    shape = tuple(source.shape[dim] for dim in dims)
    check_out(source, targets[0], tuple(given.stored(shape, given.dtype)), given.dtype)
    outputs = check_outputs(source, targets, shape, given)
    if not source.size:
        if "sums" in outputs:
            raise ValueError("sums are of an array with elements")
        if "largest" in outputs:
            if given.skip is not None:
                raise ValueError("skip does not go with an array without elements")
            _cuda.clear_word(outputs["largest"], stream)
        return None
    step = None if given is MOVE else step_of(source.type, targets[0].type, given, len(dims))
    plan = plan_for(problem_of(source, targets[0], dims, step, outputs.get("dst2", 0)), source.device, stream)
    _start(plan, source, targets[0], stream, given, view, outputs, scratch)
    return plan


def _start(plan: Plan, source: View, target: View, stream: int, given: Operands, view: Callable[[Any], View],
           outputs: Dict[str, At], scratch: Optional[Callable[[int], int]]) -> None:
    operands: Dict[str, Any] = {**outputs}
    for name, expected in () if given is MOVE else expected_operands(given, source, target).items():
        value = getattr(given, name)
        if not isinstance(value, expected.host):
            found = view(value)
            expected.check(name, found, source.device)
            value = At(found.pointer)
        operands[name] = value
    if given.beta is not None and given.other is None:
        operands["other"] = At(target.pointer)
    execute(plan, target.pointer, source.pointer, stream, operands, scratch)


def execute(plan: Plan, dst: int, src: int, stream: int, operands: Dict[str, Any],
            scratch: Optional[Callable[[int], int]] = None) -> None:
    """Execute the plan with numbers and addresses, which have the names of operands."""
    if operands:
        if "sums" in operands:
            count = plan.scratch_bytes
            operands["scratch"] = scratch(count) if scratch else scratch_for_sums(plan.device, stream, count)
        elif "largest" in operands:
            operands["scratch"] = scratch_for(plan.device, stream)
        if "tensor_amax" in operands:  # the library's member has either
            operands["largest"] = operands.pop("tensor_amax")
        plan.execute_with(dst, src, stream, src2=operands.pop("other", 0), **operands)
    else:
        plan.execute(dst, src, stream)


def problem_of(source: View, target: View, dims: Tuple[int, ...], step: Optional[str] = None,
               dst2: int = 0) -> Problem:
    """The problem of two views, and of the address of a second result."""
    align = alignment(source.pointer | target.pointer | dst2)
    if not source.shape:  # a single element
        return Problem((1,), source.itemsize, (0,), align=align, step=step)
    out_strides = None if target.is_dense else target.strides
    if ":e2m1," in (step or ""):  # strides count results, and the target has bytes of two
        out_strides = (*(2 * stride for stride in (target.strides or dense(target.shape))[:-1]), 1)
    return Problem(source.shape, source.itemsize, dims, None if source.is_dense else source.strides, out_strides,
                   align, source.pointer == target.pointer, step)


# Plans and results' shapes of repeated calls, by the kinds' keys.
_known: Dict[Any, Tuple[Plan, Tuple[int, ...]]] = {}


def _permute_jax(x: Any, dims: Optional[Tuple[int, ...]], out: Any, stream: Any, given: Operands) -> Any:
    from . import _jax
    if out is not None or stream is not None:
        raise TypeError("JAX's arrays do not change, and it has no streams: give neither `out` nor `stream`")
    if not _jax.is_registered and not _jax.is_on_host(x):
        return _permute_any(x, dims, None, None, given)
    return _jax.permute(x, swap_last(x.ndim) if dims is None else dims, given)


def _permute_any(x: Any, dims: Optional[Tuple[int, ...]], out: Any, stream: Any, given: Operands) -> Any:
    kind = kind_of(x)
    is_usual = out is None and stream is None and given is MOVE
    key = kind.key(x, dims) if is_usual else None
    known = None if key is None else _known.get(key)
    if known:
        return kind.run(x, *known)
    asked = None if stream is None else stream_number(stream)
    source = kind.view(x, asked)
    rank = len(source.shape)
    permutation = swap_last(rank) if dims is None else normalized(dims, rank)
    shape = tuple(source.shape[dim] for dim in permutation)
    given.check_blocks(permutation)
    if source.device == HOST:
        _host.check(stream, given)
        out = kind.empty(x, shape, x.dtype, None) if out is None else out
        check_out(source, kind_of(out).view(out, None), shape, None)
        _host.permute(x, permutation, out)
        return out
    with _cuda.Current(source.device):
        number = kind.stream(source) if asked is None else asked
        if source.stream is not None:
            _cuda.order(source.stream, number)
        results = new_results(kind, x, source, permutation, given, asked) if out is None else results_of(out, given)
        targets = [(kind if out is None else kind_of(result)).view(result, number) for result in results]
        plan = run(source, targets, permutation, number, given, lambda array: view_there(array, number))
        if plan and key is not None and targets[0].pointer % 16 == 0:  # as allocators always have it
            _known[key] = plan, shape
        kind.finish(number)
    return results if len(results) > 1 else results[0]


def new_results(kind: Kind, x: Any, source: View, dims: Tuple[int, ...], given: Operands,
                 stream: Optional[int]) -> Tuple[Any, ...]:
    strides = None if source.is_dense or not source.size else given.kept_strides(source.strides or ())
    shapes = given.shapes([source.shape[dim] for dim in dims], source.shape)
    return tuple(kind.empty(x, tuple(shapes[name]), dtype, stream, strides if name == "dst2" else None)
                 for name, dtype in given.results(getattr(x, "dtype", None), str).items())


def view_there(array: Any, stream: int) -> View:
    """An array that the stream will read."""
    view = kind_of(array).view(array, stream)
    if view.stream is not None:
        _cuda.order(view.stream, stream)
    return view


# The calls for PyTorch, which set it when they are loaded. In sys.modules they are too early: while one thread imports
# them, other threads would find a part of them.
torch_calls: Any = None

_LARGEST = {None: None, False: None, True: "amax", "nan": "amax=nan"}


def _call(x: Any, dims: Optional[Tuple[int, ...]], out: Any, stream: Any, both: Any, amax: Any, dtype: Any, scale: Any,
          alpha: Any, beta: Any, other: Any, channel_scale: Any, channel_shift: Any, skip: Any, blocks: Any,
          scales: Any, layout: Any, tensor_amax: Any, sums: Any, channel_axis: int) -> Any:
    operands = MOVE
    if not (both is amax is sums is False and dtype is scale is alpha is beta is other is channel_scale is channel_shift
            is skip is blocks is scales is layout is tensor_amax is None):
        operands = _operands(out, both, amax, dtype, scale, alpha, beta, other, channel_scale, channel_shift, skip, blocks,
                             scales, layout, tensor_amax, sums or None, channel_axis)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        calls = torch_calls
        if calls is None:
            from . import _torch
            calls = _torch
        return calls.permute(x, dims, out, stream, operands)
    permute_it = _permute_jax if isinstance(kind_of(x), Jax) else _permute_any
    return permute_it(x, dims, out, stream, operands)


def _operands(out: Any, both: Any, amax: Any, dtype: Any, scale: Any, alpha: Any, beta: Any, other: Any,
              channel_scale: Any, channel_shift: Any, skip: Any, blocks: Any, *others: Any) -> Operands:
    if amax not in _LARGEST:
        raise ValueError(f"amax is {amax!r}, and has to be True, False or \"nan\"")
    if beta is None and other is not None:
        beta = 1
    given = (None if both is False else both, _LARGEST[amax], dtype, scale, alpha, beta, other, channel_scale,
             channel_shift, skip, blocks if blocks is None else tuple(blocks), *others)
    operands = Operands(*given) if any(one is not None for one in given[:-1]) else MOVE
    if operands.skip is not None and out is None:
        raise TypeError("skip leaves arrays as they are: give `out`")
    if operands.beta is not None and operands.other is None and out is None:
        raise TypeError("beta needs what it is multiplied with: give `other`, or `out`")
    return operands


@overload
def transpose(x: Array, out: Optional[Array] = None, stream: Any = None, *, dtype: Any = None, scale: Any = None,
              alpha: Any = None, beta: Any = None, other: Optional[Array] = None, channel_scale: Any = None,
              channel_shift: Any = None, channel_axis: int = -1) -> Array: ...


@overload
def transpose(x: Array, out: Optional[Tuple[Array, ...]] = None, stream: Any = None, *, dtype: Any = None,
              scale: Any = None, alpha: Any = None, both: Any = False, amax: Any = False, skip: Any = None,
              blocks: Optional[Tuple[int, int]] = None, scales: Optional[str] = None,
              layout: Optional[str] = None, tensor_amax: Optional[Array] = None,
              sums: bool = False) -> Tuple[Array, ...]: ...


def transpose(x: Any, out: Any = None, stream: Any = None, *, dtype: Any = None, scale: Any = None, alpha: Any = None,
              beta: Any = None, other: Any = None, channel_scale: Any = None, channel_shift: Any = None,
              channel_axis: int = -1, both: Any = False, amax: Any = False, skip: Any = None,
              blocks: Optional[Tuple[int, int]] = None, scales: Optional[str] = None,
              layout: Optional[str] = None, tensor_amax: Any = None, sums: bool = False) -> Any:
    """Returns x with its last two axes exchanged, as a new dense array of the same kind; or writes it to `out`.

    x is an array on a GPU, of two axes or more, with any strides, that speaks DLPack or has
    __cuda_array_interface__. Arrays of NumPy and tensors in host memory are only moved, which helps to test programs.
    `out` may be x itself for square matrices. The work goes into `stream` (a number or
    a framework's stream), by default the framework's current one, and may be captured into a graph, if the same
    was called once before.

    On the way, each element is multiplied by `scale` and cast to `dtype`, a type of the framework. The scale is a
    number, or an array of one on the device: float32, or float64 if x or the result has that precision.

    `alpha` is a scale that may be complex. To that is added `beta`, by default 1, times `other`, an array like the
    result; without `other`, times what `out` has. `channel_scale` and `channel_shift` have a number for each index
    of the axis `channel_axis` of x: one to multiply with, before beta, and one to add.

    With `both`, the results are also stored as they lie, in an array with x's shape and strides. It has the type
    of the first result, or for both=TYPE its own. With `amax`, the largest magnitude of x, before any operation,
    is also found: a float32 array without axes, on the device. It ignores NaN, which amax="nan" does not. These
    two go without beta and channels. The result is then a tuple: transposed, as it lies, largest magnitude; only
    what was asked for. `out` is the same, and `skip` may be an int32 array of one number on the device: if that is
    not 0, nothing is written.

    With `blocks`, rows and columns such as (1, 128), each block of a result is multiplied with a factor that follows
    from its largest magnitude, and cast. Beside the results, which are float8 or float4, are the scales of their
    blocks: transposed, as it lies, scales of the first, scales of the second. `scales` is the rule for them, and
    `layout` how they lie; doc/arithmetic.md has both. x is a matrix, or a batch of them along the first of three axes.

    Float4 is float4_e2m1fn_x2 of PyTorch, or uint8: two results of a row in a byte. With the scales "nvfp4" and
    "te-nvfp4", `tensor_amax` may be a float32 array of one number on the device, which is only read: the largest
    magnitude of the whole tensor.

    With `sums`, the elements of each column of x are also added, before any operation: float32, one for each index of
    the last axis, and of a batch for each matrix. They are the last of the results. The order of addition is fixed, so
    they have the same bits each time. x is a matrix or a batch, as for blocks; beta and channels do not go with sums.

    Raises AutotuneError if the library refuses."""
    return _call(x, None, out, stream, both, amax, dtype, scale, alpha, beta, other, channel_scale, channel_shift, skip,
                 blocks, scales, layout, tensor_amax, sums, channel_axis)


@overload
def permute(x: Array, dims: Optional[Sequence[int]], out: Optional[Array] = None, stream: Any = None, *,
            dtype: Any = None, scale: Any = None, alpha: Any = None, beta: Any = None, other: Optional[Array] = None,
            channel_scale: Any = None, channel_shift: Any = None, channel_axis: int = -1) -> Array: ...


@overload
def permute(x: Array, dims: Optional[Sequence[int]], out: Optional[Tuple[Array, ...]] = None, stream: Any = None, *,
            dtype: Any = None, scale: Any = None, alpha: Any = None, both: Any = False, amax: Any = False,
            skip: Any = None, sums: bool = False) -> Tuple[Array, ...]: ...


def permute(x: Any, dims: Optional[Sequence[int]], out: Any = None, stream: Any = None, *, dtype: Any = None,
            scale: Any = None, alpha: Any = None, beta: Any = None, other: Any = None, channel_scale: Any = None,
            channel_shift: Any = None, channel_axis: int = -1, both: Any = False, amax: Any = False, skip: Any = None,
            blocks: Optional[Tuple[int, int]] = None, scales: Optional[str] = None,
            layout: Optional[str] = None, tensor_amax: Any = None, sums: bool = False) -> Any:
    """Returns x with its axes in another order, as a new dense array of the same kind; or writes it to `out`.

    Axis i of the result is axis dims[i] of x, as in PyTorch and NumPy. None reverses all axes, as in NumPy. Otherwise
    as transpose."""
    return _call(x, checked_dims(dims), out, stream, both, amax, dtype, scale, alpha, beta, other, channel_scale,
                 channel_shift, skip, blocks, scales, layout, tensor_amax, sums, channel_axis)
