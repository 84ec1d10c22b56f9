#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune merge and autotune diff, on variants of one profile.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    cp "$srcdir/tests/data/h200-profile.yaml" old.yaml
}

# variant FILE SED-ARGUMENT...: write a variant of old.yaml.
variant() {
    local file=$1
    shift
    sed "$@" old.yaml >"$file"
}

# Edits that make the winner of its first problem 5 % slower.
winner="/problem: '3x1048576:c128'/,/ spread_permille:/"
slower=(-e "$winner s/time_ns: 25661/time_ns: 26944/" -e "$winner s/low_ns: 25632/low_ns: 26914/"
    -e "$winner s/high_ns: 25676/high_ns: 26960/" -e "$winner s/MB_per_s: 3922813/MB_per_s: 3736019/"
    -e "$winner s/of_copy_permille: 984/of_copy_permille: 937/")

# share_of PROBLEM: the winner's share of the copy limit in old.yaml.
share_of() {
    awk -v name="'$1'" '$3 == name { on = 1 } on && $1 == "of_copy_permille:" { print $2; exit }' old.yaml
}

merge() {
    run --separate-stderr -0 "$AUTOTUNE" merge --replace --out merged.yaml "$@"
    [ -z "$output" ]
    run -0 "$AUTOTUNE" check merged.yaml
}

@test "merging one profile, or the same one twice, changes nothing" {
    merge old.yaml
    cmp old.yaml merged.yaml
    [ -z "$stderr" ]
    cp old.yaml copy.yaml
    run --separate-stderr -0 "$AUTOTUNE" merge old.yaml copy.yaml
    [ -z "$stderr" ]
    diff old.yaml <(printf '%s\n' "$output")
}

@test "problems of two runs are merged" {
    variant new.yaml "s/problem: '8192x8192:f32'/problem: '16384x4096:f32'/"
    run --separate-stderr -0 "$AUTOTUNE" merge old.yaml new.yaml -o merged.yaml
    [ -z "$stderr" ]
    [ "$(grep -c problem: merged.yaml)" -eq 51 ]
    [ "$(grep -c '  device:' merged.yaml)" -eq 1 ]
}

@test "--answers has each config once, with the same bytes in whatever order" {
    other=$srcdir/tests/golden/profile/two-devices.yaml
    run --separate-stderr -0 "$AUTOTUNE" merge --answers --out merged.yaml old.yaml "$other"
    [ -z "$stderr" ]
    run ! grep -E "time_ns|problem:" merged.yaml
    [ "$(grep -c "^    - '" merged.yaml)" -eq "$(cat old.yaml "$other" | grep -c problem:)" ]
    [ "$(stat -c %s merged.yaml)" -lt "$(($(cat old.yaml "$other" | wc -c) / 4))" ]
    "$AUTOTUNE" merge --answers "$other" old.yaml | cmp - merged.yaml
    "$AUTOTUNE" merge merged.yaml | cmp - merged.yaml
    "$AUTOTUNE" merge --answers old.yaml >answers.yaml
    run -0 "$AUTOTUNE" diff old.yaml answers.yaml
    [ "$output" = "0 with another config, 0 with another time, 0 removed, 0 added, 50 alike" ]
}

@test "measurements win over an answer, and an answer is kept where there are none" {
    variant new.yaml "s/problem: '8192x8192:f32'/problem: '16384x4096:f32'/"
    "$AUTOTUNE" merge --answers new.yaml >answers.yaml
    for files in "old.yaml answers.yaml" "answers.yaml old.yaml"; do
        # shellcheck disable=SC2086 # two files
        run --separate-stderr -0 "$AUTOTUNE" merge --replace --out merged.yaml $files
        [ "$(grep -c problem: merged.yaml)" -eq 50 ]
        [ "$(grep "^    - '" merged.yaml)" = "    - '16384x4096:f32 $(share_of 8192x8192:f32)'" ]
        [[ $stderr == *"3x1048576:c128 on NVIDIA H200, cold: keeping old.yaml (25661 ns), not answers.yaml (not measured, 98.4 % of copy): measurements"* ]]
    done
    run -1 "$AUTOTUNE" diff old.yaml merged.yaml
    [[ $output == *'added    16384x4096:f32'*'50 alike'* ]]
}

@test "of two answers, a larger share of the copy limit wins" {
    "$AUTOTUNE" merge --answers old.yaml >a.yaml
    sed "s/'3x1048576:c128 984'/'3x1048576:c128 985'/" a.yaml >b.yaml
    for files in "a.yaml b.yaml" "b.yaml a.yaml"; do
        # shellcheck disable=SC2086 # two files
        run --separate-stderr -0 "$AUTOTUNE" merge --replace --out merged.yaml $files
        cmp b.yaml merged.yaml
        [[ $stderr == *": a larger share of the copy limit" ]]
    done
}

@test "different devices stay side by side" {
    "$AUTOTUNE" merge old.yaml "$srcdir/tests/golden/profile/two-devices.yaml" >merged.yaml
    run -0 "$AUTOTUNE" show merged.yaml
    [ "$(grep -c 'compute capability' <<<"$output")" -ge 3 ]
}

@test "each software keeps its entries; who uses the profile takes the newest" {
    variant new.yaml -e 's/580.159.04/590.1/' "${slower[@]}" \
        -e "s/problem: '8192x8192:f32'/problem: '16384x4096:f32'/"
    run --separate-stderr -0 "$AUTOTUNE" merge new.yaml old.yaml -o merged.yaml
    [ -z "$stderr" ]
    [ "$(grep -c problem: merged.yaml)" -eq 100 ]
    [ "$(grep -c '  device:' merged.yaml)" -eq 2 ]
    # The order of the files does not matter.
    "$AUTOTUNE" merge old.yaml new.yaml | cmp - merged.yaml
    run --separate-stderr -0 "$AUTOTUNE" lookup -d h200 -p 8192x8192:f32 merged.yaml
    [[ $output == *"1 of 6, exact"*"expected   97.5 %"* ]]
    run --separate-stderr -0 "$AUTOTUNE" lookup -d h200 -p 3x1048576:c128 merged.yaml
    [[ $output == *"1 of 6, exact"*"expected   93.7 %"* ]]
    # One GPU is one section, whatever software it was tuned with.
    run -0 "$AUTOTUNE" check merged.yaml
    [ "$output" = 'merged.yaml: sound: 51 problems on 1 device' ]
    run -0 "$AUTOTUNE" show merged.yaml
    [ "$(grep -c 'compute capability' <<<"$output")" -eq 1 ]
    [ "$(grep -c '^3x1048576:c128 ' <<<"$output")" -eq 1 ]
    [[ $output == *'51 problems: '*'driver 590.1, '*': 50 problems'*'driver 580.159.04, '*:*'1 problem'* ]]
    run -1 "$AUTOTUNE" diff new.yaml merged.yaml
    [[ $output == *'8192x8192:f32'*added* && $output != *c128* ]]
    "$AUTOTUNE" merge --answers merged.yaml >answers.yaml
    [ "$("$AUTOTUNE" show --format csv answers.yaml | grep -c '3x1048576:c128')" -eq 1 ]
    "$AUTOTUNE" check answers.yaml | grep -q ' 51 problems '
}

@test "a profile that is there takes part, unless --replace drops it; another file is refused" {
    variant new.yaml "s/problem: '8192x8192:f32'/problem: '16384x4096:f32'/"
    cp old.yaml merged.yaml
    chmod 600 merged.yaml
    "$AUTOTUNE" merge new.yaml -o merged.yaml
    [ "$(grep -c problem: merged.yaml)" -eq 51 ]
    [ "$(stat -c %a merged.yaml)" = 600 ]
    "$AUTOTUNE" merge --replace new.yaml -o merged.yaml
    "$AUTOTUNE" merge new.yaml | cmp - merged.yaml
    echo notes >notes
    refused 'notes exists, and new entries cannot join it' merge new.yaml -o notes
    [ "$(<notes)" = notes ]
    : >empty.yaml
    "$AUTOTUNE" merge new.yaml -o empty.yaml
    cmp merged.yaml empty.yaml
}

@test "with the same software, the documented rule chooses the entry" {
    variant other.yaml "${slower[@]}"
    "$AUTOTUNE" merge other.yaml old.yaml 2>told >/dev/null
    grep -q 'keeping old.yaml .*a shorter time$' told

    variant other.yaml "${slower[@]}" -e '0,/^    search:/s//    ended: exhausted\n&/'
    "$AUTOTUNE" merge old.yaml other.yaml 2>told >/dev/null
    grep -q 'keeping other.yaml .*a complete search$' told

    variant other.yaml "${slower[@]}" -e '0,/correct: 90$/s//correct: 89/'
    "$AUTOTUNE" merge other.yaml old.yaml 2>told >/dev/null
    grep -q 'keeping old.yaml .*more configs measured$' told

    variant other.yaml "${slower[@]}" -e 's/samples: 15$/samples: 16/' -e 's/shootout_samples: 16/shootout_samples: 15/'
    "$AUTOTUNE" merge old.yaml other.yaml 2>told >/dev/null
    grep -q 'keeping other.yaml .*more samples$' told

    variant other.yaml "${slower[@]}" -e "$winner s/spread_permille: 1$/spread_permille: 2/"
    "$AUTOTUNE" merge other.yaml old.yaml 2>told >/dev/null
    grep -q '^autotune: 3x1048576:c128.*keeping old.yaml .*a smaller spread$' told
}

@test "files that cannot be read or written are refused" {
    refused "none.yaml" merge old.yaml none.yaml
    refused "schema is" merge old.yaml "$refused_profiles/version.yaml"
    refused "which profiles" merge
    refused "/nonexistent" merge old.yaml --out /nonexistent/merged.yaml
    echo kept >merged.yaml
    run -2 "$AUTOTUNE" merge old.yaml none.yaml -o merged.yaml
    [ "$(<merged.yaml)" = kept ]
}

@test "diff: equal profiles have no changes" {
    run --separate-stderr -0 "$AUTOTUNE" diff old.yaml old.yaml
    [ "$output" = "0 with another config, 0 with another time, 0 removed, 0 added, 50 alike
the times of the 50 problems in both changed by +0.0 % on average" ]
    run --separate-stderr -0 "$AUTOTUNE" diff --format json old.yaml old.yaml
    [ "$(tr -d ' \n' <<<"$output")" = '{"alike":50,"changes":[],"mean_change_permille":0,"timed":50}' ]
}

@test "diff: changes of driver, config and time, and problems added and removed" {
    variant new.yaml -e 's/580.159.04/590.1/' "${slower[@]}" \
        -e "s/problem: '8192x8192:f32'/problem: '16384x4096:f32'/" \
        -e "/problem: '4096x4096:c128'/,/parameters:/s/PAD: 1/PAD: 2/"
    run --separate-stderr -1 "$AUTOTUNE" diff old.yaml new.yaml
    [ -z "$stderr" ]
    [ "$output" = "NVIDIA H200, cold
    driver 580.159.04 -> 590.1
  time     3x1048576:c128: 25661 ns -> 26944 ns, +5.0 % (slower), 98.4 % -> 93.7 % of copy
  config   4096x4096:c128: 130456 ns -> 130456 ns, +0.0 % (alike), 97.5 % -> 97.5 % of copy
    PAD=1->2
  removed  8192x8192:f32
  added    16384x4096:f32
1 with another config, 1 with another time, 1 removed, 1 added, 47 alike
the times of the 49 problems in both changed by +0.1 % on average" ]
    run --separate-stderr -1 "$AUTOTUNE" diff -f json old.yaml new.yaml
    [[ $output == *'"change": "time"'*'"time_change_permille": 50'*'"verdict": "slower"'*'"timed": 49'* ]]
    run --separate-stderr -1 "$AUTOTUNE" diff -f csv old.yaml new.yaml
    [ "${#lines[@]}" -eq 5 ]
    [[ $output == *$'\ntime,NVIDIA H200,cold,3x1048576:c128,narrow,narrow,25661,26944,5.0,slower,measured\n'* ]]
    [[ $output == *'added,NVIDIA H200,cold,16384x4096:f32,,'* ]]
}

@test "diff: a time within the spreads is alike" {
    variant new.yaml -e "$winner s/time_ns: 25661/time_ns: 25670/" \
        -e "$winner s/MB_per_s: 3922813/MB_per_s: 3921437/" \
        -e "$winner s/of_copy_permille: 984/of_copy_permille: 983/"
    run --separate-stderr -0 "$AUTOTUNE" diff old.yaml new.yaml
}

@test "diff --threshold fails only if a problem is clearly slower, and by more" {
    variant new.yaml "${slower[@]}" -e "/problem: '4096x4096:c128'/,/parameters:/s/PAD: 1/PAD: 2/"
    run --separate-stderr -0 "$AUTOTUNE" diff --threshold 5% old.yaml new.yaml
    [[ $output == *$'\n0 slower by more than 5.0 %' ]]
    run --separate-stderr -1 "$AUTOTUNE" diff --threshold 4.9 old.yaml new.yaml
    [[ $output == *$'\n1 slower by more than 4.9 %' ]]
    # A faster problem, or another winner with the same time, is no failure.
    run --separate-stderr -0 "$AUTOTUNE" diff --threshold 0 new.yaml old.yaml
    [[ $output == *'-4.8 % (faster)'* ]]
    for share in '' % 5%% x 1001 1.25 -1 5.; do
        refused "--threshold takes a share like 5% or 0.5%, up to 1000%, not \"$share\"" \
            diff --threshold="$share" old.yaml new.yaml
    done
}

@test "diff: profiles of other devices are not compared, which a note says" {
    run --separate-stderr -1 "$AUTOTUNE" diff "$srcdir/results/nvidia-h100.yaml" old.yaml
    [[ $stderr == *"nothing is compared: the first profile is of NVIDIA H100"*" (cold), the second of NVIDIA H200 (cold)"* ]]
}

# shellcheck disable=SC2002 # pipes are what is tested
@test "profiles are read from standard input and from pipes" {
    expected=$("$AUTOTUNE" show old.yaml)
    [ "$("$AUTOTUNE" show - <old.yaml)" = "$expected" ]
    [ "$(cat old.yaml | "$AUTOTUNE" show -)" = "$expected" ]
    [ "$(cat old.yaml | "$AUTOTUNE" show /dev/stdin)" = "$expected" ]
    [ "$("$AUTOTUNE" show <(cat old.yaml))" = "$expected" ]
    cat old.yaml | "$AUTOTUNE" check -
    cat old.yaml | "$AUTOTUNE" diff old.yaml -
    "$AUTOTUNE" diff <(cat old.yaml) <(cat old.yaml)
    cat old.yaml | "$AUTOTUNE" report - --out - | grep -q '<html'
    cat old.yaml | "$AUTOTUNE" lookup --device h200 8192x8192:f32 - | grep -q 'tier  *1 of 6'
    cat old.yaml | "$AUTOTUNE" export --as json - | grep -q '"answers"'
    cat old.yaml | "$AUTOTUNE" merge - | cmp - <("$AUTOTUNE" merge old.yaml)
    mkfifo pipe
    cat old.yaml >pipe &
    [ "$("$AUTOTUNE" show pipe | tail -n +2)" = "$(tail -n +2 <<<"$expected")" ]
    run --separate-stderr -2 "$AUTOTUNE" show <(head -c 4194305 /dev/zero)
    [[ $stderr == *'has more than the 4194304 bytes that are read' ]]
    run --separate-stderr -2 "$AUTOTUNE" show - </dev/null
    [[ $stderr == *'/dev/stdin'* ]]
}

@test "diff --across compares the times of a problem on two devices" {
    sed -e 's/name: NVIDIA H200/name: NVIDIA H300/' -e 's/multiprocessors: 132/multiprocessors: 140/' \
        "$srcdir/tests/data/h200-profile.yaml" >other.yaml
    run --separate-stderr -1 "$AUTOTUNE" diff "$srcdir/tests/data/h200-profile.yaml" other.yaml
    [[ $stderr == *'--across compares the times of each problem'* ]]
    run --separate-stderr -0 "$AUTOTUNE" diff --across "$srcdir/tests/data/h200-profile.yaml" other.yaml
    [[ -z $stderr && $output == '0 with another config, 0 with another time, 0 removed, 0 added, '* ]]
    awk '/winner:/ { w = 1 } w && /parameters:/ { sub(/}/, "") ; sub(/PAD: 1/, "PAD: 2"); w = 0; $0 = $0 "}" } { print }' \
        other.yaml >changed.yaml
    run --separate-stderr -1 "$AUTOTUNE" diff --across "$srcdir/tests/data/h200-profile.yaml" changed.yaml
    [[ ${lines[0]} == 'NVIDIA H200, '*' -> NVIDIA H300, '* ]]
}

@test "diff says of both sides which times are predicted" {
    sed -e 's/kind: emulated/kind: cuda/; s/uuid: .*/uuid: GPU-1/; s/PAD: 0/PAD: 1/' \
        "$srcdir/tests/golden/profile/emulated.yaml" >measured.yaml
    run --separate-stderr -1 "$AUTOTUNE" diff "$srcdir/tests/golden/profile/emulated.yaml" measured.yaml
    [[ $stderr == *'the first profile is of emulated Example GPU Mini (cold), the second of Example GPU Mini (cold)'* ]]
    for profiles in "$srcdir/tests/golden/profile/emulated.yaml measured.yaml" \
        "measured.yaml $srcdir/tests/golden/profile/emulated.yaml"; do
        # shellcheck disable=SC2086 # two words
        run --separate-stderr -1 "$AUTOTUNE" diff --across $profiles
        [[ ${lines[0]} == *' -> '* && ${lines[0]} == *'emulated Example GPU Mini, cold; all times are predicted'* ]]
        # shellcheck disable=SC2086 # two words
        run --separate-stderr -1 "$AUTOTUNE" diff --across --format csv $profiles
        [[ ${lines[0]} == *,times && ${lines[1]} == *,predicted ]]
    done
}

@test "diff: bad arguments and bad files are refused" {
    refused "which two profiles" diff old.yaml
    refused "two profiles at a time" diff old.yaml old.yaml old.yaml
    refused "none.yaml" diff old.yaml none.yaml
}

@test "merging keeps the worse conditions of two runs" {
    local first='0,/    clock_memory_khz/s//'
    variant worse.yaml -e "$first    capped_ms: 40\n&/" -e 's/^    drifts: 2$/    drifts: 5/'
    variant other.yaml -e "$first    capped_ms: 30\n    other_processes: 1\n&/" \
        -e "s/problem: '8192x8192:f32'/problem: '16384x4096:f32'/"
    run --separate-stderr -0 "$AUTOTUNE" merge worse.yaml other.yaml
    grep -q '^    capped_ms: 40$' <<<"$output"
    grep -q '^    drifts: 5$' <<<"$output"
    grep -q '^    other_processes: 1$' <<<"$output"
}

# number FILE N: the same profile, as if the Nth GPU of the model had measured it.
number() {
    sed -i -e "s/^    uuid: GPU-.*/    uuid: GPU-$2/" -e "s/^    ordinal: .*/    ordinal: $2/" \
        -e "s/^    pci_bus_id: .*/    pci_bus_id: '0000:$2:00.0'/" "$1"
}

# split N: deals the problems of old.yaml to share-1.yaml to share-N.yaml, each of another GPU.
split() {
    local share
    for ((share = 1; share <= $1; share++)); do
        awk -v n="$1" -v share="$share" '
            /^  - problem: / { here = ++count % n == share % n }
            !/^  - problem: / && !/^    / { here = 1 }
            /^  problems:/ { in_problems = 1 }
            !in_problems || here' old.yaml >"share-$share.yaml"
        number "share-$share.yaml" $((100 + share))
    done
}

# The list of the problems of old.yaml.
write_list() {
    printf 'schema: 1\nproblems:\n' >list.yaml
    sed -n 's/^  - problem: /- /p' old.yaml >>list.yaml
}

@test "GPUs of one model share a record, whatever the order of the files" {
    split 25
    write_list
    merge --problems list.yaml share-*.yaml
    [ -z "$stderr" ]
    [ "$(grep -c problem: merged.yaml)" -eq 50 ]
    [ "$(grep -c '  device:' merged.yaml)" -eq 1 ]
    grep -q '^    uuid: GPU-101$' merged.yaml
    [ "$(grep -c '^    gpu: GPU-1' merged.yaml)" -eq 48 ]
    mv merged.yaml first.yaml
    for _ in 1 2 3; do
        mapfile -t shuffled < <(shuf -e share-*.yaml)
        merge "${shuffled[@]}"
        cmp first.yaml merged.yaml
    done
    # A merged profile is merged like any other.
    merge share-7.yaml first.yaml
    cmp first.yaml merged.yaml
}

@test "an entry that two GPUs of a model have is kept once, and the same one in either order" {
    cp old.yaml other.yaml
    number other.yaml 200
    sed -i 's/^    drifts: .*/    drifts: 77/' other.yaml
    merge old.yaml other.yaml
    [ "$(grep -c problem: merged.yaml)" -eq 50 ]
    [[ $stderr == *': the first UUID'* ]]
    mv merged.yaml first.yaml
    merge other.yaml old.yaml
    cmp first.yaml merged.yaml
}

@test "many hundred profiles are merged with few open files" {
    is_long
    split 50
    for ((copy = 1; copy <= 12; copy++)); do
        for ((share = 1; share <= 50; share++)); do
            cp "share-$share.yaml" "copy-$copy-$share.yaml"
        done
    done
    ulimit -n 20
    merge copy-*.yaml
    [ "$(grep -c problem: merged.yaml)" -eq 50 ]
}

@test "what a list has and no profile is missing: the rest is written, and the exit code is 1" {
    write_list
    split 10
    rm share-4.yaml
    run --separate-stderr -1 "$AUTOTUNE" merge --problems list.yaml -o merged.yaml share-*.yaml
    [ "$(grep -c '^autotune: missing: .* on NVIDIA H200, cold$' <<<"$stderr")" -eq 5 ]
    [[ $stderr == *"5 of the problems of list.yaml are missing; the others are written"* ]]
    [ "$(grep -c problem: merged.yaml)" -eq 45 ]
    run -0 "$AUTOTUNE" check merged.yaml

    rm share-[5-9].yaml
    run --separate-stderr -1 "$AUTOTUNE" merge --problems list.yaml share-*.yaml
    [ "$(grep -c ': missing: .* on ' <<<"$stderr")" -eq 20 ]
    [[ $stderr == *'missing: 10 more'* ]]
    refused none.yaml merge --problems none.yaml share-1.yaml
}

@test "what two profiles have is doubled" {
    write_list
    cp old.yaml copy.yaml
    run --separate-stderr -0 "$AUTOTUNE" merge --problems list.yaml old.yaml copy.yaml
    [ "$(grep -c ': doubled: .*: the same in old.yaml and copy.yaml$' <<<"$stderr")" -eq 20 ]
    [[ $stderr == *'doubled: 30 more'* ]]
    run --separate-stderr -0 "$AUTOTUNE" merge --problems list.yaml old.yaml
    [ -z "$stderr" ]
}
