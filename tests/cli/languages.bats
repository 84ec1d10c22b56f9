#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# One list of random problems in C, C++, Fortran, Python and Rust, with a driver that runs kernels on the emulated device.
# tests/gpu/languages.bats runs a longer list on a GPU.

bats_require_minimum_version 1.5.0
load ../examples
load ../languages

has_asan() {
    grep -q __asan_init "$AUTOTUNE"
}

setup_file() {
    ! has_asan && command -v python3 >/dev/null || return 0
    cd "$BATS_FILE_TMPDIR" || return
    export XDG_CACHE_HOME=$PWD/cache
    use_list_libraries
    # Its own dlopen is for programs that contain it. The archives refer to each other.
    cc -O1 -shared -fPIC -Wl,-soname,libcuda.so.1 -Wl,--exclude-libs,ALL -Ddlopen=unused_dlopen "-I$srcdir/src" \
        -o libcuda.so.1 "$srcdir/tests/bindings/emulator.c" -Wl,--start-group "$build/libautotune_internal.a" \
        "$build/.libs/libautotune_common.a" -Wl,--end-group -lm -ldl -lpthread
    build_device libcuda.so.1
    "$srcdir/tests/bindings/draw-problems" --count 300 --elements 2000 >list
}

setup() {
    ! has_asan || skip "a program without AddressSanitizer cannot load a library with it"
    command -v python3 >/dev/null || skip "no python3"
    cd "$BATS_FILE_TMPDIR" || return
}

# transposes LANGUAGE: all problems of the list.
transposes() {
    has_tools "$1" || skip "no compiler for $1"
    build_list "$1" libcuda.so.1
    run "./list-$1" list
    echo "$output"
    [ "$status" -eq 0 ] && [ "${lines[-1]}" = '300 problems, 0 differ' ]
}

@test "C: random problems, bit for bit" {
    transposes C
}

@test "C++: random problems, bit for bit" {
    transposes C++
}

@test "Fortran: random problems, bit for bit" {
    transposes Fortran
}

@test "Python: random problems, bit for bit" {
    transposes Python
}

@test "Rust: random problems, bit for bit" {
    transposes Rust
}

@test "a program that calls its library differently finds that results differ" {
    sed 's/problem->src_first \* problem->bytes;/& execution.src = src;/' "$srcdir/tests/bindings/transpose_list.c" \
        >shifted.c
    cc -std=c11 "-I$srcdir/src/lib" "-I$srcdir/tests/bindings" shifted.c -o shifted libdevice.so libcuda.so.1 \
        "-L$build/.libs" -lautotune
    run -1 ./shifted list
    [[ $output == *'problem '*' differs'* ]]
}
