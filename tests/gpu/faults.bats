#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Faults that a run survives, on a GPU: kernels that fail in every way, killed processes, signals,
# other processes on the device. doc/robustness.md has the full list. Tests that need no GPU are in
# tests/cli/faults.bats and kills.bats. With six events per random test it takes about two minutes.

bats_require_minimum_version 1.5.0
load helpers
load ../cli/helpers-faults

kills=${AUTOTUNE_TEST_FAULTS:-6} # each costs a start of CUDA
faults=$srcdir/tests/gpu/fault.yaml

# One process compiles all configs anew, about forty per second. Nine configs per kill are more than
# are measured between two kills, and the family has enough for 200 kills. A run of `enough` configs is
# still going when a test has seen its first result and acts.
short=(--quiet --no-cache --jobs 1 --family tile --search random --problem 512x512:f32
    --out best.yaml)
export record=512x512:f32tile
enough=60

setup_file() {
    find_device
}

setup() {
    need_device
    need_sqlite
}

teardown() {
    stop_run
    [ -z "${other:-}" ] || kill -KILL "$other" 2>/dev/null || true
}

# ended_as OUTCOME COUNT...: the profile counts this many evaluations per outcome, and no others.
ended_as() {
    local name
    local -A expected=([correct]=0 [compile]=0 [launch]=0 [timeout]=0 [crash]=0 [wrong]=0 [oom]=0)
    while (($# > 0)); do
        expected[$1]=$2
        shift 2
    done
    for name in "${!expected[@]}"; do
        [ "$(figure "$name")" -eq "${expected[$name]}" ] || {
            echo "$name: expected ${expected[$name]}"
            sed -n '/evaluations:/,/wrong:/p' best.yaml
            return 1
        }
    done
}

# tune_faults ARGUMENT...: tune with the family fault alone.
tune_faults() {
    run --separate-stderr tune --quiet --family fault --problem 96x64:f32 --timeout 1 --jobs 2 \
        --out best.yaml "$@"
}

# assert_resumes ARGUMENT...: resumed, the run measures nothing and gives the same counts.
assert_resumes() {
    cp best.yaml before.yaml
    query best.yaml.journal 'SELECT * FROM measurements' >before
    run --separate-stderr tune --quiet --family fault --problem 96x64:f32 --timeout 1 --jobs 2 \
        --out best.yaml "$@" --resume
    [ "$status" -eq 0 ]
    query best.yaml.journal 'SELECT * FROM measurements' | cmp - before
    [ "$(sed -n '/evaluations:/,/wrong:/p' best.yaml)" = "$(sed -n '/evaluations:/,/wrong:/p' before.yaml)" ]
}

# assert_nothing_twice: no config is measured twice, except after a drift that the row records.
assert_nothing_twice() {
    [ -z "$(query best.yaml.journal "SELECT problem, family, config FROM measurements WHERE NOT again
        GROUP BY problem, family, family_hash, config HAVING count(*) > 1")" ]
}

# assert_tile_measured_once COUNT: COUNT configs of tile are measured, and no config or copy twice.
assert_tile_measured_once() {
    [ "$(query best.yaml.journal "SELECT count(*) FROM measurements WHERE family = 'tile'
        AND NOT again")" -eq "$1" ]
    assert_nothing_twice
}

# assert_outcomes_in_journal: each config of fault.yaml has its outcome, and a one-line reason.
assert_outcomes_in_journal() {
    query best.yaml.journal "SELECT config, outcome FROM measurements WHERE family = 'fault'
        AND problem = '96x64:f32' AND NOT again ORDER BY CAST(substr(config, 7) AS INTEGER)" >outcomes
    diff outcomes - <<'END'
FAULT=0|correct
FAULT=1|timeout
FAULT=2|crash
FAULT=3|crash
FAULT=4|crash
FAULT=5|wrong
FAULT=6|wrong
FAULT=7|compile
FAULT=8|compile
FAULT=9|wrong
FAULT=10|wrong
FAULT=11|wrong
FAULT=12|launch
FAULT=13|launch
END
    [ "$(query best.yaml.journal "SELECT count(*) FROM measurements
        WHERE outcome <> 'correct' AND (trim(message) = '' OR message GLOB '*' || char(10) || '*')")" -eq 0 ]
    # No config ends as 'oom' or breaks a constraint.
    [ "$(query best.yaml.journal "SELECT count(*) FROM measurements
        WHERE outcome NOT IN ('correct', 'timeout', 'crash', 'wrong', 'compile', 'launch')")" -eq 0 ]
}

# ---- kernels ----

@test "every way to fail is survived and gets its own outcome" {
    tune_faults --space "$faults"
    echo "$stderr"
    [ "$status" -eq 0 ]
    ended_as correct 1 timeout 1 crash 3 wrong 5 compile 2 launch 2
    [ "$(figure ended)" = exhausted ]
    grep -q 'FAULT: 0' best.yaml
    # Two configs do not compile; there is one warning.
    [ "$(grep -c 'fault does not compile: ' <<<"$stderr")" -eq 1 ]
    run -0 "$AUTOTUNE" check --space "$faults" best.yaml
    assert_outcomes_in_journal
    assert_resumes --space "$faults"
    assert_nothing_left
}

@test "the program's own kernels stay correct beside faulty ones" {
    run --separate-stderr -0 tune --quiet --family naive --family fault --space "$faults" \
        --problem 96x64:f32 --timeout 1 --out best.yaml
    ended_as correct "$(($(figure configs) - 13))" timeout 1 crash 3 wrong 5 compile 2 launch 2
}

@test "a kernel that changes its source does not harm other configs" {
    variant '9, 0' "$twice"
    tune_faults --space fault.yaml --jobs 1 # in this order
    echo "$stderr"
    [ "$status" -eq 0 ]
    ended_as correct 2 wrong 2
}

@test "a kernel that writes outside its destination does not harm other configs" {
    variant '6, 11, 0' "$twice"
    tune_faults --space fault.yaml --jobs 1
    [ "$status" -eq 0 ]
    ended_as correct 2 wrong 4
}

@test "a compile failure is reported once, with its line in the template" {
    variant '7, 0' "$twice"
    tune_faults --space fault.yaml
    [ "$status" -eq 0 ]
    ended_as correct 2 compile 2
    line=$(grep -n '^#error' "${faults%.yaml}.cu" | cut -d: -f1)
    [ "$(grep -c 'does not compile' <<<"$stderr")" -eq 1 ]
    [[ $stderr == *"fault does not compile: fault.cu($line): "*'a fault on purpose'* ]]
}

@test "a kernel that is wrong one time in fifty does not win" {
    variant '0, 14'
    tune_faults --space fault.yaml
    [ "$status" -eq 0 ]
    grep -q 'FAULT: 0' best.yaml
    run ! grep -q 'FAULT: 14' best.yaml
}

@test "kernels that never end cost a worker each, and no other config" {
    variant '0, 1' "$twice"
    tune_faults --space fault.yaml
    [ "$status" -eq 0 ]
    ended_as correct 2 timeout 2
    [ "$(query best.yaml.journal "SELECT count(*) FROM measurements WHERE outcome = 'timeout'
        AND message LIKE '%did not answer in time%'")" -eq 2 ]
    assert_resumes --space fault.yaml
    assert_nothing_left
}

# ---- workers ----

@test "GPU workers killed at random moments: no result is lost, no config blamed" {
    start_run --budget $((9 * kills))
    kill_workers gpu
    waited 0
    ((killed > kills / 2))
    assert_correct $((9 * kills))
    assert_tile_measured_once $((9 * kills))
    assert_nothing_left
}

@test "compile workers killed at random moments: no result is lost, no config blamed" {
    start_run --budget $((9 * kills))
    kill_workers compile
    waited 0
    ((killed > 0))
    assert_correct $((9 * kills))
    assert_tile_measured_once $((9 * kills))
    assert_nothing_left
}

@test "a stopped GPU worker ends as a timeout and is replaced" {
    start_run --budget $enough --timeout 1
    wait_for_progress
    worker=$(children "$main" gpu)
    kill -STOP "$worker"
    waited 0
    ended "$worker"
    ended_as correct $((enough - 1)) timeout 1
    assert_nothing_left
}

@test "one of two tuners is killed: the other takes its problem" {
    start_run --budget $((2 * enough)) --tuners 2 --problem 512x256:f32
    until grep -qa 512x best.yaml.journal.tuner1-wal 2>/dev/null; do
        kill -0 "$main"
        sleep 0.05
    done
    kill -KILL "$(children "$main" tuner | tail -n 1)"
    waited 0
    [[ $(<errors) == *"a tuner of "*" is lost: signal 9 (Killed)"*" waits for another tuner"* ]]
    [ "$(grep -c ' problem: ' best.yaml)" -eq 2 ]
    assert_nothing_left
}

@test "a worker that cannot be killed: the run reports a wedged device and ends" {
    [ "$(id -u)" -eq 0 ] || skip "tracing needs root"
    start_run --budget $enough
    wait_for_progress
    worker=$(children "$main" gpu)
    cannot_end "$worker"
    kill -KILL "$worker"
    waited 3
    kill "$tracer"
    [[ "$(<errors)" == *" is wedged: process $worker was killed and still holds it;"* ]]
    run -0 "$AUTOTUNE" tune "${short[@]}" --budget $enough --resume
    assert_tile_measured_once $enough
    assert_nothing_left
}

# ---- the main process ----

@test "the main process killed at random moments: --resume loses and repeats no result" {
    kill_main $(((kills + 1) / 2)) $((18 * kills))
    assert_tile_measured_once $((18 * kills))
}

@test "SIGINT: the best so far is written; --resume measures nothing twice" {
    start_run --budget $enough
    wait_for_progress
    mapfile -t workers < <(children "$main")
    kill -INT "$main"
    waited 130
    [ "$(<errors)" = 'autotune: interrupted; the best so far is in best.yaml; --resume continues' ]
    ended "${workers[@]}"
    [ "$(figure ended)" = interrupted ]
    [ "$(figure correct)" -lt $enough ]
    run -0 "$AUTOTUNE" check best.yaml
    run -0 "$AUTOTUNE" tune "${short[@]}" --budget $enough --resume
    assert_correct $enough
    assert_nothing_left
}

@test "a second signal of either kind ends the run at once" {
    start_run --budget $enough
    assert_ends_at_second_signal
}

# ---- other processes on the device ----

@test "a second run on the device is refused, or waits" {
    start_run --budget $enough
    wait_for_progress
    kill -STOP "$main" # it keeps the device until it is continued
    run --separate-stderr -3 tune --quiet --family naive --problem 96x64:f32
    [[ $stderr == *"is in use by another run of autotune, process $main: wait for it with --wait"* ]]
    tune --family naive --problem 96x64:f32 --wait >waited 2>notes 3>&- &
    second=$!
    until grep -q "waiting for .* which process $main uses" notes; do
        kill -0 "$second"
        sleep 0.1
    done
    kill -CONT "$main"
    waited 0
    wait "$second"
    grep -q '96x64:f32 *naive' waited
    assert_correct $enough
}

@test "a journal in use by another run is refused, whatever the device" {
    start_run --budget $enough
    wait_for_progress
    kill -STOP "$main"
    run --separate-stderr -2 tune --gpu emu --problem 96x64:f32 --journal best.yaml.journal
    [[ $stderr == *'in use by another process'* ]]
    kill -CONT "$main"
    waited 0
    assert_tile_measured_once $enough
}

# take_memory MIB: a process takes the GPU's memory except this much. The caller kills $other.
take_memory() {
    mkfifo held
    "$srcdir/tests/gpu/take-memory" "$1" <held >taken 2>&1 3>&- &
    other=$!
    exec 4>held # stays open until give_memory
    until grep -q taken taken; do
        kill -0 "$other" || {
            cat taken
            return 1
        }
        sleep 0.1
    done
}

give_memory() {
    exec 4>&-
    wait "$other"
    other=
    rm held taken
}

@test "memory taken before the run: refused, with the amount that is free" {
    take_memory 2000
    run --separate-stderr -2 tune --quiet --family tile --problem 16384x16384:f32 --out best.yaml
    echo "$stderr"
    [[ $stderr =~ 16384x16384:f32\ needs\ [0-9.]+\ GiB.*\ [0-9.]+\ GiB\ of\ [0-9.]+\ GiB\ are\ free ]]
    give_memory
    take_memory 0
    run --separate-stderr -3 tune --quiet --family tile --problem 96x64:f32 --out best.yaml
    echo "$stderr"
    [[ ${stderr,,} == *memory* ]]
    [ "${#stderr_lines[@]}" -eq 1 ]
    give_memory
    [ ! -e best.yaml ]
    run -0 "$AUTOTUNE" tune "${short[@]}" --budget 20
    assert_correct 20
    assert_nothing_left
}

@test "memory taken during the run fails the largest problem alone" {
    start_stopped $enough --tuners 1 --problem 16384x16384:f32 --problem 96x64:f32 # in this order
    take_memory 1000
    kill -CONT "$main"
    waited 7
    cat errors
    grep -q '16384x16384:f32: .*memory' errors
    [ "$(tail -n 1 errors)" = 'autotune: 1 of 3 problems has no entry: 16384x16384:f32; no correct config was found' ]
    [ "$(grep -c ' problem: ' best.yaml)" -eq 2 ]
    run -0 "$AUTOTUNE" check best.yaml
    give_memory
    run -0 "$AUTOTUNE" tune "${short[@]}" --problem 16384x16384:f32 --problem 96x64:f32 \
        --budget $enough --resume
    [ "$(grep -c ' problem: ' best.yaml)" -eq 3 ]
    assert_nothing_twice
    assert_nothing_left
}
