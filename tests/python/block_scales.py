# SPDX-License-Identifier: Apache-2.0
"""Results with block scales as PyTorch's own operations compute them, for tests without a GPU and with one."""
import torch

E8M0 = getattr(torch, "float8_e8m0fnu", torch.uint8)


def of_number(number, divisor):
    """The quotient, rounded once. PyTorch multiplies a plain number with the reciprocal."""
    return torch.full_like(divisor, number) / divisor


def te(largest, to):
    """The scales and factors of blocks with these largest magnitudes: those of TransformerEngine."""
    factor = torch.where(largest == 0, 1, of_number(torch.finfo(to).max, largest))
    return of_number(1, factor), factor


def torchao(largest, to):
    """Those of torchao's kernels."""
    factor = of_number(torch.finfo(to).max, largest.clamp(min=1e-12).double()).float()
    return of_number(1, factor), factor


def floor(largest, to):
    """Those of MX, with powers of two that are rounded down."""
    byte = ((largest.view(torch.int32) >> 23) - (8 if to == torch.float8_e4m3fn else 15)).clamp(min=0)
    return byte.to(torch.uint8).view(E8M0), torch.exp2(127.0 - byte)


RULES = {"te": te, "torchao": torchao, "floor": floor}


def quantised(source, to, blocks, scales="te", layout=None):
    """The result of a source, which has the result's orientation, and its scales, as transpose gives them."""
    rows, cols = source.shape[-2:]
    height, width = blocks
    down, across = -(-rows // height), -(-cols // width)
    whole = torch.nn.functional.pad(source.float(), (0, across * width - cols, 0, down * height - rows))
    cells = whole.unflatten(-1, (across, width)).unflatten(-3, (down, height))
    made, factors = RULES[scales](cells.abs().amax((-3, -1)), to)
    largest = torch.finfo(to).max
    products = (cells * factors[..., :, None, :, None]).clamp(-largest, largest).to(to)
    result = products.flatten(-4, -3).flatten(-2)[..., :rows, :cols]
    return result.contiguous(), laid_out(made, layout)


def laid_out(scales, layout):
    """Scales with the shape and strides of a layout."""
    if layout == "swizzled":
        raw = scales.view(torch.uint8)
        rows, cols = (-(-extent // unit) * unit for extent, unit in zip(raw.shape[-2:], (128, 4)))
        raw = torch.nn.functional.pad(raw, (0, cols - raw.shape[-1], 0, rows - raw.shape[-2]))
        tiles = raw.unflatten(-1, (-1, 4)).unflatten(-3, (-1, 4, 32))  # down, 4, 32, across, 4
        return tiles.movedim(-2, -4).movedim(-2, -3).flatten(-5).contiguous().view(scales.dtype)
    if layout in ("transposed", "aligned"):
        rows, unit = scales.shape[-2], 1 if layout == "transposed" else 16 // scales.element_size()
        raw = scales.view(torch.uint8) if scales.element_size() == 1 else scales
        room = raw.new_zeros(*raw.shape[:-2], raw.shape[-1], -(-rows // unit) * unit)
        room[..., :rows] = raw.mT
        return room.view(scales.dtype)[..., :rows].mT
    return scales.contiguous()
