# SPDX-License-Identifier: Apache-2.0
"""What transpose and permute compute on the way: operands and results, and what the library is told of them."""
from __future__ import annotations

import math
import numbers
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence, Tuple, Union

from ._arrays import View, dense, place_of, type_name

# The types of scales by their rules, and how scales lie.
RULES = {**dict.fromkeys(("te", "te-pow2", "torchao"), "float32"),
         **dict.fromkeys(("floor", "ceil", "even", "rceil", "te-rceil"), "float8_e8m0fnu"),
         **dict.fromkeys(("nvfp4", "te-nvfp4"), "float8_e4m3fn")}
LAYOUTS = "plain", "transposed", "aligned", "swizzled"
_NOT_WITH_BLOCKS = "amax", "scale", "alpha", "beta", "other", "channel_scale", "channel_shift"
_PARTS = {"c64": "f32", "c128": "f64"}  # of complex numbers


class Operands(NamedTuple):
    """As the caller has given them."""
    both: Any = None        # the type of the results as they lie; True: that of the transposed ones
    amax: Any = None        # as `autotune` spells it: "amax", or "amax=nan"
    dtype: Any = None
    scale: Any = None
    alpha: Any = None
    beta: Any = None
    other: Any = None       # None with beta: what `out` has
    channel_scale: Any = None
    channel_shift: Any = None
    skip: Any = None
    blocks: Any = None      # rows and columns of a block of each result
    scales: Any = None      # the rule, as `autotune` spells it
    layout: Any = None      # of scales, likewise
    tensor_amax: Any = None # the largest magnitude of the whole tensor, for rules with scales in e4m3
    sums: Any = None        # True: the sums of the columns, too
    channel_axis: int = -1

    @property
    def is_move(self) -> bool:
        """Are elements left as they are, and is there one result?"""
        return all(value is None for value in self[:-1])

    @property
    def has_channels(self) -> bool:
        return self.channel_scale is not None or self.channel_shift is not None

    def results(self, dtype: Any, named: Callable[[str], Any]) -> Dict[str, Any]:
        """The types of the results for an x of this type, in their order, by the library's names. `named` gives
        other types by their names."""
        types = {"dst": dtype if self.dtype is None else self.dtype}
        if self.both is not None:
            types["dst2"] = types["dst"] if self.both is True else self.both
        if self.amax is not None:
            types["largest"] = named("float32")
        if self.blocks is not None:
            for name, scales in zip(list(types), ("block_scales", "block_scales2")):
                types[scales] = named(RULES[self.scales or "te"])
        if self.sums:
            types["sums"] = named("float32")
        return types

    def result_name(self, kind: Any) -> str:
        """A result's type as `autotune` spells it. With blocks, a byte is two results of 4 bits."""
        name = type_name(kind)
        return "e2m1" if name == "u8" and self.blocks is not None else name

    def stored(self, shape: Sequence[Any], kind: Any) -> Sequence[Any]:
        """The shape of the array that holds results of this shape and type."""
        if self.blocks is None or self.result_name(kind) != "e2m1":
            return shape
        return (*shape[:-1], -(-shape[-1] // 2))

    @property
    def _kept(self) -> Any:
        """The type of the results that lie as the source does."""
        return self.dtype if self.both is True else self.both

    def kept_strides(self, strides: Sequence[Any]) -> Sequence[Any]:
        """The strides of the results that lie as the source does, which has these. Odd ones are refused later."""
        if self.blocks is None or self.result_name(self._kept) != "e2m1":
            return strides
        return (*(-(-stride // 2) for stride in strides[:-1]), 1)

    def check_blocks(self, dims: Tuple[int, ...]) -> None:
        """Raise unless there can be blocks, or sums, with this permutation, or there are none."""
        rank = len(dims)
        if self.sums and (rank not in (2, 3) or dims != (*range(rank - 2), rank - 1, rank - 2)):
            raise ValueError("sums are of matrices, and of batches along the first of three axes")
        if self.blocks is None:
            if any(getattr(self, name) is not None for name in ("scales", "layout", "tensor_amax")):
                raise TypeError("scales, layout and tensor_amax are of blocks, which are missing")
            return
        if len(self.blocks) != 2 or not all(isinstance(side, int) and side > 0 for side in self.blocks):
            raise ValueError(f"blocks is {self.blocks!r}, and has to be the rows and columns of a block: (1, 128)")
        for name, known in ("scales", tuple(RULES)), ("layout", LAYOUTS):
            if getattr(self, name) not in (None, *known):
                raise ValueError(f"{name} is {getattr(self, name)!r}, and has to be one of {', '.join(known)}")
        if self.tensor_amax is not None and RULES[self.scales or "te"] != "float8_e4m3fn":
            raise TypeError("tensor_amax is for the scales nvfp4 and te-nvfp4")
        if any(getattr(self, name) is not None for name in _NOT_WITH_BLOCKS):
            raise TypeError("blocks go with both and sums, and with no other operation")
        if rank not in (2, 3) or dims != (*range(rank - 2), rank - 1, rank - 2):
            raise ValueError("blocks are of matrices, and of batches along the first of three axes")

    def scale_room(self, shape: Sequence[Any]) -> Tuple[Any, ...]:
        """The shape of the scales of a result of this shape, as they lie in memory, with their padding. If they lie
        by columns, the last axis has the rows."""
        rows, cols = (-(-extent // side) for extent, side in zip(shape[-2:], self.blocks))
        batch, vector = tuple(shape[:-2]), 4 if RULES[self.scales or "te"] == "float32" else 16
        if self.layout == "swizzled":
            return *batch, -(-rows // 128) * 128 * (-(-cols // 4) * 4)
        if self.layout == "aligned":
            return *batch, cols, -(-rows // vector) * vector
        return (*batch, cols, rows) if self.layout == "transposed" else (*batch, rows, cols)

    @property
    def scales_by_columns(self) -> bool:
        return self.layout in ("transposed", "aligned")

    def shapes(self, shape: Sequence[Any], kept: Sequence[Any]) -> Dict[str, Sequence[Any]]:
        """The shapes of all results that there can be, by the library's names. Scales are as they lie in memory."""
        found = {"dst": self.stored(shape, self.dtype), "dst2": self.stored(kept, self._kept), "largest": ()}
        if self.blocks is not None:
            found.update(block_scales=self.scale_room(shape), block_scales2=self.scale_room(kept))
        if self.sums:
            found["sums"] = (*kept[:-2], kept[-1])
        return found

    def operations(self, rank: int) -> str:
        """The operations as `autotune` spells them, for an array with `rank` axes."""
        words = [name for name in ("scale", "alpha") if getattr(self, name) is not None]
        if self.has_channels:
            if not -rank <= self.channel_axis < rank:
                raise ValueError(f"channel_axis is {self.channel_axis}, and there are {rank} axes")
            words.append(f"affine={self.channel_axis % rank}")
        if self.beta is not None:
            words.append("beta")
        if self.both is not None:
            words.append("both" if self.both is True else f"both={self.result_name(self.both)}")
        if self.amax is not None:
            words.append(self.amax)
        if self.blocks is not None:
            words.append("blocks={}x{}".format(*self.blocks))
            words += [f"{name}={value}" for name, value in (("scales", self.scales), ("layout", self.layout))
                      if value not in (None, "te", "plain")]  # two spellings would be two plans
        if self.sums:
            words.append("sums")
        return "".join("," + word for word in words)


MOVE = Operands()  # elements as they are


def step_of(source: Any, result: Any, given: Operands, rank: int) -> Optional[str]:
    """The step from one type to another, for arrays with `rank` axes; None: elements are moved."""
    names, operations = (type_name(source), given.result_name(result)), given.operations(rank)
    if not all(names):
        raise TypeError("these elements have no type, and cannot be cast or scaled")
    if names[0] == names[1] and not operations:
        return None
    return ":".join(names) + operations.replace(f",both={names[1]}", ",both")  # two names would be two plans


def computed_in(source: Any, result: Any) -> str:
    """The type of the numbers that a step from one type to another computes with."""
    names = {type_name(source), type_name(result)}
    is_wide, is_real = not names.isdisjoint({"f64", "c128"}), names.isdisjoint(_PARTS)
    return ("f64" if is_wide else "f32") if is_real else ("c128" if is_wide else "c64")


_BYTES = {"e8m0": "u8"}  # what stands for a type that many frameworks lack


class Expected(NamedTuple):
    """What an operand has to be: a number of the host, or an array on the device."""
    host: Union[Tuple[()], type]        # of a number; (): there is none
    type: str                           # the array's, as `autotune` spells it
    shape: Tuple[int, ...] = ()         # (): one number, in an array of any shape
    strides: Tuple[int, ...] = ()       # of axes with more than one element

    def check(self, name: str, found: View, device: int) -> None:
        """Raise unless the array is as expected, and on this device."""
        count = math.prod(self.shape)
        if found.size != count or type_name(found.type) not in (self.type, _BYTES.get(self.type)):
            wanted = "one number" if count == 1 else f"{count} numbers"
            raise TypeError(f"{name} on the device is {wanted} of type {self.type}, and this is {found.size} of type "
                            f"{type_name(found.type)}")
        if found.device != device:
            raise ValueError(f"{name} is {place_of(found.device)}, and the source {place_of(device)}")
        if self.shape and not (found.shape == self.shape and found.has_strides(self.strides)):
            raise ValueError(f"{name} has to have the shape {self.shape} and the strides {self.strides}")


def expected_operands(given: Operands, source: View, target: View) -> Dict[str, Expected]:
    """What the operands that are given have to be, by their names. Of the views, no address is used."""
    type_ = computed_in(source.type, target.type)
    real, number = _PARTS.get(type_, type_), Expected(numbers.Complex, type_)
    expected = {"scale": Expected(numbers.Real, real), "alpha": number, "beta": number,
                "other": Expected((), type_name(target.type), target.shape, target.strides or dense(target.shape)),
                "skip": Expected((), "i32"), "tensor_amax": Expected((), "f32")}
    if given.has_channels:
        channels = Expected((), real, (source.shape[given.channel_axis],), (1,))
        expected.update(channel_scale=channels, channel_shift=channels)
    return {name: one for name, one in expected.items() if getattr(given, name) is not None}


def expected_outputs(given: Operands, source: View, shape: Tuple[int, ...], kind: Any) -> Dict[str, Expected]:
    """What the results after the first have to be, in their order, by the library's names. The first one has this
    shape and type."""
    shapes = {name: tuple(stored) for name, stored in given.shapes(shape, source.shape).items()}
    strides = {name: dense(shape) for name, shape in shapes.items()}
    if source.strides:
        strides["dst2"] = tuple(given.kept_strides(source.strides))
    return {name: Expected((), type_name(kind), shapes[name], strides[name])
            for name, kind in given.results(kind, str).items() if name != "dst"}
