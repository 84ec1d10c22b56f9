#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune show, on profiles of devices that this machine does not have.

bats_require_minimum_version 1.5.0

golden=$srcdir/tests/golden/profile

@test "a profile is shown as a table" {
    for name in least two-devices; do
        "$AUTOTUNE" show "$golden/$name.yaml" | diff - "$golden/$name.txt"
    done
}

@test "a profile is shown as JSON" {
    for name in least two-devices; do
        "$AUTOTUNE" show --format json "$golden/$name.yaml" | diff - "$golden/$name.json"
    done
}

@test "a pipe gets no colours" {
    run -0 "$AUTOTUNE" show "$golden/two-devices.yaml"
    [[ $output != *$'\e'* ]]
}

@test "a file that is no profile is refused with its place" {
    for name in unknown-key truncated wrong-kind; do
        run --separate-stderr -2 "$AUTOTUNE" show "$golden/bad-$name.yaml"
        [ -z "$output" ]
        [ "$stderr" = "autotune: $golden/$(<"$golden/bad-$name.err")" ]
    done
    run --separate-stderr -2 "$AUTOTUNE" show "$BATS_TEST_TMPDIR/none.yaml"
    [[ $stderr == *"$BATS_TEST_TMPDIR/none.yaml"* ]]
}

@test "output to a full disk is an error" {
    [ -c /dev/full ] || skip "no /dev/full"
    # shellcheck disable=SC2016 # the inner shell expands it
    run --separate-stderr -5 bash -c '"$AUTOTUNE" show "$1" >/dev/full' - "$golden/least.yaml"
    [[ $stderr == *"cannot write to standard output"* ]]
}
