# SPDX-License-Identifier: Apache-2.0
# How the programs of examples/ are built against the library of this build tree.

build=$(dirname "$AUTOTUNE")

# Sets the folders of CUDA that configure has found.
find_cuda() {
    local -a found
    mapfile -t found < <("$srcdir/build-aux/find-cuda" "$(sed -n 's/^CUDA_DIR = //p' "$build/Makefile")")
    cuda_headers=${found[1]} cuda_libraries=${found[3]}
}

# build_example COMPILER FILE FLAG...: as ./example.
build_example() {
    local compiler=$1 file=$2
    shift 2
    command -v "$compiler" >/dev/null || skip "no $compiler"
    # clang has its run-time in programs that it links, and not in libraries.
    ! grep -q __asan_init "$AUTOTUNE" || set -- "$@" -Wl,--unresolved-symbols=ignore-in-shared-libs
    "$compiler" -Wall -Wextra -Werror "-I$srcdir/src/lib" "-I$srcdir/bindings/cpp" "-I$cuda_headers" \
        "$srcdir/examples/$file" -o example "-L$build/.libs" -lautotune "$@"
}

# As of an installed copy.
use_library() {
    export LD_LIBRARY_PATH=$build/.libs:$cuda_libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export AUTOTUNE_DATADIR=$srcdir XDG_DATA_HOME=$BATS_TEST_TMPDIR/data
    unset AUTOTUNE_PROFILE_PATH
}

# make_stub FILE: stub/libcuda.so.1 for a C program. All its calls fail, as those of the toolkit's stub do. A program that is
# linked with it takes the driver where there is one.
make_stub() {
    mkdir stub
    cc -c "-I$srcdir/src/lib" "-I$cuda_headers" "$1" -o stub/example.o
    nm -u stub/example.o | sed -n 's/^ *U \(cu.*\)/int \1(void) { return 34; }/p' |
        cc -shared -Wl,-soname,libcuda.so.1 -x c - -o stub/libcuda.so.1
}

# build_driver FILE: of the driver API.
build_driver() {
    make_stub "$srcdir/examples/$1"
    build_example cc "$1" -std=c99 stub/libcuda.so.1
}

build_runtime() {
    local -a runtime=("$cuda_libraries"/libcudart.so*)
    [ -e "${runtime[0]}" ] || skip "no CUDA runtime"
    build_example c++ runtime.cc -std=c++17 "${runtime[0]}"
}
