# SPDX-License-Identifier: Apache-2.0
"""Scratch of launches: bytes that are 0 before one that finds a largest magnitude or sums, which leaves them so; and
room for a list of matrices."""
# Launches that may run at the same time must not share it. Those of one plan may: threads have streams of their own.
# Launches of one stream run in turn, whatever their plans are. So a stream has its scratch for good, and it is cleared
# once. New memory of a framework's allocator would need a launch more, each time, that clears it.
# A captured launch runs in any stream, and beside those of other graphs. But launches of an executable graph wait for
# each other. So a captured launch has scratch for itself alone, also for good. While a stream is captured, none can be
# allocated: it is there before.
from __future__ import annotations

from typing import Dict, List, Tuple

from . import _cuda
from ._library import SCRATCH_BYTES, AutotuneError, Status

_COUNT = 8192   # are allocated together, when half as many are left

_of_streams: Dict[int, int] = {}
_unused: Dict[int, List[int]] = {}  # of each device
_of_sums: Dict[int, Tuple[int, int]] = {}  # of each stream: the address and the bytes


def scratch_for(device: int, stream: int) -> int:
    """The address for one launch in this stream of the device."""
    unused = _unused.setdefault(device, [])
    with _cuda.Current(device):
        if _cuda.is_capturing(stream):
            if not unused:
                raise AutotuneError(Status.INVALID, "amax has no scratch left, and none can be allocated while a "
                                    "stream is captured: call this once before")
            return unused.pop()
        if len(unused) < _COUNT // 2:
            first = _cuda.cleared(_COUNT * SCRATCH_BYTES)
            unused.extend(range(first, first + _COUNT * SCRATCH_BYTES, SCRATCH_BYTES))
        identity = _cuda.stream_identity(stream)
    return _of_streams.get(identity) or _of_streams.setdefault(identity, unused.pop())


def scratch_for_sums(device: int, stream: int, count: int) -> int:
    """The same for `count` bytes. Memory that has become too small stays: earlier launches may still use it."""
    with _cuda.Current(device):
        if _cuda.is_capturing(stream):
            raise AutotuneError(Status.INVALID, "sums need scratch, and none can be allocated while a stream is "
                                "captured")
        identity = _cuda.stream_identity(stream)
        if _of_sums.get(identity, (0, 0))[1] < count:
            _of_sums[identity] = _cuda.cleared(count), count
    return _of_sums[identity][0]


_lists: Dict[Tuple[int, int], Tuple[int, int]] = {}     # of each device and stream: bytes, and their address


def place_list(device: int, stream: int, matrices: int, size: int) -> Dict[str, int]:
    """Where a launch of this stream finds its list, of so many bytes at the address `matrices`. The launch copies it
    to the room of its stream. A graph's launches are all alike: their list is copied now, once, and stays."""
    with _cuda.Current(device):
        if _cuda.is_capturing(stream):
            return {"list": _cuda.copied(matrices, size)}
        key = device, _cuda.stream_identity(stream)
        room, address = _lists.get(key, (0, 0))
        if room < size:  # earlier launches may still read the old one
            room = 1 << (size - 1).bit_length()
            address = _cuda.allocated(room)
            _lists[key] = room, address
    return {"list": matrices, "scratch": address, "scratch_bytes": size}
