# SPDX-License-Identifier: Apache-2.0
"""Profiles, answers and plans as Python objects: copies, pickles, representations; and arguments of wrong types. A plan
is made with a driver that runs nothing (driver.c)."""
import copy
import ctypes
import logging
import os
import pathlib
import pickle
import subprocess
import sys
import unittest
from unittest import mock

import transpose_autotune
from transpose_autotune import AutotuneError, Plan, Problem, Profile, Status, library_version, lookup, use
from transpose_autotune import _objects

PATH = os.path.join(os.environ["SOURCE"], "results", "nvidia-h200.yaml")
PROBLEM = Problem((8192, 8192), 4)


class Objects(unittest.TestCase):
    def setUp(self):
        self.profile = Profile(PATH)
        self.objects = self.profile, lookup(PROBLEM, "h200", profile=self.profile), Plan(PROBLEM, self.profile)

    def test_copies(self):
        """None frees what another one has."""
        for made in self.objects:
            for copied in copy.copy(made), copy.deepcopy(made), copy.deepcopy([made])[0]:
                self.assertIs(copied, made)

    def test_pickles(self):
        for made, instead in zip(self.objects, ("its path", r"its json\(\)", "its problem")):
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                with self.assertRaisesRegex(TypeError, f"this {type(made).__name__} is of its process .* {instead}"):
                    pickle.dumps(made, protocol)
        self.assertEqual(pickle.loads(pickle.dumps(PROBLEM)), PROBLEM)

    def test_representations(self):
        answer, problem = self.objects[1], "8192x8192:b4 on NVIDIA H200, cold"
        for made, wanted in zip(self.objects, (f"Profile({PATH!r})", f"<Answer EXACT {answer.family}: {problem}>",
                                               f"<Plan {problem}>")):
            self.assertEqual(repr(made), wanted)
        self.assertEqual(repr(Profile()), "Profile()")

    def test_paths(self):
        """A path stands for the profile that it leads to."""
        self.addCleanup(use, None)
        for path in PATH, pathlib.Path(PATH):
            use(path)
            self.assertEqual(lookup(PROBLEM, "h200").path, PATH)
            use(None)
            self.assertEqual(lookup(PROBLEM, "h200", profile=path).path, PATH)
            self.assertIn("8192x8192", str(Plan(PROBLEM, path)))
        for call in use, lambda path: lookup(PROBLEM, "h200", profile=path), lambda path: Plan(PROBLEM, path):
            with self.assertRaisesRegex(AutotuneError, "no-such-file") as caught:
                call("no-such-file")
            self.assertEqual(caught.exception.status, Status.INVALID)

    def test_wrong_types(self):
        for call, words in (
                (lambda: use(5), "profile has to be a str or PathLike, and is a int"),
                (lambda: lookup((30, 50), "h200"), "problem has to be a Problem, and is a tuple"),
                (lambda: lookup(PROBLEM, b"h200"), "device has to be a str, and is a bytes"),
                (lambda: lookup(PROBLEM, "h200", 5), "policy has to be a str, and is a int"),
                (lambda: lookup(PROBLEM, "h200", profile=5), "profile has to be a str or PathLike, and is a int"),
                (lambda: Plan((30, 50)), "problem has to be a Problem, and is a tuple")):
            with self.subTest(words=words), self.assertRaisesRegex(TypeError, words):
                call()

    def test_devices_are_read_once(self):
        with mock.patch.object(_objects, "create", side_effect=_objects.create) as create:
            _objects._described.cache_clear()
            for _ in range(3):
                lookup(PROBLEM, "h200", profile=self.profile)
        self.assertEqual([call.args[0] for call in create.call_args_list].count("autotune_device_described"), 1)


class Log(unittest.TestCase):
    """Lines come to the logger when they are wanted, and only then."""

    def said(self, level):
        transpose_autotune.set_log(level)
        self.addCleanup(transpose_autotune.set_log, None)
        with self.assertLogs("transpose_autotune", logging.DEBUG) as logs:
            logging.getLogger("transpose_autotune").warning("the end")
            Plan(PROBLEM, Profile(PATH))
        return [(record.levelname, record.getMessage()) for record in logs.records[1:]]

    def test_levels(self):
        self.assertEqual(self.said(None), [])
        self.assertEqual(self.said(logging.WARNING), [])
        (level, line), = (record for record in self.said(logging.INFO) if "compiled" not in record[1])
        self.assertEqual(level, "INFO")
        self.assertRegex(line, r"^made a plan for 8192x8192:b4 on .*: \w+ .*, from tier exact")
        self.assertIn((level, line), self.said(logging.DEBUG))


class Module(unittest.TestCase):
    def test_version(self):
        self.assertEqual(transpose_autotune.__version__, library_version())
        with self.assertRaisesRegex(AttributeError, "no attribute 'speed'"):
            transpose_autotune.speed

    def test_without_a_library(self):
        """The module can be imported; the first call says what is missing."""
        code = "import transpose_autotune as t\ntry: t.library_version()\nexcept t.AutotuneError as e: print(e.status.name, e)"
        said = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True,
                              env={**os.environ, "AUTOTUNE_LIBRARY": "/nonexistent/libautotune.so.0"}).stdout
        self.assertRegex(said, r"^FAILED cannot load libautotune, .*/nonexistent/.*AUTOTUNE_LIBRARY")


ctypes.CDLL("libcuda.so.1")  # without it, there are no plans

if __name__ == "__main__":
    unittest.main()
