#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A mixture of experts in training: each token goes to an expert, and a gradient of weights needs the tokens of its
expert transposed. Only the GPU knows how many there are, and the host does not wait for that (doc/python.md)."""
import torch

from transpose_autotune import transpose_ragged

TOKENS, WIDTH, EXPERTS, PADDING = 4096, 256, 16, 16


def transposed_by_expert(tokens, expert):
    """Sort the tokens by their experts, and transpose those of each. Returns the rows sorted, where each expert's
    begin, and the results, side by side, in rows filled with zeros to a multiple of PADDING."""
    order = torch.argsort(expert, stable=True)
    counts = torch.zeros(EXPERTS + 1, dtype=torch.int64, device=tokens.device)
    counts.scatter_add_(0, expert + 1, torch.ones_like(expert))
    offsets, rows = counts.cumsum(0), tokens[order]
    return rows, offsets, transpose_ragged(rows, offsets, padding=PADDING)


def check(rows, offsets, results):
    """Compare with PyTorch's transposes. This reads the offsets, which training need not do."""
    place, bounds = 0, offsets.tolist()
    for begin, end in zip(bounds, bounds[1:]):
        padded = -(-(end - begin) // PADDING) * PADDING
        found = results[place:place + WIDTH * padded].view(WIDTH, padded)
        assert torch.equal(found[:, :end - begin], rows[begin:end].t())
        assert not found[:, end - begin:].any()
        place += WIDTH * padded


def main():
    tokens = torch.randn(TOKENS, WIDTH, device="cuda").to(torch.bfloat16)
    expert = torch.zeros(TOKENS, dtype=torch.int64, device="cuda")
    transposed_by_expert(tokens, expert)  # makes the plan, which a graph cannot
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = transposed_by_expert(tokens, expert)
    for batch in range(20):
        tokens.normal_()
        expert.random_(0, EXPERTS if batch % 2 else 3)  # some experts get nothing
        graph.replay()
        check(*found)
    print("20 batches are right")


if __name__ == "__main__":
    main()
