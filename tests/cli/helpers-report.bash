# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154 # Text of pages has dollars; run-bats sets srcdir.
# Shared by the Bats files of autotune report.

need_python() {
    command -v python3 >/dev/null || skip "no python3"
}

# make_journal PROFILE JOURNAL COUNT: see tests/cli/make-journal.
make_journal() {
    "$srcdir/tests/cli/make-journal" "$@"
}

# make_library: library.yaml, the shipped profile of most problems, with its measurements.
make_library() {
    python3 -c 'import lzma, sys; sys.stdout.buffer.write(lzma.open(sys.argv[1]).read())' \
        "$srcdir/results/measured/nvidia-h200-library.yaml.xz" >library.yaml
}

# unversioned: a page without the program's version.
unversioned() {
    local version
    version=$("$AUTOTUNE" --version)
    sed "s/$version/autotune VERSION/"
}

# make_old PROFILE: print it with an older driver, and with spreads of none, so that times tell.
make_old() {
    sed -E "s/driver: '[0-9.]+'/driver: '500.1'/; s/(spread_permille): .*/\1: 0/" "$1"
}

# make_hostile: hostile.yaml and hostile.journal, whose names try to be more than text.
make_hostile() {
    local evil='</script></style><img src=x onerror=alert(1)>"&#39; --> | `x` ![x](y) [x](z) &lt;'
    while IFS= read -r line; do
        [[ $line != '    name: Example'* ]] || line="    name: '${evil//\'/}'"
        [[ $line != '    autotune:'* ]] || line="    autotune: '<img src=x>'"
        printf '%s\n' "$line"
    done <"$srcdir/tests/data/small-profile.yaml" >hostile.yaml
    rm -f hostile.journal
    make_journal hostile.yaml hostile.journal 30
    python3 - "$evil" <<'END'
import sqlite3, sys
db = sqlite3.connect("hostile.journal")
evil = sys.argv[1]
db.execute("UPDATE measurements SET family = ? WHERE id % 2 = 0", (evil,))
db.execute("UPDATE phases SET problem = ? WHERE phase = 'finals'", (evil,))
db.execute("UPDATE measurements SET config = config || ? || '=1 ' || ? WHERE id % 3 = 0", (" " + evil, evil))
db.commit()
END
}
