# SPDX-License-Identifier: Apache-2.0
"""transpose_many and transpose_ragged, for arrays of any kind."""
from __future__ import annotations

import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import _cuda, _host
from ._arrays import Array, View, dense, kind_of, place_of, stream_number, type_name
from ._calls import check_out, check_outputs, new_results, permute, view_there
from ._cuda import HOST
from ._groups import MatrixList, Part, RaggedRows, Rows, check_nested, parts_of, whole_matrix
from ._objects import At, checked_dims, normalized, swap_last
from ._operands import MOVE, Operands, expected_operands, step_of

AXES_MOST = 4


def dims_of(dims: Optional[Sequence[int]], rank: int) -> Tuple[int, ...]:
    """The permutation of one array of the list."""
    if rank > AXES_MOST:
        raise ValueError(f"an array of the list has {rank} axes, and at most {AXES_MOST} are possible")
    return swap_last(rank) if dims is None else normalized(dims, rank)


def _channel_members(given: Operands, source: View, target: View, shapes: Sequence[Tuple[int, ...]],
                     view: Callable[[Any], View]) -> Dict[str, int]:
    """Where the numbers of channels are. Their arrays have one of these shapes."""
    members, strides = {}, set()
    for name, expected in expected_operands(given, source, target).items():
        if not name.startswith("channel_"):
            continue
        found = view(getattr(given, name))
        shape = found.shape if found.shape in shapes else shapes[0]
        expected._replace(shape=shape, strides=dense(shape)).check(name, found, source.device)
        members[name] = found.pointer
        strides.add(shape[-1] if len(shape) > 1 else 0)
    if len(strides) > 1:
        raise ValueError("channel_scale and channel_shift have different shapes")
    return {**members, "channel_stride": strides.pop()} if strides else {}


def _numbers(given: Operands, source: View, target: View, count: int,
             view: Callable[[Any], View]) -> Tuple[Dict[str, Any], int]:
    """The numbers that the step takes, each a value or the address of `count` of them; and the address of skip."""
    numbers: Dict[str, Any] = {}
    for name, expected in expected_operands(given, source, target).items():
        if name.startswith("channel_"):
            continue
        value = getattr(given, name)
        if not isinstance(value, expected.host):
            found = view(value)
            (expected if name == "skip" else expected._replace(shape=(count,), strides=(1,))).check(
                name, found, source.device)
            value = At(found.pointer)
        numbers[name] = value
    return numbers, numbers.pop("skip", 0)


def _step(source: View, target: View, given: Operands) -> Optional[str]:
    is_moved = given.dtype is None and not given.operations(2)
    step = None if is_moved else step_of(source.type, target.type, given, 2)
    return step and step.replace(",affine=0", ",affine=rows").replace(",affine=1", ",affine")


def part_of(given: Operands) -> Callable[..., Tuple[Part, ...]]:
    """How arrays become matrices."""
    if given.has_channels and given.channel_axis not in (-1, -2):
        raise ValueError(f"channel_axis is {given.channel_axis}, and has to be -1, the columns, or -2, the rows")
    return whole_matrix if given.has_channels else parts_of


def start_list(matrices: MatrixList, shapes: Sequence[Sequence[int]], source: View, target: View, stream: int,
               given: Operands, view: Callable[[Any], View]) -> None:
    """Start the launch for a list of arrays with these shapes, whose elements are like those of two arrays."""
    numbers, skip = _numbers(given, source, target, matrices.tensors, view)
    if not matrices.has_one_each and any(isinstance(value, At) for value in numbers.values()):
        raise ValueError("an array of numbers goes with arrays that are one matrix each, and one of the list has too "
                         "many axes with strides of their own")
    members = {"skip": skip}
    if given.has_channels:
        most = max(shape[given.channel_axis] for shape in shapes)
        members.update(_channel_members(given, source, target, [(most,), (len(shapes), most)], view))
    matrices.start(source.device, stream, _step(source, target, given), numbers, members)


def check_alike(i: int, found: View, first: View) -> None:
    """Raise unless array i of the list is like the first one."""
    if (found.type, found.itemsize, found.device) != (first.type, first.itemsize, first.device):
        raise TypeError(f"array {i} of the list has another type than the first one, or is on another device")


def run_many(sources: Sequence[View], targets: Sequence[Tuple[View, ...]], dims: Sequence[Tuple[int, ...]], stream: int,
             given: Operands, view: Callable[[Any], View]) -> None:
    """Check the results, and start the launch. Each source has one target, or two with `both`."""
    matrices, parts = MatrixList(sources[0].itemsize, *(target.itemsize for target in targets[0])), part_of(given)
    for i, (source, results, permutation) in enumerate(zip(sources, targets, dims)):
        shape = tuple(source.shape[dim] for dim in permutation)
        for found, first in (source, sources[0]), *zip(results, targets[0]):
            check_alike(i, found, first)
        check_out(source, results[0], shape, given.dtype)
        check_outputs(source, results, shape, given)
        strides = source.strides or dense(source.shape)
        if len(results) > 1:
            check_nested(source.shape, strides)
        if source.size and results[0].pointer == source.pointer:
            raise ValueError(f"array {i} of out is the source: lists are not transposed in place")
        matrices.add(parts(source.shape, strides, results[0].strides or dense(shape), permutation),
                     source.pointer, *(result.pointer for result in results))
    start_list(matrices, [source.shape for source in sources], sources[0], targets[0][0], stream, given, view)


def lists_of(out: Any, given: Operands, count: int) -> List[Tuple[Any, ...]]:
    """The caller's results of each array."""
    names = len(given.results(None, str))
    lists = (out,) if names == 1 else out
    if not isinstance(lists, tuple) or len(lists) != names or any(len(one) != count for one in lists):
        raise TypeError(f"out has to be {'a list' if names == 1 else f'a tuple of {names} lists'} of {count} arrays, as "
                        "the results are")
    return list(zip(*lists))


def as_lists(results: Sequence[Tuple[Any, ...]], given: Operands) -> Any:
    """The results of each array as the caller gets them."""
    lists = tuple([list(one) for one in zip(*results)] or [[] for _ in given.results(None, str)])
    return lists if len(lists) > 1 else lists[0]


def many_on_host(xs: Sequence[Any], sources: Sequence[View], dims: Sequence[Tuple[int, ...]], out: Any, stream: Any,
                 given: Operands) -> List[Any]:
    """A list in host memory."""
    _host.check(stream, given)
    for i, source in enumerate(sources):
        check_alike(i, source, sources[0])
    results = [None] * len(xs) if out is None else [one for one, in lists_of(out, given, len(xs))]
    return [permute(x, of_x, result) for x, of_x, result in zip(xs, dims, results)]


def _many_any(xs: Sequence[Any], dims: Optional[Sequence[int]], out: Any, stream: Any, given: Operands) -> Any:
    asked = None if stream is None else stream_number(stream)
    sources = [kind_of(x).view(x, asked) for x in xs]
    permutations = [dims_of(dims, len(source.shape)) for source in sources]
    kind = kind_of(xs[0])
    if sources[0].device == HOST:
        return many_on_host(xs, sources, permutations, out, stream, given)
    with _cuda.Current(sources[0].device):
        number = kind.stream(sources[0]) if asked is None else asked
        for source in sources:
            if source.stream is not None:
                _cuda.order(source.stream, number)
        results = [new_results(kind_of(x), x, source, permutation, given, asked)
                   for x, source, permutation in zip(xs, sources, permutations)] if out is None \
            else lists_of(out, given, len(xs))
        targets = [tuple(kind_of(one).view(one, number) for one in of_one) for of_one in results]
        run_many(sources, targets, permutations, number, given, lambda array: view_there(array, number))
        kind.finish(number)
    return as_lists(results, given) if out is None else out


# ---- groups of rows ----

def ragged_results(given: Operands, has_overflow: bool, dtype: Any, named: Callable[[str], Any]) -> Dict[str, Any]:
    """The types of the results, in their order, by the library's names."""
    types = given.results(dtype, named)
    return {**types, "overflow": named("int32")} if has_overflow else types


def check_axes(x: Any, offsets: Any) -> None:
    """Raise unless their shapes are those of a matrix and of a row."""
    if len(x.shape) != 2 or len(offsets.shape) != 1 or offsets.shape[0] < 1:
        raise ValueError("x has to be a matrix, and offsets a row of one number or more: they have the shapes "
                         f"{tuple(x.shape)} and {tuple(offsets.shape)}")


def check_ragged(x: View, offsets: View, targets: Dict[str, View], rows: Rows, given: Operands) -> None:
    """Check offsets and results, which have the library's names."""
    (count, cols), groups = x.shape, offsets.size - 1
    strides = x.strides or dense(x.shape)
    if type_name(offsets.type) not in ("i32", "i64") or not offsets.is_dense:
        raise TypeError("offsets are int32 or int64 numbers that are neighbours")
    if cols > 1 and strides[1] != 1 or count > 1 and strides[0] < cols:
        raise ValueError("the elements of a row of x have to be neighbours, and rows must not overlap")
    shape = rows.shape(count, cols, groups)
    check_out(x, targets["dst"], shape, given.dtype)
    if not targets["dst"].is_dense:
        raise ValueError("out has to be dense")
    if offsets.device != x.device:
        raise ValueError(f"offsets are {place_of(offsets.device)}, and x {place_of(x.device)}")
    check_outputs(x, [targets[name] for name in ("dst", "dst2") if name in targets], shape, given)
    flag = targets.get("overflow")
    if flag and (flag.size != 1 or type_name(flag.type) != "i32" or flag.device != x.device):
        raise TypeError("overflow is one int32 number on the device of x")


def run_ragged(x: View, offsets: View, targets: Dict[str, View], rows: Rows, stream: int, given: Operands,
               view: Callable[[Any], View]) -> None:
    """Check them, and start the launch."""
    check_ragged(x, offsets, targets, rows, given)
    (count, cols), groups, strides = x.shape, offsets.size - 1, x.strides or dense(x.shape)
    if "overflow" in targets:
        _cuda.clear_word(targets["overflow"].pointer, stream)
    if x.size and groups:
        most = rows.stacked_rows if rows.stacked_rows is not None else targets["dst"].size // cols
        ragged = RaggedRows(count, cols, strides[0] if count > 1 else cols, offsets.itemsize, groups, rows.padding, most,
                            rows.stacked_rows is not None)
        step, (numbers, skip) = _step(x, targets["dst"], given), _numbers(given, x, targets["dst"], groups, view)
        channels = [(cols,), (groups, cols)] if given.channel_axis % 2 else [(count,)]
        members = {name: targets[name].pointer if name in targets else 0 for name in ("dst", "dst2", "overflow")}
        ragged.start(x.device, stream, step, x.itemsize, numbers,
                     {**members, "src": x.pointer, "offsets": offsets.pointer, "skip": skip,
                      **_channel_members(given, x, targets["dst"], channels, view)})


def ragged_targets(out: Any, names: Sequence[str]) -> Tuple[Any, ...]:
    """The caller's arrays for the results."""
    results = (out,) if len(names) == 1 else out
    if not isinstance(results, tuple) or len(results) != len(names):
        raise TypeError(f"out has to be a tuple of {len(names)} arrays, as the results are")
    return results


def ragged_on_host(x: Tuple[Any, View], offsets: Tuple[Any, View], results: Dict[str, Any], targets: Dict[str, View],
                   rows: Rows) -> None:
    """Groups of rows in host memory: arrays and their views."""
    check_ragged(x[1], offsets[1], targets, rows, MOVE)
    _host.ragged(x[0], offsets[0], results, rows.padding, rows.stacked_rows is not None)


def _ragged_any(x: Any, offsets: Any, out: Any, stream: Any, rows: Rows, has_overflow: bool, given: Operands) -> Any:
    kind, asked = kind_of(x), None if stream is None else stream_number(stream)
    source, of_rows = kind.view(x, asked), kind_of(offsets).view(offsets, asked)
    check_axes(source, of_rows)
    if source.device == HOST:
        _host.check(stream, given)
    count, cols = source.shape
    with _cuda.Current(source.device):
        number = kind.stream(source) if asked is None else asked
        for view in source, of_rows:
            if view.stream is not None:
                _cuda.order(view.stream, number)
        types = ragged_results(given, has_overflow, getattr(x, "dtype", None), str)
        if out is None:
            kept = None if source.is_dense or not source.size else source.strides
            shapes = {"dst": rows.shape(count, cols, of_rows.size - 1), "dst2": source.shape, "overflow": ()}
            results = tuple(kind.empty(x, tuple(shapes[name]), dtype, asked, kept if name == "dst2" else None)
                            for name, dtype in types.items())
        else:
            results = ragged_targets(out, list(types))
        targets = {name: (kind if out is None else kind_of(one)).view(one, number) for name, one in zip(types, results)}
        if source.device == HOST:
            ragged_on_host((x, source), (offsets, of_rows), dict(zip(types, results)), targets, rows)
        else:
            run_ragged(source, of_rows, targets, rows, number, given, lambda array: view_there(array, number))
        kind.finish(number)
    return results if len(results) > 1 else results[0]


# ---- what callers see ----

def _torch_calls(x: Any) -> Any:
    """The module for PyTorch's tensors; None: x is none."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(x, torch.Tensor):
        return None
    from . import _torch_many
    return _torch_many


def _operands(out: Any, both: Any, skip: Any, **others: Any) -> Operands:
    if skip is not None and out is None:
        raise TypeError("skip leaves arrays as they are: give `out`")
    return Operands(both=None if both is False else both, skip=skip, **others)


def transpose_many(xs: Sequence[Array], out: Any = None, stream: Any = None, *, dims: Optional[Sequence[int]] = None,
                   dtype: Any = None, scale: Any = None, alpha: Any = None, channel_scale: Any = None,
                   channel_shift: Any = None, channel_axis: int = -1, both: Any = False, skip: Any = None) -> Any:
    """Returns a list of the transposes of all xs, which one launch makes; or writes them to `out`, a list.

    Each x has two to four axes, any shape, which may be empty, and any strides. All have one type and are on one
    device. The last two axes change places; or axis i of each result is axis dims[i] of its source.

    `dtype`, `scale`, `alpha`, `both`, `skip` and `stream` are those of transpose. A number is the same for all xs, or an
    array on the device with one for each. With `both`, the result is a tuple of two lists: transposed, as they lie.

    `channel_scale` and `channel_shift` are arrays on the device, of one shape. They have a number for each column of the
    widest x, or with a channel_axis of -2 for each row of the longest. With two axes they have a row of them for each x.

    A captured graph keeps addresses and shapes. Raises AutotuneError if the library refuses."""
    given, xs = _operands(out, both, skip, dtype=dtype, scale=scale, alpha=alpha, channel_scale=channel_scale,
                          channel_shift=channel_shift, channel_axis=channel_axis), list(xs)
    if not xs:
        return as_lists([], given) if out is None else out
    many = getattr(_torch_calls(xs[0]), "many", _many_any)
    return many(xs, None if dims is None else checked_dims(dims), out, stream, given)


def transpose_ragged(x: Array, offsets: Any, out: Any = None, stream: Any = None, *, padding: int = 1,
                     stacked_rows: Optional[int] = None, most_rows: Optional[int] = None, overflow: bool = False,
                     dtype: Any = None, scale: Any = None, alpha: Any = None, channel_scale: Any = None,
                     channel_shift: Any = None, channel_axis: int = -1, both: Any = False, skip: Any = None) -> Any:
    """Returns the transposes of groups of rows of the matrix x, which one launch makes; or writes them to `out`.

    Group g has the rows from offsets[g] to before offsets[g + 1]. `offsets` is an array on the device, int32 or int64.
    The host does not read it, so a captured graph takes its numbers anew.

    The result of a group has a row for each column of x. Each of these rows is filled with 0 up to a multiple of
    `padding` elements. Results follow each other in a flat array that has place for `most_rows` rows of x with their
    padding; by default that is enough for any groups. Or they are stacked: with `stacked_rows`, the array has the shape
    (groups, columns of x, stacked_rows). Elements beyond the results are not written.

    A group that finds no place is left out. With `overflow`, the last result is an int32 array without axes: 1 if that
    has happened, and 0 otherwise.

    `dtype`, `scale`, `alpha`, `both`, `skip` and `stream` are those of transpose. A number is the same for all groups,
    or an array on the device with one for each. Results as they lie have the shape of x; rows of no group are not
    written. Several results are a tuple, and so is `out`. Raises AutotuneError if the library refuses.

    `channel_scale` and `channel_shift` are arrays on the device, of one shape: a number for each column of x, or a row of
    them for each group. With a channel_axis of -2, they have a number for each row of x."""
    rows = Rows(padding, stacked_rows, most_rows)
    rows.check()
    ragged = getattr(_torch_calls(x), "ragged", _ragged_any)
    given = _operands(out, both, skip, dtype=dtype, scale=scale, alpha=alpha, channel_scale=channel_scale,
                      channel_shift=channel_shift, channel_axis=channel_axis)
    return ragged(x, offsets, out, stream, rows, overflow, given)
