#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The program of tests/gpu/sanitizer.bats, on the emulated device: it verifies the configs that it
# should, and reports the wrong ones.

bats_require_minimum_version 1.5.0
load helpers
load ../gpu/helpers

# shellcheck disable=SC2034 # for variant
faults=$srcdir/tests/gpu/fault.yaml
verify_families=$(dirname "$AUTOTUNE")/tests/gpu/verify-families

setup_file() {
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
    find_nvrtc
}

setup() {
    need_nvrtc
    cd "$BATS_TEST_TMPDIR" || return 1
}

# Of nine configs, the first problem gets four and the second five. Each gets two copies as well.
@test "families take turns until there are enough configs" {
    run --separate-stderr -0 "$verify_families" emulated 9 --copies 2 --family naive --family tile \
        --problem 5x7:f32 --problem 8x8:b1
    [ "$output" = 'verified 13 configs of 3 families on 2 problems: 0 wrong' ]
}

# fault FAULT: verify a correct config and one with this fault.
fault() {
    variant "$1"
    run --separate-stderr "$verify_families" emulated 2 --space fault.yaml --family fault --family naive \
        --problem 5x7:f32
}

@test "a wrong kernel is reported, and the others are still verified" {
    fault 5
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == 'fault FAULT=5 for 5x7:f32: wrong: '*' wrong elements in the destination'* ]]
    [ "${lines[1]}" = 'verified 2 configs of 2 families on 1 problems: 1 wrong' ]
}

@test "a changed source is reported" {
    fault 9
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == 'fault FAULT=9 for 5x7:f32: wrong: '*' wrong elements in the source'* ]]
}

@test "after a crash, no other config counts as verified" {
    fault 2
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == 'fault FAULT=2 for 5x7:f32: crash: '* ]]
    [ "${lines[1]}" = 'the device is lost: 1 configs were not looked at' ]
    [ "${lines[2]}" = 'verified 1 configs of 2 families on 1 problems: 1 wrong' ]
}

@test "verifying nothing is an error" {
    run --separate-stderr -2 "$verify_families" emulated 5 --family inplace --problem 5x7:f32
    run --separate-stderr -2 "$verify_families" emulated 5 --family unknown --problem 5x7:f32
    [[ $stderr == *'there is no family "unknown"'* ]]
}

# On a GPU the same kernel gives the right result.
@test "a race in shared memory is reported" {
    fault 15
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == 'fault FAULT=15 for 5x7:f32: crash: '*'race in shared memory'* ]]
}
