# SPDX-License-Identifier: Apache-2.0
"""python -m transpose_autotune: the command `autotune`."""
from ._command import main

main()
