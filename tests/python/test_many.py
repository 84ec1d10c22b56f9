# SPDX-License-Identifier: Apache-2.0
"""Lists of arrays and groups of rows, with a driver that runs nothing (driver.c): what the kernel is given. Lists are
carried out here, element by element."""
import ctypes
import itertools
import random
import struct
import unittest
from unittest import mock

from test_arrays import Capsules, Interface, Member, Namespace, WithPlans, driver, get, launched, put
from transpose_autotune import AutotuneError, transpose_many, transpose_ragged
from transpose_autotune import _calls
from transpose_autotune._arrays import dense
from transpose_autotune._groups import parts_of

WORDS = 14  # of autotune_matrix


class Parts(unittest.TestCase):
    """The matrices of a tensor move each element to its place, once."""

    def moved(self, part):
        """Pairs of places, in the source and in the result."""
        rows, cols, ld_src, ld_dst, *batch = part.numbers
        if rows == 0:
            return
        self.assertTrue(rows == 1 or ld_src >= cols and ld_src > 0, part)
        self.assertTrue(cols == 1 or ld_dst >= rows and ld_dst > 0, part)
        for i, k, r, c in itertools.product(range(batch[0]), range(batch[1]), range(rows), range(cols)):
            yield (part.src + i * batch[2] + k * batch[3] + r * ld_src + c,
                   part.dst + i * batch[4] + k * batch[5] + c * ld_dst + r)

    def check(self, shape, strides, out_strides, dims, count=None):
        parts = parts_of(shape, strides, out_strides, dims)
        found = sorted(pair for part in parts for pair in self.moved(part))
        wanted = sorted((sum(at[dim] * strides[dim] for dim in range(len(shape))),
                         sum(at[dim] * out_strides[axis] for axis, dim in enumerate(dims)))
                        for at in itertools.product(*map(range, shape)))
        self.assertEqual(found, wanted, (shape, strides, out_strides, dims))
        if count:
            self.assertEqual(len(parts), count)
        return parts

    def test_dense(self):
        for rank in 2, 3, 4:
            for dims in itertools.permutations(range(rank)):
                for shape in ((2, 3, 4, 5), (1, 5, 1, 3), (3, 1, 1, 1), (1,) * 4, (2, 0, 3, 1)):
                    shape = shape[:rank]
                    self.check(shape, dense(shape), dense([shape[dim] for dim in dims]), dims)

    def test_any_strides(self):
        """Also of sources that go backwards, or have elements in common."""
        random_ = random.Random(1)
        for _ in range(3000):
            rank = random_.choice((2, 3, 4))
            shape = tuple(random_.choice((1, 2, 3, 5)) for _ in range(rank))
            dims, order, strides, stride = *(random_.sample(range(rank), rank) for _ in range(2)), [0] * rank, 1
            strides = tuple(random_.choice((0, 1, 1, 2, -1, 3, 7, 40)) for _ in shape) if random_.random() < 0.5 \
                else dense(shape)
            out_strides = [0] * rank
            for axis in order:
                stride *= random_.choice((1, 1, 1, 2))
                out_strides[axis] = stride
                stride *= shape[dims[axis]]
            self.check(shape, strides, tuple(out_strides), tuple(dims))

    def test_few(self):
        """Axes that lie as one become one, and what is copied is a run."""
        for shape, dims, numbers in (
                ((700, 1000), (1, 0), (700, 1000, 1000, 700, 1, 1, 1, 1, 1, 1)),
                ((2, 30, 40, 64), (0, 3, 1, 2), (1200, 64, 64, 1200, 1, 2, 1, 76800, 1, 76800)),
                ((8, 4, 5, 64), (0, 2, 1, 3), None),
                ((2, 3, 4), (0, 1, 2), (1, 24, 24, 1, 1, 1, 1, 1, 1, 1))):
            part = self.check(shape, dense(shape), dense([shape[dim] for dim in dims]), dims, 4 if numbers is None else 1)
            if numbers:
                self.assertEqual(part[0].numbers, numbers)

    def test_overlapping(self):
        for strides in (0, 1), (2, 1), (1, 1):
            with self.assertRaisesRegex(ValueError, "overlap"):
                parts_of((3, 4), (4, 1), strides, (1, 0))


class WithKernel(WithPlans):
    """What the last launch was given."""
    words = (ctypes.c_uint64 * 17).in_dll(driver, "fake_cuda_last")
    place = ctypes.c_int.in_dll(driver, "fake_cuda_last_at")

    def setUp(self):
        super().setUp()
        self.place.value = 2
        self.addCleanup(setattr, self.place, "value", 0)

    def matrices(self):
        """Of a list: its matrices."""
        at, count, _ = self.words[:3]
        words = (ctypes.c_int64 * (WORDS * count)).from_address(at)
        return [tuple(words[i:i + WORDS]) for i in range(0, len(words), WORDS)]


def bits(value):
    return int.from_bytes(struct.pack("<d", value), "little")


class Lists(WithKernel):
    xs = [Interface((30, 50)), Interface((0, 7), pointer=0), Interface((1, 1), pointer=1 << 21),
          Capsules((4, 3, 20), 3 << 20), Interface((30, 50), pointer=4 << 20, strides=(256, 4))]
    out = [Interface((50, 30), pointer=1 << 24), Interface((7, 0), pointer=0), Interface((1, 1), pointer=1 << 25),
           Capsules((4, 20, 3), 3 << 24), Interface((50, 30), pointer=4 << 24, strides=(160, 4))]

    def test_list(self):
        before = get("launches")
        self.assertIs(transpose_many(self.xs, self.out, 7), self.out)
        self.assertEqual((get("launches"), launched()[2]), (before + 1, 7))
        self.assertEqual(self.matrices(), [
            (1 << 24, 1 << 20, 0, 0, 30, 50, 50, 30, *[1] * 6), (0,) * WORDS,
            (1 << 25, 1 << 21, 0, 0, 1, 1, 1, 1, *[1] * 6), (3 << 24, 3 << 20, 0, 0, 3, 20, 20, 3, 1, 4, 1, 60, 1, 60),
            (4 << 24, 4 << 20, 0, 0, 30, 50, 64, 40, *[1] * 6)])

    def test_permutation(self):
        transpose_many([Interface((2, 6, 8, 16))], [Interface((2, 16, 6, 8), pointer=1 << 24)], dims=(0, -1, 1, 2))
        self.assertEqual(self.matrices(), [(1 << 24, 1 << 20, 0, 0, 48, 16, 16, 48, 1, 2, 1, 768, 1, 768)])

    def test_steps(self):
        """Numbers, and places of results of several sizes."""
        xs = Interface((30, 50), "<f4"), Interface((60, 20), "<f4", 1 << 21)
        first = [Interface((50, 30), "<f2", 1 << 24), Interface((20, 60), "<f2", 1 << 25)]
        kept = [Interface((30, 50), "<f8", 3 << 24), Interface((60, 20), "<f8", 1 << 26)]
        for out, more, number in (
                (first, {"dtype": "float16", "scale": 0.5}, (0, bits(0.5))),
                (first, {"dtype": "float16", "scale": Interface((2,), "<f4", 1 << 27)}, (1 << 27, 0)),
                (first, {"dtype": "float16", "alpha": 2, "skip": Interface((), "<i4", 1 << 28)}, (0, bits(2))),
                ((first, kept), {"dtype": "float16", "both": "float64", "scale": 3}, (0, bits(3)))):
            with self.subTest(more=more):
                self.assertIs(transpose_many(xs, out, **more), out)
                self.assertEqual([one[:3] for one in self.matrices()], [
                    (1 << 24, 1 << 20, (3 << 24) * ("both" in more)), (1 << 25, 1 << 21, (1 << 26) * ("both" in more))])
                self.assertEqual(self.words[2], (1 << 28) * ("skip" in more))
                self.place.value = 3
                transpose_many(xs, out, **more)
                self.place.value = 2
                self.assertEqual(tuple(self.words[:2]), number)

    def test_channels(self):
        """One array for all, or a row for each. Rows and columns stay what they are, also of a single column."""
        xs = Interface((30, 50), "<f4"), Interface((4, 60, 1), "<f4", 1 << 21), Interface((0, 7), "<f4", 0)
        out = [Interface((50, 30), "<f4", 1 << 24), Interface((4, 1, 60), "<f4", 1 << 25), Interface((7, 0), "<f4", 0)]

        def numbers(*shape, at=1 << 27):
            return Interface(shape, "<f4", at)

        for more, scale, shift, stride in (
                ({"channel_scale": numbers(50)}, 1 << 27, 0, 0),
                ({"channel_shift": numbers(3, 50)}, 0, 1 << 27, 50),
                ({"channel_scale": numbers(3, 60), "channel_shift": numbers(3, 60, at=1 << 28), "channel_axis": -2},
                 1 << 27, 1 << 28, 60)):
            with self.subTest(more=more):
                transpose_many(xs, out, **more)
                self.assertEqual(self.matrices(), [
                    (1 << 24, 1 << 20, 0, 0, 30, 50, 50, 30, *[1] * 6),
                    (1 << 25, 1 << 21, 0, 0, 60, 1, 1, 60, 1, 4, 1, 60, 1, 60), (0,) * WORDS])
                self.place.value = 3
                transpose_many(xs, out, **more)
                self.place.value = 2
                self.assertEqual((self.words[7], self.words[8], self.words[16]), (scale, shift, stride))
        apart = [Interface((30, 50), "<f4", strides=(4, 120))]
        for lists, more, words in (
                ((xs, out), {"channel_scale": numbers(50), "channel_axis": 1}, "channel_axis is 1, and has to be -1"),
                ((xs, out), {"channel_scale": numbers(2, 50)}, "50 numbers of type f32, and this is 100"),
                ((xs, out), {"channel_scale": numbers(50), "channel_shift": numbers(3, 50)}, "different shapes"),
                ((xs[:1], out[:1]), {"channel_scale": numbers(50), "dims": (0, 1)}, "dims cannot be given|out has shape"),
                ((apart, out[:1]), {"channel_scale": numbers(50)}, "elements of a row have to be neighbours")):
            with self.subTest(words=words), self.assertRaisesRegex((ValueError, TypeError), words):
                transpose_many(*lists, **more)

    def test_many_parts(self):
        """Three axes beside a run take matrices of their own."""
        x, out = [Interface((8, 4, 5, 64))], [Interface((5, 4, 8, 64), pointer=1 << 24)]
        transpose_many(x, out, dims=(2, 1, 0, 3))
        found = self.matrices()
        self.assertEqual(len(found), 4)
        self.assertEqual([one[1] for one in found], [(1 << 20) + 4 * 5 * 64 * i for i in range(4)])
        with self.assertRaisesRegex(ValueError, "too many axes"):
            transpose_many(x, out, dims=(2, 1, 0, 3), scale=Interface((1,), pointer=1 << 25))

    def test_nothing(self):
        before = get("launches")
        self.assertEqual(transpose_many([]), [])
        self.assertEqual(transpose_many([], both=True), ([], []))
        transpose_many(self.xs[1:2], self.out[1:2])
        self.assertEqual(get("launches"), before)

    def test_new_arrays(self):
        first, second = transpose_many([Member((30, 50))], both=True)
        self.assertEqual((len(first), len(second)), (1, 1))
        self.assertEqual(self.matrices()[0][:3], (1 << 23, 1 << 21, 1 << 24))

    def test_plans(self):
        """Lists that are alike share one. Alignment, number and size make others."""
        def plans(count, rows, pointer=1 << 20):
            xs = [Interface((rows + 16 * (i % 3), 40), pointer=pointer + 65536 * i) for i in range(count)]
            transpose_many(xs, [Interface((40, rows + 16 * (i % 3)), pointer=(1 << 28) + 65536 * i) for i in range(count)])
            return len(_calls._plans)

        self.assertEqual([plans(5, 40), plans(6, 24), plans(7, 40), plans(9, 40), plans(5, 400),
                          plans(5, 40, (1 << 20) + 4)], [1, 1, 1, 2, 3, 4])

    def test_room(self):
        """Of a stream; of a captured launch, whose list is there at once and stays."""
        def room(stream, count=1):
            transpose_many(self.xs[:1] * count, self.out[:1] * count, stream)
            return self.words[0]

        room(5, 3)
        first = room(5)
        self.assertEqual(room(5), first)
        self.assertNotEqual(room(6), first)
        self.assertNotEqual(room(5, 100), first)
        put("capturing", 1)
        try:
            captured = room(5)
            self.assertEqual(len({first, captured, room(5), room(6)}), 4)
            self.words[0], self.words[1] = captured, 1
            self.assertEqual(self.matrices()[0][:2], (1 << 24, 1 << 20))
            with self.assertRaisesRegex(AutotuneError, "call this once before"):
                room(5, 10000)
        finally:
            put("capturing", 0)

    def test_refused(self):
        x, out, half = Interface((30, 50)), Interface((50, 30), pointer=1 << 24), {"dtype": "float16"}
        for xs, outs, more, kind, words in (
                ([x], out, {}, TypeError, "has no len"), ([x], [], {}, TypeError, "a list of 1 arrays"),
                ([x], [out], {"both": True}, TypeError, "a tuple of 2 lists of 1 arrays"),
                ([x], [x], {}, ValueError, "out has shape"),
                ([x], [Interface((50, 30), "<f2", 1 << 24)], {}, TypeError, "give `dtype` to cast"),
                ([x], [Interface((50, 30), pointer=1 << 24, strides=(4, 4))], {}, ValueError, "overlap"),
                ([x, Interface((30, 50), "<f2", 1 << 21)], [out, Interface((50, 30), "<f2", 1 << 25)], {}, TypeError,
                 "array 1 of the list has another type"),
                ([Interface((2, 2))], [Interface((2, 2))], {}, ValueError, "array 0 of out is the source"),
                ([Interface((1,) * 5)], [Interface((1,) * 5, pointer=1 << 24)], {}, ValueError, "at most 4"),
                ([x], [out], {"dims": (0, 0)}, ValueError, "no permutation"),
                ([x], None, {}, TypeError, "give `out`"),
                ([x], None, {"skip": x}, TypeError, "skip leaves arrays"),
                ([x], [Interface((50, 30), "<f2", 1 << 24)], {**half, "scale": Interface((2,), "<f4")}, TypeError,
                 "one number of type f32, and this is 2"),
                ([Interface((30, 50), pointer=1 << 20 | 2)], [out], {}, AutotuneError, "no multiple of the element"),
                ([Interface((30, 50), "|V3")], [Interface((50, 30), "|V3", 1 << 24)], {}, AutotuneError, "bytes")):
            with self.subTest(words=words), self.assertRaisesRegex(kind, words):
                transpose_many(xs, outs, **more)


class Ragged(WithKernel):
    x, offsets = Interface((1000, 48), "<f2"), Interface((9,), "<i8", 1 << 23)

    def test_groups(self):
        """kept, second, offsets, bytes of one, groups, columns, leading dimension, padding, most rows, stacked, overflow, skip."""
        flag, skip = Interface((), "<i4", 1 << 27), Interface((), "<i4", 1 << 28)
        apart, short = Interface((1000, 48), "<f2", strides=(128, 2)), Interface((9,), "<i4", 1 << 23)

        def flat(rows, kind="<f2"):
            return Interface((48 * rows,), kind, 1 << 24)

        for x, offsets, out, more, wanted in (
                (self.x, self.offsets, flat(1000), {}, (0, 0, 1 << 23, 8, 8, 48, 48, 1, 1000, 0, 0, 0)),
                (apart, short, flat(1120), {"padding": 16}, (0, 0, 1 << 23, 4, 8, 48, 64, 16, 1120, 0, 0, 0)),
                (self.x, self.offsets, (flat(640), flag), {"padding": 32, "most_rows": 640, "overflow": True},
                 (0, 0, 1 << 23, 8, 8, 48, 48, 32, 640, 0, 1 << 27, 0)),
                (self.x, self.offsets, Interface((8, 48, 256), "<f2", 1 << 24), {"stacked_rows": 256, "skip": skip},
                 (0, 0, 1 << 23, 8, 8, 48, 48, 1, 256, 1, 0, 1 << 28)),
                (self.x, self.offsets, (flat(1000, "<f4"), Interface((1000, 48), "<f2", 1 << 26)),
                 {"dtype": "float32", "both": "float16", "scale": Interface((8,), "<f4", 1 << 25)},
                 (1 << 26, 0, 1 << 23, 8, 8, 48, 48, 1, 1000, 0, 0, 0))):
            with self.subTest(more=more):
                before = get("launches")
                self.assertIs(transpose_ragged(x, offsets, out, 7, **more), out)
                self.assertEqual((get("launches"), launched()), (before + 1, (1 << 24, 1 << 20, 7)))
                self.assertEqual(tuple(self.words[:12]), wanted)
                if "overflow" in more:
                    self.assertEqual((get("cleared", ctypes.c_uint64), get("cleared_in", ctypes.c_void_p)), (1 << 27, 7))

    def test_channels(self):
        """A number for each column, or such a row for each group; or a number for each row of all groups."""
        out = Interface((48000,), "<f2", 1 << 24)

        def numbers(*shape):
            return Interface(shape, "<f4", 1 << 27)

        self.place.value = 3
        for more, stride in (({"channel_scale": numbers(48)}, 0), ({"channel_scale": numbers(8, 48)}, 48),
                             ({"channel_scale": numbers(1000), "channel_axis": -2}, 0),
                             ({"channel_scale": numbers(1000), "channel_axis": 0}, 0)):
            with self.subTest(more=more):
                transpose_ragged(self.x, self.offsets, out, **more)
                self.assertEqual((self.words[7], self.words[8], self.words[16]), (1 << 27, 0, stride))
        for more, words in (({"channel_shift": numbers(1000)}, "48 numbers of type f32, and this is 1000"),
                            ({"channel_shift": numbers(48), "channel_axis": -3}, "channel_axis is -3")):
            with self.subTest(words=words), self.assertRaisesRegex((ValueError, TypeError), words):
                transpose_ragged(self.x, self.offsets, out, **more)

    def test_new_arrays(self):
        made = []

        def empty(shape, dtype, device):
            made.append((shape, dtype))
            return Capsules(shape, (1 << 24) + (len(made) << 20), code=0 if dtype == "int32" else 2)

        with mock.patch.object(Namespace, "empty", empty):
            result = transpose_ragged(Member((1000, 48)), self.offsets, padding=4, both=True, overflow=True)
            transpose_ragged(Member((1000, 48)), self.offsets, stacked_rows=99)
        self.assertEqual(len(result), 3)
        self.assertEqual(made, [((48 * (1000 + 8 * 3),), "its float32"), ((1000, 48), "its float32"), ((), "int32"),
                                ((8, 48, 99), "its float32")])

    def test_nothing(self):
        before = get("launches")
        for x, offsets in (Interface((0, 48)), self.offsets), (self.x, Interface((1,), "<i8", 1 << 23)):
            kind = x.__cuda_array_interface__["typestr"]
            rows = x.__cuda_array_interface__["shape"][0]
            transpose_ragged(x, offsets, (Interface((48 * rows,), kind, 1 << 24), Interface((), "<i4", 1 << 27)),
                             overflow=True)
            self.assertEqual(get("cleared", ctypes.c_uint64), 1 << 27)
        self.assertEqual(get("launches"), before)

    def test_plans(self):
        """Numbers of rows and groups that are alike share one, however much place there is."""
        def plans(rows, groups, most):
            transpose_ragged(Interface((rows, 48), "<f2"), Interface((groups + 1,), "<i8", 1 << 23),
                             Interface((48 * most,), "<f2", 1 << 24), most_rows=most)
            return len(_calls._plans)

        self.assertEqual([plans(1000, 8, 2000), plans(600, 15, 2000), plans(600, 16, 2000), plans(1000, 8, 1000)],
                         [1, 1, 2, 2])
        self.assertEqual(self.words[8], 1000)

    def test_refused(self):
        out = Interface((48000,), "<f2", 1 << 24)
        for x, offsets, to, more, kind, words in (
                (self.x, self.offsets, out, {"most_rows": 999}, ValueError, r"the result has \(47952,\)"),
                (self.x, self.offsets, out, {"stacked_rows": 5, "most_rows": 5}, TypeError, "one of them"),
                (self.x, self.offsets, out, {"overflow": True}, TypeError, "a tuple of 2 arrays"),
                (self.x, self.offsets, (out, Interface((), "<i8", 1 << 27)), {"overflow": True}, TypeError, "one int32"),
                (self.x, Interface((9,), "<f4", 1 << 23), out, {}, TypeError, "int32 or int64"),
                (self.x, Interface((9,), "<i4", 1 << 23, strides=(8,)), out, {}, TypeError, "neighbours"),
                (self.x, Interface((9,), "<i4", 64), out, {}, ValueError, "offsets are on device 1"),
                (self.x, Interface((0,), "<i4", 1 << 23), out, {}, ValueError, "one number or more"),
                (Interface((1000, 48), "<f2", strides=(2, 2000)), self.offsets, out, {}, ValueError, "a row of x"),
                (Interface((10, 10, 10), "<f2"), self.offsets, out, {}, ValueError, "x has to be a matrix"),
                (self.x, self.offsets, Interface((48000,), "<f2", 1 << 24, strides=(4,)), {}, ValueError, "dense"),
                (self.x, self.offsets, out, {"padding": 0}, ValueError, "padding is 0, and has to be 1 to 4096"),
                (self.x, self.offsets, Interface((48,), "<f2", 1 << 24), {"most_rows": 1, "padding": 4097}, ValueError,
                 "padding is 4097"),
                (self.x, self.offsets, Interface((0,), "<f2", 1 << 24), {"most_rows": 0}, ValueError,
                 "most_rows is 0, and has to be 1 to"),
                (self.x, self.offsets, Interface((0,), "<f2", 1 << 24), {"stacked_rows": 0}, ValueError,
                 "stacked_rows is 0, and has to be 1 to"),
                (self.x, self.offsets, (out, Interface((1000, 48), "<f2", 1 << 24)), {"both": True}, ValueError,
                 "overlaps another")):
            with self.subTest(words=words), self.assertRaisesRegex(kind, words):
                transpose_ragged(x, offsets, to, **more)


if __name__ == "__main__":
    unittest.main()
