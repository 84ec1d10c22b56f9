#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Files that somebody has made with a purpose: what stands in them reaches no compiler, no path, no
# format and no terminal as it stands there.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    profile=$srcdir/tests/golden/check/sound.yaml
    cat >mine.yaml <<'END'
schema: 1
family: mine
summary: one element a thread
template: mine.cu
preference: 9
parameters:
  - name: THREADS
    summary: threads of a block
    values: [128, 256]
    default: 128
constraints:
  - THREADS >= 128
launch:
  grid_x: ceil_div(rows * cols, THREADS)
  block_x: THREADS
END
    echo '// a kernel' >mine.cu
}

# What each value is tried with, as YAML writes it in double quotes. \u202e writes from right to left.
# shellcheck disable=SC2016 # not to be expanded, here or ever
evil=(
    '\n#include \"/etc/passwd\"\n' '\"; #include \"/etc/passwd\"' "'; touch broken; '" '$(touch broken)'
    '`touch broken`' '../../../../etc/passwd' '/etc/passwd' '%s%s%s%n' '\e[31mred' '\u009b31mred'
    '\a' '\0' '\u202egnp.cu' '../mine.cu' 'mine.cu\n' ' ' ''
)

# plain TEXT: nothing in it but printable characters and line ends.
plain() {
    ! LC_ALL=C grep -qP '[^\n\x20-\x7e]' <<<"$1"
}

# refuses_evil FILE KEY ARGUMENT...: the file's key is refused with each of these values, by its name.
refuses_evil() {
    local file=$1 key=$2 value
    shift 2
    cp "$file" whole
    for value in "${evil[@]}"; do
        KEY=$key VALUE=$value awk '
            !done && match($0, "^ *(- )?" ENVIRON["KEY"] ": ") {
                print substr($0, 1, RLENGTH) "\"" ENVIRON["VALUE"] "\""
                done = 1
                next
            }
            { print }' whole >"$file"
        run ! cmp -s whole "$file"
        run --separate-stderr "$AUTOTUNE" "$@"
        if [ "$status" -ne 2 ] || [[ $stderr != "autotune: "*"$file:"* ]] || [ -n "$output" ] ||
            [ -e broken ] || ! plain "$stderr"; then
            echo "$key: $value: exit code $status: $stderr"
            return 1
        fi
    done
    cp whole "$file"
}

@test "the names and numbers of a space file" {
    run -0 "$AUTOTUNE" check --space mine.yaml "$profile"
    for key in family template name default grid_x block_x preference schema; do
        refuses_evil mine.yaml $key check --space mine.yaml "$profile"
    done
}

@test "the names and numbers of a profile" {
    cp "$profile" p.yaml
    for key in compute_capability family kind problem registers schema search seed BLOCK_X time_ns; do
        refuses_evil p.yaml $key show p.yaml
    done
}

@test "text that steers a terminal is not shown as it is" {
    cp "$profile" p.yaml
    evil=('X\e[31m' 'X\u009b31m' 'X\a' 'X\u202e' 'X\x7f' 'X\b' 'X\u2066')
    for key in autotune method name uuid; do # which are text, and shown
        refuses_evil p.yaml $key show p.yaml
    done
    # In its raw form, in a file that is no YAML for it, and in the name of a file.
    printf 'schema: 1\nfamily: \033[31mred\n' >raw.yaml
    refused 'raw.yaml:' --space raw.yaml
    plain "$stderr"
    for argument in $'\033[31m' $'a\nb' $'a\x7f'; do
        refused 'has a control character in it' show "$argument"
        refused 'has a control character in it' "--out=$argument"
        refused 'has a control character in it' "--nonsense$argument"
        plain "$stderr"
    done
    refused 'caf\xe9' show $'caf\xe9' # in an old encoding
    run --separate-stderr -2 "$AUTOTUNE" show café
    [[ $stderr == *café* ]]
}

@test "a data folder with such names in it" {
    cp -r "$srcdir/tuning" "$srcdir/templates" .
    chmod -R u+w .
    name=$'na\033[31mive'
    mv templates/naive.cu "templates/$name.cu"
    echo 'schema: 2' >"tuning/$name.yaml"
    export AUTOTUNE_DATADIR=$PWD
    refused 'na\x1b[31mive.yaml:' check "$profile"
    plain "$stderr"
}

@test "a compiler's log" {
    "$AUTOTUNE" explain copy 2>&1 | grep -q 'no NVRTC' && skip "no NVRTC"
    printf '#error "\033[31mred"\n' >mine.cu
    run --separate-stderr -1 "$AUTOTUNE" tune --quiet --gpu emu --space mine.yaml --family mine \
        --problem 8x8:f32
    [[ $stderr == *'mine does not compile: '*red* ]]
    plain "$stderr"
}
