# SPDX-License-Identifier: Apache-2.0
# Makes the manual page of the profile format from doc/profile-format.md:
#   awk -f format-page.awk profile-format.md >autotune-profile.5.scd
# A heading becomes a section. A row of a table becomes its key with the meaning below. Examples stay.

function plain(text)
{
    gsub(/\\/, "\\\\", text)
    gsub(/[_*<>#]/, "\\\\&", text)
    gsub(/°/, "degrees ", text)
    return text
}

# Make `code` bold, drop the marks of **strong** and the targets of links, and escape the rest.
function marked(text, out, parts, i, n)
{
    while (match(text, /\[[^]]*\]\([^)]*\)/)) {
        out = substr(text, RSTART + 1, RLENGTH - 1)
        sub(/\].*/, "", out)
        text = substr(text, 1, RSTART - 1) out substr(text, RSTART + RLENGTH)
    }
    out = ""
    gsub(/\*\*/, "", text)
    gsub(/\*optional\*/, "optional", text)
    n = split(text, parts, "`")
    for (i = 1; i <= n; i++)
        out = out (i % 2 ? plain(parts[i]) : "*" plain(parts[i]) "*")
    return out
}

function trimmed(text)
{
    gsub(/^ +| +$/, "", text)
    return text
}

BEGIN {
    print "autotune-profile(5)\n\n# NAME\n\nautotune-profile - the format of profiles of autotune\n"
    print "# DESCRIPTION\n"
}

/^# / {
    next
}

/^```/ {
    code = !code
    print "```"
    next
}

code {
    print
    next
}

/^#+ / {
    level = length($1)
    gsub(/`/, "")
    heading = substr($0, level + 2)
    print (level == 2 ? "# " : "## ") (level == 2 ? toupper(heading) : heading)
    next
}

/^\| key / || /^\|---/ {
    next
}

/^\|/ {
    split($0, cells, "|")
    print marked(trimmed(cells[2]))
    print "\t" marked(trimmed(cells[3])) "\n"
    next
}

{
    print marked($0)
}

END {
    print "\n# SEE ALSO\n\n*autotune*(1), *libautotune*(3)"
}
