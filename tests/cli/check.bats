#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune check, which holds a profile against the spaces without a device.

bats_require_minimum_version 1.5.0

golden=$srcdir/tests/golden/profile
ktt=$srcdir/tests/data/ktt.yaml

# A sound profile: the least one, with a winner from the family of tests/data/ktt.yaml.
setup() {
    profile=$BATS_TEST_TMPDIR/profile.yaml
    sed -e 's/family: tile/family: ktt/' -e 's/grid: .*/grid: [128, 128, 1]/' \
        -e '/^        [A-Z_]*:/d' \
        -e '/parameters:/a\        CR: 0' \
        -e '/parameters:/a\        DIAGONAL_MAP: 0' \
        -e '/parameters:/a\        LOCAL_MEM: 1' \
        -e '/parameters:/a\        PADD_LOCAL: 1' \
        -e '/parameters:/a\        TILE_SIZE_X: 32' \
        -e '/parameters:/a\        TILE_SIZE_Y: 32' \
        -e '/parameters:/a\        VECTOR_TYPE: 1' \
        -e '/parameters:/a\        WORK_GROUP_SIZE_X: 32' \
        -e '/parameters:/a\        WORK_GROUP_SIZE_Y: 8' \
        "$golden/least.yaml" >"$profile"
}

# fails WORDS: the profile does not hold, for this reason.
fails() {
    run --separate-stderr -1 "$AUTOTUNE" check --space "$ktt" "$profile"
    [[ $output == *"$1"* ]]
    [[ $stderr == "autotune: $profile: "* ]]
}

@test "a sound profile" {
    run --separate-stderr -0 "$AUTOTUNE" check --space "$ktt" "$profile"
    [ "$output" = "$profile: sound: 1 problem on 1 device" ]
    [ -z "$stderr" ]
}

@test "the profiles that come with the program" {
    for shipped in "$srcdir"/results/*.yaml; do
        [ -e "$shipped" ] || skip "none yet"
        run -0 "$AUTOTUNE" check "$shipped"
    done
}

@test "a config that breaks a constraint" {
    sed -i 's/VECTOR_TYPE: 1/VECTOR_TYPE: 2/' "$profile"
    fails 'winner: illegal here'
}

@test "a value that the parameter does not have" {
    sed -i 's/TILE_SIZE_Y: 32/TILE_SIZE_Y: 33/' "$profile"
    fails 'TILE_SIZE_Y'
}

@test "a launch that the config does not have" {
    sed -i 's/grid: .*/grid: [128, 64, 1]/' "$profile"
    fails 'winner: the launch is not the one'
}

@test "a family that is not known" {
    run --separate-stderr -1 "$AUTOTUNE" check "$profile"
    [[ $output == *'there is no family "ktt"'* ]]
}

@test "figures that contradict each other, and files that are no profile, end with 2" {
    for name in of-copy bandwidth unknown-key; do
        run --separate-stderr -2 "$AUTOTUNE" check "$golden/bad-$name.yaml"
        [ -z "$output" ]
        [ "$stderr" = "autotune: $golden/$(<"$golden/bad-$name.err")" ]
    done
}
