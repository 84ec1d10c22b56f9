#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Two runs that are started at the same moment, and write the same profile or journal, while one of
# them or both are delayed at a system call. At those that remove files, and at a share of all others that a
# run makes, drawn at random: a twentieth, or half of AUTOTUNE_TEST_FAULTS per cent.

bats_require_minimum_version 1.5.0
load helpers
load ../gpu/helpers
load helpers-faults

# LeakSanitizer cannot run in a process that strace traces, and fails there.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

# ---- one after the other ----

# A run that stays for as long as its worker is stopped; $driver is its process.
hold() {
    start_run --budget 20
    wait_for_progress
    worker=$(pgrep -P "$driver" -x gpu)
    kill -STOP "$worker"
}

@test "a second run with the same --out is refused by name, whatever its journal; with --wait it waits" {
    local words
    hold
    ln -s best.yaml link.yaml
    words="$driver is about to write it: wait until it ends, or name another file"
    for out in best.yaml ./best.yaml link.yaml; do
        refused "cannot write \"$out\": process $words" tune "${short[@]}" --budget 2 --journal second \
            --out "$out"
    done
    [ ! -e second ]
    "$AUTOTUNE" tune --gpu emu --jobs 2 --family tile --search random --problem 8x8:f32 --budget 2 \
        --out best.yaml --wait >/dev/null 2>waiting 3>&- &
    second=$!
    until grep -q "^autotune: waiting for best.yaml, which process $driver is about to write" waiting; do
        kill -0 "$second"
        sleep 0.05
    done
    kill -CONT "$worker"
    waited 0
    wait "$second"
    assert_correct 2
    [ "$(query best.yaml.journal 'SELECT group_concat(n) FROM
        (SELECT count(*) AS n FROM measurements GROUP BY run ORDER BY run)')" = 20,2 ]
    assert_nothing_left
}

@test "a run with the journal of another is refused, and leaves the other's file alone" {
    hold
    refused 'best.yaml.journal is in use by another process' tune "${short[@]}" --budget 2 \
        --journal best.yaml.journal --out second.yaml
    kill -CONT "$worker"
    waited 0
    assert_measured_once 20
    [ ! -e second.yaml ]
    assert_nothing_left
}

# A place in which nothing else is written than what the test asks for.
@test "a run that was killed: the next one takes its place, and no name but its own is touched" {
    hold
    kill -KILL "$driver"
    wait "$driver" || true
    [ ! -e best.yaml ]
    [ -e .best.yaml.autotune ]
    run -0 "$AUTOTUNE" tune "${short[@]}" --budget 20 --resume
    assert_measured_once 20
    assert_nothing_left
}

@test "a profile is not its own journal" {
    refused '--out and --journal name the same file' tune "${short[@]}" --budget 2 --journal best.yaml
    [ ! -e best.yaml ]
}

# ---- at the same moment ----

need_strace() {
    strace -qq -o trace -e inject=getpid:delay_enter=1 true 2>errors ||
        skip "needs strace, and a machine that lets it trace"
}

@test "a file system without locks: a warning, and the run goes on, whatever another has left" {
    need_strace
    : >.best.yaml.autotune
    run --separate-stderr -0 strace -qq -o trace -e signal=none -e inject=flock:error=ENOLCK \
        "$AUTOTUNE" tune "${short[@]}" --budget 2
    [ "$stderr" = 'autotune: warning: other runs are not kept from writing best.yaml: its file system has no locks' ]
    assert_correct 2
    assert_nothing_left
}

# Such a file looks like one that a killed run has left.
@test "a run that is late to lock its file has it taken away by another, and is refused" {
    local first stopped code=0
    need_strace
    strace -qq -o trace -P .best.yaml.autotune -e trace=openat -e signal=STOP \
        -e inject=openat:signal=SIGSTOP:when=1 \
        "$AUTOTUNE" tune "${short[@]}" --budget 2 --journal first >table 2>first.errors 3>&- &
    first=$!
    until grep -qs 'stopped by SIGSTOP' trace; do
        kill -0 "$first"
        sleep 0.05
    done
    stopped=$(pgrep -P "$first")
    [ -e .best.yaml.autotune ]
    hold
    kill -CONT "$stopped"
    wait "$first" || code=$?
    cat first.errors
    [ "$code" -eq 2 ]
    [ ! -e first ] # and before any work
    grep -q "process $driver is about to write it" first.errors
    kill -CONT "$worker"
    waited 0
    assert_correct 20
    assert_nothing_left
}

# The names of the system calls that the driver makes in such a run, once it has begun.
list_calls() {
    strace -qq -o trace -e signal=none "$AUTOTUNE" tune "${short[@]}" --budget 3 >table 3>&-
    sed 's/(.*//' trace | grep -vE '^(execve|exit_group)$' | sort -u
    rm best.yaml*
}

# delayed CALL WORD ARGUMENT...: a run that is late by some milliseconds at each such call, and after
# it; its exit code is in WORD.code.
delayed() {
    local call=$1 word=$2 code=0
    shift 2
    strace -qq -o "$word.trace" -e trace=none -e signal=none -e \
        "inject=$call:delay_enter=5000:delay_exit=5000" \
        "$AUTOTUNE" tune "${short[@]}" "$@" >"$word.table" 2>"$word.errors" 3>&- || code=$?
    echo "$code" >"$word.code"
}

# plain CALL WORD ARGUMENT...: the same without delay.
plain() {
    local word=$2 code=0
    shift 2
    "$AUTOTUNE" tune "${short[@]}" "$@" >"$word.table" 2>"$word.errors" 3>&- || code=$?
    echo "$code" >"$word.code"
}

measured() {
    query "$1" 'SELECT count(*) FROM measurements WHERE outcome = "correct"'
}

# assert_one_won FIRST-OUT SECOND-OUT FIRST-JOURNAL SECOND-JOURNAL: who has ended well has a profile, and
# its journal has its three measurements; the other was refused, and has written nothing.
assert_one_won() {
    local codes expected
    codes="$(<first.code) $(<second.code)"
    case $codes in
    '0 2' | '2 0') refusals=$((refusals + 1)) ;;
    '0 0') ;;
    *) return 1 ;;
    esac
    if [ "$3" = "$4" ]; then
        expected=3
        [ "$codes" != '0 0' ] || expected=6
        [ "$(measured "$3")" -eq "$expected" ]
    else
        [ "$(<first.code)" != 0 ] || [ "$(measured "$3")" -eq 3 ]
        [ "$(<second.code)" != 0 ] || [ "$(measured "$4")" -eq 3 ]
    fi
    [ "$(<first.code)" != 0 ] || "$AUTOTUNE" check "$1"
    [ "$(<second.code)" != 0 ] || "$AUTOTUNE" check "$2"
    [ "$1" = "$2" ] || [ "$(<first.code)" = 0 ] || [ ! -e "$1" ]
    [ "$1" = "$2" ] || [ "$(<second.code)" = 0 ] || [ ! -e "$2" ]
    [ -z "$(find . -name '.*.autotune')" ]
}

# start_pairs OUT OUT JOURNAL JOURNAL: for each of the calls, one run delayed at it, then both.
start_pairs() {
    local call second calls
    need_strace
    list_calls >calls
    mapfile -t calls < <(echo unlink && shuf -n $(($(wc -l <calls) * kills / 200)) calls)
    refusals=0
    for call in "${calls[@]}"; do
        for second in plain delayed; do
            echo "$call, second $second"
            delayed "$call" first --budget 3 --out "$1" --journal "$3" &
            "$second" "$call" second --budget 3 --out "$2" --journal "$4" &
            wait
            tail first.errors second.errors
            assert_one_won "$@"
            rm "$1" "$2" "$3"* "$4"* 2>/dev/null || true
        done
    done
    echo "${#calls[@]} calls, $((2 * ${#calls[@]})) pairs of runs, one of them refused in $refusals"
    ((refusals > 0))
}

@test "one profile and one journal, at the same moment" {
    start_pairs best.yaml best.yaml best.yaml.journal best.yaml.journal
}

@test "one profile and two journals, at the same moment" {
    start_pairs best.yaml best.yaml one.journal two.journal
}

@test "two profiles and one journal, at the same moment" {
    start_pairs one.yaml two.yaml one.journal one.journal
}
