# SPDX-License-Identifier: Apache-2.0
# How the programs of examples/ are built against the library of this build tree.

build=$(dirname "$AUTOTUNE")

# Sets cuda_home, skipping the test where there is none.
find_cuda() {
    local nvcc
    nvcc=$(command -v nvcc || true)
    cuda_home=${CUDA_HOME:-/usr/local/cuda}
    [ -z "$nvcc" ] || cuda_home=${nvcc%/bin/nvcc}
    [ -e "$cuda_home/include/cuda.h" ] || skip "no CUDA Toolkit"
}

# build_example COMPILER FILE FLAG...: as ./example.
build_example() {
    local compiler=$1 file=$2
    shift 2
    command -v "$compiler" >/dev/null || skip "no $compiler"
    # clang has its run-time in programs that it links, and not in libraries.
    ! grep -q __asan_init "$AUTOTUNE" || set -- "$@" -Wl,--unresolved-symbols=ignore-in-shared-libs
    "$compiler" -Wall -Wextra -Werror "-I$srcdir/src/lib" "-I$cuda_home/include" \
        "$srcdir/examples/$file" -o example "-L$build/.libs" -lautotune "$@"
}

# As of an installed copy.
use_library() {
    export LD_LIBRARY_PATH=$build/.libs:$cuda_home/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export AUTOTUNE_DATADIR=$srcdir XDG_DATA_HOME=$BATS_TEST_TMPDIR/data
    unset AUTOTUNE_PROFILE_PATH
}

build_driver() {
    build_example cc driver.c -std=c99 "-L$cuda_home/lib64/stubs" -lcuda
}

build_runtime() {
    [ -e "$cuda_home/lib64/libcudart.so" ] || skip "no CUDA runtime"
    build_example c++ runtime.cc -std=c++11 "-L$cuda_home/lib64" -lcudart
}
