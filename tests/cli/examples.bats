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

@test "the example with a step builds and ends with a message" {
    build_driver step.c
    LD_LIBRARY_PATH=$PWD/stub:$LD_LIBRARY_PATH ends_with_message ./example
}

@test "the C++ example, with the runtime API, builds and ends with a message" {
    build_runtime
    ends_with_message ./example
}
