#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune report: its bytes, that they are sound HTML, SVG and JSON whatever the input says, and that journals
# are only read. report-browser.bats loads pages in a browser.

# shellcheck disable=SC2030,SC2031 # each test has a shell of its own
bats_require_minimum_version 1.5.0
load helpers
load helpers-report

setup_file() {
    find_nvrtc
}

setup() {
    profile=$srcdir/tests/golden/profile/two-devices.yaml
    cd "$BATS_TEST_TMPDIR" || return
}

@test "a page has the bytes that it had, besides its style and its script" {
    "$AUTOTUNE" report "$profile" | unversioned | sed '/^<style>$/,/^<\/style>$/d; /^<script>$/,/^<\/script>$/d' >page.html
    [ -z "${AUTOTUNE_UPDATE_GOLDEN-}" ] || cp page.html "$srcdir/tests/golden/report.html"
    diff "$srcdir/tests/golden/report.html" page.html
}

@test "the style and the script of a page are the files of the source, and a picture has its style" {
    source=$srcdir/src/report
    "$AUTOTUNE" report "$profile" >page.html
    sed -n '/^<style>$/,/^<\/style>$/p' page.html | sed '1d;$d' | diff - <(cat "$source/report.css" "$source/picture.css")
    sed -n '/^<script>$/,/^<\/script>$/p' page.html | sed '1d;$d' | diff - "$source/report.js"
    "$AUTOTUNE" report "$profile" --figure map | sed -n '/^<style>$/,/^<\/style>$/p' | sed '1d;$d' |
        diff - "$source/picture.css"
}

@test "Markdown, and refused arguments" {
    assert_transcript "$srcdir/tests/golden/report.txt"
}

@test "the pictures of the documents are those of results/" {
    for figure in map gains; do
        run -0 "$AUTOTUNE" report "$srcdir/results/nvidia-h200.yaml" --figure "$figure"
        diff "$srcdir/doc/$figure.svg" - <<<"$output" || {
            echo "make figures"
            return 1
        }
    done
}

@test "the same input gives the same bytes, to a file and to standard output" {
    need_python
    make_journal "$profile" a.journal 30
    "$AUTOTUNE" report "$profile" --journal a.journal --out a.html
    "$AUTOTUNE" report "$profile" --journal a.journal >b.html
    cmp a.html b.html
}

@test "pages and pictures are sound: with and without journal and baseline, few problems and many" {
    need_python
    make_old "$profile" >old.yaml
    make_journal "$profile" a.journal 30
    "$AUTOTUNE" report "$profile" --out a.html
    "$AUTOTUNE" report "$profile" --journal a.journal --baseline old.yaml --out b.html
    make_library
    "$AUTOTUNE" report library.yaml --out c.html
    "$AUTOTUNE" report "$srcdir/tests/golden/profile/emulated.yaml" --out d.html
    "$AUTOTUNE" report "$srcdir/tests/golden/profile/least.yaml" --out e.html
    "$srcdir/tests/cli/check-html" ./?.html
    for figure in map gains; do
        "$AUTOTUNE" report "$profile" --figure "$figure" --out "$figure.svg"
        python3 -c 'import sys, xml.etree.ElementTree as e; e.parse(sys.argv[1])' "$figure.svg"
    done
}

@test "the check of pages finds what is wrong with one" {
    need_python
    "$AUTOTUNE" report "$profile" >page.html
    while IFS= read -r change; do
        sed "$change" page.html >changed.html
        run ! cmp -s page.html changed.html
        run ! "$srcdir/tests/cli/check-html" changed.html
    done <<'END'
s|</figure>||
s|id="d1-maps"|id="d0-maps"|
s|href="#p0-1"|href="#p0-99"|
s|<h1>|<h1><a href="https://example.org">x</a>|
s|</main>|<img src="x.png"></main>|
s|viewBox="0 0 400 260"|viewBox="0 0 400 260" <|
s|{"profile":|{profile:|
END
}

@test "hostile names stay text" {
    need_python
    make_hostile
    "$AUTOTUNE" report hostile.yaml --journal hostile.journal --out page.html
    "$srcdir/tests/cli/check-html" page.html
    [ "$(grep -c '<img' page.html)" -eq 0 ]
    grep -q '&lt;img' page.html
    "$AUTOTUNE" report hostile.yaml --format markdown >page.md
    run ! grep -E '<|^[^|]*\[x\]|!\[' page.md
}

@test "a journal shows the search; another device's and other problems' do not" {
    need_python
    make_journal "$profile" a.journal 30
    "$AUTOTUNE" report "$profile" --journal a.journal --out page.html
    [ "$(grep -c 'All 30 evaluations' page.html)" -eq 4 ]
    grep -q '<h3 id="d0-parameters">All parameters' page.html
    grep -q '<dt>date</dt><dd>2025-11-21 10:00 to 2025-11-21 1[01]:[0-9][0-9] UTC' page.html
    [ "$(grep -c '<h3 id="d[01]-tuners">What the tuners did' page.html)" -eq 2 ]
    [ "$(grep -o '<title>opens\|class="p3"[^>]*><title>[^<]* s; the device worked 0.14 s' page.html | wc -l)" -ge 4 ]
    grep -q '>GPU 1, tuner 2<' page.html
    grep -q '90 evaluations in the journal' page.html # the fourth problem of that device has another GPU
    sed 's/GPU-0/GPU-9/' "$profile" >other.yaml
    "$AUTOTUNE" report other.yaml --journal a.journal --out page.html
    run ! grep -q 'All 30 evaluations' page.html
    grep -q 'The journals have no evaluation' page.html
    run --separate-stderr -0 "$AUTOTUNE" report other.yaml --journal a.journal --out page.html
    [[ $stderr == *'warning: a.journal has no measurement of the problems of other.yaml on its GPUs'* ]]
    run --separate-stderr -0 "$AUTOTUNE" report "$profile" --journal a.journal --out page.html
    [ -z "$stderr" ]
    refused 'cannot open journal none.journal: No such file' report "$profile" --journal none.journal
}

@test "a journal shows each finalist's samples, and which are tied; one without finalists does not" {
    need_python
    small=$srcdir/tests/data/small-profile.yaml
    make_journal "$small" a.journal 30
    python3 - <<'END'
import sqlite3
db = sqlite3.connect("a.journal")
times = ([1000 + i % 3 // 2 * 2 for i in range(15)], [1001 - i % 3 // 2 for i in range(15)], [1200 + i for i in range(15)])
for place, samples in enumerate(times):
    config = f"A=1 P={place} Q=7"
    db.execute("UPDATE finals SET samples_ns = ?, config = ? WHERE place = ?", (str(samples), config, place))
db.execute("UPDATE finals SET id = id + 2000")
# An earlier shoot-out of the same run, and one of another device.
db.execute("INSERT INTO finals SELECT id - 1000, run, problem, family, family_hash, 'P=80', gpu, place, won, samples_ns,"
           " filed_utc_ms, NULL FROM finals WHERE place < 2")
db.execute("INSERT INTO finals SELECT id + 1000, run, problem, family, family_hash, 'P=90', 'GPU-X', place, won,"
           " samples_ns, filed_utc_ms, NULL FROM finals WHERE config LIKE '%P=0%'")
db.commit()
END
    "$AUTOTUNE" report "$small" --journal a.journal --out page.html
    "$srcdir/tests/cli/check-html" page.html
    [ "$(grep -c 'class="finals"' page.html)" -eq "$(grep -c '^  - problem:\|^    problem:' "$small")" ]
    # shape and word of each line: circle, diamond, cross
    grep -q '<tr><td>1<td class="name">● winner<td.*<td>1.00<td class="wide">1.00 – 1.00<td>0.00<td.*<code>A=1 P=0 Q=7</code>' page.html
    grep -q '<tr><td>2<td class="name">◆ tie<td.*<td>0.10<td class="words">as the winner, with <code>P=1</code>' page.html
    grep -q '<tr><td>3<td class="name">× slower<td.*<td>1.21<td class="wide">1.20 – 1.21<td>20.[0-9]*<td.*<code>P=2</code>' page.html
    for series in 0 3 4; do # a mark for each sample, one beside the other
        grep -qE "^<path class=\"k$series\" d=\"m[0-9]+ (38|66|94)([ -][0-9]+ 0){14}\"/>" page.html
    done
    run ! grep 'P=[89]0' page.html
    python3 -c 'import sqlite3; sqlite3.connect("a.journal").executescript("DELETE FROM finals")'
    "$AUTOTUNE" report "$small" --journal a.journal --out page.html
    "$srcdir/tests/cli/check-html" page.html
    run ! grep 'class="finals"' page.html
    grep -q 'The fastest of the search' page.html
}

@test "a journal shows clock, power, temperature and throttling over time, as far as it has them" {
    need_python
    small=$srcdir/tests/data/small-profile.yaml
    make_journal "$small" a.journal 30
    "$AUTOTUNE" report "$small" --journal a.journal --out page.html
    "$srcdir/tests/cli/check-html" page.html
    while IFS='|' read -r change clock power temperature throttled words; do
        cp a.journal b.journal
        python3 -c 'import sqlite3, sys; sqlite3.connect("b.journal").executescript(sys.argv[1])' "$change"
        "$AUTOTUNE" report "$small" --journal b.journal --out page.html
        "$srcdir/tests/cli/check-html" page.html
        [ "$(grep -c 'aria-label="SM clock over time' page.html)" -eq "$clock" ]
        [ "$(grep -c 'aria-label="Power over time' page.html)" -eq "$power" ]
        [ "$(grep -c 'aria-label="Temperature over time' page.html)" -eq "$temperature" ]
        [ "$(grep -c 'data-s="throttled"' page.html)" -eq "$throttled" ]
        grep -q "$words" page.html
    done < <(sampled 3 0 <<'END'
UPDATE measurements SET power_mw = 512000, throttle = 4 WHERE throttle NOT NULL|1|1|1|3|<td class="wide">512<td class="wide">[0-9]*<td class="name">sync_boost</td>
UPDATE measurements SET throttle = 0 WHERE throttle NOT NULL|1|1|1|0|Throttling: none at any of [0-9]* looks
UPDATE measurements SET throttle = NULL, temperature_c = NULL|1|1|0|0|<td class="wide">–<td class="name">–</td>
UPDATE measurements SET throttle = 9 * (id = 1) WHERE throttle NOT NULL|1|1|1|3|hw_thermal_slowdown\|sync_boost\|sw_power_cap at 1 of
UPDATE measurements SET power_mw = NULL, temperature_c = NULL, throttle = NULL|1|0|0|0|<td class="wide">–<td class="wide">–<td class="name">–</td>
UPDATE measurements SET power_mw = NULL, temperature_c = NULL, throttle = NULL, clock_sm_khz = NULL|0|0|0|0|The journal has no clocks, power or temperature
END
    )
}

@test "the head of a page answers the questions that readers ask first" {
    need_python
    small=$srcdir/tests/data/small-profile.yaml
    make_journal "$small" a.journal 40
    # The profile's line, with what; and how the journal's times go: the words that the page then has.
    while IFS='|' read -r change times words; do
        sed -E "$change" "$small" >profile.yaml
        cp a.journal b.journal
        python3 - "$times" <<'END'
import sqlite3, sys
db = sqlite3.connect("b.journal")
db.execute("UPDATE measurements SET throttle = 0 WHERE throttle NOT NULL")
db.execute("UPDATE measurements SET outcome = 'correct', samples_ns = '[' || (" + sys.argv[1] + ") || ']'")
db.execute("UPDATE measurements SET family = 'naive', config = 'A=' || (id % 2) || ' B=' || (id % 3) || ' C=' || ((id + 1) / 2) || ' D=' || (id % 2)")
db.execute("DELETE FROM measurements WHERE id > 40")
db.commit()
END
        "$AUTOTUNE" report profile.yaml --journal b.journal --out page.html
        grep -qF "$words" page.html || {
            echo "$change, $times: not '$words'"
            return 1
        }
    done < <(sampled 3 0 <<'END'
s/x/x/|40000|<b><a href="#p0-0">4096x4096:f32</a>:</b> 90.0&#8239;% of the copy limit, by the kernel naive.
s/x/x/|40000|<li>It takes 1.11 times as long as the fastest copy of as many bytes
s/x/x/|40000|<b>With care:</b> 1 point below, marked !, speaks against it.
s/conditions: .*/conditions: {throttle: none}/|40000|<b>Yes:</b> nothing that was checked
s/conditions: .*/conditions: {throttle: none}/; s/spread_permille: 10/spread_permille: 40/; s/wrong: 0/wrong: 1/; s/configs: 61/configs: 62/|40000|<b>With care:</b> 2 points below, marked !, speak against it.
s/x/x/|40000|<b>Nothing:</b> every legal config was tried.
s/ended: .*/ended: settled/|40000|<b>Probably little:</b>
/ended: /d|40000|<b>Not known:</b> the profile does not tell
s/ended: .*/ended: budget/|40000|<b>Maybe something:</b> searches were cut short.
s/ended: .*/ended: settled/|90000 - 100 * id|<b>Maybe something:</b> the searches still gained
s/x/x/|40000 + 400 * (id % 2)|<b>A</b> and <b>D</b> of the kernel <b>naive</b> matter most. They are tied: what was tried cannot tell them apart. A: fixed to 1 it costs 1.0&#8239;% in the geometric mean. Fixed to 0 it costs nothing. Only what was tried counts: 40 evaluations a problem. <a href="#d0-parameters">
s/x/x/|40000 + 400 * (id % 3)|<b>B</b> of the kernel <b>naive</b> matters most: fixed to 2 it costs 2.0&#8239;%
s/x/x/|40000|None that was tried with several values
END
    )
    "$AUTOTUNE" report "$small" --out page.html
    grep -q 'Which parameter matters, how each search went, and when: <code>autotune report small-profile.yaml --journal small-profile.yaml.journal</code>' page.html
    sed 's/time_ns: 40000/time_ns: 38000/; s/of_copy_permille: 900/of_copy_permille: 947/; s/MB_per_s: 3355443/MB_per_s: 3532046/' "$small" >old.yaml
    "$AUTOTUNE" report "$small" --baseline old.yaml --out page.html
    grep -q '<h2>Is anything slower than in old.yaml?</h2>' page.html
    grep -q '<b>Yes:</b> of 1 problems' page.html
    "$AUTOTUNE" report old.yaml --baseline "$small" --out page.html
    grep -q '<b>No:</b> of 1 problems' page.html
    make_journal "$small" c.journal 30 # whose looks saw throttling where the profile saw none
    sed 's/conditions: .*/conditions: {throttle: none}/' "$small" >profile.yaml
    "$AUTOTUNE" report profile.yaml --journal c.journal --out page.html
    grep -qE '<b>!</b> Throttling: at [0-9]+ of the journal.s 1[0-9] looks at the device' page.html
}

@test "the command that repeats a run repeats it, limits included" {
    need_nvrtc
    make_data
    narrowed tile TILE_COLS=32 TILE_ROWS=32 LOAD_VEC=1 STORE_VEC=1 PAD='0, 1' ORDER=0 GROUP=1 UNROLL=0 MIN_BLOCKS=0 \
        DYNAMIC=0 CARVEOUT=-1 OUTER=0 >"$AUTOTUNE_DATADIR/tuning/tile.yaml"
    narrowed copy VEC=16 SHARED=0 LOAD=0 PREFETCH=0 STORE=0 THREADS=256 ITEMS='1, 4' \
        >"$AUTOTUNE_DATADIR/tuning/copy.yaml"
    while read -r options; do
        # shellcheck disable=SC2086 # Several options.
        "$AUTOTUNE" tune -q --gpu emu:h200 $options --out "a b.yaml" 64x64:f32 >/dev/null
        "$AUTOTUNE" report "a b.yaml" --out page.html
        run -0 grep -o '<dd><div><code>autotune [^<]*' page.html
        command=${output#*<code>autotune }
        [ "$command" = "tune --gpu emu:h200 --policy cold --seed 1 ${options:+$options }--out FILE 64x64:f32" ]
        rm -f FILE*
        # shellcheck disable=SC2086 # Words of a command.
        "$AUTOTUNE" $command -q >/dev/null
        cmp "a b.yaml" FILE
        rm "a b.yaml"
    done <<'END'
--search random --budget 3 --timeout 1500ms --family copy --family tile --fresh

END
    grep -qF "autotune report 'a b.yaml' --journal 'a b.yaml.journal'" page.html
}

@test "the page has the commands that tune again what was cut short and what became slower" {
    small=$srcdir/tests/data/small-profile.yaml
    sed 's/ended: .*/ended: budget/' "$small" >cut.yaml
    "$AUTOTUNE" report cut.yaml --out page.html
    grep -qF 'searched until it settles: <code>autotune tune --policy cold --out cut.yaml 4096x4096:f32</code>' page.html
    sed 's/time_ns: 40000/time_ns: 38000/; s/of_copy_permille: 900/of_copy_permille: 947/; s/MB_per_s: 3355443/MB_per_s: 3532046/' "$small" >old.yaml
    "$AUTOTUNE" report "$small" --baseline old.yaml --out page.html
    grep -qF 'What became slower, tuned again: <code>autotune tune --policy cold --out small-profile.yaml 4096x4096:f32</code>' page.html
    grep -qF '<li>It became 5.3&#8239;% slower than in old.yaml, with the same config: the same software</li>' page.html
    "$AUTOTUNE" report old.yaml --baseline "$small" --out page.html
    run ! grep -q 'tuned again' page.html
}

@test "what the L2 cache can hold is no alarm, and is left out of the headline" {
    profile=$srcdir/results/nvidia-h200.yaml
    "$AUTOTUNE" report "$profile" --out page.html
    grep -qF '<li><b>97.0&#8239;%</b><span>of the copy limit, geometric mean of 40 problems. 10 small ones are left out, with 106.8&#8239;%' page.html
    run ! grep -q 'limits are too low' page.html
    grep -qF 'Slowest: <b>rows off the 32-byte sectors, 1 byte</b> an element, with 90.4&#8239;% of the copy limit; all together reach 97.0&#8239;%.' page.html
    sed 's/l2_bytes: .*/l2_bytes: 0/' "$profile" >none.yaml # those that the launch limits are small still
    "$AUTOTUNE" report none.yaml --out page.html
    grep -qF 'geometric mean of 44 problems. 6 small ones' page.html
    grep -q 'winners are faster than their copy limits' page.html
}

@test "of a long search the fastest and some others are shown" {
    need_python
    make_journal "$srcdir/tests/data/small-profile.yaml" a.journal 1500
    "$AUTOTUNE" report "$srcdir/tests/data/small-profile.yaml" --journal a.journal --out page.html
    "$srcdir/tests/cli/check-html" page.html
    grep -q '1000 of 1500 evaluations: the fastest' page.html
    [ "$(grep -cP '^[0-9]+\t[a-z]+\t[0-9.]+\t' page.html)" -eq 1000 ]
}

@test "moments of the year 1970, and more families than there are, do no harm" {
    need_python
    make_journal "$srcdir/tests/data/small-profile.yaml" a.journal 200
    python3 - <<'END'
import sqlite3
db = sqlite3.connect("a.journal")
db.execute("UPDATE measurements SET measured_utc_ms = (id % 7) * 1000, family = family || id")
db.commit()
END
    "$AUTOTUNE" report "$srcdir/tests/data/small-profile.yaml" --journal a.journal --out page.html
    "$srcdir/tests/cli/check-html" page.html
    grep -q '<dd>1970-01-01 00:00 to 1970-01-01 00:00 UTC' page.html
}

@test "only the newest run of a journal counts, and of two journals both do" {
    need_python
    make_journal "$profile" a.journal 30
    cp a.journal b.journal
    python3 - b.journal <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("INSERT INTO runs (id, setting, started_utc) SELECT id + 10, setting, started_utc FROM runs")
db.execute("UPDATE measurements SET run = run + 10, config = config || '9' WHERE id % 3 = 0")
db.commit()
END
    "$AUTOTUNE" report "$profile" --journal b.journal --out page.html
    [ "$(grep -c 'All 10 evaluations' page.html)" -eq 4 ]
    "$AUTOTUNE" report "$profile" --journal a.journal --journal b.journal --out page.html
    [ "$(grep -c 'All 40 evaluations' page.html)" -eq 4 ]
}

@test "a journal is not written, even if a killed run left its log" {
    need_python
    make_journal "$profile" a.journal 30
    mkdir left
    python3 - a.journal left <<'END'
import shutil, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA journal_mode = WAL")
db.execute("PRAGMA wal_autocheckpoint = 0")
db.execute("UPDATE measurements SET config = config || '9'")
db.commit()
shutil.copy(sys.argv[1], sys.argv[2])
shutil.copy(sys.argv[1] + "-wal", sys.argv[2])
END
    [ -s left/a.journal-wal ]
    chmod 400 left/*
    before=$(cat left/* | cksum; ls -l --full-time left)
    mkdir temporary
    TMPDIR=$PWD/temporary "$AUTOTUNE" report "$profile" --journal left/a.journal --out page.html
    [ "$(cat left/* | cksum; ls -l --full-time left)" = "$before" ]
    [ -z "$(ls temporary)" ]
    "$AUTOTUNE" report "$profile" --journal a.journal --out without.html
    grep -q 9 without.html
    run ! cmp -s page.html without.html || [ "$(grep -c 'All 30' page.html)" -eq 4 ]
}

@test "journals that are damaged, in use, or no journals are refused" {
    is_long
    need_python
    make_journal "$profile" a.journal 5
    export TMPDIR=$PWD/temporary
    mkdir temporary
    refused 'No such file' report "$profile" --journal none
    refused 'is a folder' report "$profile" --journal .
    refused 'is not a journal of autotune' report "$profile" --journal "$profile"
    : >empty
    refused 'not a journal of autotune' report "$profile" --journal empty
    while IFS=';' read -r statement words; do
        cp a.journal b.journal
        python3 -c 'import sqlite3, sys; db = sqlite3.connect("b.journal"); db.executescript(sys.argv[1])' "$statement"
        refused "$words" report "$profile" --journal b.journal
    done <<'END'
PRAGMA user_version = 99;has version 99
CREATE TABLE more (a);has what no journal has
UPDATE measurements SET run = 9;setting is not text
UPDATE measurements SET measured_utc_ms = -1;measured_utc_ms is out of its bounds
UPDATE measurements SET measured_utc_ms = 'x';measured_utc_ms is out of its bounds
UPDATE measurements SET expected_ns = 'x';expected_ns is out of its bounds
UPDATE measurements SET clock_sm_khz = -5;clock_sm_khz is out of its bounds
UPDATE measurements SET again = 2;again is out of its bounds
UPDATE measurements SET power_mw = -1;power_mw is out of its bounds
UPDATE measurements SET temperature_c = 'hot';temperature_c is out of its bounds
UPDATE measurements SET throttle = 128;throttle is out of its bounds
UPDATE finals SET place = -1;place is out of its bounds
UPDATE finals SET won = 2;won is out of its bounds
UPDATE finals SET config = char(27);config is not printable text
UPDATE finals SET samples_ns = '[]';samples_ns is empty
UPDATE finals SET run = 99;setting is not text
DROP TABLE finals;lacks what every journal has
UPDATE measurements SET config = char(27);config is not printable text
UPDATE measurements SET samples_ns = '[1e999]';samples_ns
UPDATE measurements SET outcome = 'fine';unknown outcome
END
    python3 - a.journal "$AUTOTUNE" "$profile" <<'END'
import sqlite3, subprocess, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA locking_mode = EXCLUSIVE")
db.execute("BEGIN EXCLUSIVE")
done = subprocess.run([sys.argv[2], "report", sys.argv[3], "--journal", sys.argv[1]], capture_output=True, text=True)
assert done.returncode == 2 and "in use by another process" in done.stderr, done
END
    [ -z "$(ls temporary)" ]
}

@test "costs of the worst problems' kernels are those of explain" {
    is_long
    need_python
    need_nvrtc
    "$AUTOTUNE" report "$srcdir/results/nvidia-h200.yaml" --explain 2 --out page.html
    "$srcdir/tests/cli/check-html" page.html
    [ "$(grep -c 'What its accesses cost' page.html)" -eq 2 ]
    # the command that stands in the page of a problem whose costs were not counted
    "$AUTOTUNE" report "$srcdir/results/nvidia-h200.yaml" >without.html
    read -ra arguments < <(grep -o 'autotune explain --problem [^<]*' without.html | head -n 1)
    [ "${arguments[1]}" = explain ]
    run -0 "$AUTOTUNE" "${arguments[@]:1}" --gpu emu:h200
    counted=0
    while read -r _ kind of _ _ _ cost least _; do
        [[ $kind =~ ^(load|store|copy|atomic)$ ]] || continue
        counted=$((counted + 1))
        grep -q "$kind $of</td><td>" page.html
        grep -q "<td>$cost</td><td>$least</td>" page.html
    done <<<"$output"
    [ "$counted" -ge 2 ]
}

@test "a file that is read is not written over" {
    cp "$profile" own.yaml
    refused 'own.yaml is a profile, which would be lost' report own.yaml --out own.yaml
    refused 'would be lost' report "$profile" --baseline own.yaml --out own.yaml
    refused 'would be lost' report "$profile" --journal own.yaml --out own.yaml
    cmp "$profile" own.yaml
}

@test "pages stay small" {
    is_long
    need_python
    make_library
    for case in "$srcdir/results/nvidia-h200.yaml 100 900000" "library.yaml 80 10000000"; do
        read -r file count most <<<"$case"
        rm -f a.journal*
        make_journal "$file" a.journal "$count"
        "$AUTOTUNE" report "$file" --journal a.journal --out a.html
        [ "$(stat -c %s a.html)" -le "$most" ]
    done
}
