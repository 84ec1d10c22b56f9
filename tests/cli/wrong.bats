#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What people type or hand over by mistake is refused with the thing that would work. The lines of
# tests/data/wrong-inputs.txt are ARGUMENTS | WORDS of the message.

bats_require_minimum_version 1.5.0
load helpers

# The files that the lines name, in an empty folder. No compiler is found: what is taken by mistake ends.
setup_file() {
    local profile=$srcdir/tests/golden/check/sound.yaml
    export AUTOTUNE_NVRTC=$BATS_FILE_TMPDIR/none CUDA_VISIBLE_DEVICES=-1 # shows no GPU
    mkdir "$BATS_FILE_TMPDIR/files"
    cd "$BATS_FILE_TMPDIR/files" || return
    for name in sound old new third; do
        cp "$profile" "$name.yaml"
    done
    : >empty.yaml
    echo '# A program' >README.md
    printf 'SQLite format 3\0%4096s' '' >journal.journal
    printf '%s\n' 'schema: 1' 'problems:' '  - 64x64:f32' >problems.yaml
    echo '64x64:f32' >sound.txt
    echo '__global__ void kernel(float *out) { out[0] = 0; }' >tile.cu
    echo '[{"time": 1.5}]' >list.json
    printf 'schema: 1\nfamily: own\ntemplate: tile.cu\nparameters: []\n' >space.yaml
    printf 'autotune recording\t3\n' >x.recording
    cp "$srcdir/tuning/study/shared.yaml" study.yaml
    : >empty.cu
    printf '\037\213\010%64s' '' >compressed.yaml
    mkdir folder
    printf '%s\n' 'schema: 1' 'problems:' '  - rows: 64' '    cols: 64' >rows.yaml
    printf '%s\n' 'problems:' '  - 64x64:f32' >bare.yaml
    sed 's/^family: .*/family: own/; s/^template: .*/template: tile.cu/' "$srcdir/tuning/naive.yaml" >own.yaml
    sed 's/values: .*/values: "0, 1"/' own.yaml >values.yaml
    sed 's/ && / and /' own.yaml >and.yaml
    echo '{"tune_params_keys": ["x",]}' >comma.json
    printf 'schema: 1\nproblems:\n\t- 64x64:f32\n' >tabs.yaml
}

@test "a wrong input is answered with what would work" {
    local line arguments words message status failed=0
    cd "$BATS_FILE_TMPDIR/files"
    shopt -s nocasematch
    while IFS= read -r line; do
        words=${line##* | }
        line=${line% | *}
        read -ra arguments <<<"$line"
        [[ $line != *'"'* ]] || mapfile -t arguments < <(xargs printf '%s\n' <<<"$line") # takes quotes off
        status=0
        "$AUTOTUNE" "${arguments[@]}" >out 2>err </dev/null || status=$?
        read -rd '' message <err || true
        if [[ $status != [23] || -s out || $message != *"$words"* ]]; then
            printf '%s\n' "not answered with $words: $line" "with $status: $message"
            failed=$((failed + 1))
        fi
    done < <(grep -v -e '^#' -e '^$' "$srcdir/tests/data/wrong-inputs.txt" | sampled 4 1)
    [ "$failed" -eq 0 ]
}
