# SPDX-License-Identifier: Apache-2.0
"""Which NVRTC the program and the library should open, where they do not find the right one by themselves.

They look on the loader's path, and beside this package for the wheel of CUDA 13. Python may have that wheel in
another folder, for example the system's beneath a virtual environment; and a driver of CUDA 12 needs the NVRTC
of CUDA 12, whose kernels it can load."""
from __future__ import annotations

import ctypes
import os
import sys
from typing import Optional

from ._places import PACKAGE

# By CUDA's major version, where NVIDIA's wheels have it.
WHEELS = {13: os.path.join("nvidia", "cu13", "lib", "libnvrtc.so.13"),
          12: os.path.join("nvidia", "cuda_nvrtc", "lib", "libnvrtc.so.12")}


def driver_major() -> int:
    """CUDA's major version that the driver was made for; 0: there is no driver."""
    version = ctypes.c_int()
    try:
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
    except (OSError, AttributeError):
        return 0
    return version.value // 1000


def installed(major: int) -> Optional[str]:
    """The NVRTC that Python would import, if it were a module."""
    for folder in (os.path.dirname(PACKAGE), *sys.path):
        path = os.path.join(folder or os.curdir, WHEELS[major])
        if os.path.exists(path):
            return os.path.abspath(path)
    return None


def choose() -> Optional[str]:
    """The NVRTC to name; None: what is found without, or what AUTOTUNE_NVRTC names."""
    if os.environ.get("AUTOTUNE_NVRTC"):
        return None
    newest = installed(13)
    if newest == os.path.join(os.path.dirname(PACKAGE), WHEELS[13]) and driver_major() in (0, 13):
        return None
    return installed(12) if driver_major() == 12 else newest or installed(12)
