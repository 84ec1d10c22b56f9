# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Completion of autotune for bash. Commands, options and their words all come from the program.

_autotune_commands() {
    autotune --help 2>/dev/null | sed -n 's/^  autotune \([a-z]*\) .*/\1/p'
}

_autotune_options() {
    autotune "$1" --help 2>/dev/null | grep -oE -e '--[a-z][a-z-]*' | sort -u
}

# _autotune_rows ARGUMENT...: the first column of a table.
_autotune_rows() {
    autotune "$@" --format csv 2>/dev/null | sed '1d; s/,.*//'
}

# _autotune_arguments COMMAND WORD...: what may stand behind these arguments of the command.
_autotune_arguments() {
    local command=$1 family=
    shift
    while [[ ${1-} == -* ]]; do shift; done
    family=${1-}
    case $command in
    explain)
        if [[ -z $family ]]; then
            _autotune_rows list --families && compgen -f -X '!*.cu'
        else
            _autotune_rows explain "$family" --params | sed 's/$/=/'
        fi
        ;;
    study)
        if [[ -z $family ]]; then
            autotune study 2>/dev/null | sed -n 's/^ *\([a-z-]*\)  .*/\1/p'
            compgen -f -X '!*.cu'
        fi
        ;;
    esac
}

# _autotune_values COMMAND OPTION: the words that the option takes. An option with fixed words refuses
# "?" and names them. Any other option accepts it, and --version ends the program.
_autotune_values() {
    case $2 in
    -g | --gpu) printf '%s\n' auto all emu 0 && _autotune_rows list --emulated ;;
    -d | --device) _autotune_rows list --emulated | sed 's/^emu://' ;;
    --family) _autotune_rows list --families ;;
    -*) autotune "$1" "$2" '?' --version 2>&1 | sed -n 's/,//g; s/.*; known are //p' | tr ' ' '\n' ;;
    esac
}

_autotune() {
    local word command=tune offered line

    # shellcheck disable=SC2162 # backslashes quote what follows, as in the word
    IFS= read word <<<"$2"

    # A command can only be the first word.
    [[ $COMP_CWORD -eq 1 || ${COMP_WORDS[1]} == -* ]] || command=${COMP_WORDS[1]}
    offered=$(_autotune_values "$command" "$3")
    if [[ -z $offered && $word == -* ]]; then
        offered=$(_autotune_options "$command")
    elif [[ -z $offered ]] && ((COMP_CWORD == 1)); then
        offered=$(_autotune_commands)
    elif [[ -z $offered ]]; then
        offered=$(_autotune_arguments "$command" "${COMP_WORDS[@]:2:COMP_CWORD-2}")
    fi
    # Names of files, families and devices may hold anything. So nothing may expand them, as compgen -W would.
    COMPREPLY=()
    while IFS= read -r line; do
        [[ -z $line || $line != "$word"* ]] || COMPREPLY+=("$line")
    done <<<"$offered"
    # readline quotes the names of files only.
    [[ $(printf '%q\n' "${COMPREPLY[@]}") == "$(printf '%s\n' "${COMPREPLY[@]}")" ]] ||
        compopt -o filenames 2>/dev/null || :
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null || :
}

# -o default: complete files if this function offers nothing.
complete -o default -F _autotune autotune
