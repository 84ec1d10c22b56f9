#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Files that cannot be read, or are not what they should be. Every command refuses them with exit
# code 2 and a message that begins with the file's name.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# refused_everywhere WORDS FILE: every command and option that reads such files refuses this one.
refused_everywhere() {
    refused "$1" show "$2"
    refused "$1" show --format json "$2"
    refused "$1" check "$2"
    refused "$1" check --space "$2" "$srcdir/tests/golden/check/sound.yaml"
    refused "$1" --space "$2"
    refused "$1" bench --space "$2"
    refused "$1" bench --profile "$2"
    refused "$1" bench --lookup "$2"
}

@test "a missing file is refused" {
    refused_everywhere 'none.yaml: No such file' none.yaml
    refused_everywhere 'none/a.yaml: No such file' none/a.yaml
    ln -s loop.yaml loop.yaml
    refused_everywhere 'loop.yaml: Too many levels' loop.yaml
}

@test "a file without read permission is refused" {
    [ "$(id -u)" -ne 0 ] || skip "root may read everything"
    touch closed.yaml
    chmod 0 closed.yaml
    refused_everywhere 'closed.yaml: Permission denied' closed.yaml
}

# as_windows FILE: print it with the byte-order mark and the ends of lines of editors there.
as_windows() {
    printf '\xef\xbb\xbf'
    sed 's/$/\r/' "$1"
}

@test "files with a byte-order mark and Windows' ends of lines are read" {
    local sound=$srcdir/tests/golden/check/sound.yaml
    for convert in as_windows "sed 1s/^/\xef\xbb\xbf/"; do
        $convert "$sound" >profile.yaml
        diff <("$AUTOTUNE" show profile.yaml) <("$AUTOTUNE" show "$sound" | sed "s|$sound|profile.yaml|")
        printf '%s\n' 'schema: 1' 'problems:' '  - 64x48:f32' >plain.yaml
        $convert plain.yaml >list.yaml
        "$AUTOTUNE" tune --gpu emu --dry-run --problems list.yaml
        $convert "$srcdir/tuning/naive.yaml" | sed 's/^family: naive/family: mine/' >mine.yaml
        $convert "$srcdir/templates/naive.cu" >mine.cu
        sed -i 's/naive\.cu/mine.cu/' mine.yaml
        "$AUTOTUNE" check --space mine.yaml "$sound"
    done
    printf 'schema: 4\n' | sed '1s/^/\xef\xbb\xbf/' >bad.yaml
    refused 'bad.yaml:1:1: ' show bad.yaml # places are those of the text
}

@test "folders and devices are refused" {
    mkdir folder.yaml
    refused_everywhere 'folder.yaml is a folder' folder.yaml
    for file in /dev/null /dev/zero; do
        refused_everywhere "$file is not a regular file" "$file"
    done
}

@test "an empty file is refused" {
    : >empty.yaml
    refused_everywhere 'empty.yaml:1:1: ' empty.yaml
    printf '\n\n# nothing\n' >comment.yaml
    refused_everywhere 'comment.yaml:' comment.yaml
}

@test "a binary file is refused" {
    printf '\x7fELF\x02\x01\x01\x00' >elf.yaml
    printf '\xff\xfe\x00' >utf.yaml
    printf 'schema: 1\nfamily: a\0b\n' >nul.yaml
    for file in elf.yaml utf.yaml nul.yaml; do
        refused_everywhere "$file:" "$file"
        refused_everywhere 'not a text file' "$file"
    done
}

@test "a file that is too large is refused" {
    head -c 4194305 /dev/zero | tr '\0' '#' >large.yaml
    refused_everywhere 'large.yaml has 4194305 bytes; at most 4194304 are read' large.yaml
    head -c 4194304 large.yaml >fits.yaml # read, and refused because it is all comment
    refused_everywhere 'fits.yaml:' fits.yaml
}

@test "YAML of another shape is refused" {
    printf '[1, 2]\n' >list.yaml
    printf 'just text\n' >text.yaml
    printf -- '--- {}\n--- {}\n' >two.yaml
    printf '%%YAML 1.1\n---\nschema: 1\n' >directive.yaml
    printf '&a {schema: 1}\n' >anchor.yaml
    printf '!!map {schema: 1}\n' >tag.yaml
    printf '{schema: 1' >open.yaml
    printf 'schema: 1\n\tfamily: x\n' >tab.yaml
    for file in *.yaml; do
        refused_everywhere "$file:" "$file"
    done
}

@test "a profile that is cut off anywhere is refused" {
    profile=$srcdir/tests/golden/check/sound.yaml
    size=$(stat -c %s "$profile")
    # shellcheck disable=SC2046 # a word each
    for cut in $(sample 4 0 $(seq 0 61 $((size - 11)))); do
        head -c "$cut" "$profile" >cut.yaml
        refused 'cut.yaml' show cut.yaml
    done
}

@test "a profile of another version is refused" {
    sed 's/^schema: 4/schema: 5/' "$srcdir/tests/golden/check/sound.yaml" >new.yaml
    for command in show check; do
        refused 'new.yaml: schema is 5, and this program knows version 4' $command new.yaml
    done
    refused 'new.yaml: schema is 5, and this program knows version 4' bench --profile new.yaml
}

@test "every profile that is wrong in itself" {
    cd "$refused_profiles"
    for file in $(sample 4 0 [a-z]*.yaml); do
        for command in show check 'lookup --device h200 --problem 8192x8192:f32'; do
            # shellcheck disable=SC2086 # words
            run --separate-stderr -2 "$AUTOTUNE" $command "$file"
            [ -z "$output" ]
            [ "$stderr" = "autotune: $(<"${file%.yaml}.err")" ]
        done
    done
}

@test "a wrong description of a device is refused by every command that needs it" {
    mkdir tuning
    cp -r "$srcdir/tuning/devices" tuning
    cp "$srcdir"/tuning/*.yaml tuning
    chmod -R u+w tuning # a tarball's are read-only in distcheck
    ln -s "$srcdir/templates" .
    echo 'nonsense: 1' >>tuning/devices/h200.yaml
    export AUTOTUNE_DATADIR=$PWD
    for command in 'tune --gpu emu' 'bench --gpu emu' 'explain copy'; do
        # shellcheck disable=SC2086 # words
        refused 'h200.yaml:' $command --problem 8x8:f32
        [[ $stderr == *'unknown key "nonsense"'* ]]
    done
}
