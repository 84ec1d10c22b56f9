#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The manual pages name what there is: every option of every command, every key of the profile, and
# every function of the library.

bats_require_minimum_version 1.5.0
load helpers

# page COMMAND: its manual page, before scdoc.
page() {
    awk -v command="$1" -f "$srcdir/build-aux/command-page.awk" "$srcdir/doc/autotune.1.scd"
}

# helped COMMAND, paged: long and short options, a line each, of --help and of ./page.
helped() {
    "$AUTOTUNE" "$1" --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -e '--[a-z-]+|-[^ ,]' | sort
}

paged() {
    grep -E '^\*-' page | grep -oE '\*-[^*]+\*' | tr -d '*' | sort
}

@test "each command's page has its options, all of them and no others" {
    # shellcheck disable=SC2154 # of the helpers
    for command in "${commands[@]}"; do
        page "$command" >page
        diff <(helped "$command") <(paged) || {
            echo "$command: the manual (>) and --help (<) differ"
            return 1
        }
    done
}

@test "each command's page says what it does and how it is called" {
    for command in "${commands[@]}"; do
        page "$command" >page
        [ "$(head -n 1 page)" = "autotune-$command(1)" ]
        grep -qE "^autotune-$command - [a-z].{10,}[a-z]$" page
        grep -qE "^\*autotune\* \[?\*$command\*" page
    done
    run -1 page nonsense
}

@test "the page of the profile has every key" {
    awk -f "$srcdir/build-aux/format-page.awk" "$srcdir/doc/profile-format.md" | tr -d '\\' >page
    for file in "$srcdir"/tests/golden/profile/{least,two-devices}.yaml; do
        for key in $(sed -nE '/parameters:/d; s/^ *(- )?([a-z_0-9]+):.*/\2/p' "$file" | sort -u); do
            grep -q "^.*\*$key\*" page || {
                echo "no $key"
                return 1
            }
        done
    done
}

@test "the page of the library has every function" {
    for name in $(sed -nE 's/^    (autotune_[a-z_]+);/\1/p' "$srcdir/src/lib/autotune.map"); do
        tr -d '\\' <"$srcdir/doc/libautotune.3.scd" | grep -q "\*$name\*" || {
            echo "no $name"
            return 1
        }
    done
}

@test "scdoc takes all pages" {
    command -v scdoc >/dev/null || skip "scdoc is not installed"
    for command in "${commands[@]}"; do
        page "$command" | scdoc >/dev/null
    done
    awk -f "$srcdir/build-aux/format-page.awk" "$srcdir/doc/profile-format.md" | scdoc >/dev/null
    scdoc <"$srcdir/doc/libautotune.3.scd" >/dev/null
}
