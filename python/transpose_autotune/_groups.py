# SPDX-License-Identifier: Apache-2.0
"""Many matrices in one launch, as the library takes them: lists, groups of rows, their plans."""
from __future__ import annotations

import ctypes
import itertools
import threading
import weakref
from functools import lru_cache
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _cuda
from ._calls import alignment, kept_plan
from ._library import ExecutionStruct, GroupsStruct, call, create, text
from ._objects import Handle, default_profile, free_plan, scalar_struct, swap_last
from ._scratch import place_list

PADDING_MOST = 4096
_MOST = 2 ** 31 - 1     # rows, columns, and matrices of a batch


class Axis(NamedTuple):
    extent: int
    src: int    # from one element to the next, in the source
    dst: int    # and in the result


class Part(NamedTuple):
    """A matrix of a tensor, or a batch of them with two axes."""
    src: int                    # where it begins, in elements
    dst: int
    numbers: Tuple[int, ...]    # of autotune_matrix, from rows on
    strides: int                # all that matter, joined by `|`

    @property
    def rows(self) -> int:
        return self.numbers[0]

    @property
    def cols(self) -> int:
        return self.numbers[1]

    @property
    def batch(self) -> int:
        return self.numbers[4] * self.numbers[5]


_NONE, _ONE = Part(0, 0, (0,) * 10, 0), Axis(1, 1, 1)


def check_nested(shape: Sequence[int], strides: Sequence[int]) -> None:
    """Raise unless each axis steps over the whole of the faster ones, so that elements do not overlap."""
    room = 1
    for stride, extent in sorted((stride, extent) for extent, stride in zip(shape, strides) if extent > 1):
        if stride < room:
            raise ValueError(f"elements overlap, or their axes do not nest: the strides are {tuple(strides)}")
        room = stride * extent


def _merged(axes: List[Axis]) -> List[Axis]:
    """Axes that follow each other on both sides become one. The slowest of the result is the first."""
    merged: List[Axis] = []
    for axis in sorted(axes, key=lambda axis: -axis.dst):
        last = merged[-1] if merged else axis
        if merged and (last.src, last.dst) == (axis.extent * axis.src, axis.extent * axis.dst) and \
                last.extent * axis.extent <= _MOST:
            merged[-1] = Axis(last.extent * axis.extent, axis.src, axis.dst)
        else:
            merged.append(axis)
    return merged


def _sides(axes: List[Axis]) -> Tuple[Axis, Axis]:
    """Take the rows and the columns of the matrices from the axes: neighbours in the result, and in the source. Axes
    that cannot be rows or columns stay."""
    for axis in axes:
        if axis.src == axis.dst == 1:  # a run: one row
            axes.remove(axis)
            return _ONE, axis
    rows = next((axis for axis in axes if axis.dst == 1), _ONE)
    cols = next((axis for axis in axes if axis.src == 1), _ONE)
    if rows.extent > 1 and rows.src < cols.extent or cols.extent > 1 and cols.dst < rows.extent:
        cols = _ONE
    if rows.src < 1:
        rows = _ONE
    for axis in rows, cols:
        if axis is not _ONE:
            axes.remove(axis)
    return rows, cols


@lru_cache(4096)
def parts_of(shape: Tuple[int, ...], strides: Tuple[int, ...], out_strides: Tuple[int, ...],
             dims: Tuple[int, ...]) -> Tuple[Part, ...]:
    """The matrices of a permutation of a tensor. Mostly it is one."""
    if 0 in shape:
        return (_NONE,)
    check_nested([shape[dim] for dim in dims], out_strides)
    rest = _merged([Axis(shape[dim], strides[dim], stride) for dim, stride in zip(dims, out_strides) if shape[dim] > 1])
    rows, cols = _sides(rest)
    rest.sort(key=lambda axis: -axis.extent)
    return _parts(rows, cols, rest, 1 if len(rest) > 1 and rest[0].extent * rest[1].extent > _MOST else 2)


def _parts(rows: Axis, cols: Axis, rest: List[Axis], batches: int) -> Tuple[Part, ...]:
    """Matrices with these rows and columns. The first axes of the rest are a batch, and the others are taken apart."""
    batch, others = rest[:batches], rest[batches:]
    first, second = sorted((*batch, _ONE, _ONE)[:2], key=lambda axis: axis.dst)
    numbers = (rows.extent, cols.extent, max(rows.src, cols.extent) if rows.extent == 1 else rows.src,
               max(cols.dst, rows.extent) if cols.extent == 1 else cols.dst,
               first.extent, second.extent, first.src, second.src, first.dst, second.dst)
    bits = 0
    for axis in rows, cols, *batch, *others:
        if axis.extent > 1:
            bits |= 0 if axis is rows else axis.dst
            bits |= 0 if axis is cols else axis.src
    return tuple(Part(sum(i * axis.src for i, axis in zip(at, others)), sum(i * axis.dst for i, axis in zip(at, others)),
                      numbers, bits) for at in itertools.product(*(range(axis.extent) for axis in others)))


@lru_cache(4096)
def whole_matrix(shape: Tuple[int, ...], strides: Tuple[int, ...], out_strides: Tuple[int, ...],
                 dims: Tuple[int, ...]) -> Tuple[Part, ...]:
    """A tensor whose last two axes change places, as one matrix with these rows and columns, or a batch of such."""
    if dims != swap_last(len(shape)):
        raise ValueError("with channels, the last two axes change places: dims cannot be given")
    if 0 in shape:
        return (_NONE,)
    check_nested([shape[dim] for dim in dims], out_strides)
    rows, cols = Axis(shape[-2], strides[-2], out_strides[-1]), Axis(shape[-1], strides[-1], out_strides[-2])
    if cols.extent > 1 and (cols.src != 1 or cols.dst < rows.extent) or \
            rows.extent > 1 and (rows.dst != 1 or rows.src < cols.extent):
        raise ValueError("with channels, the elements of a row have to be neighbours, and rows must not overlap: the "
                         f"strides are {strides}, and {out_strides} in the result")
    return _parts(rows, cols, [Axis(*axis) for axis in zip(shape[:-2], strides, out_strides)], 2)


class GroupsPlan(Handle):
    """A kernel for many matrices. It is made for one device."""
    __slots__ = ()

    def __init__(self, struct: GroupsStruct, device: int):
        with _cuda.Current(device):
            self._handle = create("autotune_groups_plan_create", default_profile()._handle, ctypes.byref(struct))
        weakref.finalize(self, free_plan, self._handle, device).atexit = False

    def execute(self, stream: int, numbers: Dict[str, Any], **members: Any) -> None:
        """Start the kernel. The members are those of autotune_execution."""
        execution = ExecutionStruct(ctypes.sizeof(ExecutionStruct), stream=stream,
                                    **{name: scalar_struct(value) for name, value in numbers.items()}, **members)
        call("autotune_plan_execute_with", self._handle, ctypes.byref(execution))

    def __str__(self) -> str:
        return text("autotune_plan_describe", self._handle)


def _groups(itemsize: int, step: Optional[str], count: int, **members: int) -> GroupsStruct:
    return GroupsStruct(ctypes.sizeof(GroupsStruct), itemsize, step.encode() if step else None, count=count, **members)


# ---- lists ----

# A list is copied to the room of its stream and then launched. No other thread may come between.
_turn = threading.Lock()


class MatrixList:
    """The matrices of a launch. Sizes are those of elements: of the source, of the result, of the second one."""

    def __init__(self, *itemsizes: int):
        self.itemsizes = (*itemsizes, 0)[:3]
        self.words: List[int] = []
        self.tensors = 0            # which were added
        self._parts: List[Part] = []
        self._strides = 0
        self._addresses = [0, 0, 0]

    def add(self, parts: Tuple[Part, ...], src: int, dst: int, dst2: int = 0) -> None:
        """Add a tensor that begins at these addresses."""
        sizes, joined = self.itemsizes, self._addresses
        for part in parts:
            self.words += (dst + part.dst * sizes[1], src + part.src * sizes[0], dst2 and dst2 + part.src * sizes[2], 0,
                           *part.numbers)
            self._strides |= part.strides
        self._parts += parts
        self.tensors += 1
        joined[0] |= src
        joined[1] |= dst
        joined[2] |= dst2

    @property
    def has_one_each(self) -> bool:
        """Is each tensor one matrix?"""
        return len(self._parts) == self.tensors

    def _alike(self) -> Tuple[int, ...]:
        """Lists with the same numbers share a plan: alignment in elements, and about how many and how large they are."""
        rows, cols = ([getattr(part, side) for part in self._parts] for side in ("rows", "cols"))
        batches = [part.batch for part in self._parts]
        bits = 16 | self._strides
        for address, size in zip(self._addresses, self.itemsizes):
            bits |= address // size if size else 0
        return bits & -bits, *((low + high).bit_length() for low, high in (
            (len(rows), 0), (min(rows), max(rows)), (min(cols), max(cols)), (min(batches), max(batches))))

    def start(self, device: int, stream: int, step: Optional[str], numbers: Dict[str, Any],
              members: Dict[str, int]) -> None:
        """Start the launch, if there is anything to move. The members are those of autotune_execution."""
        if all(part is _NONE for part in self._parts):
            return
        count, matrices = len(self._parts), (ctypes.c_int64 * len(self.words))(*self.words)
        at, size = ctypes.addressof(matrices), ctypes.sizeof(matrices)
        key = device, ("list", self.itemsizes, step, *self._alike())
        plan = kept_plan(key, stream, lambda: GroupsPlan(_groups(self.itemsizes[0], step, count, list=at), device))
        with _turn:
            plan.execute(stream, numbers, list_count=count, **members, **place_list(device, stream, at, size))


# ---- groups of rows ----

class Rows(NamedTuple):
    """How groups of rows become results."""
    padding: int = 1
    stacked_rows: Optional[int] = None
    most_rows: Optional[int] = None

    def check(self) -> None:
        if not 1 <= self.padding <= PADDING_MOST:
            raise ValueError(f"padding is {self.padding}, and has to be 1 to {PADDING_MOST}")
        if self.stacked_rows is not None and self.most_rows is not None:
            raise TypeError("stacked_rows is for stacked results, and most_rows for those that follow each other: give "
                            "one of them")
        for name in "stacked_rows", "most_rows":
            value = getattr(self, name)
            if value is not None and not 1 <= value <= _MOST:
                raise ValueError(f"{name} is {value}, and has to be 1 to {_MOST}")

    def shape(self, rows: Any, cols: Any, groups: Any) -> Tuple[Any, ...]:
        """Of the array that has the results. Sizes may be symbols."""
        if self.stacked_rows is not None:
            return groups, cols, self.stacked_rows
        return ((rows + groups * (self.padding - 1) if self.most_rows is None else self.most_rows) * cols,)


class RaggedRows(NamedTuple):
    """Groups of rows, on a device."""
    rows: int           # of all groups
    cols: int
    ld_src: int
    offset_bytes: int
    groups: int
    padding: int
    most_rows: int
    stacked: bool

    def start(self, device: int, stream: int, step: Optional[str], itemsize: int, numbers: Dict[str, Any],
              members: Dict[str, int]) -> None:
        """Start the launch. The members are those of autotune_execution."""
        align = alignment(members["dst"] | members["src"] | members["dst2"])
        exact = {"cols": self.cols, "ld_src": self.ld_src, "padding": self.padding, "stacked": int(self.stacked),
                 "offset_bytes": self.offset_bytes, "align_bytes": align}
        key = device, ("rows", itemsize, step, *exact.values(), self.rows.bit_length(), self.groups.bit_length())
        plan = kept_plan(key, stream, lambda: GroupsPlan(
            _groups(itemsize, step, self.groups, rows=self.rows, most_rows=1, **exact), device))
        plan.execute(stream, numbers, offset_count=self.groups + 1, most_rows=self.most_rows, **members)


