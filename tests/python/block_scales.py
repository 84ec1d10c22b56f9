# SPDX-License-Identifier: Apache-2.0
"""Results with block scales as PyTorch's own operations compute them, for tests without a GPU and with one."""
import torch

E8M0 = getattr(torch, "float8_e8m0fnu", torch.uint8)
E2M1 = getattr(torch, "float4_e2m1fn_x2", torch.uint8)  # two results in a byte
LARGEST = {torch.float8_e4m3fn: 448.0, torch.float8_e5m2: 57344.0, E2M1: 6.0, torch.uint8: 6.0}
POWERS = {torch.float8_e4m3fn: 8, torch.float8_e5m2: 15, E2M1: 2, torch.uint8: 2}  # the largest exponents


def of_number(number, divisor):
    """The quotient, rounded once. PyTorch multiplies a plain number with the reciprocal."""
    return torch.full_like(divisor, number) / divisor


def te(largest, to, _):
    """The scales and factors of blocks with these largest magnitudes: those of TransformerEngine."""
    factor = torch.where(largest == 0, 1, of_number(LARGEST[to], largest))
    return of_number(1, factor), factor


def torchao(largest, to, _):
    """Those of torchao's kernels."""
    factor = of_number(LARGEST[to], largest.clamp(min=1e-12).double()).float()
    return of_number(1, factor), factor


def floor(largest, to, _):
    """Those of MX, with powers of two that are rounded down."""
    byte = ((largest.view(torch.int32) >> 23) - POWERS[to]).clamp(min=0)
    return byte.to(torch.uint8).view(E8M0), torch.exp2(127.0 - byte)


def nvfp4(largest, to, tensor_amax):
    """Those of torchao's NVFP4."""
    whole = torch.ones((), device=largest.device)
    if tensor_amax is not None:
        whole = tensor_amax / torch.full_like(tensor_amax, 2688.0)
    stored = (largest / torch.full_like(largest, 6.0) / whole).clamp(2.0 ** -6, 448.0).to(torch.float8_e4m3fn)
    return stored, torch.ones_like(whole) / whole / stored.float()


def te_nvfp4(largest, to, tensor_amax):
    """Those of TransformerEngine's."""
    encode = torch.ones((), device=largest.device)
    if tensor_amax is not None:
        encode = of_number(2688.0, tensor_amax)
    stored = (largest * (encode * of_number(1, torch.full_like(encode, 6.0)))).clamp(max=448.0).to(torch.float8_e4m3fn)
    return stored, of_number(1, stored.float() * of_number(1, encode)).clamp(max=torch.finfo(torch.float32).max)


RULES = {"te": te, "torchao": torchao, "floor": floor, "nvfp4": nvfp4, "te-nvfp4": te_nvfp4}


def rounded(products, to):
    """Products in the result's type. Of 4 bits there are the codes."""
    most = LARGEST[to]
    if to not in (E2M1, torch.uint8):
        return products.clamp(-most, most).to(to)
    codes, sizes = torch.signbit(products).to(torch.uint8) * 8, products.abs()
    for i, middle in enumerate((0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0)):  # a tie goes to the even code
        codes += (sizes >= middle if i % 2 else sizes > middle).to(torch.uint8)
    return codes


def packed(result, to):
    """Results of 4 bits are two in a byte, the first one in the lower half."""
    if to not in (E2M1, torch.uint8):
        return result
    whole = torch.nn.functional.pad(result, (0, result.shape[-1] % 2))
    return (whole[..., ::2] | whole[..., 1::2] << 4).contiguous().view(to)


def quantised(source, to, blocks, scales="te", layout=None, tensor_amax=None):
    """The result of a source, which has the result's orientation, and its scales, as transpose gives them."""
    rows, cols = source.shape[-2:]
    height, width = blocks
    down, across = -(-rows // height), -(-cols // width)
    whole = torch.nn.functional.pad(source.float(), (0, across * width - cols, 0, down * height - rows))
    cells = whole.unflatten(-1, (across, width)).unflatten(-3, (down, height))
    made, factors = RULES[scales](cells.abs().amax((-3, -1)), to, tensor_amax)
    products = rounded(cells * factors[..., :, None, :, None], to)
    result = packed(products.flatten(-4, -3).flatten(-2)[..., :rows, :cols], to)
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
