#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The user's space files: an error in one is reported with its place, before the program looks for a
# device.

bats_require_minimum_version 1.5.0
load helpers

# A correct family, which the tests spoil.
setup() {
    cd "$BATS_TEST_TMPDIR" || return
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
needs:
  - batch == 1
launch:
  grid_x: ceil_div(rows * cols, THREADS)
  block_x: THREADS
END
    echo '// a kernel' >mine.cu
}

# spoilt WORDS SED-SCRIPT: with this change, the file is refused with these words.
spoilt() {
    sed "$2" mine.yaml >spoilt.yaml
    ! cmp -s mine.yaml spoilt.yaml
    refused "spoilt.yaml$1" --space spoilt.yaml
}

@test "a correct family is accepted" {
    profile=$srcdir/tests/golden/check/sound.yaml
    run -0 "$AUTOTUNE" check --space mine.yaml "$profile"
    sed 's/family: naive/family: mine/' "$profile" >mine-profile.yaml
    run -1 "$AUTOTUNE" check --space mine.yaml mine-profile.yaml
    [[ $output == *'family mine has no parameter BLOCK_X'* ]]
}

@test "a family may come from standard input or a pipe, with its template in the current folder" {
    profile=$srcdir/tests/golden/check/sound.yaml
    sed 's/family: naive/family: mine/' "$profile" >mine-profile.yaml
    run -1 "$AUTOTUNE" check --space - mine-profile.yaml <mine.yaml
    [[ $output == *'family mine has no parameter BLOCK_X'* ]]
    run -1 "$AUTOTUNE" check --space <(cat mine.yaml) mine-profile.yaml
    [[ $output == *'family mine has no parameter BLOCK_X'* ]]
    mkdir elsewhere && cd elsewhere
    run --separate-stderr -2 "$AUTOTUNE" check --space - "$profile" <../mine.yaml
    [[ $stderr == *'/dev/stdin:4:11: template: cannot open ./mine.cu: No such file'* ]]
}

@test "unknown, repeated and missing keys are refused" {
    spoilt ':2:1: unknown key "familly"' 's/^family/familly/'
    spoilt ':3:1: duplicate key "family"' '2p'
    spoilt ':7:5: ' 's/  - name: THREADS/  - nane: THREADS/'
    spoilt ':1:1: a space file lacks the key "family"' '/^family/d'
    spoilt ':1:1: a space file lacks the key "launch"' '/^launch/,99d'
    spoilt ':1:1: a space file lacks the key "schema"' '/^schema/d'
}

@test "a file that is cut off is refused" {
    head -c -12 mine.yaml | tr -d '\n' >cut.yaml
    refused 'cut.yaml:' --space cut.yaml
    sed '8,$d' mine.yaml >short.yaml
    refused 'short.yaml:' --space short.yaml
}

@test "senseless values are refused" {
    spoilt ':1:9: schema: ' 's/^schema: 1/schema: 2/'
    spoilt ':2:9: "my family" cannot name a family' 's/family: mine/family: my family/'
    spoilt ':5:13: preference: ' 's/preference: 9/preference: high/'
    spoilt ':7:11: "threads" cannot name a parameter' 's/name: THREADS/name: threads/'
    spoilt ':7:11: ELEM_SIZE is given to every template' 's/name: THREADS/name: ELEM_SIZE/'
    spoilt ':7:11: THREADS: the value 128 is given twice' 's/\[128, 256\]/[128, 128]/'
    spoilt ':7:11: THREADS: the value 4294967296 does not fit' 's/\[128, 256\]/[128, 4294967296]/'
    spoilt ':7:11: THREADS: the default 64 is none of its values' 's/default: 128/default: 64/'
    spoilt ':9:13: values: ' 's/\[128, 256\]/[]/'
    spoilt ':9:19: values: ' 's/\[128, 256\]/[128, x]/'
}

@test "senseless expressions are refused" {
    spoilt ':12:5: unknown name "THREAD"; the nearest known: THREADS' 's/THREADS >= /THREAD >= /'
    spoilt ':12:15: expected a number, a name' 's/THREADS >= 128/THREADS >=/'
    spoilt ":12:20: expected ')'" 's/THREADS >= 128/(THREADS >= 128/'
    # shellcheck disable=SC2016 # must never be expanded
    spoilt ":12:16: expected a number, a name or '(', found '\$'" 's/THREADS >= 128/THREADS \&\& $(rm)/'
    spoilt ":16:24: expected ','" 's/ceil_div(rows \* cols, THREADS)/ceil_div(rows)/'
}

@test "a missing template, or one in another folder, is refused" {
    spoilt ':4:11: ' 's/mine.cu/none.cu/'
    [[ $stderr == *none.cu* ]]
    spoilt ':4:11: template: expected the plain name' 's|mine.cu|../../mine.cu|'
    spoilt ':4:11: template: expected the plain name' 's|mine.cu|/etc/passwd|'
    rm mine.cu
    refused 'mine.cu' --space mine.yaml
    mkdir mine.cu
    refused 'mine.cu' --space mine.yaml
}

@test "two families of one name are refused" {
    sed 's/^family: mine/family: tile/' mine.yaml >other.yaml
    refused 'are both named "tile"' --space other.yaml
    refused 'are both named "mine"' --space mine.yaml --space mine.yaml
    refused 'are both named "tile"' check --space other.yaml "$srcdir/tests/golden/check/sound.yaml"
}

@test "--family refuses unknown families" {
    refused 'there is no family "mine" (did you mean ' --family mine
    refused 'there is no family ""' --family ''
    refused 'there is no family "yours"' --space mine.yaml --family mine --family yours
}
