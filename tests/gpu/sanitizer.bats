#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A sample of every family's kernels under compute-sanitizer: no access out of bounds, no race in shared
# memory. The tool makes each launch slow, so kernels are verified and not timed. It uses one CPU most of
# the time, so setup_file starts the processes of all tests at once. Racecheck takes ten times as long as
# memcheck and gets a fifth of the configs. AUTOTUNE_TEST_FAULTS=200 gives both more, and as many.

bats_require_minimum_version 1.5.0
load helpers

# shellcheck disable=SC2034 # for variant
faults=$srcdir/tests/gpu/fault.yaml
verify_families=$(dirname "$AUTOTUNE")/tests/gpu/verify-families

# Padded and aligned problems of 4 and 1 bytes, some with rows that end within an aligned vector.
usual=(--problem '64x144:f32,ld_src=147,ld_dst=67' --problem 96x96:f32
    --problem '64x144:b1,ld_src=147,ld_dst=67' --problem '72x128:b1,ld_dst=80')

# Families that need special problems.
few=(--family batch --family small --family inplace --family warp --problem '96x96:f16,ld_src=104'
    --problem '16x16:f32,batch=36' --problem '17x33:b1,batch=32' --problem '7x37:b1,batch=80' --problem '48x48:f32,batch=4,inplace=1')

# Families for short or unaligned rows.
unaligned=(--family narrow --family odd --family skew --family strip --problem 3072x3:f32 --problem '9x1024:b1,ld_src=1027'
    --problem '64x144:f16,ld_src=147,ld_dst=67' --problem '144x64:f64,ld_src=65,ld_dst=147'
    --problem 77x501:b1 --problem 403x66:f16 --problem 19x1001:f16)

# Families for tensors, and one of the others.
tensors=(--family direct --family packed --family rows --family runs --family micro --problem '9x5x3x16x7:f16,perm=41203'
    --problem '3x5x2x64x96:f32,perm=21043' --problem '5x33x66x19:b1,perm=0213' --problem '3x3x3x3x3x3:f64,perm=543210')

# The family for block scales: all layouts, even and odd sides.
blocks=(--family quantise --problem '160x136:bf16:e4m3,both,blocks=1x128,scales=te-pow2,layout=aligned'
    --problem '71x75:f16:e5m2,batch=2,both,blocks=1x32,scales=floor,layout=swizzled'
    --problem '144x132:f32:e4m3,blocks=64x64,scales=torchao,layout=transposed')

# What computes on the way, with second sources, second results, magnitudes and sums.
steps=(--problem '96x160:bf16:e4m3,scale' --problem 77x131:f32:bf16 --problem '64x96:f32,alpha,beta'
    --problem '61x45:c64,conj' --problem '96x72:bf16:e4m3,scale,both,amax' --problem '130x64:f32:bf16,both,sums'
    --problem '9x40x30x3:u8:f16,perm=0312,affine')

# Launches in a row, whose blocks wait for each other.
inplace=(--family resident --family cycles --family cycles-elements --family cycles-reversed --family chains
    --problem '60x36:f32,inplace=1' --problem '301x421:b1,inplace=1'
    --problem '40x5003:f32,inplace=1' --problem '5003x40:f64,inplace=1' --problem '96x203:f16,batch=3,inplace=1'
    --problem '301x71:b3,inplace=1' --problem '151x7x70:f32,perm=210,inplace=1' --problem '30x20x101:f16,perm=102,inplace=1')

# Many matrices in one launch: lists, and groups of rows.
groups=(--problem 'group=9,rows=0..90,cols=1..90:f16' --problem 'group=5,total=300,cols=70,pad=16:b1'
    --problem 'group=5,total=300,cols=72,law=sparse:bf16:e4m3,both' --problem 'group=7,rows=16..64,cols=16..64:f32,alpha,beta'
    --problem 'group=7,rows=16..64,cols=16..64:f16,affine')

# Configs over a list's problems together, and copies for each problem.
configs=60 copies=12
race_configs=12 race_copies=2
if ((${AUTOTUNE_TEST_FAULTS:-10} >= 200)); then
    configs=120 copies=24 race_configs=120 race_copies=24
fi

setup_file() {
    find_device
    [ -z "${NO_DEVICE:-}" ] && command -v compute-sanitizer >/dev/null || return 0
    cd "$BATS_FILE_TMPDIR" || return 1
    start racecheck usual $race_configs --copies $race_copies "${usual[@]}"
    start racecheck few $race_configs --copies $race_copies "${few[@]}"
    start racecheck unaligned $race_configs --copies $race_copies "${unaligned[@]}"
    start racecheck tensors $race_configs --copies $race_copies "${tensors[@]}"
    start racecheck blocks $race_configs --copies $race_copies "${blocks[@]}"
    start racecheck steps $race_configs --copies $race_copies "${steps[@]}"
    start racecheck inplace $race_configs --copies $race_copies "${inplace[@]}"
    start racecheck groups $race_configs --copies $race_copies "${groups[@]}"
    start memcheck usual $configs --copies $copies "${usual[@]}"
    start memcheck few $configs --copies $copies "${few[@]}"
    start memcheck unaligned $configs --copies $copies "${unaligned[@]}"
    start memcheck tensors $configs --copies $copies "${tensors[@]}"
    start memcheck blocks $configs --copies $copies "${blocks[@]}"
    start memcheck steps $configs --copies $copies "${steps[@]}"
    start memcheck inplace $configs --copies $copies "${inplace[@]}"
    start memcheck groups $configs --copies $copies "${groups[@]}"
    fault=(--space fault.yaml --family fault --problem 96x64:f32)
    variant 2
    start memcheck fault 1 "${fault[@]}"
    mkdir race && cd race || return 1
    variant 15
    start racecheck fault 1 "${fault[@]}"
}

setup() {
    need_device
    command -v compute-sanitizer >/dev/null || skip "no compute-sanitizer"
}

# start TOOL NAME CONFIGS OPTION...: verify CONFIGS configs under the tool, in the background. It writes
# TOOL-NAME.report and, at its end, TOOL-NAME.status. The tool skips compile workers: they run no kernel.
start() {
    local tool=$1 to=$BATS_FILE_TMPDIR/$1-$2 status
    shift 2
    {
        status=0
        timeout --kill-after=5 280 compute-sanitizer --tool "$tool" --target-processes application-only \
            --error-exitcode 9 "$verify_families" cuda "$@" >"$to.report" 2>&1 || status=$?
        echo "ended after $SECONDS s" >>"$to.report"
        echo "$status" >"$to.part" && mv "$to.part" "$to.status"
    } 3>&- &
}

# ended_with TOOL NAME: wait for the process and print its exit code; ./report is its output.
ended_with() {
    local from=$BATS_FILE_TMPDIR/$1-$2
    until [ -e "$from.status" ]; do
        sleep 0.1
    done
    cp "$from.report" report
    cat "$from.status"
}

# examine TOOL NAME CONFIGS COPIES FAMILIES: the tool finds nothing, and all kernels are right: CONFIGS over the
# problems of list NAME together, and COPIES for each.
examine() {
    local tool=$1 status summary problems
    local -n list=$2
    problems=$(printf '%s\n' "${list[@]}" | grep -cx -e --problem)
    case $tool in
    memcheck) summary='ERROR SUMMARY: 0 errors' ;;
    racecheck) summary='RACECHECK SUMMARY: 0 hazards displayed' ;;
    esac
    status=$(ended_with "$tool" "$2")
    if ((status != 0)) || [ "$(grep -c SUMMARY report)" -ne 1 ] ||
        ! grep -q "^========= $summary" report ||
        ! grep -Eqx "verified $(($3 + problems * $4)) configs of $5 families on $problems problems: 0 wrong" report; then
        echo "exit code $status"
        cat report
        return 1
    fi
}

@test "no kernel accesses memory out of bounds" {
    examine memcheck usual $configs $copies '[0-9]+'
}

@test "no kernel of the special families accesses memory out of bounds" {
    examine memcheck few $configs $copies 5
}

@test "no kernel for short or unaligned rows accesses memory out of bounds" {
    examine memcheck unaligned $configs $copies 5
}

@test "no kernel for tensors accesses memory out of bounds" {
    examine memcheck tensors $configs $copies 6
}

@test "no kernel for block scales accesses memory out of bounds" {
    examine memcheck blocks $configs $copies 2
}

@test "no kernel that computes on the way accesses memory out of bounds" {
    examine memcheck steps $configs $copies '[0-9]+'
}

@test "no kernel of several launches accesses memory out of bounds" {
    examine memcheck inplace $configs $copies 6
}

@test "no kernel for many matrices accesses memory out of bounds" {
    examine memcheck groups $configs $copies '[0-9]+'
}

@test "no kernel races in shared memory" {
    examine racecheck usual $race_configs $race_copies '[0-9]+'
}

@test "no kernel of the special families races in shared memory" {
    examine racecheck few $race_configs $race_copies 5
}

@test "no kernel for short or unaligned rows races in shared memory" {
    examine racecheck unaligned $race_configs $race_copies 5
}

@test "no kernel for tensors races in shared memory" {
    examine racecheck tensors $race_configs $race_copies 6
}

@test "no kernel for block scales races in shared memory" {
    examine racecheck blocks $race_configs $race_copies 2
}

@test "no kernel that computes on the way races in shared memory" {
    examine racecheck steps $race_configs $race_copies '[0-9]+'
}

@test "no kernel of several launches races in shared memory" {
    examine racecheck inplace $race_configs $race_copies 6
}

@test "no kernel for many matrices races in shared memory" {
    examine racecheck groups $race_configs $race_copies '[0-9]+'
}

# found TOOL WORDS: the tool reports the faulty kernel with these words.
found() {
    local status
    status=$(ended_with "$1" fault)
    cat report
    [ "$status" -ne 0 ]
    grep -q "$2" report
}

@test "an access out of bounds is found" {
    found memcheck 'Invalid .*write of size 4'
}

# The result is right; only the tool finds the race.
@test "a race in shared memory is found" {
    found racecheck 'RACECHECK SUMMARY: [1-9][0-9]* hazards\? displayed'
    grep -qx 'verified 1 configs of 1 families on 1 problems: 0 wrong' report
}
