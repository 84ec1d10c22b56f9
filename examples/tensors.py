#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Transposes and permutes PyTorch tensors with the package transpose_autotune (doc/python.md): any element size
and strides, given results, a cast, and a CUDA graph."""
import torch

from transpose_autotune import permute, transpose


def main():
    checked = 0
    for dtype in torch.uint8, torch.bfloat16, torch.float32, torch.float64, torch.complex128:
        for shape in (1, 1000, 3000), (7, 33, 65), (1, 100001, 3):
            whole = torch.randint(0, 100, shape, device="cuda").to(dtype)
            # Also views that begin at odd elements and have gaps between rows.
            for src in whole, whole[:, 1:, 1:]:
                assert torch.equal(transpose(src), src.transpose(1, 2))
                checked += 1
    for shape, dims in ((5, 4, 33, 64), (0, 2, 1, 3)), ((3,) * 7, range(6, -1, -1)), ((9, 8, 7), (1, 2, 0)):
        whole = torch.rand(shape, device="cuda")
        for src in whole, whole[1:, 1:]:
            assert torch.equal(permute(src, dims), src.permute(*dims))
            checked += 1
    src = torch.rand(500, 700, device="cuda")
    assert torch.equal(transpose(src, dtype=torch.bfloat16, scale=0.5), (src.t() * 0.5).to(torch.bfloat16))
    out = transpose(src)  # makes the plan, which a graph cannot
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        transpose(src, out)
    src.uniform_()
    graph.replay()
    assert torch.equal(out, src.t())
    print(f"{checked + 2} tensors are right")


if __name__ == "__main__":
    main()
