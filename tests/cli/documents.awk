# SPDX-License-Identifier: Apache-2.0
# Reads a Markdown document for documents.bats:
#   awk -f documents.awk DOCUMENT
# prints a line for each thing that can be checked, as KIND, tab, line number, tab, text:
#   anchor   a heading, as GitHub makes an anchor of it
#   link     the target of a link
#   file     a path from the top of the tree, and what follows it in a code span
#   command  a code span, a command of a session or a line of a block of language sh, where it names autotune
#   session  a command line in a block that names no language
# With -v steps=DIR -v files=DIR it writes instead, for each command of a console block, the files
# NNN.command, NNN.shown and NNN.line to steps; and to files each block that begins with its file's name.

function report(kind, line, text) {
    if (!steps)
        printf "%s\t%d\t%s\n", kind, line, text
}

# Text is a code span or a line of shell.
function report_code(line, text) {
    if (text ~ /^(build-aux|completion|contrib|doc|examples|m4|results|src|templates|tests|tuning)\//)
        report("file", line, text)
    if (text ~ /autotune|quickstart/)
        report("command", line, text)
}

# The number of newlines in the first n characters of text.
function newlines(text, n,    copy) {
    copy = substr(text, 1, n)
    return gsub(/\n/, "", copy)
}

# Reports code spans and links of a paragraph, and empties it.
function end_paragraph(    rest, prose, line, span) {
    rest = paragraph
    paragraph = prose = ""
    line = paragraph_line
    while (match(rest, /`[^`]+`/)) {
        span = substr(rest, RSTART + 1, RLENGTH - 2)
        line += newlines(rest, RSTART)
        prose = prose substr(rest, 1, RSTART - 1) "`" span_newlines(span) "`"
        rest = substr(rest, RSTART + RLENGTH)
        report_code(line, one_line(span))
        line += newlines(span, length(span))
    }
    prose = prose rest
    line = paragraph_line
    while (match(prose, /\]\([^() \n]+\)/)) {
        line += newlines(prose, RSTART)
        report("link", line, substr(prose, RSTART + 2, RLENGTH - 3))
        prose = substr(prose, RSTART + RLENGTH)
    }
}

# A span without its text, so that what looks like a link in it is none.
function span_newlines(span) {
    gsub(/[^\n]/, "", span)
    return span
}

function one_line(text) {
    gsub(/[ \n]+/, " ", text)
    return text
}

function report_anchor(heading,    anchor) {
    sub(/^#+ +/, "", heading)
    gsub(/\]\([^)]*\)/, "", heading)
    anchor = tolower(heading)
    gsub(/[^a-z0-9 _-]/, "", anchor)
    gsub(/ /, "-", anchor)
    report("anchor", NR, seen[anchor] ? anchor "-" seen[anchor] : anchor)
    seen[anchor]++
}

# A command in a block that is no console block.
function report_prompt(text) {
    if (language == "")
        report("session", NR, text)
    else
        report_code(NR, text)
}

# Begins a command of a session.
function begin_command(text) {
    command++
    step = sprintf("%s/%03d", steps, command)
    in_command = 1
    add(step ".command", text)
    if (steps)
        printf "" >(step ".shown")
    add(step ".line", NR)
    report_code(NR, text)
}

function add(path, text) {
    if (steps)
        print text >path
}

# Where a block begins with a comment that is a file's name, that file is where it goes.
function file_of(line) {
    if (line !~ /^(\/\*|\/\/|#) [A-Za-z0-9_-]+(\.[a-z]+)?( \*\/)?$/ || line !~ /[.]|Makefile/)
        return ""
    split(line, word, " ")
    return files "/" word[2]
}

/^ *```/ {
    end_paragraph()
    in_block = !in_block
    language = $0
    gsub(/[ `]/, "", language)
    first = 1
    path = ""
    next
}

in_block && language == "console" {
    if (/^\$ /)
        begin_command(substr($0, 3))
    else if (in_command && /^> /)
        add(step ".command", substr($0, 3))
    else {
        in_command = 0
        add(step ".shown", $0)
    }
    next
}

in_block {
    if (first)
        path = file_of($0)
    first = 0
    if (path)
        add(path, $0)
    if (/^\$ /)
        report_prompt(substr($0, 3))
    else if (language == "sh")
        report_code(NR, $0)
    next
}

/^#/ {
    end_paragraph()
    report_anchor($0)
}

/^$/ || /^\|/ {
    end_paragraph()
}

{
    if (!paragraph)
        paragraph_line = NR
    paragraph = paragraph $0 "\n"
}

END {
    end_paragraph()
}
