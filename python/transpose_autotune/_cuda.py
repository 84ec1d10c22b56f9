# SPDX-License-Identifier: Apache-2.0
"""The few calls of the CUDA driver that the library leaves to its caller: contexts, and what streams do."""
from __future__ import annotations

import ctypes
import threading
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from types import TracebackType
from typing import Any, Dict, Iterator, Optional, Type

from ._library import AutotuneError, Status

HOST = -1               # stands for a device, where an array is in host memory
_DEVICE_OF_POINTER = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
_NO_TIMING = 2          # CU_EVENT_DISABLE_TIMING
_NON_BLOCKING = 1       # CU_STREAM_NON_BLOCKING
_RELAXED = 2            # CU_STREAM_CAPTURE_MODE_RELAXED

_lock = threading.Lock()
_driver: Optional[Any] = None
_primary: Dict[int, c_void_p] = {}


def _check(result: int, doing: str) -> None:
    if result != 0:
        name = c_char_p()
        driver().cuGetErrorName(result, byref(name))
        raise AutotuneError(Status.NO_DEVICE, f"{doing}: {(name.value or b'error').decode()} ({result})")


def driver() -> Any:
    """libcuda, initialised."""
    global _driver
    if _driver is None:
        try:
            opened = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise AutotuneError(Status.NO_DEVICE, f"no CUDA driver: {error}") from None
        result = opened.cuInit(0)
        if result != 0:
            raise AutotuneError(Status.NO_DEVICE, f"no usable GPU: cuInit fails ({result})")
        _driver = opened
    return _driver


def _primary_context(device: int) -> c_void_p:
    """The context that the runtime API, and so every framework, uses. It is retained for good."""
    with _lock:
        if device not in _primary:
            handle, context = c_int(), c_void_p()
            _check(driver().cuDeviceGet(byref(handle), device), f"device {device}")
            _check(driver().cuDevicePrimaryCtxRetain(byref(context), handle), f"the context of device {device}")
            _primary[device] = context
        return _primary[device]


class Current:
    """with Current(device): a context of this device is current; without one, of any, if need be the first's. Host
    memory needs none."""

    def __init__(self, device: Optional[int] = None):
        self.device = device
        self.pushed = False

    def _is_current(self) -> bool:
        context, device = c_void_p(), c_int()
        _check(driver().cuCtxGetCurrent(byref(context)), "the current context")
        if not context:
            return False
        return self.device is None or (driver().cuCtxGetDevice(byref(device)) == 0 and device.value == self.device)

    def __enter__(self) -> None:
        if self.device != HOST and not self._is_current():
            _check(driver().cuCtxPushCurrent_v2(_primary_context(self.device or 0)), "changing the context")
            self.pushed = True

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if self.pushed:
            driver().cuCtxPopCurrent_v2(byref(c_void_p()))


def current_device() -> int:
    """The device of the current context."""
    device = c_int()
    _check(driver().cuCtxGetDevice(byref(device)), "the current device")
    return device.value


def device_of(pointer: int) -> int:
    """The device whose memory this is."""
    device = c_int()
    _check(driver().cuPointerGetAttribute(byref(device), _DEVICE_OF_POINTER, c_uint64(pointer)),
           f"{pointer:#x} is no address of a device")
    return device.value


def is_capturing(stream: int) -> bool:
    state = c_int()
    return driver().cuStreamIsCapturing(c_void_p(stream), byref(state)) == 0 and state.value != 0


def stream_identity(stream: int) -> int:
    """A number that no other stream of the process has, earlier ones neither. A handle may be used again, and that of
    the default stream per thread stands for many."""
    number = c_uint64()
    _check(driver().cuStreamGetId(c_void_p(stream), byref(number)), "the identity of a stream")
    return number.value


@contextmanager
def _beside_captures() -> Iterator[None]:
    """Calls of this thread may allocate and wait while streams are captured. They leave these streams alone."""
    mode = c_int(_RELAXED)
    exchange = driver().cuThreadExchangeStreamCaptureMode
    _check(exchange(byref(mode)), "the mode of captures")
    try:
        yield
    finally:
        exchange(byref(mode))  # back to what it was


def allocated(size: int) -> int:
    """New memory of the current context, which is never freed. Streams may be captured meanwhile."""
    address = c_uint64()
    with _beside_captures():
        _check(driver().cuMemAlloc_v2(byref(address), c_size_t(size)), "memory")
    return address.value


def copied(address: int, size: int) -> int:
    """The same with the bytes at this address of the host. They are there when this returns."""
    there, stream = allocated(size), c_void_p()
    with _beside_captures():
        _check(driver().cuStreamCreate(byref(stream), _NON_BLOCKING), "a stream")
        try:
            _check(driver().cuMemcpyHtoDAsync_v2(c_uint64(there), c_void_p(address), c_size_t(size), stream), "copying")
            synchronize(stream.value or 0)
        finally:
            driver().cuStreamDestroy_v2(stream)
    return there


def cleared(size: int) -> int:
    """New memory of the current context, whose bytes are 0. It is never freed."""
    address = c_uint64()
    _check(driver().cuMemAlloc_v2(byref(address), c_size_t(size)), "memory")
    _check(driver().cuMemsetD8_v2(address, 0, c_size_t(size)), "clearing memory")
    synchronize(0)
    return address.value


def clear_word(address: int, stream: int) -> None:
    """Set 4 bytes to 0, in the stream."""
    _check(driver().cuMemsetD32Async(c_uint64(address), 0, c_size_t(1), c_void_p(stream)), "clearing a number")


def synchronize(stream: int) -> None:
    _check(driver().cuStreamSynchronize(c_void_p(stream)), "waiting for a stream")


def order(first: int, second: int) -> None:
    """Later work of the second stream waits for the earlier work of the first."""
    if first == second:
        return
    event = c_void_p()
    _check(driver().cuEventCreate(byref(event), _NO_TIMING), "an event")
    try:
        _check(driver().cuEventRecord(event, c_void_p(first)), "an event")
        _check(driver().cuStreamWaitEvent(c_void_p(second), event, 0), "an event")
    finally:
        driver().cuEventDestroy_v2(event)
