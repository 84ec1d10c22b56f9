#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Completion for bash, zsh and fish offers what the program knows.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    find_commands
    PATH=$(dirname "$AUTOTUNE"):$PATH
}

teardown() {
    tmux -L completion kill-server 2>/dev/null || true
}

# offers WORD...: print what bash offers for the last word of a command line.
offers() {
    # shellcheck source=/dev/null
    source "$srcdir/completion/autotune.bash"
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _autotune autotune "${*: -1}" "${*: -2:1}"
    printf '%s\n' "${COMPREPLY[@]}"
}

# zsh_offers WORD...: the same for zsh, with completion functions that print.
zsh_offers() {
    # shellcheck disable=SC2016 # zsh expands it
    zsh -f -c '
        compadd() { shift; print -rl -- "$@" }
        _describe() { print -l -- "${(@)${(P)2}%%:*}" }
        _files() { print files }
        file=$1; shift
        words=("$@") CURRENT=$#
        source $file' - "$srcdir/completion/_autotune" "$@"
}

# fish_offers LINE: the same for fish, which completes a line.
fish_offers() {
    # shellcheck disable=SC2016 # fish expands it
    HOME=$BATS_TEST_TMPDIR fish --no-config -c 'source $argv[1]; complete -C $argv[2]' \
        "$srcdir/completion/autotune.fish" "$1" | cut -f 1
}

@test "bash: commands" {
    diff <(offers autotune "" | sort) <(printf '%s\n' "${commands[@]}" | sort)
    [ "$(offers autotune loo)" = lookup ]
}

@test "bash: the options of each command" {
    for command in "${commands[@]}"; do
        diff <(offers autotune "$command" -- | sort) \
            <(autotune "$command" --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -e '--[a-z-]+' | sort)
    done
    offers autotune --gp | grep -qx -e --gpu # the command tune may be omitted
}

@test "bash: values, and files otherwise" {
    for option in --search --policy --format; do
        [ "$(offers autotune "$option" "" | wc -l)" -ge 2 ]
    done
    [ "$(offers autotune tune --search ra)" = random ]
    [ "$(offers autotune replay --search ra)" = random ]
    [ "$(offers autotune show -f "" | xargs)" = "table json csv markdown" ]
    [ -z "$(offers autotune show --search "")" ]
    [[ "$(offers autotune export --as c | xargs)" == *"cu cu-header cubin"*cmake* ]]
    [ "$(offers autotune lookup --policy "" | xargs)" = "cold warm" ]
    [ -z "$(offers autotune show re)" ]
    [[ $(complete -p autotune 2>/dev/null) == "" ]]
    # shellcheck source=/dev/null
    source "$srcdir/completion/autotune.bash"
    [[ $(complete -p autotune) == *"-o default"* ]]
}

@test "bash: families, parameters, studies and devices" {
    cd "$BATS_TEST_TMPDIR" # without files to offer
    families=$(autotune list --families --format csv | sed '1d; s/,.*//')
    [ "$(offers autotune tune --family "")" = "$families" ]
    [ "$(offers autotune explain "")" = "$families" ]
    [ "$(offers autotune explain tile PA)" = PAD= ]
    [ "$(offers autotune explain tile PAD=0 OR)" = ORDER= ]
    [ "$(offers autotune study sh)" = shared ]
    [ "$(offers autotune study "" | wc -l)" -eq "$(find "$srcdir/tuning/study" -name '*.yaml' | wc -l)" ]
    [ "$(offers autotune tune --gpu emu:h2)" = emu:h200 ]
    [ "$(offers autotune lookup --device h2)" = h200 ]
}

@test "bash: values of parameters, and words that bash splits at = and :" {
    COMP_LINE="autotune explain tile PAD="
    [ "$(offers autotune explain tile PAD = "" | xargs)" = "0 1 2 4" ]
    [ "$(offers autotune explain tile PAD = | xargs)" = "0 1 2 4" ]
    COMP_LINE="autotune tune --gpu=emu:h2"
    [ "$(offers autotune tune --gpu = emu : h2)" = h200 ]
    COMP_LINE="autotune tune --gpu=em"
    [ "$(offers autotune tune --gpu = em | head -n 1)" = emu ]
    COMP_LINE="autotune tune --gpu emu:h2"
    [ "$(offers autotune tune --gpu emu : h2)" = h200 ]
}

@test "the problems of a profile that is named, and options before the command" {
    profile=$srcdir/results/nvidia-h200.yaml
    for words in "explain --profile $profile" "lookup $profile" "export $profile" "show -f csv $profile"; do
        # shellcheck disable=SC2086 # words
        autotune complete -- $words 8192x8192:f | grep -qx 8192x8192:f32
    done
    autotune complete -- lookup "$profile" --problem 8192x8192:f | grep -qx 8192x8192:f32
    autotune complete -- --gpu emu explain til | grep -q '^tile\b'
    [ "$(autotune complete -- --strict look | cut -f 1)" = lookup ]
    [ "$(autotune complete -- lookup none.yaml 8192x)" = @ ] # files alone
}

@test "fish: commands, options, values and files" {
    command -v fish >/dev/null || skip "no fish"
    fish_offers 'autotune ' | diff <(printf '%s\n' "${commands[@]}" | sort) <(sort -)
    [ "$(fish_offers 'autotune tune --gpu emu:h2')" = emu:h200 ]
    [ "$(fish_offers 'autotune tune --gpu=emu:h2')" = --gpu=emu:h200 ]
    [ "$(fish_offers 'autotune explain tile PAD=' | xargs)" = "PAD=0 PAD=1 PAD=2 PAD=4" ]
    cd "$BATS_TEST_TMPDIR"
    odd_names
    touch profile.yaml my.cu
    [ "$(fish_offers 'autotune show prof')" = profile.yaml ]
    [ "$(fish_offers 'autotune study m')" = my.cu ]
    fish_offers 'autotune study ' | grep -qx shared
    rm profile.yaml my.cu
    unharmed
}

@test "zsh: families, parameters, studies and devices" {
    command -v zsh >/dev/null || skip "no zsh"
    zsh_offers autotune tune --family "" | grep -qx tile
    zsh_offers autotune explain "" | grep -qx tile
    zsh_offers autotune explain tile PA | grep -qx -e PAD=
    [ "$(zsh_offers autotune explain tile PAD= | xargs)" = "PAD=0 PAD=1 PAD=2 PAD=4" ]
    [ "$(zsh_offers autotune tune --gpu=emu:h2)" = --gpu=emu:h200 ]
    zsh_offers autotune study "" | grep -qx shared
    zsh_offers autotune tune --gpu "" | grep -qx emu:h200
    zsh_offers autotune lookup --device "" | grep -qx h200
}

@test "zsh: commands, options, values and files" {
    command -v zsh >/dev/null || skip "no zsh" # not in zsh_offers, which runs in subshells
    diff <(zsh_offers autotune "" | sort) <(printf '%s\n' "${commands[@]}" | sort)
    for command in "${commands[@]}"; do
        diff <(zsh_offers autotune "$command" -- | sort) \
            <(autotune "$command" --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -e '--[a-z-]+' | sort)
    done
    [ "$(zsh_offers autotune --policy "" | xargs)" = "cold warm" ]
    diff <(zsh_offers autotune export --as "") <(offers autotune export --as "")
    [ "$(zsh_offers autotune show re)" = files ]
}

# odd_names: files here with names that hurt where a shell expands them, in $odd.
odd_names() {
    mkdir "$BATS_TEST_TMPDIR/here"
    cd "$BATS_TEST_TMPDIR/here" || return
    # shellcheck disable=SC2016 # must never be expanded
    odd=('$(touch PWNED)' '`touch PWNED`' 'a b' '*' "it's" '${x:=y}' '~' '\n')
    touch "${odd[@]/%/.cu}"
    ls -A >"$BATS_TEST_TMPDIR/before"
}

# has_odd SHELL WORD...: behind these words the shell, offers or zsh_offers, has all of these names.
has_odd() {
    "$1" autotune "${@:2}" "" >"$BATS_TEST_TMPDIR/offered"
    for name in "${odd[@]}"; do
        grep -qxF -e "$name" "$BATS_TEST_TMPDIR/offered"
    done
}

# unharmed: nothing in these names was run.
unharmed() {
    diff "$BATS_TEST_TMPDIR/before" <(ls -A)
}

@test "names of files are offered as they are, and never expanded" {
    is_long
    odd_names
    for name in "${odd[@]}"; do
        for command in explain study; do
            offers autotune "$command" "" | grep -qxF -e "$name.cu"
            [ "$(offers autotune "$command" "$(printf %q "${name:0:3}")")" = "$name.cu" ]
        done
    done
    unharmed
}

@test "what the program prints is never expanded" {
    odd_names
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '%s\n' '#!/bin/sh' 'cat <<"END"' name "${odd[@]}" END >"$BATS_TEST_TMPDIR/bin/autotune"
    chmod +x "$BATS_TEST_TMPDIR/bin/autotune"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
    has_odd offers tune --gpu
    has_odd offers lookup --device
    has_odd offers tune --family
    has_odd offers explain tile
    if command -v zsh >/dev/null; then
        has_odd zsh_offers tune --gpu
        has_odd zsh_offers tune --family
    fi
    unharmed
}

# typed KEYS: print the words that a command has after these keys and a TAB in an interactive bash (tmux).
typed() {
    rm -f "$BATS_TEST_TMPDIR/words"
    tmux -L completion send-keys -l "autotune explain $1"
    tmux -L completion send-keys Tab C-a
    tmux -L completion send-keys -l 'words '
    tmux -L completion send-keys Enter
    for _ in $(seq 300); do
        [ ! -e "$BATS_TEST_TMPDIR/words" ] || break
        sleep 0.1
    done
    cat "$BATS_TEST_TMPDIR/words"
}

@test "interactive bash: names of files are quoted, and never expanded" {
    local keys name
    command -v tmux >/dev/null || skip "no tmux"
    odd_names
    cat >"$BATS_TEST_TMPDIR/rc" <<'END'
source "$srcdir/completion/autotune.bash"
words() { printf '%s\n' "$*" >"$BATS_TEST_TMPDIR/new" && mv "$BATS_TEST_TMPDIR/new" "$BATS_TEST_TMPDIR/words"; }
END
    export srcdir BATS_TEST_TMPDIR TMUX_TMPDIR=$BATS_TEST_TMPDIR
    unset TMUX
    tmux -L completion -f /dev/null new-session -d -x 100 -y 60 bash --rcfile "$BATS_TEST_TMPDIR/rc"
    while read -r keys name; do
        [ "$(typed "$keys")" = "autotune explain $name" ]
    done <<'END'
\$\( $(touch PWNED).cu
'$( $(touch PWNED).cu
\` `touch PWNED`.cu
a a b.cu
"a a b.cu
a\ a b.cu
\* *.cu
it it's.cu
"it it's.cu
\~ ~.cu
til tile
END
    unharmed
}

@test "asking for an option's values runs nothing" {
    mkdir "$BATS_TEST_TMPDIR/here"
    cd "$BATS_TEST_TMPDIR/here"
    # shellcheck disable=SC2046 # a word each
    for option in $(sample 3 0 $(offers autotune tune --)); do
        offers autotune tune "$option" "" >/dev/null
    done
    [ -z "$(ls -A)" ]
}

@test "each value that is offered is one that the program takes" {
    for format in $(offers autotune export --as ""); do
        run "$AUTOTUNE" export --as "$format" --out "$BATS_TEST_TMPDIR/out" /nonexistent.yaml
        [[ $output == *"cannot open /nonexistent.yaml"* ]]
    done
    [ "$(offers autotune export --as "" | wc -l)" -ge 2 ]
    for format in $(offers autotune convert --to ""); do
        run "$AUTOTUNE" convert --to "$format" /nonexistent.recording
        [[ $output == *"cannot open /nonexistent.recording"* ]]
    done
    [ "$(offers autotune convert --to "" | wc -l)" -ge 2 ]
}
