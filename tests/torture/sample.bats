#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# System calls of a run that fail, or are its last before a kill: a seeded sample. With AUTOTUNE_TEST_WHOLE in
# the environment it has all scenarios and is 24 times as large. `make torture` takes all points.

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

# tortured SCENARIO POINTS: this many points of the scenario, or 24 times as many, break no rule.
tortured() {
    local torture=${AUTOTUNE%/*}/tests/torture/torture points=$2
    [ -z "$AUTOTUNE_TEST_WHOLE" ] || points=$((24 * points))
    [ -x "$torture" ] || skip "$torture is not built"
    run "$torture" --sample "$points" "$1"
    [ "$status" -ne 77 ] || skip "${lines[-1]}"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "tune survives failing calls" {
    need_nvrtc
    tortured tune 3
}

@test "tune with an old profile survives failing calls" {
    is_long
    need_nvrtc
    tortured onto 1
}

@test "tune --resume survives failing calls" {
    is_long
    need_nvrtc
    tortured resume 1
}

@test "tune with nothing compiled survives failing calls" {
    is_long
    need_nvrtc
    tortured cold 1
}

@test "export survives failing calls" {
    need_nvrtc
    tortured export 1
}

@test "check survives failing calls" {
    is_long
    need_nvrtc
    tortured check 1
}

@test "merge survives failing calls" {
    tortured merge 3
}

@test "show survives failing calls" {
    tortured show 2
}

@test "lookup survives failing calls" {
    tortured lookup 3
}

@test "cache --clear survives failing calls" {
    tortured clear 3
}
