# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *

CLONE = Path(__file__).resolve().parents[4]


class TransposeAutotune(AutotoolsPackage):
    """Finds the fastest transposes of matrices and permutations of tensors for NVIDIA GPUs: the program autotune, the
    library libautotune, and the Python module transpose_autotune."""

    homepage = CLONE.joinpath("README.md").as_uri()
    git = CLONE.as_uri()  # what is committed in the clone that this recipe lies in

    license("Apache-2.0")

    version("main", branch="main")

    variant("python", default=True, description="Install the Python module")

    depends_on("c", type="build")
    depends_on("autoconf@2.71:", type="build")
    depends_on("automake@1.16:", type="build")
    depends_on("libtool", type="build")
    depends_on("m4", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("jansson@2.11:")
    depends_on("libyaml@0.2.2:")
    depends_on("sqlite@3.24:")
    depends_on("xxhash@0.8.0:")
    # Headers for the build. NVRTC is opened at run time, and looked for where it is now.
    depends_on("cuda@12:", type=("build", "run"))

    with when("+python"):
        extends("python")
        depends_on("python@3.8:", type=("build", "run"))

    build_targets = ["autotune", "libautotune.la"]
    sanity_check_is_file = [join_path("bin", "autotune"), join_path("include", "autotune.h")]

    def configure_args(self):
        return ["--disable-build-tree", f"--with-cuda={self.spec['cuda'].prefix}"]

    @run_after("install", when="+python")
    def install_module(self):
        install_tree("python/transpose_autotune", join_path(python_purelib, "transpose_autotune"))

    def setup_run_environment(self, env):
        if self.spec.satisfies("+python"):
            env.set("AUTOTUNE_LIBRARY", join_path(self.prefix.lib, "libautotune.so.0"))

    def test_lookup(self):
        """the program finds its profiles"""
        autotune = Executable(self.prefix.bin.autotune)
        autotune("lookup", "--device", "h200", "--problem", "8192x8192:f32")
