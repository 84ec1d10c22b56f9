#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Many matrices in one launch: lists, and groups of rows.

bats_require_minimum_version 1.5.0
load helpers

# The families without copies, so that no copy limit is searched.
setup_file() {
    find_nvrtc
    make_data direct micro skew
    unset AUTOTUNE_DATADIR
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# FAMILY PROBLEM. The second part is for .ci/run.
cases=(
    'micro group=7,rows=16..64,cols=16..64,multiple=16:f16'
    'micro group=6,total=90,cols=32,law=zipf,pad=8:bf16:e4m3,scale,both'
    'micro group=5,total=96,cols=32,law=sparse,multiple=16,pad=16,stack=1:f16'
    'skew group=6,rows=0..40,cols=0..50:f32'
    'micro group=7,rows=16..64,cols=16..64,multiple=16:f16,alpha,beta'
    'skew group=6,total=90,cols=33,law=zipf,pad=8:bf16:f32,alpha,beta'
    'skew group=6,total=90,cols=33,law=zipf,pad=8:bf16:e4m3,scale,both'
    'micro group=7,rows=16..64,cols=16..64,multiple=16:u8:f16,affine'
    'skew group=6,total=90,cols=33,law=zipf,pad=8:bf16:e4m3,affine=rows'
    'direct group=9,rows=0..24,cols=0..24,batch=1..30:f16'
    'direct group=3x70x40+20x1x9,batch=2..5:u8'
    'direct group=30,rows=1..9,cols=1..9:c128'
    'micro group=6,rows=0..40,cols=0..40,multiple=8,batch=1..4:f16,scale,both'
    'skew group=6,rows=0..20,cols=0..20,batch=1..9:f32:f16,alpha,beta'
    'micro group=9,rows=0..96,cols=0..96,multiple=32:u8:f32,scale'
    'micro group=7,rows=4..60,cols=4..60,multiple=4:f32,alpha'
    'micro group=5,rows=2..30,cols=2..30,multiple=2:c64,conj,both'
    'micro group=4,rows=8,cols=24:c128'
    'micro group=300,total=640,cols=16,law=sparse,pad=16:u8'
    'skew group=5,rows=1..70,cols=1..90:u8,both'
    'skew group=20,rows=1..9,cols=1..9:f64'
    'micro group=6,total=90,cols=32,law=sparse,pad=8,stack=1:f32,beta'
    'skew group=9,rows=0..40,cols=0..30:c64,alpha,beta'
    'skew group=7,total=111,cols=65:f16'
    'skew group=3,total=111,cols=65,pad=4,stack=1,draw=3:f16:f32,scale'
    'skew group=9,rows=0..40,cols=0..30:f64:f32,scale,affine=rows,beta'
    'skew group=5,rows=1..70,cols=1..90:f32:u8,affine'
    'micro group=5,total=96,cols=32,law=sparse,multiple=16,pad=16,stack=1:f16,affine'
    'micro group=6,total=90,cols=32,law=zipf,pad=8:i16:f32,affine=rows'
)

@test "kernels transpose each of many matrices" {
    local count=10 configs=1 case family problem
    need_nvrtc
    if [ -n "${AUTOTUNE_TEST_WHOLE-}" ]; then
        count=${#cases[@]} configs=2
    fi
    for case in "${cases[@]:0:count}"; do
        read -r family problem <<<"$case"
        AUTOTUNE_DATADIR=$BATS_FILE_TMPDIR/data run --separate-stderr -0 "$AUTOTUNE" tune --gpu emu --family "$family" \
            --search random --budget "$configs" --timeout 60 --out best.yaml "$problem"
        [[ $stderr != *' wrong'* ]]
        [[ $output == *"evaluations  $configs of "*" legal configs: $configs correct"* ]]
        rm best.yaml*
    done
}

# FAMILY PROBLEM REPLACEMENT: with it, templates/groups.cuh goes wrong.
list=group=7,rows=16..64,cols=16..64,multiple=16:f16
ragged=group=6,total=90,cols=32,law=zipf,pad=8:f16
mistakes=(
    # A tile belongs to the group before its own; padding stays; results of a group are where others are.
    "micro $list s/tiles_to - tiles <= tile)/tiles_to - tiles < tile)/"
    "micro $ragged s/return fills ? padded_rows(size) : size.rows;/return size.rows;/"
    "skew $ragged s/first\[i \/ padding \* own.ld_dst + i % padding\] = {};/;/"
    "micro $ragged s/(stacked ? group \* most : before)/(stacked ? group * most : 0)/"
    # The second results of all groups are those of the first.
    "micro $list,both s/numbers.outputs.kept = own.kept;/;/"
    # The second source of all groups is that of the first; each number is that of the group before.
    "micro $list,beta s/numbers.second = own.second;/;/"
    "micro $ragged,beta s/second) + to \* step::result_bytes/second)/"
    # All matrices have the numbers of the first one's channels. Groups of rows have those of the first rows.
    "micro $list:f32,affine s/return group \* stride;/return 0;/"
    "skew $ragged,affine=rows s/return of_rows ? offset(group)/return of_rows ? 0/"
    # A group is as long as the next one. The last tile is left out. Rows of a group begin one later.
    "micro $ragged s/offsets)\[group\]/offsets)[group + group % 2]/"
    "micro $list s/tile < tiles.total();)/tile + 1 < tiles.total();)/"
    "micro $ragged s/src) + first \* ld_src/src) + (first + 1) * ld_src/"
    # All matrices of a batch are its first one. A run of elements has one too few.
    "micro ${list/:/,batch=2..3:} s/from = fast \* stride_src/from = 0 * stride_src/"
    "direct ${list/:/,batch=2..3:} s/(all + (elements - 1)) \/ elements/all \/ elements/"
)

@test "a kernel that mistakes its matrices is wrong" {
    local count=5 family mistake problem
    need_nvrtc
    [ -z "${AUTOTUNE_TEST_WHOLE-}" ] || count=${#mistakes[@]}
    for mistake in "${mistakes[@]:0:count}"; do
        read -r family problem mistake <<<"$mistake"
        rm -rf wrong
        cp -r "$BATS_FILE_TMPDIR/data" wrong
        rm wrong/templates
        cp -r "$srcdir/templates" wrong
        sed -i "$mistake" wrong/templates/groups.cuh
        ! cmp -s wrong/templates/groups.cuh "$srcdir/templates/groups.cuh"
        AUTOTUNE_DATADIR=$PWD/wrong run --separate-stderr "$AUTOTUNE" tune --gpu emu --family "$family" --search random --budget 1 \
            --timeout 60 --out best.yaml "$problem"
        [ "$status" -ne 0 ] || { echo "$mistake" && false; }
        [[ $stderr =~ 'no correct config among the 1 measured of '[0-9]+' (1 '(wrong|crash)')' ]] || { echo "$mistake: $stderr" && false; }
    done
}

@test "a profile with many matrices is sound, shown, looked up, reported and exported" {
    need_nvrtc
    cp -r "$BATS_FILE_TMPDIR/data" data
    narrowed copy VEC=16 SHARED=0 LOAD=0 PREFETCH=0 STORE=0 THREADS=256 ITEMS='1, 4' >data/tuning/copy.yaml
    export AUTOTUNE_DATADIR=$PWD/data
    run --separate-stderr -0 "$AUTOTUNE" tune --gpu emu --family micro --search random --budget 2 --timeout 60 \
        --out best.yaml "$list" 64x64:f16
    run -0 "$AUTOTUNE" check best.yaml
    [ "$output" = 'best.yaml: sound: 2 problems on 1 device' ]
    run --separate-stderr -0 "$AUTOTUNE" show best.yaml
    [[ $output == *"$list"* ]]
    run --separate-stderr -0 "$AUTOTUNE" lookup best.yaml -p "$list"
    [[ $output == "$list on NVIDIA H200, cold"*' BLOCKS='*'tier       1 of 6, exact'* ]]
    run --separate-stderr -0 "$AUTOTUNE" report --explain 2 --out page.html best.yaml
    grep -qF "$list" page.html
    run --separate-stderr -0 "$AUTOTUNE" export --as make best.yaml
    [[ $output == *'_PROBLEMS := '*G7_R16_64_C16_64_M16_B2* && $output == *'_PROBLEMS := '*R64_C64_B2* ]]
}

@test "sizes are read from a file, and the profile does not need it" {
    need_nvrtc
    printf '%s\n' '# a layer' 16x48 16x48 '3x32x16 # and another' 4x0..32x64 >sizes.txt
    AUTOTUNE_DATADIR=$BATS_FILE_TMPDIR/data run --separate-stderr -0 "$AUTOTUNE" tune --gpu emu --family micro \
        --search random --budget 1 --timeout 60 --out best.yaml group=@sizes.txt:f16
    local whole=group=4x0..32x64+2x16x48+3x32x16,multiple=16:f16
    [[ $stderr == *"group=@sizes.txt:f16 is called $whole"* && $output == *': 1 correct'* ]]
    run --separate-stderr -0 "$AUTOTUNE" lookup best.yaml -p group=@sizes.txt:f16
    [[ $output == *'tier       1 of 6, exact'* ]]
    rm sizes.txt
    run --separate-stderr -0 "$AUTOTUNE" lookup best.yaml -p "$whole"
    [[ $output == *'tier       1 of 6, exact'* ]]
    run -0 "$AUTOTUNE" check best.yaml
    # A profile cannot have a file read.
    sed 's/group=[^:]*:/group=@best.yaml:/' best.yaml >hostile.yaml
    run -2 "$AUTOTUNE" check hostile.yaml
    [[ $output == *'only a command line names a file of sizes'* ]]
}

# Sides are multiples of 16 elements of 2 bytes, so results are whole sectors. Descriptions are read, too.
@test "what kernels do to memory is explained for the matrices that are drawn" {
    need_nvrtc
    run --separate-stderr -0 "$AUTOTUNE" explain micro "$list" --blocks 528
    [[ $output =~ 'reads '[0-9.]+' MB, '[0-9.]+' times the 0.03 MB needed; writes 0.03 MB, 1.00 times the 0.03' ]]
    run --separate-stderr -0 "$AUTOTUNE" explain skew "$ragged" --format json
    [[ $output == *'"bytes_needed": 5760,'* ]]
    run --separate-stderr -0 "$AUTOTUNE" explain --ncu "$list"
    [[ $output == *"--problem $list "* ]]
}

@test "families that have no groups refuse them, and no text that makes no sense is taken" {
    run --separate-stderr -1 "$AUTOTUNE" explain tile "$list"
    [[ $stderr == *'the family does not take many matrices in one launch'* ]]
    refused 'no multiple of 16 is in the range of rows=' lookup --device h200 -p group=3,rows=17..31,cols=16,multiple=16:f32
}
