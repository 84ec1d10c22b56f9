# SPDX-License-Identifier: Apache-2.0
# Completion of autotune for fish. The program itself knows what may stand where.

function __autotune_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (autotune complete -- $words[2..-1] 2>/dev/null)
        switch $line
            case '@*'
                __fish_complete_suffix (string sub -s 2 -- $line)
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c autotune -f -a '(__autotune_complete)'
