#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Standard streams that are closed, or that nobody reads any more, while a run goes on.

bats_require_minimum_version 1.5.0
load helpers
load ../gpu/helpers
load helpers-faults

setup() {
    need_nvrtc
    cd "$BATS_TEST_TMPDIR" || return 1
}

# Notes go to standard error, so that there is something to lose: a line a problem that fails.
talkative=(--gpu emu --jobs 2 --family tile --search random --budget 3 --problem 8x8:f32 --fresh)

assert_tuned() {
    [ "$(figure correct)" -eq 3 ]
    "$AUTOTUNE" check best.yaml
    assert_nothing_left
}

@test "closed streams: the run is as ever, and only what was to be printed is lost" {
    local closed code
    while read -r code closed; do
        echo "$closed"
        # shellcheck disable=SC2016 # the inner shell expands it
        run "-$code" bash -c '"$AUTOTUNE" tune "$@" '"$closed" - "${talkative[@]}" --out best.yaml
        assert_tuned
        rm best.yaml*
    done <<'END'
0 0<&-
0 2>&-
0 0<&- 2>&-
5 1>&-
5 0<&- 1>&-
5 1>&- 2>&-
5 0<&- 1>&- 2>&-
END
}

# dead STREAM ARGUMENT...: a run whose stream, stdout, stderr or both, is a pipe that nobody reads.
dead() {
    run --separate-stderr python3 - "$@" <<'END'
import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
streams = {"stdout": {"stdout": writer}, "stderr": {"stderr": writer},
           "both": {"stdout": writer, "stderr": writer}}[sys.argv[1]]
sys.exit(subprocess.call([os.environ["AUTOTUNE"], *sys.argv[2:]], restore_signals=True, **streams) % 256)
END
}

@test "messages that nobody reads: the profile is written, and the exit code is the run's" {
    local stream
    python3 -c '' 2>/dev/null || skip "needs python3"
    for stream in stdout stderr both; do
        dead "$stream" tune "${talkative[@]}" --out best.yaml
        echo "$stream: $status $stderr"
        [ "$status" -eq 0 ]
        assert_tuned
        rm best.yaml*
    done
    dead stderr tune "${talkative[@]}"
    [ "$status" -eq 0 ]
    [[ $output == *8x8:f32* ]]
    dead both tune "${talkative[@]}" --problem nonsense
    [ "$status" -eq 2 ]
}

@test "a reader that goes away: nothing is said, and the exit code is the command's" {
    dead stdout show "$srcdir/tests/golden/check/sound.yaml"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    dead both show none.yaml
    [ "$status" -eq 2 ]
}
