#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The examples build without warnings, and without a GPU they end with a message. On a GPU,
# tests/gpu/plan.bats runs them.

bats_require_minimum_version 1.5.0
load ../examples

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    find_cuda
    use_library
    export CUDA_VISIBLE_DEVICES= # the same result on a machine with a GPU
}

# ends_with_message COMMAND...: the command ends with a message and exit code 3, without a crash.
ends_with_message() {
    if grep -q __asan_init "$AUTOTUNE"; then
        skip "a program without AddressSanitizer cannot load a library with it"
    fi
    run --separate-stderr -3 "$@"
    [ -n "$stderr" ]
    [ -z "$output" ]
}

@test "the C example, with the driver API, builds and ends with a message" {
    build_driver driver.c
    LD_LIBRARY_PATH=$PWD/stub:$LD_LIBRARY_PATH ends_with_message ./example
}

@test "the example with steps builds and ends with a message" {
    build_driver step.c
    LD_LIBRARY_PATH=$PWD/stub:$LD_LIBRARY_PATH ends_with_message ./example
}

@test "the library takes each execution of the example with steps" {
    if grep -q __asan_init "$AUTOTUNE"; then
        skip "a program without AddressSanitizer cannot load a library with it"
    fi
    build_driver step.c
    # This driver runs nothing, so no result is right that is not 0. Its own dlopen is for programs that contain it.
    cc -O1 -shared -fPIC -Ddlopen=unused_dlopen -o libcuda.so.1 "$srcdir/tests/cli/driver.c" -ldl
    unset CUDA_VISIBLE_DEVICES
    LD_LIBRARY_PATH=$PWD:$LD_LIBRARY_PATH run --separate-stderr -1 ./example
    [ -z "$stderr" ]
    [ "$(cut -d' ' -f1 <<<"$output")" = $'u8:f32,scale:\nu8:f32,affine=cols:\nu8:f32,alpha,beta:' ]
}

@test "the C++ example, with the runtime API, builds and ends with a message" {
    build_runtime
    ends_with_message ./example
}
