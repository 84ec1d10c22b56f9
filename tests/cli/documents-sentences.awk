# SPDX-License-Identifier: Apache-2.0
# Prints "LINE WORDS SENTENCE", with tabs between, for each sentence of a Markdown document that has more
# than `most` words. A paragraph, an item of a list and a quotation are text. Headings, tables, blocks of
# code and HTML are not. A code span, a link's target and a number with its unit's sign are no more than a
# word.

function words_of(text,    count, i, word, parts) {
    count = 0
    split(text, parts, /[ \t]+/)
    for (i in parts)
        if (parts[i] ~ /[[:alnum:]\001]/)
            count++
    return count
}

# One word for each code span, and no targets of links.
function plain(text) {
    gsub(/``[^`]*``|`[^`]*`/, "\001", text)
    gsub(/\]\([^)]*\)/, "]", text)
    gsub(/[][*|]/, "", text)
    return text
}

function report(sentence, line,    count) {
    count = words_of(sentence)
    if (count > most) {
        gsub(/\001/, "`...`", sentence)
        printf "%d\t%d\t%s\n", line, count, sentence
    }
}

# A sentence ends at a full stop, or the like, before a space and what begins a sentence.
function end_paragraph(    text) {
    text = plain(paragraph)
    while (match(text, /[.!?][)"]* +["(]*[[:upper:][:digit:]\001]/)) {
        report(substr(text, 1, RSTART), first)
        text = substr(text, RSTART + 1)
    }
    report(text, first)
    paragraph = ""
}

/^[ >]*```/ { end_paragraph(); fenced = !fenced; next }
fenced { next }
/^[ >]*$/ || /^#/ || /^ *\|/ || /^ *</ || /^    / && paragraph == "" { end_paragraph(); next }
/^[ >]*([-*]|[0-9]+\.) / { end_paragraph(); sub(/^[ >]*([-*]|[0-9]+\.) +/, "") }
{
    if (paragraph == "")
        first = FNR
    paragraph = paragraph " " $0
}
END { end_paragraph() }
