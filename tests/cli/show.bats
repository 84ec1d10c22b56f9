#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune show, on profiles of devices that this machine does not have.

bats_require_minimum_version 1.5.0
load helpers

golden=$srcdir/tests/golden/profile

@test "tables and JSON" {
    assert_transcript "$srcdir/tests/golden/show.txt"
}

@test "a pipe gets no colours" {
    run -0 "$AUTOTUNE" show "$golden/two-devices.yaml"
    [[ $output != *$'\e'* ]]
}

@test "a line for each problem, at most 80 columns wide" {
    for profile in "$srcdir"/results/*.yaml; do
        run -0 "$AUTOTUNE" show "$profile"
        shown=$output
        run ! grep -E '.{81}' <<<"$shown"
        # From the titles to the empty line below them.
        count=$(awk '/^problem/ {on = 1; next} /^$/ {on = 0} on' <<<"$shown" | wc -l)
        [ "$count" -eq "$(grep -c 'problem: ' "$profile")" ]
    done
}

# files.bats shows profiles that are refused.
@test "a file that there is not" {
    run --separate-stderr -2 "$AUTOTUNE" show "$BATS_TEST_TMPDIR/none.yaml"
    [[ $stderr == *"$BATS_TEST_TMPDIR/none.yaml"* ]]
}

@test "output to a full disk is an error" {
    [ -c /dev/full ] || skip "no /dev/full"
    # shellcheck disable=SC2016 # the inner shell expands it
    run --separate-stderr -5 bash -c '"$AUTOTUNE" show "$1" >/dev/full' - "$golden/least.yaml"
    [[ $stderr == *"cannot write to standard output"* ]]
}
