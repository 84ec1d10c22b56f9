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

# examine TOOL SUMMARY: runs a sample of configs under the tool, whose summary has to begin so.
#
# Padded and aligned, wide and narrow, of 4 bytes and of 1, with a row's end within an aligned vector;
# all of one number of elements, so that the copies are searched once a size. Warm, because every
# launch is slow here, and a cold train has a thousand. Of
# the processes, the GPU worker is killed when its work is done, and may leave no summary: so what the
# tool says of an access on the way counts as well.
examine() {
    timeout --kill-after=5 500 compute-sanitizer --tool "$1" --target-processes all \
        "$AUTOTUNE" tune --quiet --search random --budget 120 --no-cache --timeout 100 --jobs 4 \
        --policy warm \
        --problem 64x144:f32,ld_src=147,ld_dst=67 --problem 96x96:f32 \
        --problem 64x144:b1,ld_src=147,ld_dst=67 --problem 72x128:b1,ld_dst=80 \
        --problem 3072x3:f32 --problem 9x1024:b1,ld_src=1027 \
        --out best.yaml >report 2>&1 || {
        cat report
        return 1
    }
    grep '^=========' report >tool
    grep SUMMARY tool >summaries
    if grep -qv "^========= $2" summaries ||
        grep -v SUMMARY tool | grep -qiE 'invalid|misaligned|hazard|race reported'; then
        cat tool
        return 1
    fi
    # And no kernel came to grief in another way.
    [ "$(grep -c ' problem: ' best.yaml)" -eq 6 ]
    [ "$(grep -E ' (compile|launch|timeout|crash|wrong|oom): ' best.yaml | grep -cv ': 0$')" -eq 0 ]
}

@test "no access out of bounds" {
    examine memcheck 'ERROR SUMMARY: 0 errors'
}

@test "no race in shared memory" {
    examine racecheck 'RACECHECK SUMMARY: 0 hazards displayed'
}
