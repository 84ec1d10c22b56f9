# SPDX-License-Identifier: Apache-2.0
# Fill the lists of the program's manual page from the program's tables:
#   awk -f manual-lists.awk SOURCE.c... autotune.1.scd
# A line "@at_strategy@" becomes a list of all const struct at_strategy, each with its .name and its
# .summary, in the order of their table (src/search/strategies.c).

FNR == 1 {
    is_page = FILENAME ~ /\.scd$/
    in_table = 0
    entry = ""
}

# ---- the sources ----

# Append the C strings of the line to text[entry, field].
function collect(line, piece)
{
    while (match(line, /"([^"\\]|\\.)*"/)) {
        piece = substr(line, RSTART + 1, RLENGTH - 2)
        gsub(/\\"/, "\"", piece)
        text[entry, field] = text[entry, field] piece
        line = substr(line, RSTART + RLENGTH)
    }
}

!is_page && /^#define EACH_[A-Z_]+\(each\) \\$/ {
    in_table = 1
    names = ""
    next
}

!is_page && in_table {
    match($0, /\(.*\)/)
    names = names " " substr($0, RSTART + 1, RLENGTH - 2)
    in_table = /\\$/
    next
}

# "#define DECLARE(name) extern const struct at_strategy at_strategy_##name;" follows the table.
!is_page && /extern const struct [a-z0-9_]+ [a-z0-9_]+##name;$/ {
    type = $(NF - 1)
    sub(/##name;/, "", $NF)
    prefixes[type] = $NF
    tables[type] = names
    next
}

!is_page && /^const struct [a-z0-9_]+ [a-z0-9_]+ = [{]$/ {
    entry = $4
    next
}

!is_page && /^[}]/ {
    entry = ""
}

!is_page && entry != "" {
    if ($1 ~ /^\./)
        field = substr($1, 2)
    if (field == "name" || field == "summary")
        collect($0)
}

!is_page {
    next
}

# ---- the page ----

/^@[a-z0-9_]+@$/ {
    type = substr($0, 2, length($0) - 2)
    count = split(tables[type], words, " ")
    for (i = 1; i <= count; i++) {
        entry = prefixes[type] words[i]
        summary = text[entry, "summary"]
        if (text[entry, "name"] == "" || summary == "")
            failed = 1
        gsub(/[\\*_]/, "\\\\&", summary)
        printf "\t- *%s*: %s%s\n", text[entry, "name"], summary, summary ~ /\.$/ ? "" : "."
    }
    if (count == 0 || failed) {
        print "manual-lists.awk: the sources lack names and summaries for " $0 > "/dev/stderr"
        exit 1
    }
    next
}

{
    print
}
