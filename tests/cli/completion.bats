#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Completion for bash and zsh offers what the program takes.

bats_require_minimum_version 1.5.0

setup() {
    PATH=$(dirname "$AUTOTUNE"):$PATH
    commands=$(autotune --help | sed -n 's/^  autotune \([a-z]*\) .*/\1/p')
    [ "$(wc -w <<<"$commands")" -ge 10 ]
}

# offers WORD...: prints what bash offers for the last word of this command line.
offers() {
    # shellcheck source=/dev/null
    source "$srcdir/completion/autotune.bash"
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _autotune autotune "${*: -1}" "${*: -2:1}"
    printf '%s\n' "${COMPREPLY[@]}"
}

# zsh_offers WORD...: the same for zsh; functions that print replace its completion functions.
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

@test "bash offers all commands" {
    diff <(offers autotune "" | sort) <(sort <<<"$commands")
    [ "$(offers autotune loo)" = lookup ]
}

@test "bash offers the options of each command" {
    for command in $commands; do
        diff <(offers autotune "$command" --) \
            <(autotune "$command" --help | grep -oE -e '--[a-z][a-z-]*' | sort -u)
    done
    offers autotune --gp | grep -qx -e --gpu # the command tune may be omitted
}

@test "bash offers the values of options, and files elsewhere" {
    [ "$(offers autotune export --as c | xargs)" = "cu cubin cmake" ]
    [ "$(offers autotune lookup --policy "" | xargs)" = "cold warm" ]
    [ -z "$(offers autotune show re)" ]
    [[ $(complete -p autotune 2>/dev/null) == "" ]]
    # shellcheck source=/dev/null
    source "$srcdir/completion/autotune.bash"
    [[ $(complete -p autotune) == *"-o default"* ]]
}

@test "zsh offers commands, options, values and files" {
    command -v zsh >/dev/null || skip "no zsh" # here, because zsh_offers runs in subshells
    diff <(zsh_offers autotune "" | sort) <(sort <<<"$commands")
    for command in $commands; do
        diff <(zsh_offers autotune "$command" --) \
            <(autotune "$command" --help | grep -oE -e '--[a-z][a-z-]*' | sort -u)
    done
    [ "$(zsh_offers autotune --policy "" | xargs)" = "cold warm" ]
    [ "$(zsh_offers autotune show re)" = files ]
}

@test "the program takes every value that is offered" {
    for format in $(offers autotune export --as ""); do
        run "$AUTOTUNE" export --as "$format" --out "$BATS_TEST_TMPDIR/out" /nonexistent.yaml
        [[ $output == *"cannot open /nonexistent.yaml"* ]]
    done
    [ "$(offers autotune export --as "" | wc -l)" -eq 7 ]
    for format in $(offers autotune convert --to ""); do
        run "$AUTOTUNE" convert --to "$format" /nonexistent.recording
        [[ $output == *"cannot open /nonexistent.recording"* ]]
    done
    [ "$(offers autotune convert --to "" | wc -l)" -eq 3 ]
}
