#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Processes of a run killed at random moments, ten times, or as often as AUTOTUNE_TEST_FAULTS says; and
# one that cannot be killed. On the emulated device; doc/robustness.md tells of a run with 200.

bats_require_minimum_version 1.5.0
load helpers
load ../gpu/helpers
load helpers-faults

setup_file() {
    make_data
}

setup() {
    [ -z "${NO_NVRTC:-}" ] || skip "no NVRTC"
    need_sqlite
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    stop_run
}

@test "GPU workers killed at random moments: nothing is lost, nobody blamed" {
    start_run --budget $((2 * kills))
    kill_workers gpu
    waited 0
    ((killed > kills / 2))
    assert_correct $((2 * kills))
    assert_measured_once $((2 * kills))
    assert_nothing_left
}

@test "compile workers killed at random moments: nothing is lost, nobody blamed" {
    start_run --budget $((2 * kills)) --no-cache
    kill_workers compile
    waited 0
    assert_correct $((2 * kills))
    assert_measured_once $((2 * kills))
    assert_nothing_left
}

# A process that another one traces is not gone for its parent before the tracer has seen its end:
# which is what a driver that does not let go of a process looks like.
@test "a worker that cannot be killed: the device is wedged, the run ends with what it has" {
    [ "$(id -u)" -eq 0 ] || skip "tracing needs root"
    start_run --budget 40
    wait_for_progress
    worker=$(pgrep -P "$driver" -x gpu)
    python3 - "$worker" <<'END' &
import ctypes, sys, time
PTRACE_SEIZE = 0x4206
if ctypes.CDLL(None).ptrace(PTRACE_SEIZE, int(sys.argv[1]), 0, 0) != 0:
    sys.exit("cannot trace")
print("traced", file=open("traced", "w"))
time.sleep(60)
END
    tracer=$!
    for ((i = 0; i < 100; i++)); do
        [ ! -e traced ] || break
        kill -0 "$tracer" || skip "this machine lets nobody trace"
        sleep 0.05
    done
    kill -KILL "$worker"
    waited 3
    kill "$tracer"
    [[ "$(<errors)" == *" (emu:h200) is wedged: process $worker, killed, has not let go of it;"* ]]
    "$AUTOTUNE" tune "${short[@]}" --budget 10 --resume
    [ "$(query best.yaml.journal 'SELECT count(*) FROM measurements WHERE outcome <> "correct"')" -le 1 ]
}

@test "the driver killed at random moments and resumed: nothing is lost or measured twice" {
    count=$((2 * kills))
    : >seen
    for ((i = 0; i < kills; i += 4)); do
        start_run --budget $count --resume
        wait_for_progress
        mapfile -t workers < <(pgrep -P "$driver")
        kill -KILL "$driver" 2>/dev/null || true
        wait "$driver" || true
        ended "${workers[@]}"
        # What was measured before is there, as it was, and first.
        query best.yaml.journal 'SELECT * FROM measurements ORDER BY id' >now
        head -n "$(wc -l <seen)" now | cmp - seen
        mv now seen
    done
    start_run --budget $count --resume
    waited 0
    query best.yaml.journal 'SELECT * FROM measurements ORDER BY id' >now
    head -n "$(wc -l <seen)" now | cmp - seen
    assert_correct $count
    assert_measured_once $count
    [ "$(query best.yaml.journal 'SELECT count(*) FROM runs')" -eq 1 ]
    assert_nothing_left
}
