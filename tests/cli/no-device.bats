#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Where there is no GPU, or none that this process may use, what needs one says so and ends with 3.

bats_require_minimum_version 1.5.0

setup() {
    export CUDA_VISIBLE_DEVICES=-1
}

no_device() {
    run --separate-stderr -3 "$AUTOTUNE" "$@"
    [ -z "$output" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "autotune: no "* ]]
}

@test "list" {
    no_device list
    no_device list --format json
}

@test "tune leaves neither profile nor journal" {
    no_device tune
    no_device tune --dry-run
    mkdir "$BATS_TEST_TMPDIR/out"
    no_device --problem 64x64:f32 --out "$BATS_TEST_TMPDIR/out/best.yaml"
    [ -z "$(ls -A "$BATS_TEST_TMPDIR/out")" ]
}

@test "bench" {
    no_device bench --problem 64x64:f32
}
