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


def run_on_host(x, dims, out):
    assert out is None
    return x.permute(dims).clone(memory_format=torch.contiguous_format)


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
