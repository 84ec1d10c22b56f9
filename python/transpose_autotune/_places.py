# SPDX-License-Identifier: Apache-2.0
"""Where the wheel has its files."""
from __future__ import annotations

import os

PACKAGE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(PACKAGE, "bin", "autotune")
LIBRARY = os.path.join(PACKAGE, "lib", "libautotune.so.0")
