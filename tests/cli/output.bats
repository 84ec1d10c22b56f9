#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Where output goes, and what happens if it cannot be written.

bats_require_minimum_version 1.5.0
load helpers

sound=$srcdir/tests/golden/check/sound.yaml

# undelivered ARGUMENT...: the command reports a failure if standard output is full or closed.
undelivered() {
    local to
    for to in '>/dev/full' '>&-'; do
        # shellcheck disable=SC2016 # the inner shell expands it
        run --separate-stderr -2 bash -c '"$AUTOTUNE" "$@" '"$to" - "$@"
        [[ $stderr == *'cannot write to standard output: '* ]] || {
            printf '%s\n' "$* $to" "got: $stderr"
            return 1
        }
    done
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

need_full() {
    [ -c /dev/full ] || skip "no /dev/full"
}

@test "show and check fail if their output is lost" {
    need_full
    undelivered show "$sound"
    undelivered check "$sound"
}

@test "show and convert fail if their JSON is lost" {
    need_full
    undelivered show --format json "$sound"
    undelivered convert --to t4 "$srcdir/tests/recordings/h200-10007x10009-b1.recording"
}

@test "--help fails if its text is lost" {
    need_full
    undelivered --help
}

@test "a command's --help, --usage and --version fail if their text is lost" {
    need_full
    undelivered --version
    undelivered show --help
    undelivered show --usage
}

@test "a reader that closes its pipe early is no error" {
    # shellcheck disable=SC2016 # the inner shell expands it
    run -0 --separate-stderr bash -c '"$AUTOTUNE" show "$1" | head -n 1' - "$sound"
    [ "${#lines[@]}" -eq 1 ]
    [ -z "$stderr" ]
}

@test "the locale changes nothing" {
    is_long
    for locale in C C.UTF-8 de_DE.UTF-8 tr_TR.UTF-8 fa_IR.UTF-8; do
        LC_ALL=$locale assert_transcript "$srcdir/tests/golden/show.txt"
        LC_ALL=$locale "$AUTOTUNE" check "$sound"
    done
}

@test "a profile at an impossible place is refused" {
    for out in none/best.yaml . .. /dev/null /dev/full /proc/best.yaml "$BATS_TEST_TMPDIR" \
        "$BATS_TEST_TMPDIR/"; do
        refused "$out" --out "$out"
    done
    touch file
    refused 'file/best.yaml' --out file/best.yaml
    [ -z "$(find . -name '.*.autotune')" ]
}

@test "an unwritable folder is refused" {
    [ "$(id -u)" -ne 0 ] || skip "root may write everywhere"
    mkdir closed
    chmod 0500 closed
    refused 'closed/best.yaml' --out closed/best.yaml
}

@test "a profile with an empty name is refused" {
    refused 'cannot write' --out ''
}

@test "a profile named like a missing folder is refused" {
    refused 'new/' --out new/
}

@test "a profile with a name that is too long is refused" {
    refused 'File name too long' --out "$(printf '%300s' '' | tr ' ' a)"
}

@test "an old profile stays if the command line is wrong" {
    mkdir old
    cd old
    cp "$sound" best.yaml
    refused '"64x64:f33"' --problem 64x64:f33 --out best.yaml
    run -2 "$AUTOTUNE" --space none.yaml --out best.yaml
    cmp best.yaml "$sound"
    [ "$(ls -A)" = best.yaml ]
}

@test "an empty data folder is named" {
    mkdir data
    # shellcheck disable=SC2030,SC2031 # each test has a shell of its own
    export AUTOTUNE_DATADIR=$PWD/data
    refused "$PWD/data/tuning" --problem 1x1:f32
    refused "$PWD/data/tuning" bench --problem 1x1:f32
    refused "$PWD/data/tuning" check "$sound"
    mkdir data/tuning
    refused "$PWD/data/tuning/problems.yaml" tune
    refused "no family found: expected NAME.yaml in $PWD/data/tuning and NAME.cu in $PWD/data/templates" \
        check "$sound"
    run -0 "$AUTOTUNE" show "$sound" # it needs no data folder
}

@test "a bad file of the data folder is named" {
    cp -r "$srcdir/tuning" "$srcdir/templates" .
    chmod -R u+w .
    # shellcheck disable=SC2030,SC2031
    export AUTOTUNE_DATADIR=$PWD
    run -0 "$AUTOTUNE" check "$sound"
    sed -i 's/^preference:/preferences:/' tuning/naive.yaml
    refused "$PWD/tuning/naive.yaml:" check "$sound"
    cp "$srcdir/tuning/naive.yaml" tuning/other.yaml
    cp tuning/other.yaml tuning/naive.yaml
    cp templates/naive.cu templates/other.cu
    refused 'are both named "naive"' check "$sound"
    rm tuning/other.yaml
    sed -i 's/8192x8192:f32/8192x8192:f33/' tuning/problems.yaml
    refused "$PWD/tuning/problems.yaml:" tune
    [[ $stderr == *'"8192x8192:f33"'* ]]
}
