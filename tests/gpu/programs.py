# SPDX-License-Identifier: Apache-2.0
"""What the programs compare-* share: parts of other programs, and what a profile has."""
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def load(path):
    """A program of the source tree, as a module."""
    loader = importlib.machinery.SourceFileLoader(os.path.basename(path).replace("-", "_"), f"{SOURCE}/{path}")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def tuned_entries(autotune, profile):
    """The entries of a profile, one for each problem."""
    shown = json.loads(subprocess.run([autotune, "show", "--format", "json", profile], stdout=subprocess.PIPE, text=True,
                                      check=True).stdout)
    for device in shown["devices"]:
        yield from device["problems"]
