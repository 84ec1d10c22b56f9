# SPDX-License-Identifier: Apache-2.0
# The checks of documents.bats. All functions look at the tree in the current folder. Those named check_*,
# and run_sessions, print a line for each fault, beginning with DOCUMENT:LINE.

# Prints the names of all documents.
documents() {
    find ./*.md doc examples python results src templates tests tuning -name '*.md' 2>/dev/null | sed 's|^\./||' | sort
}

# facts KIND DOCUMENT: prints "LINE TEXT" for each, with a tab between. documents.awk lists the kinds. What it prints of
# a document is kept.
facts() {
    local kept=$BATS_FILE_TMPDIR/facts$PWD/$2
    if [ ! "$kept" -nt "$2" ]; then
        mkdir -p "${kept%/*}"
        awk -f "$srcdir/tests/cli/documents.awk" "$2" >"$kept"
    fi
    sed -n "s/^$1\t//p" "$kept"
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

# none LINES: fails where there are any, and prints them.
none() {
    [ -z "$1" ] || { echo "$1" && return 1; }
}

# ---- links and files ----

check_link() {
    local document=$1 line=$2 target=$3 path=${3%%#*}
    case $target in
    http://* | https://* | mailto:*) return ;;
    esac
    path=${path:+$(dirname "$document")/$path}
    path=${path:-$document}
    if [ ! -e "$path" ]; then
        echo "$document:$line: nothing at $target"
    elif [[ $target == *'#'* ]]; then
        facts anchor "$path" | cut -f 2 | grep -qxF -- "${target#*#}" ||
            echo "$document:$line: no heading in $path makes #${target#*#}"
    fi
}

# A path from the top of the tree, or the program that is built from a source of that name. A path with
# NAME in it stands for any.
check_file() {
    local document=$1 line=$2 path=${3%% *}
    [[ $path == *NAME* ]] || compgen -G "$path" >/dev/null || compgen -G "$path.c*" >/dev/null ||
        echo "$document:$line: no file $path"
}

# ---- commands ----

# Keeps the help of each command, in ${help_of[COMMAND]}.
write_helps() {
    local command
    declare -gA help_of
    find_commands
    for command in "${commands[@]}"; do
        help_of[$command]=$("$AUTOTUNE" "$command" --help)
    done
}

# Does each `autotune COMMAND --option...` in a line of shell name a command and options that exist?
check_command() {
    local document=$1 line=$2 command word option
    local -a words
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
        if [ -z "${help_of[$command]-}" ]; then
            echo "$document:$line: no command autotune $command"
            continue
        fi
        for word in "${words[@]}"; do
            [[ $word =~ ^--[a-z][a-z-]* ]] || continue
            option=${BASH_REMATCH[0]}
            [[ ${help_of[$command]} =~ $option([=,[:space:]]|\[|$) ]] ||
                echo "$document:$line: autotune $command has no $option"
        done
    done <<<"${3//[;|&()]/$'\n'}"
}

# ---- sessions ----

check_labelled() {
    echo "$1:$2: a session in a block without a language: console runs it, text does not"
}

# Makes a folder like the top of the source tree, where what is written stays apart. The tutorial needs none of it.
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
    status=$(cat "$step.status" 2>/dev/null) || status='nothing: it was not run to its end'
    # shellcheck disable=SC2016 # a command of a document
    if [[ $status != 0 && $(cat "$next" 2>/dev/null) != 'echo $?' ]]; then
        what="ended with $status"
    elif [ -z "${OTHER_NVRTC-}" ]; then
        awk -f "$srcdir/tests/cli/documents-compare.awk" "$step.shown" "$step.printed" ||
            what="printed something else than is shown"
    fi
    [ -z "$what" ] || printf '%s:%s: %s: %s\n---- shown\n%s\n---- printed\n%s\n----\n' "$document" \
        "$(<"$step.line")" "$(head -n 1 "$step.command")" "$what" "$(<"$step.shown")" \
        "$(cat "$step.printed" 2>/dev/null)"
}

# run_sessions DOCUMENT: runs its console blocks.
run_sessions() {
    local document=$1 place=$BATS_TEST_TMPDIR/${1//\//-} name i
    local steps=$place.steps
    local -a all
    mkdir "$steps" "$place.files"
    awk -v steps="$steps" -v files="$place.files" -f "$srcdir/tests/cli/documents.awk" "$document"
    compgen -G "$steps/*.command" >/dev/null || return 0
    if [[ $document == */tutorial.md ]]; then mkdir "$place"; else make_place "$place"; fi
    cp -r "$place.files/." "$place"
    write_script "$steps" >"$place.script"
    (cd "$place" && XDG_CACHE_HOME=$place.cache bash "$place.script" 2>"$place.errors") || true
    lacking | while read -r name; do grep -lZ "^$name " "$steps"/*.command | xargs -0r rm -f; done
    all=("$steps"/*.command)
    for ((i = 0; i < ${#all[@]}; i++)); do
        compare "$document" "${all[i]%.command}" "${all[i + 1]-}"
    done
    cat "$place.errors" # the shell's, of a command that it cannot read
}

# lacking: prints the programs whose commands are left out. Python cannot load a library with AddressSanitizer.
lacking() {
    command -v cmake >/dev/null || echo cmake
    if ! command -v python3 >/dev/null || grep -q __asan_init "$AUTOTUNE"; then echo python3; fi
}

# Commands find files of this tree alone, and `make` in a session is no part of `make check`.
isolate() {
    export PATH=${AUTOTUNE%/*}:$PATH XDG_DATA_HOME=$BATS_TEST_TMPDIR/data AUTOTUNE_DATADIR=$srcdir
    export PYTHONPATH=$srcdir/python PYTHONDONTWRITEBYTECODE=1 AUTOTUNE_LIBRARY=${AUTOTUNE%/*}/.libs/libautotune.so.0
    unset AUTOTUNE_PROFILE_PATH MAKEFLAGS MAKELEVEL MFLAGS
}

# Prints the version of NVRTC that is in use.
nvrtc_version() {
    "$AUTOTUNE" tune --quiet --gpu emu --family naive --problem 1x1:f32 --budget 1 --out - |
        sed -n "s/^ *nvrtc: '\(.*\)'/\1/p"
}

# ---- sentences ----

check_sentences() {
    awk -v most=25 -f "$srcdir/tests/cli/documents-sentences.awk" "$1" |
        while IFS=$'\t' read -r line words sentence; do
            echo "$1:$line: $words words: ${sentence# }"
        done
}
