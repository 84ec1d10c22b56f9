#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tune --shard: shares of a list, tuned apart and merged, are the whole.

bats_require_minimum_version 1.5.0
load helpers
load ../gpu/helpers

setup_file() {
    find_nvrtc
    make_data small
    narrowed copy VEC='1, 16' SHARED='0, 1' LOAD=0 PREFETCH=0 STORE=0 THREADS=256 ITEMS='1, 4' \
        >"$AUTOTUNE_DATADIR/tuning/copy.yaml"
}

# Some problems have as many bytes, so a single process could use the copies of one for the others.
setup() {
    cd "$BATS_TEST_TMPDIR" || return
    printf '%s\n' 'schema: 1' problems: '- 16x64:f32' '- 64x16:f64' '- 32x32:f32' '- 64x64:b1' \
        '- 8x64:f64' '- 32x48:f16' >list.yaml
    for variable in SLURM_{ARRAY_TASK_{ID,COUNT,MIN,MAX,STEP},PROCID,STEP_NUM_TASKS} PMI_{RANK,SIZE} \
        OMPI_COMM_WORLD_{RANK,SIZE} FLUX_{TASK_RANK,JOB_SIZE} RANK WORLD_SIZE; do
        unset "$variable"
    done
}

# dealt SHARE: prints the problems of a share, sorted.
dealt() {
    "$AUTOTUNE" tune --quiet --gpu emu --problems list.yaml --dry-run --shard "$1" |
        sed -n 's/^  \([0-9]*x[^ ]*\) .*/- \1/p' | sort
}

@test "every problem is in one share" {
    for of in 1 2 3 7 12; do
        for ((i = 1; i <= of; i++)); do
            dealt "$i/$of"
        done | sort | diff - <(sed 1,2d list.yaml | sort)
    done
    [ "$(dealt 1/3 | wc -l)" -eq 2 ]
    # The order of the list makes no difference.
    before=$(dealt 2/3)
    { head -n 2 list.yaml && sed 1,2d list.yaml | tac; } >turned.yaml
    mv turned.yaml list.yaml
    [ "$(dealt 2/3)" = "$before" ]
}

# A search of a few configs depends on where it starts, and must not start from other problems' winners.
@test "the merged shares are what one process finds, byte for byte" {
    is_long
    need_nvrtc
    export XDG_CACHE_HOME=$PWD
    tune --quiet --gpu emu --problems list.yaml --budget 54 --out whole.yaml
    for share in 3 1 2; do
        tune --quiet --gpu emu --problems list.yaml --budget 18 --shard "$share/3" \
            --out "share-$share.yaml"
    done
    run --separate-stderr -0 "$AUTOTUNE" merge --problems list.yaml -o merged.yaml share-*.yaml
    [ -z "$stderr" ]
    sed -i "/options:/s/--budget 54/--budget 18/" whole.yaml
    cmp whole.yaml merged.yaml
    rm share-3.yaml
    run --separate-stderr -1 "$AUTOTUNE" merge --problems list.yaml share-*.yaml
    [ "$(grep -c ': missing: ' <<<"$stderr")" -eq "$(dealt 3/3 | wc -l)" ]
}

@test "an empty share is no error, and writes nothing" {
    run --separate-stderr -0 "$AUTOTUNE" tune --gpu emu --problems list.yaml --shard 8/9 --out share.yaml
    [ -z "$output" ]
    [[ $stderr == *"share 8 of 9: 0 of 6 problems; nothing is measured or written"* ]]
    [ "$(find . -name '*share*')" = '' ]
}

@test "auto takes the share from the launcher, and says which" {
    run --separate-stderr -0 env RANK=2 WORLD_SIZE=3 "$AUTOTUNE" tune --gpu emu --problems list.yaml \
        --dry-run --shard auto
    [[ $stderr == *"share 3 of 3, from torchrun: 2 of 6 problems"* ]]
    [ "$(grep -c ' [0-9]*x[0-9]*:' <<<"$output")" -eq 2 ]
}

@test "a share that makes no sense is refused" {
    for value in '' 3 0/3 4/3 1/0 1/2/3 x/y; do
        refused "not \"$value\"" --shard="$value"
    done
    refused 'no launcher has numbered this process' --shard auto
    export WORLD_SIZE=3
    refused 'but not RANK' --shard auto
    RANK=3 refused 'contradict each other' --shard auto
}
