# SPDX-License-Identifier: Apache-2.0
"""The package without a driver: what it takes from autotune.h, lookups, and errors."""
import itertools
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

from transpose_autotune import (AutotuneError, Plan, Problem, Profile, Scales, Status, Tier, library_version,
                                lookup, permute, transpose)
from transpose_autotune import _arrays, _library, _operands

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


class Header(unittest.TestCase):
    """What ctypes is told is what the header says."""
    header = re.sub(r"/\*.*?\*/", "", read("src/lib/autotune.h"), flags=re.S)

    def test_functions(self):
        kinds = {"autotune_status": "c_int", "autotune_tier": "c_int", "int": "c_int", "size_t": "c_ulong",
                 "int64_t": "c_long", "double": "c_double", "void": None, "const char *": "c_char_p"}
        found = re.findall(r"AUTOTUNE_API (const char \*|[\w]+ )(\w+)\(([^;]*)\);", self.header)
        self.assertEqual({name for _, name, _ in found}, set(_library.PROTOTYPES))
        for result, name, arguments in found:
            kind, given = _library.PROTOTYPES[name]
            self.assertEqual(kinds[result.strip()], kind and kind.__name__, name)
            self.assertEqual(0 if arguments.strip() == "void" else arguments.count(",") + 1, len(given), name)

    def test_structs(self):
        for struct, name in (_library.MatrixStruct, "problem"), (_library.TensorStruct, "tensor"), \
                (_library.LaunchStruct, "launch"), (_library.PlanOptionsStruct, "plan_options"), \
                (_library.ScalarStruct, "scalar"), (_library.ExecutionStruct, "execution"), \
                (_library.ScalesStruct, "scales"), (_library.MatrixOfListStruct, "matrix"), \
                (_library.GroupsStruct, "groups"), (_library.InfoStruct, "info"), \
                (_library.DeviceNumbersStruct, "device_numbers"):
            members = re.search(r"struct autotune_%s {(.*?)}" % name, self.header, re.S)[1]
            self.assertEqual(re.findall(r"(\w+)(?:\[\w+\])?[,;]", members), [field[0] for field in struct._fields_])

    def test_numbers(self):
        self.assertEqual(int(re.search(r"AUTOTUNE_RANK_MAX (\d+)", self.header)[1]), _library.RANK_MAX)
        statuses = dict(re.findall(r"AUTOTUNE_(\w+) = (\d)", self.header))
        self.assertEqual({name: int(value) for name, value in statuses.items() if name != "OK"},
                         {status.name: status.value for status in Status})
        tiers = re.findall(r"AUTOTUNE_TIER_(\w+)", re.search(r"enum autotune_tier {(.*?)}", self.header, re.S)[1])
        self.assertEqual(tiers, [tier.name for tier in sorted(Tier)])

    def test_version(self):
        self.assertIn(f"[{library_version()}]", read("configure.ac"))


class ScalesOfBlocks(unittest.TestCase):
    """The package tells frameworks what the library tells it."""

    def test_shapes(self):
        for layout, batch, blocks, scales in itertools.product(
                _operands.LAYOUTS, ((), (3,)), ((1, 128), (128, 128), (1, 32), (4, 8)), _operands.RULES):
            has_4_bits = _operands.RULES[scales] == "float8_e4m3fn"
            blocks = (1, 16) if has_4_bits else blocks
            cols, dtype = (302, "uint8") if has_4_bits else (301, "float8_e4m3fn")
            shape, kept = (*batch, cols, 200), (*batch, 200, cols)
            given = _operands.Operands(dtype=dtype, both=True, blocks=blocks, scales=scales, layout=layout)
            problem = Problem(kept, 2, step=_operands.step_of("bfloat16", dtype, given, 2))
            types, shapes = given.results("bfloat16", str), given.shapes(shape, kept)
            self.assertEqual(list(types), ["dst", "dst2", "block_scales", "block_scales2"])
            for name, told in zip(("block_scales", "block_scales2"), problem.scales()):
                room = shapes[name]
                with self.subTest(name=name, layout=layout, blocks=blocks, scales=scales, batch=batch):
                    self.assertEqual(_arrays.type_name(types[name]), told.type)
                    self.assertEqual(math.prod(room), told.bytes // (4 if told.type == "f32" else 1))
                    self.assertEqual(room[:-2] if layout != "swizzled" else room[:-1], batch)
                    if layout != "swizzled":
                        by_columns = given.scales_by_columns
                        self.assertEqual((told.row_stride, told.col_stride)[::1 if by_columns else -1], (1, room[-1]))
                        self.assertEqual(told.cols if by_columns else told.rows, room[-2])

    def test_others(self):
        self.assertEqual(Problem((30, 50), 2).scales(), (None, None))
        of_result, of_kept = Problem((30, 50), 2, step="bf16:e5m2,blocks=1x32").scales()
        self.assertEqual((of_result, of_kept), (Scales("f32", 50, 1, 1, 1, 200, 200), None))
        with self.assertRaisesRegex(AutotuneError, "blocks is"):
            Problem((30, 50), 2, step="bf16:e5m2,blocks=1x999").scales()


class Lookups(unittest.TestCase):
    profile = Profile(os.path.join(SOURCE, "results", "nvidia-h200.yaml"))

    def test_answer(self):
        answer = lookup(Problem((8192, 8192), 4), "h200", profile=self.profile)
        self.assertEqual((answer.tier, answer.distance, answer.predicted), (Tier.EXACT, 0, False))
        self.assertTrue(answer.path.endswith("nvidia-h200.yaml"))
        self.assertEqual(answer.tuned_problem, "8192x8192:f32")
        self.assertGreater(answer.expected, 0.9)
        self.assertFalse(answer.uncertain)
        self.assertTrue(lookup(Problem((8192, 8192), 4), "a100", profile=self.profile).uncertain)
        self.assertEqual(answer.json()["family"], answer.family)
        self.assertEqual({**answer.parameters, **answer.json()["parameters"]}, answer.parameters)
        self.assertEqual([(list(one.grid), one.kernel) for one in answer.launches], [(answer.json()["grid"], None)])
        self.assertRegex(str(answer), r"^8192x8192:\w+ on NVIDIA H200, cold\n")
        answer.check_device()

    def test_precompiled(self):
        answer = lookup(Problem((8192, 8192), 4), "h200", profile=self.profile)
        try:
            answer.precompile()
        except AutotuneError as error:
            self.assertEqual(error.status, Status.NO_DEVICE)
            self.skipTest("no NVRTC")
        kept = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "autotune")
        self.assertIn(".kernel", {os.path.splitext(name)[1] for name in os.listdir(kept)})

    def test_spellings(self):
        """A problem in the words of Python, and as the command spells it."""
        for problem, spelled in (
                (Problem((64, 512, 256), 2), "512x256:f16,batch=64"),
                (Problem((64, 512, 256), 2, (0, 2, 1)), "512x256:f16,batch=64"),
                (Problem((64, 512, 256), 2, (-3, -1, -2)), "512x256:f16,batch=64"),
                (Problem((512, 256), 4, strides=(300, 1)), "512x256:f32,ld_src=300"),
                (Problem((512, 256), 4, out_strides=(600, 1)), "512x256:f32,ld_dst=600"),
                (Problem((512, 512), 8, in_place=True), "512x512:f64,inplace=1"),
                (Problem((2, 512, 512), 8, in_place=True), "512x512:f64,batch=2,inplace=1"),
                (Problem((1, 512, 256), 4, strides=(0, 300, 1)), "512x256:f32,ld_src=300"),
                (Problem((8, 32, 2048, 128), 2, (0, 2, 1, 3)), "8x32x2048x128:f16,perm=0213"),
                (Problem((3, 4, 5), 12, (2, 1, 0)), "3x4x5:b12,perm=210")):
            with self.subTest(spelled):
                ours = lookup(problem, "h200", profile=self.profile).json()
                run = subprocess.run([os.environ["AUTOTUNE"], "lookup", "--device", "h200", "--format", "json",
                                      "--problem", spelled, os.path.join(SOURCE, "results", "nvidia-h200.yaml")],
                                     stdout=subprocess.PIPE, check=True, text=True)
                theirs = json.loads(run.stdout)
                for part in "problem", "family", "parameters", "grid", "tuned_problem":
                    same = [re.sub(r":\w+", "", str(answer.get(part))) for answer in (ours, theirs)]
                    self.assertEqual(*same, part)

    def refused(self, kind, words, action):
        with self.assertRaisesRegex(kind, words) as caught:
            action()
        return caught.exception

    def test_impossible(self):
        for problem, kind, words in (
                (Problem((4,), 4), ValueError, "two axes"),
                (Problem((4, 4), 4, (0, 0)), ValueError, "no permutation"),
                (Problem((4, 4), 4, (0, 2)), ValueError, "no permutation"),
                (Problem((4, 4), 4, out_strides=(0, 1)), ValueError, "overlap"),
                (Problem((4, 4), 4, strides=(4, 1, 1)), ValueError, "3 strides for 2 axes"),
                (Problem((4, 5), 4, in_place=True, strides=(6, 1)), AutotuneError, "dense"),
                (Problem((4, 4), 4, in_place=True, strides=(1, 4)), ValueError, "neighbours"),
                (Problem((1,) * 25, 4), ValueError, "25 axes"),
                (Problem((4, 4), 4, out_strides=(2, 1)), AutotuneError, "overlap"),
                (Problem((4, 4), 65), AutotuneError, "1 to 64 bytes")):
            with self.subTest(problem=problem):
                self.refused(kind, words, lambda: lookup(problem, "h200"))

    def test_errors(self):
        problem = Problem((64, 64), 4)
        for status, words, action in (
                (Status.INVALID, "no-such-file", lambda: Profile("no-such-file")),
                (Status.INVALID, "x100", lambda: lookup(problem, "x100")),
                (Status.INVALID, "lukewarm", lambda: lookup(problem, "h200", "lukewarm")),
                (Status.MISMATCH, "tune this device",
                 lambda: lookup(problem, "a100", profile=self.profile).check_device())):
            with self.subTest(words):
                self.assertEqual(self.refused(AutotuneError, words, action).status, status)

    def test_skipped(self):
        self.assertEqual(Profile().skipped, [])
        code = "from transpose_autotune import Profile; print(*Profile().skipped)"
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/autotune")
            with open(f"{folder}/autotune/broken.yaml", "w", encoding="utf-8") as file:
                file.write("not: a profile\n")
            said = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True,
                                  env={**os.environ, "XDG_DATA_HOME": folder}).stdout
        self.assertIn("broken.yaml", said)


class Host:
    """An array in host memory."""
    __cuda_array_interface__ = {"shape": (4, 4), "typestr": "<f4", "data": (4096, False), "version": 3}


class NoDriver(unittest.TestCase):
    def test_calls_that_need_one(self):
        for action in (lambda: Plan(Problem((64, 64), 4)), lambda: lookup(Problem((64, 64), 4)),
                       lambda: transpose(Host()), lambda: permute(Host(), (0, 1))):
            with self.assertRaisesRegex(AutotuneError, "driver") as caught:
                action()
            self.assertEqual(caught.exception.status, Status.NO_DEVICE)

    def test_no_arrays(self):
        for x in [[1, 2], [3, 4]], None, b"1234":
            with self.assertRaisesRegex(TypeError, "__dlpack__"):
                transpose(x)


if __name__ == "__main__":
    unittest.main()
