#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Completion for bash and zsh offers what the program knows.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    PATH=$(dirname "$AUTOTUNE"):$PATH
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
        compadd() { shift; print -l -- "$@" }
        _describe() { print -l -- "${(@)${(P)2}%%:*}" }
        _files() { print files }
        file=$1; shift
        words=("$@") CURRENT=$#
        source $file' - "$srcdir/completion/_autotune" "$@"
}

@test "bash: commands" {
    diff <(offers autotune "" | sort) <(printf '%s\n' "${commands[@]}" | sort)
    [ "$(offers autotune loo)" = lookup ]
}

@test "bash: the options of each command" {
    for command in "${commands[@]}"; do
        diff <(offers autotune "$command" --) \
            <(autotune "$command" --help | grep -oE -e '--[a-z][a-z-]*' | sort -u)
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

@test "zsh: families, parameters, studies and devices" {
    command -v zsh >/dev/null || skip "no zsh"
    zsh_offers autotune tune --family "" | grep -qx tile
    zsh_offers autotune explain "" | grep -qx tile
    zsh_offers autotune explain tile PA | grep -qx -e PAD=
    zsh_offers autotune study "" | grep -qx shared
    zsh_offers autotune tune --gpu "" | grep -qx emu:h200
    zsh_offers autotune lookup --device "" | grep -qx h200
}

@test "zsh: commands, options, values and files" {
    command -v zsh >/dev/null || skip "no zsh" # not in zsh_offers, which runs in subshells
    diff <(zsh_offers autotune "" | sort) <(printf '%s\n' "${commands[@]}" | sort)
    for command in "${commands[@]}"; do
        diff <(zsh_offers autotune "$command" --) \
            <(autotune "$command" --help | grep -oE -e '--[a-z][a-z-]*' | sort -u)
    done
    [ "$(zsh_offers autotune --policy "" | xargs)" = "cold warm" ]
    diff <(zsh_offers autotune export --as "") <(offers autotune export --as "")
    [ "$(zsh_offers autotune show re)" = files ]
}

@test "asking for an option's values runs nothing" {
    mkdir "$BATS_TEST_TMPDIR/here"
    cd "$BATS_TEST_TMPDIR/here"
    for option in $(offers autotune tune --); do
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
