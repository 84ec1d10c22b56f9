# SPDX-License-Identifier: Apache-2.0
# Does what a command has printed match what a document shows?
#   awk -f documents-compare.awk SHOWN PRINTED
# ends with 0 if so, else with 1. In SHOWN a line `...` stands for any number of lines, and `...` within
# a line for any text. Blanks at the end of a line do not count.

# Does line match pattern, in which "..." stands for any text?
function line_matches(pattern, line,    count, piece, i, at) {
    if (pattern !~ /[.][.][.]/)
        return pattern == line
    count = split(pattern, piece, /[.][.][.]/)
    if (substr(line, 1, length(piece[1])) != piece[1])
        return 0
    line = substr(line, length(piece[1]) + 1)
    for (i = 2; i < count; i++) {
        at = index(line, piece[i])
        if (piece[i] != "" && at == 0)
            return 0
        line = substr(line, at + length(piece[i]))
    }
    return length(line) >= length(piece[count]) &&
        substr(line, length(line) - length(piece[count]) + 1) == piece[count]
}

# Do the lines of shown from i match those of printed from j?
function matches(i, j) {
    if (i > shown_count)
        return j > printed_count
    if (shown[i] == "...") {
        for (; j <= printed_count + 1; j++)
            if (matches(i + 1, j))
                return 1
        return 0
    }
    return j <= printed_count && line_matches(shown[i], printed[j]) && matches(i + 1, j + 1)
}

{
    sub(/[ \t]+$/, "")
}

FILENAME == ARGV[1] {
    shown[++shown_count] = $0
    next
}

{
    printed[++printed_count] = $0
}

END {
    exit !matches(1, 1)
}
