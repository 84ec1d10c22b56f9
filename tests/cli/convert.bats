#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Recordings in the formats of other tuners, and files that other tuners wrote.

bats_require_minimum_version 1.5.0
load helpers

recordings=$srcdir/tests/recordings
others=$srcdir/tests/data/interchange

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

@test "converting a recording to another format and back changes no byte" {
    is_long
    for recording in "$recordings"/*.recording; do
        for format in kernel-tuner t4; do
            "$AUTOTUNE" convert --to "$format" --out there.json "$recording"
            "$AUTOTUNE" convert --to recording there.json | cmp - "$recording"
        done
    done
}

@test "converting between the two other formats and back changes no byte" {
    one=$recordings/h200-10007x10009-b1.recording
    "$AUTOTUNE" convert --to t4 "$one" >one.json
    "$AUTOTUNE" convert --to kernel-tuner --out - one.json >two.json
    "$AUTOTUNE" convert --to t4 -o three.json two.json
    cmp one.json three.json
}

@test "--family writes one family, in any format" {
    one=$recordings/h200-10007x10009-f16.recording
    "$AUTOTUNE" convert --to recording --family tile --out tile.recording "$one"
    [ "$(grep -c '^family' tile.recording)" -eq 1 ]
    [ "$(grep -cE '^[0-9-]+ ' tile.recording)" -eq "$(sed -n 's/^family\ttile\t.*\t//p' "$one")" ]
    for format in kernel-tuner t4; do
        "$AUTOTUNE" convert --to "$format" --family tile --out tile.json "$one"
        "$AUTOTUNE" convert --to recording tile.json | cmp - tile.recording
    done
    refused 'no family "tiel" (did you mean tile' convert --to t4 --family tiel "$one"
}

@test "a search takes the same course on a recording in any format" {
    one=$recordings/h200-10007x10009-b1.recording
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search guided,genetic --runs 3
    expected=$output
    for format in kernel-tuner t4; do
        "$AUTOTUNE" convert --to "$format" --out one.json "$one"
        run --separate-stderr -0 "$AUTOTUNE" replay one.json --search guided,genetic --runs 3
        [ "$output" = "$expected" ]
    done
}

@test "files of other tuners are replayed, and converted between their formats" {
    run --separate-stderr -0 "$AUTOTUNE" replay "$others/kernel-tuner.json" "$others/t4.json" \
        --runs 2 --winners
    [[ $output == *'vector_add [10000000, 1] on Some GPU: 5 configs, the best 27008 ns'* ]]
    [[ $output == *'a kernel that T4 does not name on a device that T4 does not name: 4 configs'* ]]
    # Times and failures are the same in both, and what a format can hold is not lost.
    "$AUTOTUNE" convert --to kernel-tuner --out one.json "$others/kernel-tuner.json"
    grep -qx '"kernel_name": "vector_add",' one.json
    grep -qx '"problem_size": \[10000000, 1\],' one.json
    grep -qx '"tune_params_keys": \["block_size_x", "use_padding", "tile_size_x"\],' one.json
    [ "$(grep -c '"time": ' one.json)" -eq 5 ]
    run ! grep -q -e autotune -e family -e evaluation_ns one.json
    "$AUTOTUNE" convert --to t4 --out two.json one.json
    run ! grep -q -e autotune -e family -e evaluation_ns two.json
    # The same configs with the same times.
    configs() {
        grep -oE '"block_size_x": [0-9]+|"use_padding": [01]|"tile_size_x": -?[0-9]+|"(times|runtimes)": \[[^]]+\]' "$1" |
            sed 's/runtimes/times/' | sort
    }
    diff <(configs one.json) <(configs two.json)
    for file in one.json two.json; do
        run --separate-stderr -0 "$AUTOTUNE" replay "$file" --runs 2 --winners
        [[ $output == *': 5 configs, the best 27008 ns'* ]]
    done
    "$AUTOTUNE" convert --to kernel-tuner one.json | cmp - one.json
    # T4 has no order of values: they are sorted.
    "$AUTOTUNE" convert --to t4 --out three.json two.json
    diff <(configs two.json) <(configs three.json)
    refused 'this is a recording of vector_add [10000000, 1], not of a transpose' \
        convert --to recording "$others/kernel-tuner.json"
    refused 'not of a transpose' convert --to recording --out never "$others/t4.json"
    [ ! -e never ]
}

@test "the whole entries of a torn Kernel Tuner cache are read" {
    sed '/^"2048/q' "$others/kernel-tuner.json" | head -c -100 >torn.json
    run --separate-stderr -0 "$AUTOTUNE" replay torn.json --runs 1 --search random
    [[ $output == *': 1 configs, the best 27008 ns'* ]]
}

@test "bad arguments and bad files are refused" {
    cp "$srcdir/tests/golden/profile/least.yaml" best.yaml
    cp "$recordings/h200-10007x10009-b1.recording" one.recording
    refused 'which recording?' convert --to t4
    refused 'one file at a time' convert --to t4 a b
    refused 'which format is the recording to get? See --to' convert one.recording
    refused 'best.yaml:1:1: this is no recording of autotune' convert --to t4 best.yaml
    refused 'unknown format "xml" (did you mean t4?); known are recording, kernel-tuner, t4' convert --to xml a
    refused 'cannot open none.json' convert --to t4 none.json
    printf '{"results": [}' >broken.json
    refused 'broken.json: 1:14: unexpected token' convert --to t4 broken.json
    printf '{"cache": {}, "kernel_name": "\\u001b[2J%%n"}' >escape.json
    refused 'escape.json: kernel_name: expected a printable text' convert --to t4 escape.json
    refused 'cannot write' convert --to t4 --out /none/x.json "$recordings/h200-10007x10009-b1.recording"
}
