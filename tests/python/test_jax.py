# SPDX-License-Identifier: Apache-2.0
"""What JAX's compiler calls, without a GPU: in host memory, where NumPy takes the plan's place."""
import ctypes
import os
import unittest
from unittest import mock

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "1"
try:
    import jax
    import jax.ffi
except ImportError:
    raise unittest.SkipTest("no JAX with jax.ffi") from None
import numpy

from transpose_autotune import permute, transpose
from transpose_autotune import _cuda, _jax


class Plan:
    def __init__(self, problem):
        if problem.shape == (13, 13):
            raise ValueError("thirteen is refused")
        self.problem = problem

    def execute(self, dst, src, stream):
        self.execute_with(dst, src, stream, scale=None)

    def execute_with(self, dst, src, stream, scale):
        shape, itemsize, dims = self.problem.shape, self.problem.itemsize, self.problem.dims
        source, result = types_of(self.problem.step) or (f"V{itemsize}",) * 2

        def memory(address, kind, count=int(numpy.prod(shape))):
            raw = (ctypes.c_uint8 * (count * numpy.dtype(kind).itemsize)).from_address(address)
            return numpy.ctypeslib.as_array(raw).view(kind)

        assert stream == 5
        values = memory(src, source).reshape(shape).transpose(dims).reshape(-1)
        if scale is not None:
            wide = "float64" if "float64" in (source, result) else "float32"
            values = values.astype(wide) * memory(int(scale), wide, 1)
        memory(dst, result)[:] = values.astype(result)


def types_of(step):
    """NumPy's names of a step's types."""
    names = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16", "e4m3": "float8_e4m3fn",
             "u8": "uint8"}
    return step and [names[name] for name in step.partition(",")[0].split(":")]


class Calls(unittest.TestCase):
    def setUp(self):
        if not _jax.register("cpu"):
            self.skipTest(f"XLA of JAX {jax.__version__} does not take the callback")
        for place, name, value in (_jax, "plan_for", lambda problem, device, stream: Plan(problem)), \
                (_jax, "_stream_of", lambda frame: 5), (_cuda, "device_of", lambda pointer: 0), \
                (_jax, "HOST", "none"):
            patch = mock.patch.object(place, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def test_types(self):
        for kind in "bool", "int8", "bfloat16", "float16", "float32", "float64", "complex64", "complex128":
            x = jax.numpy.arange(2 * 3 * 4).reshape(2, 3, 4).astype(kind)
            self.assertTrue((_jax.permute(x, (2, 0, -2)) == x.transpose(2, 0, 1)).all(), kind)

    def test_steps(self):
        """Casts and scales, with the scale as a number and as an array, and within a function that is compiled."""
        x = jax.numpy.arange(24, dtype="float32").reshape(2, 3, 4)
        for kind, dtype in ("float32", "bfloat16"), ("float32", "float64"), ("uint8", "float16"), \
                ("bfloat16", "float8_e4m3fn"):
            y = x.astype(kind)
            wanted = y.transpose(2, 0, 1).astype(dtype)
            self.assertEqual(permute(y, (2, 0, 1), dtype=dtype).dtype, dtype)
            self.assertTrue((permute(y, (2, 0, 1), dtype=dtype) == wanted).all(), (kind, dtype))
            for scale in 0.5, jax.numpy.float32(0.5):
                found = jax.jit(lambda y, scale: permute(y, (2, 0, 1), dtype=dtype, scale=scale))(y, scale)
                self.assertTrue((found == (y.transpose(2, 0, 1) * 0.5).astype(dtype)).all(), (kind, dtype))
        self.assertTrue((transpose(x, scale=2.0) == 2 * x.mT).all())
        self.assertEqual(transpose(jax.numpy.ones((0, 3)), dtype="float16").dtype, "float16")
        with self.assertRaisesRegex(TypeError, "neither"):
            transpose(x, out=x, dtype="float16")

    def test_gradients_of_steps(self):
        x, by = jax.numpy.arange(24.0).reshape(2, 3, 4), jax.numpy.float64(3)
        gradients = jax.grad(lambda x, by: (permute(x, (2, 0, 1), scale=by) ** 2).sum(), argnums=(0, 1))(x, by)
        self.assertTrue((gradients[0] == 18 * x).all())
        self.assertEqual(gradients[1], (6 * x ** 2).sum())
        gradient = jax.grad(lambda x: permute(x, (2, 0, 1), dtype="float32").sum())(x)
        self.assertEqual((gradient.dtype, gradient.sum()), ("float64", 24))

    def test_sizes(self):
        for shape, dims in ((0, 3), (1, 0)), ((), ()), ((5,), (0,)), ((2,) * 8, tuple(range(7, -1, -1))):
            x = jax.numpy.ones(shape)
            self.assertEqual(_jax.permute(x, dims).shape, x.transpose(dims).shape)

    def test_within_functions(self):
        x = jax.numpy.arange(24.0).reshape(2, 3, 4)
        function = jax.jit(lambda x: transpose(x * 2) + permute(x, (0, 2, 1)))
        self.assertTrue((function(x) == 3 * x.transpose(0, 2, 1)).all())
        gradient = jax.grad(lambda x: (permute(x, (2, 0, 1)) ** 2).sum())
        self.assertTrue((jax.jit(gradient)(x) == 2 * x).all())

    def test_errors(self):
        with self.assertRaisesRegex(Exception, "thirteen is refused"):
            _jax.permute(jax.numpy.ones((13, 13)), (1, 0)).block_until_ready()
        with self.assertRaisesRegex(ValueError, "no permutation"):
            permute(jax.numpy.ones((2, 3)), (0, 0))
        with self.assertRaisesRegex(TypeError, "CUDA"), mock.patch.object(_jax, "HOST", "cpu"):
            transpose(jax.numpy.ones((2, 3)))
        with self.assertRaisesRegex(TypeError, "neither"):
            transpose(jax.numpy.ones((2, 3)), stream=0)

    def test_unknown_version(self):
        with mock.patch.object(_jax, "VERSIONS", []):
            self.assertFalse(_jax.register("cpu"))


if __name__ == "__main__":
    unittest.main()
