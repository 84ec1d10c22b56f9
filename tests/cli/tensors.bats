#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Permutations of tensors from the command line.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
    find_nvrtc
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# Families with few configs: matrices, runs and packed tiles.
make_small_data() {
    make_data
    narrowed naive DIRECTION=0 READ_ONLY=0 BLOCK_X=32 BLOCK_Y=8 >"$AUTOTUNE_DATADIR/tuning/naive.yaml"
    narrowed rows THREADS=128 UNROLL=1 LOAD=0 STORE=0 >"$AUTOTUNE_DATADIR/tuning/rows.yaml"
    narrowed packed SIDE_SRC=64 'SIDE_DST=128, 32' THREADS=128 'VEC_SRC=8, 1' 'VEC_DST=8, 1' TILES=4 MIN_BLOCKS=0 PAD=1 \
        >"$AUTOTUNE_DATADIR/tuning/packed.yaml"
}

# becomes SPEC FORM: does lookup call the problem by its canonical form?
becomes() {
    run --separate-stderr -0 "$AUTOTUNE" lookup --device h200 --problem "$1"
    [ "${lines[0]}" = "$2 on NVIDIA H200, cold" ]
}

@test "a tensor is called by its canonical form" {
    becomes 3x224x224:f32,perm=120 3x50176:f32
    becomes 1x64x1x96:f16,perm=3210 64x96:f16
    becomes 32x49x3x12x512:f16,perm=01342 3x6144:f16,batch=1568
    becomes 512x12x3x49x32:f16,perm=20314 512x12x3x49x32:f16,perm=20314
    becomes 5x7:b12 5x7x3:b4,perm=102
}

# launched PROBLEM: the config and the launch that lookup names, under the problem's own name.
launched() {
    local lines
    mapfile -t lines < <("$AUTOTUNE" lookup --device h200 --problem "$1" 2>&1)
    [ "${lines[0]}" = "$1 on NVIDIA H200, cold" ]
    launch=${lines[*]:1:2}
}

@test "a matrix that is a copy keeps its name, and is launched like the copy" {
    while read -r matrix copy; do
        launched "$copy"
        local wanted=$launch
        [[ $wanted == *'config     copy '* ]]
        launched "$matrix"
        [ "$launch" = "$wanted" ]
    done <<'END'
480000x1:f32,batch=3 1x1440000:f32
100000x1:f16,batch=7 1x700000:f16
1440000x1:f32 1x1440000:f32
100000000x1:f32 1x100000000:f32
1x480000:f32,batch=3 1x1440000:f32
1x1:b1,batch=5000000 1x5000000:b1
1x4000001:c128,ld_src=4000005 1x4000001:c128
END
}

@test "permutations are tuned, shown, checked, looked up and exported" {
    is_long
    need_nvrtc
    make_small_data
    run --separate-stderr -0 "$AUTOTUNE" --gpu emu --out best.yaml \
        -p 6x5x8x32:f16,perm=0213 -p 3x3x3x3x3x3:f64,perm=543210 \
        -p 37x5x41:f32,perm=210 -p 33x9:b12 -p 1x600:f32 -p 300x1:f32,batch=2
    # Kernel, time and shares of a copy are the same by any name.
    grep '^1x600:f32 ' <<<"$output"
    [ "$(grep '^1x600:f32 ' <<<"$output" | tr -s ' ' | cut -d ' ' -f 2-)" = \
        "$(grep '^300x1:f32,batch=2 ' <<<"$output" | tr -s ' ' | cut -d ' ' -f 2-)" ]
    [[ $output == *'6x5x8x32:f16,perm=0213'* ]]
    [[ $output == *'3x3x3x3x3x3:f64,perm=543210'* ]]
    [[ $output == *'33x9x3:b4,perm=102'* ]]
    [[ $output == *' legal configs: '*' correct'* && $output != *wrong* ]]
    run --separate-stderr -0 "$AUTOTUNE" show best.yaml
    [[ $output == *'6x5x8x32:f16,perm=0213'* ]]
    run --separate-stderr -0 "$AUTOTUNE" check --gpu emu best.yaml
    run --separate-stderr -0 "$AUTOTUNE" lookup --gpu emu -p 6x5x8x32:i16,perm=0213 best.yaml
    [[ $output == *'tier       1 of 6'* ]]
    # All problems that were tuned on a device are exported, tensors too.
    run --separate-stderr -0 "$AUTOTUNE" export --as make best.yaml
    [[ $output == *'AUTOTUNE_PROBLEMS := '*'T6_5_8_32_B2_P0213'* ]]
    [[ $output == *'AUTOTUNE_T3_3_3_3_3_3_B8_P543210_WORDS := 0x'* ]]
}

@test "explain shows a permutation" {
    need_nvrtc
    run --separate-stderr -0 "$AUTOTUNE" explain packed WORD=0 -p 3x3x3x3x3x3:f64,perm=543210
    [[ $output == *'packed.cu'* ]]
    run --separate-stderr -1 "$AUTOTUNE" explain rows -p 64x64:f32
    [[ $stderr == *'needs rows == 1'* ]]
}
