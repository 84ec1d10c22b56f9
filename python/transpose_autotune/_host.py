# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy, and tensors of PyTorch in host memory: their own transpositions, so that a program can be tested
without a GPU. Nothing is computed on the way. Results were checked before."""
from __future__ import annotations

from typing import Any, Dict, Tuple

from ._operands import Operands


def check(stream: Any, given: Operands) -> None:
    """Raise unless elements are moved, in no stream."""
    if stream is not None:
        raise TypeError("`stream` is for arrays on a GPU, and this one is in host memory")
    if not given.is_move:
        raise TypeError("arrays in host memory are only moved: what computes on the way needs a GPU")


def permute(x: Any, dims: Tuple[int, ...], out: Any) -> None:
    """In place too."""
    moved = x.permute(dims) if hasattr(x, "permute") else x.transpose(dims)
    out[...] = moved.clone() if hasattr(moved, "clone") else moved.copy()


def ragged(x: Any, offsets: Any, targets: Dict[str, Any], padding: int, is_stacked: bool) -> None:
    """Groups of rows, into the result and, if it is there, the flag."""
    ends, out, (_, cols), place, overflow = offsets.tolist(), targets["dst"], x.shape, 0, 0
    for group, (begin, end) in enumerate(zip(ends, ends[1:])):
        padded = -(-(end - begin) // padding) * padding
        result = out[group, :, :padded] if is_stacked else out[place:place + cols * padded]
        place += cols * padded
        if result.shape[-1] < (padded if is_stacked else cols * padded):
            overflow = 1
            continue
        result = result.reshape(cols, padded)  # the same memory
        result[:, :end - begin] = x[begin:end].T
        result[:, end - begin:] = 0
    if "overflow" in targets:
        targets["overflow"][...] = overflow
