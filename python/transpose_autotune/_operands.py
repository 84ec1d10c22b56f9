# SPDX-License-Identifier: Apache-2.0
"""What transpose and permute compute on the way: operands and results, and what the library is told of them."""
from __future__ import annotations

import math
import numbers
from typing import Any, Dict, NamedTuple, Optional, Tuple, Union

from ._arrays import View, dense, type_name

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
    channel_axis: int = -1

    @property
    def has_channels(self) -> bool:
        return self.channel_scale is not None or self.channel_shift is not None

    def results(self, dtype: Any, float32: Any) -> Dict[str, Any]:
        """The types of the results for an x of this type, in their order, by the library's names."""
        types = {"dst": dtype if self.dtype is None else self.dtype}
        if self.both is not None:
            types["dst2"] = types["dst"] if self.both is True else self.both
        if self.amax is not None:
            types["largest"] = float32
        return types

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
            words.append("both" if self.both is True else f"both={type_name(self.both)}")
        if self.amax is not None:
            words.append(self.amax)
        return "".join("," + word for word in words)


MOVE = Operands()  # elements as they are


def step_of(source: Any, result: Any, operations: str) -> Optional[str]:
    """The step from one type to another; None: elements are moved."""
    names = type_name(source), type_name(result)
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


class Expected(NamedTuple):
    """What an operand has to be: a number of the host, or an array on the device."""
    host: Union[Tuple[()], type]        # of a number; (): there is none
    type: str                           # the array's, as `autotune` spells it
    shape: Tuple[int, ...] = ()         # (): one number, in an array of any shape
    strides: Tuple[int, ...] = ()       # of axes with more than one element

    def check(self, name: str, found: View, device: int) -> None:
        """Raise unless the array is as expected, and on this device."""
        count = math.prod(self.shape)
        if found.size != count or type_name(found.type) != self.type:
            wanted = "one number" if count == 1 else f"{count} numbers"
            raise TypeError(f"{name} on the device is {wanted} of type {self.type}, and this is {found.size} of type "
                            f"{type_name(found.type)}")
        if found.device != device:
            raise ValueError(f"{name} is on device {found.device}, and the source on {device}")
        if self.shape and not (found.shape == self.shape and found.has_strides(self.strides)):
            raise ValueError(f"{name} has to have the shape {self.shape} and the strides {self.strides}")


def expected_operands(given: Operands, source: View, target: View) -> Dict[str, Expected]:
    """What the operands that are given have to be, by their names. Of the views, no address is used."""
    type_ = computed_in(source.type, target.type)
    real, number = _PARTS.get(type_, type_), Expected(numbers.Complex, type_)
    expected = {"scale": Expected(numbers.Real, real), "alpha": number, "beta": number,
                "other": Expected((), type_name(target.type), target.shape, target.strides or dense(target.shape)),
                "skip": Expected((), "i32")}
    if given.has_channels:
        channels = Expected((), real, (source.shape[given.channel_axis],), (1,))
        expected.update(channel_scale=channels, channel_shift=channels)
    return {name: one for name, one in expected.items() if getattr(given, name) is not None}


def expected_outputs(given: Operands, source: View, target: View) -> Dict[str, Expected]:
    """What the results after the first have to be, in their order, by the library's names."""
    layouts = {"dst2": (source.shape, source.strides or dense(source.shape)), "largest": ((), ())}
    return {name: Expected((), type_name(kind), *layouts[name])
            for name, kind in given.results(target.type, "float32").items() if name in layouts}
