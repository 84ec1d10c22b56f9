# SPDX-License-Identifier: Apache-2.0
# Prints LINE, WORDS and SENTENCE, with tabs between, for each sentence of a Markdown document that has more
# than `most` words. Paragraphs, items of lists and quotations are text; headings, tables, HTML and blocks of
# code are not. A code span is a word, and so are several with nothing but commas between them.

function words_of(text,    count, i, parts) {
    count = 0
    split(text, parts, /[ \t]+/)
    for (i in parts)
        if (parts[i] ~ /[[:alnum:]\001]/)
            count++
    return count
}

# Code spans are one character, and links have no targets. What is left of a link begins with [.
function plain(text) {
    gsub(/``[^`]*``|`[^`]*`/, "\001", text)
    gsub(/\001([ ,]+\001)+/, "\001", text)
    gsub(/\]\([^)]*\)/, "", text)
    gsub(/[]*|]/, "", text)
    return text
}

function report(sentence, line,    count) {
    count = words_of(sentence)
    if (count > most) {
        gsub(/\001/, "`...`", sentence)
        gsub(/\[/, "", sentence)
        gsub(/  +/, " ", sentence)
        printf "%d\t%d\t%s\n", line, count, sentence
    }
}

# A sentence ends at a full stop, or the like, before a space and what begins a sentence.
function end_paragraph(    text) {
    text = plain(paragraph)
    while (match(text, /[.!?][)"]* +["(]*[[[:upper:][:digit:]\001]/)) {
        report(substr(text, 1, RSTART), first)
        text = substr(text, RSTART + 1)
    }
    report(text, first)
    paragraph = ""
}

/^[ >]*```/ { end_paragraph(); fenced = !fenced; next }
fenced { next }
/^[ >]*$/ || /^#/ || /^ *\|/ || /^ *</ || (/^    / && paragraph == "") { end_paragraph(); next }
/^[ >]*([-*]|[0-9]+\.) / { end_paragraph(); sub(/^[ >]*([-*]|[0-9]+\.) +/, "") }
{
    if (paragraph == "")
        first = FNR
    paragraph = paragraph " " $0
}
END { end_paragraph() }
