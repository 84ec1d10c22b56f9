#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune replay: searches on recorded spaces, which need neither GPU nor NVRTC; and recordings made
# by runs on the emulated device.

bats_require_minimum_version 1.5.0
load helpers

recordings=$srcdir/tests/recordings
one=$recordings/h200-10007x10009-b1.recording

# figure NAME COLUMN: prints a column of the strategy's line in the last table, the one over all
# recordings.
figure() {
    awk -v name="$1" -v column="$2" '$1 == name { found = $column } END { print found }' <<<"$output"
}

# stops: prints the evaluations at which searches stopped: the total's, then each recording's.
stops() {
    sed -n 's/.*"stopped_evaluations": \([0-9]*\).*/\1/p' <<<"$output"
}

@test "guided is the best strategy on the shipped recordings" {
    is_long
    run --separate-stderr -0 "$AUTOTUNE" replay "$recordings" --runs 5
    [ -z "$stderr" ]
    [[ $output == *'23 recordings: medians'* ]]
    # Within 1 % after at most 60 evaluations, and at most 1.1 times those of any other strategy.
    guided=$(figure guided 4)
    guided=${guided%/*}
    [ "$guided" -le 60 ]
    for name in random local annealing genetic halving; do
        other=$(figure $name 4)
        [ "$((guided * 10))" -le "$((${other%/*} * 11))" ]
    done
    # Less than all of its evaluations come after its best; others do not stop by themselves.
    [[ $(figure guided 10) =~ ^[1-9][0-9]?\.[0-9]%$ && -z $(figure random 10) ]]
    # When it stops by itself, it is within 1 % in 19 of 20 searches.
    found=$(grep -A 2 ' configs, the best ' <<<"$output" |
        awk '$1 == "guided" { sum += $NF } END { print sum }')
    [ "$found" -ge 110 ] # of 115
}

@test "guided needs at most 1.5 times the evaluations for ten times the configs" {
    cd "$BATS_TEST_TMPDIR"
    awk -F '\t' -v OFS='\t' '
        $1 == "family" { $5++; $6 *= 10; params = $5 - 1; print; next }
        $1 == "param" { print; if (!--params) print "param", "MORE", 0, "0 1 2 3 4 5 6 7 8 9"; next }
        $1 ~ /^[-0-9]/ { for (i = 0; i < 10; i++) print $1 " " i, $2; next }
        { print }' "$one" >ten.recording
    stops=()
    for file in "$one" ten.recording; do
        run --separate-stderr -0 "$AUTOTUNE" replay "$file" --search guided --runs 5
        stops+=("$(figure guided 9)")
    done
    [[ $output == *': 4610 configs'* ]]
    [ "${stops[1]}" -le "$((stops[0] * 3 / 2))" ]
}

@test "held out is guided with numbers chosen without that kind of space" {
    # Numbers that are given are not those that were chosen, and a stranger's kernel had no part in the choice.
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search random,guided --runs 2
    [ "$(grep -c '^  held out  ' <<<"$output")" -eq 2 ]
    [[ $output == *'held out: guided, with the numbers'* ]]
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search random --runs 2
    [[ $output != *'held out'* ]]
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search guided --runs 2 --numbers first=9,random=30
    [[ $output != *'held out'* ]]
    changed=$(figure guided 4)
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search guided --runs 2
    [ "$(figure guided 4)" != "$changed" ]
    # The line is what the numbers written down for that kind give.
    numbers=$(sed -n 's/^ *{"b1", {\(.*\)}},$/\1/p' "$srcdir/src/search/held_out.c" | tr -d ' .')
    held_out=$(awk '$1 == "held" && $2 == "out" { $1 = $2 = ""; found = $0 } END { print found }' <<<"$output")
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search guided --runs 2 --numbers "$numbers"
    [ "$(awk '$1 == "guided" { $1 = ""; found = $0 } END { print " " found }' <<<"$output")" = "$held_out" ]
    run --separate-stderr -0 "$AUTOTUNE" replay "$srcdir/tests/data/interchange/kernel-tuner.json" \
        --search guided --runs 2
    [[ $output != *'held out'* ]]
    refused 'unknown number of the search "second" (did you mean around, cover?); known are random, first' replay "$one" --numbers second=1
    refused 'first is not "-1", but from 0' replay "$one" --numbers first=-1
    refused 'write NAME=VALUE' replay "$one" --numbers first
}

@test "the same seed gives the same search" {
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search guided,genetic --runs 3 --seed 7
    first=$output
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search guided,genetic --runs 3 --seed 7
    [ "$output" = "$first" ]
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search guided,genetic --runs 3 --seed 8
    [ "$output" != "$first" ]
}

@test "exhaustive search ignores the seed; random search scores about 0" {
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search exhaustive,random --runs 200
    cell=$(figure exhaustive 4)
    [ "${cell%/*}" = "${cell#*/}" ]
    [ "$(figure random 8 | awk '{ print ($1 > -0.3 && $1 < 0.3) }')" -eq 1 ]
}

@test "--format csv has a row for each recording and strategy" {
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search random,exhaustive --runs 3 --format csv
    [ "${#lines[@]}" -eq 5 ]
    [[ ${lines[2]} == *,exhaustive,*,178,* ]]
    [[ ${lines[3]} == all,,random,* ]]
}

@test "--curve tells the best after N evaluations" {
    # Exhaustive search comes within 1 % at evaluation 178, and at the first config it is far behind.
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search exhaustive --runs 2 \
        --curve=1,177,178,100000 --format csv
    [[ ${lines[0]} == *'found,% behind after 1,% behind after 177,% behind after 178,'* ]]
    awk -F , 'NR > 1 { exit !($12 > 100 && $13 > 1 && $14 <= 1 && $14 > 0 && $15 == 0) }' <<<"$output"
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search exhaustive,random --runs 2 --curve
    [[ $output == *'best after        10       20       30       60      120'* ]]
    [[ $output == *'best after      10 s     20 s     30 s     60 s    120 s'* ]]
    # In the JSON, an evaluation takes what it took in the recording: 10.88 ms.
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search exhaustive --runs 1 --curve=100 \
        --format json
    [[ $output == *'"evaluations": 100,'*'"ms": 1088'* ]]
}

# costly FILE: makes a recording of the first one, in which evaluations of one family take 1 s and others 10 s.
costly() {
    awk -F '\t' -v OFS='\t' '
        NR == 1 { $2 = 3 }
        $1 == "family" { cost = ++families == 1 ? "1000000000" : "10000000000" }
        $1 ~ /^[-0-9]/ { print $0, cost; next }
        { print }' "$one" >"$1"
}

@test "--curve takes times, by what each config took" {
    costly "$BATS_TEST_TMPDIR/costly.recording"
    # The first 72 configs are of the first family.
    run --separate-stderr -0 "$AUTOTUNE" replay "$BATS_TEST_TMPDIR/costly.recording" --search exhaustive --runs 1 \
        --curve=71,72,73,71s,72s,81s,82s --format csv
    [[ ${lines[0]} == *',seconds of 71,seconds of 72,seconds of 73,% behind after 71 s,'*'after 82 s' ]]
    awk -F , 'NR > 1 { exit !($15 == 71 && $16 == 72 && $17 == 82 &&
        $18 == $12 && $19 == $13 && $20 == $13 && $21 == $14) }' <<<"$output"
    # To 1 % at evaluation 178.
    run --separate-stderr -0 "$AUTOTUNE" replay "$BATS_TEST_TMPDIR/costly.recording" --search exhaustive --runs 1
    [ "$(figure exhaustive 5)" = 1132.00/1132.00 ]
    run --separate-stderr -0 "$AUTOTUNE" convert --to t4 --out "$BATS_TEST_TMPDIR/costly.json" \
        "$BATS_TEST_TMPDIR/costly.recording"
    run --separate-stderr -0 "$AUTOTUNE" replay "$BATS_TEST_TMPDIR/costly.json" --search exhaustive --runs 1
    [ "$(figure exhaustive 5)" = 1132.00/1132.00 ]
}

@test "times that a recording does not tell are unknown" {
    sed 's/^evaluation_ns.*/evaluation_ns\t0/' "$one" >"$BATS_TEST_TMPDIR/untold.recording"
    run --separate-stderr -0 "$AUTOTUNE" replay "$BATS_TEST_TMPDIR/untold.recording" --search random --runs 2 --curve
    [ "$(grep -c 'seconds: unknown' <<<"$output")" -eq 2 ]
    [ "$(grep -c ' unknown .* unknown .* unknown ' <<<"$output")" -eq 2 ]
    [[ $output != *'10 s'* ]]
    # Beside one that tells them, its cells are empty.
    run --separate-stderr -0 "$AUTOTUNE" replay "$BATS_TEST_TMPDIR/untold.recording" "$one" --search random --runs 2 \
        --curve=20,1s --format csv
    [[ ${lines[1]} == *[0-9],, ]]
    [[ ${lines[2]} == *,0.218,* && ${lines[3]} == *,0.218,* ]]
}

@test "--out writes a page with the curves" {
    command -v python3 >/dev/null || skip "no python3"
    cd "$BATS_TEST_TMPDIR"
    sed 's/^evaluation_ns.*/evaluation_ns\t0/; s/^device\t.*/device\ta <b>\&/' "$one" >untold.recording
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" untold.recording --search random,local --runs 3 --out page.html
    [ -z "$stderr" ]
    [[ $output == *'best after        10 '* ]]
    "$srcdir/tests/cli/check-html" page.html
    # By evaluations: all, both; by seconds: of the one that tells them.
    [ "$(grep -c 'aria-label="How far the best is behind, against evaluations"' page.html)" -eq 3 ]
    [ "$(grep -c 'aria-label="How far the best is behind, against seconds"' page.html)" -eq 1 ]
    [ "$(grep -c 'Seconds are unknown' page.html)" -eq 1 ]
    grep -q 'On a &lt;b&gt;&amp;: 461 configs' page.html
    # A curve and a band for each strategy.
    [ "$(grep -c 'class="curve b1"' page.html)" -eq 4 ]
    [ "$(grep -c 'class="band b1"' page.html)" -eq 4 ]
    run -0 "$AUTOTUNE" replay "$one" --search random --runs 2 --out again.html
    "$srcdir/tests/cli/check-html" again.html
    refused 'none/page.html' replay "$one" --out none/page.html
}

@test "the number of jobs changes nothing" {
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search guided,local --runs 7 --jobs 1 --curve
    alone=$output
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search guided,local --runs 7 --jobs 5 --curve
    [ "$output" = "$alone" ]
}

@test "the synthetic spaces can be replayed" {
    is_long
    sh "$srcdir/tests/bench/make-spaces" "$BATS_TEST_TMPDIR/made"
    run --separate-stderr -0 "$AUTOTUNE" replay "$BATS_TEST_TMPDIR/made/additive.recording" \
        --search guided --runs 2 --format csv
    [[ ${lines[1]} == *,guided,*,2 ]]
}

@test "a budget is kept exactly" {
    # Exhaustive search comes within 1 % at evaluation 178.
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search exhaustive --budget 177 --runs 1 \
        --format json
    [[ $output == *'"ended_within_1_percent": 0,'* ]]
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search exhaustive --budget 178 --runs 1 \
        --format json
    [[ $output == *'"ended_within_1_percent": 1,'* ]]
}

@test "stopped_evaluations of the total is the median over recordings with a stop" {
    files=("$recordings"/h200-{10007x10009-b1,16777216x3-b1,8192x8192-f32}.recording)
    for count in 1 2 3; do
        run --separate-stderr -0 "$AUTOTUNE" replay "${files[@]:0:count}" --search guided --runs 3 --numbers values=3 \
            --format json
        mapfile -t ends < <(stops)
        [ "${#ends[@]}" -eq $((count + 1)) ]
        median=$(printf '%s\n' "${ends[@]:1}" | sort -n | sed -n "$(((count + 1) / 2))p")
        [ "$median" -gt 0 ]
        [ "${ends[0]}" -eq "$median" ]
    done
    # With this budget, the searches on one of the two recordings do not stop by themselves.
    budget=$((ends[2] + 10))
    run --separate-stderr -0 "$AUTOTUNE" replay "${files[@]:0:2}" --search guided --runs 3 --numbers values=3 \
        --budget "$budget" --format json
    mapfile -t ends < <(stops)
    [ "${ends[1]}" -eq 0 ]
    [ "${ends[0]}" -eq "${ends[2]}" ]
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" --search random --runs 3 --format json
    [ "$(stops | sort -u)" = 0 ]
}

@test "--winners finds good configs within four evaluations" {
    run --separate-stderr -0 "$AUTOTUNE" replay "$recordings"/h200-8*f32*.recording \
        --search guided --runs 5 --winners
    [[ $output == *'2 recordings'* ]]
    cell=$(figure guided 2)
    [ "${cell%/*}" -le 4 ]
}

@test "an unreadable recording is refused with its place" {
    cd "$BATS_TEST_TMPDIR"
    refused 'none.recording' replay none.recording
    mkdir empty
    refused 'no file in it ends in .recording' replay empty
    head -c 5000 "$one" >torn.recording
    refused 'torn.recording: the last line does not end' replay torn.recording
    head -n 40 "$one" >short.recording
    refused 'short.recording:40:1: the file ends before the last config of naive' \
        replay short.recording
    sed '1s/3$/4/' "$one" >later.recording
    refused 'later.recording:1:1: this is version 4 of the format; only version 3 can be read' \
        replay later.recording
    refused 'this is no recording of autotune' replay "$srcdir/results/nvidia-h200.yaml"
    printf 'autotune recording\t3\n\0' >binary.recording
    refused 'binary.recording: not a text file' replay binary.recording
}

@test "recordings of different spaces are not mixed" {
    cd "$BATS_TEST_TMPDIR"
    sed '/^param/s/16 32 64 128 256/16 32 64 128 512/; s/^\([01] [01]\) 256/\1 512/' "$one" >other.recording
    refused "other.recording has another space of family naive than $one" replay "$one" \
        other.recording
    # The same space with another template may be compared.
    sed '/^family/s/4c12/5c12/' "$one" >other.recording
    run --separate-stderr -0 "$AUTOTUNE" replay "$one" other.recording --search random --runs 1
}

@test "bad arguments are refused" {
    refused 'which recordings?' replay
    refused '; known are guided, exhaustive' replay "$one" --search random,tabu
    refused 'unknown search ""' replay "$one" --search random,
    for option in runs budget ahead jobs curve; do
        for value in '' 0 -1 x 1.5 99999999999999999999; do
            refused "\"$value\"" replay "$one" "--$option=$value"
        done
    done
    refused '"-1"' replay "$one" --seed=-1
    refused '"0s"' replay "$one" --curve=0s
    refused 'a time like' replay "$one" --curve=10,1.5s
    refused 'at most 16' replay "$one" --curve=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17
    refused 'known are table, json' replay "$one" --format=xml
}

@test "--record needs --search=exhaustive" {
    refused 'needs --search=exhaustive' --gpu emu --record "$BATS_TEST_TMPDIR/r"
    refused 'needs --search=exhaustive' --gpu emu --search guided --record "$BATS_TEST_TMPDIR/r"
    refused 'cannot make the folder' --gpu emu --search exhaustive --problem 8x8:f32 \
        --record "$BATS_TEST_TMPDIR/none/r"
}

@test "a recording made by a run can be replayed" {
    cd "$BATS_TEST_TMPDIR"
    if "$AUTOTUNE" explain copy --blocks 1 2>&1 | grep -q 'no NVRTC'; then
        skip "no NVRTC"
    fi
    run --separate-stderr -0 "$AUTOTUNE" --quiet --gpu emu --search exhaustive \
        --space "$srcdir/tests/gpu/fault.yaml" --family fault --problem 40x40:f32 --record made
    file=made/emulated-nvidia-h200-40x40-f32.recording
    # The recording says that its times are predicted.
    grep -qx $'device\temulated NVIDIA H200' "$file"
    # Each config has the time of its evaluation; together they took the search's.
    grep -q $'\twrong\t[1-9][0-9]*$' "$file"
    awk -F '\t' '$1 == "evaluation_ns" { mean = $2 } /^[-0-9]/ { sum += $3; configs++ }
        END { exit !(sum <= mean * configs * 1.01 && sum > mean * configs / 2) }' "$file"
    run --separate-stderr -0 "$AUTOTUNE" replay made --search random --runs 2
    [[ $output == *'40x40:f32 on emulated NVIDIA H200'* ]]
}
