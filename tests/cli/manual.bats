#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The manual pages are complete: every option of every command, every word of a table, every key of the
# profile, and every function of the library.

bats_require_minimum_version 1.5.0
load helpers

# The manual page of the program, before scdoc, is made once: it takes all sources.
setup_file() {
    local sources
    export full=$BATS_FILE_TMPDIR/full.scd
    mapfile -t sources < <(find "$srcdir/src" -name '*.c')
    awk -f "$srcdir/build-aux/manual-lists.awk" "${sources[@]}" "$srcdir/doc/autotune.1.scd" >"$full"
}

setup() {
    find_commands
    cd "$BATS_TEST_TMPDIR" || return
}

# page COMMAND: its manual page, before scdoc.
page() {
    awk -v command="$1" -f "$srcdir/build-aux/command-page.awk" "$full"
}

# helped COMMAND, paged: the long and short options in --help and in ./written, one per line.
helped() {
    "$AUTOTUNE" "$1" --help | grep -oE '^ +((-., )?--[a-z-]+|-. )' | grep -oE -e '--[a-z-]+|-[^ ,]' | sort
}

paged() {
    grep -E '^\*-' written | grep -oE '\*-[^*]+\*' | tr -d '*' | sort
}

@test "a page is made for each command of the program, and for no other" {
    [ "${#commands[@]}" -ge 10 ]
    diff <(printf '%s\n' "${commands[@]}" | sort) \
        <(sed -n 's|^ *doc/autotune-\([a-z]*\)\.1.*|\1|p' "$srcdir/Makefile.am" | sort)
}

@test "each command's page has its options, all of them and no others" {
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

# section NAME: its lines in ./written, without scdoc's marks.
section() {
    sed -n "/^# $1\$/,/^# /p" written | sed '1d; /^# /d; s/\\//g'
}

@test "each command's page has its exit status, environment and examples, which name options that exist" {
    load helpers-documents
    write_helps
    for command in "${commands[@]}"; do
        page "$command" >written
        section 'EXIT STATUS' | grep -qxF '*130*'
        section ENVIRONMENT | grep -qxF '*AUTOTUNE_DATADIR*'
        section EXAMPLES | sed -n 's/^\t//p' >examples
        grep -qE "^autotune ($command\>|[^a-z])" examples
        "$AUTOTUNE" "$command" --help | sed -n '/^Example/,$s/^  autotune/autotune/p' >helped
        [ -s helped ]
        none "$(grep -vxF -f examples helped)"
        none "$(while IFS= read -r line; do check_command "$command" 0 "$line"; done <examples)"
    done
    page explain >written
    section ENVIRONMENT | grep -qxF '*AUTOTUNE_CUPTI*'
    page diff >written
    section ENVIRONMENT >environment
    run -1 grep -xF '*AUTOTUNE_CUPTI*' environment
}

# names_all FILE: does it have all names of standard input, one per line? Backslashes are scdoc's.
names_all() {
    local name
    while read -r name; do
        sed 's/\\//g' "$1" | grep -qE "(^|[^ ].*)\*$name\*" || {
            echo "no $name"
            return 1
        }
    done
}

@test "the page lists every strategy, form and format" {
    while read -r command option; do
        "$AUTOTUNE" "$command" "$option" '?' 2>&1 | sed -n 's/,//g; s/.*; known are //p' | tr ' ' '\n' >known
        grep -E '^\*-|^.- \*' "$full" | awk -v option="*$option*" \
            'index($0, "*-") == 1 { taking = index($0, option) == 1 } taking' |
            sed -nE 's/^\t- \*([^*]+)\*: .+/\1/p' >listed
        diff known listed
    done <<'END'
tune --search
export --as
convert --to
END
}

@test "the page of the profile has every key" {
    awk -f "$srcdir/build-aux/format-page.awk" "$srcdir/doc/profile-format.md" >written
    sed -nE 's/^ *(- )?([a-zA-Z_0-9]+):.*/\2/p' \
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
