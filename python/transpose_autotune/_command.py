# SPDX-License-Identifier: Apache-2.0
"""The command `autotune`: the program within this package."""
from __future__ import annotations

import os
import sys
from typing import NoReturn

from . import _nvrtc
from ._places import PROGRAM


def main() -> NoReturn:
    nvrtc = _nvrtc.choose()
    if nvrtc:
        os.environ["AUTOTUNE_NVRTC"] = nvrtc
    try:
        os.execv(PROGRAM, ["autotune", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"autotune: cannot run {PROGRAM}: {error.strerror}; it comes with the wheel (pip install .), and "
                 "not with an editable installation")


if __name__ == "__main__":
    main()
