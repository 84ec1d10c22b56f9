#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A sample of every family's kernels under compute-sanitizer: no access out of bounds, no race in
# shared memory. Each launch is slow there, so the kernels are verified and not timed, in one process.

bats_require_minimum_version 1.5.0
load helpers

# shellcheck disable=SC2034 # for variant
faults=$srcdir/tests/gpu/fault.yaml
verify_families=$(dirname "$AUTOTUNE")/tests/gpu/verify-families

setup_file() {
    find_device
}

setup() {
    need_device
    command -v compute-sanitizer >/dev/null || skip "no compute-sanitizer"
}

# sanitize TOOL CONFIGS OPTION...: verifies so many configs under the tool, which writes ./report. The
# processes that compile run no kernel: the tool leaves them alone.
sanitize() {
    local tool=$1
    shift
    timeout --kill-after=5 300 compute-sanitizer --tool "$tool" --target-processes application-only \
        --error-exitcode 9 "$verify_families" cuda "$@" >report 2>&1
}

# examine TOOL CONFIGS VERIFIED OPTION...: the tool finds nothing, and all that was drawn is right. Of
# the problems' configs there are so many, and 24 copies for each of the four.
examine() {
    local tool=$1 configs=$2 verified=$3 status=0 summary
    shift 3
    case $tool in
    memcheck) summary='ERROR SUMMARY: 0 errors' ;;
    racecheck) summary='RACECHECK SUMMARY: 0 hazards displayed' ;;
    esac
    sanitize "$tool" "$configs" --copies 24 "$@" || status=$?
    if ((status != 0)) || [ "$(grep -c SUMMARY report)" -ne 1 ] ||
        ! grep -q "^========= $summary" report ||
        ! grep -Eqx "verified $verified on 4 problems: 0 wrong" report; then
        echo "exit code $status"
        cat report
        return 1
    fi
}

# Padded and aligned, of 4 bytes and of 1, with a row's end within an aligned vector.
usual=(--problem '64x144:f32,ld_src=147,ld_dst=67' --problem 96x96:f32
    --problem '64x144:b1,ld_src=147,ld_dst=67' --problem '72x128:b1,ld_dst=80')

# The families that take problems of their own.
few=(--family small --family inplace --family warp --problem '96x96:f16,ld_src=104'
    --problem '16x16:f32,batch=36' --problem '9x4:b1,batch=256' --problem '48x48:f32,batch=4,inplace=1')

# And those for rows that are short, or begin anywhere.
unaligned=(--family narrow --family odd --family skew --problem 3072x3:f32 --problem '9x1024:b1,ld_src=1027'
    --problem '64x144:f16,ld_src=147,ld_dst=67' --problem '144x64:f64,ld_src=65,ld_dst=147')

@test "no access out of bounds" {
    examine memcheck 120 '216 configs of [0-9]+ families' "${usual[@]}"
}

@test "no access out of bounds, families with few configs" {
    examine memcheck 120 '216 configs of 4 families' "${few[@]}"
}

@test "no access out of bounds, families for unaligned rows" {
    examine memcheck 120 '216 configs of 4 families' "${unaligned[@]}"
}

@test "no race in shared memory" {
    examine racecheck 120 '216 configs of [0-9]+ families' "${usual[@]}"
}

@test "no race in shared memory, families with few configs" {
    examine racecheck 120 '216 configs of 4 families' "${few[@]}"
}

@test "no race in shared memory, families for unaligned rows" {
    examine racecheck 60 '156 configs of 4 families' "${unaligned[@]}"
}

# found TOOL FAULT WORDS: of a kernel with this fault the tool says so.
found() {
    local status=0
    variant "$2"
    sanitize "$1" 1 --space fault.yaml --family fault --problem 96x64:f32 || status=$?
    cat report
    [ "$status" -ne 0 ]
    grep -q "$3" report
}

@test "an access out of bounds is found" {
    found memcheck 2 'Invalid .*write of size 4'
}

# The result is right, so that only the tool can tell.
@test "a race in shared memory is found" {
    found racecheck 15 'RACECHECK SUMMARY: [1-9][0-9]* hazards\? displayed'
    grep -qx 'verified 1 configs of 1 families on 1 problems: 0 wrong' report
}
