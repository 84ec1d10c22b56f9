#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A sample of every family's kernels under compute-sanitizer: no access out of bounds, no race in
# shared memory.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    find_device
}

setup() {
    need_device
    command -v compute-sanitizer >/dev/null || skip "no compute-sanitizer"
}

# examine TOOL CONFIGS SUMMARY OPTION...: runs a sample of so many configs for four problems under the
# tool, whose summary has to begin so. Racecheck takes ten times as long as memcheck.
#
# All problems have one number of elements, so that the copies are searched once a size. Warm, because
# every launch is slow here, and a cold train has a thousand. Of the processes, the GPU worker is killed
# when its work is done, and may leave no summary: so what the tool says of an access on the way counts
# as well.
examine() {
    local tool=$1 configs=$2 summary=$3
    shift 3
    timeout --kill-after=5 500 compute-sanitizer --tool "$tool" --target-processes all \
        "$AUTOTUNE" tune --quiet --search random --budget "$configs" --no-cache --timeout 100 --jobs 4 \
        --policy warm "$@" --out best.yaml >report 2>&1 || {
        cat report
        return 1
    }
    grep '^=========' report >tool
    grep SUMMARY tool >summaries
    if grep -qv "^========= $summary" summaries ||
        grep -v SUMMARY tool | grep -qiE 'invalid|misaligned|hazard|race reported'; then
        cat tool
        return 1
    fi
    # And no kernel came to grief in another way.
    [ "$(grep -c ' problem: ' best.yaml)" -eq 4 ]
    [ "$(grep -E ' (compile|launch|timeout|crash|wrong|oom): ' best.yaml | grep -cv ': 0$')" -eq 0 ]
}

# Padded and aligned, of 4 bytes and of 1, with a row's end within an aligned vector.
usual=(--problem '64x144:f32,ld_src=147,ld_dst=67' --problem 96x96:f32
    --problem '64x144:b1,ld_src=147,ld_dst=67' --problem '72x128:b1,ld_dst=80')

# The families with few configs, which a sample of all would miss; some take problems of their own.
few=(--family small --family inplace --family warp --problem '96x96:f16,ld_src=104'
    --problem '16x16:f32,batch=36' --problem '9x4:b1,batch=256' --problem '48x48:f32,batch=4,inplace=1')

# And those for rows that are short, or begin anywhere.
unaligned=(--family narrow --family odd --family skew --problem 3072x3:f32 --problem '9x1024:b1,ld_src=1027'
    --problem '64x144:f16,ld_src=147,ld_dst=67' --problem '144x64:f64,ld_src=65,ld_dst=147')

@test "no access out of bounds" {
    examine memcheck 120 'ERROR SUMMARY: 0 errors' "${usual[@]}"
}

@test "no access out of bounds, families with few configs" {
    examine memcheck 120 'ERROR SUMMARY: 0 errors' "${few[@]}"
}

@test "no access out of bounds, families for unaligned rows" {
    examine memcheck 120 'ERROR SUMMARY: 0 errors' "${unaligned[@]}"
}

@test "no race in shared memory" {
    examine racecheck 120 'RACECHECK SUMMARY: 0 hazards displayed' "${usual[@]}"
}

@test "no race in shared memory, families with few configs" {
    examine racecheck 120 'RACECHECK SUMMARY: 0 hazards displayed' "${few[@]}"
}

@test "no race in shared memory, families for unaligned rows" {
    examine racecheck 60 'RACECHECK SUMMARY: 0 hazards displayed' "${unaligned[@]}"
}
