#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Completion for bash and zsh: what is offered is what the program knows.

bats_require_minimum_version 1.5.0

setup() {
    PATH=$(dirname "$AUTOTUNE"):$PATH
    commands=$(autotune --help | sed -n 's/^  autotune \([a-z]*\) .*/\1/p')
    [ "$(wc -w <<<"$commands")" -ge 10 ]
}

# offers WORD...: what bash offers for the last of the words of a command line.
offers() {
    # shellcheck source=/dev/null
    source "$srcdir/completion/autotune.bash"
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _autotune autotune "${*: -1}" "${*: -2:1}"
    printf '%s\n' "${COMPREPLY[@]}"
}

# zsh_offers WORD...: the same of zsh, whose completion functions are replaced by ones that print.
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
    diff <(offers autotune "" | sort) <(sort <<<"$commands")
    [ "$(offers autotune loo)" = lookup ]
}

@test "bash: the options of each command" {
    for command in $commands; do
        diff <(offers autotune "$command" --) \
            <(autotune "$command" --help | grep -oE -e '--[a-z][a-z-]*' | sort -u)
    done
    offers autotune --gp | grep -qx -e --gpu # tune may be left out
}

@test "bash: values, and files otherwise" {
    [ "$(offers autotune export --as c | xargs)" = "cu cubin cmake" ]
    [ "$(offers autotune lookup --policy "" | xargs)" = "cold warm" ]
    [ -z "$(offers autotune show re)" ]
    [[ $(complete -p autotune 2>/dev/null) == "" ]]
    # shellcheck source=/dev/null
    source "$srcdir/completion/autotune.bash"
    [[ $(complete -p autotune) == *"-o default"* ]]
}

@test "zsh: commands, options, values and files" {
    command -v zsh >/dev/null || skip "no zsh" # not in zsh_offers, which runs in subshells
    diff <(zsh_offers autotune "" | sort) <(sort <<<"$commands")
    for command in $commands; do
        diff <(zsh_offers autotune "$command" --) \
            <(autotune "$command" --help | grep -oE -e '--[a-z][a-z-]*' | sort -u)
    done
    [ "$(zsh_offers autotune --policy "" | xargs)" = "cold warm" ]
    [ "$(zsh_offers autotune show re)" = files ]
}

@test "each value that is offered is one that the program takes" {
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
