#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Plans of libautotune on a GPU: right in every byte, and as fast to make and to start as is promised.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    find_device
    plan_run=$(dirname "$AUTOTUNE")/tests/gpu/plan-run
    export plan_run
    export AUTOTUNE_DATADIR=$srcdir profile=$srcdir/results/nvidia-h200.yaml
}

setup() {
    need_device
}

# check CONTEXT
check() {
    run -0 timeout --kill-after=5 300 "$plan_run" check "$1" "$profile"
    echo "$output"
    [[ ${lines[-1]} == '440 runs, 0 wrong' ]]
}

@test "plans are right at any address, started and captured, in a context of the driver API" {
    check driver
}

@test "plans are right in the context that the runtime API uses" {
    check primary
}

@test "all calls are timed" {
    run -0 timeout --kill-after=5 100 "$plan_run" speed primary "$profile"
    echo "$output"
    [[ $output == *'execute over a bare launch: '* ]]
}
