# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Completion of autotune for bash. Commands and options are those that the program itself tells, so
# that the two cannot disagree.

_autotune_commands() {
    autotune --help 2>/dev/null | sed -n 's/^  autotune \([a-z]*\) .*/\1/p'
}

_autotune_options() {
    autotune "$1" --help 2>/dev/null | grep -oE -e '--[a-z][a-z-]*' | sort -u
}

# The words that an option takes, where they are few.
_autotune_values() {
    case $1 in
    --as) echo header cu cubin make cmake json t4 ;;
    -f | --format) echo table json ;;
    --policy) echo cold warm ;;
    --to) echo recording kernel-tuner t4 ;;
    --search) echo guided exhaustive random local annealing genetic halving ;;
    -g | --gpu) echo auto all emu 0 ;;
    esac
}

_autotune() {
    local word=$2 command=tune values

    # The name of a command can only come first.
    [[ $COMP_CWORD -eq 1 || ${COMP_WORDS[1]} == -* ]] || command=${COMP_WORDS[1]}
    values=$(_autotune_values "$3")
    if [[ -n $values ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_autotune_options "$command")" -- "$word")
    elif ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$(_autotune_commands)" -- "$word")
    else
        COMPREPLY=()
    fi
}

# Where there is nothing of ours, files.
complete -o default -F _autotune autotune
