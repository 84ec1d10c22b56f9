# SPDX-License-Identifier: Apache-2.0
# Functions for the tests on a GPU.

# Find out whether there is a device, and make a cache folder. For setup_file.
find_device() {
    local status=0
    "$AUTOTUNE" list >"$BATS_FILE_TMPDIR/list" 2>"$BATS_FILE_TMPDIR/no-device" || status=$?
    if ((status == 3)); then
        NO_DEVICE=$(<"$BATS_FILE_TMPDIR/no-device")
        export NO_DEVICE
    elif ((status != 0)); then
        cat "$BATS_FILE_TMPDIR/no-device" >&2
        return 1
    fi
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
    mkdir "$XDG_CACHE_HOME"
}

# Skip the test if there is no device. For setup.
need_device() {
    [ -z "${NO_DEVICE:-}" ] || skip "$NO_DEVICE"
    cd "$BATS_TEST_TMPDIR" || return 1
}

# tune ARGUMENT...: a run that is killed if it hangs.
tune() {
    timeout --kill-after=5 900 "$AUTOTUNE" tune "$@"
}

# figure KEY [FILE]: prints the first number with this key in the profile.
figure() {
    awk -v key="$1:" '{ sub(/^ *(- )?/, "") } $1 == key { print $2; exit }' "${2:-best.yaml}"
}

# variant VALUES [SED-SCRIPT]: write ./fault.yaml, the family fault with these values alone. The first
# is the default.
variant() {
    sed -e "s/values: .*/values: [$1]/" -e "s/default: .*/default: ${1%%,*}/" -e "${2:-}" \
        "$faults" >fault.yaml
    cp "${faults%.yaml}.cu" .
}

# A script for variant that doubles every config: the kernel ignores ROUND.
# shellcheck disable=SC2034 # for the tests
twice='/^launch:/i\  - {name: ROUND, summary: again, values: [0, 1], default: 0}'

# query FILE SQL: prints rows of a journal that no process has open, columns separated by '|'.
query() {
    python3 - "$1" "$2" <<'END'
import sqlite3
import sys

with sqlite3.connect(sys.argv[1]) as journal:
    for row in journal.execute(sys.argv[2]):
        print(*row, sep="|")
END
}

need_sqlite() {
    python3 -c 'import sqlite3' 2>/dev/null || skip "needs python3 with sqlite3"
}

# ended PID...: wait until all these processes have ended or are zombies, at most a minute each.
ended() {
    local pid tries state
    for pid; do
        for ((tries = 0; tries < 600; tries++)); do
            state=$(sed 's/.*) //; s/ .*//' "/proc/$pid/stat" 2>/dev/null) || state=Z
            [ "$state" != Z ] || break
            sleep 0.1
        done
        [ "$state" = Z ] || {
            echo "process $pid is still there: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
            return 1
        }
    done
}

# waited STATUS: wait for the run in the background; it must end with this exit code.
waited() {
    local status=0
    wait "$main" || status=$?
    main=
    [ "$status" -eq "$1" ] || {
        echo "exit code $status, expected $1:" "$(<errors)"
        return 1
    }
}

# Kill the run in the background. For teardown.
stop_run() {
    [ -z "${main:-}" ] || kill -KILL "$main" 2>/dev/null || true
}
