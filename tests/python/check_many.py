# SPDX-License-Identifier: Apache-2.0
"""Lists of tensors and groups of rows on a GPU, bit for bit against PyTorch: tests/gpu/check-python runs this."""
import random

import torch

from transpose_autotune import transpose_many, transpose_ragged

WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
TYPES = torch.uint8, torch.bfloat16, torch.float32, torch.float64, torch.complex128


def words(tensor):
    """The same memory as integers, so that NaNs compare too."""
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).view(
        WORDS[tensor.element_size() // (2 if tensor.is_complex() else 1)])


def random_bytes(shape, kind):
    count, size = torch.Size(shape).numel(), torch.empty((), dtype=kind).element_size()
    return torch.randint(0, 256, (count * size,), dtype=torch.uint8, device="cuda").view(kind).view(shape)


# ---- lists ----

def draw(random_, rank, kind):
    """A tensor, perhaps empty or of one element, perhaps with gaps."""
    most = random_.choice((1, 8, 40, 40, 300 if rank < 4 else 40))
    shape = [random_.randint(0 if random_.random() < 0.1 else 1, most) for _ in range(rank)]
    gap = [random_.choice((0, 0, 1, 3)) for _ in shape] if random_.random() < 0.4 else [0] * rank
    whole = random_bytes([extent + more for extent, more in zip(shape, gap)], kind)
    return whole[tuple(slice(more, None) for more in gap)]


def compare_list(xs, dims=None, **more):
    for i, (found, x) in enumerate(zip(transpose_many(xs, dims=dims, **more), xs)):
        wanted = (x.mT if dims is None else x.permute(dims)).contiguous()
        assert found.shape == wanted.shape, (i, found.shape, wanted.shape)
        assert torch.equal(words(found), words(wanted)), (i, tuple(x.shape), x.stride(), x.dtype, dims)


def compare_numbers():
    """A number for each matrix, casts, and results as they lie."""
    xs = [torch.randn(shape, device="cuda") for shape in ((30, 50), (1, 1), (0, 7), (3, 65, 129), (700, 900))]
    for scale in 0.5, torch.tensor([0.5, 2, 1, 3, 0.25], device="cuda"):
        first, kept = transpose_many(xs, dtype=torch.bfloat16, both=torch.float16, scale=scale)
        for i, x in enumerate(xs):
            by = scale if isinstance(scale, float) else scale[i]
            assert torch.equal(first[i], (x.mT * by).to(torch.bfloat16)), i
            assert torch.equal(kept[i], (x * by).to(torch.float16)), i
    skip, out = torch.ones((), dtype=torch.int32, device="cuda"), [torch.zeros_like(x.mT.contiguous()) for x in xs]
    for turn in 1, 0:
        skip.fill_(turn)
        transpose_many(xs, out, skip=skip)
        assert all(torch.equal(found, torch.zeros_like(found) if turn else x.mT) for found, x in zip(out, xs))


def with_channels(x, number, numbers, axis):
    """The array of this number, times one number of each channel, plus the other."""
    scale, shift = ((one if one.dim() == 1 else one[number])[:x.shape[axis]] for one in numbers)
    return x * scale + shift if axis == -1 else x * scale[:, None] + shift[:, None]


def compare_channels():
    """Numbers for columns and for rows, for all arrays or for each."""
    xs = [torch.randn(shape, device="cuda") for shape in ((30, 50), (1, 1), (0, 7), (3, 65, 129), (700, 1), (700, 900))]
    for axis in -1, -2:
        most = max(x.shape[axis] for x in xs)
        for shape in (most,), (len(xs), most):
            numbers = torch.randn(shape, device="cuda"), torch.randn(shape, device="cuda")
            found = transpose_many(xs, dtype=torch.bfloat16, channel_scale=numbers[0], channel_shift=numbers[1],
                                   channel_axis=axis)
            for i, x in enumerate(xs):
                assert torch.equal(found[i], with_channels(x, i, numbers, axis).mT.to(torch.bfloat16)), (axis, shape, i)


def replay_list():
    """A graph keeps the list, while other lists take its stream and the host's memory."""
    xs = [torch.rand(20 + i, 30, device="cuda") for i in range(100)]
    out = transpose_many(xs)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        transpose_many(xs, out)
        new = transpose_many(xs)
    for _ in range(3):
        for x in xs:
            x.uniform_()
        transpose_many([x + 1 for x in xs])
        graph.replay()
        for one in out, new:
            assert all(torch.equal(found, x.t()) for found, x in zip(one, xs))


def many():
    random_, count = random.Random(1), 0
    torch.manual_seed(1)
    for kind in TYPES:
        for rank in 2, 3, 4:
            for dims in (None, random_.sample(range(rank), rank)):
                compare_list([draw(random_, rank, kind) for _ in range(random_.choice((1, 7, 60)))], dims)
                count += 1
    compare_list([random_bytes((random_.randint(0, 9), random_.randint(0, 9)), torch.float32) for _ in range(1000)] +
                 [random_bytes((5000, 7001), torch.float32)])
    mixed = [random_bytes((3, 70, 50), torch.bfloat16)[:, :, ::2], random_bytes((1, 90), torch.bfloat16).expand(60, 90)]
    compare_list(mixed)
    target = [torch.empty(x.mT.shape[:-1] + (x.shape[-2] + 3,), dtype=x.dtype, device="cuda")[..., :-3] for x in mixed]
    assert transpose_many(mixed, target) is target
    assert all(torch.equal(words(found), words(x.mT)) for found, x in zip(target, mixed))
    compare_numbers()
    compare_channels()
    replay_list()
    leaves = [torch.rand(5, 7, device="cuda", requires_grad=True) for _ in range(3)]
    sum(one.sum() for one in transpose_many(leaves, scale=2.0)).backward()
    assert all(torch.equal(leaf.grad, torch.full_like(leaf, 2)) for leaf in leaves)
    return f"{count + 2} lists"


# ---- groups of rows ----

MARK = 77  # what memory has that nothing is written to


def expected(x, offsets, padding, places):
    """The result of each group, with its place; and whether one has none. `places` has the elements, and for stacked
    results the rows of a group."""
    size, stacked = places
    to, overflow, found = 0, 0, []
    for group, (begin, end) in enumerate(zip(offsets, offsets[1:])):
        padded = -(-(end - begin) // padding) * padding
        result = torch.zeros(x.shape[1], padded, dtype=x.dtype, device="cuda")
        result[:, :end - begin] = x[begin:end].t()
        if (padded > stacked) if stacked else (to + result.numel() > size):
            overflow = 1
        elif stacked:
            found.append((group, result))
        else:
            found.append((to, result))
        to += result.numel()
    return found, overflow


def wanted_of(x, offsets, padding, out, stacked):
    wanted = torch.full_like(out, MARK)
    found, overflow = expected(x, offsets, padding, (out.numel(), stacked))
    for at, result in found:
        if stacked:
            wanted[at, :, :result.shape[1]] = result
        else:
            wanted[at:at + result.numel()] = result.flatten()
    return wanted, overflow


def draw_offsets(random_, rows, groups):
    cuts = sorted(random_.choice((0, rows, random_.randint(0, rows))) for _ in range(groups - 1))
    return [0, *cuts, rows]


def compare_ragged(random_, rows, cols, groups, padding, kind, how, gap=0):
    """`how`: "fits", "stacked" or "too small"."""
    x = torch.randint(-99, 99, (rows, cols + gap), device="cuda").to(kind)[:, :cols]
    offsets = draw_offsets(random_, rows, groups)
    on_device = torch.tensor(offsets, device="cuda", dtype=random_.choice((torch.int32, torch.int64)))
    longest = max(end - begin for begin, end in zip(offsets, offsets[1:]))
    stacked = max(1, -(-longest // padding) * padding - (padding if random_.random() < 0.3 else 0)) \
        if how == "stacked" else None
    most = max(1, rows // 2) if how == "too small" else None
    shape = transpose_ragged(x, on_device, padding=padding, stacked_rows=stacked, most_rows=most).shape
    out, flag = torch.full(shape, MARK, dtype=kind, device="cuda"), torch.full((), 5, dtype=torch.int32, device="cuda")
    transpose_ragged(x, on_device, (out, flag), padding=padding, stacked_rows=stacked, most_rows=most, overflow=True)
    wanted, overflow = wanted_of(x, offsets, padding, out, stacked)
    case = rows, cols, groups, padding, kind, how, gap, offsets[:9]
    assert flag.item() == overflow, (flag.item(), overflow, case)
    assert torch.equal(words(out), words(wanted)), case
    return overflow


def replay_ragged(random_):
    """A captured launch takes other offsets, which the host does not read."""
    x, padding = torch.randn(3000, 64, device="cuda"), 16
    offsets = torch.tensor(draw_offsets(random_, 3000, 32), device="cuda")
    out, flag = transpose_ragged(x, offsets, padding=padding, overflow=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        transpose_ragged(x, offsets, (out, flag), padding=padding, overflow=True)
    for _ in range(10):
        drawn = draw_offsets(random_, 3000, 32)
        offsets.copy_(torch.tensor(drawn))
        x.normal_()
        out.fill_(MARK)
        graph.replay()
        wanted, overflow = wanted_of(x, drawn, padding, out, None)
        assert torch.equal(out, wanted) and flag.item() == overflow == 0


def ragged():
    random_, count, overflows = random.Random(1), 0, 0
    torch.manual_seed(1)
    for kind, cols, gap in (torch.bfloat16, 256, 0), (torch.float32, 77, 3), (torch.uint8, 1, 0), (torch.float64, 40, 1):
        for padding in 1, 16, 32:
            for how in "fits", "stacked", "too small":
                for rows, groups in (1000, 8), (1, 3), (5000, 300):
                    overflows += compare_ragged(random_, rows, cols, groups, padding, kind, how, gap)
                    count += 1
    assert 0 < overflows < count
    replay_ragged(random_)
    x, offsets = torch.randn(900, 50, device="cuda"), torch.tensor([0, 300, 300, 900], device="cuda")
    by = torch.tensor([2.0, 3.0, 0.5], device="cuda")
    found, kept = transpose_ragged(x, offsets, dtype=torch.float16, both=torch.bfloat16, scale=by)
    scaled = x * torch.cat([by[:1].expand(300), by[2:].expand(600)])[:, None]
    assert torch.equal(found, torch.cat([scaled[:300].t().flatten(), scaled[300:].t().flatten()]).to(torch.float16))
    assert torch.equal(kept, scaled.to(torch.bfloat16))
    for shape, axis in ((50,), -1), ((3, 50), -1), ((900,), -2):
        numbers = torch.randn(shape, device="cuda"), torch.randn(shape, device="cuda")
        found = transpose_ragged(x, offsets, channel_scale=numbers[0], channel_shift=numbers[1], channel_axis=axis)
        first, last = (with_channels(x[own], group, [one[own] if axis == -2 else one for one in numbers], axis)
                       for group, own in ((0, slice(300)), (2, slice(300, 900))))
        assert torch.equal(found, torch.cat([first.t().flatten(), last.t().flatten()])), (shape, axis)
    try:
        transpose_ragged(x, offsets, padding=1, most_rows=0)
    except ValueError as error:
        assert "most_rows" in str(error)
    else:
        raise AssertionError("no place at all is no error")
    return f"{count} groups of rows, {overflows} without place for all"
