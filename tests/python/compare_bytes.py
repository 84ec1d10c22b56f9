#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_bytes.py: the bytes of block scales and of their results, against their libraries' definitions.

    compare_bytes.py [--torchao FOLDER] [--device cpu|cuda] PROGRAM [BLOCKS]

PROGRAM is tests/python/block-bytes of the build folder: it computes as src/problem/block_scale.c does. The
definitions are those of block_scales.py, in PyTorch's arithmetic. FOLDER is a checkout of torchao at 36027d8: its own
functions are then compared with the definitions too; some of them need a GPU. BLOCKS (by default 10000000) are drawn
from one seed, for all rules and types together. To them come, for each rule, all elements of two bytes as the largest
of a block, and all of them as the others. Scales in e4m3 are also near each middle between two of them.

Prints for each rule and types how many blocks there were, and how many bytes differ. Exit: 0 if none does. Needs
PyTorch 2.6 or newer."""
import argparse
import subprocess
import sys

import torch

import block_scales
from block_scales import E2M1

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
NAMES = {torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32", E4M3: "e4m3", E5M2: "e5m2", E2M1: "e2m1"}
MANTISSAS = {torch.bfloat16: 7, torch.float16: 10, torch.float32: 23}
WORDS = {2: torch.int16, 4: torch.int32}
# The elements of a block, rules, types of results.
CASES = [(128, ("te", "te-pow2", "torchao"), (E4M3, E5M2)),
         (32, ("floor", "ceil", "even", "rceil"), (E4M3, E5M2, E2M1)),
         (32, ("te-rceil",), (E4M3, E5M2)),
         (16, ("nvfp4", "te-nvfp4"), (E2M1,))]
COUNT = sum(len(rules) * len(types) for _, rules, types in CASES) * len(MANTISSAS)
PART = 1 << 22  # elements at once


def cases():
    """Types of the source, elements of a block, rules, types of results."""
    for kind in MANTISSAS:
        for cols, rules, types in CASES:
            for rule in rules:
                for to in types:
                    yield kind, cols, rule, to


# ---- blocks ----

# Elements are words here: a sign, and the magnitude's bits, which have the order of magnitudes.

def drawn(shape, last, source):
    """Random integers from 0 to `last`."""
    return torch.randint(0, last + 1, shape, generator=source, device=source.device)


def of_words(signs, magnitudes, kind):
    size = torch.finfo(kind).bits // 8
    return (magnitudes - (signs << (8 * size - 1))).to(WORDS[size]).view(kind)


def infinity(kind):
    return int(torch.tensor(torch.inf, dtype=kind).view(WORDS[torch.finfo(kind).bits // 8]))


def drawn_blocks(kind, rows, cols, source):
    """A quarter of them of any bits. The others have exponents near each other, half of them mantissas on ties and
    beside them. One in eight has an infinity, NaN, a zero or a subnormal number."""
    shape, signs = (rows, cols), drawn((rows, cols), 1, source)
    any_bits = drawn(shape, 2 * infinity(kind) - 1 if kind == torch.float16 else (1 << torch.finfo(kind).bits - 1) - 1,
                     source)
    mantissa = MANTISSAS[kind]
    exponents = (drawn((rows, 1), infinity(kind) >> mantissa, source) - drawn(shape, 9, source)).clamp(min=0)
    top = max(0, mantissa - 4)
    ties = (drawn(shape, 15, source) << top) + drawn(shape, 2, source) - 1
    near = torch.where(drawn((rows, 1), 1, source) == 0, drawn(shape, (1 << mantissa) - 1, source),
                       ties.clamp(0, (1 << mantissa) - 1))
    magnitudes = torch.where(drawn((rows, 1), 3, source) == 0, any_bits, (exponents << mantissa) + near)
    magnitudes = magnitudes.clamp(max=(1 << torch.finfo(kind).bits - 1) - 1)
    special = torch.tensor([0, 1, (1 << mantissa) - 1, infinity(kind), infinity(kind) + 1, infinity(kind) - 1],
                           device=source.device)[drawn((rows, 1), 5, source)]
    here = (drawn((rows, 1), 7, source) == 0) & (drawn((rows, 1), cols - 1, source) ==
                                                 torch.arange(cols, device=source.device))
    return of_words(signs, torch.where(here, special, magnitudes), kind)


def whole_blocks(kind, cols, source):
    """All elements of two bytes: as the largest of a block, and as others of blocks with several largest ones. And
    blocks of one number: zeros, the least and largest ones, infinities, NaN."""
    every = torch.arange(1 << 15, device=source.device)
    signs = drawn((1 << 16, cols), 1, source)
    signs[:, 0] = torch.arange(1 << 16, device=source.device) >> 15
    largest = every.repeat(2)[:, None]
    below = (largest.double() * torch.rand((1 << 16, cols), generator=source, device=source.device,
                                           dtype=torch.float64)).long()
    below[:, 0] = largest[:, 0]
    yield of_words(signs, below, kind)
    for number in 1, 6, 448, 0.37, 57344, 2.0 ** -14, torch.finfo(kind).max, torch.finfo(kind).tiny, torch.nan:
        bits = int(torch.tensor(number, dtype=kind).view(torch.int16))
        others = torch.cat((every[:bits + 1], every[:-(bits + 1) % (cols - 1)])).view(-1, cols - 1)
        magnitudes = torch.nn.functional.pad(others, (1, 0), value=bits)
        for sign in 0, 1:
            yield of_words(torch.full_like(magnitudes, sign), magnitudes, kind)
    alone = torch.tensor([0, 1, 2, infinity(kind) - 1, infinity(kind), infinity(kind) + 1], device=source.device)
    yield of_words(drawn((6, cols), 1, source), alone[:, None].repeat(1, cols), kind)


def blocks(kind, cols, rows, source):
    """Matrices whose rows are blocks; `rows` are drawn."""
    if kind != torch.float32:
        yield from whole_blocks(kind, cols, source)
    while rows > 0:
        count = min(rows, PART // cols)
        yield drawn_blocks(kind, count, cols, source)
        rows -= count


TENSORS = 448.0, 7.3, 1e5, 0.03, 1e-37, 3e38, 1e-30  # largest magnitudes


def blocks_on_ties(kind, cols, tensor, source):
    """Blocks whose scales are in the middle of two numbers of e4m3, and beside it."""
    scales = torch.arange(127, dtype=torch.uint8, device=source.device).view(E4M3).double()
    middles = (scales[1:] + scales[:-1]) / 2 * 6 * (1 if tensor is None else tensor / 2688)
    near = middles.float().to(kind).view(WORDS[torch.finfo(kind).bits // 8]).long()[:, None] + torch.arange(
        -4, 5, device=source.device)
    largest = near.clamp(0, infinity(kind) - 1).view(-1, 1)
    magnitudes = torch.where(torch.arange(cols, device=source.device) == 0, largest,
                             largest - drawn((len(largest), cols), 1 << MANTISSAS[kind], source)).clamp(min=0)
    return of_words(drawn(magnitudes.shape, 1, source), magnitudes, kind)


def with_tensors(kind, cols, rule, rows, source):
    """The same, with the largest magnitude that the tensor is said to have, or None."""
    has_tensor = "nvfp4" in rule
    for number, x in enumerate(blocks(kind, cols, rows, source)):
        yield x, TENSORS[number % len(TENSORS)] if has_tensor and number % 3 else None
    for tensor in (None, *TENSORS) if has_tensor else ():
        yield blocks_on_ties(kind, cols, tensor, source), tensor


# ---- what is compared ----

def raw(tensor):
    """The bytes."""
    return tensor.contiguous().flatten().view(torch.uint8)


def differing(found, wanted):
    return sum(int((raw(one) != raw(other)).sum()) for one, other in zip(found, wanted))


class Program:
    """src/problem/block_scale.c"""

    def __init__(self, path):
        self.path = path

    def __call__(self, x, to, rule, tensor):
        bits = [] if tensor is None else [f"{int(tensor.cpu().view(torch.int32)):08x}"]
        run = subprocess.run([self.path, rule, NAMES[x.dtype], NAMES[to], str(x.shape[1]), *bits],
                             input=raw(x).cpu().numpy().tobytes(), capture_output=True, check=True)
        made = torch.frombuffer(bytearray(run.stdout), dtype=torch.uint8)
        count = x.numel() // 2 if to == E2M1 else x.numel()
        return made[:count], made[count:]


class Torchao:
    """torchao's own functions. NaN may have any sign, as in PyTorch's conversions."""

    def __init__(self, folder):
        sys.path.insert(0, folder)
        from torchao.prototype.mx_formats.config import ScaleCalculationMode
        from torchao.prototype.mx_formats.mx_tensor import to_mx
        from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize
        from torchao.prototype.blockwise_fp8_training.kernels import triton_fp8_blockwise_act_quant_lhs
        self.modes, self.to_mx, self.nvfp4_quantize = ScaleCalculationMode, to_mx, nvfp4_quantize
        self.blockwise = triton_fp8_blockwise_act_quant_lhs

    def __call__(self, x, to, rule, tensor):
        wide = x.float()  # as these functions do with bf16; they refuse f16
        if rule == "nvfp4":
            scales, results = self.nvfp4_quantize(wide, x.shape[1], None if tensor is None else
                                                  tensor / torch.full_like(tensor, 2688.0))
        elif rule in ("floor", "ceil", "even", "rceil"):
            scales, results = self.to_mx(wide, to, x.shape[1], self.modes[rule.upper()])
        elif rule == "torchao" and to == E4M3 and x.is_cuda:
            results, scales = self.blockwise(x, x.shape[1])
            return results, scales
        else:
            return None
        products, _ = block_scales.multiplied(x, to, (1, x.shape[1]), rule, tensor)
        unsigned = products.isnan()
        results, scales = results.view(torch.uint8), scales.view(torch.uint8)
        if to == E2M1:
            results = torch.stack((results & 15, results >> 4), -1).flatten(-2)
            results = torch.where(unsigned, 7, results)
            results = results[:, ::2] | results[:, 1::2] << 4
        else:
            results = torch.where(unsigned, 127, results)
        if rule == "nvfp4":
            scales = torch.where(scales & 127 == 127, 127, scales)
        return results, scales


def compare(computers, count, device, seed=1):
    """Compare what the computers make with the definitions. Prints a line a case. Returns how many bytes differ."""
    total, drawn_in_all = 0, 0
    source = torch.Generator(device=device).manual_seed(seed)
    for kind, cols, rule, to in cases():
        found, rows = [0] * len(computers), 0
        for x, number in with_tensors(kind, cols, rule, -(-count // COUNT), source):
            tensor = None if number is None else torch.tensor(number, device=device)
            wanted = block_scales.quantised(x, to, (1, cols), rule, None, tensor)
            rows += x.shape[0]
            for i, computer in enumerate(computers):
                made = computer(x, to, rule, tensor)
                found[i] += 0 if made is None else differing([one.to(device) for one in made], wanted)
        drawn_in_all += rows
        total += sum(found)
        print(f"{rule:9} {NAMES[kind]:>4}:{NAMES[to]}  1x{cols:<3} {rows:9} blocks, bytes that differ: "
              f"{' '.join(map(str, found))}", flush=True)
    print(f"{drawn_in_all} blocks, {total} bytes differ")
    return total


def main():
    parser = argparse.ArgumentParser(usage="compare_bytes.py [--torchao FOLDER] [--device cpu|cuda] PROGRAM [BLOCKS]")
    parser.add_argument("--torchao")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("program")
    parser.add_argument("blocks", nargs="?", type=int, default=10_000_000)
    given = parser.parse_args()
    computers = [Program(given.program)] + ([Torchao(given.torchao)] if given.torchao else [])
    sys.exit(compare(computers, given.blocks, given.device) > 0)


if __name__ == "__main__":
    main()
