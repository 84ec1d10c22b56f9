#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The manual pages are complete: every option of every command, every key of the profile, every
# function of the library.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# page COMMAND: prints its manual page in scdoc's format.
page() {
    awk -v command="$1" -f "$srcdir/build-aux/command-page.awk" "$srcdir/doc/autotune.1.scd"
}

# helped COMMAND, paged: print the options in --help and in ./written, one per line.
helped() {
    "$AUTOTUNE" "$1" --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -e '--[a-z-]+|-[^ ,]' | sort
}

paged() {
    grep -E '^\*-' written | grep -oE '\*-[^*]+\*' | tr -d '*' | sort
}

@test "each command of the program has a page, and no other has" {
    "$AUTOTUNE" --help | sed -n 's/^  autotune \([a-z]*\) .*/\1/p' | sort >known
    sed -n 's|^ *doc/autotune-\([a-z]*\)\.1.*|\1|p' "$srcdir/Makefile.am" | sort | diff known -
    printf '%s\n' "${commands[@]}" | sort | diff known - # the list that the tests below use
}

@test "each command's page has exactly its options" {
    # shellcheck disable=SC2154 # from helpers.bash
    for command in "${commands[@]}"; do
        page "$command" >written
        diff <(helped "$command") <(paged) || {
            echo "$command: the manual (>) and --help (<) differ"
            return 1
        }
    done
}

@test "each command's page says what it does and how it is called" {
    for command in "${commands[@]}"; do
        page "$command" >written
        [ "$(head -n 1 written)" = "autotune-$command(1)" ]
        grep -qE "^autotune-$command - [a-z].{10,}[a-z]$" written
        grep -qE "^\*autotune\* \[?\*$command\*" written
    done
    run -1 page nonsense
}

# names_all FILE: the page has every name on standard input. The backslashes are scdoc's.
names_all() {
    local name
    while read -r name; do
        sed 's/\\//g' "$1" | grep -qE "(^|[^ ].*)\*$name\*" || {
            echo "no $name"
            return 1
        }
    done
}

@test "the page of the profile has every key" {
    awk -f "$srcdir/build-aux/format-page.awk" "$srcdir/doc/profile-format.md" >written
    sed -nE '/[A-Z_]+:/d; s/^ *(- )?([a-z_0-9]+):.*/\2/p' \
        "$srcdir"/tests/golden/profile/{least,two-devices}.yaml | sort -u | names_all written
}

@test "the page of the library has every function" {
    sed -nE 's/^    (autotune_[a-z_]+);/\1/p' "$srcdir/src/lib/autotune.map" |
        names_all "$srcdir/doc/libautotune.3.scd"
}

@test "scdoc formats all pages" {
    command -v scdoc >/dev/null || skip "scdoc is not installed"
    for command in "${commands[@]}"; do
        page "$command" | scdoc >/dev/null
    done
    awk -f "$srcdir/build-aux/format-page.awk" "$srcdir/doc/profile-format.md" | scdoc >/dev/null
    scdoc <"$srcdir/doc/libautotune.3.scd" >/dev/null
}
