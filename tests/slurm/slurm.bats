#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# contrib/slurm on a real Slurm, with emulated devices: tasks and nodes die, and the merged profile is that of
# one process, byte for byte.

bats_require_minimum_version 1.5.0
load ../cli/helpers
load ../gpu/helpers
load helpers

setup_file() {
    find_nvrtc
    export cluster=$BATS_FILE_TMPDIR/cluster
    export SLURM_CONF=$cluster/slurm.conf
    LACKING_SLURM=$(lacking_slurm)
    export LACKING_SLURM
    [ -z "$LACKING_SLURM${NO_NVRTC-}" ] || return 0
    make_data
    narrowed naive BLOCK_X='16, 32' BLOCK_Y='8, 16' READ_ONLY=0 >"$AUTOTUNE_DATADIR/tuning/naive.yaml"
    start_cluster
}

teardown_file() {
    [ -n "$LACKING_SLURM" ] || stop_cluster
}

setup() {
    [ -z "$LACKING_SLURM" ] || skip "$LACKING_SLURM"
    need_nvrtc
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
    options=(--gpu emu --search exhaustive --jobs 1)
    cat >list.yaml <<END
schema: 1
problems: ['64x64:f32', '32x96:f32', '16x64:f64', '10x37:f16', '31x77:b1', '128x32:f32', '64x32:f64',
  '33x15:c128', '10x40:f32,batch=3', '17x30:f16', '50x50:b2', '45x19:b8']
END
}

# The output that a failed test shows.
teardown() {
    [ -n "$BATS_TEST_COMPLETED" ] || [ -n "$LACKING_SLURM" ] || {
        squeue
        tail -n 20 "$cluster"/*.log best.yaml.shares/*.log || true
    }
}

# submit SHARES: submits the list; sets `array` and `merge`, the jobs.
submit() {
    run -0 env AUTOTUNE="$AUTOTUNE" "$srcdir/contrib/slurm/submit" gpus list.yaml best.yaml "$1" \
        "${options[@]}"
    [[ $output =~ ^job\ ([0-9]+):.*job\ ([0-9]+): ]]
    array=${BASH_REMATCH[1]} merge=${BASH_REMATCH[2]}
}

# Prints a running task of the array on this node.
task_on() {
    squeue --noheader --jobs="$array" --nodelist="$1" --states=RUNNING --format=%K | head -n 1
}

# Prints the main process of a task's autotune.
process_of() {
    pgrep -f "^$AUTOTUNE tune .*--shard $1/.*--out $cluster/disk-"
}

# Is a task on this node measuring? Sets `task`.
is_measuring() {
    task=$(task_on "$1")
    [ -n "$task" ] && process_of "$task" >/dev/null &&
        [ -s "$cluster/disk-$1/autotune-$array-$task/share-$task.yaml.journal" ]
}

# The same for any task but one.
is_another_measuring() {
    is_measuring "$1" && [ "$task" != "$2" ]
}

# Slurm lets tasks that were queued again wait for a while. Has this one ended its wait?
has_ended() {
    local waiting
    sleep 1
    for waiting in $(squeue --noheader --jobs="$array" --states=PENDING --format=%i); do
        scontrol update JobId="$waiting" StartTime=now 2>/dev/null || true
    done
    [ -z "$(squeue --noheader --jobs="$1" 2>/dev/null)" ]
}

@test "shares with a task killed and a node set down are those of one process" {
    "$AUTOTUNE" tune --quiet "${options[@]}" --problems list.yaml --out whole.yaml >/dev/null
    submit 8
    until_true 60 is_measuring one
    killed=$task
    kill -KILL "$(process_of "$killed")"
    until_true 60 is_measuring two
    moved=$task
    scontrol update NodeName=two State=DOWN Reason=test
    until_true 60 is_another_measuring one "$killed"
    requeued=$task
    scontrol requeue "${array}_$requeued"
    sleep 2
    scontrol update NodeName=two State=RESUME
    until_true 100 has_ended "$merge"
    cat best.yaml.shares/merge.log
    cmp whole.yaml best.yaml
    [ "$(find best.yaml.shares -name '*.done' | wc -l)" -eq 8 ]
    # All three were started twice.
    for share in "$killed" "$moved" "$requeued"; do
        (($(grep -c "share $share of 8" "best.yaml.shares/share-$share.log") >= 2))
    done
    grep -q "share $killed was killed (137)" "best.yaml.shares/share-$killed.log"
    # Finished shares are not tuned again.
    rm best.yaml.shares/share-3.done
    submit 8
    until_true 100 has_ended "$merge"
    cmp whole.yaml best.yaml
    [ "$(grep -lc 'was finished before' best.yaml.shares/*.log | wc -l)" -eq 7 ]
}

@test "a task whose time is over writes the best so far, and goes on from its journal" {
    "$AUTOTUNE" tune --quiet "${options[@]}" --problems list.yaml --out whole.yaml >/dev/null
    SBATCH_GRES=none submit 1
    until_true 60 is_measuring one
    until_true 60 grep -q ': tuned in ' best.yaml.shares/share-1.log
    [[ $(scontrol show job "${array}_$task") != *gres/gpu* ]]
    scancel --batch --signal=USR1 "${array}_$task" # Slurm sends it two minutes before the time limit
    until_true 60 grep -q 'is queued again' best.yaml.shares/share-1.log
    grep -q 'interrupted; the best so far is in ' best.yaml.shares/share-1.log
    cp best.yaml.shares/share-1.yaml.journal early.journal
    rm -r "$cluster"/disk-*/autotune-* # as if it goes on at another node
    until_true 100 has_ended "$merge"
    cmp whole.yaml best.yaml
    # It measured nothing twice.
    [ "$(query early.journal 'SELECT count(*) > 0 FROM measurements')" -eq 1 ]
    [ "$(query best.yaml.shares/share-1.yaml.journal 'SELECT count(*) - count(DISTINCT problem || family ||
        config) FROM measurements')" -eq 0 ]
}

@test "--shard auto takes the share from Slurm's array, and from srun" {
    sbatch --wait --array=3-9:2 --output=array-%a.log --wrap \
        "'$AUTOTUNE' tune --gpu emu --problems list.yaml --dry-run --shard auto"
    grep -q "share 2 of 4, from Slurm's job array: 3 of 12 problems" array-5.log
    [ "$(cat array-*.log | grep -c ' [0-9]*x[0-9]*:')" -eq 12 ]
    run -0 srun --ntasks=3 --overcommit --nodes=1 "$AUTOTUNE" tune --gpu emu --problems list.yaml \
        --dry-run --shard auto
    [[ $output == *"share 3 of 3, from srun: 4 of 12 problems"* ]]
    [ "$(grep -c '^  [0-9]*x[0-9]*:' <<<"$output")" -eq 12 ]
    # Both together would deal twice; and a part of an array does not tell of how many.
    sbatch --wait --array=1-2 --ntasks=2 --output=both-%a.log --wrap \
        "srun '$AUTOTUNE' tune --gpu emu --problems list.yaml --dry-run --shard auto" || true
    grep -q 'both number this process' both-1.log
    sbatch --wait --array=2,7 --output=part-%a.log --wrap \
        "'$AUTOTUNE' tune --gpu emu --problems list.yaml --dry-run --shard auto" || true
    grep -q 'the array has gaps' part-7.log
}
