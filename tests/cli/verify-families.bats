#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The program that tests/gpu/sanitizer.bats runs, on the emulated device: it looks at what it was told
# to look at, and tells what is wrong.

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

# With nine configs for two problems, the second gets five.
@test "families take turns, until there are as many configs as asked for" {
    run --separate-stderr -0 "$verify_families" emulated 9 --copies 2 --family naive --family tile \
        --problem 5x7:f32 --problem 8x8:b1
    [ "$output" = 'verified 13 configs of 3 families on 2 problems: 0 wrong' ]
}

# fault FAULT: verifies a config that is right and one with this fault.
fault() {
    variant "$1"
    run --separate-stderr "$verify_families" emulated 2 --space fault.yaml --family fault --family naive \
        --problem 5x7:f32
}

@test "a wrong kernel is told, and the others are verified as well" {
    fault 5
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == 'fault FAULT=5 for 5x7:f32: wrong: '*' wrong elements in the destination'* ]]
    [ "${lines[1]}" = 'verified 2 configs of 2 families on 1 problems: 1 wrong' ]
}

@test "a source that has changed is told" {
    fault 9
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == 'fault FAULT=9 for 5x7:f32: wrong: '*' wrong elements in the source'* ]]
}

@test "after a crash nothing else is taken for verified" {
    fault 2
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == 'fault FAULT=2 for 5x7:f32: crash: '* ]]
    [ "${lines[1]}" = 'the device is lost: 1 configs were not looked at' ]
    [ "${lines[2]}" = 'verified 1 configs of 2 families on 1 problems: 1 wrong' ]
}

@test "nothing verified is no success" {
    run --separate-stderr -2 "$verify_families" emulated 5 --family inplace --problem 5x7:f32
    run --separate-stderr -2 "$verify_families" emulated 5 --family unknown --problem 5x7:f32
    [[ $stderr == *'there is no family "unknown"'* ]]
}

# On a GPU the result is right.
@test "a race in shared memory is told" {
    fault 15
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == 'fault FAULT=15 for 5x7:f32: crash: '*'race in shared memory'* ]]
}
