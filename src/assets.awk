# SPDX-License-Identifier: Apache-2.0
# Make a C source of texts: the page's style and script, and what `autotune export` writes.
#   awk -f assets.awk report.css tuned.h.in

function begin(file, name)
{
    name = file
    sub(/.*\//, "", name)
    sub(/\.in$/, "", name)
    gsub(/[^a-z]/, "_", name)
    printf "const char at_asset_%s[] = {\n", name
    return name
}

BEGIN {
    # The index of a character in this text is its code, less 31.
    for (i = 1; i < 256; i++)
        code[sprintf("%c", i)] = i
    print "/* Made by assets.awk. */"
    print "#include \"export/export.h\""
    print "#include \"report/page.h\"\n"
}

FNR == 1 {
    if (name != "")
        print "0};\n"
    name = begin(FILENAME)
}

{
    for (i = 1; i <= length($0); i++)
        printf "%d,", code[substr($0, i, 1)]
    print "10,"
}

END {
    print "0};"
}
