#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune explain: what the emulated device counts. It needs NVRTC, but no GPU.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
}

# explain ARGUMENT...: runs it; skips the test if there is no NVRTC.
explain() {
    run --separate-stderr "$AUTOTUNE" explain "$@"
    [[ $stderr != *'no NVRTC'* ]] || skip "no NVRTC"
}

# subject: print the first lines of the output, unfolded: family and config.
subject() {
    sed '/^on /,$d' <<<"$output" | paste -sd ' ' | tr -s ' '
}

# costs ACCESS COST: the table has one line for this access, with this cost per request.
costs() {
    [ "$(grep -c " $1 " <<<"$output")" -eq 1 ]
    [[ $(grep " $1 " <<<"$output" | sed 's/.* B *[0-9]* *\([0-9.]*\) .*/\1/') == "$2" ]]
}

# least PROBLEM PARAM=VALUE...: this config of micro needs no more sectors and wavefronts than the least.
least() {
    local problem=$1
    shift
    explain micro "$@" --problem "$problem" --blocks 2
    grep -q 'sectors, 1.00 times the least' <<<"$output"
    grep -q 'of which 0 are bank conflicts' <<<"$output"
}

@test "padding removes the bank conflicts of a tile's column" {
    explain tile PAD=0 256x256:f32
    [ "$status" -eq 0 ]
    costs 'load shared' 32.00
    [[ $output == *'63488 are bank conflicts'* ]]
    explain tile PAD=1 256x256:f32
    [ "$status" -eq 0 ]
    costs 'load shared' 1.00
    [[ $output == *' 0 are bank conflicts'* ]]
}

@test "block scales have memory of their own, one scale for each block" {
    explain quantise 256x384:bf16:e4m3,both,blocks=1x128
    [ "$status" -eq 0 ]
    # 384 x 2 and 256 x 3 scales, in requests of 32 lanes.
    [ "$(awk '/ store global  *4 B / {count += $6} END {print count}' <<<"$output")" -eq 48 ]
    # Results of 4 bits are two in a byte, and scales are written, too.
    explain 256x256:bf16:e2m1,both,blocks=1x16,scales=nvfp4
    [[ $output == *'reads 0.13 MB, 1.00 times the 0.13 MB needed'*' times the 0.07 MB needed'* ]]
}

# CONFIG PROBLEM of skew. Both leading dimensions are odd: the columns of a warp alone would meet in banks.
narrowing=(
    'DST_BYTES=128 THREADS=256 203x271:bf16:e4m3,scale'
    'DST_BYTES=64 THREADS=128 203x271:bf16:e4m3,scale'
    'DST_BYTES=128 THREADS=256 271x203:f32:e4m3'
    'DST_BYTES=128 THREADS=128 263x203:f32:bf16'
)

@test "skew gathers results that are narrower than elements without bank conflicts" {
    is_long
    local case gathers
    for case in "${narrowing[@]}"; do
        # shellcheck disable=SC2086 # words
        explain skew ALIGN=16 ASYNC=1 SRC_BYTES=128 UNROLL=4 $case
        [ "$status" -eq 0 ]
        gathers=$(grep -m 1 ' load shared ' <<<"$output")
        [[ $gathers =~ \ 1\.00\ +1\.00\ +100\.0% ]]
    done
}

@test "ENDS writes the ends of short rows in few stores" {
    is_long
    explain skew ALIGN=16 ASYNC=1 SRC_BYTES=128 UNROLL=4 DST_BYTES=128 THREADS=256 ENDS=1 203x271:b1
    [ "$(grep -c ' store global *1 B ' <<<"$output")" -eq 2 ]
    [ "$(grep -c ' store global *8 B ' <<<"$output")" -eq 2 ]
    explain skew ALIGN=16 ASYNC=1 SRC_BYTES=128 UNROLL=4 DST_BYTES=128 THREADS=256 203x271:b1
    [ "$(grep -c ' store global *8 B ' <<<"$output")" -eq 0 ]
}

@test "DIRECTION chooses whether naive coalesces its loads or its stores" {
    explain naive DIRECTION=0 256x256:f32
    costs 'load global' 4.00
    costs 'store global' 32.00
    explain naive DIRECTION=1 256x256:f32
    costs 'load global' 32.00
    costs 'store global' 4.00
}

@test "each access is shown with its line of the template" {
    explain tile 256x256:f32
    line=$(sed -n 's/^  tile.cu:\([0-9]*\) *store global .*/\1/p' <<<"$output")
    [[ $(sed -n "${line}p" "$srcdir/templates/tile.cu") == *'store<STORE_PLAIN>'* ]]
}

# ways: writes a family that prints and has an array of its own, never ends, or calls itself.
ways() {
    cat >ways.yaml <<'END'
schema: 1
family: ways
summary: a kernel of one's own
template: ways.cu
preference: 9
parameters:
  - name: WAY
    summary: what it does
    values: [0, 1, 2]
    default: 0
launch:
  grid_x: 2
  block_x: 32
END
    cat >ways.cu <<'END'
extern "C" __device__ int printf(const char *format, ...);
static __device__ __noinline__ int below(int n)
{
    return WAY == 2 ? *(int *)malloc(n) : n / 2;
}
extern "C" __global__ void transpose(int *dst, volatile int *src, long long rows, long long cols,
                                     long long, long long, long long, long long, long long)
{
    int own[4] = {1, 2, 3, 4};
    if (WAY == 1)
        while (src[1] != 17)
            ;
    if (WAY == 0 && threadIdx.x == 31)
        printf("block %d\n", blockIdx.x);
    own[src[threadIdx.x] & 3] = below(threadIdx.x);
    dst[blockIdx.x * 32 + threadIdx.x] = own[src[0] & 3];
}
END
}

@test "a kernel of one's own prints, and its local memory is counted" {
    cd "$BATS_TEST_TMPDIR"
    ways
    explain ways --space ways.yaml --problem 64x64:f32
    [ "$status" -eq 0 ]
    [ "$stderr" = $'block 0\nblock 1' ]
    grep -qE '^  local: [1-9][0-9]* requests, [1-9][0-9]* sectors' <<<"$output"
    explain tile
    [[ $output != *'  local: '* ]]
}

@test "what does not end or is not run is named by its family and its line of source" {
    cd "$BATS_TEST_TMPDIR"
    ways
    explain ways WAY=1 --space ways.yaml --problem 64x64:f32
    [ "$status" -eq 1 ]
    [[ $stderr == 'autotune: ways, ways.cu line 11, '*'endless wait: only a later block can end it'* ]]
    explain ways WAY=2 --space ways.yaml --problem 64x64:f32
    [ "$status" -ne 0 ]
    [[ $stderr == 'autotune: ways.cu line 4: '*'memory allocation in a kernel'* ]]
}

@test "every family and element size can be explained" {
    is_long
    for size in b1 f16 f32 f64 c128; do
        for family in naive tile; do
            explain "$family" --problem "130x70:$size,ld_src=75,batch=2"
            [ "$status" -eq 0 ]
        done
        explain micro --problem "144x70:$size,ld_src=80,batch=2"
        [ "$status" -eq 0 ]
        explain copy --problem "1x10001:$size"
        [ "$status" -eq 0 ]
    done
}

@test "micro-tiles need the fewest sectors on both sides, in each layout" {
    is_long
    for layout in 1 2 3; do
        least 512x512:b1 LAYOUT="$layout"
        least 512x512:f16 LAYOUT="$layout" LOAD_BYTES=8 STORE_BYTES=8 SRC_BYTES=128
        least 512x512:c128 LAYOUT="$layout"
    done
    least 512x512:f32 LOAD_BYTES=8
    least 512x512:b1 LOAD_BYTES=16 STORE_BYTES=4 SRC_BYTES=128
    explain micro LAYOUT=0 DIRECT_LANES=8 --problem 512x512:f32 --blocks 2
    [[ $output == *'sectors, 1.00 times the least'* && $output != *'load shared'* ]]
}

@test "counts from a sample of a large grid are called that" {
    explain tile --problem 8192x8192:f32 --blocks 16
    [ "$status" -eq 0 ]
    [[ $output == *'counted in 16 of the blocks'* ]]
    explain tile --problem 64x64:f32
    [[ $output != *'counted in'* ]]
}

@test "bytes moved are compared with the bytes needed" {
    explain naive DIRECTION=0 512x512:f32
    [[ $output == *'reads 1.05 MB, 1.00 times the 1.05 MB needed; writes 8.39 MB, 8.00 times'* ]]
    # A sample is scaled to the whole grid.
    explain tile --problem 8192x8192:f32 --blocks 16
    [[ $output == *'reads 268.44 MB, 1.00 times the 268.44 MB needed; writes 268.44 MB, 1.00 times'* ]]
}

@test "good is bytes used of bytes moved, and a reason says why not all" {
    is_long
    explain tile
    [ "$(grep -c ' 100.0% ' <<<"$output")" -eq 4 ]
    run ! grep -E 'a request wants|one address' <<<"$output"
    study=$srcdir/templates/study
    while read -r pattern used in_l1 reason; do
        read -ra settings <<<"${pattern//,/ }"
        explain pattern --space "$study/pattern.yaml" --problem 1x1048576:f32 "${settings[@]}"
        [ "$status" -eq 0 ]
        # Two loads: the copy's, and the one of the pattern.
        [[ $pattern == PATTERN=0 ]] || [ "$(grep -c ' load global ' <<<"$output")" -eq 2 ]
        grep -E " load global .* $used% +$in_l1%" <<<"$output"
        [[ $output == *"$used%: $reason"* || $used == 100.0 ]]
    done <<'END_OF_TABLE'
PATTERN=0 100.0 0.2 nothing
PATTERN=1 80.0 10.2 it begins within a sector: a request wants 128 bytes, and its sectors have 160
PATTERN=3 12.5 50.3 one address: it wants 4 bytes, and a sector has 32
PATTERN=4,STRIDE=4 25.0 1.7 with gaps: a request wants 128 bytes, and its sectors have 512
PATTERN=4,STRIDE=16 12.5 3.6 an element to a sector: a request wants 128 bytes, and its sectors have 1024
PATTERN=5 12.5 99.6 one address: it wants 4 bytes, and a sector has 32
END_OF_TABLE
}

@test "accesses of one line that cost the same keep their reasons" {
    cat >"$BATS_TEST_TMPDIR/two.cu" <<'END_OF_KERNEL'
__global__ void k(const float *a, const float *b, float *y, int n)
{
    int row = threadIdx.y, column = threadIdx.x;
    float sum = 0;

    for (int i = 0; i < n; i++)
        sum += a[row * n + i] * b[i * n + column];
    y[row * n + column] = sum;
}
END_OF_KERNEL
    run "$AUTOTUNE" explain "$BATS_TEST_TMPDIR/two.cu" --grid 1 --block 16,16 --arg 'float[256]' \
        --arg 'float[256]' --arg 'float[256]' --arg int=16
    [ "$status" -eq 0 ]
    [ "$(grep -c 'two.cu:7 .* load global ' <<<"$output")" -eq 2 ]
    [[ $output == *'12.5%: '*'wants 8 bytes, and its sectors have 64'* ]]
    grep -E 'two.cu:7 .* load global .* 100.0%' <<<"$output"
    [[ $output != *'begins within a sector'* ]]
}

@test "a picture shows what flows between threads, L1, L2 and DRAM" {
    explain naive DIRECTION=1 512x512:f32
    [[ $output == *' 8.39 MB  +-----------+   1.05 MB  +-----------+   1.05 MB  +------+'* ]]
    [[ $output == *'| 87.5% hits|----------->| 50.0% hits|----------->| DRAM |'* ]]
    [[ $output == *'1.05 MB  +-----------+   1.05 MB  +-----------+       0 B  +------+'* ]]
    [[ $output == *'of peak:'* && $output == *'launched again at once, it reads 0 B from DRAM'* ]]
    [[ $output == *'L1: 248 KiB per multiprocessor, beside 8 KiB of shared memory; L2: 30 MiB'* ]]
    [[ $output != *'a sample'* ]]
    [ -z "$(sed -n '/what flows/,$p' <<<"$output" | grep -v 'whole grid' | awk 'length > 80')" ]
    explain tile --problem 8192x8192:f32
    [[ $output == *'a sample: 1056 blocks, scaled to the grid'* ]]
    [[ $output != *'launched again'* ]]
    explain tile --problem 512x512:f32 --blocks 4096
    [[ $output != *'a sample'* ]]
}

@test "CARVEOUT divides L1 and shared memory" {
    is_long
    for percent in 50:124:132 100:28:228; do
        IFS=: read -r carveout l1 shared <<<"$percent"
        explain tile ORDER=1 DYNAMIC=1 CARVEOUT="$carveout" --problem 512x512:f32
        [ "$status" -eq 0 ]
        [[ $output == *"L1: $l1 KiB per multiprocessor, beside $shared KiB"* ]] || {
            echo "$output"
            return 1
        }
    done
}

@test "--gpu chooses the device" {
    for device in $(sample 3 0 emu:{a100,b200,h100,h200,l40s,rtx-4090}); do
        explain tile --problem 256x256:f32 --gpu "$device"
        [ "$status" -eq 0 ]
        if [ "$device" = emu:h200 ]; then
            [[ $output == *'(a prediction; nine of ten are within 27 %)'* ]]
        else
            [[ $output == *'(a prediction; nine of ten may be within 37 %: no such GPU has been measured)'* ]]
        fi
        explain tile --problem 256x256:f32 --gpu "$device" --format json
        [[ $output == *'"kind": "emulated"'* && $output == *'"predicted_ns"'* ]]
        [[ $output != *measured_ns* ]]
    done
    run --separate-stderr -3 "$AUTOTUNE" explain tile --gpu emu:nothing
    [[ $stderr == *'there is no device "emu:nothing"'* ]]
    export CUDA_VISIBLE_DEVICES=-1
    run --separate-stderr -3 "$AUTOTUNE" explain tile --gpu 0
    [ -z "$output" ]
    explain tile --problem 256x256:f32 --gpu auto
    grep -q '^on .*(emulated)$' <<<"$output"
}

@test "--format json prints the same figures" {
    explain tile PAD=0 --format json
    [ "$status" -eq 0 ]
    [[ $output == *'"wavefronts": 262144'* ]]
    [[ $output == *'"occupancy_percent": 100'* && $output == *'"tail_blocks": 1024'* && $output == *'"wave_blocks": 1056'* ]]
}

@test "a problem alone is explained with the kernel that lookup gives, and a note says so" {
    local AUTOTUNE_PROFILE_PATH=$srcdir/tests/data/h200-profile.yaml answer
    export AUTOTUNE_PROFILE_PATH
    for problem in 512x512:f32 640x64:f32; do
        answer=$("$AUTOTUNE" lookup "$problem" --gpu emu --format json)
        explain "$problem" --blocks 1 --format json
        [ "$(sed -n 's/^  "family": \(.*\),$/\1/p' <<<"$output")" = "$(sed -n 's/^  "family": \(.*\),$/\1/p' <<<"$answer")" ]
        [[ $stderr == *"the kernel that lookup gives is "*" $problem"* ]]
    done
    [[ $stderr == *'is a guess: 640x64:f32: tier '* ]]
    explain 512x512:f32 LOAD=0 --blocks 1
    [[ $output == *" LOAD=0 "* ]]
}

@test "bad arguments and illegal configs are refused" {
    refused 'which family, or which problem?' explain
    refused 'there is no family "tlie" (did you mean tile' explain tlie
    refused 'has no parameter PADD; did you mean PAD?' explain tile PADD=1
    refused 'PAD=3 is not in the space of family tile: PAD takes 0, 1, 2, 4' explain tile PAD=3
    refused 'one too many' explain tile --profile "$srcdir/tests/golden/profile/least.yaml"
    refused 'which family?' explain --params
    refused 'PAD takes 0, 1, 2, 4, as in PAD=' explain tile PAD
    refused 'PAD=x is not in the space' explain tile PAD=x
    refused 'PAD is given twice' explain tile PAD=0 PAD=1
    refused '--blocks takes a whole number' explain tile --blocks 0
    refused 'unknown format' explain tile --format xml
    run --separate-stderr -1 "$AUTOTUNE" explain tile LOAD_VEC=4 --problem 1001x1001:f32
    [[ $stderr == *'not legal for this problem'* ]]
    run --separate-stderr -1 "$AUTOTUNE" explain narrow --problem 1024x1024:f32
    [[ $stderr == *'not legal for this problem'*'; it is for 1048576x3:f32' ]]
}

@test "a predicted time is called a prediction" {
    explain tile PAD=0 --problem 8192x8192:f32
    [[ $output == *'bound by shared memory (a prediction; nine of ten are within 27 %)'* ]]
    slow=$(sed -n 's/^  predicted \([0-9]*\)\..*/\1/p' <<<"$output")
    explain tile ORDER=1 --problem 8192x8192:f32
    [[ $output == *'bound by DRAM '* ]]
    fast=$(sed -n 's/^  predicted \([0-9]*\)\..*/\1/p' <<<"$output")
    [ "$fast" -lt "$slow" ]
}

families() {
    "$AUTOTUNE" list --families --format csv | sed '1d; s/,.*//'
}

@test "each family has a default problem" {
    is_long
    [ "$(families | wc -l)" -gt 5 ]
    for family in $(families); do
        explain "$family" --blocks 1
        [ "$status" -eq 0 ]
    done
}

# again: writes a family whose launches count themselves in scratch memory, and store so often.
again() {
    cat >again.yaml <<'END'
schema: 1
family: again
summary: launches that go on where the last one ended
template: again.cu
preference: 9
inplace: 1
parameters:
  - name: WAY
    summary: nothing
    values: [0]
    default: 0
launch:
  grid_x: 1
  block_x: 32
  launches: 3
  scratch_bytes: 128
END
    cat >again.cu <<'END'
struct again_pass {
    int *count;
    long long number;
};
extern "C" __global__ void transpose(int *dst, const int *, long long, long long, long long, long long, long long,
                                     long long, long long, again_pass pass)
{
    for (int i = 0; i < pass.count[threadIdx.x]; i++)
        dst[i * 32 + threadIdx.x] = i;
    pass.count[threadIdx.x]++;
}
END
}

@test "each of several launches in a row goes on where the last one ended, however often it is run" {
    cd "$BATS_TEST_TMPDIR"
    again
    explain again --space again.yaml --problem 64x32:f32,inplace=1 --format json
    [ "$status" -eq 0 ]
    # Of all launches, and of each.
    [ "$(sed -n 's/^ *"bytes_written": \([0-9]*\),*$/\1/p' <<<"$output" | paste -sd ' ')" = '768 128 256 384' ]
    # The caches have seen the same in runs of their own.
    [[ $output == *'"l1_to_l2_bytes": 768,'* && $output != *predicted_ns* ]]
}

@test "a kernel that is launched several times in a row is explained as one, and has no predicted time" {
    local problem=300x421:f32,inplace=1
    explain cycles RUN=128 "$problem" --format csv
    [ "$status" -eq 0 ]
    # The rest of 44 rows goes to scratch memory and back, 32 elements at a time: 579 each. Two panels of 128 rows have
    # 842 runs, of which four at a time are written. All but two move, and 28 of these are saved before, by halves: 1736.
    [ "$(awk -F, '$2 == "store global" && $4 > 100 {print $4}' <<<"$output" | sort -n | paste -sd ' ')" = '1158 1728 1736' ]
    explain cycles RUN=128 "$problem" --blocks 1
    [[ $output == *'launched 4 times in a row'*'no time is predicted: '*'at the start of each launch:'* ]]
    [[ $output == *$'all launches: reads '*$'\n    launch 4: reads '*' MB, writes '* ]]
    [[ $output != *'counted in'* && $output != *'launched again'* ]]
    explain cycles "$problem" --with BACKWARD=1 --format csv
    [[ ${lines[1]} == *,, && ${lines[2]} == *,, ]]
    explain cycles "$problem" --ncu
    [[ $output == *' --launch-skip 96 --launch-count 4 '* ]]
}

@test "--params has every parameter, value and meaning of the space file" {
    # shellcheck disable=SC2046 # a word each
    for family in $(sample 4 0 $(families)); do
        run --separate-stderr -0 "$AUTOTUNE" explain "$family" --params
        shown=$(tr -s ' \n' ' ' <<<"$output")
        run ! grep -E '.{81}' <<<"$output"
        while read -r key rest; do
            case $key in
            name:) [[ $shown == *" $rest "* ]] ;;
            summary:) [[ $shown == *"$rest"* ]] ;;
            values:) [[ $shown == *"$(tr -d '[],' <<<"$rest")"* ]] ;;
            esac
        done < <(sed -n '/^parameters:/,/^constraints:/s/^  *-* *//p' "$srcdir/tuning/$family.yaml")
        run -0 "$AUTOTUNE" explain "$family" --params --format json
        [ "$(grep -c '"default"' <<<"$output")" -eq "$(grep -c '^  - name:' "$srcdir/tuning/$family.yaml")" ]
    done
}

@test "--profile explains a winner" {
    profile=$srcdir/results/nvidia-h200.yaml
    explain --profile "$profile" --problem 8192x8192:f32 --blocks 2
    [ "$status" -eq 0 ]
    grep -qx 'on 8192x8192:f32, NVIDIA H200 (emulated)' <<<"$output"
    explained=$(subject)
    run -0 "$AUTOTUNE" show "$profile" --format csv
    while IFS=, read -r _ _ problem family config _; do
        [ "$problem" = 8192x8192:f32 ] && winner="$family $config"
    done <<<"$output"
    [ "$explained" = "$winner" ]
    refused 'has no 8192x8193:f32; it has' explain --profile "$profile" --problem 8192x8193:f32
    refused 'has several problems: name one with --problem, such as' explain --profile "$profile"
}

@test "--format csv and markdown have a row for each access" {
    explain tile 256x256:f32 --format csv
    [ "$(grep -c '^tile.cu:' <<<"$output")" -eq 4 ]
    [[ ${lines[0]} == *',bytes used,bytes moved,L1 sectors,L1 hits,L2 sectors,L2 hits,source' ]]
    [[ ${lines[4]} == *'store global'*,262144,262144,0,0,8192,8192,* ]]
    explain tile 256x256:f32 --format markdown
    [[ ${lines[1]} == '|---|---|---:'* ]]
}

# A kernel whose line 6 stores down a column, and whose line 9 meets in a bank unless the pitch is odd.
write_turn() {
    cat >"$BATS_TEST_TMPDIR/turn.cu" <<'END'
extern "C" __global__ void turn(float *to, const float *from, int n)
{
    __shared__ float tile[32 * 33];
    int x = threadIdx.x;
    float read = from[blockIdx.x * 32 + x];
    to[x * n + blockIdx.x] = read;
    for (int i = x; i < 32 * 33; i += 32) tile[i] = read;
    __syncthreads();
    to[n * 32 + x] = tile[x * PITCH];
}
END
}

@test "--source ranks the lines of the source by what they cost" {
    write_turn
    cd "$BATS_TEST_TMPDIR"
    turn=(turn.cu -D PITCH=1 --grid 64 --block 32 --arg 'float[32*64+32]' --arg 'float[2048]' --arg int=64)
    sed -i 's/    to.n \* 32.*/    if (read > 1) to[x] = tile[x];/' turn.cu
    explain "${turn[@]}" --source --format csv
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = 'rank,share,sectors,excess,conflicts,in L1,line,source' ]
    # 64 blocks: 4 sectors for a row, 32 for a column. What no block does has no figures.
    grep -q '^1,[0-9.]*%,2048,1792,,,6,    to\[x \* n' <<<"$output"
    grep -q '^[23],[0-9.]*%,256,0,,0.0%,5,    float read' <<<"$output"
    grep -q '^[23],[0-9.]*%,,,0,,7,    for' <<<"$output"
    grep -q '^,,,,,,9,    if (read > 1)' <<<"$output"
    # The shares are those of a whole.
    awk -F, 'NR > 1 {sum += $2} END {exit !(sum > 99.7 && sum < 100.3)}' <<<"$output"
    explain "${turn[@]}" --source
    [[ $output == *'achieved occupancy '*'rank  share  sectors  excess'* && $output != *' lane requests'* ]]
}

@test "--draw shows which lane wants which word of a sector and of a bank" {
    write_turn
    cd "$BATS_TEST_TMPDIR"
    local dots='  .  .  .  .  .  .  .' args=(--grid 64 --block 32 --arg 'float[32*65]' --arg 'float[2048]' --arg int=64)
    explain turn.cu -D PITCH=1 "${args[@]}" --grid 1 --draw 5
    grep -qx '  +0 *|  0  1  2  3  4  5  6  7 |  8  9 .* 31 |' <<<"$output"
    # A column: a sector to a lane, of which seven words move for nothing.
    explain turn.cu -D PITCH=1 "${args[@]}" --grid 1 --draw 6
    [ "$(grep -c "^  +[0-9]* *|  *[0-9]*$dots |  *|  *|  *|\$" <<<"$output")" -eq 32 ]
    grep -q "^  +7936 *| 31$dots |" <<<"$output"
    # 32 words of a bank, and of 32 banks.
    explain turn.cu -D PITCH=32 "${args[@]}" --grid 1 --draw 9
    [ "$(grep -c '^  wavefront' <<<"$output")" -eq 32 ]
    grep -q "^  wavefront 32 31$dots" <<<"$output"
    explain turn.cu -D PITCH=33 "${args[@]}" --grid 1 --draw 9
    [ "$(grep -c '^  wavefront' <<<"$output")" -eq 1 ]
    explain turn.cu -D PITCH=0 "${args[@]}" --grid 1 --draw 9
    grep -q "^  wavefront 1 *0+$dots" <<<"$output"
    # Pairs of lanes share words of 4 bytes.
    explain naive 64x64:f16 --draw 72
    grep -q '| *0+ *2+ *4+ *6+' <<<"$output"
}

@test "--draw and --source refuse what they cannot show" {
    refused 'no access to memory at line 1 of naive.cu' explain naive 64x64:f16 --draw 1
    refused '--draw is for --format table' explain naive 64x64:f16 --draw 72 --format json
    refused '--source and --draw show one config' explain naive 64x64:f16 --source --with tile
}

@test "--counters is for a GPU, and says so" {
    refused "--counters are a GPU's own, and this is an emulated NVIDIA H200: name a GPU with --gpu 0" \
        explain tile --counters
    [ "$status" -eq 2 ]
    refused 'printed by --format table and --format json' explain tile --counters --format csv
    refused 'so --counters is one too many' explain tile --counters --params
    echo 'extern "C" __global__ void f(float *a) { a[threadIdx.x] = 1; }' >"$BATS_TEST_TMPDIR/f.cu"
    refused '--counters is for families; ncu reads' \
        explain "$BATS_TEST_TMPDIR/f.cu" --grid 1 --block 32 --arg 'float[32]' --counters
}

@test "the config is folded where the terminal ends, and to 80 columns elsewhere" {
    explain tile --blocks 2
    [ "$status" -eq 0 ]
    [ "${#lines[0]}" -le 80 ]
    [[ ${lines[1]} == '    '*=* ]]
    folded=$(subject)
    run -0 --separate-stderr "$AUTOTUNE" explain tile --blocks 2 --format json
    [ "$folded" = "tile $(sed -n 's/^ *"config": "\(.*\)",$/\1/p' <<<"$output")" ]
}

# ---- two configs ----

@test "--with puts a second config beside the first: what differs has a column, what is alike a line" {
    run --separate-stderr -0 "$AUTOTUNE" explain tile PAD=0 64x64:f32 --with PAD=1
    [[ $output == *$'\n  tile PAD=0 '*$'\n  tile PAD=1 '*'alike: sectors per load '* ]]
    [[ $output == *'load ways'* && $output != *'per store  '* ]]
    run --separate-stderr -0 "$AUTOTUNE" explain tile PAD=0 64x64:f32 --with PAD=1 --with TILE_ROWS=64 --format csv
    [[ ${lines[1]} == 64x64:f32,'tile TILE_ROWS=32 PAD=0,'* && ${lines[2]} == 64x64:f32,'tile TILE_ROWS=64 PAD=1,'* ]]
    run --separate-stderr -0 "$AUTOTUNE" explain tile PAD=0 64x64:f32 --with naive --format csv
    [ "$output" = "$("$AUTOTUNE" explain tile PAD=0 naive 64x64:f32 --format csv)" ]
    [[ ${lines[1]} == 64x64:f32,tile,* && ${lines[2]} == 64x64:f32,naive,* ]]
    run --separate-stderr -0 "$AUTOTUNE" explain naive 8192x8192:f32 --format csv \
        --with "$srcdir/tests/data/h200-profile.yaml"
    [[ ${lines[1]} == 8192x8192:f32,naive,* && ${lines[2]} == 8192x8192:f32,* ]]
    [[ ${lines[2]} != *,naive,* ]]
}

@test "--with refuses the same config and what there is not" {
    refused 'both configs are the same' explain tile PAD=1 64x64:f32 --with PAD=1
    refused 'PAD=7 is not in the space' explain tile 64x64:f32 --with PAD=7
    refused 'PAD is given twice' explain tile 64x64:f32 --with PAD=1 --with PAD=2
    refused 'there is no family "nothing"' explain tile 64x64:f32 --with nothing
    run --separate-stderr -1 "$AUTOTUNE" explain tile 64x64:f32 --with inplace
    [[ -z $output && $stderr == *'not legal for this problem'* ]]
}

@test "--ncu prints a command whose words explain takes" {
    run --separate-stderr -0 "$AUTOTUNE" explain tile PAD=0 512x512:f32 --ncu
    [[ ${lines[0]} == 'ncu --target-processes all --kernel-name regex:^k_ '*' --section SpeedOfLight '* ]]
    [[ $output == *'what to look at:'*$'\n  Occupancy '* ]]
    command=$(sed -n '/^ncu/,/--gpu 0$/p' <<<"$output")
    [[ $command == *' PAD=0 '* ]]
    # The same command of autotune, without a GPU.
    command="\"\$AUTOTUNE\" ${command#*autotune }"
    run --separate-stderr -0 bash -c "${command%--gpu 0}"
    [[ $output == 'tile '*' PAD=0 '*'on 512x512:f32'* ]]

    # Files leave it out; of what a command lacks explain takes the default, which is 1.
    run --separate-stderr -0 "$AUTOTUNE" explain quantise UNALIGNED=0 SHIFTED=0 512x512:bf16:e4m3,blocks=1x128 --ncu
    [[ $output == *' UNALIGNED=0 '* ]]
}
