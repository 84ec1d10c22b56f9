# SPDX-License-Identifier: Apache-2.0
# Runs on the emulated device that something is done to. They are as short as may be: a data folder
# without the family of copies saves a search before each. AUTOTUNE_TEST_FAULTS says how often what
# happens at random moments happens (10).

kills=${AUTOTUNE_TEST_FAULTS:-10}

# To be called by setup_file.
make_data() {
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
    if "$AUTOTUNE" explain copy 2>&1 | grep -q 'no NVRTC'; then
        export NO_NVRTC=1
    fi
    export AUTOTUNE_DATADIR=$BATS_FILE_TMPDIR/data
    mkdir -p "$AUTOTUNE_DATADIR/tuning"
    ln -s "$srcdir/templates" "$AUTOTUNE_DATADIR/templates"
    ln -s "$srcdir/tuning/devices" "$srcdir/tuning/naive.yaml" "$srcdir/tuning/tile.yaml" \
        "$AUTOTUNE_DATADIR/tuning"
}

# The options of a short run of some configs of the family tile.
short=(--quiet --gpu emu --jobs 2 --family tile --search random --problem 8x8:f32 --out best.yaml)

# start_run ARGUMENT...: in the background; $driver is its process.
start_run() {
    progress=0
    "$AUTOTUNE" tune "${short[@]}" "$@" >table 2>errors 3>&- &
    driver=$!
}

# tune_limited KIB ARGUMENT...: where no file may grow past that.
tune_limited() (
    ulimit -f "$1" && shift && exec "$AUTOTUNE" tune "${short[@]}" "$@"
)

running() {
    kill -0 "$driver" 2>/dev/null
}

# How many measurements the journal's log has seen.
logged() {
    if [ -e best.yaml.journal-wal ]; then
        grep -aoF 8x8:f32tile best.yaml.journal-wal | wc -l
    else
        echo 0
    fi
}

# wait_for_progress: until there are more measurements than at the last call, so that no config has all
# the bad luck, or the run ends; then for a random part of a fifth of a second.
wait_for_progress() {
    local now
    while running && now=$(logged) && ((now <= progress)); do
        sleep 0.02
    done
    progress=${now:-0}
    sleep "0.$(printf %03d $((RANDOM % 200)))"
}

# kill_workers ROLE: kills a worker at so many random moments, or for as long as the run goes on.
kill_workers() {
    local worker
    killed=0
    while ((killed < kills)) && running; do
        wait_for_progress
        worker=$(pgrep -P "$driver" -x "$1" | shuf -n 1) || continue
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
    left=$(find . "$XDG_CACHE_HOME" -name '.autotune-*' -o -name '*.aside')
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
