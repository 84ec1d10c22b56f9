#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Two runs that start at the same moment and write the same profile or journal, while one or both are
# delayed at a system call. Tested are fcntl, which locks, unlink, and a random share of all other calls of
# a run: half of AUTOTUNE_TEST_FAULTS per cent.

bats_require_minimum_version 1.5.0
load helpers
load ../gpu/helpers
load helpers-faults

# LeakSanitizer cannot run in a process that strace traces, and fails there.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

# ---- one after the other ----

# Start a run and stop its worker, so that it does not end. $main is its process.
hold() {
    start_run --budget 8
    wait_for_progress
    worker=$(pgrep -P "$main" -x gpu)
    kill -STOP "$worker"
}

@test "a second run with the same --out is refused by name, whatever its journal; with --wait it waits" {
    local words
    hold
    ln -s best.yaml link.yaml
    words="$main is about to write it: wait until it ends, or name another file"
    for out in best.yaml ./best.yaml link.yaml; do
        refused "cannot write \"$out\": process $words" tune "${short[@]}" --budget 2 --journal second \
            --out "$out"
    done
    [ ! -e second ]
    "$AUTOTUNE" tune --gpu emu --jobs 2 --family tile --search random --problem 8x8:f32 --budget 2 \
        --out best.yaml --wait >/dev/null 2>waiting 3>&- &
    second=$!
    until grep -q "^autotune: waiting for best.yaml, which process $main is about to write" waiting; do
        kill -0 "$second"
        sleep 0.05
    done
    kill -CONT "$worker"
    waited 0
    wait "$second"
    assert_correct 8 # the entry of the search that saw more
    [ "$(query best.yaml.journal 'SELECT group_concat(n) FROM
        (SELECT count(*) AS n FROM measurements GROUP BY run ORDER BY run)')" = 8,2 ]
    assert_nothing_left
}

@test "a second run with the same journal is refused and leaves the journal alone" {
    hold
    refused 'best.yaml.journal is in use by another process' tune "${short[@]}" --budget 2 \
        --journal best.yaml.journal --out second.yaml
    kill -CONT "$worker"
    waited 0
    assert_measured_once 8
    [ ! -e second.yaml ]
    assert_nothing_left
}

@test "after a killed run, the next one takes its place" {
    is_long
    hold
    kill -KILL "$main"
    wait "$main" || true
    [ ! -e best.yaml ]
    [ -e .best.yaml.autotune ]
    run -0 "$AUTOTUNE" tune "${short[@]}" --budget 8 --resume
    assert_measured_once 8
    assert_nothing_left
}

@test "a profile cannot be its own journal" {
    refused '--out and --journal name the same file' tune "${short[@]}" --budget 2 --journal best.yaml
    [ ! -e best.yaml ]
}

# ---- at the same moment ----

need_strace() {
    strace -qq -o trace -e inject=getpid:delay_enter=1 true 2>errors ||
        skip "needs strace, and a machine that lets it trace"
}

# wait_for_stop TRACE: wait until strace, process $first, has stopped its run. $stopped is the run's process.
wait_for_stop() {
    until grep -qs 'stopped by SIGSTOP' "$1"; do
        kill -0 "$first"
        sleep 0.05
    done
    stopped=$(pgrep -P "$first")
}

# without_locks CALLS ARGUMENT...: a run whose files beside the profile cannot be locked by these calls.
without_locks() {
    run --separate-stderr -0 strace -qq -o trace -e signal=none -e "inject=$1:error=ENOLCK" \
        -P "$PWD/.best.yaml.autotune" -P "$PWD/.best.yaml.journal.autotune" -P "$PWD/best.yaml.journal" \
        "$AUTOTUNE" tune "${short[@]}" "${@:2}"
    grep -q ENOLCK trace
}

# Some file systems have neither kind of locks, some lack those that SQLite takes.
@test "without file locks, a run goes on with a warning, and resumes" {
    is_long
    local warning='autotune: warning: cannot keep other runs from writing best.yaml: its file system has no locks'
    need_strace
    for calls in flock fcntl flock,fcntl; do
        : >.best.yaml.autotune
        without_locks $calls --budget 2
        [ "$stderr" = "$([ $calls = fcntl ] || echo "$warning")" ]
        without_locks $calls --budget 4 --resume
        assert_correct 4
        assert_measured_once 4
        assert_nothing_left
        rm best.yaml*
    done
}

# A file that is not locked yet looks as if a killed run had left it: another run may replace it.
@test "a run that loses its file before locking it is refused" {
    is_long
    local first stopped code=0
    need_strace
    strace -qq -o trace -P .best.yaml.autotune -e trace=openat -e signal=STOP \
        -e inject=openat:signal=SIGSTOP:when=1 \
        "$AUTOTUNE" tune "${short[@]}" --budget 2 --journal first >table 2>first.errors 3>&- &
    first=$!
    wait_for_stop trace
    [ -e .best.yaml.autotune ]
    hold
    kill -CONT "$stopped"
    wait "$first" || code=$?
    cat first.errors
    [ "$code" -eq 2 ]
    [ ! -e first ] # refused before any work
    grep -q "process $main is about to write it" first.errors
    kill -CONT "$worker"
    waited 0
    assert_correct 8
    assert_nothing_left
}

# SQLite takes its lock in steps, and of two runs amid these both may give up.
@test "runs open a journal by turns: the one that began first has it" {
    local first second stopped code=0
    need_strace
    strace -qq -o first.trace -P "$PWD/one.journal" -e trace=fcntl -e signal=STOP \
        -e inject=fcntl:signal=SIGSTOP:when=1 \
        "$AUTOTUNE" tune "${short[@]}" --budget 1000 --journal one.journal >table 2>first.errors 3>&- &
    first=$!
    wait_for_stop first.trace
    strace -qq -o second.trace -P "$PWD/.one.journal.autotune" -e trace=flock -e signal=none \
        "$AUTOTUNE" tune "${short[@]}" --budget 2 --journal one.journal --out two.yaml \
        >table 2>second.errors 3>&- &
    second=$!
    until grep -qs EAGAIN second.trace; do
        kill -0 "$second"
        sleep 0.05
    done
    kill -CONT "$stopped"
    wait "$second" || code=$?
    cat second.errors
    [ "$code" -eq 2 ]
    grep -q 'one.journal is in use by another process' second.errors
    kill -0 "$first"
    kill -KILL "$stopped"
    wait "$first" || true
}

# Print the names of the system calls that a run's main process makes.
list_calls() {
    strace -qq -o trace -e signal=none "$AUTOTUNE" tune "${short[@]}" --budget 3 >table 3>&-
    sed 's/(.*//' trace | grep -vE '^(execve|exit_group)$' | sort -u
    rm best.yaml*
}

# delayed CALL WORD ARGUMENT...: a run delayed by 5 ms before and after each such call. Its exit code
# goes to the file WORD.code.
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

# assert_one_won FIRST-OUT SECOND-OUT FIRST-JOURNAL SECOND-JOURNAL: a run that succeeded has a sound
# profile and three measurements in its journal. A refused one has written nothing.
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

# start_pairs OUT OUT JOURNAL JOURNAL: start two runs per call, with one delayed, then with both.
start_pairs() {
    local call second calls
    need_strace
    list_calls >calls
    mapfile -t calls < <(printf "%s\n" fcntl unlink && shuf -n $(($(wc -l <calls) * kills / 200)) calls)
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
}

@test "two runs started together with one profile and one journal: both files are whole" {
    start_pairs best.yaml best.yaml best.yaml.journal best.yaml.journal
    ((refusals > 0))
}

@test "two runs started together with one profile and two journals: the files are whole" {
    is_long
    start_pairs best.yaml best.yaml one.journal two.journal
    ((refusals > 0))
}

# A run waits for the journal for a moment, and so short a run may end meanwhile: refusals are rare here.
@test "two runs started together with two profiles and one journal: the files are whole" {
    is_long
    start_pairs one.yaml two.yaml one.journal one.journal
}
