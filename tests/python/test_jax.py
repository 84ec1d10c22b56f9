# SPDX-License-Identifier: Apache-2.0
"""What JAX's compiler calls, without a GPU: in host memory, where NumPy takes the plan's place."""
import ctypes
import math
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
from transpose_autotune import _calls, _cuda, _jax


class Plan:
    device, scratch_bytes = 0, 16

    def __init__(self, problem):
        if problem.shape == (13, 13):
            raise ValueError("thirteen is refused")
        self.problem = problem

    def execute(self, dst, src, stream):
        self.execute_with(dst, src, stream)

    def execute_with(self, dst, src, stream, src2=0, dst2=0, largest=0, scratch=0, sums=0, **places):
        shape, dims, step = self.problem.shape, self.problem.dims, self.problem.step
        source, result = types_of(step) or (f"V{self.problem.itemsize}",) * 2
        assert scratch == (16 if sums else 8 if largest else 0)
        real = "float64" if {"float64", "complex128"} & {source, result} else "float32"
        wide = {"float32": "complex64", "float64": "complex128"}[real] if result.startswith("complex") else real

        def memory(address, kind, shape=shape):
            raw = (ctypes.c_uint8 * (math.prod(shape) * numpy.dtype(kind).itemsize)).from_address(address)
            return numpy.ctypeslib.as_array(raw).view(kind).reshape(shape)

        def channels(name):
            axis = int(step.partition("affine=")[2].partition(",")[0])
            row = memory(places[name], real, shape[axis:axis + 1])
            return row.reshape([-1 if i == axis else 1 for i in range(len(shape))])

        assert stream == 5
        values = memory(src, source)
        if sums:
            of_columns = values.astype("float32").sum(-2)
            memory(sums, "float32", of_columns.shape)[...] = of_columns
        if "block_scales" in places:
            write_blocks(self.problem, memory, values.astype(real), dst, dst2, places)
            return
        if places:
            values = values.astype(wide)
        if "scale" in places:
            values = values * memory(places["scale"], real, ())
        if "alpha" in places:
            values = values * memory(places["alpha"], wide, ())
        if "channel_scale" in places:
            values = values * channels("channel_scale")
        if "channel_shift" in places:
            values = values + channels("channel_shift")
        if dst2:
            kept = [types_of(word[5:])[0] for word in step.split(",") if word.startswith("both=")] or [result]
            memory(dst2, kept[0])[...] = values.astype(kept[0])
        if largest:
            magnitudes = numpy.abs(memory(src, source).astype("float32"))
            memory(largest, "float32", ())[...] = (numpy.max if "amax=nan" in step else numpy.nanmax)(magnitudes)
        values = values.transpose(dims)
        if "beta" in places and memory(places["beta"], wide, ()) != 0:
            values = values + memory(places["beta"], wide, ()) * memory(src2, result, values.shape).astype(wide)
        memory(dst, result, values.shape)[...] = values.astype(result)


def write_blocks(problem, memory, values, dst, dst2, places):
    """Both results, as they lie first, with scales in f32 of torchao's rule."""
    height, width = map(int, problem.step.partition("blocks=")[2].partition(",")[0].split("x"))
    sides = (values.swapaxes(-1, -2), dst, "block_scales"), (values, dst2, "block_scales2")
    for (result, to, name), told in zip(sides, problem.scales()):
        if not told:
            continue
        scales = numpy.zeros((*result.shape[:-2], told.rows, told.cols), "float32")
        for row, col in numpy.ndindex(told.rows, told.cols):
            part = numpy.s_[..., row * height:(row + 1) * height, col * width:(col + 1) * width]
            factor = (448 / numpy.abs(result[part]).max((-1, -2)).astype("float64")).astype("float32")
            scales[..., row, col] = 1 / factor
            part_of_result = memory(to, "float8_e4m3fn", result.shape)[part]
            part_of_result[...] = (result[part] * factor[..., None, None]).astype("float8_e4m3fn")
        if "layout=transposed" in problem.step:
            scales = scales.swapaxes(-1, -2)
        memory(places[name], "float32", scales.shape)[...] = scales


def types_of(step):
    """NumPy's names of a step's types."""
    names = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16", "e4m3": "float8_e4m3fn",
             "u8": "uint8", "i32": "int32", "c64": "complex64", "c128": "complex128"}
    return step and ([names[name] for name in step.partition(",")[0].split(":")] * 2)[:2]


def lower(rule):
    """From now on moves become what the rule makes of them."""
    jax.interpreters.mlir.register_lowering(_jax.move, rule, platform="cpu")
    jax.clear_caches()


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lower(_jax.lower_call)
        cls.addClassCleanup(lower, _jax.lower_plainly)

    def setUp(self):
        if not _jax.register("cpu"):
            self.skipTest(f"XLA of JAX {jax.__version__} does not take the callback")
        for place, name, value in (_jax, "plan_for", lambda problem, device, stream: Plan(problem)), \
                (_jax, "_stream_of", lambda frame: 5), (_calls, "scratch_for", lambda device, stream: 8), \
                (_calls, "scratch_for_sums", lambda device, stream, count: count), (_cuda, "device_of", lambda pointer: 0), \
                (_jax, "HOST", "none"):
            patch = mock.patch.object(place, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def test_types(self):
        for kind in "bool", "int8", "bfloat16", "float16", "float32", "float64", "complex64", "complex128":
            x = jax.numpy.arange(2 * 3 * 4).reshape(2, 3, 4).astype(kind)
            self.assertTrue((permute(x, (2, 0, -2)) == x.transpose(2, 0, 1)).all(), kind)

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

    def test_operands(self):
        """Of each kind, by value and as arrays, called directly and within a function that is compiled."""
        x = jax.numpy.arange(1.0, 25).reshape(2, 3, 4)
        second, row = 100 * x.transpose(2, 0, 1), jax.numpy.array([0.5, 2, 4])
        channels = row[:, None]
        for kind, dtype, more, wanted in (
                ("float32", "float32", {"alpha": 2}, 2 * x),
                ("float64", "float32", {"alpha": 0.5, "beta": -1, "other": second}, 0.5 * x - 100 * x),
                ("bfloat16", "float32", {"other": second}, 101 * x),
                ("float32", "float32", {"beta": 0, "other": second * jax.numpy.nan}, x),
                ("int32", "int32", {"beta": 3, "other": second}, 301 * x),
                ("complex64", "complex64", {"alpha": 1 - 2j, "beta": 1j, "other": second}, (1 + 98j) * x),
                ("complex128", "complex64", {"scale": 2}, 2 * x),
                ("float32", "float64", {"channel_scale": row, "channel_axis": 1}, x * channels),
                ("uint8", "float16", {"channel_scale": row, "channel_shift": row, "channel_axis": -2},
                 x * channels + channels),
                ("float32", "float32", {"scale": 2, "channel_shift": row, "channel_axis": 1, "other": second},
                 102 * x + channels)):
            y, axis = x.astype(kind), more.pop("channel_axis", -1)
            more = {name: value.astype(dtype) if name == "other" else value for name, value in more.items()}
            wanted = wanted.transpose(2, 0, 1).astype(dtype)

            def function(y, more):
                return permute(y, (2, 0, 1), dtype=dtype, channel_axis=axis, **more)

            for found in function(y, more), jax.jit(function)(y, more):
                with self.subTest(kind=kind, dtype=dtype, more=list(more)):
                    self.assertEqual(found.dtype, dtype)
                    self.assertTrue((found == wanted).all(), found)

    def test_outputs(self):
        x = jax.numpy.arange(-13.0, 11).reshape(2, 3, 4).at[1, 1, 1].set(jax.numpy.nan)
        for kind, more, types in (
                ("float32", {"both": True}, ["float32", "float32"]),
                ("float32", {"amax": True}, ["float32", "float32"]),
                ("bfloat16", {"dtype": "float8_e4m3fn", "scale": 0.5, "both": True, "amax": True},
                 ["float8_e4m3fn", "float8_e4m3fn", "float32"]),
                ("float32", {"dtype": "bfloat16", "both": "float64", "amax": "nan"}, ["bfloat16", "float64", "float32"])):
            y = x.astype(kind)
            wanted = [(y.transpose(2, 0, 1) * more.get("scale", 1)).astype(types[0])]
            if "both" in more:
                wanted.append((y * more.get("scale", 1)).astype(types[1]))
            if "amax" in more:
                wanted.append(jax.numpy.float32(jax.numpy.nan if more["amax"] == "nan" else 13))

            def function(y):
                return permute(y, (2, 0, 1), **more)

            for found in function(y), jax.jit(function)(y):
                with self.subTest(kind=kind, more=more):
                    self.assertEqual([one.dtype for one in found], types)
                    for one, other in zip(found, wanted):
                        numpy.testing.assert_array_equal(one.astype("float64"), other.astype("float64"))
        shapes = [one.shape for one in transpose(jax.numpy.ones((0, 3)), both=True, amax=True)]
        self.assertEqual(shapes, [(3, 0), (0, 3), ()])
        gradient = jax.grad(lambda x: (lambda first, kept, largest: first.sum() + (kept * largest).sum())(
            *transpose(x, scale=3.0, both=True, amax=True)))(jax.numpy.ones((2, 3), "float32"))
        self.assertTrue((gradient == 3).all())  # only of the first result
        with self.assertRaisesRegex(TypeError, "skip leaves arrays"):
            transpose(x, both=True, skip=jax.numpy.int32(1))

    def test_blocks(self):
        """Scales are as they lie in memory."""
        x = jax.numpy.array(numpy.random.default_rng(1).standard_normal((2, 5, 7)), "float32")
        for layout, both, shapes in ((None, None, [(2, 7, 2)]), ("plain", True, [(2, 7, 2), (2, 5, 2)]),
                                     ("transposed", True, [(2, 2, 7), (2, 2, 5)])):
            def function(x):
                return transpose(x, dtype="float8_e4m3fn", blocks=(1, 4), scales="torchao", layout=layout,
                                 both=both or False)

            for results in function(x), jax.jit(function)(x):
                sources = [x.swapaxes(1, 2), x][:len(shapes)]
                self.assertEqual([one.dtype for one in results],
                                 ["float8_e4m3fn"] * len(shapes) + ["float32"] * len(shapes))
                self.assertEqual([one.shape for one in results[len(shapes):]], shapes)
                for source, found, scales in zip(sources, results, results[len(shapes):]):
                    scales = scales.swapaxes(1, 2) if layout == "transposed" else scales
                    whole = numpy.repeat(scales, 4, -1)[..., :source.shape[-1]]
                    numpy.testing.assert_allclose(found.astype("float32") * whole, source, rtol=0.07, atol=1e-3)
        kinds = [one.dtype for one in jax.eval_shape(lambda x: transpose(
            x, dtype="float8_e5m2", blocks=(1, 32), scales="floor", layout="swizzled"), x)]
        self.assertEqual(kinds, ["float8_e5m2", "float8_e8m0fnu"])
        kinds = [(one.dtype, one.shape) for one in jax.eval_shape(lambda x, of: transpose(
            x, dtype="uint8", both=True, blocks=(1, 16), scales="nvfp4", tensor_amax=of), x[..., :6], x[0, 0, 0])]
        self.assertEqual(kinds, [("uint8", (2, 6, 3)), ("uint8", (2, 5, 3)), ("float8_e4m3fn", (2, 6, 1)),
                                 ("float8_e4m3fn", (2, 5, 1))])
        gradients = jax.eval_shape(jax.grad(lambda x, of: transpose(
            x, dtype="uint8", blocks=(1, 16), scales="nvfp4", tensor_amax=of)[1].sum().astype("float32"), (0, 1)), x, x[0, 0, 0])
        self.assertEqual([one.shape for one in gradients], [(2, 5, 7), ()])
        gradient = jax.grad(lambda x: transpose(x, dtype="float8_e4m3fn", blocks=(1, 4), scales="torchao")[1].sum())(x)
        self.assertTrue((gradient == 0).all() and gradient.shape == x.shape)
        with self.assertRaisesRegex(ValueError, "blocks are of matrices"):
            permute(x, (2, 1, 0), dtype="float8_e4m3fn", blocks=(1, 4))

    def test_sums(self):
        x = jax.numpy.arange(-13.0, 11).reshape(2, 3, 4).astype("float32")
        for more in {}, {"dtype": "bfloat16", "scale": 0.5, "both": True, "amax": True}, \
                {"dtype": "float8_e4m3fn", "blocks": (1, 4), "scales": "torchao", "both": True}:
            def function(x):
                return transpose(x, sums=True, **more)

            with self.subTest(more=more):
                plain = transpose(x, **more)
                for found in function(x), jax.jit(function)(x):
                    for one, other in zip(found, plain if isinstance(plain, tuple) else (plain,)):
                        numpy.testing.assert_array_equal(one.astype("float64"), other.astype("float64"))
                    self.assertEqual(found[-1].dtype, "float32")
                    numpy.testing.assert_array_equal(found[-1], x.sum(-2))
        gradient = jax.grad(lambda x: sum(one.sum() for one in transpose(x, scale=3.0, sums=True)))(x)
        self.assertTrue((gradient == 3).all())  # only of the first result
        self.assertEqual(transpose(x[:, :0], sums=True)[1].tolist(), [[0] * 4] * 2)
        with self.assertRaisesRegex(ValueError, "sums are of matrices"):
            permute(x, (2, 1, 0), sums=True)

    def test_operands_refused(self):
        x = jax.numpy.ones((2, 3), "float32")
        for more, error, words in (
                ({"scale": [1, 2]}, TypeError, "scale on the device is one number of type f32, and this is 2"),
                ({"alpha": 2j}, TypeError, "alpha has an imaginary part"),
                ({"beta": 2}, TypeError, "give `other`"),
                ({"other": jax.numpy.ones((3, 2), "float16")}, TypeError, "6 numbers of type f32"),
                ({"other": x}, ValueError, r"other has to have the shape \(3, 2\)"),
                ({"channel_scale": [1, 2]}, TypeError, "channel_scale on the device is 3 numbers of type f32"),
                ({"channel_shift": [1, 2, 3], "channel_axis": 2}, ValueError, "there are 2 axes")):
            with self.subTest(words=words), self.assertRaisesRegex(error, words):
                transpose(x, **more)

    def test_gradients_of_steps(self):
        x, by = jax.numpy.arange(24.0).reshape(2, 3, 4), jax.numpy.float64(3)
        gradients = jax.grad(lambda x, by: (permute(x, (2, 0, 1), scale=by) ** 2).sum(), argnums=(0, 1))(x, by)
        self.assertTrue((gradients[0] == 18 * x).all())
        self.assertEqual(gradients[1], (6 * x ** 2).sum())
        gradient = jax.grad(lambda x: permute(x, (2, 0, 1), dtype="float32").sum())(x)
        self.assertEqual((gradient.dtype, gradient.sum()), ("float64", 24))
        gradient = jax.grad(lambda x: permute(x, (2, 0, 1), dtype="uint8").astype("float64").sum())(x)
        self.assertTrue((gradient == 0).all())

    def test_gradients_of_operands(self):
        """As JAX finds them of the same expression."""
        x = jax.numpy.arange(1.0, 25).reshape(2, 3, 4)
        second, row = x.transpose(2, 0, 1) ** 2, jax.numpy.array([0.5, 2, 4])
        one, complex_one = jax.numpy.float64(3), jax.numpy.complex128(1 - 2j)
        for kind, more in (
                ("float64", {"alpha": one, "beta": one, "other": second}),
                ("complex128", {"alpha": complex_one, "beta": complex_one, "other": second.astype("complex128")}),
                ("float64", {"scale": one, "channel_scale": row, "channel_shift": row})):
            def ours(x, more):
                y = permute(x, (2, 0, 1), channel_axis=1, **more)
                return (y * y).real.sum()

            def theirs(x, more):
                y = x * more.get("scale", 1) * more.get("alpha", 1) * more.get("channel_scale", row * 0 + 1)[:, None]
                y = y + more.get("channel_shift", row * 0)[:, None]
                y = y.transpose(2, 0, 1) + more.get("beta", 0) * more.get("other", 0)
                return (y * y).real.sum()

            y = x.astype(kind)
            found, wanted = (jax.grad(function, argnums=(0, 1))(y, more) for function in (ours, theirs))
            self.assertTrue(numpy.allclose(found[0], wanted[0]), kind)
            for name in more:
                self.assertTrue(numpy.allclose(found[1][name], wanted[1][name]), (kind, name))
        pixels, scale = x.astype("uint8"), jax.numpy.ones(3, "float32")
        gradient = jax.grad(lambda scale: permute(pixels, (2, 0, 1), dtype="float32", channel_scale=scale,
                                                  channel_axis=1).sum())(scale)
        self.assertTrue((gradient == x.sum((0, 2))).all())
        whole = jax.numpy.ones((4, 2, 3), "int32")
        gradient = jax.grad(lambda beta: permute(x.astype("int32"), (2, 0, 1), beta=beta, other=whole)
                            .astype("float64").sum())(one)
        self.assertEqual(gradient, 0)

    def test_sizes(self):
        for shape, dims in ((0, 3), (1, 0)), ((), ()), ((5,), (0,)), ((2,) * 8, tuple(range(7, -1, -1))):
            x = jax.numpy.ones(shape)
            self.assertEqual(permute(x, dims).shape, x.transpose(dims).shape)
            self.assertEqual(permute(x, None).shape, x.T.shape)

    def test_within_functions(self):
        x = jax.numpy.arange(24.0).reshape(2, 3, 4)
        function = jax.jit(lambda x: transpose(x * 2) + permute(x, (0, 2, 1)))
        self.assertTrue((function(x) == 3 * x.transpose(0, 2, 1)).all())
        gradient = jax.grad(lambda x: (permute(x, (2, 0, 1)) ** 2).sum())
        self.assertTrue((jax.jit(gradient)(x) == 2 * x).all())

    def test_moves_are_linear(self):
        """JAX's transformations of them, and of these again, are moves."""
        x = jax.numpy.arange(120.0).reshape(2, 3, 4, 5)

        def moved(x):
            return permute(x, (2, 0, 1))

        for axis in range(4):
            batched = jax.vmap(moved, axis)(x)
            self.assertTrue((batched == jax.numpy.moveaxis(x, axis, 0).transpose(0, 3, 1, 2)).all(), axis)
            found = jax.vmap(moved, axis, 2)(x)
            self.assertTrue((found == jax.numpy.moveaxis(batched, 0, 2)).all(), axis)
        twice = jax.vmap(jax.vmap(transpose), 1)(jax.numpy.stack([x, x]))
        self.assertTrue((twice == jax.numpy.stack([x, x], 1).swapaxes(-1, -2)).all())
        y = x[0]
        value, tangent = jax.jvp(moved, (y,), (y * 2,))
        self.assertTrue((value == y.transpose(2, 0, 1)).all() and (tangent == 2 * value).all())
        self.assertTrue((jax.linear_transpose(moved, y)(value)[0] == y).all())
        numpy.testing.assert_array_equal(jax.jacfwd(moved)(y[:2, :2, :2]), jax.jacrev(moved)(y[:2, :2, :2]))
        per_sample = jax.jit(jax.vmap(jax.grad(lambda x: (moved(x) ** 2).sum())))(x)
        self.assertTrue((per_sample == 2 * x).all())
        calls = str(jax.make_jaxpr(jax.vmap(jax.grad(lambda x: (moved(x) ** 2).sum())))(x))
        self.assertEqual((calls.count("transpose_autotune_move["), calls.count(" transpose[")), (2, 0), calls)

    def test_steps_of_a_batch(self):
        """One call after the other, with an operand that all share or with one each."""
        x, by = jax.numpy.arange(24.0).reshape(2, 3, 4), jax.numpy.array([2.0, 3.0])
        for scale, axis in (by, 0), (by[0], None):
            found = jax.vmap(lambda x, by: transpose(x, dtype="float32", scale=by), (0, axis))(x, scale)
            wanted = (x * scale.reshape(-1, 1, 1)).swapaxes(1, 2).astype("float32")
            self.assertTrue((found == wanted).all() and found.dtype == "float32")

    def test_errors(self):
        with self.assertRaisesRegex(Exception, "thirteen is refused"):
            permute(jax.numpy.ones((13, 13)), (1, 0)).block_until_ready()
        with self.assertRaisesRegex(ValueError, "no permutation"):
            permute(jax.numpy.ones((2, 3)), (0, 0))
        with self.assertRaisesRegex(TypeError, "needs a GPU"), mock.patch.object(_jax, "HOST", "cpu"):
            transpose(jax.numpy.ones((2, 3)), scale=2)
        with self.assertRaisesRegex(TypeError, "neither"):
            transpose(jax.numpy.ones((2, 3)), stream=0)

    def test_unknown_version(self):
        with mock.patch.object(_jax, "VERSIONS", []):
            self.assertFalse(_jax.register("cpu"))


class Host(unittest.TestCase):
    """Without a GPU, moves are JAX's own."""

    def test_results(self):
        x = jax.numpy.arange(24.0).reshape(2, 3, 4)
        for function in transpose, jax.jit(transpose), jax.vmap(transpose):
            self.assertTrue((function(x) == x.swapaxes(1, 2)).all())
        self.assertTrue((permute(x, None) == x.T).all())
        self.assertEqual(transpose(x[:, :0]).shape, (2, 4, 0))
        with mock.patch.object(_jax, "is_registered", False):
            self.assertTrue((transpose(x) == x.swapaxes(1, 2)).all())

    def test_refused(self):
        with self.assertRaisesRegex(TypeError, "needs a GPU"):
            transpose(jax.numpy.ones((2, 3)), dtype="float16")


if __name__ == "__main__":
    unittest.main()
