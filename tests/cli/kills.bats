#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Processes of a run killed at random moments, as often as AUTOTUNE_TEST_FAULTS says; and one that
# cannot be killed. On the emulated device.

bats_require_minimum_version 1.5.0
load helpers
load ../gpu/helpers
load helpers-faults

@test "GPU workers killed at random moments: nothing is lost, no config is blamed" {
    start_run --budget $((12 * kills)) # long enough for most of the kills
    kill_workers gpu
    waited 0
    ((killed > kills / 2))
    assert_correct $((12 * kills))
    assert_measured_once $((12 * kills))
    assert_nothing_left
}

@test "compile workers killed at random moments: no result is lost, no config blamed" {
    is_long
    start_run --budget $((2 * kills)) --no-cache
    kill_workers compile
    waited 0
    assert_correct $((2 * kills))
    assert_measured_once $((2 * kills))
    assert_nothing_left
}

@test "a worker that cannot be killed: the run reports a wedged device and ends" {
    is_long
    [ "$(id -u)" -eq 0 ] || skip "tracing needs root"
    start_run --budget 40
    wait_for_progress
    worker=$(children "$main" gpu)
    cannot_end "$worker"
    kill -KILL "$worker"
    waited 3
    kill "$tracer"
    [[ "$(<errors)" == *" (emu:h200) is wedged: process $worker was killed and still holds it;"* ]]
    "$AUTOTUNE" tune "${short[@]}" --budget 10 --resume
    [ "$(query best.yaml.journal 'SELECT count(*) FROM measurements WHERE outcome <> "correct"')" -le 1 ]
}

@test "the main process killed at random moments: --resume loses and repeats no result" {
    kill_main $(((kills + 3) / 4)) $((2 * kills))
    assert_measured_once $((2 * kills))
}

# With all families, so that there are copies. The loops are for a machine with many processors, too:
# AUTOTUNE_TEST_LOOPS=300 AUTOTUNE_TEST_JOBS=64 ../tests/run-bats ../tests/cli/kills.bats --filter loops
looped=(--quiet --jobs 2 --family tile --budget 9 --problem 8x8:f32 --problem 9x17:f32 --problem 16x8:f64)

@test "loops of kills, one device: --resume loses and repeats nothing" {
    is_long
    unset AUTOTUNE_DATADIR
    kill_in_loops "${looped[@]}" --gpu emu --tuners 1
}

@test "loops of kills, three devices: --resume loses and repeats nothing" {
    is_long
    unset AUTOTUNE_DATADIR
    kill_in_loops "${looped[@]}" --gpu emu:h200,emu:h200,emu:a100 --tuners 1
}

@test "loops of kills, three tuners: --resume loses and repeats nothing" {
    is_long
    unset AUTOTUNE_DATADIR
    kill_in_loops "${looped[@]}" --gpu emu --tuners 3
}
