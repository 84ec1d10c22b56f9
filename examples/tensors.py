#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Transposes PyTorch tensors with libautotune, through ctypes: in PyTorch's stream or a CUDA graph,
with elements of any size and gaps between rows."""
import ctypes

import torch


class Problem(ctypes.Structure):
    """autotune_problem"""
    _fields_ = [(name, ctypes.c_int64) for name in (
        "elem_size", "rows", "cols", "ld_src", "ld_dst", "batch", "stride_src", "stride_dst",
        "in_place", "align_bytes")]


class Autotune:
    """The profiles of the search path, or one profile, and a plan for each problem so far."""

    def __init__(self, profile=None, library="libautotune.so.0"):
        self.library = ctypes.CDLL(library)
        self.library.autotune_error_message.restype = ctypes.c_char_p
        self.plans = {}
        self.profile = ctypes.c_void_p()
        self._call("autotune_profile_open", ctypes.byref(self.profile),
                   profile.encode() if profile else None)

    def _call(self, name, *arguments):
        error = ctypes.c_void_p()
        if getattr(self.library, name)(*arguments, ctypes.byref(error)) != 0:
            message = self.library.autotune_error_message(error).decode()
            self.library.autotune_error_free(error)
            raise RuntimeError(message)

    def _plan(self, src, dst):
        batch, rows, cols = src.shape
        # Both addresses are multiples of this. PyTorch allocates at multiples of 512; views may not be.
        align = min(16, (src.data_ptr() | dst.data_ptr()) & -(src.data_ptr() | dst.data_ptr()))
        key = (src.element_size(), src.shape, src.stride(), dst.stride(), src.device, align)
        if key not in self.plans:
            problem = Problem(src.element_size(), rows, cols, src.stride(1), dst.stride(1), batch,
                              src.stride(0), dst.stride(0), 0, align)
            plan = ctypes.c_void_p()
            self._call("autotune_plan_create", ctypes.byref(plan), self.profile,
                       ctypes.byref(problem))
            self.plans[key] = plan
        return self.plans[key]

    def transpose(self, src, out=None):
        """Transposes a (batch, rows, cols) tensor to (batch, cols, rows). Elements of a row must be
        adjacent. Before capturing a graph, call it once, so that the plan exists."""
        if out is None:
            out = src.new_empty(src.shape[0], src.shape[2], src.shape[1])
        assert src.is_cuda and src.stride(2) == out.stride(2) == 1
        stream = ctypes.c_void_p(torch.cuda.current_stream(src.device).cuda_stream)
        with torch.cuda.device(src.device):
            self._call("autotune_plan_execute", self._plan(src, out),
                       ctypes.c_void_p(out.data_ptr()), ctypes.c_void_p(src.data_ptr()), stream)
        return out


def main():
    torch.cuda.init()
    autotune, checked = Autotune(), 0
    for dtype in torch.uint8, torch.bfloat16, torch.float32, torch.float64, torch.complex128:
        for shape in (1, 1000, 3000), (7, 33, 65), (1, 100001, 3):
            whole = torch.randint(0, 100, shape, device="cuda").to(dtype)
            # The view begins at an odd element and has gaps between its rows.
            for src in whole, whole[:, 1:, 1:]:
                assert torch.equal(autotune.transpose(src), src.transpose(1, 2))
                checked += 1
    src = torch.rand(1, 500, 700, device="cuda")
    out = autotune.transpose(src)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        autotune.transpose(src, out)
    src.uniform_()
    graph.replay()
    assert torch.equal(out, src.transpose(1, 2))
    print(f"{checked + 1} tensors are right")


if __name__ == "__main__":
    main()
