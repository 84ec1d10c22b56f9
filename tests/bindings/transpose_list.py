# SPDX-License-Identifier: Apache-2.0
"""The same as transpose_list.c, in Python.

    transpose_list.py LIST

DEVICE_LIBRARY names the library that is made of device.c."""
import ctypes
import os
import random
import struct
import sys

from transpose_autotune import AutotuneError, Plan, Problem

SCALE, UNWRITTEN = 0.3, b"\xa5"
# The types of source and result, as struct has them, and whether numbers are floats while they are computed. A
# product of two floats is exact as a double, so it is rounded once.
STEPS = {"u8:f32,scale": ("B", "f", True), "i16:f32,scale": ("h", "f", True), "i32:f64,scale": ("i", "d", False),
         "f64:f32,scale": ("d", "f", False), "f32,scale": ("f", "f", True), "f64,scale": ("d", "d", False)}

device = ctypes.CDLL(os.environ["DEVICE_LIBRARY"])
device.device_put.restype = ctypes.c_void_p
device.device_put.argtypes = ctypes.c_char_p, ctypes.c_size_t
device.device_take.argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t


class Line:
    """A problem of the list."""

    def __init__(self, line):
        _, self.strides, *numbers, step = line.split()
        self.size, rank, *numbers = map(int, numbers)
        self.shape, self.dims, self.src, self.dst = (tuple(numbers[i * rank:(i + 1) * rank]) for i in range(4))
        self.src_first, self.src_count, self.dst_first, self.dst_count, self.align = numbers[4 * rank:]
        self.step = None if step == "-" else step
        self.result_size = struct.calcsize(STEPS[step][1]) if self.step else self.size

    def problem(self):
        """The library is told strides that are not dense; the package finds out which ones are explicit."""
        strides = (None, None) if self.strides == "dense" else (self.src, self.dst)
        return Problem(self.shape, self.size, self.dims, *strides, align=self.align, step=self.step)


def filled(line):
    """Bytes of any value; or numbers, because NaN has more than one form."""
    if not line.step or not line.step.startswith("f"):
        return random.randbytes(line.src_count * line.size)
    numbers = (random.gauss(0, 1) for _ in range(line.src_count))
    return struct.pack(f"{line.src_count}{STEPS[line.step][0]}", *numbers)


# ---- on the host ----

def offsets(first, shape, strides):
    """Those of all elements, the last axis the fastest."""
    found = [first]
    for extent, stride in zip(shape, strides):
        found = [offset + i * stride for offset in found for i in range(extent)]
    return found


def change_of(line):
    """What makes a result of an element."""
    if not line.step:
        return lambda element: element
    source, result, is_float = STEPS[line.step]
    scale = struct.unpack("f", struct.pack("f", SCALE))[0] if is_float else SCALE
    return lambda element: struct.pack(result, struct.unpack(source, element)[0] * scale)


def transpose_here(line, dst, src):
    change, size, result_size = change_of(line), line.size, line.result_size
    shape, strides = ([numbers[dim] for dim in line.dims] for numbers in (line.shape, line.src))
    places = offsets(line.dst_first, shape, line.dst), offsets(line.src_first, shape, strides)
    for to, start in zip(*places):
        dst[to * result_size:(to + 1) * result_size] = change(src[start * size:(start + 1) * size])


# ---- on the GPU ----

def transpose_there(line, dst, src):
    """dst and src are where the memory begins."""
    plan = Plan(line.problem())
    addresses = dst + line.dst_first * line.result_size, src + line.src_first * line.size
    if line.step:
        plan.execute_with(*addresses, scale=SCALE)
    else:
        plan.execute(*addresses)


def is_right(line):
    src, wanted = filled(line), UNWRITTEN * (line.dst_count * line.result_size)
    found = ctypes.create_string_buffer(len(wanted))
    there_src, there_dst = (device.device_put(side, len(side)) for side in (src, wanted))
    is_done = True
    try:
        transpose_there(line, there_dst, there_src)
    except AutotuneError as error:
        print(error)
        is_done = False
    device.device_take(found, there_dst, len(wanted))
    device.device_take(ctypes.create_string_buffer(len(src)), there_src, len(src))
    wanted = bytearray(wanted)
    transpose_here(line, wanted, src)
    return is_done and found.raw == wanted


def main():
    device.device_open()
    random.seed(1)
    count = wrong = 0
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            count += 1
            if not is_right(Line(line)):
                print(f"problem {count} differs")
                wrong += 1
    print(f"{count} problems, {wrong} differ")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
