# SPDX-License-Identifier: Apache-2.0
# For tests that do something to a run, on the emulated device or, where `short` says so, on a GPU. They
# begin and end with setup_file, setup and teardown as below, unless the file has its own.
# AUTOTUNE_TEST_FAULTS says how often what happens at random moments happens (10, in a sample 6).

# AUTOTUNE_TEST_LOOPS says how many loops of kills there are (1), and AUTOTUNE_TEST_JOBS how many at a time (1).

kills=${AUTOTUNE_TEST_FAULTS:-$([ -n "${AUTOTUNE_TEST_WHOLE-}" ] && echo 10 || echo 6)}
loops=${AUTOTUNE_TEST_LOOPS:-1}
loops_at_once=${AUTOTUNE_TEST_JOBS:-1}

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

# Its problem and family, as they stand side by side in a record of the journal.
record=8x8:f32tile

# start_run ARGUMENT...: start a run in the background; $main is its process.
start_run() {
    progress=$(last_filed || true)
    "$AUTOTUNE" tune "${short[@]}" "$@" >table 2>errors 3>&- &
    main=$!
}

# tune_limited KIB ARGUMENT...: a run whose files cannot grow past KIB.
tune_limited() (
    ulimit -f "$1" && shift && exec "$AUTOTUNE" tune "${short[@]}" "$@"
)

# children PARENT [ROLE]: print a process's children, or only the ones with a role, oldest first.
children() {
    cat /proc/[0-9]*/stat 2>/dev/null |
        awk -v parent="$1" -v name="(${2-})" \
            '$4 == parent && (name == "()" || $2 == name) { print $22, $1 }' |
        sort -n | cut -d ' ' -f 2 | grep .
}

running() {
    kill -0 "$main" 2>/dev/null
}

# Print when the journal's log was last written, once it has a measurement of the problem itself. The
# copies come before that and do not count.
last_filed() {
    grep -qaF "$record" best.yaml.journal-wal 2>/dev/null && stat -c %.9Y best.yaml.journal-wal
}

# wait_for_progress: wait for a measurement since the last call, or the run's end; then for up to a
# fifth of a second at random. Without progress, several kills could hit one config and be blamed on it.
wait_for_progress() {
    local now
    until now=$(last_filed) && [ "$now" != "$progress" ]; do
        running || break
        sleep 0.02
    done
    progress=$now
    sleep "0.$(printf %03d $((RANDOM % 200)))"
}

# state PID: print the letter that the system has for the state of a process: S sleeps, T is stopped.
state() {
    sed 's/.*) //; s/ .*//' "/proc/$1/stat"
}

# stop_in_first_problem BUDGET: stop the run in the background, of this budget, unless it has tuned its
# first problem by then. All but one of its configs may be measured: the others come after.
stop_in_first_problem() {
    until last_filed >/dev/null || ! running; do
        sleep 0.02
    done
    kill -STOP "$main" 2>/dev/null || return 1
    until [ "$(state "$main")" = T ]; do # signals take their time
        running || return 1
        sleep 0.02
    done
    rm -rf seen
    mkdir seen
    cp best.yaml.journal* seen # the run has its own open
    [ "$(query seen/best.yaml.journal "SELECT count(*) FROM measurements WHERE family = 'tile'
        AND NOT again")" -lt "$1" ]
}

# start_stopped BUDGET ARGUMENT...: start a run in the background and stop it while it tunes its first
# problem. A busy machine may let the run get further than that: another one is started then.
start_stopped() {
    local attempt
    for ((attempt = 0; attempt < 20; attempt++)); do
        start_run --budget "$@"
        ! stop_in_first_problem "$1" || return 0
        stop_run
        wait "$main" || true
        rm -f best.yaml*
    done
    echo "twenty runs tuned their first problem before they could be stopped"
    return 1
}

# assert_ends_at_second_signal: the run in the background does, though its workers are stopped.
assert_ends_at_second_signal() {
    local workers
    wait_for_progress
    mapfile -t workers < <(children "$main")
    kill -STOP "${workers[@]}" # the run gets no answer from them
    kill -INT "$main"
    while kill -TERM "$main" 2>/dev/null; do # the first half second counts as the same request
        sleep 0.1
    done
    waited 130
    ended "${workers[@]}"
    [ ! -e best.yaml ]
}

# kill_workers ROLE: kill a worker at $kills random moments, or until the run ends. It kills the oldest
# one: a new one repeats the work of a killed worker, and that config must not be blamed.
kill_workers() {
    local worker
    killed=0
    while ((killed < kills)) && running; do
        wait_for_progress
        worker=$(children "$main" "$1") || continue
        worker=${worker%%$'\n'*}
        kill -KILL "$worker" 2>/dev/null && killed=$((killed + 1))
    done
    echo "killed $killed"
}

# Print the processes of runs in this folder; workers have the folder of their main process.
processes_here() {
    local process
    for process in /proc/[0-9]*; do
        if [ "$process/exe" -ef "$AUTOTUNE" ] && [ "$process/cwd" -ef . ]; then
            echo "${process#/proc/}"
        fi
    done
}

# assert_nothing_left: all processes of the run end in time, and it leaves no temporary file.
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

# assert_correct COUNT: the profile is sound and has COUNT evaluations, all correct.
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

# assert_measured_once COUNT: the journal has COUNT measurements, each of another config.
assert_measured_once() {
    [ "$(query best.yaml.journal 'SELECT count(*) FROM measurements')" -eq "$1" ]
    [ "$(query best.yaml.journal 'SELECT count(*) FROM (SELECT DISTINCT problem, family, config
        FROM measurements)')" -eq "$1" ]
}

# assert_all_kept: the journal still begins with the measurements in the file `seen`; update that.
assert_all_kept() {
    query best.yaml.journal 'SELECT * FROM measurements ORDER BY id' >now
    head -n "$(wc -l <seen)" now | cmp - seen
    mv now seen
}

# kill_main TIMES COUNT: kill the main process at random moments, TIMES in all. Each time resume at
# once, while the old workers may still run. The last run may end; it then has COUNT measurements.
kill_main() {
    local i
    : >seen
    for ((i = 0; i < $1; i++)); do
        start_run --budget "$2" --resume
        wait_for_progress
        kill -KILL "$main" 2>/dev/null || true
        wait "$main" || true
        assert_all_kept
    done
    start_run --budget "$2" --resume
    waited 0
    assert_all_kept
    assert_correct "$2"
    [ "$(query best.yaml.journal 'SELECT count(*) FROM runs')" -eq 1 ]
    assert_nothing_left
}

# ---- loops of kills and --resume, each in a folder of its own ----

# victim: print a process of the run: mostly the main one, else a tuner or a worker.
victim() {
    local all
    mapfile -t all < <(processes_here)
    if ((${#all[@]} == 0 || RANDOM % 3)); then
        echo "$main"
    else
        echo "${all[RANDOM % ${#all[@]}]}"
    fi
}

# filed: print what the journals here have measured, each measurement once. They are copied, so that the next run
# finds them as the kill has left them. A journal may be so new that it has no tables.
filed() {
    local journal
    rm -rf copies && mkdir copies && cp best.yaml.journal* copies 2>/dev/null || return 0
    for journal in copies/*; do
        [[ $journal == *-wal ]] ||
            query "$journal" 'SELECT problem, family, config, measured_utc_ms, samples_ns FROM measurements' \
                2>/dev/null || true
    done | sort -u
}

# twice WHERE: print the configs that one journal has measured twice, or all journals of a model's devices.
twice() {
    local journal where
    for journal in best.yaml.journal*; do
        [ "$1" = journals ] && where= || where=$journal
        query "$journal" "SELECT '$where', gpu, problem, family, config FROM measurements WHERE NOT again"
    done | sort | uniq -d
}

# resume_after_kills MILLISECONDS ARGUMENT...: kill a run up to three times within this time of its start, and resume
# it. Every measurement that was filed is still there, and none was made again. Writes ./done, with two counts.
resume_after_kills() {
    local killed=0 where=journals victim i ms
    : >seen
    for ((i = RANDOM % 3; i >= 0; i--)); do
        "$AUTOTUNE" tune "${@:2}" --resume >table 2>errors 3>&- &
        main=$!
        ms=$(((RANDOM * 32768 + RANDOM) % $1))
        sleep $((ms / 1000)).$(printf %03d $((ms % 1000)))
        victim=$(victim)
        # What a lost device has measured, another one measures for itself.
        grep -qsx tuner "/proc/$victim/comm" && where=journal
        kill -KILL "$victim" 2>/dev/null && killed=$((killed + 1))
        wait "$main" || true
        # shellcheck disable=SC2046 # a word each
        ended $(processes_here)
        filed >now
        [ -z "$(comm -23 seen now)" ]
        mv now seen
    done
    "$AUTOTUNE" tune "${@:2}" --resume >table
    filed >now
    [ -z "$(comm -23 seen now)" ]
    [ -z "$(twice $where)" ]
    "$AUTOTUNE" check best.yaml
    assert_nothing_left
    echo "$killed $(wc -l <seen)" >done
}

# kill_in_loops ARGUMENT...: so many loops with runs of these arguments, so many of them at a time.
kill_in_loops() {
    local loop began_ms ms
    mkdir loops && cd loops
    for loop in cold warm; do
        began_ms=$(date +%s%3N)
        "$AUTOTUNE" tune "$@" --out $loop.yaml >table
        ms=$(($(date +%s%3N) - began_ms))
    done
    for ((loop = 1; loop <= loops; loop++)); do
        mkdir $loop
        (cd $loop && resume_after_kills $ms "$@" --out best.yaml) >$loop/log 2>&1 3>&- &
        while (($(jobs -rp | wc -l) >= loops_at_once)); do
            wait -n || true
        done
    done
    wait
    for ((loop = 1; loop <= loops; loop++)); do
        [ -e $loop/done ] || tail $loop/log $loop/errors "$PWD/$loop/seen"
    done
    echo "# $(cat [0-9]*/done | awk '{ kills += $1; filed += $2 } END {
        print NR " loops, " kills " kills, " filed " measurements filed before them" }')" >&3
    [ "$(cat [0-9]*/done | wc -l)" -eq "$loops" ]
}

# cannot_end PID: from now on the process survives a kill, as one does that a GPU driver holds. It is
# traced: its parent does not see it end before the tracer does. The caller kills $tracer.
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
        kill -0 "$tracer" || skip "this machine does not allow tracing"
        sleep 0.05
    done
}
