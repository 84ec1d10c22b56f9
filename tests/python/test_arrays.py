# SPDX-License-Identifier: Apache-2.0
"""Arrays of all kinds, with a driver that runs nothing (driver.c): which plans they get, and which addresses and
streams their launches. Where libcuda.so.1 is a real one, nothing of this can be told."""
import collections
import ctypes
import fractions
import gc
import math
import os
import sys
import threading
import types
import unittest
from unittest import mock

from transpose_autotune import At, AutotuneError, Plan, Problem, Profile, Status, clear_plans, lookup, permute, \
    permute_, save_wisdom, transpose, transpose_, use
from transpose_autotune import _calls, _dlpack, _nvrtc, _scratch
from transpose_autotune._objects import REVERSED

driver = ctypes.CDLL("libcuda.so.1")


def get(name, kind=ctypes.c_int):
    return kind.in_dll(driver, f"driver_{name}").value


def put(name, value):
    ctypes.c_int.in_dll(driver, f"driver_{name}").value = value


def launched():
    """The addresses and the stream of the last launch."""
    return tuple(get(name, ctypes.c_void_p) or 0 for name in ("dst", "src", "stream"))


class Interface:
    """An array with __cuda_array_interface__."""

    def __init__(self, shape, typestr="<f4", pointer=1 << 20, strides=None, readonly=False, **more):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": (pointer, readonly),
                                         "strides": strides, "version": 3, **more}


class Managed(ctypes.Structure):
    """DLManagedTensor"""
    _fields_ = [("tensor", _dlpack.Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Capsules:
    """An array with __dlpack__, whose capsules are made by hand."""

    def __init__(self, shape, pointer=1 << 21, strides=None, code=2, bits=32, device=(2, 0), offset=0):
        self.device, self.streams = device, []
        row = ctypes.c_int64 * len(shape)
        self.shape, self.strides = row(*shape), row(*strides) if strides else None
        self.managed = Managed(_dlpack.Tensor(pointer, *device, len(shape), code, bits, 1, self.shape,
                                              self.strides, offset))

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)


class Namespace:
    """A namespace of the array API."""
    float32 = "its float32"

    @staticmethod
    def empty(shape, dtype, device):
        return Member(shape, pointer={(50, 30): 1 << 23, (30, 50): 1 << 24}.get(shape, 1 << 25))


class Member(Capsules):
    """An array that knows its namespace."""
    dtype, device_name = "float32", 0

    def __array_namespace__(self):
        return Namespace


class WithPlans(unittest.TestCase):
    def setUp(self):
        use(Profile(os.path.join(os.environ["SOURCE"], "results", "nvidia-h200.yaml")))

    def tearDown(self):
        use(None)

    def made(self):
        """The problem of the last plan."""
        return str(list(_calls._plans.values())[-1]).partition(" on ")[0]


class Arrays(WithPlans):
    def test_interface(self):
        x, out = Interface((700, 1000)), Interface((1000, 700), pointer=1 << 22)
        self.assertIs(transpose(x, out), out)
        self.assertEqual(launched(), (1 << 22, 1 << 20, 0))
        self.assertEqual(self.made(), "700x1000:b4")

    def test_problems(self):
        """What the library is told of shapes, strides, types and alignment."""
        for shape, kind, strides, target, out_strides, dims, problem in (
                ((4, 30, 50), "<f8", None, (4, 50, 30), None, None, "30x50:b8,batch=4"),
                ((30, 50), "<c16", None, (50, 30), None, None, "30x50:b16"),
                ((30, 50), "|b1", None, (50, 30), None, None, "30x50:b1"),
                ((2, 3, 4, 5), "<f4", None, (5, 4, 3, 2), None, (3, 2, 1, 0), "2x3x4x5:b4,perm=3210"),
                ((2, 3, 4, 5), "<f4", None, (5, 4, 3, 2), None, (-1, 2, 1, 0), "2x3x4x5:b4,perm=3210"),
                ((2, 3, 4, 5), "<f4", None, (5, 4, 3, 2), None, REVERSED, "2x3x4x5:b4,perm=3210"),
                ((30, 50), "<f4", (256, 4), (50, 30), None, None, "30x50:b4,ld_src=64"),
                ((30, 50), "<f4", None, (50, 30), (256, 4), None, "30x50:b4,ld_dst=64"),
                ((30, 50), "<f4", (4, 120), (50, 30), None, None, "1x1500:b4"),
                ((), "<f4", None, (), None, (), "1x1:b4")):
            with self.subTest(problem=problem):
                before = get("launches")
                x = Interface(shape, kind, strides=strides)
                out = Interface(target, kind, 1 << 22, out_strides)
                by_name = None if dims == REVERSED else dims
                self.assertIs(transpose(x, out) if dims is None else permute(x, by_name, out), out)
                self.assertEqual(get("launches"), before + 1)
                self.assertEqual(self.made(), problem)

    def test_steps(self):
        """Types of all protocols are told to the library, and numbers to the kernel."""
        half, at = ctypes.c_double(0.5), 1 << 24
        usual, wide = Interface((), "<f4", at), Interface((1, 1), "<f8", at)
        number = (ctypes.c_uint64 * 2).in_dll(driver, "fake_cuda_last")
        place = ctypes.c_int.in_dll(driver, "fake_cuda_last_at")
        for kind, target, dtype, scale, problem in (
                ("<f4", "<f2", "float16", None, "30x50:f32:f16"),
                ("<f4", "<f4", "float32", None, "30x50:b4"),
                ("<f4", "<f4", None, 0.5, "30x50:f32,scale"),
                ("<f4", "<f2", "float16", fractions.Fraction(1, 2), "30x50:f32:f16,scale"),
                ("|u1", "<f2", "float16", usual, "30x50:u8:f16,scale"),
                ("<f8", "<f4", "float32", wide, "30x50:f64:f32,scale"),
                ("<c8", "<c8", None, usual, "30x50:c64,scale"),
                ("|b1", "<f4", "float32", None, "30x50:u8:f32")):
            with self.subTest(problem=problem):
                x, out = Interface((30, 50), kind), Interface((50, 30), target, 1 << 22)
                place.value = 9 if scale else 0
                try:
                    self.assertIs(transpose(x, out, dtype=dtype, scale=scale), out)
                finally:
                    place.value = 0
                self.assertEqual(self.made(), problem)
                if scale:
                    self.assertEqual(list(number), [0, int.from_bytes(half, "little")] if scale == 0.5 else [at, 0])
        transpose(Capsules((30, 50), code=4, bits=16), Capsules((50, 30), pointer=1 << 22, code=10, bits=8),
                  dtype="float8_e4m3fn")
        self.assertEqual(self.made(), "30x50:bf16:e4m3")
        with mock.patch.object(Namespace, "empty", lambda shape, dtype, device: Interface(shape, "<" + dtype, 1 << 23)):
            self.assertEqual(permute(Member((2, 3, 4)), (2, 0, 1), dtype="f2").__cuda_array_interface__["typestr"], "<f2")

    def test_steps_with_places(self):
        """A second source and channels: what the kernel gets."""
        words = (ctypes.c_uint64 * 9).in_dll(driver, "fake_cuda_last")
        place = ctypes.c_int.in_dll(driver, "fake_cuda_last_at")
        complex_number = Interface((), "<c8", 1 << 24)
        second, channels = Interface((50, 30), "<f4", 1 << 23), Interface((50,), "<f4", 1 << 25)

        def bits(value):
            return int.from_bytes(ctypes.c_double(value), "little")

        for kind, more, problem, wanted in (
                ("<f4", {"beta": 0.5}, "30x50:f32,beta", {3: 0, 4: bits(0.5), 6: 1 << 22}),
                ("<f4", {"other": second}, "30x50:f32,beta", {4: bits(1), 6: 1 << 23}),
                ("<f4", {"alpha": 2, "beta": 3, "other": second}, "30x50:f32,alpha,beta",
                 {1: bits(2), 4: bits(3), 6: 1 << 23}),
                ("<c8", {"alpha": 1 - 2j}, "30x50:c64,alpha", {1: bits(1), 2: bits(-2)}),
                ("<c8", {"alpha": complex_number}, "30x50:c64,alpha", {0: 1 << 24, 1: 0}),
                ("<f4", {"channel_scale": channels}, "30x50:f32,affine", {7: 1 << 25, 8: 0}),
                ("<f4", {"channel_shift": Interface((30,), "<f4", 1 << 25), "channel_axis": -2, "scale": 2},
                 "30x50:f32,scale,affine=rows", {1: bits(2), 7: 0, 8: 1 << 25})):
            with self.subTest(problem=problem, more=more):
                x, out = Interface((30, 50), kind), Interface((50, 30), kind, 1 << 22)
                place.value = 10 if "affine" in problem else 9
                try:
                    self.assertIs(transpose(x, out, **more), out)
                finally:
                    place.value = 0
                self.assertEqual(self.made(), problem)
                self.assertEqual({i: words[i] for i in wanted}, wanted)
        with self.assertRaisesRegex(TypeError, "give `other`, or `out`"):
            transpose(Interface((30, 50)), beta=1)
        column = Interface((30, 1), "<f4", 1 << 23, strides=(4, 9000))  # strides of one element do not matter
        transpose(Interface((1, 30)), Interface((30, 1), pointer=1 << 22), other=column)
        self.assertEqual(self.made(), "1x30:f32,beta")

    def test_steps_refused(self):
        x, out = Interface((30, 50)), Interface((50, 30), "<f2", 1 << 22)
        for more, error, words in (
                ({}, TypeError, "give `dtype` to cast"),
                ({"scale": 2}, TypeError, "give `dtype` to cast"),
                ({"dtype": "float64"}, TypeError, "out has elements of type f2, and dtype is float64"),
                ({"dtype": "float16", "scale": Interface((), "<f8")}, TypeError, "one number of type f32, and this is 1 of"),
                ({"dtype": "float16", "scale": Interface((2,), "<f4")}, TypeError, "and this is 2 of type f32"),
                ({"dtype": "float16", "scale": Interface((), "<f4", 64)}, ValueError, "scale is on device 1"),
                ({"dtype": "float16", "scale": "2"}, TypeError, "neither __dlpack__"),
                ({"dtype": "float16", "scale": 2j}, TypeError, "neither __dlpack__"),
                ({"dtype": "float16", "other": Interface((30, 50), "<f2")}, ValueError,
                 r"other has to have the shape \(50, 30\) and the strides \(30, 1\)"),
                ({"dtype": "float16", "other": Interface((50, 30), "<f2", strides=(2, 100))}, ValueError, "the strides"),
                ({"dtype": "float16", "other": Interface((50, 30), "<f4")}, TypeError, "1500 numbers of type f16"),
                ({"dtype": "float16", "channel_scale": Interface((30,), "<f4")}, TypeError, "50 numbers of type f32"),
                ({"dtype": "float16", "channel_shift": Interface((5, 10), "<f4")}, ValueError,
                 r"channel_shift has to have the shape \(50,\)"),
                ({"dtype": "float16", "channel_scale": Interface((50,), "<f4", strides=(8,))}, ValueError,
                 r"and the strides \(1,\)"),
                ({"dtype": "float16", "channel_shift": Interface((50,), "<f4"), "channel_axis": 2}, ValueError,
                 "channel_axis is 2, and there are 2 axes")):
            with self.subTest(words=words), self.assertRaisesRegex(error, words):
                transpose(x, out, **more)
        with self.assertRaisesRegex(AutotuneError, "c64"):
            transpose(Interface((30, 50), "<c8"), out, dtype="float16")
        with self.assertRaisesRegex(AutotuneError, "unknown type"):
            transpose(Interface((30, 50), "|V4"), out, dtype="float16")

    def test_dlpack(self):
        x, out = Capsules((30, 50), offset=256), Capsules((50, 30), pointer=1 << 22)
        self.assertIs(transpose(x, out), out)
        self.assertEqual(launched(), (1 << 22, (1 << 21) + 256, 0))
        self.assertEqual(x.streams, [1])  # the default stream, in DLPack's numbers
        transpose(x, out, stream=99)
        self.assertEqual((x.streams[-1], launched()[2]), (99, 99))
        transpose(Capsules((30, 50), strides=(64, 1), code=5, bits=64),
                  Capsules((50, 30), pointer=1 << 22, code=5, bits=64))
        self.assertEqual(self.made(), "30x50:b8,ld_src=64")

    def test_one_kind_into_another(self):
        transpose(Interface((30, 50)), Capsules((50, 30)))
        self.assertEqual(launched(), (1 << 21, 1 << 20, 0))

    def test_new_array(self):
        self.assertIsInstance(transpose(Member((30, 50))), Member)
        self.assertEqual(launched()[0], 1 << 23)
        with self.assertRaisesRegex(TypeError, "give `out`"):
            transpose(Interface((30, 50)))

    def test_cupy(self):
        """With a stand-in: repeated calls take a short way, which gives the same."""
        class Array(Interface):
            made = 0

            def __init__(self, shape, dtype, pointer=None):
                Array.made += 1
                pointer = pointer or (1 << 24) + 4096 * Array.made
                self.shape, self.dtype, self.itemsize = tuple(shape), dtype, dtype.size
                self.data = types.SimpleNamespace(ptr=pointer, device_id=0)
                self.device = types.SimpleNamespace(id=0)
                self.strides = tuple(dtype.size * math.prod(self.shape[i + 1:]) for i in range(len(self.shape)))

        Array.__module__ = "cupy"
        stream = types.SimpleNamespace(ptr=31)
        cuda = types.SimpleNamespace(get_current_stream=lambda: stream,
                                     runtime=types.SimpleNamespace(getDevice=lambda: 0))
        dtype = collections.namedtuple("Type", "size str")(8, "<f8")
        with mock.patch.dict(sys.modules, cupy=types.SimpleNamespace(cuda=cuda, ndarray=Array, empty=Array)):
            for turn in range(3):
                stream.ptr += turn
                for x, dims in (Array((30, 50), dtype, 1 << 20), None), (Array((2, 3, 4), dtype, 1 << 20), [2, 0, 1]), \
                        (Array((30, 50), dtype, (1 << 20) + 8), None):
                    y = transpose(x) if dims is None else permute(x, dims)
                    self.assertEqual(launched(), (y.data.ptr, x.data.ptr, stream.ptr))
                    self.assertEqual(y.shape, (50, 30) if dims is None else (4, 2, 3))
        self.assertEqual(len(_calls._plans), 3)
        self.assertEqual(len(_calls._known), 3)

    def test_refused(self):
        square, other = Interface((40, 40)), {"pointer": 1 << 22}
        for x, out, kind, words in (
                (Interface((30, 50)), Interface((30, 50), **other), ValueError, r"shape \(30, 50\)"),
                (Interface((30, 50)), Interface((50, 30), "<f8", **other), TypeError, "another type"),
                (Interface((30, 50)), Interface((50, 30), "<i4", **other), TypeError, "another type"),
                (Interface((30, 50)), Interface((50, 30), readonly=True, **other), ValueError, "read-only"),
                (Interface((30, 50)), Interface((50, 30), pointer=1024), ValueError, "device 1"),
                (Interface((30, 50), mask=1), Interface((50, 30), **other), TypeError, "mask"),
                (Interface((30, 50), strides=(201, 4)), Interface((50, 30), **other), TypeError, "multiples"),
                (Interface((30,)), Interface((30,), **other), ValueError, "two axes"),
                (Interface((30, 50), pointer=1 << 20 | 2), Interface((50, 30), **other), AutotuneError, "a multiple"),
                (square, Interface((40, 40), strides=(0, 4), **other), ValueError, "overlap"),
                (square, Interface((40, 40), strides=(80, 4), **other), AutotuneError, "overlap"),
                (Capsules((30, 50), device=(1, 0)), Capsules((50, 30)), TypeError, "device type 1"),
                (Capsules((30, 50), bits=4), Capsules((50, 30), bits=4), TypeError, "4 bits")):
            with self.subTest(words=words), self.assertRaisesRegex(kind, words):
                transpose(x, out)
        with self.assertRaisesRegex(ValueError, "no permutation"):
            permute(square, (0, 0), square)
        for dims in (0.0, 1), "01", 5:
            with self.assertRaisesRegex(TypeError, "dims has to be a sequence of integers"):
                permute(square, dims, square)

    def test_empty(self):
        before, out = get("launches"), Interface((50, 0), pointer=0)
        self.assertIs(transpose(Interface((0, 50), pointer=0), out), out)
        self.assertEqual(get("launches"), before)

    def test_in_place(self):
        square = Interface((2, 40, 40))
        self.assertIs(transpose(square, square), square)
        self.assertEqual(self.made(), "40x40:b4,batch=2,inplace=1")
        wide, tall = Interface((30, 50)), Interface((50, 30))
        self.assertIs(transpose(wide, tall), tall)
        self.assertEqual(self.made(), "30x50:b4,inplace=1")

        class Reshaped(Interface):
            shape = (7, 30, 50)

            def reshape(self, *shape, pointer=1 << 20):
                return Interface(shape, pointer=pointer)

        self.assertEqual(transpose_(Reshaped((7, 30, 50))).__cuda_array_interface__["shape"], (7, 50, 30))
        self.assertEqual(self.made(), "30x50:b4,batch=7,inplace=1")

        class Copied(Reshaped):
            def reshape(self, *shape):
                return Interface(shape, pointer=1 << 22)

        with self.assertRaisesRegex(ValueError, "dense"):
            transpose_(Copied((7, 30, 50)))

    def test_permutations_in_place(self):
        class Reshaped(Interface):
            def __init__(self, shape):
                super().__init__(shape)
                self.shape = shape

            def reshape(self, *shape):
                return Reshaped(shape)

        for dims, problem in ((0, 2, 1), "30x50:b4,batch=7"), ((1, 2, 0), "7x1500:b4"), ((2, 0, 1), "210x50:b4"), \
                ((1, 0, 2), "7x30x50:b4,perm=102"), ((2, 1, 0), "7x30x50:b4,perm=210"):
            result = permute_(Reshaped((7, 30, 50)), dims)
            self.assertEqual(self.made(), f"{problem},inplace=1")
            self.assertEqual(result.shape, tuple((7, 30, 50)[dim] for dim in dims))
            clear_plans()

    def test_strides_below_1(self):
        """Rows that are broadcast, reversed axes and sliding windows: addresses are those of the first elements."""
        end, out = (1 << 20) + 4 * 1499, Interface((50, 30), pointer=1 << 22)
        for pointer, strides in (1 << 20, (0, 4)), (1 << 20, (4, 0)), (end - 4 * 49, (-200, 4)), (end, (-200, -4)), \
                (1 << 20, (4, 4)):
            transpose(Interface((30, 50), pointer=pointer, strides=strides), out)
            self.assertEqual(launched()[:2], (1 << 22, pointer), strides)
            wanted = tuple(stride // 4 for stride in strides)
            self.assertEqual(list(_calls._plans)[-1][1].strides, wanted)
        transpose(Interface((30, 50)), Interface((50, 30), pointer=(1 << 22) + 120 * 49, strides=(-120, 4)))
        self.assertEqual(launched()[:2], (1 << 22, (1 << 20) + 4 * 49))  # the other side goes backwards
        with self.assertRaisesRegex(ValueError, "overlap"):
            transpose(Interface((30, 50)), Interface((50, 30), pointer=1 << 22, strides=(0, 4)))
        with self.assertRaisesRegex(ValueError, "source and out overlap"):
            transpose(Interface((30, 50), pointer=end, strides=(-200, -4)), Interface((50, 30), pointer=1 << 20))

    def test_overlaps(self):
        """Source and result share no memory, or are one."""
        base = 1 << 20
        for begin, strides, words in ((64, None, "overlap"), (-64, None, "overlap"), (6000, None, None),
                                      (-6000, None, None), (200, (400, 4), "overlap")):
            with self.subTest(begin=begin, strides=strides):
                x, out = Interface((30, 50)), Interface((50, 30), pointer=base + begin, strides=strides)
                if words:
                    self.assertRaisesRegex(ValueError, words, transpose, x, out)
                else:
                    transpose(x, out)
        # Two halves of the same rows, every other matrix, and every other column: they interleave.
        for x, out in (
                (Interface((30, 50), strides=(400, 4)), Interface((50, 30), pointer=base + 200, strides=(400, 4))),
                (Interface((7, 30, 50), strides=(12000, 200, 4)),
                 Interface((7, 50, 30), pointer=base + 6000, strides=(12000, 120, 4))),
                (Interface((30, 50), strides=(400, 8)), Interface((50, 30), pointer=base + 4, strides=(240, 8)))):
            transpose(x, out)
            self.assertRaisesRegex(ValueError, "overlap", transpose, x, Interface(
                out.__cuda_array_interface__["shape"], pointer=base + 8, strides=out.__cuda_array_interface__["strides"]))
        self.assertRaisesRegex(ValueError, r"out\[1\] overlaps", transpose, Interface((30, 50)),
                               (Interface((50, 30), pointer=1 << 22), Interface((30, 50), pointer=(1 << 22) + 5996)),
                               both=True)

    def test_any_address(self):
        """A view that begins at an odd element gets a plan of its own."""
        out = Interface((50, 30), pointer=1 << 22)
        transpose(Interface((30, 50)), out)
        transpose(Interface((30, 50), pointer=(1 << 20) + 4), out)
        self.assertEqual(len(_calls._plans), 2)
        self.assertEqual({problem.align for _, problem in _calls._plans}, {16, 4})

    def test_streams(self):
        class Protocol:
            def __cuda_stream__(self):
                return 0, 71

        class PyTorch:
            cuda_stream = 72

        class CuPy:
            ptr = 73

        class Numba:
            handle = ctypes.c_void_p(74)

        out = Interface((50, 30), pointer=1 << 22)
        for stream, number in (70, 70), (Protocol(), 71), (PyTorch(), 72), (CuPy(), 73), (Numba(), 74):
            transpose(Interface((30, 50)), out, stream=stream)
            self.assertEqual(launched()[2], number)
        with self.assertRaisesRegex(TypeError, "no stream"):
            transpose(Interface((30, 50)), out, stream="fast")

    def test_stream_of_the_array(self):
        """It is the current one; another one waits for it."""
        x, out = Interface((30, 50), stream=55), Interface((50, 30), pointer=1 << 22)
        before = get("waits")
        transpose(x, out)
        self.assertEqual((launched()[2], get("waits")), (55, before))
        transpose(x, out, stream=56)
        self.assertEqual((launched()[2], get("waits")), (56, before + 1))

    def test_capture(self):
        x, out = Interface((30, 50)), Interface((50, 30), pointer=1 << 22)
        put("capturing", 1)
        try:
            with self.assertRaisesRegex(AutotuneError, "call this once before"):
                transpose(x, out, stream=5)
            put("capturing", 0)
            transpose(x, out, stream=5)
            put("capturing", 1)
            transpose(x, out, stream=5)
        finally:
            put("capturing", 0)

    def test_threads_without_a_context(self):
        plan = Plan(Problem((30, 50), 4))
        put("without_context", 1)
        try:
            before = get("launches")
            thread = threading.Thread(target=plan.execute, args=(1 << 22, 1 << 20))
            thread.start()
            thread.join()
            self.assertEqual((get("launches"), get("pushed")), (before + 1, 0))
        finally:
            put("without_context", 0)

    def test_plan(self):
        plan = Plan(Problem((30, 50), 4))
        self.assertIn("30x50:b4 on NVIDIA H200", str(plan))
        plan.execute(1 << 22, 1 << 20, 7)
        self.assertEqual((launched(), plan.device), ((1 << 22, 1 << 20, 7), 0))
        for dst, src, words in (1 << 22, 0, "a multiple"), ((1 << 22) + 1, 1 << 20, "a multiple"), \
                (1 << 20, 1 << 20, "one, and the plan was made for two"):
            with self.assertRaisesRegex(AutotuneError, words) as caught:
                plan.execute(dst, src)
            self.assertEqual(caught.exception.status, Status.INVALID)

    def test_plan_with_numbers(self):
        plan = Plan(Problem((30, 50), 8, step="c64,alpha,beta"))
        words = (ctypes.c_double * 7).in_dll(driver, "fake_cuda_last")
        place = ctypes.c_int.in_dll(driver, "fake_cuda_last_at")
        place.value = 9
        try:
            plan.execute_with(1 << 22, 1 << 20, 7, alpha=2 - 3j, beta=At(1 << 24), src2=1 << 21)
        finally:
            place.value = 0
        self.assertEqual((launched(), words[1:3]), ((1 << 22, 1 << 20, 7), [2, -3]))
        self.assertEqual([int.from_bytes(ctypes.c_double(words[i]), "little") for i in (0, 3, 6)], [0, 1 << 24, 1 << 21])
        for given, missing in ({"alpha": 1}, "beta"), ({"beta": 0}, "alpha"), ({"alpha": None, "beta": 1}, "alpha"):
            with self.assertRaisesRegex(TypeError, f"takes {missing}, which is missing"):
                plan.execute_with(1 << 22, 1 << 20, **given)
        with self.assertRaisesRegex(TypeError, "f32,divide takes scale"):
            Plan(Problem((30, 50), 4, step="f32,divide")).execute_with(1 << 22, 1 << 20)
        with self.assertRaisesRegex(AutotuneError, "takes alpha, beta, src2: give that to autotune_plan_execute_with"):
            plan.execute(1 << 22, 1 << 20)
        with self.assertRaisesRegex(AutotuneError, "member scale of the execution"):
            plan.execute_with(1 << 22, 1 << 20, alpha=1, beta=0, scale=2)

    def test_measuring(self):
        """A millisecond is too short for a rival that has to be compiled."""
        self.assertIn("  measured   nothing: ", str(Plan(Problem((30, 50), 4), measure_ms=1)))
        self.assertNotIn("measured   ", str(Plan(Problem((30, 50), 4))))
        with self.assertRaisesRegex(AutotuneError, "measure_ms is -1"):
            Plan(Problem((30, 50), 4), measure_ms=-1)
        self.assertRegex(str(Plan(Problem((30, 50), 4), adapt=True)), "  (adapts  |measured) ")
        with self.assertRaisesRegex(TypeError, "adapt has to be a bool"):
            Plan(Problem((30, 50), 4), adapt=1)
        save_wisdom("/nonexistent/wisdom.yaml")  # nothing was learnt, so nothing is written

    def test_plans_are_freed(self):
        modules = ctypes.c_int.in_dll(driver, "fake_cuda_modules")
        clear_plans()
        before = modules.value
        plan = Plan(Problem((30, 50), 2))
        self.assertGreater(modules.value, before)
        del plan
        gc.collect()
        clear_plans()
        self.assertEqual(modules.value, before)

    def test_clear_plans(self):
        """Kernels go with the calls that used them, but for those that a graph may still run."""
        modules = ctypes.c_int.in_dll(driver, "fake_cuda_modules")
        arrays = Interface((30, 50), "<c16"), Interface((50, 30), "<c16", pointer=1 << 22)
        clear_plans()
        before = modules.value
        for captured in 0, 1:
            transpose(*arrays)
            used = modules.value
            self.assertGreater(used, before)
            put("capturing", captured)
            transpose(*arrays, stream=4096)
            put("capturing", 0)
            clear_plans()
            self.assertEqual((len(_calls._plans), modules.value), (0, used if captured else before))

    def test_threads(self):
        """Many threads make one plan."""
        x, out = Interface((31, 50)), Interface((50, 31), pointer=1 << 22)
        before = get("launches")
        threads = [threading.Thread(target=transpose, args=(x, out)) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((get("launches"), len(_calls._plans)), (before + 16, 1))

    def test_current_device(self):
        self.assertEqual(lookup(Problem((30, 50), 4)).json()["device"], "NVIDIA H200")

    def test_nvrtc_of_the_driver(self):
        """A driver of CUDA 12 gets the compiler of CUDA 12."""
        kept, usual = os.environ.pop("AUTOTUNE_NVRTC", None), _nvrtc.installed
        try:
            for version, wheels, chosen in (12040, {12: "/c12", 13: "/c13"}, "/c12"), \
                    (13000, {12: "/c12", 13: "/c13"}, "/c13"), (13000, {12: "/c12"}, "/c12"), (12040, {13: "/c13"}, None):
                put("version", version)
                _nvrtc.installed = wheels.get
                self.assertEqual(_nvrtc.choose(), chosen)
                self.assertNotIn("AUTOTUNE_NVRTC", os.environ)
        finally:
            _nvrtc.installed = usual
            put("version", 13000)
            if kept:
                os.environ["AUTOTUNE_NVRTC"] = kept


class Outputs(WithPlans):
    """Results as they lie, and the largest magnitude."""

    def setUp(self):
        super().setUp()
        self.words = (ctypes.c_uint64 * 15).in_dll(driver, "fake_cuda_last")
        self.place = ctypes.c_int.in_dll(driver, "fake_cuda_last_at")
        self.place.value = 9
        self.kept, self.largest = Interface((30, 50), pointer=1 << 23), Interface((), pointer=1 << 24)

    def tearDown(self):
        self.place.value = 0
        super().tearDown()

    def given(self):
        """What the last kernel got: the addresses of the second result, of the largest magnitude and of skip."""
        return tuple(self.words[9:12])

    def test_results(self):
        out, wide = Interface((50, 30), pointer=1 << 22), Interface((30, 50), "<f8", 1 << 23)
        narrow = Capsules((50, 30), pointer=1 << 22, code=10, bits=8)
        kept, skip = Capsules((30, 50), pointer=(1 << 23) + 1, code=10, bits=8), Interface((1,), "<i4", 1 << 25)
        gaps, half = (256, 4), Interface((50, 30), "<f2", 1 << 22)
        for x, outs, more, problem, wanted in (
                (Interface((30, 50)), (out, self.kept), {"both": True}, "30x50:f32,both", (1 << 23, 0, 0)),
                (Interface((30, 50)), (out, self.largest), {"amax": True, "both": False}, "30x50:f32,amax",
                 (0, 1 << 24, 0)),
                (Interface((30, 50)), (out, wide, self.largest), {"both": "float64", "amax": "nan", "skip": skip},
                 "30x50:f32,both=f64,amax=nan", (1 << 23, 1 << 24, 1 << 25)),
                (Interface((30, 50)), (narrow, kept, self.largest),
                 {"dtype": "float8_e4m3fn", "scale": 0.5, "both": True, "amax": True},
                 "30x50:f32:e4m3,offset_src=1,offset_dst=1,scale,both,amax", ((1 << 23) + 1, 1 << 24, 0)),
                (Interface((30, 50), strides=gaps), (half, Interface((30, 50), "<f2", 1 << 23, (128, 2))),
                 {"dtype": "float16", "both": True}, "30x50:f32:f16,ld_src=64,both", (1 << 23, 0, 0))):
            with self.subTest(problem=problem):
                self.assertIs(transpose(x, outs, **more), outs)
                self.assertEqual((self.made(), self.given()), (problem, wanted))
                self.assertEqual(self.words[12] != 0, "amax" in problem)
        self.assertEqual({problem.align for _, problem in _calls._plans}, {16, 1})
        transpose(Interface((30, 50)), (out, self.kept), both="float32")
        self.assertEqual(len(_calls._plans), 5)  # as before: it is the type of the first result
        self.place.value = 0  # the numbers of a tensor come elsewhere
        tensor = Interface((2, 3, 4, 5), pointer=1 << 23)
        permute(Interface((2, 3, 4, 5)), (3, 2, 1, 0), (Interface((5, 4, 3, 2), pointer=1 << 22), tensor), both=True)
        self.assertEqual(self.made(), "2x3x4x5:f32,perm=3210,both")

    def test_sums(self):
        words = (ctypes.c_uint64 * 16).in_dll(driver, "fake_cuda_last")
        out, sums = Interface((50, 30), pointer=1 << 22), Interface((50,), pointer=1 << 25)
        for outs, more, problem in ((out, sums), {}, "30x50:f32,sums"), \
                ((out, self.largest, sums), {"amax": True}, "30x50:f32,amax,sums"):
            self.assertIs(transpose(Interface((30, 50)), outs, sums=True, **more), outs)
            self.assertEqual((self.made(), words[15], words[10]), (problem, 1 << 25, (1 << 24) * ("amax" in more)))
            self.assertNotEqual(words[12], 0)  # scratch
        for shape, error in ((3,), TypeError), ((2, 3, 4, 5), ValueError):
            with self.assertRaises(error):
                transpose(Interface((30, 50) if error is TypeError else shape),
                          (out, Interface((49,), pointer=1 << 25)), sums=True)

    def test_new_arrays(self):
        with mock.patch.object(Namespace, "empty", side_effect=Namespace.empty) as empty:
            results = transpose(Member((30, 50)), both=True, amax=True)
        self.assertEqual([call[1]["dtype"] for call in empty.call_args_list], ["its float32"] * 3)
        self.assertEqual([tuple(result.shape) for result in results], [(50, 30), (30, 50), ()])

    def test_new_arrays_of_cupy(self):
        """They have the source's strides, and room for that."""
        class Array(Interface):
            made = []

            def __init__(self, shape, dtype, memory=None, strides=None):
                self.shape, self.itemsize = (shape,) if isinstance(shape, int) else shape, int(dtype[-2:]) // 8
                self.dtype, self.device = types.SimpleNamespace(str=f"<f{self.itemsize}"), types.SimpleNamespace(id=0)
                self.data = memory or types.SimpleNamespace(ptr=(1 << 24) + 65536 * len(self.made))
                dense = (math.prod(self.shape[i + 1:]) * self.itemsize for i in range(len(self.shape)))
                self.strides = strides or tuple(dense)
                self.made.append(self)

        Array.__module__ = "cupy"
        cuda = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=31))
        with mock.patch.dict(sys.modules, cupy=types.SimpleNamespace(cuda=cuda, ndarray=Array, empty=Array)):
            x = Array((30, 50), "float32", strides=(256, 4))
            first, second, largest = transpose(x, dtype="float16", both=True, amax=True)
        self.assertEqual(self.made(), "30x50:f32:f16,ld_src=64,both,amax")
        self.assertEqual((first.shape, first.itemsize, largest.shape, largest.itemsize), ((50, 30), 2, (), 4))
        self.assertEqual((second.shape, second.strides), ((30, 50), (128, 2)))
        self.assertIn((29 * 64 + 50,), [array.shape for array in Array.made])
        self.assertEqual(self.given(), (second.data.ptr, largest.data.ptr, 0))

    def test_refused(self):
        x, out, both = Interface((30, 50)), Interface((50, 30), pointer=1 << 22), {"both": True}
        for outs, more, error, words in (
                (out, both, TypeError, "out has to be a tuple of 2 arrays"),
                ((out, self.kept), {"both": True, "amax": True}, TypeError, "out has to be a tuple of 3 arrays"),
                ((out, Interface((30, 50), "<f2", 1 << 23)), both, TypeError,
                 r"out\[1\] on the device is 1500 numbers of type f32, and this is 1500 of type f16"),
                ((out, self.kept), {"both": "float16"}, TypeError, "1500 numbers of type f16"),
                ((out, Interface((50, 30), pointer=1 << 23)), both, ValueError,
                 r"out\[1\] has to have the shape \(30, 50\) and the strides \(50, 1\)"),
                ((out, Interface((30, 50), pointer=1 << 23, strides=(256, 4))), both, ValueError, r"strides \(50, 1\)"),
                ((out, Interface((30, 50), pointer=64)), both, ValueError, r"out\[1\] is on device 1"),
                ((out, Interface((30, 50), pointer=1 << 23, readonly=True)), both, ValueError, r"out\[1\] is read-only"),
                ((out, x), both, ValueError, r"out\[1\] overlaps another array"),
                ((out, Interface((30, 50), pointer=1 << 22)), both, ValueError, "overlaps another array"),
                ((out, self.kept, Interface((), "<f8")), {"both": True, "amax": True}, TypeError,
                 r"out\[2\] on the device is one number of type f32, and this is 1 of type f64"),
                ((out, Interface((2,), pointer=1 << 24)), {"amax": True}, TypeError, r"out\[1\] .* and this is 2 of"),
                ((out, self.largest), {"amax": "mean"}, ValueError, "amax is 'mean', and has to be True, False or"),
                ((out, self.kept), {"both": True, "skip": Interface((), "<i8", 1 << 25)}, TypeError,
                 "skip on the device is one number of type i32, and this is 1 of type i64"),
                (None, {"both": True, "skip": Interface((), "<i4", 1 << 25)}, TypeError, "skip leaves arrays .*`out`"),
                (out, {"skip": Interface((), "<i4", 1 << 25)}, AutotuneError, "member skip"),
                ((out, self.kept), {"both": True, "beta": 2}, AutotuneError, "do not go with affine and beta"),
                ((out, self.largest), {"amax": True, "channel_scale": Interface((50,), pointer=1 << 25)}, AutotuneError,
                 "do not go with affine and beta")):
            with self.subTest(words=words), self.assertRaisesRegex(error, words):
                transpose(x, outs, **more)
        square = Interface((40, 40))
        with self.assertRaisesRegex(AutotuneError, "in place"):
            transpose(square, (square, self.largest), amax=True)
        with self.assertRaisesRegex(AutotuneError, "amax is for f16"):
            transpose(Interface((30, 50), "<f8"), (Interface((50, 30), "<f8", 1 << 22), self.largest), amax=True)
        with self.assertRaisesRegex(TypeError, "with gaps: give `out`"):
            transpose(Member((30, 50), strides=(64, 1)), both=True)

    def test_empty(self):
        """The largest magnitude of nothing is 0."""
        x, out = Interface((0, 50), pointer=0), Interface((50, 0), pointer=0)
        before, kept = get("launches"), Interface((0, 50), pointer=0)
        transpose(x, (out, kept, self.largest), stream=7, both=True, amax=True)
        self.assertEqual((get("cleared", ctypes.c_uint64), get("cleared_in", ctypes.c_void_p)), (1 << 24, 7))
        self.assertEqual(get("launches"), before)
        with self.assertRaisesRegex(ValueError, "skip does not go with an array without elements"):
            transpose(x, (out, self.largest), amax=True, skip=Interface((), "<i4", 1 << 25))

    def test_scratch(self):
        """Launches that may run at the same time have scratch of their own, which is 0."""
        def scratch(stream, columns=50):
            x, out = Interface((30, columns)), Interface((columns, 30), pointer=1 << 22)
            transpose(x, (out, self.largest), stream=stream, amax=True)
            return self.words[12]

        first = scratch(5)
        self.assertEqual(ctypes.c_uint64.from_address(first).value, 0)
        self.assertEqual((scratch(5), scratch(5, 51)), (first, first))
        others = [scratch(6), scratch(0)]
        put("capturing", 1)
        try:
            others += [scratch(5), scratch(5), scratch(6, 51)]
            with mock.patch.dict(_scratch._unused, {0: []}), self.assertRaisesRegex(AutotuneError, "no scratch left"):
                scratch(5)
        finally:
            put("capturing", 0)
        self.assertEqual(len({first, *others}), 6)
        self.assertTrue(all(address % 8 == 0 for address in others))
        with mock.patch.dict(_scratch._unused, {0: [first + 8]}):
            scratch(5)
            self.assertGreater(len(_scratch._unused[0]), 4000)

    def test_plan(self):
        plan = Plan(Problem((30, 50), 2, step="bf16:e4m3,scale,both,amax"))
        plan.execute_with(1 << 22, 1 << 20, 7, scale=2, dst2=1 << 23, largest=1 << 24, skip=1 << 25, scratch=1 << 21)
        self.assertEqual(self.words[9:13], [1 << 23, 1 << 24, 1 << 25, 1 << 21])
        plan.execute_with(1 << 22, 1 << 20, scale=2, dst2=1 << 23, largest=1 << 24)
        self.assertNotIn(self.words[12], (0, 1 << 21))
        with self.assertRaisesRegex(AutotuneError, "dst2 must be a device address"):
            plan.execute_with(1 << 22, 1 << 20, scale=2, largest=1 << 24)

    def test_plan_with_blocks(self):
        plan = Plan(Problem((30, 50), 2, step="bf16:e4m3,blocks=1x32,both"))
        plan.execute_with(1 << 22, 1 << 20, 7, dst2=1 << 23, block_scales=1 << 24, block_scales2=1 << 25, skip=1 << 26)
        self.assertEqual((self.words[9], *self.words[11:12], *self.words[13:]), (1 << 23, 1 << 26, 1 << 24, 1 << 25))
        for missing in "dst2", "block_scales", "block_scales2":
            given = dict.fromkeys(("dst2", "block_scales", "block_scales2"), 1 << 23)
            with self.assertRaisesRegex(AutotuneError, f"{missing} must be a device address"):
                plan.execute_with(1 << 22, 1 << 20, **{**given, missing: 0})

    def test_blocks(self):
        def fp8(shape, pointer, strides=None, code=10):
            return Capsules(shape, pointer, strides, code, 8)

        f32 = Interface((50, 1), pointer=1 << 24), Interface((30, 2), pointer=1 << 25)
        asked = {"dtype": "float8_e4m3fn", "blocks": (1, 32)}
        for x, outs, more, problem in (
                (Interface((30, 50)), (fp8((50, 30), 1 << 22), f32[0]), {}, "30x50:f32:e4m3,blocks=1x32"),
                (Interface((30, 50)), (fp8((50, 30), 1 << 22), fp8((30, 50), 1 << 23), *f32),
                 {"both": True, "scales": "te", "layout": "plain"}, "30x50:f32:e4m3,both,blocks=1x32"),
                (Interface((30, 50), "<f2", strides=(128, 2)),
                 (fp8((50, 30), 1 << 22, (40, 1)), fp8((30, 50), 1 << 23, (64, 1), 12), *f32),
                 {"both": "float8_e5m2", "scales": "torchao"},
                 "30x50:f16:e4m3,ld_src=64,ld_dst=40,both=e5m2,blocks=1x32,scales=torchao"),
                (Interface((7, 30, 50)), (fp8((7, 50, 30), 1 << 22), fp8((7, 1, 50), 1 << 24, code=14)),
                 {"scales": "floor", "layout": "transposed"},
                 "30x50:f32:e4m3,batch=7,blocks=1x32,scales=floor,layout=transposed"),
                (Interface((30, 50)), (fp8((50, 30), 1 << 22), Interface((512,), "|u1", 1 << 24)),
                 {"scales": "rceil", "layout": "swizzled"}, "30x50:f32:e4m3,blocks=1x32,scales=rceil,layout=swizzled")):
            with self.subTest(problem=problem):
                self.assertIs(transpose(x, outs, **asked, **more), outs)
                self.assertEqual((self.made(), self.words[13]), (problem, 1 << 24))
                self.assertEqual(self.words[14], (1 << 25) * (len(outs) == 4))

    def test_results_of_4_bits(self):
        """Two in a byte. Problems count results."""
        def scales(shape, pointer):
            return Capsules(shape, pointer, None, 10, 8)

        def packed(shape, pointer=1 << 22, strides=None):
            return Interface(shape, "|u1", pointer, strides)

        asked, largest = {"dtype": "uint8", "blocks": (1, 16), "scales": "nvfp4"}, Interface((1,), pointer=1 << 26)
        for x, outs, more, problem in (
                (Interface((30, 50)), (packed((50, 15)), scales((50, 2), 1 << 24)), {},
                 "30x50:f32:e2m1,blocks=1x16,scales=nvfp4"),
                (Interface((31, 50)), (packed((50, 16)), scales((50, 2), 1 << 24)), {"tensor_amax": largest},
                 "31x50:f32:e2m1,ld_dst=32,blocks=1x16,scales=nvfp4"),
                (Interface((7, 30, 50)), (packed((7, 50, 15), strides=(1000, 20, 1)), packed((7, 30, 25), 1 << 23),
                                          scales((7, 50, 2), 1 << 24), scales((7, 30, 4), 1 << 25)),
                 {"both": True, "tensor_amax": largest},
                 "30x50:f32:e2m1,ld_dst=40,batch=7,both,blocks=1x16,scales=nvfp4"),
                (Interface((30, 50), strides=(256, 4)),
                 (packed((50, 15)), Capsules((30, 50), 1 << 23, (64, 1), 10, 8), Interface((50, 2), "|u1", 1 << 24),
                  Interface((30, 4), "|u1", 1 << 25)),
                 {"both": "float8_e4m3fn", "scales": "floor"},
                 "30x50:f32:e2m1,ld_src=64,both=e4m3,blocks=1x16,scales=floor")):
            with self.subTest(problem=problem):
                self.assertIs(transpose(x, outs, **{**asked, **more}), outs)
                self.assertEqual((self.made(), self.words[13]), (problem, 1 << 24))
                self.assertEqual(self.words[0], (1 << 26) * ("tensor_amax" in more))
        x = Interface((30, 51))
        outs = packed((51, 15)), packed((30, 26), 1 << 23), scales((51, 2), 1 << 24), scales((30, 4), 1 << 25)
        with self.assertRaisesRegex(AutotuneError, "have to be even, as with ld_src=52"):
            transpose(x, outs, both=True, **asked)
        with self.assertRaisesRegex(TypeError, "tensor_amax on the device is one number of type f32, and this is 2"):
            transpose(x, (outs[0], outs[2]), tensor_amax=Interface((2,), pointer=1 << 26), **asked)

    def test_blocks_refused(self):
        x, out, scales = Interface((30, 50)), Capsules((50, 30), 1 << 22, None, 10, 8), Interface((50, 1), pointer=1 << 24)
        asked = {"dtype": "float8_e4m3fn", "blocks": (1, 32)}
        for source, outs, more, kind, words in (
                (x, (out, Interface((50, 2), pointer=1 << 24)), {}, TypeError, "50 numbers of type f32, and this is 100"),
                (x, (out, Interface((50, 1), "|u1", 1 << 24)), {}, TypeError, "and this is 50 of type u8"),
                (x, (out, Interface((50, 1), pointer=1 << 24)), {"layout": "transposed"}, ValueError, r"\(1, 50\)"),
                (x, (out, Interface((50, 1), pointer=(1 << 24) + 4)), {}, AutotuneError, "a multiple of 16"),
                (x, (out, scales), {"blocks": (1, 200)}, AutotuneError, "blocks is .1x200."),
                (x, (out, scales), {"tensor_amax": scales}, TypeError, "tensor_amax is for the scales nvfp4"),
                (x, (out, scales), {"blocks": None, "tensor_amax": scales}, TypeError, "of blocks, which are missing"),
                (x, (out, scales), {"dtype": "float16"}, TypeError, "dtype is float16"),
                (Interface((30, 50), strides=(4, 120)), (out, scales), {}, ValueError, "of a row have to be neighbours"),
                (Interface((2, 3, 30, 50)), (out, scales), {}, ValueError, "blocks are of matrices")):
            with self.subTest(words=words), self.assertRaisesRegex(kind, words):
                transpose(source, outs, **{**asked, **more})


if __name__ == "__main__":
    unittest.main()
