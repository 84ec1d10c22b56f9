# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operator without a GPU: PyTorch's own permutation of tensors in host memory takes the kernel's place."""
import subprocess
import sys
import types
import unittest
from unittest import mock

try:
    import torch
    torch.library.custom_op
except (ImportError, AttributeError):
    raise unittest.SkipTest("no PyTorch 2.4 or newer") from None

from block_scales import E2M1, E8M0, quantised
from transpose_autotune import permute, transpose
from transpose_autotune import _torch
from transpose_autotune._operands import MOVE


def run_on_host(x, dims, out, given=MOVE):
    assert out is None
    sums = (x.float().sum(-2),) if given.sums else ()
    if given.blocks:
        types = given.results(x.dtype, _torch._dtype)
        how = given.blocks, given.scales, given.layout, given.tensor_amax
        result, scales = quantised(x.permute(dims), types["dst"], *how)
        if given.both is None:
            return (result, scales, *sums)
        kept, of_kept = quantised(x, types["dst2"], *how)
        as_x = torch.empty_strided(kept.shape, given.kept_strides(x.stride()), dtype=kept.dtype)
        as_x.view(torch.uint8).copy_(kept.view(torch.uint8))
        return (result, as_x, scales, of_kept, *sums)
    amax = x.abs().float()
    amax = (amax if given.amax == "amax=nan" else amax.nan_to_num(0, torch.inf)).amax() if given.amax else None
    result = x.clone()
    for factor in given.scale, given.alpha:
        if factor is not None:
            result = result * factor
    shape = [-1 if axis == given.channel_axis % x.dim() else 1 for axis in range(x.dim())]
    if given.channel_scale is not None:
        result = result * given.channel_scale.reshape(shape)
    if given.channel_shift is not None:
        result = result + given.channel_shift.reshape(shape)
    types = given.results(x.dtype, _torch._dtype)
    kept, result = result, result.permute(dims)
    if given.beta is not None:
        result = result + given.beta * given.other
    made = [result.to(types["dst"]).clone(memory_format=torch.contiguous_format)]
    if given.both is not None:  # laid out as x, which has gaps
        made.append(torch.empty_strided(x.shape, x.stride(), dtype=types["dst2"]).copy_(kept))
    if given.amax:
        made.append(amax)
    made += sums
    return tuple(made) if len(made) > 1 else made[0]


FIRST_CALLS = """
import threading, torch
from transpose_autotune import transpose
start, right = threading.Barrier(16), []
def call():
    x = torch.rand(3, 4)
    start.wait()
    right.append(torch.equal(transpose(x), x.t()))
threads = [threading.Thread(target=call) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert right == [True] * 16
"""


class FirstCalls(unittest.TestCase):
    def test_threads_call_before_the_module_is_loaded(self):
        subprocess.run([sys.executable, "-c", FIRST_CALLS], check=True)


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
        self.assertTrue(torch.equal(permute(x, None), x.permute(2, 1, 0)))

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

    def test_gradients_of_operands(self):
        """Of each operand that is a tensor, real and complex, alone and with others; and their gradients."""
        def of(*shape, dtype=torch.float64):
            return torch.rand(shape, dtype=dtype, requires_grad=True)

        whole, pair = torch.complex128, (3, 4)
        for x, given in (
                (of(*pair), {"scale": of()}),
                (of(*pair), {"scale": of(1, 1), "channel_scale": of(3), "channel_shift": of(3), "channel_axis": 0}),
                (of(*pair), {"scale": 0.5, "channel_scale": of(4)}),
                (of(*pair), {"channel_shift": of(4)}),
                (of(*pair), {"alpha": 2.0, "beta": -3.0, "other": of(4, 3)}),
                (of(*pair), {"alpha": of(), "beta": of(1), "other": of(4, 3)}),
                (of(*pair), {"channel_scale": of(4), "beta": of(), "other": of(4, 3).detach()}),
                (of(*pair).detach(), {"beta": of(), "other": of(4, 3)}),
                (of(*pair, dtype=whole), {"alpha": 1 - 2j, "beta": 1j, "other": of(4, 3, dtype=whole)}),
                (of(*pair, dtype=whole), {"alpha": of(dtype=whole), "beta": of(dtype=whole),
                                          "other": of(4, 3, dtype=whole)}),
                (of(*pair, dtype=whole), {"scale": of()})):
            names = [name for name, value in given.items() if isinstance(value, torch.Tensor)]
            tensors = x, *(given[name] for name in names)

            def function(x, *values):
                return transpose(x, **{**given, **dict(zip(names, values))})

            with self.subTest(given=given):
                self.assertTrue(torch.autograd.gradcheck(function, tensors))
                self.assertTrue(torch.autograd.gradgradcheck(function, tensors))

    def test_gradients_of_other_types(self):
        x = torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=torch.int32)
        scale, other = (torch.ones(shape, requires_grad=True) for shape in ((), (3, 2)))
        found = transpose(x, dtype=torch.bfloat16, scale=scale, beta=2, other=other.to(torch.bfloat16))
        found.sum().backward()
        self.assertEqual((scale.grad, other.grad.tolist()), (21, [[2, 2]] * 3))
        self.assertFalse(transpose(other, dtype=torch.uint8, alpha=scale).requires_grad)

    def test_channels(self):
        x, scale, shift = torch.rand(3, 4, 5), torch.tensor([1.0, 2, 3, 4]), torch.tensor([5.0, 6, 7, 8])
        found = permute(x, (2, 0, 1), dtype=torch.float16, channel_scale=scale, channel_shift=shift, channel_axis=1)
        self.assertTrue(torch.equal(found, (x.permute(2, 0, 1) * scale + shift).to(torch.float16)))
        torch.library.opcheck(_torch.operator, (x, [2, 0, 1], None, 0.5, *[None] * 6, scale, shift, -2))
        double = torch.rand(3, 4, 5, dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(lambda x: permute(x, (2, 0, 1), scale=3.0, channel_scale=scale.double(), channel_shift=shift.double(), channel_axis=1), (double,)))
        calls, result = self.compiled(lambda x: transpose(x * 2, channel_scale=shift[:3], channel_axis=0) + 1, x)
        self.assertTrue(torch.equal(result, 2 * x.mT * shift[:3].reshape(3, 1, 1) + 1))
        self.assertEqual(sum("transpose_autotune" in call for call in calls), 1, calls)

    def test_second_sources(self):
        x, other, factor = torch.rand(3, 4, 5), torch.rand(5, 3, 4), torch.tensor(3.0)
        for given, wanted in (({"other": other}, x.permute(2, 0, 1) + other),
                              ({"alpha": 2, "beta": -0.5, "other": other}, 2 * x.permute(2, 0, 1) - 0.5 * other),
                              ({"alpha": factor, "beta": factor, "other": other}, 3 * (x.permute(2, 0, 1) + other))):
            torch.testing.assert_close(permute(x, (2, 0, 1), **given), wanted)
            calls, result = self.compiled(lambda x, other: permute(x, (2, 0, 1), **{**given, "other": other}), x, other)
            torch.testing.assert_close(result, wanted)
            self.assertEqual(sum("transpose_autotune" in call for call in calls), 1, calls)
        z = torch.rand(3, 4, dtype=torch.complex64)
        calls, result = self.compiled(lambda z: transpose(z, alpha=1 - 2j), z)
        torch.testing.assert_close(result, (1 - 2j) * z.mT)
        for alpha, beta in ((2.0, None), (None, factor)), ((None, factor.requires_grad_()), (-0.5, None)):
            torch.library.opcheck(_torch.operator, (x.requires_grad_(), [2, 0, 1], None, None, None, *alpha, *beta,
                                                    other.requires_grad_()))

    def test_step_compiled_whole(self):
        x = torch.rand(3, 4)
        calls, result = self.compiled(lambda x: transpose(x * 2, dtype=torch.float16, scale=0.5) + 1, x)
        self.assertTrue(torch.equal(result, x.t().to(torch.float16) + 1))
        self.assertEqual(sum("transpose_autotune" in call for call in calls), 1, calls)

    def test_outputs(self):
        x = torch.rand(3, 4, 8)[:, :, :5] - 0.5
        x[1, 2, 3] = torch.nan
        for more, types in (
                ({"both": True}, [torch.float32] * 2),
                ({"dtype": torch.float16, "scale": 0.5, "both": True, "amax": True}, [torch.float16] * 2),
                ({"dtype": torch.float16, "both": torch.float64, "amax": "nan"}, [torch.float16, torch.float64]),
                ({"amax": True, "scale": torch.tensor(3.0)}, [torch.float32])):
            results, by = permute(x, (2, 0, 1), **more), more.get("scale", 1)
            self.assertIsInstance(results, tuple)
            self.assertEqual([one.dtype for one in results], types + [torch.float32] * ("amax" in more))
            for found, wanted in zip(results, [x.permute(2, 0, 1), x][:len(types)]):
                torch.testing.assert_close(found, (wanted * by).to(found.dtype), equal_nan=True)
            if "both" in more:
                self.assertEqual(results[1].stride(), x.stride())
            if "amax" in more:
                wanted = torch.nan if more["amax"] == "nan" else x.nan_to_num().abs().amax().item()
                torch.testing.assert_close(results[-1], torch.tensor(wanted), equal_nan=True)
                self.assertEqual(results[-1].shape, ())
        with self.assertRaisesRegex(TypeError, "skip leaves arrays"):
            transpose(x, both=True, skip=torch.zeros(1, dtype=torch.int32))

    def test_checks_of_outputs(self):
        """By PyTorch: of layouts and types that the fake operator tells, of gradients, of schemas."""
        x = torch.rand(3, 4, 8)
        for source in x, x[:, :, :5], x.requires_grad_():
            for both, amax in (torch.float16, None), (None, "amax"), (torch.float32, "amax=nan"), (None, None):
                torch.library.opcheck(_torch.operator_with_outputs,
                                      (source, [2, 0, 1], torch.float32, 0.5, *[None] * 8, -1, both, amax))
        for source, stride in (torch.empty(3, device="meta").expand(4, 3), (3, 1)), \
                (torch.empty(4, 5, device="meta")[:, :3], (5, 1)):
            kept = transpose(source, both=True, amax=True)[1]
            self.assertEqual((kept.shape, kept.stride()), ((4, 3), stride))

    def test_sums(self):
        """They are the last result, whatever the others are."""
        x = torch.rand(2, 64, 32)
        blocks = {"dtype": torch.float8_e4m3fn, "blocks": (1, 32), "scales": "te"}
        for more, count in ({}, 2), ({"both": True, "amax": True}, 4), \
                ({**blocks, "layout": "plain"}, 3), ({**blocks, "both": True, "layout": "transposed"}, 5):
            results = transpose(x, sums=True, **more)
            self.assertEqual(len(results), count)
            torch.testing.assert_close(results[-1], x.sum(-2))
            calls, compiled = self.compiled(lambda x: transpose(x, sums=True, **more)[-1] * 2, x)
            torch.testing.assert_close(compiled, 2 * x.sum(-2))
            self.assertEqual(sum("transpose_autotune" in call for call in calls), 1, calls)
        for source in x, x.requires_grad_():
            torch.library.opcheck(_torch.operator_with_outputs,
                                  (source, [0, 2, 1], torch.float16, *[None] * 9, -1, None, "amax", True))
            torch.library.opcheck(_torch.operator_with_blocks,
                                  (source, [0, 2, 1], torch.float8_e4m3fn, [1, 32], "te", "plain", None, None, True))
        for refused in lambda: permute(x, (2, 0, 1), sums=True), lambda: transpose(x[None], sums=True):
            self.assertRaisesRegex(ValueError, "sums are of matrices", refused)

    def test_gradients_of_outputs(self):
        """The first result has one, the others none."""
        x = torch.rand(3, 4, dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(lambda x: transpose(x, scale=3.0, both=True)[0], (x,)))
        scale = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(lambda *given: transpose(given[0], scale=given[1], both=True)[0],
                                                 (x, scale)))
        first, kept, largest = transpose(x.float(), scale=3.0, both=True, amax=True)
        self.assertEqual([one.requires_grad for one in (first, kept, largest)], [True, False, False])

    def test_outputs_compiled_whole(self):
        x = torch.rand(3, 4)

        def function(x):
            first, kept, largest = transpose(x * 2, dtype=torch.float16, both=True, amax=True)
            return first + 1, kept, largest * 2

        for dynamic in False, True:
            calls, results = self.compiled(function, x, dynamic=dynamic)
            for found, wanted in zip(results, (2 * x.t().to(torch.float16) + 1, (2 * x).to(torch.float16), 4 * x.max())):
                torch.testing.assert_close(found, wanted)
            self.assertEqual(sum("transpose_autotune" in call for call in calls), 1, calls)
        x.requires_grad_()
        first, kept, largest = torch.compile(function, backend="aot_eager", fullgraph=True)(x)
        first.sum().backward()
        self.assertTrue(torch.equal(x.grad, torch.full_like(x, 2)))
        self.assertFalse(kept.requires_grad or largest.requires_grad)

    def test_blocks(self):
        """Each layout and type of scales, as torch._scaled_mm takes them."""
        x = torch.randn(200, 300)[:, :290]
        for layout, shapes, strides in (
                (None, ((290, 2), (200, 3)), ((2, 1), (3, 1))),
                ("transposed", ((290, 2), (200, 3)), ((1, 290), (1, 200))),
                ("aligned", ((290, 2), (200, 3)), ((1, 292), (1, 200))),
                ("swizzled", ((1536,), (1024,)), ((1,), (1,)))):
            for scales, kind in (("torchao", torch.float32), ("floor", E8M0)):
                if layout == "swizzled" and kind == torch.float32:
                    continue
                with self.subTest(layout=layout, scales=scales):
                    asked = {"dtype": torch.float8_e4m3fn, "blocks": (1, 128), "scales": scales, "layout": layout}
                    results = transpose(x, both=torch.float8_e5m2, **asked)
                    self.assertEqual([one.dtype for one in results],
                                     [torch.float8_e4m3fn, torch.float8_e5m2, kind, kind])
                    if layout != "aligned" or scales == "torchao":
                        self.assertEqual(tuple(tuple(one.shape) for one in results[2:]), shapes)
                        self.assertEqual(tuple(one.stride() for one in results[2:]), strides)
                    self.assertEqual(results[1].stride(), x.stride())
                    for source, both in (x, None), (x.requires_grad_(), torch.float8_e5m2), \
                            (torch.randn(3, 200, 256), torch.float8_e5m2):
                        torch.library.opcheck(_torch.operator_with_blocks, (
                            source, [*range(source.dim() - 2), -1 % source.dim(), -2 % source.dim()],
                            torch.float8_e4m3fn, [1, 128], scales, layout, both))
                    x = x.detach()
        only = transpose(x.requires_grad_(), dtype=torch.float8_e4m3fn, blocks=(128, 128), scales="torchao")
        self.assertEqual([tuple(one.shape) for one in only], [(290, 200), (3, 2)])
        self.assertFalse(any(one.requires_grad for one in only))

    def test_results_of_4_bits(self):
        """Two in a byte, with the shapes that torch._scaled_mm takes."""
        x, largest = torch.randn(3, 50, 80)[..., :76], torch.tensor(5.0)
        for source in x, x[1], x[1][:, :75], x[1][:49]:
            rows, cols = source.shape[-2:]
            for dtype in {E2M1, torch.uint8}:
                for scales, amax in ("nvfp4", None), ("te-nvfp4", largest), ("nvfp4", largest):
                    asked = {"dtype": dtype, "blocks": (1, 16), "scales": scales, "layout": "swizzled"}
                    results = transpose(source, both=True, tensor_amax=amax, **asked)
                    self.assertEqual([one.dtype for one in results], [dtype] * 2 + [torch.float8_e4m3fn] * 2)
                    self.assertEqual([tuple(one.shape[-2:]) for one in results[:2]],
                                     [(cols, -(-rows // 2)), (rows, -(-cols // 2))])
                    self.assertEqual([one.stride()[-2:] for one in results[:2]], [(-(-rows // 2), 1), (40, 1)])
                    self.assertEqual([one.shape[-1] for one in results[2:]],
                                     [-(-cols // 128) * 128 * 4, 128 * 8])
                    for both in None, dtype:
                        torch.library.opcheck(
                            _torch.operator_with_blocks,
                            (source, [*range(source.dim() - 2), source.dim() - 1, source.dim() - 2], dtype, [1, 16],
                             scales, "swizzled", both, amax),
                            test_utils=("test_schema", "test_autograd_registration", "test_faketensor"))
        mixed = transpose(x, both=torch.float8_e5m2, dtype=E2M1, blocks=(1, 32), scales="floor")
        self.assertEqual([one.stride() for one in mixed[:2]], [(76 * 25, 25, 1), x.stride()])

        def function(x, largest):
            first, scales = transpose(x * 2, dtype=torch.uint8, blocks=(1, 16), scales="nvfp4", tensor_amax=largest)
            return first.float() + 1, scales.float()

        wanted = function(x[1], largest)
        for dynamic in False, True:
            calls, results = self.compiled(function, x[1], largest, dynamic=dynamic)
            self.assertTrue(all(torch.equal(*pair) for pair in zip(results, wanted)))
            self.assertEqual(sum("transpose_autotune" in call for call in calls), 1, calls)

    @unittest.skipIf(E2M1 == torch.uint8, "a PyTorch without numbers of 4 bits")
    def test_products_of_4_bits(self):
        """By PyTorch's checks, without a GPU: torch._scaled_mm takes results and scales as they are."""
        from torch._subclasses.fake_tensor import FakeTensorMode
        asked = {"dtype": E2M1, "both": True, "blocks": (1, 16), "scales": "nvfp4", "layout": "swizzled"}
        with FakeTensorMode():
            x, y = (torch.empty(shape, dtype=torch.bfloat16, device="cuda") for shape in ((512, 384), (512, 640)))
            (first, _, scales, _), (second, _, other, _) = transpose(x, **asked), transpose(y, **asked)
            product = torch._scaled_mm(first, second.t(), scales, other, out_dtype=torch.bfloat16)
            self.assertEqual(product.shape, (384, 640))
            _, first, _, scales = transpose(x.t().contiguous(), **asked)
            self.assertEqual(torch._scaled_mm(first, second.t(), scales, other).shape, (384, 640))

    def test_blocks_compiled_whole(self):
        x = torch.randn(200, 300)

        def function(x):
            first, kept, scales, of_kept = transpose(x * 2, dtype=torch.float8_e4m3fn, blocks=(1, 128),
                                                     scales="torchao", layout="aligned", both=True)
            return first.float() + 1, kept, scales * 2, of_kept

        wanted = function(x)
        for dynamic in False, True:
            calls, results = self.compiled(function, x, dynamic=dynamic)
            for found, one in zip(results, wanted):
                self.assertEqual((found.dtype, found.stride()), (one.dtype, one.stride()))
                self.assertTrue(torch.equal(found.float(), one.float()))
            self.assertEqual(sum("transpose_autotune" in call for call in calls), 1, calls)

    def test_blocks_refused(self):
        x, asked = torch.randn(200, 300), {"dtype": torch.float8_e4m3fn, "blocks": (1, 128)}
        for kind, words, more in (
                (TypeError, "no other operation", {"scale": 2}), (TypeError, "no other operation", {"amax": True}),
                (ValueError, "scales is 'best', and has to be one of te, ", {"scales": "best"}),
                (ValueError, "layout is 'tiled', and has to be one of plain, ", {"layout": "tiled"}),
                (ValueError, r"blocks is \(1, 0\)", {"blocks": (1, 0)}),
                (TypeError, "tensor_amax is for the scales nvfp4", {"tensor_amax": x.amax()}),
                (TypeError, "of blocks, which are missing", {"blocks": None, "scales": "te"})):
            with self.assertRaisesRegex(kind, words):
                transpose(x, **{**asked, **more})
        with self.assertRaisesRegex(ValueError, "blocks are of matrices"):
            permute(torch.randn(2, 3, 4), (2, 0, 1), **asked)

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
            for dims in (1, 0), [-1, 0], None:
                calls, result = self.compiled(lambda x: permute(x, dims), x, dynamic=dynamic)
                self.assertTrue(torch.equal(result, x.t()))

    def test_compiled_by_the_usual_way(self):
        x = torch.rand(3, 4, requires_grad=True)
        result = torch.compile(lambda x: transpose(x).sin(), backend="aot_eager", fullgraph=True)(x)
        result.sum().backward()
        self.assertTrue(torch.equal(result, x.t().sin()))
        self.assertTrue(torch.equal(x.grad, x.cos()))

    def test_gradients_compiled(self):
        """As those of the function that is not compiled."""
        given = [torch.rand(shape, requires_grad=True) for shape in ((3, 4), (), (), (4, 3))]

        def function(x, alpha, beta, other):
            return transpose(x, alpha=alpha, beta=beta, other=other).sin()

        wanted = torch.autograd.grad(function(*given).sum(), given)
        found = torch.autograd.grad(torch.compile(function, backend="aot_eager", fullgraph=True)(*given).sum(), given)
        for one, other in zip(found, wanted):
            torch.testing.assert_close(one, other)

    def test_meta(self):
        result = transpose(torch.empty(3, 4, 5, device="meta"))
        self.assertEqual((result.shape, result.stride(), result.device.type), ((3, 5, 4), (20, 4, 1), "meta"))


class Transformed(unittest.TestCase):
    """Moves in host memory, in PyTorch's transformations of functions."""

    def test_batches(self):
        x = torch.rand(2, 3, 4, 5)
        with mock.patch.object(_torch, "_permute_on_host", side_effect=_torch._permute_on_host) as host:
            for axis in range(4):
                found = torch.vmap(lambda x: permute(x, (2, 0, 1)), axis, 1)(x)
                self.assertTrue(torch.equal(found, x.movedim(axis, 0).permute(0, 3, 1, 2).movedim(0, 1)), axis)
            twice = torch.vmap(torch.vmap(transpose), 1, 1)(x)
        self.assertTrue(torch.equal(twice, x.mT))
        self.assertEqual(host.call_count, 5)  # one call of a batch

    def test_derivatives(self):
        x, tangent = torch.rand(3, 4, dtype=torch.float64), torch.rand(3, 4, dtype=torch.float64)
        value, moved = torch.func.jvp(transpose, (x,), (tangent,))
        self.assertTrue(torch.equal(value, x.t()) and torch.equal(moved, tangent.t()))
        forward, reverse = (of(lambda x: transpose(x) ** 2)(x) for of in (torch.func.jacfwd, torch.func.jacrev))
        self.assertTrue(torch.equal(forward, reverse))
        each = torch.vmap(torch.func.grad(lambda x: (transpose(x) ** 2).sum()))(torch.stack([x, tangent]))
        self.assertTrue(torch.equal(each, 2 * torch.stack([x, tangent])))
        twice = torch.func.hessian(lambda x: (transpose(x) ** 2).sum())(x)
        self.assertTrue(torch.equal(twice.reshape(12, 12), 2 * torch.eye(12, dtype=x.dtype)))
        self.assertTrue(torch.autograd.gradcheck(lambda x: permute(x, (1, 0)), (x.requires_grad_(),),
                                                 check_forward_ad=True, check_batched_grad=True))


class Repeated(unittest.TestCase):
    """Which calls take a known plan at once, and what it is told."""

    def setUp(self):
        self.started = []
        self.plan = types.SimpleNamespace(execute=lambda *given: self.started.append(given))
        self.x = torch.rand(8, 4, dtype=torch.complex64)
        for name, value in ("_current_device", self.x.get_device), ("_current_stream", lambda device: 7), \
                ("_new", {}), ("_given", {}):
            patch = mock.patch.object(_torch, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def test_new_results(self):
        self.assertIsNone(_torch._again(self.x, (1, 0), None))
        _torch._remember(self.x, (1, 0), torch.empty(4, 8), True, self.plan)
        for x in self.x, torch.rand_like(self.x):
            found = _torch._again(x, (1, 0), None)
            self.assertEqual((found.shape, found.dtype), ((4, 8), x.dtype))
            self.assertEqual(self.started.pop(), (found.data_ptr(), x.data_ptr(), 7))
        for x, dims in (self.x, (0, 1)), (self.x.mT, (1, 0)), (self.x.to(torch.complex128), (1, 0)), (self.x.conj(), (1, 0)):
            self.assertIsNone(_torch._again(x, dims, None))
        _torch.forget()
        self.assertIsNone(_torch._again(self.x, (1, 0), None))

    def test_given_results(self):
        room = torch.zeros(200, dtype=torch.complex64)
        out = room[:32].view(4, 8)
        _torch._remember(self.x, (1, 0), out, False, self.plan)
        for to in out, torch.empty_like(out), room[2:34].view(4, 8):
            self.assertIs(_torch._again(self.x, (1, 0), to), to)
            self.assertEqual(self.started.pop(), (to.data_ptr(), self.x.data_ptr(), 7))
        inner = room[40:72].view(8, 4)
        for x, to in ((self.x, out.mT), (self.x, room[1:33].view(4, 8)), (self.x, torch.empty(4, 8)), (self.x, out.conj()),
                      (inner, room[40:72].view(4, 8)), (inner, room[70:102].view(4, 8)), (inner, room[10:42].view(4, 8))):
            self.assertIsNone(_torch._again(x, (1, 0), to))
        self.assertIs(_torch._again(inner, (1, 0), room[72:104].view(4, 8)).dtype, torch.complex64)
        _torch.forget()
        self.assertIsNone(_torch._again(self.x, (1, 0), out))


class Refused(unittest.TestCase):
    def test_out(self):
        with self.assertRaisesRegex(TypeError, "plain tensors with memory"):
            transpose(torch.rand(3, 4, requires_grad=True), out=torch.rand(4, 3))

    def test_dims(self):
        for dims, rank in ((0, 0), 2), ((0, 1, 2), 2), ((2, 0), 2):
            with self.assertRaisesRegex(ValueError, "no permutation"):
                permute(torch.rand(*[2] * rank), dims)


if __name__ == "__main__":
    unittest.main()
