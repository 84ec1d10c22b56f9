# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operator without a GPU: PyTorch's own permutation of tensors in host memory takes the kernel's place."""
import unittest
from unittest import mock

try:
    import torch
    torch.library.custom_op
except (ImportError, AttributeError):
    raise unittest.SkipTest("no PyTorch 2.4 or newer") from None

from transpose_autotune import permute, transpose
from transpose_autotune import _torch
from transpose_autotune._operands import MOVE


def run_on_host(x, dims, out, given=MOVE):
    assert out is None
    result = x.clone()
    if given.scale is not None:
        result = result * given.scale
    shape = [-1 if axis == given.channel_axis % x.dim() else 1 for axis in range(x.dim())]
    if given.channel_scale is not None:
        result = result * given.channel_scale.reshape(shape)
    if given.channel_shift is not None:
        result = result + given.channel_shift.reshape(shape)
    return result.permute(dims).to(given.dtype or x.dtype).clone(memory_format=torch.contiguous_format)


class Operator(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.object(_torch, "_permute_here", run_on_host)
        patch.start()
        self.addCleanup(patch.stop)
        torch._dynamo.reset()

    def test_results(self):
        x = torch.rand(3, 4, 5)
        self.assertTrue(torch.equal(transpose(x), x.mT))
        self.assertTrue(torch.equal(permute(x, (2, 0, -2)), x.permute(2, 0, 1)))

    def test_checks_of_pytorch(self):
        x = torch.rand(3, 4, 5, requires_grad=True)
        torch.library.opcheck(_torch.operator, (x, [2, 0, 1]))

    def test_gradient(self):
        x = torch.rand(3, 4, 5, dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(lambda x: permute(x, (2, 0, 1)), (x,)))
        self.assertTrue(torch.autograd.gradgradcheck(lambda x: transpose(x), (x,)))

    def test_steps(self):
        x = torch.rand(3, 4, 5)
        for scale in 0.5, torch.tensor(0.5):
            found = permute(x, (2, 0, 1), dtype=torch.bfloat16, scale=scale)
            self.assertTrue(torch.equal(found, (x.permute(2, 0, 1) * 0.5).to(torch.bfloat16)))
            torch.library.opcheck(_torch.operator, (x, [2, 0, 1], torch.float16, *(
                (None, scale) if isinstance(scale, torch.Tensor) else (scale, None))))
        result = transpose(torch.empty(3, 4, device="meta"), dtype=torch.float8_e4m3fn)
        self.assertEqual((result.shape, result.dtype), ((4, 3), torch.float8_e4m3fn))

    def test_gradients_of_steps(self):
        x = torch.rand(3, 4, dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(lambda x: transpose(x, scale=3.0), (x,)))
        transpose(x, dtype=torch.float32, scale=torch.tensor(2.0, dtype=torch.float64)).sum().backward()
        self.assertTrue(torch.equal(x.grad, torch.full_like(x, 2)))
        with self.assertRaisesRegex(TypeError, "no gradient"):
            transpose(x, scale=torch.tensor(2.0, requires_grad=True))

    def test_channels(self):
        x, scale, shift = torch.rand(3, 4, 5), torch.tensor([1.0, 2, 3, 4]), torch.tensor([5.0, 6, 7, 8])
        found = permute(x, (2, 0, 1), dtype=torch.float16, channel_scale=scale, channel_shift=shift, channel_axis=1)
        self.assertTrue(torch.equal(found, (x.permute(2, 0, 1) * scale + shift).to(torch.float16)))
        torch.library.opcheck(_torch.operator, (x, [2, 0, 1], None, 0.5, None, scale, shift, -2))
        double = torch.rand(3, 4, 5, dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(lambda x: permute(x, (2, 0, 1), scale=3.0, channel_scale=scale.double(), channel_shift=shift.double(), channel_axis=1), (double,)))
        with self.assertRaisesRegex(TypeError, "channel_shift gets no gradient"):
            transpose(x, channel_shift=torch.rand(5, requires_grad=True))
        for more in {"beta": 2.0, "other": x.mT}, {"other": x.mT}, {"alpha": 1j}:
            with self.assertRaisesRegex(TypeError, "without gradients"):
                transpose(x, **more)
        calls, result = self.compiled(lambda x: transpose(x * 2, channel_scale=shift[:3], channel_axis=0) + 1, x)
        self.assertTrue(torch.equal(result, 2 * x.mT * shift[:3].reshape(3, 1, 1) + 1))
        self.assertEqual(sum("transpose_autotune" in call for call in calls), 1, calls)

    def test_step_compiled_whole(self):
        x = torch.rand(3, 4)
        calls, result = self.compiled(lambda x: transpose(x * 2, dtype=torch.float16, scale=0.5) + 1, x)
        self.assertTrue(torch.equal(result, x.t().to(torch.float16) + 1))
        self.assertEqual(sum("transpose_autotune" in call for call in calls), 1, calls)

    def compiled(self, function, *arguments, **options):
        """The calls in the graph of a function that is compiled whole, and its result."""
        graphs = []

        def backend(module, example):
            graphs.append(module)
            return module.forward

        result = torch.compile(function, backend=backend, fullgraph=True, **options)(*arguments)
        self.assertEqual(len(graphs), 1)
        return [str(node.target) for node in graphs[0].graph.nodes if node.op.startswith("call")], result

    def test_compiled_whole(self):
        x = torch.rand(3, 4)
        for dynamic in False, True:
            calls, result = self.compiled(lambda x: transpose(x * 2) + 1, x, dynamic=dynamic)
            self.assertTrue(torch.equal(result, (x * 2).t() + 1))
            self.assertEqual(sum("transpose_autotune" in call for call in calls), 1, calls)
            calls, result = self.compiled(lambda x: permute(x, (1, 0)), x, dynamic=dynamic)
            self.assertTrue(torch.equal(result, x.t()))

    def test_compiled_by_the_usual_way(self):
        x = torch.rand(3, 4, requires_grad=True)
        result = torch.compile(lambda x: transpose(x).sin(), backend="aot_eager", fullgraph=True)(x)
        result.sum().backward()
        self.assertTrue(torch.equal(result, x.t().sin()))
        self.assertTrue(torch.equal(x.grad, x.cos()))

    def test_meta(self):
        result = transpose(torch.empty(3, 4, 5, device="meta"))
        self.assertEqual((result.shape, result.stride(), result.device.type), ((3, 5, 4), (20, 4, 1), "meta"))


class Refused(unittest.TestCase):
    def test_host(self):
        with self.assertRaisesRegex(TypeError, "on cpu, and not on a GPU"):
            transpose(torch.rand(3, 4))
        with self.assertRaisesRegex(TypeError, "plain tensors on a GPU"):
            transpose(torch.rand(3, 4), out=torch.rand(4, 3))

    def test_dims(self):
        for dims, rank in ((0, 0), 2), ((0, 1, 2), 2), ((2, 0), 2):
            with self.assertRaisesRegex(ValueError, "no permutation"):
                permute(torch.rand(*[2] * rank), dims)


if __name__ == "__main__":
    unittest.main()
