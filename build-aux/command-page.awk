# SPDX-License-Identifier: Apache-2.0
# Make the manual page of one command from the program's page with its lists filled:
#   awk -v command=tune -f command-page.awk autotune-full.scd >autotune-tune.1.scd
# It has the command's synopsis, its entry under COMMANDS, and what stands under each heading "Of ..." that
# names the command, or every command, in OPTIONS, ENVIRONMENT and EXAMPLES. EXIT STATUS is for all.

# Whether a heading such as "Of tune and bench" names the command.
function is_of_it(heading, words, i, n)
{
    n = split(heading, words, /[ ,]+/)
    for (i = 3; i <= n; i++)
        if (words[i] == command || words[i] == "every")
            return 1
    return 0
}

/^# / {
    section = substr($0, 3)
    taking = 0
    next
}

section == "SYNOPSIS" && ($2 == "*" command "*" || $2 == "[*" command "*]") {
    sub(/\+\+$/, "")
    synopsis = synopsis $0 "\n"
}

section == "COMMANDS" && /^\*/ {
    taking = $1 == "*" command "*"
    next
}

section == "COMMANDS" && taking {
    sub(/^\t/, "")
    description = description $0 "\n"
}

section == "EXIT STATUS" {
    of_it[section] = of_it[section] $0 "\n"
}

/^## Of / {
    taking = is_of_it($0)
    next
}

section ~ /^(OPTIONS|ENVIRONMENT|EXAMPLES)$/ && taking {
    of_it[section] = of_it[section] $0 "\n"
}

END {
    if (synopsis == "" || description == "" || of_it["EXAMPLES"] == "") {
        print "command-page.awk: the manual does not know " command > "/dev/stderr"
        exit 1
    }
    summary = description
    sub(/[.:;,].*/, "", summary)
    gsub(/\n/, " ", summary)
    gsub(/[*_]/, "", summary)
    text = "# DESCRIPTION\n\n" description "# OPTIONS\n" of_it["OPTIONS"] \
        "\n*-?*, *-h*, *--help*, *--usage*, *-V*, *--version*\n\tAs for every command.\n\n"
    text = text "# EXIT STATUS\n" of_it["EXIT STATUS"] "# ENVIRONMENT\n" of_it["ENVIRONMENT"] \
        "# EXAMPLES\n" of_it["EXAMPLES"]
    # These sections are in the other page only.
    gsub(/\*(PROBLEMS|SEARCH PATH)\*/, "& of *autotune*(1)", text)
    printf "autotune-%s(1)\n\n# NAME\n\nautotune-%s - %s\n\n# SYNOPSIS\n\n%s\n%s", command, command,
        tolower(substr(summary, 1, 1)) substr(summary, 2), synopsis, text
    printf "# SEE ALSO\n\n*autotune*(1), *autotune-profile*(5), *libautotune*(3)\n"
}
