# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Completion of autotune for bash. The program itself knows what may stand where.

_autotune() {
    local typed rest=${COMP_LINE:-${COMP_WORDS[*]}} blanks word kept='' line i
    local -a words=()

    # bash splits --gpu=emu:h200 and PAD=1 at '=' and ':'. What no blank separates is one word.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        blanks=${rest%%[![:blank:]]*}
        rest=${rest#"$blanks"}
        rest=${rest#"${COMP_WORDS[i]}"}
        if [[ -n $blanks || $i -eq 0 ]]; then words+=("${COMP_WORDS[i]}"); else words[-1]+=${COMP_WORDS[i]}; fi
    done
    # shellcheck disable=SC2162 # backslashes quote what follows, as in the word
    IFS= read word <<<"$2"
    typed=${words[-1]}
    if [[ $typed == "${COMP_WORDS[COMP_CWORD]}" ]]; then
        typed=$word
    else
        kept=${typed%"${typed##*[=:]}"} # stays on the line
    fi

    # Names of files, families and devices may hold anything. So nothing may expand them, as compgen -W would.
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == @* ]]; then
            # Without an ending, -o default completes files.
            [[ $line == @ ]] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X "!*${line#@}" -- "$typed")
        else
            line=${line%%$'\t'*}
            [[ -z $line || $line != "$typed"* ]] || COMPREPLY+=("${line#"$kept"}")
        fi
    done < <(autotune complete -- "${words[@]:1:${#words[@]}-2}" "$typed" 2>/dev/null)
    # readline quotes the names of files only.
    [[ $(printf '%q\n' "${COMPREPLY[@]}") == "$(printf '%s\n' "${COMPREPLY[@]}")" ]] ||
        compopt -o filenames 2>/dev/null || :
    [[ ${COMPREPLY[0]-} != *[=:] ]] || compopt -o nospace 2>/dev/null || :
}

# -o default: complete files if this function offers nothing.
complete -o default -F _autotune autotune
