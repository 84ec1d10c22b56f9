# SPDX-License-Identifier: Apache-2.0
# For tests that do something to a run, on the emulated device or, where `short` says so, on a GPU. They
# begin and end with setup_file, setup and teardown as below, unless the file has its own.
# AUTOTUNE_TEST_FAULTS says how often what happens at random moments happens (10).

kills=${AUTOTUNE_TEST_FAULTS:-10}

setup_file() {
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache # looked at by assert_nothing_left
    mkdir "$XDG_CACHE_HOME"
    find_nvrtc
    make_data naive tile
}

setup() {
    need_nvrtc
    need_sqlite
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    stop_run
}

# The options of a short run of some configs of the family tile.
short=(--quiet --gpu emu --jobs 2 --family tile --search random --problem 8x8:f32 --out best.yaml)

# Its problem and family, as one follows the other in a record of the journal.
record=8x8:f32tile

# start_run ARGUMENT...: in the background; $driver is its process.
start_run() {
    progress=$(last_filed || true)
    "$AUTOTUNE" tune "${short[@]}" "$@" >table 2>errors 3>&- &
    driver=$!
}

# tune_limited KIB ARGUMENT...: where no file may grow past that.
tune_limited() (
    ulimit -f "$1" && shift && exec "$AUTOTUNE" tune "${short[@]}" "$@"
)

# children PARENT [ROLE]: a process's children, all or those of a role, the oldest first.
children() {
    cat /proc/[0-9]*/stat 2>/dev/null |
        awk -v parent="$1" -v name="(${2-})" \
            '$4 == parent && (name == "()" || $2 == name) { print $22, $1 }' |
        sort -n | cut -d ' ' -f 2 | grep .
}

running() {
    kill -0 "$driver" 2>/dev/null
}

# When the journal's log last took a measurement in; it tells by holding one of the problem itself, which
# those of copies precede.
last_filed() {
    grep -qaF "$record" best.yaml.journal-wal 2>/dev/null && stat -c %.9Y best.yaml.journal-wal
}

# wait_for_progress: until something has been measured since the last call, so that no config has all
# the bad luck, or the run ends; then for a random part of a fifth of a second.
wait_for_progress() {
    local now
    until now=$(last_filed) && [ "$now" != "$progress" ]; do
        running || break
        sleep 0.02
    done
    progress=$now
    sleep "0.$(printf %03d $((RANDOM % 200)))"
}

# assert_ends_at_second_signal: the run in the background does, whatever its workers do.
assert_ends_at_second_signal() {
    local workers
    wait_for_progress
    mapfile -t workers < <(children "$driver")
    kill -STOP "${workers[@]}" # none of them can help it to an end
    kill -INT "$driver"
    while kill -TERM "$driver" 2>/dev/null; do # within half a second it is one request with the first
        sleep 0.1
    done
    waited 130
    ended "${workers[@]}"
    [ ! -e best.yaml ]
}

# kill_workers ROLE: kills a worker at so many random moments, or for as long as the run goes on. The oldest
# of them, since a new one has what the last one was killed over, which is not to be blamed for it.
kill_workers() {
    local worker
    killed=0
    while ((killed < kills)) && running; do
        wait_for_progress
        worker=$(children "$driver" "$1") || continue
        worker=${worker%%$'\n'*}
        kill -KILL "$worker" 2>/dev/null && killed=$((killed + 1))
    done
    echo "killed $killed"
}

# The processes of runs in this folder, which workers share with their driver.
processes_here() {
    local process
    for process in /proc/[0-9]*; do
        if [ "$process/exe" -ef "$AUTOTUNE" ] && [ "$process/cwd" -ef . ]; then
            echo "${process#/proc/}"
        fi
    done
}

# Nothing is left of a run: none of its processes, once they have had time to end, no temporary file.
assert_nothing_left() {
    local left
    # shellcheck disable=SC2046 # a word each
    ended $(processes_here)
    left=$(find . "$XDG_CACHE_HOME" -name '.*.autotune' -o -name '*.aside')
    [ -z "$left" ] || {
        echo "left: $left"
        return 1
    }
}

# assert_correct COUNT: so many evaluations, all correct, and a profile that is sound.
assert_correct() {
    local name
    for name in compile launch timeout crash wrong oom; do
        [ "$(figure "$name")" -eq 0 ] || {
            echo "$name: $(figure "$name")"
            return 1
        }
    done
    [ "$(figure correct)" -eq "$1" ]
    "$AUTOTUNE" check best.yaml
}

# assert_measured_once COUNT: the journal has so many measurements, none of them twice.
assert_measured_once() {
    [ "$(query best.yaml.journal 'SELECT count(*) FROM measurements')" -eq "$1" ]
    [ "$(query best.yaml.journal 'SELECT count(*) FROM (SELECT DISTINCT problem, family, config
        FROM measurements)')" -eq "$1" ]
}

# What was measured before is in the journal as it was, and first; `seen` holds it.
assert_all_kept() {
    query best.yaml.journal 'SELECT * FROM measurements ORDER BY id' >now
    head -n "$(wc -l <seen)" now | cmp - seen
    mv now seen
}

# kill_driver TIMES COUNT: kills the driver so often at random moments, each time resumed at once, while
# the workers of the one before may still be there; and lets it end, with so many measurements.
kill_driver() {
    local i
    : >seen
    for ((i = 0; i < $1; i++)); do
        start_run --budget "$2" --resume
        wait_for_progress
        kill -KILL "$driver" 2>/dev/null || true
        wait "$driver" || true
        assert_all_kept
    done
    start_run --budget "$2" --resume
    waited 0
    assert_all_kept
    assert_correct "$2"
    [ "$(query best.yaml.journal 'SELECT count(*) FROM runs')" -eq 1 ]
    assert_nothing_left
}

# cannot_end PID: from now on a kill is not the end of it: a process that another one traces is not gone
# for its parent before the tracer has seen its end, which is what a process that a driver holds looks
# like. $tracer is to be killed.
cannot_end() {
    python3 - "$1" <<'END' 3>&- &
import ctypes, sys, time
PTRACE_SEIZE = 0x4206
if ctypes.CDLL(None).ptrace(PTRACE_SEIZE, int(sys.argv[1]), 0, 0) != 0:
    sys.exit("cannot trace")
print("traced", file=open("traced", "w"))
time.sleep(600)
END
    tracer=$!
    until [ -e traced ]; do
        kill -0 "$tracer" || skip "this machine lets nobody trace"
        sleep 0.05
    done
}
