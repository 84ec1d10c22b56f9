#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Transposes and permutes PyTorch tensors with libautotune, called through ctypes. It uses PyTorch's stream,
takes any element size and strides, and works within a CUDA graph."""
import ctypes

import torch


class Problem(ctypes.Structure):
    """autotune_problem"""
    _fields_ = [(name, ctypes.c_int64) for name in (
        "elem_size", "rows", "cols", "ld_src", "ld_dst", "batch", "stride_src", "stride_dst",
        "in_place", "align_bytes", "struct_size")]


RANK_MAX = 24


class Tensor(ctypes.Structure):
    """autotune_tensor"""
    _fields_ = [("elem_size", ctypes.c_int64), ("rank", ctypes.c_int64)] + [
        (name, ctypes.c_int64 * RANK_MAX) for name in (
            "extents", "permutation", "strides_src", "strides_dst")] + [
        (name, ctypes.c_int64) for name in ("align_bytes", "struct_size")]


def alignment(src, dst):
    """Both addresses are multiples of this: of 512 where PyTorch allocates, of less in some views."""
    return min(16, (src.data_ptr() | dst.data_ptr()) & -(src.data_ptr() | dst.data_ptr()))


class Autotune:
    """The profiles on the search path, or one file, and a plan for each problem so far."""

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
        align = alignment(src, dst)
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
        """Turns a (batch, rows, cols) tensor into a (batch, cols, rows) one. The elements of a row must
        be contiguous. The plan must exist before a graph is captured: call this once outside."""
        if out is None:
            out = src.new_empty(src.shape[0], src.shape[2], src.shape[1])
        assert src.is_cuda and src.stride(2) == out.stride(2) == 1
        with torch.cuda.device(src.device):
            self._execute(self._plan(src, out), out, src)
        return out

    def _execute(self, plan, out, src):
        stream = ctypes.c_void_p(torch.cuda.current_stream(src.device).cuda_stream)
        self._call("autotune_plan_execute", plan, ctypes.c_void_p(out.data_ptr()),
                   ctypes.c_void_p(src.data_ptr()), stream)

    def _tensor_plan(self, src, dims, out):
        align = alignment(src, out)
        key = (src.element_size(), src.shape, dims, src.stride(), out.stride(), src.device, align)
        if key not in self.plans:
            row = ctypes.c_int64 * RANK_MAX
            tensor = Tensor(src.element_size(), src.dim(), row(*src.shape), row(*dims),
                            row(*src.stride()), row(*out.stride()), align)
            plan = ctypes.c_void_p()
            self._call("autotune_tensor_plan_create", ctypes.byref(plan), self.profile,
                       ctypes.byref(tensor))
            self.plans[key] = plan
        return self.plans[key]

    def permute(self, src, dims, out=None):
        """Returns src.permute(dims) as a contiguous tensor, or writes it to `out`, of any strides. Elements
        must not overlap, so no expanded tensors. The plan must exist before a graph is captured."""
        dims = tuple(dim % src.dim() for dim in dims)
        if out is None:
            out = src.new_empty([src.shape[dim] for dim in dims])
        assert src.is_cuda and out.shape == src.permute(dims).shape
        if src.dim() == 0 or src.numel() == 0:
            return out.copy_(src.permute(dims))
        with torch.cuda.device(src.device):
            self._execute(self._tensor_plan(src, dims, out), out, src)
        return out


def main():
    torch.cuda.init()
    autotune, checked = Autotune(), 0
    for dtype in torch.uint8, torch.bfloat16, torch.float32, torch.float64, torch.complex128:
        for shape in (1, 1000, 3000), (7, 33, 65), (1, 100001, 3):
            whole = torch.randint(0, 100, shape, device="cuda").to(dtype)
            # Also views that begin at odd elements and have gaps between rows.
            for src in whole, whole[:, 1:, 1:]:
                assert torch.equal(autotune.transpose(src), src.transpose(1, 2))
                checked += 1
    for shape, dims in ((5, 4, 33, 64), (0, 2, 1, 3)), ((3,) * 7, range(6, -1, -1)), ((9, 8, 7), (1, 2, 0)):
        whole = torch.rand(shape, device="cuda")
        for src in whole, whole[1:, 1:]:
            assert torch.equal(autotune.permute(src, dims), src.permute(*dims))
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
