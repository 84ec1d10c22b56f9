# SPDX-License-Identifier: Apache-2.0
"""Arrays in host memory, of NumPy and of PyTorch: their results are those of the frameworks' own functions."""
import itertools
import unittest

try:
    import numpy
except ImportError:
    raise unittest.SkipTest("no NumPy") from None

from transpose_autotune import permute, permute_, transpose, transpose_, transpose_many, transpose_ragged

MARK = 77


class NumPy(unittest.TestCase):
    def made(self, array):
        """An array of the framework. It has the memory of this one, if that is NumPy's."""
        return array

    def same(self, found, wanted):
        self.assertIs(type(found), type(self.made(wanted)))
        numpy.testing.assert_array_equal(numpy.asarray(found), wanted)

    def test_results(self):
        for shape, kind in itertools.product(((2, 3, 4), (30, 50), (1, 1, 1, 5), (0, 4)), ("f4", "i8", "?", "c16", "u1")):
            x = numpy.arange(numpy.prod(shape)).astype(kind).reshape(shape)
            for dims in itertools.permutations(range(len(shape))):
                self.same(permute(self.made(x), dims), x.transpose(dims))
            self.same(permute(self.made(x), None), x.T)
            self.same(transpose(self.made(x)), x.swapaxes(-1, -2))
            self.assertTrue(numpy.asarray(transpose(self.made(x))).flags.c_contiguous)

    def test_out(self):
        x, room = numpy.arange(24.0).reshape(4, 6), numpy.full((6, 9), float(MARK))
        for source in x, x[:, ::2], numpy.broadcast_to(x[0], (4, 6)):
            out = self.made(room)[:source.shape[1], 2:6]
            self.assertIs(transpose(self.made(source), out), out)
            self.same(out, source.T)
        self.assertTrue((room[:, [0, 1, 6, 7, 8]] == MARK).all())

    def test_in_place(self):
        for shape in (5, 5), (3, 7), (2, 3, 4):
            x = numpy.arange(numpy.prod(shape)).reshape(shape)
            wanted, ours = x.swapaxes(-1, -2).copy(), self.made(x)
            self.same(transpose_(ours), wanted)
            self.same(self.made(x.reshape(wanted.shape)), wanted)

    def test_permutation_in_place(self):
        for shape in (), (5,), (3, 7), (2, 3, 4), (4, 3, 2), (1, 5, 1, 4, 3), (3, 0, 2):
            for dims in itertools.permutations(range(len(shape))):
                x = numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape)
                wanted, ours = x.transpose(dims).copy(), self.made(x)
                self.same(permute_(ours, dims), wanted)
                self.same(self.made(x.reshape(wanted.shape)), wanted)
        x = numpy.arange(120).reshape(2, 3, 4, 5)
        self.same(permute_(self.made(x.copy()), (2, 3, 0, -3)), x.transpose(2, 3, 0, 1))
        self.same(permute_(self.made(x.copy()), (3, 2, 1, 0)), x.transpose(3, 2, 1, 0))
        with self.assertRaisesRegex(ValueError, "dense"):
            permute_(self.made(numpy.zeros((4, 6, 6)))[:, :, :4], (2, 0, 1))

    def test_many(self):
        xs = [numpy.arange(count).reshape(shape) for count, shape in ((6, (2, 3)), (24, (2, 3, 4)), (0, (0, 5)))]
        for x, found in zip(xs, transpose_many(map(self.made, xs))):
            self.same(found, x.swapaxes(-1, -2))
        outs = [self.made(numpy.zeros((3, 2), int)), self.made(numpy.zeros((3, 2), int))]
        found = transpose_many([self.made(xs[0])] * 2, outs, dims=(1, 0))
        self.assertIs(found[1], outs[1])
        self.same(outs[1], xs[0].T)

    def test_ragged(self):
        x, offsets = numpy.arange(1, 21).reshape(5, 4), numpy.array([0, 2, 2, 5])
        padded = [numpy.pad(x[:2].T, ((0, 0), (0, 2))), numpy.zeros((4, 0)), numpy.pad(x[2:].T, ((0, 0), (0, 1)))]
        flat = numpy.concatenate([one.ravel() for one in padded]).astype(int)
        for most, count, overflow in (None, 32, 0), (8, 32, 0), (7, 16, 1), (3, 0, 1):
            out = numpy.full((14 if most is None else most) * 4, MARK)
            flag = numpy.array(5, "int32")
            given = self.made(out), self.made(flag)
            self.assertIs(transpose_ragged(self.made(x), self.made(offsets), given, padding=4, most_rows=most,
                                           overflow=True), given)
            self.same(self.made(out), numpy.append(flat[:count], [MARK] * (out.size - count)))
            self.assertEqual(flag, overflow)
        found, flag = transpose_ragged(self.made(x), self.made(offsets), stacked_rows=3, overflow=True)
        self.same(found[0, :, :2], x[:2].T)
        self.same(found[2], x[2:].T)
        self.assertEqual(flag, 0)
        found, flag = transpose_ragged(self.made(x), self.made(offsets), stacked_rows=2, overflow=True)
        self.same(found[0], x[:2].T)
        self.assertEqual(flag, 1)

    def test_refused(self):
        x, offsets = self.made(numpy.zeros((4, 4), "f4")), self.made(numpy.array([0, 4]))
        room = self.made(numpy.zeros(99, "f4"))
        for call, error, words in (
                (lambda: transpose(x, scale=2), TypeError, "needs a GPU"),
                (lambda: transpose(x, both=True), TypeError, "needs a GPU"),
                (lambda: transpose(x, stream=1), TypeError, "`stream` is for arrays on a GPU"),
                (lambda: transpose(x, x[:2]), ValueError, "out has shape"),
                (lambda: transpose(x, offsets), ValueError, "out has shape"),
                (lambda: transpose(x, self.made(numpy.zeros((4, 4), "f8"))), TypeError, "another type"),
                (lambda: transpose(room[:16].reshape(4, 4), room[1:17].reshape(4, 4)), ValueError, "overlap"),
                (lambda: transpose_many([x, self.made(numpy.zeros((4, 4), "f8"))]), TypeError, "array 1 of the list"),
                (lambda: transpose_many([x], alpha=2), TypeError, "needs a GPU"),
                (lambda: transpose_many([x], stream=1), TypeError, "`stream` is for"),
                (lambda: transpose_ragged(x, offsets, both=True), TypeError, "needs a GPU"),
                (lambda: transpose_ragged(x, offsets, stream=1), TypeError, "`stream` is for"),
                (lambda: transpose_ragged(x, x[0]), TypeError, "offsets are int32 or int64")):
            with self.subTest(words=words), self.assertRaisesRegex(error, words):
                call()


try:
    import torch
    torch.library.custom_op
except (ImportError, AttributeError):
    pass
else:
    class PyTorch(NumPy):
        def made(self, array):
            if not array.flags.writeable or array.strides and 0 in array.strides:  # which PyTorch warns of
                return torch.from_numpy(array[:1].copy()).expand(array.shape)
            return torch.from_numpy(array)

        def test_gradients(self):
            x = torch.rand(2, 3, 4, requires_grad=True)
            (permute(x, (2, 0, 1)) ** 2).sum().backward()
            self.assertTrue(torch.equal(x.grad, 2 * x))

        def test_conjugates(self):
            x = torch.rand(3, 4, dtype=torch.complex64)
            self.assertTrue(torch.equal(transpose(x.conj()), x.conj().t()))
            self.assertTrue(torch.equal(transpose(x.conj().imag), -x.imag.t()))


if __name__ == "__main__":
    unittest.main()
