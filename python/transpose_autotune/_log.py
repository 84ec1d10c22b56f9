# SPDX-License-Identifier: Apache-2.0
"""What the library decides and why, as records of Python's logging."""
from __future__ import annotations

import atexit
import logging
from typing import Optional

from ._library import LOG_FUNCTION, library

_LEVELS = {1: logging.WARNING, 2: logging.INFO, 3: logging.DEBUG}   # of autotune_log_level
_logger = logging.getLogger("transpose_autotune")


@LOG_FUNCTION   # type: ignore[misc, untyped-decorator, unused-ignore]
def _tell(_user_data: Optional[int], level: int, line: bytes) -> None:
    _logger.log(_LEVELS.get(level, logging.DEBUG), "%s", line.decode(errors="replace"))


def set_log(level: Optional[int]) -> None:
    """Give the logger "transpose_autotune" what the library does: with logging.WARNING what is wrong, with logging.INFO
    also plans and what is compiled, with logging.DEBUG also which kernels are loaded and unloaded. None: nothing, as at
    first. The logger has a level of its own."""
    most = 0 if level is None else max((number for number, known in _LEVELS.items() if known >= level), default=0)
    library().autotune_set_log(_tell, None, most)
    atexit.unregister(set_log)
    if most:
        atexit.register(set_log, None)  # another thread may still be in the library when Python is gone
