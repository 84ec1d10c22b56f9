#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Standard streams that are closed, or are pipes without a reader, during a run.

bats_require_minimum_version 1.5.0
load helpers
load ../gpu/helpers
load helpers-faults

setup() {
    need_nvrtc
    cd "$BATS_TEST_TMPDIR" || return 1
}

# Without --quiet, notes go to standard error, so that there is output to lose.
talkative=(--gpu emu --jobs 2 --family tile --search random --budget 3 --problem 8x8:f32 --fresh)

assert_tuned() {
    [ "$(figure correct)" -eq 3 ]
    "$AUTOTUNE" check best.yaml
    assert_nothing_left
}

@test "with closed streams, a run loses its output and nothing else" {
    is_long
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
2 1>&-
2 0<&- 1>&-
2 1>&- 2>&-
2 0<&- 1>&- 2>&-
END
}

# dead STREAM ARGUMENT...: a run whose stdout, stderr or both are a pipe without a reader.
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

@test "without a reader of its messages, a run still writes the profile" {
    is_long
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

@test "without a reader, a command keeps its exit code and prints no error" {
    python3 -c '' 2>/dev/null || skip "needs python3"
    for format in table json csv; do
        dead stdout show --format "$format" "$srcdir/tests/golden/check/sound.yaml"
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
    done
    dead both show none.yaml
    [ "$status" -eq 2 ]
}
