#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Plans of libautotune and the examples on a GPU: their results, and the time of the calls.

bats_require_minimum_version 1.5.0
load helpers
load ../examples

setup_file() {
    find_device
    plan_run=$(dirname "$AUTOTUNE")/tests/gpu/plan-run
    export plan_run
    export AUTOTUNE_DATADIR=$srcdir profile=$srcdir/results/nvidia-h200.yaml
}

setup() {
    need_device
}

# check CONTEXT: all plans are right in this kind of context.
check() {
    run -0 timeout --kill-after=5 300 "$plan_run" check "$1" "$profile"
    echo "$output"
    [[ ${lines[-1]} == '3056 runs, 0 wrong' ]]
}

@test "plans are right in a context of the driver API" {
    check driver
}

@test "plans are right in the context that the runtime API uses" {
    check primary
}

# transposed WORDS PROGRAM...: the example prints WORDS, which say that all is right.
transposed() {
    timeout --kill-after=5 100 "${@:2}" >said
    cat said
    [ "$(<said)" = "$1" ]
}

@test "plans that measure are right, and say what they measured" {
    local model said='nothing: no other config has been correct on this model of device'
    model=$(sed -n '/^    name: /{s///p;q}' "$profile")
    ! grep -qF "$model" "$BATS_FILE_TMPDIR/list" || said=' us, the best of '
    AUTOTUNE_PROGRAM=$AUTOTUNE run -0 timeout --kill-after=5 300 "$plan_run" measure driver "$profile"
    echo "$output"
    [[ $output == *"$said"* && ${lines[-1]} == '0 wrong' ]]
}

@test "the C example, with the driver API, is right" {
    find_cuda
    use_library
    build_driver driver.c
    transposed '0 of 3000000 elements are wrong' ./example
}

@test "the example with steps is right" {
    find_cuda
    use_library
    build_driver step.c
    transposed "$(printf '%s: 0 of 3000000 elements are wrong\n' u8:f32,scale u8:f32,affine=cols u8:f32,alpha,beta)" \
        ./example
}

@test "the C++ example, with the runtime API, is right" {
    find_cuda
    use_library
    build_runtime
    transposed '0 of 1005000 elements are wrong' ./example
}

@test "the Python example, with PyTorch tensors, is right" {
    python3 -c 'import torch' 2>/dev/null || skip "no PyTorch"
    find_cuda
    use_library
    transposed '38 tensors are right' env PYTHONPATH="$srcdir/python" PYTHONDONTWRITEBYTECODE=1 \
        python3 "$srcdir/examples/tensors.py"
}

@test "the Python example of a mixture of experts is right" {
    python3 -c 'import torch' 2>/dev/null || skip "no PyTorch"
    find_cuda
    use_library
    transposed '20 batches are right' env PYTHONPATH="$srcdir/python" PYTHONDONTWRITEBYTECODE=1 \
        python3 "$srcdir/examples/experts.py"
}

@test "all calls are timed" {
    run -0 timeout --kill-after=5 100 "$plan_run" speed primary "$profile"
    echo "$output"
    [[ $output == *'execute over a bare launch: '* ]]
}
