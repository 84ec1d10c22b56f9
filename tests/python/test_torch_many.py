# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operators for lists and for groups of rows, without a GPU: PyTorch's own permutation of tensors in host
memory takes the kernels' place."""
import unittest
from unittest import mock

try:
    import torch
    torch.library.custom_op
except (ImportError, AttributeError):
    raise unittest.SkipTest("no PyTorch 2.4 or newer") from None

from transpose_autotune import transpose_many, transpose_ragged
from transpose_autotune import _many, _torch, _torch_many

HALF = torch.float16


def numbers_of(given, count):
    """What each of the elements is multiplied with."""
    number = given.scale if given.alpha is None else given.alpha
    return [1] * count if number is None else list(number) if isinstance(number, torch.Tensor) else [number] * count


def with_channels(x, number, given):
    """The array of this number, or the group, with what its channels add and multiply."""
    for value, apply in (given.channel_scale, torch.mul), (given.channel_shift, torch.add):
        if value is not None:
            own = (value if value.dim() == 1 else value[number])[:x.shape[given.channel_axis]]
            x = apply(x, own if given.channel_axis == -1 else own[:, None])
    return x


def many_on_host(xs, dims, out, given):
    assert out is None
    results = []
    for i, (x, number) in enumerate(zip(xs, numbers_of(given, len(xs)))):
        made, moved = _torch._new_results(x, _many.dims_of(dims, x.dim()), given), with_channels(x * number, i, given)
        made[0].copy_(moved.permute(_many.dims_of(dims, x.dim())))
        for kept in made[1:]:
            kept.copy_(moved)
        results.append(made)
    return _many.as_lists(results, given)


def ragged_on_host(x, offsets, out, rows, has_overflow, given):
    assert out is None
    results = _torch_many._new_ragged(x, offsets, rows, has_overflow, given)
    results[0].zero_()
    to, overflow = 0, 0
    for group, number in enumerate(numbers_of(given, len(offsets) - 1)):
        source = x[offsets[group]:offsets[group + 1]] * number
        padded = -(-len(source) // rows.padding) * rows.padding
        if rows.stacked_rows is not None:
            overflow |= padded > rows.stacked_rows
            if padded <= rows.stacked_rows:
                results[0][group, :, :len(source)] = source.t()
            continue
        overflow |= to + padded * x.shape[1] > len(results[0])
        if to + padded * x.shape[1] <= len(results[0]):
            results[0][to:to + padded * x.shape[1]].view(x.shape[1], padded)[:, :len(source)] = source.t()
        to += padded * x.shape[1]
    if given.both is not None:
        results[1].copy_(x)
    if has_overflow:
        results[-1].fill_(overflow)
    return results


class WithHost(unittest.TestCase):
    def setUp(self):
        for name, instead in ("_many_here", many_on_host), ("_ragged_here", ragged_on_host):
            patch = mock.patch.object(_torch_many, name, instead)
            patch.start()
            self.addCleanup(patch.stop)
        torch._dynamo.reset()

    def compiled(self, function, *arguments, dynamic=False):
        """The number of our operators in the graph of a function that is compiled whole, and its result."""
        graphs = []

        def backend(module, example):
            graphs.append(module)
            return module.forward

        result = torch.compile(function, backend=backend, fullgraph=True, dynamic=dynamic)(*arguments)
        self.assertEqual(len(graphs), 1)
        return sum("transpose_autotune" in str(node.target) for node in graphs[0].graph.nodes), result


def tensors(**more):
    return [torch.rand(shape, **more) for shape in ((3, 4), (0, 5), (2, 3, 4), (1, 1))]


class Lists(WithHost):
    def test_results(self):
        xs = tensors()
        for found, x in zip(transpose_many(xs), xs):
            self.assertTrue(torch.equal(found, x.mT))
            self.assertTrue(found.is_contiguous())
        for found, x in zip(transpose_many([xs[2]] * 2, dims=(2, 0, -2)), [xs[2]] * 2):
            self.assertTrue(torch.equal(found, x.permute(2, 0, 1)))
        first, kept = transpose_many(xs, both=True, dtype=HALF, scale=torch.tensor([1.0, 2, 3, 4]))
        for i, x in enumerate(xs):
            self.assertTrue(torch.equal(first[i], (x.mT * (i + 1)).to(HALF)))
            self.assertTrue(torch.equal(kept[i], (x * (i + 1)).to(HALF)))

    def test_checks_of_pytorch(self):
        for xs in tensors(), tensors(requires_grad=True):
            for inputs in (None, None, None, None, None, None, None), ([1, 0], HALF, 0.5), \
                    (None, HALF, None, torch.ones(4), None, None, torch.float32):
                if inputs[0]:
                    xs = [xs[0]]
                torch.library.opcheck(_torch_many.operator, (xs, *inputs))

    def test_gradients(self):
        xs = [torch.rand(shape, dtype=torch.float64, requires_grad=True) for shape in ((3, 4), (2, 3, 4))]
        numbers = torch.tensor([2.0, 3.0], dtype=torch.float64)
        channels = {"channel_scale": torch.rand(4, dtype=torch.float64)}, \
            {"channel_shift": torch.rand(2, 4, dtype=torch.float64), "scale": 2.0}, \
            {"channel_scale": torch.rand(2, 3, dtype=torch.float64), "channel_axis": -2}
        for given in {}, {"scale": 3.0}, {"scale": numbers}, {"both": True}, *channels:
            def function(*xs):
                found = transpose_many(list(xs), **given)
                return tuple(found[0] if "both" in given else found)
            with self.subTest(given=given):
                self.assertTrue(torch.autograd.gradcheck(function, xs))
                self.assertTrue(torch.autograd.gradgradcheck(function, xs))
        self.assertTrue(torch.autograd.gradcheck(lambda x: tuple(transpose_many([x], dims=(2, 0, 1))), xs[1:]))
        self.assertFalse(any(one.requires_grad for one in transpose_many(xs, both=True)[1]))
        with self.assertRaisesRegex(TypeError, "have no gradient here"):
            transpose_many(xs, scale=numbers.requires_grad_())

    def test_compiled_whole(self):
        xs, numbers = tensors(), torch.tensor([1.0, 2, 3, 4])

        def function(xs, numbers):
            first, kept = transpose_many([x * 2 for x in xs], dtype=HALF, both=True, scale=numbers)
            return [one + 1 for one in first], kept

        wanted = function(xs, numbers)
        for dynamic in False, True:
            count, found = self.compiled(function, xs, numbers, dynamic=dynamic)
            self.assertEqual(count, 1)
            for one, other in zip(found[0] + found[1], wanted[0] + wanted[1]):
                self.assertTrue(torch.equal(one, other))

    def test_gradients_compiled(self):
        xs = tensors(requires_grad=True)
        found = torch.compile(lambda xs: [one.sin().sum() for one in transpose_many(xs, scale=2.0)],
                              backend="aot_eager", fullgraph=True)(xs)
        sum(found).backward()
        for x in xs:
            torch.testing.assert_close(x.grad, 2 * (2 * x).cos())


class Ragged(WithHost):
    x, offsets = torch.rand(10, 3), torch.tensor([0, 4, 4, 9])

    def groups(self):
        return [self.x[begin:end] for begin, end in zip(self.offsets[:-1], self.offsets[1:])]

    def test_results(self):
        found = transpose_ragged(self.x, self.offsets)
        self.assertEqual(found.shape, (30,))
        self.assertTrue(torch.equal(found[:27], torch.cat([group.t().flatten() for group in self.groups()])))
        found, kept, flag = transpose_ragged(self.x, self.offsets.int(), padding=4, both=HALF, overflow=True)
        self.assertEqual((found.shape, kept.dtype, flag.shape, flag.item()), ((57,), HALF, (), 0))
        found, flag = transpose_ragged(self.x, self.offsets, stacked_rows=4, overflow=True)
        self.assertEqual((found.shape, flag.item()), ((3, 3, 4), 1))
        self.assertTrue(torch.equal(found[0], self.x[:4].t()))

    def test_checks_of_pytorch(self):
        for inputs in (1, None, None, False), (4, None, 20, True), \
                (1, 5, None, False, HALF, None, torch.ones(3), None, None, torch.float64):
            torch.library.opcheck(_torch_many.ragged_operator, (self.x, self.offsets, *inputs))

    def test_no_gradient(self):
        found = transpose_ragged(self.x.clone().requires_grad_(), self.offsets)
        with self.assertRaisesRegex(RuntimeError, "no autograd formula"):
            found.sum().backward()

    def test_compiled_whole(self):
        def function(x, offsets):
            found, flag = transpose_ragged(x * 2, offsets, padding=4, dtype=HALF, overflow=True)
            return found + 1, flag * 2

        wanted = function(self.x, self.offsets)
        for dynamic in False, True:
            count, found = self.compiled(function, self.x, self.offsets, dynamic=dynamic)
            self.assertEqual(count, 1)
            self.assertTrue(all(torch.equal(*pair) for pair in zip(found, wanted)))


class Refused(unittest.TestCase):
    def test_out(self):
        x = torch.rand(3, 4, requires_grad=True)
        with self.assertRaisesRegex(TypeError, "plain tensors with memory"):
            transpose_many([x], [torch.rand(4, 3)])
        with self.assertRaisesRegex(TypeError, "plain tensors with memory"):
            transpose_ragged(x, torch.tensor([0, 3]), torch.rand(12))


if __name__ == "__main__":
    unittest.main()
