# SPDX-License-Identifier: Apache-2.0
"""Transposes and permutations within an array's own memory."""
from __future__ import annotations

from typing import Any, Sequence

from ._arrays import kind_of, stream_number
from ._calls import permute, transpose
from ._objects import normalized


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

    Axis i of the result is axis dims[i] of x, which is dense. All else is as for `transpose_`."""
    dims = normalized(dims, len(x.shape))
    moved = [dim for dim in dims if x.shape[dim] != 1]
    result = _in_shape(x, [x.shape[dim] for dim in dims], stream)
    return result if moved == sorted(moved) else permute(x, dims, result, stream)
