#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune show, on profiles of devices that this machine does not have.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    find_nvrtc
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
}

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
        # Only lines with a long name may be longer.
        run ! grep -E '.{81}' < <(grep -vE '[^ ]{50}' <<<"$shown")
        # From the titles to the empty line below them. What follows a long name has a line of its own.
        count=$(awk '/^problem/ {on = 1; next} /^$/ {on = 0} on && /^[^ ]/' <<<"$shown" | wc -l)
        [ "$count" -eq "$(grep -cE "problem: |^    - ('|group=)" "$profile")" ]
    done
}

@test "several profiles are an array in JSON, and one is an object" {
    one=$("$AUTOTUNE" show --format json "$golden/least.yaml")
    two=$("$AUTOTUNE" show --format json "$golden/two-devices.yaml")
    [[ $one == '{'* ]]
    diff <(printf '[\n%s\n,\n%s\n]\n' "$one" "$two") \
        <("$AUTOTUNE" show --format json "$golden/least.yaml" "$golden/two-devices.yaml")
}

# files.bats shows profiles that are refused.
@test "a file that there is not" {
    run --separate-stderr -2 "$AUTOTUNE" show "$BATS_TEST_TMPDIR/none.yaml"
    [[ $stderr == *"$BATS_TEST_TMPDIR/none.yaml"* ]]
}

@test "output to a full disk is an error" {
    [ -c /dev/full ] || skip "no /dev/full"
    for format in table json csv markdown; do
        # shellcheck disable=SC2016 # the inner shell expands it
        run --separate-stderr -2 bash -c '"$AUTOTUNE" show --format "$2" "$1" >/dev/full' - "$golden/least.yaml" $format
        [ "$stderr" = 'autotune: cannot write to standard output: No space left on device' ]
    done
}

@test "--top without a journal says what it reads" {
    cp "$srcdir/tests/golden/check/sound.yaml" "$BATS_TEST_TMPDIR/alone.yaml"
    cd "$BATS_TEST_TMPDIR"
    refused '--top reads the journal that a run leaves beside its profile, and there is no alone.yaml.journal' \
        show --top 3 alone.yaml
}

@test "--top ranks the configs of the newest run in the journal" {
    is_long
    need_nvrtc
    cd "$BATS_TEST_TMPDIR"
    tune=("$AUTOTUNE" tune --gpu emu --quiet --out best.yaml 64x64:f32 48x80:f16)
    "${tune[@]}" --budget 12 >/dev/null
    run -0 "$AUTOTUNE" show --top 100 --format csv best.yaml
    rows=$(sed 1d <<<"$output")
    [ "$(wc -l <<<"$rows")" -eq 12 ]
    for problem in 64x64:f32 48x80:f16; do
        # Ranks count from 1, and times do not fall.
        awk -F, -v problem="$problem" '$1 == problem {
            if ($2 != ++rank || $3 + 0 < time) wrong = 1
            time = $3
        } END {exit wrong || rank != 6}' <<<"$rows"
        # An emulated device repeats its times: the first is the profile's winner.
        winner=$("$AUTOTUNE" show --format csv best.yaml | awk -F, -v problem="$problem" '$3 == problem {print $4, $5}')
        [ "$winner" = "$(awk -F, -v problem="$problem" '$1 == problem && $2 == 1 {print $6, $7}' <<<"$rows")" ]
    done
    run -0 "$AUTOTUNE" show --top 2 best.yaml.journal
    run ! grep -E '.{81}' <<<"$output"
    "${tune[@]}" --budget 4 >/dev/null
    run -0 "$AUTOTUNE" show --top 100 --format csv best.yaml
    [ "$(sed 1d <<<"$output" | wc -l)" -eq 4 ]
    refused 'least.yaml.journal' show --top 3 "$golden/least.yaml"
    refused 'one file at a time' show --top 3 best.yaml best.yaml
}
