#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The Python package over the library of this build tree, without a GPU. tests/gpu/wheel uses one.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    local build
    build=$(dirname "$AUTOTUNE")
    command -v python3 >/dev/null || skip "no python3"
    if grep -q __asan_init "$AUTOTUNE"; then
        skip "a program without AddressSanitizer cannot load a library with it"
    fi
    cd "$BATS_TEST_TMPDIR" || return
    export PYTHONPATH=$srcdir/python PYTHONDONTWRITEBYTECODE=1 SOURCE=$srcdir AUTOTUNE_DATADIR=$srcdir
    export AUTOTUNE_LIBRARY=$build/.libs/libautotune.so.0 XDG_DATA_HOME=$PWD/data
    unset AUTOTUNE_NVRTC AUTOTUNE_PROFILE_PATH
}

# passes TEST: all of this file's tests pass, or are skipped.
passes() {
    run python3 "$srcdir/tests/python/$1.py"
    echo "$output"
    [ "$status" -eq 0 ] && [[ $output == *OK* ]]
}

@test "without a driver: lookups, errors, and what ctypes is told" {
    passes test_lookup
}

@test "with a driver that runs nothing: arrays of all kinds, plans, streams" {
    command -v cc >/dev/null || skip "no cc"
    cc -O1 -shared -fPIC -o libcuda.so.1 "$srcdir/tests/python/driver.c" -ldl
    LD_LIBRARY_PATH=$PWD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} passes test_arrays
    LD_LIBRARY_PATH=$PWD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} passes test_objects
    LD_LIBRARY_PATH=$PWD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} passes test_many
}

@test "without a GPU: arrays of NumPy and PyTorch in host memory" {
    python3 -c 'import numpy' 2>/dev/null || skip "no NumPy"
    passes test_host
}

@test "PyTorch's operator: gradients, fake tensors, torch.compile" {
    is_long
    python3 -c 'import torch; torch.library.custom_op' 2>/dev/null || skip "no PyTorch 2.4 or newer"
    passes test_torch
    passes test_torch_many
}

@test "bytes of block scales are those of their libraries' definitions" {
    is_long
    python3 -c 'import torch; torch.float8_e5m2' 2>/dev/null || skip "no PyTorch with types of 8 bits"
    run -0 python3 "$srcdir/tests/python/compare_bytes.py" "$(dirname "$AUTOTUNE")/tests/python/block-bytes" 100000
    echo "$output"
    [[ $output == *' blocks, 0 bytes differ' ]]
}

@test "what JAX's compiler calls" {
    is_long
    python3 -c 'import jax.ffi' 2>/dev/null || skip "no JAX"
    passes test_jax
}

@test "the command runs the program of the package, with its arguments and exit code" {
    cp -r "$srcdir/python/transpose_autotune" .
    mkdir transpose_autotune/bin
    ln -s "$AUTOTUNE" transpose_autotune/bin/autotune
    PYTHONPATH=$PWD run -0 python3 -m transpose_autotune --version
    [[ $output == autotune\ * ]]
    PYTHONPATH=$PWD run -2 python3 -m transpose_autotune lookup --device
    rm transpose_autotune/bin/autotune
    PYTHONPATH=$PWD run -1 python3 -m transpose_autotune --version
    [[ $output == *'it comes with the wheel'* ]]
}

@test "AUTOTUNE_NVRTC names the compiler" {
    export XDG_CACHE_HOME=$PWD/cache
    AUTOTUNE_NVRTC=/nowhere/libnvrtc.so run -3 "$AUTOTUNE" tune --gpu emu --problem 64x64:f32 --budget 1
    [[ $output == *'cannot open /nowhere/libnvrtc.so '* ]]
}
