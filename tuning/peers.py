# SPDX-License-Identifier: Apache-2.0
"""Times the transposes of other libraries, for autotune bench --peers: cuBLAS geam and PyTorch.

    python3 peers.py UUID ROWS COLS LD_SRC LD_DST BATCH STRIDE_SRC STRIDE_DST BYTES SETS

Prints a line for each library: its name, the time of a transpose in ns, the spread in thousandths, and what
ran. Time 0: it cannot, and the last part says why. Times are taken as doc/measurement.md says: fifteen trains
of launches in a CUDA graph, of a millisecond or more. They cycle through as many pairs of buffers as together
have SETS times the bytes of L2; 0: through one pair.
"""
import ctypes
import glob
import os
import random
import signal
import statistics
import sys

TRAIN_MS, SAMPLES, CHECKED, LAUNCHES_MAX = 1.0, 15, 1000, 1000
NAMES = "rows cols ld_src ld_dst batch stride_src stride_dst size sets"
L2_BYTES, RELAXED, NON_BLOCKING = 38, 2, 1  # CU_DEVICE_ATTRIBUTE_..., CU_STREAM_...
pointer, address = ctypes.c_void_p, ctypes.c_uint64


class Driver:
    """The CUDA driver, with the primary context that PyTorch and cuBLAS use too, and a stream."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        device, context, self.stream, l2 = ctypes.c_int(), pointer(), pointer(), ctypes.c_int()
        self("cuInit", 0)
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)
        self("cuStreamCreate", ctypes.byref(self.stream), NON_BLOCKING)
        self("cuDeviceGetAttribute", ctypes.byref(l2), L2_BYTES, device)
        self.l2 = l2.value

    def __call__(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} fails with {status}")

    def allocate(self, size):
        at = address()
        self("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(size))
        return at.value

    def event(self):
        event = pointer()
        self("cuEventCreate", ctypes.byref(event), 0)
        return event

    def elapsed_ms(self, start):
        """What the GPU takes for what start() gives it, twice: so it is busy when the clock starts."""
        begin, end, ms = self.event(), self.event(), ctypes.c_float()
        start()
        self("cuEventRecord", begin, self.stream)
        start()
        self("cuEventRecord", end, self.stream)
        self("cuEventSynchronize", end)
        self("cuEventElapsedTime", ctypes.byref(ms), begin, end)
        self("cuEventDestroy_v2", begin)
        self("cuEventDestroy_v2", end)
        return ms.value

    def capture(self, start):
        graph, ready = pointer(), pointer()
        self("cuStreamBeginCapture_v2", self.stream, RELAXED)
        try:
            start()
        finally:
            self("cuStreamEndCapture", self.stream, ctypes.byref(graph))
        self("cuGraphInstantiateWithFlags", ctypes.byref(ready), graph, ctypes.c_ulonglong(0))
        return lambda: self("cuGraphLaunch", ready, self.stream)


class Problem:
    def __init__(self, driver, numbers):
        self.__dict__.update(zip(NAMES.split(), numbers))
        self.driver = driver
        self.src_bytes = self.size * ((self.batch - 1) * self.stride_src + self.rows * self.ld_src)
        self.dst_bytes = self.size * ((self.batch - 1) * self.stride_dst + self.cols * self.ld_dst)
        pairs = max(1, -(-self.sets * driver.l2 // (self.src_bytes + self.dst_bytes)))
        self.pairs = [(driver.allocate(self.src_bytes), driver.allocate(self.dst_bytes)) for _ in range(pairs)]
        noise = os.urandom(1048583).translate(bytes(i % 64 for i in range(256)))  # no NaN: cuBLAS changes them
        self.source = (noise * (self.src_bytes // len(noise) + 1))[:self.src_bytes]
        for src, _ in self.pairs:
            driver("cuMemcpyHtoD_v2", address(src), self.source, ctypes.c_size_t(self.src_bytes))

    def check(self, dst):
        element = ctypes.create_string_buffer(self.size)
        for _ in range(CHECKED):
            b, r, c = (random.randrange(n) for n in (self.batch, self.rows, self.cols))
            at = self.size * (b * self.stride_src + r * self.ld_src + c)
            to = self.size * (b * self.stride_dst + c * self.ld_dst + r)
            self.driver("cuMemcpyDtoH_v2", element, address(dst + to), ctypes.c_size_t(self.size))
            if element.raw != self.source[at:at + self.size]:
                raise RuntimeError("its result is wrong")

    def time(self, run):
        """The median time of a launch in ns, and the spread in thousandths."""
        driver, (src, dst) = self.driver, self.pairs[0]
        driver("cuMemsetD8_v2", address(dst), 0, ctypes.c_size_t(self.dst_bytes))
        run(src, dst)
        driver("cuStreamSynchronize", driver.stream)
        self.check(dst)
        once = max(driver.elapsed_ms(lambda: run(src, dst)), 1e-3)
        count = min(LAUNCHES_MAX, int(TRAIN_MS / once) + 1)
        count = -(-count // len(self.pairs)) * len(self.pairs)

        def train():
            for i in range(count):
                run(*self.pairs[i % len(self.pairs)])
        launch = driver.capture(train)
        times = sorted(1e6 * driver.elapsed_ms(launch) / count for _ in range(SAMPLES))
        median = statistics.median(times)
        spread = times[3 * SAMPLES // 4] - times[SAMPLES // 4]
        return round(median), round(1000 * spread / median)


def find_cublas():
    """The library, by the loader or in NVIDIA's packages for Python."""
    names = [f"libcublas.so.{version}" for version in (13, 12, 11)]
    folders = [f"{path}/nvidia/*/lib" for path in sys.path] + [
        f"{os.environ.get('CUDA_HOME', '/usr/local/cuda')}/lib64"]
    for name in names + [at for name in names for folder in folders for at in glob.glob(f"{folder}/{name}")]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    raise RuntimeError(f"not found: none of {', '.join(names)}")


def cublas(problem):
    """dst = 1 * src^T + 0 * dst. BLAS is column-major, so our rows are its columns."""
    library, handle, version = find_cublas(), pointer(), ctypes.c_int()
    letter = {4: "S", 8: "D", 16: "Z"}.get(problem.size)
    if not letter or problem.batch > 1:
        raise RuntimeError("has no elements of this size" if not letter else "has no batches")
    if library.cublasCreate_v2(ctypes.byref(handle)) != 0:
        raise RuntimeError("cublasCreate fails")
    library.cublasGetVersion_v2(handle, ctypes.byref(version))
    library.cublasSetStream_v2(handle, problem.driver.stream)
    geam = getattr(library, f"cublas{letter}geam")
    scalar = (ctypes.c_float if letter == "S" else ctypes.c_double) * 2
    one, zero = scalar(1, 0), scalar(0, 0)

    def run(src, dst):
        status = geam(handle, 1, 0, problem.rows, problem.cols, ctypes.byref(one), pointer(src), problem.ld_src,
                      ctypes.byref(zero), pointer(dst), problem.ld_dst, pointer(dst), problem.ld_dst)
        if status != 0:
            raise RuntimeError(f"geam fails with {status}")
    return run, f"cublas{letter}geam of cuBLAS {version.value}"


class Memory:
    """Memory that PyTorch takes as it is."""

    def __init__(self, at, count, size):
        kind = {1: "|u1", 2: "<i2", 4: "<i4", 8: "<i8", 16: "<c16"}[size]
        self.__cuda_array_interface__ = {"shape": (count,), "typestr": kind, "data": (at, False), "version": 2}


def pytorch(problem):
    try:
        import torch
    except ImportError:
        raise RuntimeError(f"{sys.executable} has none") from None
    if not torch.cuda.is_available():
        raise RuntimeError(f"torch {torch.__version__} finds no GPU")
    p, views = problem, {}
    for src, dst in p.pairs:
        flat = torch.as_tensor(Memory(src, p.src_bytes // p.size, p.size), device="cuda")
        views[src] = torch.as_strided(flat, (p.batch, p.rows, p.cols), (p.stride_src, p.ld_src, 1))
        flat = torch.as_tensor(Memory(dst, p.dst_bytes // p.size, p.size), device="cuda")
        views[dst] = torch.as_strided(flat, (p.batch, p.cols, p.rows), (p.stride_dst, p.ld_dst, 1))
    stream = torch.cuda.ExternalStream(p.driver.stream.value)

    def run(src, dst):
        with torch.cuda.stream(stream):
            views[dst].copy_(views[src].transpose(1, 2))
    return run, f"dst.copy_(src.transpose(1, 2)) of torch {torch.__version__}"


def main():
    signal.alarm(300)  # a library that hangs ends with this process
    os.environ["CUDA_VISIBLE_DEVICES"] = sys.argv[1]
    problem, failure = None, None
    try:
        problem = Problem(Driver(), [int(text) for text in sys.argv[2:]])
    except (OSError, RuntimeError) as error:
        failure = error
    # PyTorch brings a cuBLAS, which is then found.
    for name, prepare in (("PyTorch", pytorch), ("cuBLAS geam", cublas)):
        time, spread = 0, 0
        try:
            if failure:
                raise failure
            run, what = prepare(problem)
            time, spread = problem.time(run)
        except Exception as error:  # whatever it is, the other one may work
            what = " ".join(str(error).split())
        print(name, time, spread, what, sep="\t", flush=True)


if __name__ == "__main__":
    main()
