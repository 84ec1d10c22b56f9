#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the documents say holds: links and named files exist, commands and options too, sessions print
# what they show, and none is longer than it may be.
#
# A fenced block of language `console` is a session: a line that begins with `$ ` is a command, `> ` after
# it goes on with it, and what follows is what it prints, errors too. There a line `...` stands for any
# lines, and `...` within a line for any text. A command ends with 0, unless `$ echo $?` is the next one.
# All sessions of a document run in order, in one shell and one folder, which has the folders of the source
# tree in it and where `autotune` is the one under test. A block of another language whose first line is a
# comment with a file's name alone, as `/* use.c */` or `# Makefile`, is written to that file beforehand.
# Sessions show what NVRTC 13.0 compiles: with another, only the commands' exit codes are checked.

bats_require_minimum_version 1.5.0
load helpers

shown_nvrtc=13.0

setup_file() {
    find_nvrtc
}

setup() {
    export LC_ALL=C
    cd "$srcdir" || return 1
}

# Prints the names of all documents.
documents() {
    find ./*.md doc examples results src templates tests tuning -name '*.md' | sed 's|^\./||' | sort
}

# facts KIND DOCUMENT: prints "LINE TEXT" for each, with a tab between.
facts() {
    awk -f "$srcdir/tests/cli/documents.awk" "$2" | sed -n "s/^$1\t//p"
}

# for_facts KIND COMMAND...: calls it with document, line and text of each such fact in the documents, and
# fails where it has printed something.
for_facts() {
    local kind=$1 document line text faults
    shift
    faults=$(documents | while read -r document; do
        facts "$kind" "$document" | while IFS=$'\t' read -r line text; do
            "$@" "$document" "$line" "$text"
        done
    done)
    [ -z "$faults" ] || { echo "$faults" && return 1; }
}

# ---- links and files ----

check_link() {
    local document=$1 line=$2 target=$3 path=${3%%#*} anchor
    case $target in
    http://* | https://* | mailto:*) return ;;
    esac
    path=${path:+$(dirname "$document")/$path}
    path=${path:-$document}
    if [ ! -e "$path" ]; then
        echo "$document:$line: nothing at $target"
    elif [[ $target == *'#'* ]]; then
        anchor=${target#*#}
        facts anchor "$path" | cut -f 2 | grep -qxF -- "$anchor" ||
            echo "$document:$line: no heading in $path makes #$anchor"
    fi
}

@test "links lead to files and headings that exist" {
    for_facts link check_link
}

# A path from the top of the tree, or the program that is built from a source of that name. NAME is any.
check_file() {
    local document=$1 line=$2 path=${3%% *}
    [[ $path =~ ^(build-aux|completion|doc|examples|m4|results|src|templates|tests|tuning)/ ]] || return 0
    [[ $path == *NAME* ]] || compgen -G "$path" >/dev/null || compgen -G "$path.c*" >/dev/null ||
        echo "$document:$line: no file $path"
}

@test "files that are named exist" {
    for_facts code check_file
}

# ---- commands ----

# The help of each command, as files, and that of the program as `help`.
write_helps() {
    local command
    mkdir "$BATS_TEST_TMPDIR/help"
    for command in "${commands[@]}"; do
        "$AUTOTUNE" "$command" --help >"$BATS_TEST_TMPDIR/help/$command"
    done
}

# Of each `autotune COMMAND --option...` in a line of shell: are there such a command and such options?
check_code() {
    local document=$1 line=$2 command word
    local -a words
    [[ $3 == *autotune* || $3 == *quickstart* ]] || return 0
    while read -ra words; do
        while [[ ${words[0]-} == [A-Z]*=* || ${words[0]-} == if || ${words[0]-} == ! ]]; do
            words=("${words[@]:1}")
        done
        case ${words[0]-} in
        autotune | */autotune | ./quickstart) ;;
        *) continue ;;
        esac
        command=${words[1]-tune}
        case $command in
        -*) command=tune ;;
        check) [[ ${words[0]} != ./quickstart ]] || continue ;;
        recording | *[!a-z]*) continue ;; # a recording begins with these words
        esac
        if [ ! -f "$BATS_TEST_TMPDIR/help/$command" ]; then
            echo "$document:$line: no command autotune $command"
            continue
        fi
        for word in "${words[@]}"; do
            [[ $word =~ ^--[a-z][a-z-]* ]] || continue
            grep -qE -- "${BASH_REMATCH[0]}([=,[:space:]]|\[|\$)" "$BATS_TEST_TMPDIR/help/$command" ||
                echo "$document:$line: autotune $command has no ${BASH_REMATCH[0]}"
        done
    done <<<"${3//[;|&()]/$'\n'}"
}

@test "commands that are named exist, and so do their options" {
    write_helps
    for_facts code check_code
}

# ---- sessions ----

unlabelled() {
    echo "$1:$2: a session in a block without a language: console runs it, text does not"
}

@test "sessions are in blocks of language console or text" {
    for_facts session unlabelled
}

# Makes a folder like the top of the source tree, where what is written stays apart.
make_place() {
    local name
    mkdir -p "$1"
    for name in doc examples results src templates tests tuning; do
        ln -s "$srcdir/$name" "$1/$name"
    done
}

# write_script STEPS: prints a script that runs all commands of a document in one shell.
write_script() {
    local step
    # shellcheck disable=SC2016 # expanded there
    echo 'ended() { local status=$?; echo "$status" >"$1"; return "$status"; }'
    for step in "$1"/*.command; do
        step=${step%.command}
        printf '{\n%s\n} >%q 2>&1 </dev/null\nended %q\n' "$(<"$step.command")" "$step.printed" \
            "$step.status"
    done
}

# compare DOCUMENT STEP NEXT: prints what is not as the document says.
compare() {
    local document=$1 step=$2 next=$3 status what=
    status=$(cat "$step.status" 2>/dev/null) || status='nothing: it did not end'
    if [ "$status" != 0 ] && [[ $(cat "$next" 2>/dev/null) != 'echo $?' ]]; then
        what="ended with $status"
    elif [ -z "$other_nvrtc" ]; then
        awk -f "$srcdir/tests/cli/documents-compare.awk" "$step.shown" "$step.printed" ||
            what="printed something else than is shown"
    fi
    [ -z "$what" ] || printf '%s:%s: %s: %s\n---- shown\n%s\n---- printed\n%s\n----\n' "$document" \
        "$(<"$step.line")" "$(head -n 1 "$step.command")" "$what" "$(<"$step.shown")" \
        "$(cat "$step.printed" 2>/dev/null)"
}

# run_sessions DOCUMENT: prints what is not as it says.
run_sessions() {
    local document=$1 place=$BATS_TEST_TMPDIR/${1//\//-} i
    local steps=$place.steps
    local -a all
    mkdir "$steps" "$place.files"
    awk -v steps="$steps" -v files="$place.files" -f "$srcdir/tests/cli/documents.awk" "$document"
    compgen -G "$steps/*.command" >/dev/null || return 0
    make_place "$place"
    cp -r "$place.files/." "$place"
    write_script "$steps" >"$place.script"
    (cd "$place" && XDG_CACHE_HOME=$place.cache bash "$place.script" 2>"$place.errors") || true
    all=("$steps"/*.command)
    for ((i = 0; i < ${#all[@]}; i++)); do
        compare "$document" "${all[i]%.command}" "${all[i + 1]-}"
    done
    cat "$place.errors" # of the shell itself, for a command that it cannot read
}

# Sets other_nvrtc where this is not the one whose results the documents show.
find_other_nvrtc() {
    local version
    version=$("$AUTOTUNE" tune --quiet --gpu emu --family naive --problem 1x1:f32 --budget 1 --out - |
        sed -n "s/^ *nvrtc: '\(.*\)'/\1/p")
    [ -n "$version" ]
    other_nvrtc=
    [ "$version" = "$shown_nvrtc" ] || other_nvrtc=$version
}

# Warm starts and answers are to come from this tree alone.
isolate() {
    export PATH=${AUTOTUNE%/*}:$PATH XDG_DATA_HOME=$BATS_TEST_TMPDIR/data
    unset AUTOTUNE_PROFILE_PATH
}

@test "sessions run, and print what they show" {
    need_nvrtc
    find_other_nvrtc
    isolate
    faults=$(documents | while read -r document; do run_sessions "$document"; done)
    [ -z "$faults" ] || { echo "$faults" && return 1; }
}

# ---- length ----

# within BOUND DOCUMENT...: together they have at most that many words.
within() {
    local bound=$1 words count
    shift
    words=$(cat "$@") || return 1
    count=$(wc -w <<<"$words")
    ((count <= bound)) || { echo "$*: $count words of at most $bound" && return 1; }
}

@test "documents are no longer than they may be" {
    status=0
    within 900 README.md || status=1
    within 1500 HACKING.md || status=1
    within 500 doc/glossary.md || status=1
    within 3000 doc/kernels.md || status=1
    within 2000 doc/measurement.md || status=1
    within 1500 doc/search.md || status=1
    within 1200 doc/tutorial.md || status=1
    within 6500 doc/downstream.md doc/emulation.md doc/robustness.md doc/studies.md || status=1
    [ "$status" -eq 0 ]
}
