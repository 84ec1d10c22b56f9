# SPDX-License-Identifier: Apache-2.0
"""The fastest transposes and permutations of arrays on NVIDIA GPUs.

    import torch
    from transpose_autotune import permute, transpose

    x = torch.rand(8192, 4096, device="cuda")
    y = transpose(x)                # x.t().contiguous(), by a tuned kernel

transpose_many takes a list of arrays, and transpose_ragged groups of rows; one launch moves them all.
Takes and returns arrays of PyTorch, CuPy, JAX and Numba, and whatever speaks DLPack or has
__cuda_array_interface__. Kernels come from profiles, which `autotune tune` writes; see `use`."""
from ._calls import clear_plans, permute, transpose, use
from ._in_place import permute_, transpose_
from ._library import AutotuneError, Status, Tier, library
from ._log import set_log
from ._many import transpose_many, transpose_ragged
from ._objects import Answer, At, Launch, Plan, Problem, Profile, Scales, lookup, save_wisdom

__all__ = ["Answer", "At", "AutotuneError", "Launch", "Plan", "Problem", "Profile", "Scales", "Status", "Tier",
           "clear_plans", "library_version", "lookup", "permute", "permute_", "save_wisdom", "set_log", "transpose",
           "transpose_", "transpose_many", "transpose_ragged", "use"]

__version__: str    # that of the library, which need not be there when this is imported


def library_version() -> str:
    """The version of libautotune."""
    version: str = library().autotune_version().decode()
    return version


def __getattr__(name: str) -> str:
    if name == "__version__":
        return library_version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
