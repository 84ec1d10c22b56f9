# SPDX-License-Identifier: Apache-2.0
"""Profiles, problems, answers and plans."""
from __future__ import annotations

import ctypes
import json
import operator
import os
import threading
import weakref
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Dict, List, NoReturn, Optional, Sequence, Tuple, Union

from . import _cuda
from ._arrays import dense
from ._library import (ADAPT, RANK_MAX, AutotuneError, ExecutionStruct, InfoStruct, LaunchStruct, MatrixStruct,
                       PlanOptionsStruct, ScalarStruct, ScalesStruct, Status, TensorStruct, Tier, call, create, library,
                       text)


def swap_last(rank: int) -> Tuple[int, ...]:
    """The permutation of a transpose: the last two axes change places."""
    if rank < 2:
        raise ValueError(f"a transpose needs two axes or more, and this has {rank}")
    return (*range(rank - 2), rank - 1, rank - 2)


@dataclass(frozen=True)
class Problem:
    """A permutation, in the terms of NumPy: axis i of the result is axis dims[i] of the source.

    Without dims, the last two axes change places. Strides are in elements, those of the source in the source's
    order of axes and those of the result in the result's; without them, a side is dense. Those of the source may be 0
    or negative, and those of the result negative. Addresses are those of the elements with all indices 0, and multiples
    of `align` bytes, a power of two. In place, source and result have the same memory, and are dense, or square
    matrices. `step` is what is computed on the way, such as "bf16:e4m3,scale"; itemsize is then the source's. With
    blocks there are two or three axes, and the last two change places."""
    shape: Tuple[int, ...]
    itemsize: int
    dims: Optional[Tuple[int, ...]] = None
    strides: Optional[Tuple[int, ...]] = None
    out_strides: Optional[Tuple[int, ...]] = None
    align: int = 16
    in_place: bool = False
    step: Optional[str] = None

    def permutation(self) -> Tuple[int, ...]:
        """dims, complete and without negative numbers."""
        rank = len(self.shape)
        if self.dims is None:
            return swap_last(rank)
        return normalized(self.dims, rank)

    def struct(self) -> Union[MatrixStruct, TensorStruct]:
        """The struct that the library takes."""
        rank = len(self.shape)
        in_place = self.in_place and rank <= 3 and self.permutation() == swap_last(rank)
        return self._matrix() if in_place or self.has_blocks() or self.has_sums() else self._tensor()

    def has_blocks(self) -> bool:
        return ",blocks=" in (self.step or "")

    def has_sums(self) -> bool:
        return "sums" in (self.step or "").split(",")

    def scales(self) -> Tuple["Optional[Scales]", "Optional[Scales]"]:
        """The scales of a problem with blocks: of the result, and of the one that lies as the source does."""
        found = (ScalesStruct * 2)()
        if not self.has_blocks():
            return None, None
        call("autotune_problem_scales", found, ctypes.byref(self._matrix()))
        of_result, of_kept = (Scales(one.type.decode(), one.rows, one.cols, one.row_stride, one.col_stride,
                                     one.matrix_bytes, one.bytes) if one.type else None for one in found)
        return of_result, of_kept

    def _matrix(self) -> MatrixStruct:
        rank = len(self.shape)
        where = "in place" if self.in_place else "with blocks" if self.has_blocks() else "with sums"
        if self.permutation() != swap_last(rank) or rank > 3:
            raise ValueError(f"{where}, only matrices and batches of them can be transposed")
        sides = self.shape, (*self.shape[:-2], self.shape[-1], self.shape[-2])
        is_square = self.shape[-1] == self.shape[-2]
        given = self.strides, (self.strides if is_square else None) if self.in_place else self.out_strides
        (row, row_dst), (between, between_dst) = (
            [(strides[axis] if strides and shape[axis] > 1 else 0) if -axis <= rank else 0
             for shape, strides in zip(sides, given)] for axis in (-2, -3))
        if any(strides and strides[-1] != 1 and shape[-1] > 1 for shape, strides in zip(sides, given)):
            raise ValueError(f"{where}, the elements of a row have to be neighbours")
        return MatrixStruct(self.itemsize, self.shape[-2], self.shape[-1], row, row_dst,
                            self.shape[0] if rank == 3 else 1, between, between_dst, self.in_place, self.align,
                            ctypes.sizeof(MatrixStruct), self._step())

    def _tensor(self) -> TensorStruct:
        rank, row = len(self.shape), ctypes.c_int64 * RANK_MAX
        if rank > RANK_MAX:
            raise ValueError(f"there are {rank} axes, and at most {RANK_MAX} are possible")
        permutation = self.permutation()
        out_shape = tuple(self.shape[dim] for dim in permutation)
        sides = (self.shape, self.strides), (out_shape, self.out_strides)
        if any(stride == 0 and extent > 1 for extent, stride in zip(out_shape, self.out_strides or ())):
            raise ValueError("elements of the result overlap: a stride is 0")
        is_explicit = not all(is_nested(*side) for side in sides)
        strides = (row(*given_strides(*side, is_explicit)) for side in sides)
        return TensorStruct(self.itemsize, rank, row(*self.shape), row(*permutation), *strides, self.align,
                            ctypes.sizeof(TensorStruct), self._step(), is_explicit, self.in_place)

    def _step(self) -> Optional[bytes]:
        return None if self.step is None else self.step.encode()


@dataclass(frozen=True)
class Scales:
    """The scales of one result with blocks: a matrix with the result's orientation for each of the batch's."""
    type: str           #: "f32"; or "e8m0", bytes that stand for 2 ** (byte - 127)
    rows: int           #: blocks down the result
    cols: int           #: and across
    row_stride: int     #: from one row of scales to the next, in scales; 0: swizzled
    col_stride: int
    matrix_bytes: int   #: of one matrix, with its padding
    bytes: int          #: of the whole batch


def is_nested(shape: Tuple[int, ...], strides: Optional[Tuple[int, ...]]) -> bool:
    """Does each axis step over the whole of the faster ones, forwards?"""
    if strides is None:
        return True
    if len(strides) != len(shape):
        raise ValueError(f"there are {len(strides)} strides for {len(shape)} axes")
    room = 1
    for stride, extent in sorted((stride, extent) for extent, stride in zip(shape, strides) if extent > 1):
        if stride < room:
            return False
        room = stride * extent
    return True


def given_strides(shape: Tuple[int, ...], strides: Optional[Tuple[int, ...]], is_explicit: bool) -> Tuple[int, ...]:
    """Strides as the library takes them: explicit ones count, and without that no stride means that a side is dense.
    Those of axes with one element do not matter."""
    if strides is None:
        return dense(shape) if is_explicit else ()
    return tuple(stride if extent > 1 else 1 for extent, stride in zip(shape, strides))


REVERSED: Any = ("reversed",)   # the permutation that reverses all axes, however many there are


def checked_dims(dims: Optional[Sequence[int]]) -> Any:
    """A permutation as integers; None, which reverses all axes in NumPy, is REVERSED."""
    if dims is None:
        return REVERSED
    try:
        return tuple(map(operator.index, dims))
    except TypeError:
        raise TypeError(f"dims has to be a sequence of integers, and is {dims!r}") from None


def normalized(dims: Sequence[int], rank: int) -> Tuple[int, ...]:
    """A permutation of all axes, without negative numbers."""
    return _normalized(tuple(dims), rank)


@lru_cache(1024)
def _normalized(dims: Tuple[int, ...], rank: int) -> Tuple[int, ...]:
    if dims == REVERSED:
        return tuple(range(rank - 1, -1, -1))
    positive = tuple(dim + rank if dim < 0 else dim for dim in checked_dims(dims))
    if sorted(positive) != list(range(rank)):
        raise ValueError(f"{dims} is no permutation of {rank} axes")
    return positive


class Handle:
    """An object of the library's. It does not change, so a copy is the object itself."""
    __slots__ = ("__weakref__", "_handle")
    _instead = "make it anew there"     # what another process does without one

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, _: Any) -> Any:
        return self

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise TypeError(f"this {type(self).__name__} is of its process and cannot be pickled: {self._instead}")


class Profile(Handle):
    """A profile, or all on the search path: $AUTOTUNE_PROFILE_PATH, the user's, and the installed ones."""
    __slots__ = ("_path",)
    _instead = "pickle its path, and open that there"

    def __init__(self, path: Union[str, "os.PathLike[str]", None] = None):
        self._path = path
        self._handle = create("autotune_profile_open", None if path is None else os.fsencode(path))
        weakref.finalize(self, library().autotune_profile_free, self._handle).atexit = False

    def __repr__(self) -> str:
        return f"Profile({'' if self._path is None else repr(os.fspath(self._path))})"

    @property
    def skipped(self) -> List[str]:
        """Why files on the search path were skipped."""
        said: List[str] = []
        while True:
            reason = library().autotune_profile_skipped(self._handle, len(said))
            if reason is None:
                return said
            said.append(reason.decode(errors="replace"))


@dataclass(frozen=True)
class Launch:
    """How the kernel is started."""
    grid: Tuple[int, int, int]
    block: Tuple[int, int, int]
    shared_bytes: int       #: dynamic shared memory per block
    carveout_percent: int   #: preferred share of shared memory in L1; -1: the driver's choice
    kernel: Optional[str]   #: its name, as profilers show it; None in an answer, which has no compiled kernel


def read_launches(name: str, *arguments: Any) -> Tuple[Launch, ...]:
    """Call a function that writes launches."""
    function = getattr(library(), name)
    count = function(*arguments, None, 0)
    given = (LaunchStruct * count)()
    function(*arguments, given, count)
    return tuple(Launch(tuple(one.grid), tuple(one.block), one.shared_bytes, one.carveout_percent,
                        one.kernel and one.kernel.decode()) for one in given)


class Answer(Handle):
    """The config that profiles give for a problem. str() explains it."""
    __slots__ = ("_profile",)
    _instead = "pickle its json(), or its problem"

    def __init__(self, handle: int, profile: Profile):
        self._handle, self._profile = handle, profile  # the answer borrows from the profile
        weakref.finalize(self, library().autotune_answer_free, handle).atexit = False

    def _info(self) -> InfoStruct:
        info = InfoStruct(ctypes.sizeof(InfoStruct))
        call("autotune_answer_info", self._handle, ctypes.byref(info))
        return info

    def _text(self, name: str) -> Optional[str]:
        value = getattr(self._info(), name)
        return None if value is None else value.decode(errors="replace")

    @property
    def tier(self) -> Tier:
        return Tier(self._info().tier)

    @property
    def distance(self) -> float:
        """From the tuned problem; 0 for the problem itself."""
        return float(self._info().distance)

    @property
    def expected(self) -> Optional[float]:
        """The share of the copy limit that the config reached on the tuned problem, if known."""
        permille = self._info().expected_permille
        return permille / 1000 if permille else None

    @property
    def predicted(self) -> bool:
        """Whether the answer comes from an emulated device."""
        return bool(self._info().is_predicted)

    @property
    def uncertain(self) -> bool:
        """Whether it is a guess: predicted, of another GPU, of a far problem, or a default."""
        return bool(self._info().is_uncertain)

    @property
    def path(self) -> Optional[str]:
        """The profile's file; None for the default config."""
        return self._text("path")

    @property
    def tuned_problem(self) -> Optional[str]:
        return self._text("tuned_problem")

    @property
    def family(self) -> str:
        return self._text("family") or ""

    @property
    def parameters(self) -> Dict[str, int]:
        lib, handle = library(), self._handle
        return {lib.autotune_answer_parameter_name(handle, i).decode():
                lib.autotune_answer_parameter_value(handle, i)
                for i in range(lib.autotune_answer_parameter_count(handle))}

    @property
    def launches(self) -> Tuple[Launch, ...]:
        """In their order."""
        return read_launches("autotune_answer_launches", self._handle)

    def check_device(self) -> None:
        """Raise unless the answer was tuned on this model of device."""
        call("autotune_answer_check_device", self._handle)

    def precompile(self) -> None:
        """Compile the kernels of a plan with this answer into the cache; needs no GPU."""
        call("autotune_precompile", self._handle, self._profile._handle)

    def json(self) -> Dict[str, Any]:
        """All of it, as `autotune lookup --format json` prints it."""
        parsed: Dict[str, Any] = json.loads(text("autotune_answer_json", self._handle))
        return parsed

    def __str__(self) -> str:
        return text("autotune_answer_describe", self._handle)

    def __repr__(self) -> str:
        return f"<Answer {self.tier.name} {self.family}: {_first_line(self)}>"


def _first_line(described: Any) -> str:
    """The problem, the device and the policy."""
    return str(described).partition("\n")[0]


_default_lock = threading.Lock()
_default: Optional[Profile] = None


def default_profile() -> Profile:
    """The profile that calls without one use: the one given to `use`, or the search path."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Profile()
        return _default


def set_default_profile(profile: Optional[Profile]) -> None:
    global _default
    with _default_lock:
        _default = profile


AnyProfile = Union[Profile, str, "os.PathLike[str]", None]


def opened(profile: AnyProfile) -> Profile:
    """The profile itself, or that at a path; None: the default one."""
    if profile is None:
        return default_profile()
    if isinstance(profile, Profile):
        return profile
    return Profile(of_type("profile", profile, str, os.PathLike))


def of_type(name: str, value: Any, *types: type) -> Any:
    """The value, if it has one of the types."""
    if not isinstance(value, types):
        wanted = " or ".join(one.__name__ for one in types)
        raise TypeError(f"{name} has to be a {wanted}, and is a {type(value).__name__}")
    return value


class _Device(Handle):
    """A device to look up for."""
    __slots__ = ()

    def __init__(self, handle: int):
        self._handle = handle
        weakref.finalize(self, library().autotune_device_free, handle).atexit = False


@lru_cache(64)
def _described(name: str) -> _Device:
    """A device by its name. Its file is read once."""
    return _Device(create("autotune_device_described", name.encode()))


def _current() -> _Device:
    with _cuda.Current():
        return _Device(create("autotune_device_current"))


def lookup(problem: Problem, device: Optional[str] = None, policy: Optional[str] = None,
           profile: AnyProfile = None) -> Answer:
    """Choose a config that is legal for the problem and the device.

    `device` names a described device ("h200"), which needs no GPU; None is that of the current CUDA context.
    `policy` is "cold" (the default) or "warm". `profile` may be a path. Raises AutotuneError."""
    struct, profile = of_type("problem", problem, Problem).struct(), opened(profile)
    described = _current() if device is None else _described(of_type("device", device, str))
    name = "autotune_lookup" if isinstance(struct, MatrixStruct) else "autotune_tensor_lookup"
    policy = policy and of_type("policy", policy, str).encode()
    return Answer(create(name, profile._handle, described._handle, ctypes.byref(struct), policy), profile)


class At(int):
    """The device address of a number that a step takes: a float, or a double if source or result have doubles; of
    complex elements, two for alpha and beta."""


Scalar = Union[None, float, complex, At]


def scalar_struct(number: Scalar) -> ScalarStruct:
    if isinstance(number, At):
        return ScalarStruct(number)
    value = complex(number or 0)
    return ScalarStruct(None, (value.real, value.imag))


# The numbers that operations take.
_NUMBERS = {"scale": "scale", "divide": "scale", "alpha": "alpha", "beta": "beta"}


class Plan(Handle):
    """A kernel for a problem, ready to run.

    It is made for one device: the given one, or that of the current context. The call compiles, if the cache of
    kernels lacks this one, and must not happen while a stream is captured. `measure_ms` lets it time the looked-up
    kernel against its rivals for so long, in the current context; save_wisdom keeps what was learnt. With `adapt` it
    only verifies them, and its first launches run them in turn: the fastest stays. Raises AutotuneError."""
    __slots__ = ("_execute", "_numbers", "device", "problem")
    _instead = "pickle its problem, and make a plan for that there"

    def __init__(self, problem: Problem, profile: AnyProfile = None, device: Optional[int] = None, *,
                 measure_ms: int = 0, adapt: bool = False):
        struct, profile = of_type("problem", problem, Problem).struct(), opened(profile)
        options = PlanOptionsStruct(measure_ms=measure_ms, flags=ADAPT if of_type("adapt", adapt, bool) else 0,
                                    struct_size=ctypes.sizeof(PlanOptionsStruct))
        name = "autotune_plan_create_with" if isinstance(struct, MatrixStruct) else "autotune_tensor_plan_create_with"
        with _cuda.Current(device):
            self.device = _cuda.current_device()
            self._handle = create(name, profile._handle, ctypes.byref(struct), ctypes.byref(options))
        self.problem = problem
        self._numbers = [_NUMBERS[word] for word in (problem.step or "").split(",") if word in _NUMBERS]
        self._execute = library().autotune_plan_execute
        weakref.finalize(self, free_plan, self._handle, self.device).atexit = False

    def execute(self, dst: int, src: int, stream: int = 0) -> None:
        """Start the permutation of src into dst, and return before it has ended.

        All are numbers: device addresses, and a CUstream or cudaStream_t of the plan's device. Streams may be
        captured. Nothing is checked but that the addresses are multiples of an element."""
        if self._execute(self._handle, dst, src, stream, None):
            self._execute_again(dst, src, stream)

    def execute_with(self, dst: int, src: int, stream: int = 0, *, scale: Scalar = None, alpha: Scalar = None,
                     beta: Scalar = None, src2: int = 0, channel_scale: int = 0, channel_shift: int = 0,
                     dst2: int = 0, largest: int = 0, block_scales: int = 0, block_scales2: int = 0, skip: int = 0,
                     scratch: int = 0, sums: int = 0) -> None:
        """The same for a problem whose step takes numbers: each by its value, or as At, where the device has it.
        With beta, src2 is the address of what it is multiplied with, laid out as dst. With affine, the channels'
        addresses are those of a number for each; 0: nothing is multiplied, or added.

        dst2 gets the results as they lie, and largest a float. With blocks, block_scales and block_scales2 get the
        scales of dst and dst2, as Problem.scales tells. sums gets a float for each column of x, and of a batch for
        those of each matrix in turn. If the int at skip is not 0, nothing is written. With amax and sums, launches
        that may run at the same time need scratch_bytes of scratch each, which are 0 before the first one; 0: the
        plan's own, for one launch at a time."""
        given = {"scale": scale, "alpha": alpha, "beta": beta}
        for name in self._numbers:
            if given[name] is None:
                raise TypeError(f"the step {self.problem.step} takes {name}, which is missing")
        execution = ExecutionStruct(ctypes.sizeof(ExecutionStruct), dst, src, stream, scalar_struct(scale),
                                    scalar_struct(alpha), scalar_struct(beta), src2, channel_scale, channel_shift, dst2,
                                    largest, block_scales, block_scales2, skip, scratch=scratch,
                                    scratch_bytes=self.scratch_bytes if scratch else 0, sums=sums)
        call("autotune_plan_execute_with", self._handle, ctypes.byref(execution))

    def _execute_again(self, dst: int, src: int, stream: int) -> None:
        """The call has failed, so nothing was started. The library says what is wrong."""
        call("autotune_plan_execute", self._handle, dst, src, stream)

    @property
    def scratch_bytes(self) -> int:
        """The bytes of scratch that a launch needs."""
        return int(library().autotune_plan_scratch_bytes(self._handle))

    def launches(self, dst: int = 0, src: int = 0) -> Tuple[Launch, ...]:
        """What execute starts at these addresses; 0: at aligned ones."""
        return read_launches("autotune_plan_launches", self._handle, dst, src)

    def __str__(self) -> str:
        return text("autotune_plan_describe", self._handle)

    def __repr__(self) -> str:
        return f"<Plan {_first_line(self)}>"


def save_wisdom(path: Union[str, "os.PathLike[str]", None] = None) -> None:
    """Add what plans with measure_ms have learnt in this process to a profile; None is $AUTOTUNE_WISDOM, which the
    search path begins with. Raises AutotuneError."""
    call("autotune_wisdom_save", None if path is None else os.fsencode(path))


def free_plan(handle: int, device: int) -> None:
    """The library wants the plan's transposes to have ended."""
    try:
        with _cuda.Current(device):
            _cuda.driver().cuCtxSynchronize()
            library().autotune_plan_free(handle)
    except AutotuneError as error:  # the driver is gone, and the kernels with it
        assert error.status == Status.NO_DEVICE
