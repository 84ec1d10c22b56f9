# SPDX-License-Identifier: Apache-2.0
"""Results with block scales as PyTorch's own operations compute them, for tests without a GPU and with one.

The rules are written from their libraries' definitions, which doc/arithmetic.md names."""
import torch

E8M0 = getattr(torch, "float8_e8m0fnu", torch.uint8)
E2M1 = getattr(torch, "float4_e2m1fn_x2", torch.uint8)  # two results in a byte
FOUR_BITS = E2M1, torch.uint8
LARGEST = {torch.float8_e4m3fn: 448.0, torch.float8_e5m2: 57344.0, **dict.fromkeys(FOUR_BITS, 6.0)}
POWERS = {torch.float8_e4m3fn: 8, torch.float8_e5m2: 15, **dict.fromkeys(FOUR_BITS, 2)}  # the largest exponents
MANTISSAS = {torch.float8_e4m3fn: 3, torch.float8_e5m2: 2, **dict.fromkeys(FOUR_BITS, 1)}
MOST = torch.finfo(torch.float32).max


def of_number(number, divisor):
    """The quotient, rounded once. PyTorch multiplies a plain number with the reciprocal."""
    return torch.full_like(divisor, number) / divisor


# A rule makes scales and factors of blocks from their largest magnitudes. It knows the types of source and results,
# and the largest magnitude of the tensor, or None.

def te(largest, source, to, _):
    factor = of_number(LARGEST[to], largest)
    factor = torch.where(factor.isinf(), torch.finfo(source).max, factor)
    factor = torch.where((largest == 0) | largest.isinf(), 1, factor)
    return of_number(1, factor), factor


def te_pow2(largest, source, to, _):
    factor = te(largest, source, to, _)[1]
    factor = (factor.view(torch.int32) & -0x800000).view(torch.float32)
    return of_number(1, factor), factor


def torchao(largest, source, to, _):
    factor = of_number(LARGEST[to], largest.clamp(min=1e-12).double()).float()
    return of_number(1, factor), factor


def of_bytes(scales):
    """Scales in e8m0, and 2 to the power of 127 less the byte; 255 is NaN."""
    factors = (127 - scales.long() + 1023 << 52).view(torch.float64).float()  # by the exponent field of doubles
    return scales.to(torch.uint8).view(E8M0), torch.where(scales == 255, torch.nan, factors)


def of_exponents(largest, exponents, to):
    scales = (exponents - POWERS[to]).clamp(min=0)
    return of_bytes(torch.where(largest.isfinite(), scales, 255))


def floor(largest, source, to, _):
    return of_exponents(largest, largest.view(torch.int32) >> 23, to)


def ceil(largest, source, to, _):
    bits = largest.view(torch.int32)
    return of_exponents(largest, (bits >> 23) + ((bits & 0x7fffff) > 0), to)


def even(largest, source, to, _):
    rounded_up = largest.view(torch.int32) + (1 << (22 - MANTISSAS[to]))
    return of_exponents(torch.where(largest.isnan(), largest, rounded_up.view(torch.float32)), rounded_up >> 23, to)


def quotients_up(largest, to):
    """The exponent fields of the quotients, rounded up."""
    bits = (largest * of_number(1, torch.full_like(largest, LARGEST[to]))).view(torch.int32)
    exponents, mantissas = bits >> 23, bits & 0x7fffff
    return exponents + torch.where(exponents == 0, mantissas > 0x400000, mantissas > 0)


def rceil(largest, source, to, _):
    return of_bytes(torch.where(largest.isfinite(), quotients_up(largest, to), 255))


def te_rceil(largest, source, to, _):
    return of_bytes(torch.where(largest.isfinite(), quotients_up(largest, to), 254))


def nvfp4(largest, source, to, tensor_amax):
    whole = torch.ones((), device=largest.device)
    if tensor_amax is not None:
        whole = tensor_amax / torch.full_like(tensor_amax, 2688.0)
    stored = (largest / torch.full_like(largest, 6.0) / whole).clamp(2.0 ** -6, 448.0).to(torch.float8_e4m3fn)
    return stored, of_number(1, whole) / stored.float()


def te_nvfp4(largest, source, to, tensor_amax):
    encode = torch.ones((), device=largest.device)
    if tensor_amax is not None:
        encode = of_number(2688.0, tensor_amax).clamp(max=MOST)
        encode = torch.where((tensor_amax == 0) | (encode == 0), 1, encode)
    stored = (largest * (encode * of_number(1, torch.full_like(encode, 6.0)))).clamp(max=448.0).to(torch.float8_e4m3fn)
    return stored, of_number(1, stored.float() * of_number(1, encode)).clamp(max=MOST)


RULES = {"te": te, "te-pow2": te_pow2, "torchao": torchao, "floor": floor, "ceil": ceil, "even": even, "rceil": rceil,
         "te-rceil": te_rceil, "nvfp4": nvfp4, "te-nvfp4": te_nvfp4}
NAN_COUNTS = "floor", "ceil", "even", "rceil", "nvfp4"  # it makes a block's largest magnitude NaN


def rounded(products, to):
    """Products in the result's type. Of 4 bits there are the codes."""
    most = LARGEST[to]
    if to not in FOUR_BITS:
        return torch.where(products.isnan(), torch.nan, products.clamp(-most, most)).to(to)
    codes, sizes = torch.signbit(products).to(torch.uint8) * 8, products.abs()
    for i, middle in enumerate((0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0)):  # a tie goes to the even code
        codes += (sizes >= middle if i % 2 else sizes > middle).to(torch.uint8)
    return torch.where(products.isnan(), 7, codes)


def packed(result, to):
    """Results of 4 bits are two in a byte, the first one in the lower half."""
    if to not in FOUR_BITS:
        return result
    whole = torch.nn.functional.pad(result, (0, result.shape[-1] % 2))
    return (whole[..., ::2] | whole[..., 1::2] << 4).contiguous().view(to)


def multiplied(source, to, blocks, scales="te", tensor_amax=None):
    """The products of elements and factors, and the scales, plainly laid out."""
    rows, cols = source.shape[-2:]
    height, width = blocks
    down, across = -(-rows // height), -(-cols // width)
    whole = torch.nn.functional.pad(source.float(), (0, across * width - cols, 0, down * height - rows))
    cells = whole.unflatten(-1, (across, width)).unflatten(-3, (down, height))
    sizes = cells.abs()
    if scales not in NAN_COUNTS:
        sizes = torch.where(sizes.isnan(), 0, sizes)
    made, factors = RULES[scales](sizes.amax((-3, -1)), source.dtype, to, tensor_amax)
    products = cells * factors[..., :, None, :, None]
    if scales == "torchao":
        products = torch.where(products.isnan(), LARGEST[to], products)
    return products.flatten(-4, -3).flatten(-2)[..., :rows, :cols], made


def quantised(source, to, blocks, scales="te", layout=None, tensor_amax=None):
    """The result of a source, which has the result's orientation, and its scales, as transpose gives them."""
    products, made = multiplied(source, to, blocks, scales, tensor_amax)
    return packed(rounded(products, to), to).contiguous(), laid_out(made, layout)


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
