# SPDX-License-Identifier: Apache-2.0
"""libautotune through ctypes: structs, prototypes, errors. autotune.h explains them."""
from __future__ import annotations

import ctypes
import enum
import os
import threading
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_void_p
from typing import Any, Dict, List, NoReturn, Optional, Tuple

from . import _nvrtc
from ._places import LIBRARY

RANK_MAX = 24
ADAPT = 1    # of a plan's options: AUTOTUNE_ADAPT
LOG_FUNCTION = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)    # user data, level, line
SCRATCH_BYTES = 8   # of a launch that finds a largest magnitude


class Status(enum.IntEnum):
    """Why a call failed: autotune_status."""
    FAILED = 1      #: no legal config, or a kernel that does not compile
    INVALID = 2     #: an argument, or a file that is no profile
    NO_DEVICE = 3   #: no driver, device or NVRTC; or a CUDA call failed
    MISMATCH = 4    #: a profile of another device
    INTERNAL = 5
    NO_MEMORY = 6   #: host memory


class Tier(enum.IntEnum):
    """Where an answer comes from, best first: autotune_tier."""
    EXACT = 0           #: this problem, tuned on this model of device
    SHAPE = 1           #: the nearest problem on this model
    CHIP = 2            #: the nearest on as many multiprocessors of the same kind
    ARCHITECTURE = 3    #: the nearest on the same compute capability
    OTHER = 4           #: the nearest on the nearest architecture
    DEFAULT = 5         #: no entry is legal: the default config


class AutotuneError(RuntimeError):
    """A call failed. The message tells the cause and the remedy."""

    def __init__(self, status: Status, message: str):
        super().__init__(message)
        self.status = status


class MatrixStruct(ctypes.Structure):
    """autotune_problem"""
    _fields_ = [*((name, c_int64) for name in (
        "elem_size", "rows", "cols", "ld_src", "ld_dst", "batch", "stride_src", "stride_dst", "in_place",
        "align_bytes")), ("struct_size", c_size_t), ("step", c_char_p),
                ("explicit_strides", c_int64)]


class TensorStruct(ctypes.Structure):
    """autotune_tensor"""
    _fields_ = [("elem_size", c_int64), ("rank", c_int64), ("extents", c_int64 * RANK_MAX),
                ("permutation", c_int64 * RANK_MAX), ("strides_src", c_int64 * RANK_MAX),
                ("strides_dst", c_int64 * RANK_MAX), ("align_bytes", c_int64), ("struct_size", c_size_t),
                ("step", c_char_p), ("explicit_strides", c_int64), ("in_place", c_int64)]


class MatrixOfListStruct(ctypes.Structure):
    """autotune_matrix"""
    _fields_ = [*((name, c_void_p) for name in ("dst", "src", "dst2", "src2")),
                *((name, c_int64) for name in ("rows", "cols", "ld_src", "ld_dst")),
                *((name, c_int64 * 2) for name in ("batch", "stride_src", "stride_dst"))]


class GroupsStruct(ctypes.Structure):
    """autotune_groups"""
    _fields_ = [("struct_size", c_size_t), ("elem_size", c_int64), ("step", c_char_p), ("align_bytes", c_int64),
                ("count", c_int64), ("list", c_void_p), *((name, c_int64) for name in (
                    "rows", "cols", "ld_src", "padding", "most_rows", "stacked", "offset_bytes"))]


class PlanOptionsStruct(ctypes.Structure):
    """autotune_plan_options"""
    _fields_ = [("measure_ms", c_int64), ("policy", c_char_p), ("scratch", c_void_p), ("scratch_bytes", c_int64),
                ("struct_size", c_size_t), ("flags", c_int64)]


class LaunchStruct(ctypes.Structure):
    """autotune_launch"""
    _fields_ = [("grid", c_uint * 3), ("block", c_uint * 3), ("shared_bytes", c_uint),
                ("carveout_percent", c_int), ("kernel", c_char_p), ("reserved", c_uint * 6)]


class ScalarStruct(ctypes.Structure):
    """autotune_scalar"""
    _fields_ = [("at", c_void_p), ("value", c_double * 2)]


class ExecutionStruct(ctypes.Structure):
    """autotune_execution"""
    _fields_ = [("struct_size", c_size_t), ("dst", c_void_p), ("src", c_void_p), ("stream", c_void_p),
                ("scale", ScalarStruct), ("alpha", ScalarStruct), ("beta", ScalarStruct), ("src2", c_void_p),
                ("channel_scale", c_void_p), ("channel_shift", c_void_p), ("dst2", c_void_p), ("largest", c_void_p),
                ("block_scales", c_void_p), ("block_scales2", c_void_p), ("skip", c_void_p), ("list", c_void_p),
                ("list_count", c_int64), ("offsets", c_void_p), ("offset_count", c_int64), ("scratch", c_void_p),
                ("scratch_bytes", c_int64), ("sums", c_void_p), ("overflow", c_void_p),
                ("most_rows", c_int64), ("channel_stride", c_int64)]


class ScalesStruct(ctypes.Structure):
    """autotune_scales"""
    _fields_ = [("type", c_char_p), *((name, c_int64) for name in (
        "elem_size", "rows", "cols", "row_stride", "col_stride", "matrix_bytes", "bytes")), ("reserved", c_int64 * 4)]


class DeviceNumbersStruct(ctypes.Structure):
    """autotune_device_numbers"""
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), *((name, c_int64) for name in (
        "compute_capability", "multiprocessors", "memory_bytes", "l2_bytes", "warp_size", "max_threads_per_block",
        "max_threads_per_multiprocessor", "registers_per_multiprocessor", "shared_bytes_per_block",
        "shared_bytes_per_block_optin", "shared_bytes_per_multiprocessor"))]


class InfoStruct(ctypes.Structure):
    """autotune_info"""
    _fields_ = [("struct_size", c_size_t), *((name, c_int64) for name in (
                    "tier", "is_uncertain", "is_predicted", "expected_permille")), ("distance", c_double),
                ("bytes", c_int64), ("tuned_ns", c_int64),
                *((name, c_char_p) for name in ("family", "tuned_problem", "path", "config")), ("adapts", c_int64)]


_ERROR = POINTER(c_void_p)
_OUT = POINTER(c_void_p)

# The result and the arguments of each function.
PROTOTYPES: Dict[str, Tuple[Any, List[Any]]] = {
    "autotune_version": (c_char_p, []),
    "autotune_version_number": (c_int, []),
    "autotune_status_name": (c_char_p, [c_int]),
    "autotune_error_status": (c_int, [c_void_p]),
    "autotune_error_message": (c_char_p, [c_void_p]),
    "autotune_error_free": (None, [c_void_p]),
    "autotune_profile_open": (c_int, [_OUT, c_char_p, _ERROR]),
    "autotune_profile_skipped": (c_char_p, [c_void_p, c_size_t]),
    "autotune_profile_free": (None, [c_void_p]),
    "autotune_device_described": (c_int, [_OUT, c_char_p, _ERROR]),
    "autotune_device_make": (c_int, [_OUT, POINTER(DeviceNumbersStruct), _ERROR]),
    "autotune_device_current": (c_int, [_OUT, _ERROR]),
    "autotune_device_name": (c_char_p, [c_void_p]),
    "autotune_device_free": (None, [c_void_p]),
    "autotune_lookup": (c_int, [_OUT, c_void_p, c_void_p, POINTER(MatrixStruct), c_char_p, _ERROR]),
    "autotune_tensor_lookup": (c_int, [_OUT, c_void_p, c_void_p, POINTER(TensorStruct), c_char_p, _ERROR]),
    "autotune_groups_lookup": (c_int, [_OUT, c_void_p, c_void_p, POINTER(GroupsStruct), c_char_p, _ERROR]),
    "autotune_problem_scales": (c_int, [POINTER(ScalesStruct), POINTER(MatrixStruct), _ERROR]),
    "autotune_answer_free": (None, [c_void_p]),
    "autotune_answer_info": (c_int, [c_void_p, POINTER(InfoStruct), _ERROR]),
    "autotune_answer_check_device": (c_int, [c_void_p, _ERROR]),
    "autotune_precompile": (c_int, [c_void_p, c_void_p, _ERROR]),
    "autotune_answer_parameter_count": (c_size_t, [c_void_p]),
    "autotune_answer_parameter_name": (c_char_p, [c_void_p, c_size_t]),
    "autotune_answer_parameter_value": (c_int, [c_void_p, c_size_t]),
    "autotune_answer_launches": (c_size_t, [c_void_p, POINTER(LaunchStruct), c_size_t]),
    "autotune_answer_describe": (c_size_t, [c_void_p, c_char_p, c_size_t]),
    "autotune_answer_json": (c_size_t, [c_void_p, c_char_p, c_size_t]),
    "autotune_plan_create": (c_int, [_OUT, c_void_p, POINTER(MatrixStruct), _ERROR]),
    "autotune_tensor_plan_create": (c_int, [_OUT, c_void_p, POINTER(TensorStruct), _ERROR]),
    "autotune_plan_create_with": (c_int, [_OUT, c_void_p, POINTER(MatrixStruct), POINTER(PlanOptionsStruct),
                                          _ERROR]),
    "autotune_tensor_plan_create_with": (c_int, [_OUT, c_void_p, POINTER(TensorStruct),
                                                 POINTER(PlanOptionsStruct), _ERROR]),
    "autotune_groups_plan_create": (c_int, [_OUT, c_void_p, POINTER(GroupsStruct), _ERROR]),
    # The error stays NULL in the usual call: see Plan.execute.
    "autotune_plan_execute": (c_int, [c_void_p] * 5),
    "autotune_plan_execute_with": (c_int, [c_void_p, POINTER(ExecutionStruct), _ERROR]),
    "autotune_plan_scratch_bytes": (c_int64, [c_void_p]),
    "autotune_plan_launches": (c_size_t, [c_void_p, c_void_p, c_void_p, POINTER(LaunchStruct), c_size_t]),
    "autotune_plan_info": (c_int, [c_void_p, POINTER(InfoStruct), _ERROR]),
    "autotune_plan_describe": (c_size_t, [c_void_p, c_char_p, c_size_t]),
    "autotune_plan_free": (None, [c_void_p]),
    "autotune_clear": (None, []),
    "autotune_keep_unused": (None, [c_size_t]),
    "autotune_set_nvrtc": (c_int, [c_char_p, _ERROR]),
    "autotune_set_log": (None, [LOG_FUNCTION, c_void_p, c_int]),
    "autotune_wisdom_save": (c_int, [c_char_p, _ERROR]),
    "autotune_wisdom_forget": (None, []),
}

_lock = threading.Lock()
_library: Optional[Any] = None


def _open() -> Any:
    nvrtc = None
    named = os.environ.get("AUTOTUNE_LIBRARY")
    if not named and os.path.exists(LIBRARY):
        named = LIBRARY
        nvrtc = _nvrtc.choose()
    try:
        opened = ctypes.CDLL(named or "libautotune.so.0")
    except OSError as error:
        raise AutotuneError(Status.FAILED, f"cannot load libautotune, which comes with the wheel: {error}; install the "
                            "wheel (pip install .), or name a library in AUTOTUNE_LIBRARY") from None
    for name, (result, arguments) in PROTOTYPES.items():
        function = getattr(opened, name)
        function.restype, function.argtypes = result, arguments
    # If it fails, another user of the library in this process was first.
    if nvrtc:
        opened.autotune_set_nvrtc(os.fsencode(nvrtc), None)
    return opened


def library() -> Any:
    """libautotune: the file AUTOTUNE_LIBRARY, or the wheel's, or the one that the loader finds."""
    global _library
    if _library is None:
        with _lock:
            if _library is None:
                _library = _open()
    return _library


def raise_error(status: int, error: c_void_p) -> NoReturn:
    """Raise what the library says. Frees the error."""
    lib = library()
    message = lib.autotune_error_message(error).decode(errors="replace") if error else "no memory"
    lib.autotune_error_free(error)
    raise AutotuneError(Status(status), message)


def call(name: str, *arguments: Any) -> None:
    """Call a function whose last argument is the error."""
    error = c_void_p()
    status = getattr(library(), name)(*arguments, ctypes.byref(error))
    if status != 0:
        raise_error(status, error)


def create(name: str, *arguments: Any) -> int:
    """Call a function that makes an object. Returns its handle."""
    made = c_void_p()
    call(name, ctypes.byref(made), *arguments)
    assert made.value is not None
    return made.value


def text(name: str, handle: int) -> str:
    """Call a function that writes a text of any length."""
    function = getattr(library(), name)
    length = function(handle, None, 0)
    buffer = ctypes.create_string_buffer(length + 1)
    function(handle, buffer, length + 1)
    return buffer.value.decode(errors="replace")
