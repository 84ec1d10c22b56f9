#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Malicious files: their text never reaches a compiler, a path, a format string or a terminal
# unchecked.

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

# The values to try, as YAML has them in double quotes. \u202e reverses the direction of text.
# shellcheck disable=SC2016 # must never be expanded
evil=(
    '\n#include \"/etc/passwd\"\n' '\"; #include \"/etc/passwd\"' "'; touch broken; '" '$(touch broken)'
    '`touch broken`' '../../../../etc/passwd' '/etc/passwd' '%s%s%s%n' '\e[31mred' '\u009b31mred'
    '\a' '\0' '\u202egnp.cu' '../mine.cu' 'mine.cu\n' ' ' ''
)
keys=0 # how many were tried

# plain TEXT: it has only printable characters and line ends.
plain() {
    ! LC_ALL=C grep -qP '[^\n\x20-\x7e]' <<<"$1"
}

# refuses_evil FILE KEY ARGUMENT...: with each of these values in KEY, the file is refused by name. A sample has
# every third value, others from key to key.
refuses_evil() {
    local file=$1 key=$2 value values
    shift 2
    cp "$file" whole
    mapfile -t values < <(sample 3 $((keys % 3)) "${evil[@]}")
    keys=$((keys + 1))
    for value in "${values[@]}"; do
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

@test "malicious names and numbers in a space file are refused" {
    is_long
    run -0 "$AUTOTUNE" check --space mine.yaml "$profile"
    for key in family template name default grid_x block_x preference schema; do
        refuses_evil mine.yaml $key check --space mine.yaml "$profile"
    done
}

@test "malicious names and numbers in a profile are refused" {
    sed '/parameters: {/ { s/{/\n        /; s/, /\n        /g; s/}// }' "$profile" >p.yaml # a line each
    run -0 "$AUTOTUNE" show p.yaml
    for key in compute_capability ended family from_l2 kind problem registers schema search seed BLOCK_X time_ns; do
        refuses_evil p.yaml $key show p.yaml
    done
}

@test "text that controls a terminal is never shown raw" {
    cp "$profile" p.yaml
    evil=('X\e[31m' 'X\u009b31m' 'X\a' 'X\u202e' 'X\x7f' 'X\b' 'X\u2066')
    for key in autotune method name uuid; do # the keys whose text is shown
        refuses_evil p.yaml $key show p.yaml
    done
    # Raw control characters, in a file that they make invalid and in names of files.
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

@test "a name in CSV is no formula of a spreadsheet" {
    sed "0,/^    name: .*/s//    name: '=cmd|calc!A0'/" "$profile" >p.yaml
    run -0 --separate-stderr "$AUTOTUNE" show --format csv p.yaml
    [[ ${lines[1]} == "'=cmd|calc!A0,"* ]]
    run -0 --separate-stderr "$AUTOTUNE" show --format markdown p.yaml
    [[ $output == *'| =cmd'* ]]
}

@test "control characters in names of data files are escaped" {
    cp -r "$srcdir/tuning" "$srcdir/templates" .
    chmod -R u+w .
    name=$'na\033[31mive'
    mv templates/naive.cu "templates/$name.cu"
    echo 'schema: 2' >"tuning/$name.yaml"
    export AUTOTUNE_DATADIR=$PWD
    refused 'na\x1b[31mive.yaml:' check "$profile"
    plain "$stderr"
}

@test "control characters in a compiler's log are not shown raw" {
    "$AUTOTUNE" explain copy --blocks 1 2>&1 | grep -q 'no NVRTC' && skip "no NVRTC"
    printf '#error "\033[31mred"\n' >mine.cu
    run --separate-stderr -7 "$AUTOTUNE" tune --quiet --gpu emu --space mine.yaml --family mine \
        --problem 8x8:f32
    [[ $stderr == *'mine does not compile: '*red* ]]
    plain "$stderr"
}
