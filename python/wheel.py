# SPDX-License-Identifier: Apache-2.0
"""Builds the program, the library and their data for the wheel: a hook of hatchling that runs Autotools.

The wheel has to run wherever glibc is 2.28 or newer (manylinux_2_28), and without libyaml, SQLite, Jansson and
xxHash. So these are linked statically, and the compiler is Zig's, from its own wheel: its linker takes the
version of glibc to link against, whatever this machine has.

AUTOTUNE_WHEEL_MACHINE=aarch64 makes the wheel for another processor. pkg-config has to find its libraries:
.ci/aarch64 has an example.

If CC is set, that compiler and shared libraries are used. The wheel is then for machines like this one, until
`auditwheel repair` makes more of it."""
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, Dict, List, NoReturn

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GLIBC = "2.28"
ZIG = "ziglang==0.15.2"
# configure's names, pkg-config's, and the archives.
LIBRARIES = (("YAML", "yaml-0.1", "libyaml.a"), ("SQLITE", "sqlite3", "libsqlite3.a"),
             ("JANSSON", "jansson", "libjansson.a"), ("XXHASH", "libxxhash", "libxxhash.a"))
PACKAGES = "libyaml-dev libsqlite3-dev libjansson-dev libxxhash-dev"

# Where files are within the package. The program and the library find their data, and NVRTC's wheel, by these.
PROGRAM, LIBRARY, DATA = "bin/autotune", "lib/libautotune.so.0", "share/transpose-autotune"
NVRTC = "../../nvidia/cu13/lib"
MACHINE = os.environ.get("AUTOTUNE_WHEEL_MACHINE") or platform.machine()


def fail(message: str) -> NoReturn:
    sys.exit(f"transpose-autotune: {message}")


def pkg_config(*arguments: str) -> str:
    try:
        return subprocess.run(["pkg-config", *arguments], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        fail(f"pkg-config does not find {arguments[-1]} (Debian: apt-get install pkg-config {PACKAGES})")


def static_libraries() -> Dict[str, str]:
    """configure's variables for the libraries' archives."""
    variables = {}
    for name, module, file in LIBRARIES:
        archive = Path(pkg_config("--variable=libdir", module), file)
        if not archive.exists():
            fail(f"{archive} is missing: install it, or set CC=gcc, say, to link shared libraries")
        variables[f"{name}_LIBS"] = str(archive)
        # After Zig's own folders, so that only what these lack is taken from here.
        variables[f"{name}_CFLAGS"] = f"-idirafter {pkg_config('--variable=includedir', module)}"
    return variables


class Build:
    """A build in its own folder."""

    def __init__(self, source: Path):
        self.source, self.folder = source, source / "build" / "wheel"
        self.installed = self.folder / "installed"

    def run(self, *command: str) -> None:
        log = self.folder / "log"
        with open(log, "a", encoding="utf-8") as output:
            status = subprocess.run(command, cwd=self.folder, stdout=output, stderr=subprocess.STDOUT,
                                    check=False).returncode
        if status != 0:
            print("\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-40:]), file=sys.stderr)
            fail(f"{' '.join(command)} failed: {log} has the rest")

    def compiler(self) -> List[str]:
        """configure's arguments: the compiler, its flags and the libraries."""
        if os.environ.get("CC"):
            return []
        target = f"{MACHINE}-linux-gnu.{GLIBC}"
        script = self.folder / "cc"
        script.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m ziglang cc -target {target} \"$@\"\n",
                          encoding="utf-8")
        script.chmod(0o755)
        # Paths of this machine stay out of the wheel.
        flags = f"-O2 -g0 -ffile-prefix-map={self.source}=. -ffile-prefix-map={self.folder}=build"
        # libtool keeps a plain -s from the library. The names of Zig's own files are among what is stripped.
        variables = {"CC": str(script), "CFLAGS": flags, "LDFLAGS": "-Wl,-s", **static_libraries()}
        if MACHINE != platform.machine():
            variables["host_alias"] = f"{MACHINE}-linux-gnu"
        return [f"{name}={value}" for name, value in variables.items()]

    def make(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        made = self.source / "build-aux" / "autoreconf.made"  # as quickstart has it
        sources = [self.source / "configure.ac", self.source / "Makefile.am", *(self.source / "m4").glob("at_*")]
        if not made.exists() or any(source.stat().st_mtime > made.stat().st_mtime for source in sources):
            self.run("autoreconf", "-fi", str(self.source))
            made.touch()
        self.run(f"{self.source}/configure", "--prefix=/usr", "--libdir=/usr/lib", "--disable-build-tree",
                 f"--with-nvrtc-dir={NVRTC}", *self.compiler())
        self.run("make", f"-j{os.cpu_count()}", "autotune", "libautotune.la")
        self.run("make", f"DESTDIR={self.installed}", "install-binPROGRAMS", "install-libLTLIBRARIES",
                 "install-nobase_dist_pkgdataDATA")

    def files(self) -> Dict[str, str]:
        """Where the installed files belong, by where they are."""
        library = (self.installed / "usr" / LIBRARY).resolve()
        return {str(self.installed / "usr" / PROGRAM): PROGRAM, str(library): LIBRARY,
                str(self.installed / "usr" / DATA): DATA}


class Hook(BuildHookInterface):  # type: ignore[type-arg]
    """The hook that hatchling calls."""

    def dependencies(self) -> List[str]:
        return [] if os.environ.get("CC") else [ZIG]

    def initialize(self, version: str, build_data: Dict[str, Any]) -> None:
        if version == "editable":  # takes the library that the loader finds, or AUTOTUNE_LIBRARY
            return
        build = Build(Path(self.root).resolve())
        build.make()
        tag = sysconfig.get_platform().replace("-", "_") if os.environ.get("CC") else \
            f"manylinux_{GLIBC.replace('.', '_')}_{MACHINE}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"
        build_data["force_include"].update(
            (source, f"transpose_autotune/{place}") for source, place in build.files().items())
