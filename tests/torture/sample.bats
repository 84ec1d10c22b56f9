#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# System calls of a run that fail, or are its last before a kill: a seeded sample. With AUTOTUNE_TEST_WHOLE in
# the environment it is twelve times as large, and `make torture` takes all points.

bats_require_minimum_version 1.5.0
load ../cli/helpers

setup_file() {
    find_nvrtc
}

setup() {
    if grep -q __asan_init "$AUTOTUNE"; then
        skip "built for AddressSanitizer, which makes its own calls"
    fi
}

# tortured SCENARIO POINTS: this many points of the scenario, or twelve times as many, break no rule.
tortured() {
    local torture=${AUTOTUNE%/*}/tests/torture/torture points=$2
    [ -z "$AUTOTUNE_TEST_WHOLE" ] || points=$((12 * points))
    [ -x "$torture" ] || skip "$torture is not built"
    run "$torture" --sample "$points" "$1"
    [ "$status" -ne 77 ] || skip "${lines[-1]}"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "tune survives failing calls" {
    need_nvrtc
    tortured tune 6
}

@test "tune with an old profile survives failing calls" {
    need_nvrtc
    tortured onto 2
}

@test "tune --resume survives failing calls" {
    need_nvrtc
    tortured resume 2
}

@test "tune with nothing compiled survives failing calls" {
    need_nvrtc
    tortured cold 2
}

@test "export survives failing calls" {
    need_nvrtc
    tortured export 2
}

@test "check survives failing calls" {
    need_nvrtc
    tortured check 2
}

@test "merge survives failing calls" {
    tortured merge 6
}

@test "show survives failing calls" {
    tortured show 3
}

@test "lookup survives failing calls" {
    tortured lookup 5
}

@test "cache --clear survives failing calls" {
    tortured clear 5
}
