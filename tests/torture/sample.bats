#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Calls of a run that fail, or are its last: a seeded sample of the points, as many as take a minute on two
# CPUs. `make torture` takes all of them; doc/robustness.md tells of such a run.

bats_require_minimum_version 1.5.0
load ../cli/helpers

setup_file() {
    find_nvrtc
}

setup() {
    if grep -q __asan_init "$AUTOTUNE"; then
        skip "built for AddressSanitizer, which has calls of its own"
    fi
}

# tortured SCENARIO POINTS
tortured() {
    local torture=${AUTOTUNE%/*}/tests/torture/torture
    [ -x "$torture" ] || skip "$torture is not built"
    run "$torture" --sample "$2" "$1"
    [ "$status" -ne 77 ] || skip "${lines[-1]}"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "tune, anew" {
    need_nvrtc
    tortured tune 70
}

@test "tune, where there is an old profile" {
    need_nvrtc
    tortured onto 20
}

@test "tune --resume" {
    need_nvrtc
    tortured resume 20
}

@test "tune, with nothing compiled" {
    need_nvrtc
    tortured cold 20
}

@test "export" {
    need_nvrtc
    tortured export 20
}

@test "check" {
    need_nvrtc
    tortured check 20
}

@test "merge" {
    tortured merge 30
}

@test "show" {
    tortured show 10
}

@test "lookup" {
    tortured lookup 20
}

@test "cache --clear" {
    tortured clear 20
}
