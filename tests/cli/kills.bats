#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Processes of a run killed at random moments, ten times or AUTOTUNE_TEST_FAULTS times; and one that
# cannot be killed. On the emulated device; a run with 200 kills is in
# doc/lab/robustness.md.

bats_require_minimum_version 1.5.0
load helpers
load ../gpu/helpers
load helpers-faults

@test "GPU workers killed at random moments: nothing is lost, no config is blamed" {
    start_run --budget $((3 * kills)) # long enough for most of the kills
    kill_workers gpu
    waited 0
    ((killed > kills / 2))
    assert_correct $((3 * kills))
    assert_measured_once $((3 * kills))
    assert_nothing_left
}

@test "compile workers killed at random moments: no result is lost, no config blamed" {
    start_run --budget $((2 * kills)) --no-cache
    kill_workers compile
    waited 0
    assert_correct $((2 * kills))
    assert_measured_once $((2 * kills))
    assert_nothing_left
}

@test "a worker that cannot be killed: the run reports a wedged device and ends" {
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
