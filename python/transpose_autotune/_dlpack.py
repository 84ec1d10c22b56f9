# SPDX-License-Identifier: Apache-2.0
"""DLPack's capsules (https://dmlc.github.io/dlpack/latest/c_api.html), read through ctypes."""
from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p, py_object
from typing import Any, Optional, Tuple

CUDA, CUDA_MANAGED = 2, 13
# The letters of __cuda_array_interface__ for DLPack's type codes, and more for what that does not have.
CODES = {0: "i", 1: "u", 2: "f", 4: "bf", 5: "c", 6: "b", 10: "e4m3_", 12: "e5m2_", 14: "e8m0_"}


class Tensor(ctypes.Structure):
    """DLTensor"""
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
                ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = c_void_p, [py_object, c_char_p]


def read(capsule: Any) -> Tuple[int, Tuple[int, ...], Optional[Tuple[int, ...]], int, int, str]:
    """Pointer, shape, strides in elements (None: dense), size of an element, device and type. The capsule stays
    the caller's: it frees what it holds when it is collected."""
    tensor = Tensor.from_address(_get_pointer(capsule, b"dltensor"))
    bits = tensor.bits * tensor.lanes
    if tensor.device_type not in (CUDA, CUDA_MANAGED):
        raise TypeError(f"the array is not in a CUDA device's memory (DLPack's device type {tensor.device_type})")
    if bits % 8 != 0:
        raise TypeError(f"elements of {bits} bits are not supported")
    axes = range(tensor.ndim)
    strides = tuple(tensor.strides[i] for i in axes) if tensor.strides else None
    return ((tensor.data or 0) + tensor.byte_offset, tuple(tensor.shape[i] for i in axes), strides, bits // 8,
            tensor.device_id, f"{CODES.get(tensor.code, f'?{tensor.code}.')}{bits // 8}")
