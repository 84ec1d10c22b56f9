#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune check with the program's own families, on a profile of a device that does not exist.

bats_require_minimum_version 1.5.0

setup() {
    profile=$BATS_TEST_TMPDIR/profile.yaml
    cp "$srcdir/tests/golden/check/sound.yaml" "$profile"
}

# unsound WORDS SED-SCRIPT: the profile with this change is unsound; the report begins with WORDS.
unsound() {
    sed "$2" "$srcdir/tests/golden/check/sound.yaml" >"$profile"
    run --separate-stderr -1 "$AUTOTUNE" check "$profile"
    [[ $output == "250x500:b4: $1"* ]] || {
        printf '%s\n' "$2" "expected: $1" "got:      $output"
        return 1
    }
    [ "$stderr" = "autotune: $profile: $((${#lines[@]})) config$([ ${#lines[@]} -eq 1 ] && echo ' does' || echo 's do') not hold" ]
}

@test "a sound profile is called sound" {
    run --separate-stderr -0 "$AUTOTUNE" check "$profile"
    [ "$output" = "$profile: sound: 1 problem on 1 device" ]
    [ -z "$stderr" ]
}

@test "a family that does not exist is found" {
    unsound 'winner: there is no family "nothing"' '60,99s/family: naive/family: nothing/'
    unsound 'default: there is no family "nothing"' '1,50s/family: naive/family: nothing/'
}

@test "a config outside its space is found" {
    unsound 'winner: BLOCK_X=100 is not in the space' 's/BLOCK_X: 128/BLOCK_X: 100/'
    unsound 'winner: family naive has no parameter BLOCK_Z' 's/BLOCK_Y: 4/BLOCK_Z: 4/'
    unsound 'winner: family naive has 4 parameters, not 3' '/READ_ONLY: 1/d'
}

@test "a config that breaks a constraint is found" {
    unsound 'winner: illegal here: the constraint ' 's/BLOCK_X: 128/BLOCK_X: 16/'
    unsound 'default: illegal here: the constraint ' 's/BLOCK_Y: 8/BLOCK_Y: 1/'
}

@test "a config that the device does not allow is found" {
    unsound 'winner: illegal here: a block of 512 threads; the device allows 256' \
        's/max_threads_per_block: 1024/max_threads_per_block: 256/'
}

@test "a launch that does not follow from the config is found" {
    unsound 'winner: the launch is not the one' 's/grid: \[250, 1, 1\]/grid: [250, 2, 1]/'
    unsound 'winner: the launch is not the one' 's/block: \[128, 4, 1\]/block: [4, 128, 1]/'
    unsound 'default: the launch is not the one' 's/grid: \[512, 1, 1\]/grid: [511, 1, 1]/'
}

@test "every fault of a profile is reported" {
    unsound 'winner: ' 's/family: naive/family: nothing/'
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[1]} == '250x500:b4: default: there is no family "nothing"' ]]
}
