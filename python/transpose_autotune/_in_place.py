# SPDX-License-Identifier: Apache-2.0
"""Transposes and permutations within an array's own memory."""
from __future__ import annotations

from math import prod
from typing import Any, Callable, Dict, List, Sequence, Tuple

from ._arrays import kind_of, stream_number
from ._calls import transpose
from ._objects import normalized

_Batch = Tuple[int, int, int]   # matrices, rows, columns

# What changes places once neighbours that stay together are one axis, and how: for axes of a, b and c elements, the
# batches of matrices that are transposed one after the other. Of two ways, that with the smaller matrices is faster.
_WAYS: Dict[Tuple[int, ...], Callable[..., List[List[_Batch]]]] = {
    (): lambda: [[]],
    (0,): lambda a: [[]],
    (1, 0): lambda a, b: [[(1, a, b)]],
    (0, 2, 1): lambda a, b, c: [[(a, b, c)]],
    (1, 2, 0): lambda a, b, c: [[(1, a, b * c)]],
    (2, 0, 1): lambda a, b, c: [[(1, a * b, c)]],
    (1, 0, 2): lambda a, b, c: [[(1, a, b * c), (b, c, a)], [(a, b, c), (1, a * c, b)]],
    (2, 1, 0): lambda a, b, c: [[(a, b, c), (1, a, b * c)], [(1, a * b, c), (c, a, b)]],
}


def _passes(shape: Sequence[int], dims: Sequence[int]) -> List[_Batch]:
    """The batches of matrices whose transposes, one after the other, are the permutation."""
    runs: List[List[int]] = []      # of neighbours, in the order of the result
    moved = [dim for dim in dims if shape[dim] != 1]
    place = {dim: number for number, dim in enumerate(sorted(moved))}
    for dim in moved:
        if runs and place[dim] == place[runs[-1][-1]] + 1:
            runs[-1].append(dim)
        else:
            runs.append([dim])
    order = sorted(range(len(runs)), key=lambda number: runs[number][0])
    ways = _WAYS.get(tuple(order.index(number) for number in range(len(runs))))
    if ways is None:
        raise ValueError(f"in place, up to three axes change places, where neighbours that stay together are one: "
                         f"{tuple(dims)} moves {len(runs)}")
    extents = [prod(shape[dim] for dim in runs[number]) for number in order]
    return min(ways(*extents), key=lambda way: min((rows * cols for _, rows, cols in way), default=0))


def _in_shape(x: Any, shape: Sequence[int], stream: Any) -> Any:
    """The same memory in another shape."""
    if tuple(x.shape) == tuple(shape):
        return x
    result = x.reshape(*shape)
    asked = None if stream is None else stream_number(stream)
    if kind_of(x).view(x, asked).pointer != kind_of(result).view(result, asked).pointer:
        raise ValueError("x has gaps or another order in memory: only a dense array changes its shape in place")
    return result


def transpose_(x: Any, stream: Any = None) -> Any:
    """Exchanges the last two axes of x within its own memory, and returns that memory in its new shape.

    x is a dense matrix, or a batch of them along the first of three axes. It keeps its old shape, so use the result
    in its place. Beside x, at most a twentieth of its memory is needed, or 64 MiB. `stream` is as for `transpose`.
    If this fails on the GPU, x has neither its old content nor the new one."""
    rows, cols = x.shape[-2:]
    return transpose(x, _in_shape(x, (*x.shape[:-2], cols, rows), stream), stream)


def permute_(x: Any, dims: Sequence[int], stream: Any = None) -> Any:
    """Puts the axes of x into another order within its own memory, and returns that memory in its new shape.

    Axis i of the result is axis dims[i] of x, which is dense. Up to three axes change places, where neighbours that
    stay together count as one. Exchanging the first two of three, or the first and the last, takes two transposes,
    and other orders one. All else is as for `transpose_`."""
    dims = normalized(dims, len(x.shape))
    result = x
    if 0 not in x.shape:
        for batch, rows, cols in _passes(x.shape, dims):
            result = transpose_(_in_shape(result, (batch, rows, cols) if batch > 1 else (rows, cols), stream), stream)
    return _in_shape(result, [x.shape[dim] for dim in dims], stream)
